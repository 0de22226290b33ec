/*
 * Interned data: texts, keys of annotations and call stacks, written once and then referred to by number
 * (iid); and the arguments of an event, whose keys are interned.  Memory is bounded for any input: a text for
 * which there is no space (TABLE_ENTRIES, TABLE_BYTES) is written where it is used.  Short strings of
 * arguments get an iid when they occur the second time, so texts that never recur take no space.
 */
#include <stdlib.h>

#include "base/scan.h"
#include "model/call_stack.h"
#include "output/text_json.h"
#include "perfetto/perfetto.h"

#define TABLE_ENTRIES (1U << 18)
#define TABLE_BYTES (32U << 20)
#define MAX_TEXT 1024   /* bytes; longer texts are not interned, except those of frames */
#define MIN_STRING 4    /* bytes; shorter strings are as short as a number */
#define SEEN (1U << 16) /* slots for hashes of strings that occurred once */
#define LONG_STRING 32  /* bytes; longer ones get a number at once, as long as ... */
#define MAX_UNUSED 4096 /* ... numbers exceed repeated uses, of all strings, by less than this */
/* Bytes of a text, and of the arguments of an event: with name and category they are less than the 256 MiB
 * that Perfetto refuses. */
#define MAX_LONG (63U << 20)
#define MAX_ARGS (128U << 20)

/* ---- texts ---- */

static const uint8_t intern_fields[KINDS] = {
	[KIND_CATEGORY] = PF_interned_event_categories,
	[KIND_NAME] = PF_interned_event_names,
	[KIND_KEY] = PF_interned_debug_annotation_names,
	[KIND_STRING] = PF_interned_debug_annotation_string_values,
	[KIND_FUNCTION] = PF_interned_function_names,
};

/* Returns the bytes of a text that are written. */
static size_t cut_long(const char *p, size_t n, unsigned *losses)
{
	if (n <= MAX_LONG)
		return n;
	*losses |= 1U << PERFETTO_TEXT_CUT;
	return utf8_cut(p, n, MAX_LONG);
}

struct slice perfetto_repair(struct perfetto_state *st, struct slice s, unsigned *losses)
{
	struct text *const t = &st->repaired;

	*losses = 0;
	s.n = (uint32_t)cut_long(s.p, s.n, losses);
	const char *p = s.p, *const end = p + s.n;
	if ((s.flags & SLICE_JSON) != 0 || s.n == 0)
		return s;
	if (memchr(p, '\0', s.n) == NULL && ((s.flags & SLICE_UTF8) != 0 || utf8_valid(p, s.n)))
		return s;
	text_clear(t);
	for (;;) {
		const char *const nul = memchr(p, '\0', (size_t)(end - p));
		const char *const stop = nul != NULL ? nul : end;
		if (text_utf8(t, slice_of(p, (size_t)(stop - p))) > 0)
			*losses |= 1U << PERFETTO_BAD_TEXT;
		if (nul == NULL)
			break;
		text_add(t, "\\0", 2);
		*losses |= 1U << PERFETTO_NUL;
		p = nul + 1;
	}
	st->body.failed |= t->failed;
	t->n = cut_long(t->p, t->n, losses); /* repaired, it may be three times as long */
	return (struct slice){ t->p, (uint32_t)t->n, SLICE_UTF8 };
}

static void count_losses(struct perfetto_state *st, unsigned losses)
{
	for (unsigned i = 0; losses != 0; i++, losses >>= 1)
		if ((losses & 1) != 0)
			perfetto_lose(st, (enum perfetto_loss)i, 1);
}

void perfetto_put_text(struct perfetto_state *st, struct text *t, unsigned field, struct slice s)
{
	unsigned losses;

	wire_slice(t, field, perfetto_repair(st, s, &losses));
	count_losses(st, losses);
}

/* Hashes a key; keys that the importer does not distinguish have the same hash. */
static uint64_t hash_key(struct perfetto_state *st, struct slice s)
{
	char buffer[MAX_TEXT];
	uint64_t hash = st->seed;

	for (size_t at = 0; at < s.n || at == 0; at += sizeof buffer) {
		const size_t n = s.n - at < sizeof buffer ? s.n - at : sizeof buffer;
		for (size_t i = 0; i < n; i++) {
			const char c = s.p[at + i];
			buffer[i] = c == '.' || c == '[' || c == ']' ? '_' : c;
		}
		hash = hash_bytes(buffer, n, hash);
	}
	return hash | 1;
}

/* Returns a new iid for the text; 0: no space. */
static uint32_t add_entry(struct perfetto_state *st, struct perfetto_table *t, struct slice s)
{
	const bool too_long = s.n > MAX_TEXT && t != &st->tables[KIND_FUNCTION];
	if (too_long || t->n >= TABLE_ENTRIES || t->bytes + s.n > TABLE_BYTES)
		return 0;
	const struct slice copy = arena_copy(&st->arena, s);
	if (note_failure(&st->body.failed,
	                 copy.p == NULL || !array_reserve(&t->entries, t->n, &t->cap, sizeof *t->entries) ||
	                     !tabletext_put(&t->iids, copy, t->n + 1)))
		return 0;
	t->entries[t->n] = (struct perfetto_entry){ .losses = 0 };
	t->bytes += s.n;
	return ++t->n;
}

/* Counts the losses of a text that has an iid, and returns that. */
static inline uint32_t use_entry(struct perfetto_state *st, const struct perfetto_table *t, uint32_t iid)
{
	if (t->entries[iid - 1].losses != 0)
		count_losses(st, t->entries[iid - 1].losses);
	return iid;
}

/* Adds the text, writes its definition and uses it.  Returns 0: no space. */
static uint32_t define_text(struct perfetto_state *st, enum perfetto_kind kind, struct slice s)
{
	struct perfetto_table *const t = &st->tables[kind];
	const uint32_t iid = add_entry(st, t, s);
	unsigned losses;

	if (iid == 0)
		return 0;
	const struct slice text = perfetto_repair(st, s, &losses);
	const size_t at = wire_open(&st->defs, intern_fields[kind]);
	wire_number(&st->defs, PF_entry_iid, iid);
	wire_slice(&st->defs, PF_entry_name, text);
	wire_close(&st->defs, at);
	t->entries[iid - 1].losses = (uint8_t)losses;
	if (kind == KIND_KEY)
		t->entries[iid - 1].key_hash = hash_key(st, text);
	return use_entry(st, t, iid);
}

/* Returns the iid of a text; TABLE_NONE: it has none yet. */
static inline uint32_t find_entry(struct perfetto_table *t, struct slice s)
{
	struct known_text *const known = known_text(t->known, PERFETTO_KNOWN, s, 0);

	if (known_text_is(known, s, 0))
		return known->number;
	const uint32_t iid = tabletext_get(&t->iids, s);
	if (iid != TABLE_NONE)
		known_text_set(known, s, 0, iid);
	return iid;
}

uint32_t perfetto_intern(struct perfetto_state *st, enum perfetto_kind kind, struct slice s)
{
	struct perfetto_table *const t = &st->tables[kind];
	const uint32_t iid = find_entry(t, s);

	return iid == TABLE_NONE ? define_text(st, kind, s) : use_entry(st, t, iid);
}

/* Returns the iid of a string that occurs again; 0 the first time. */
static uint32_t intern_if_seen(struct perfetto_state *st, struct slice s)
{
	if (note_failure(&st->body.failed,
	                 st->seen == NULL && (st->seen = calloc(SEEN, sizeof *st->seen)) == NULL))
		return 0;
	const uint64_t hash = hash_bytes(s.p, s.n, UINT64_C(0x9e3779b97f4a7c15));
	uint32_t *const slot = &st->seen[hash % SEEN];
	if (*slot != (uint32_t)(hash >> 32 | 1)) {
		*slot = (uint32_t)(hash >> 32 | 1);
		return 0;
	}
	return define_text(st, KIND_STRING, s);
}

uint32_t perfetto_intern_string(struct perfetto_state *st, struct slice s)
{
	struct perfetto_table *const t = &st->tables[KIND_STRING];

	if (s.n < MIN_STRING || s.n > MAX_TEXT)
		return 0;
	const uint32_t iid = find_entry(t, s);
	if (iid != TABLE_NONE) {
		st->repeats++;
		return use_entry(st, t, iid);
	}
	if (s.n >= LONG_STRING && t->n < st->repeats + MAX_UNUSED)
		return define_text(st, KIND_STRING, s);
	return intern_if_seen(st, s);
}

void perfetto_intern_free(struct perfetto_state *st)
{
	for (int i = 0; i < KINDS; i++) {
		tabletext_free(&st->tables[i].iids);
		free(st->tables[i].entries);
	}
	free(st->seen);
}

/* ---- keys of annotations ---- */

/* The importer keeps only the last annotation of a name and drops unnamed ones, so both get other names. */

static bool has_key(const struct perfetto_keys *keys, uint64_t key_hash)
{
	if (keys->n > KEYS_FEW)
		return table64_get(&keys->many, key_hash) != TABLE_NONE;
	for (uint32_t i = 0; i < keys->n; i++)
		if (keys->few[i] == key_hash)
			return true;
	return false;
}

static void add_key(struct perfetto_state *st, struct perfetto_keys *keys, uint64_t key_hash)
{
	bool ok = true;

	if (keys->n < KEYS_FEW) {
		keys->few[keys->n++] = key_hash;
		return;
	}
	if (keys->n == KEYS_FEW)
		for (int i = 0; i < KEYS_FEW; i++)
			ok &= table64_put(&keys->many, keys->few[i], 1);
	keys->n++;
	ok &= table64_put(&keys->many, key_hash, 1);
	st->body.failed |= !ok;
}

static uint64_t hash_of_key(struct perfetto_state *st, uint32_t iid, struct slice text)
{
	return iid != 0 ? st->tables[KIND_KEY].entries[iid - 1].key_hash : hash_key(st, text);
}

/* Appends a number to the name.  The search for a free number starts after the last one used for the name. */
static uint32_t rename_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name,
                           uint64_t key_hash, struct slice *text)
{
	const struct slice base = name.n > 0 ? name : SLICE_LIT("(empty)");
	uint32_t i = table64_get(&keys->many, ~key_hash);
	uint32_t iid;

	perfetto_lose(st, PERFETTO_KEY_CHANGED, 1);
	for (i = i == TABLE_NONE ? 1 : i + 1;; i++) {
		*text = i == 1 && name.n == 0 ? base : arena_numbered(&keys->arena, base, i + (name.n > 0));
		if (note_failure(&st->body.failed, text->p == NULL))
			return 0;
		iid = perfetto_intern(st, KIND_KEY, *text);
		const uint64_t other = hash_of_key(st, iid, *text);
		if (has_key(keys, other))
			continue;
		add_key(st, keys, other);
		break;
	}
	st->body.failed |= !table64_put(&keys->many, ~key_hash, i);
	return iid;
}

/* Returns the iid of a key that is unique in `keys`; 0: *text has to be written instead. */
static uint32_t find_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name,
                         struct slice *text)
{
	const uint32_t iid = name.n > 0 ? perfetto_intern(st, KIND_KEY, name) : 0;
	const uint64_t key_hash = hash_of_key(st, iid, name);

	*text = name;
	if (name.n == 0 || has_key(keys, key_hash))
		return rename_key(st, keys, name, key_hash, text);
	add_key(st, keys, key_hash);
	return iid;
}

void perfetto_keys_free(struct perfetto_keys *keys)
{
	table64_free(&keys->many);
	arena_free(&keys->arena);
}

void perfetto_put_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name)
{
	struct slice text;
	const uint32_t iid = find_key(st, keys, name, &text);

	if (iid != 0)
		wire_number(&st->body, PF_annotation_name_iid, iid);
	else
		perfetto_put_text(st, &st->body, PF_annotation_name, text);
}

/* ---- fields of an event ---- */

static inline bool same_names(const struct perfetto_shape *s, const struct field *f)
{
	for (uint32_t i = 0; i < s->n; i++)
		if ((s->stay[i] != f[i].name.p || s->names[i].n != f[i].name.n) &&
		    !slice_equal(s->names[i], f[i].name))
			return false;
	return true;
}

/* Stores the keys of these fields.  Returns false if one has no iid, has losses or occurs twice. */
static bool fill_shape(struct perfetto_state *st, struct perfetto_shape *s, const struct field *f, uint32_t n)
{
	const struct perfetto_table *const t = &st->tables[KIND_KEY];
	struct perfetto_keys keys = { .n = 0 };
	bool usable = true;

	s->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t iid = tabletext_get(&t->iids, f[i].name);
		usable = iid != TABLE_NONE && f[i].name.n > 0 && t->entries[iid - 1].losses == 0 &&
		         !has_key(&keys, t->entries[iid - 1].key_hash);
		if (!usable)
			break;
		add_key(st, &keys, t->entries[iid - 1].key_hash);
		s->iids[i] = iid;
		s->stay[i] = (f[i].name.flags & SLICE_STAYS) != 0 ? f[i].name.p : NULL;
		s->names[i] = slice_of(tabletext_key(&t->iids, f[i].name), f[i].name.n);
	}
	perfetto_keys_free(&keys);
	s->n = usable ? n : 0;
	return usable;
}

static inline uint32_t row_of(const struct field *f, uint32_t n)
{
	const struct slice a = f[0].name, z = f[n - 1].name;

	return (n + 3 * a.n + 7 * z.n + (a.n > 0 ? 5 * (unsigned char)a.p[a.n - 1] : 0) +
	        (z.n > 0 ? 11 * (unsigned char)z.p[z.n / 2] : 0)) %
	       SHAPES;
}

static inline void put_field(struct perfetto_state *st, uint32_t iid, const struct value *v)
{
	char *p = text_reserve(&st->body, 3 * PF_VARINT_MAX);

	if (p == NULL)
		return;
	char *const start = p;
	p += 2;
	*p++ = PF_TAG(PF_annotation_name_iid, PF_VARINT);
	p = wire_put(p, iid);
	start[0] = PF_TAG(PF_event_debug_annotations, PF_BYTES);
	const uint32_t text = v->type == VALUE_STRING ? perfetto_intern_string(st, value_text(v)) : 0;
	const bool is_unsigned = v->type >= VALUE_U8 && v->type <= VALUE_U64;
	if (is_unsigned || text != 0) {
		p = wire_put(p, is_unsigned ? PF_TAG(PF_annotation_uint_value, PF_VARINT)
		                            : PF_TAG(PF_annotation_string_value_iid, PF_VARINT));
		p = wire_put(p, is_unsigned ? v->u64 : text);
		start[1] = (char)(p - start - 2);
		st->body.n = (size_t)(p - st->body.p);
		return;
	}
	const size_t at = (size_t)(start + 2 - st->body.p);
	st->body.n = (size_t)(p - st->body.p);
	if (v->type == VALUE_STRING)
		perfetto_put_text(st, &st->body, PF_annotation_string_value, value_text(v));
	else
		perfetto_value(st, v, 0);
	wire_close(&st->body, at);
}

static void put_fields(struct perfetto_state *st, const struct field *f, uint32_t n)
{
	struct perfetto_keys keys = { .n = 0 };

	for (uint32_t i = 0; i < n; i++) {
		const size_t at = wire_open(&st->body, PF_event_debug_annotations);
		perfetto_put_key(st, &keys, f[i].name);
		perfetto_value(st, &f[i].value, 0);
		wire_close(&st->body, at);
	}
	perfetto_keys_free(&keys);
}

void perfetto_args(struct perfetto_state *st, const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;
	const uint32_t n = e->nfields;
	const size_t before = st->body.n;

	if (n == 0)
		return;
	struct perfetto_shape *const s = &st->shapes[row_of(f, n)];
	if (n <= SHAPE_FIELDS && ((s->n == n && same_names(s, f)) || fill_shape(st, s, f, n))) {
		for (uint32_t i = 0; i < n; i++)
			put_field(st, s->iids[i], &f[i].value);
	} else {
		put_fields(st, f, n);
	}
	if (st->body.n - before > MAX_ARGS) {
		st->body.n = before;
		perfetto_lose(st, PERFETTO_ARGS_SIZE, 1);
	}
}

/* ---- call stacks ---- */

/*
 * The stack of a CPU sample is written as a PerfSample, the source of flame graphs; that of any other event
 * as a field of the event.  A frame has only a name, so frames and functions have the same iids.
 */

static uint32_t frame_iid(struct perfetto_state *st, struct slice name)
{
	const uint32_t known = st->tables[KIND_FUNCTION].n;
	const uint32_t iid = perfetto_intern(st, KIND_FUNCTION, name);

	if (iid > known) {
		const size_t at = wire_open(&st->defs, PF_interned_frames);
		wire_number(&st->defs, PF_entry_iid, iid);
		wire_number(&st->defs, PF_frame_function_name_id, iid);
		wire_close(&st->defs, at);
	}
	if (iid == 0)
		perfetto_lose(st, PERFETTO_FRAMES, 1);
	return iid;
}

/* Writes the frames as members of a Callstack into st->stack. */
static void put_frames(struct perfetto_state *st, const struct call_stack *stack)
{
	char buffer[CALL_STACK_ADDRESS];

	text_clear(&st->stack);
	for (uint32_t i = 0; i < stack->n; i++) {
		const uint32_t iid = frame_iid(st, call_stack_from_root(stack, i, buffer));
		if (iid != 0)
			wire_number(&st->stack, PF_callstack_frame_ids, iid);
	}
	st->body.failed |= st->stack.failed;
}

/* A stack for which there is no space is defined again each time. */
static uint32_t stack_iid(struct perfetto_state *st, const struct call_stack *stack)
{
	put_frames(st, stack);
	const struct slice frames = slice_of(st->stack.p, st->stack.n);
	const uint32_t known = tabletext_get(&st->stacks, frames);

	if (known != TABLE_NONE)
		return known;
	const uint32_t iid = ++st->nstacks;
	const size_t at = wire_open(&st->defs, PF_interned_callstacks);
	wire_number(&st->defs, PF_entry_iid, iid);
	text_add(&st->defs, frames.p, frames.n);
	wire_close(&st->defs, at);
	if (st->stack_bytes + frames.n > PERFETTO_STACK_BYTES || iid > PERFETTO_STACKS)
		return iid;
	const struct slice copy = arena_copy(&st->arena, frames);
	st->body.failed |= copy.p == NULL || !tabletext_put(&st->stacks, copy, iid);
	st->stack_bytes += frames.n;
	return iid;
}

/* Returns true for a sample of a running thread (not a waiting task).  Samples have thread ids of 32 bits. */
static bool is_sample(const struct event *e, const struct perfetto_track *k)
{
	const enum plan_stack of = call_stack_kind(e->cls);
	const bool cpu =
	    of == PLAN_STACK_CPU || (of == PLAN_STACK_ANY && slice_is(e->cls->category, "stack"));

	return e->phase == PHASE_INSTANT && cpu && k->tid > 0 && k->tid <= INT32_MAX;
}

static void put_sample(struct perfetto_state *st, uint64_t ts, const struct perfetto_track *k, uint32_t iid)
{
	struct text *const t = &st->chunk->text;
	const size_t packet = wire_open(t, PF_TRACE_PACKET);

	wire_number(t, PF_packet_timestamp, ts);
	wire_number(t, PF_packet_trusted_packet_sequence_id, 1);
	wire_number(t, PF_packet_sequence_flags, PF_NEEDS);
	if (st->defs.n > 0) {
		wire_head(t, PF_packet_interned_data, st->defs.n);
		text_add(t, st->defs.p, st->defs.n);
	}
	const size_t at = wire_open(t, PF_packet_perf_sample);
	wire_number(t, PF_perf_sample_pid, k->pid);
	wire_number(t, PF_perf_sample_tid, k->tid);
	wire_number(t, PF_perf_sample_callstack_iid, iid);
	wire_close(t, at);
	wire_close(t, packet);
	t->failed |= st->defs.failed;
	text_clear(&st->defs);
}

void perfetto_sample(struct perfetto_state *st, const struct batch *b, const struct event *e)
{
	const struct perfetto_track *const k = perfetto_track_of(st, e->track);
	struct call_stack stack;

	if (e->ts > LAST_TIME || !call_stack_get(&stack, b, e) || stack.n == 0)
		return;
	const uint32_t iid = stack_iid(st, &stack);
	if (is_sample(e, k))
		put_sample(st, e->ts, k, iid);
	else
		wire_number(&st->body, PF_event_callstack_iid, iid);
}

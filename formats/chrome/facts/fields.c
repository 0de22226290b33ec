/*
 * Fields of an event beside its args: members of the record that the model has no other place for, and its
 * call stack.  Frames are in a table by id, of at most MAX_FRAMES frames and MAX_BYTES of texts.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

/* ---- call stacks ---- */

#define MAX_FRAMES 262144u
#define MAX_BYTES (16u << 20)
#define MAX_STACK 512u /* frames of a call stack */

struct chrome_frame {
	struct slice name;
	struct slice parent; /* id; p NULL: a root */
	uint32_t caller;     /* index of the parent; TABLE_NONE: not found among the first nsearched frames */
	uint32_t nsearched;
};

void chrome_frames_free(struct chrome_frames *f)
{
	tabletext_free(&f->ids);
	free(f->list);
}

static struct slice frame_text(struct chrome_reading *of, struct chrome_reading *st,
                               const struct json_token *t)
{
	const struct slice s = arena_copy(&of->r->trace->arena, chrome_text(&st->scratch, t));

	of->frames.bytes += s.n;
	of->r->no_memory |= s.p == NULL;
	return s.p != NULL ? textscan_slice(s.p, s.n) : s;
}

static void add_frame(struct chrome_reading *of, struct chrome_reading *st, const struct json_token *key,
                      const struct json_token *t)
{
	struct chrome_frames *const f = &of->frames;
	struct chrome_frame frame = { .name = SLICE_LIT("?"), .caller = TABLE_NONE };

	if (f->n == MAX_FRAMES || f->bytes > MAX_BYTES || t->kind != JSON_OBJECT)
		return;
	struct json_walk w = json_walk_again(t);
	while (json_walk_next(&w)) {
		const struct slice name = json_token_text(&w.key);
		if (slice_is(name, "name"))
			frame.name = frame_text(of, st, &w.value);
		else if (slice_is(name, "parent"))
			frame.parent = frame_text(of, st, &w.value);
	}
	const struct slice id = frame_text(of, st, key);
	if (id.p == NULL || tabletext_get(&f->ids, id) != TABLE_NONE)
		return; /* read before */
	if (!array_reserve(&f->list, f->n, &f->cap, sizeof *f->list) || !tabletext_put(&f->ids, id, f->n))
		of->r->no_memory = true;
	else
		f->list[f->n++] = frame;
}

void chrome_read_frames(struct chrome_reading *st, const struct json_token *t)
{
	struct json_walk w = json_walk_again(t);

	if ((st->names_for->r->want & (WANT_FIELDS | WANT_STACKS)) == 0 || st->has_frames)
		return;
	while (json_walk_next(&w)) {
		if (st->scratch.used > 65536)
			arena_reset(&st->scratch);
		add_frame(st->names_for, st, &w.key, &w.value);
	}
}

/* The index of the frame, or TABLE_NONE. */
static uint32_t find_frame(const struct chrome_frames *f, struct slice id)
{
	return f->n > 0 ? tabletext_get(&f->ids, id) : TABLE_NONE;
}

bool chrome_knows_frame(struct chrome_reading *st, const struct json_token *id)
{
	return find_frame(&st->frames, chrome_text(&st->scratch, id)) != TABLE_NONE;
}

/* The index of the frame that calls the i-th, or TABLE_NONE. */
static uint32_t find_caller(const struct chrome_frames *f, uint32_t i)
{
	struct chrome_frame *const of = &f->list[i];

	if (of->caller == TABLE_NONE && of->nsearched < f->n && of->parent.p != NULL) {
		of->caller = find_frame(f, of->parent);
		of->nsearched = f->n;
	}
	return of->caller;
}

/* Sets the list of names of a call stack, leaf first. */
static bool call_stack(const struct chrome_reading *st, struct batch *b, const struct json_token *id,
                       struct value *stack)
{
	const struct chrome_frames *const f = &st->frames;
	const uint32_t leaf = find_frame(f, chrome_text(&b->scratch, id));
	uint32_t n = 0;

	for (uint32_t i = leaf; i != TABLE_NONE && n < MAX_STACK; n++)
		i = find_caller(f, i);
	struct value *const names = n > 0 ? arena_zalloc(&b->scratch, n, sizeof *names) : NULL;
	if (names == NULL)
		return false;
	for (uint32_t k = 0, i = leaf; k < n; k++, i = find_caller(f, i))
		names[k] = value_string(f->list[i].name);
	st->r->referred += n * sizeof *names;
	*stack = (struct value){ .type = VALUE_LIST, .element = VALUE_STRING, .count = n, .values = names };
	return true;
}

/* ---- members ---- */

/* Whether the member is in the model already. */
static bool is_read(struct chrome_reading *st, enum chrome_member m, const struct json_token *t)
{
	const struct chrome_record *const rec = &st->rec;
	const bool paired = strchr("bestfSF", rec->ph) != NULL;
	uint64_t v;

	switch (m) {
	case CHROME_DUR: /* Node.js puts a 0 into all events */
		return rec->ph == 'X' || (json_whole(json_token_text(t), &v) && v == 0);
	case CHROME_ID:
	case CHROME_ID2:
	case CHROME_SCOPE:
		return paired || rec->ph == 'C';
	case CHROME_S:
		return strchr("iI", rec->ph) != NULL;
	case CHROME_ARGS:
		return t->kind == JSON_NULL || *t->p == '{';
	case CHROME_BP:
		return paired;
	case CHROME_BIND_ID:
	case CHROME_FLOW_IN:
	case CHROME_FLOW_OUT:
		return rec->of[CHROME_BIND_ID].kind != JSON_ABSENT &&
		       (rec->of[CHROME_FLOW_IN].kind == JSON_TRUE ||
		        rec->of[CHROME_FLOW_OUT].kind == JSON_TRUE);
	case CHROME_SF:
		return chrome_knows_frame(st, t);
	case CHROME_MEMBERS:
		return false;
	default:
		return true;
	}
}

/* Whether a viewer draws the value as a series when it is a field of a counter.  Such a value is
 * written as text if it was not in args. */
static bool is_series(enum json_kind kind)
{
	return (kind >= JSON_UINT && kind <= JSON_NUMBER) || kind == JSON_TRUE || kind == JSON_FALSE;
}

/* Whether members other than the usual ones may be there. */
static bool has_more(const struct chrome_record *rec)
{
	const struct json_token *const of = rec->of;

	return rec->has_others || of[CHROME_ID].kind != JSON_ABSENT || of[CHROME_ID2].kind != JSON_ABSENT ||
	       of[CHROME_S].kind != JSON_ABSENT || of[CHROME_SCOPE].kind != JSON_ABSENT ||
	       of[CHROME_BP].kind != JSON_ABSENT || of[CHROME_BIND_ID].kind != JSON_ABSENT ||
	       of[CHROME_FLOW_IN].kind != JSON_ABSENT || of[CHROME_FLOW_OUT].kind != JSON_ABSENT ||
	       of[CHROME_SF].kind != JSON_ABSENT || (of[CHROME_DUR].kind != JSON_ABSENT && rec->ph != 'X') ||
	       (of[CHROME_ARGS].kind != JSON_ABSENT && *of[CHROME_ARGS].p != '{');
}

#define COMPARED 64 /* fields whose names are compared */

#define PREFIX SLICE_LIT("event.")

/* Whether s is the prefix so many times, then the name. */
static bool is_prefixed(struct slice s, uint32_t prefixes, struct slice name)
{
	const size_t n = (size_t)prefixes * PREFIX.n;

	if (s.n != n + name.n || !slice_equal(slice_of(s.p + n, name.n), name))
		return false;
	for (size_t i = 0; i < n; i += PREFIX.n)
		if (memcmp(s.p + i, PREFIX.p, PREFIX.n) != 0)
			return false;
	return true;
}

/* Returns the index of the field of this name in the fields [from, to) of the event, or `to`. */
static uint32_t find_name(const struct batch *b, const struct event *e, uint32_t from, uint32_t to,
                          uint32_t prefixes, struct slice name)
{
	for (uint32_t i = from; i < to && i - from < COMPARED; i++)
		if (is_prefixed(b->fields[e->first_field + i].name, prefixes, name))
			return i;
	return to;
}

/* Adds a member after the args of the event.  Of members of equal name, the last counts. */
static bool add_field(struct batch *b, struct event *e, uint32_t args, struct slice name, struct value v)
{
	struct slice parts[COMPARED + 1];
	uint32_t prefixes = 0;

	if (name.p == NULL)
		return e->nfields == UINT16_MAX;
	while (find_name(b, e, 0, args, prefixes, name) < args) /* each is another of the fields */
		parts[prefixes++] = PREFIX;
	const uint32_t same = find_name(b, e, args, e->nfields, prefixes, name);
	if (same < e->nfields) {
		b->fields[e->first_field + same].value = v;
		return true;
	}
	parts[prefixes] = name;
	if (prefixes > 0)
		name = arena_join(&b->scratch, parts, prefixes + (size_t)1);
	if (e->nfields == UINT16_MAX || name.p == NULL || batch_fields(b, 1) == NULL)
		return e->nfields == UINT16_MAX;
	if (e->nfields == 0)
		e->first_field = b->nfields;
	b->fields[e->first_field + e->nfields++] = (struct field){ name, v };
	b->nfields++;
	return true;
}

static bool add_members(struct chrome_reading *st, struct batch *b, struct event *e, uint32_t args)
{
	struct json json = { .lenient = true, .depth = JSON_MAX_DEPTH, .complete = true };
	const struct chrome_record *const rec = &st->rec;
	struct json_walk w = json_walk(&json, rec->p, rec->end);
	struct value stack;

	while (json_walk_next(&w)) {
		const enum chrome_member m = chrome_find_member(json_token_text(&w.key));
		if (m != CHROME_MEMBERS && rec->of[m].p != w.value.p)
			continue; /* the name occurs again */
		if (m == CHROME_SF && call_stack(st, b, &w.value, &stack)) {
			if (!add_field(b, e, args,
			               chrome_is_sample(st) ? SLICE_LIT("callstack") : SLICE_LIT("stack"),
			               stack))
				return false;
		} else if (!is_read(st, m, &w.value)) {
			const struct json_token t = m == CHROME_ID2 ? chrome_find_id(rec).token : w.value;
			const struct value v = rec->ph == 'C' && is_series(t.kind)
			                           ? value_string(json_token_text(&t))
			                           : chrome_read_value(&b->scratch, &t);
			if (!add_field(b, e, args,
			               m == CHROME_ID2 ? SLICE_LIT("id") : chrome_text(&b->scratch, &w.key),
			               v))
				return false;
		}
	}
	return true;
}

bool chrome_member_fields(struct chrome_reading *st, struct batch *b, struct event *e)
{
	static const char kinds[] = "NODPvVc()=TpnR"; /* phases whose instants have a meaning of their own */
	const char *const kind = chrome_is_sample(st) ? NULL : strchr(kinds, st->rec.ph);
	const uint32_t args = e->nfields;

	if (has_more(&st->rec) && !add_members(st, b, e, args))
		return false;
	return kind == NULL || add_field(b, e, args, SLICE_LIT("ph"), value_string(slice_of(kind, 1)));
}

/* ---- samples ---- */

/* Elements of the member `samples`, as Chrome with perf and Hermes write them beside the events, have a time,
 * a thread and an entry of stackFrames, but no ph and often no pid: their thread is the one of equal tid in
 * earlier events, of any process. */

void chrome_begin_samples(struct chrome_reading *st)
{
	st->in_samples = true;
	for (uint32_t i = st->nsampled; i < st->ntasks; i++) {
		const struct chrome_task *const w = st->tasks[i];
		if (w->is_thread && w->has_id && table64_get(&st->threads, w->id) == TABLE_NONE)
			st->r->no_memory |= !table64_put(&st->threads, w->id, i);
	}
	st->nsampled = st->ntasks;
}

struct json_token chrome_sample_pid(const struct chrome_reading *st)
{
	const struct slice tid = json_token_text(&st->rec.of[CHROME_TID]);
	uint64_t id;

	const uint32_t known = tid.n > 0 && json_whole(tid, &id) ? table64_get(&st->threads, id) : TABLE_NONE;
	if (known == TABLE_NONE)
		return (struct json_token){ .kind = JSON_ABSENT };
	const struct slice pid = st->tasks[known]->pid;
	return (struct json_token){ .p = pid.p, .end = pid.p + pid.n, .kind = JSON_UINT };
}

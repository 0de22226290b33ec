/*
 * The writer of events of any format: records of one of three dialects, hashes of names, and metadata.
 *
 * Processes are distinguished by their pids and hosts, threads by their tids within a process.  Each keeps
 * its id if that is free, else it gets one that no operating system uses (out/tracks.h).  Dialect d1 has no
 * metadata, so names are lost there; d1 and d3 have times in us.
 */
#include <stdlib.h>

#include "base/numbers.h"
#include "dftracer/write/write.h"
#include "model/event_traits.h"
#include "out/facts.h"
#include "out/kind.h"

/* Limits keep the memory independent of the length of the trace, and the output within the DFT_MAX_* of the
 * reader. */
#define MAX_NAME (64U << 10)      /* bytes of a name or category */
#define MAX_HASHES 60000U         /* names that become hashes ... */
#define MAX_HASH_BYTES (7U << 20) /* ... and their bytes */

/* ---- parts of records, metadata ---- */

void dfw_text(struct chunk *chunk, struct slice s, uint64_t offset)
{
	if (text_json_string(&chunk->text, s) > 0)
		dfw_lose(chunk, DFW_BAD_TEXT, offset);
}

/* Adds `,"key":number`, quoted in d1. */
static void put_number(const struct dfw_state *st, struct text *t, const char *key, uint64_t v)
{
	const size_t n = strlen(key);
	char *p = text_reserve(t, n + 8 + DECIMAL_U64_MAX);

	if (p == NULL)
		return;
	*p++ = ',';
	*p++ = '"';
	p = text_put(p, key, n);
	*p++ = '"';
	*p++ = ':';
	if (st->dialect == DFW_D1)
		*p++ = '"';
	p = decimal_u64(p, v);
	if (st->dialect == DFW_D1)
		*p++ = '"';
	t->n = (size_t)(p - t->p);
}

/* Adds a metadata record, except in d1.  value: JSON. */
static void put_metadata(struct dfw_state *st, struct chunk *chunk, struct dfw_owner owner, const char *kind,
                         struct slice name, struct slice value)
{
	struct text *const t = &chunk->text;
	const struct dfw_hash *const host = &owner.process->host_hash;

	if (st->dialect == DFW_D1)
		return;
	if (st->dialect == DFW_D3)
		text_printf(t, "{\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"dftracer\"",
		            owner.process->next_id++, kind);
	else
		text_printf(t, "{\"name\":\"%s\",\"cat\":\"dftracer\",\"type\":1", kind);
	put_number(st, t, "pid", owner.process->pid);
	put_number(st, t, "tid", owner.tid);
	text_str(t, st->dialect == DFW_D3 ? ",\"ph\":\"M\",\"args\":{" : ",\"ph\":4,\"args\":{");
	if (host->n > 0) {
		text_str(t, "\"hhash\":");
		text_add(t, host->text, host->n);
		text_char(t, ',');
	}
	text_str(t, "\"name\":");
	dfw_text(chunk, name, 0);
	text_str(t, ",\"value\":");
	text_slice(t, value);
	text_str(t, "}}\n");
}

/* ---- hashes ---- */

/* Names of hosts, files and strings become hashes, each defined by a record.  Tracers cut them from the MD5
 * of the name: up to 1.0.8 the high half of each byte, later every second byte. */

static uint64_t cut_digest(const unsigned char digest[DFT_MD5_SIZE], bool halves)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < DFT_MD5_SIZE; i += halves ? 1 : 2)
		v = halves ? v << 4 | digest[i] >> 4 : v << 8 | digest[i];
	return v > UINT16_MAX ? v : v + UINT16_MAX + 1; /* small numbers are the hashes of another dialect */
}

static struct dfw_hash make_hash(const struct dfw_state *st, uint64_t value)
{
	struct dfw_hash h;
	const int n =
	    snprintf(h.text, sizeof h.text, st->dialect == DFW_D3 ? "%" PRIu64 : "\"%016" PRIx64 "\"", value);

	h.n = (uint32_t)n;
	return h;
}

static const struct dfw_hash *add_hash(struct dfw_state *st, enum dft_hash_kind kind, struct slice text,
                                       uint64_t value)
{
	const struct slice copy = arena_copy(&st->arena, text);

	if (copy.p == NULL || !array_reserve(&st->hashes, st->nhashes, &st->hashes_cap, sizeof *st->hashes) ||
	    !tabletext_put(&st->hashed[kind], copy, st->nhashes) ||
	    !table64_put(&st->hashes_used[kind], value, 1))
		return NULL;
	st->hash_bytes += text.n;
	st->hashes[st->nhashes] = make_hash(st, value);
	return &st->hashes[st->nhashes++];
}

struct dfw_hash dfw_hash_of(struct dfw_state *st, struct chunk *chunk, struct dfw_owner owner,
                            enum dft_hash_kind kind, struct slice text)
{
	const struct dfw_hash none = { .n = 0 };
	unsigned char digest[DFT_MD5_SIZE];

	if (st->dialect == DFW_D1 || text.n == 0)
		return none;
	const uint32_t known = tabletext_get(&st->hashed[kind], text);
	if (known != TABLE_NONE)
		return st->hashes[known];
	if (st->nhashes >= MAX_HASHES || text.n > MAX_HASH_BYTES - st->hash_bytes)
		return none;
	dft_md5(text, digest);
	const uint64_t value = cut_digest(digest, st->dialect == DFW_D3);
	if (table64_get(&st->hashes_used[kind], value) != TABLE_NONE)
		return none; /* the hash of another text */
	const struct dfw_hash *const h = add_hash(st, kind, text, value);
	if (note_failure(&chunk->text.failed, h == NULL))
		return none;
	const struct dfw_hash hash = *h;
	if (kind == DFT_HASH_HOST && owner.process->host_hash.n == 0)
		owner.process->host_hash = hash;
	put_metadata(st, chunk, owner, dft_hash_records[kind], text, slice_of(hash.text, hash.n));
	return hash;
}

/* ---- processes ---- */

#define OF_PIDS 0 /* scope of dfw_state.numbers; that of the tids of a process is its number */
#define NO_HOST 0 /* tags of pids */
#define HAS_HOST 1

/* Returns the host that the event names; n is 0 if it names none. */
static struct slice host_of(const struct batch *b, const struct event *e)
{
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (slice_is(f->name, "hostname") && f->value.type == VALUE_STRING &&
		    f->value.count <= MAX_NAME)
			return value_text(&f->value);
	}
	return SLICE_NONE;
}

/* If two keys collide, a process gets another pid. */
static uint64_t key_of(uint64_t pid, struct slice host)
{
	return dft_key_of(pid, hash_bytes(host.p, host.n, hash_seed()));
}

static bool is_free_pid(struct dfw_state *st, uint64_t pid, struct slice host)
{
	const uint32_t used = track_numbers_get(&st->numbers, OF_PIDS, pid);

	if (used == TABLE_NONE)
		return true;
	return used == HAS_HOST && host.n > 0 && table64_get(&st->hosts, key_of(pid, host)) == TABLE_NONE;
}

static bool number_process(struct dfw_state *st, const struct track *t, struct dfw_process *p,
                           struct chunk *chunk, uint64_t offset)
{
	if (t->kind == TRACK_PROCESS && t->has_id && is_free_pid(st, t->id, p->host)) {
		p->pid = t->id;
		p->shares_pid = track_numbers_get(&st->numbers, OF_PIDS, p->pid) != TABLE_NONE;
	} else {
		p->pid = track_numbers_generate(&st->numbers, OF_PIDS);
		p->changed = t->has_id;
		if (t->has_id)
			dfw_lose(chunk, DFW_NEW_NUMBER, offset);
	}
	return track_numbers_put(&st->numbers, OF_PIDS, p->pid, p->host.n > 0 ? HAS_HOST : NO_HOST) &&
	       table64_put(&st->hosts, key_of(p->pid, p->host), 1);
}

/* Returns the name without the host that readers of this format add to it. */
static struct slice own_name(struct slice name, struct slice host)
{
	const size_t n = (size_t)host.n + 3;

	if (host.n > 0 && name.n > n && name.p[name.n - 1] == ')' &&
	    memcmp(name.p + name.n - 1 - host.n, host.p, host.n) == 0 &&
	    memcmp(name.p + name.n - n, " (", 2) == 0)
		name.n -= (uint32_t)n;
	return name;
}

/* Whether readers give this name to a track without one; it is not written then. */
static bool is_default_name(struct slice name, const char *noun, uint64_t number)
{
	char text[40];

	snprintf(text, sizeof text, "%s %" PRIu64, noun, number);
	return slice_is(name, text);
}

/* Whether readers show another name. */
static bool is_changed(const struct dfw_state *st, struct slice name, const char *noun, uint64_t number)
{
	return !is_default_name(name, noun, number) &&
	       (name.n == 0 || st->dialect == DFW_D1 || name.n > DFT_MAX_TITLE ||
	        !utf8_valid(name.p, name.n));
}

static void put_name(struct dfw_state *st, struct chunk *chunk, struct dfw_owner owner, const char *kind,
                     struct slice name, uint64_t offset)
{
	char value[32];

	const int n = snprintf(value, sizeof value, "\"%s\"", kind);
	name.n = name.n < MAX_NAME ? name.n : MAX_NAME;
	put_metadata(st, chunk, owner, kind, name, slice_of(value, (size_t)n));
	if (st->dialect == DFW_D1)
		dfw_lose(chunk, DFW_NO_METADATA, offset);
}

static void introduce_process(struct dfw_state *st, const struct track *t, struct dfw_process *p,
                              struct chunk *chunk, uint64_t offset)
{
	const struct dfw_owner owner = { p, p->pid };

	p->host_hash = dfw_hash_of(st, chunk, owner, DFT_HASH_HOST, p->host);
	if (st->dialect == DFW_D5)
		put_metadata(st, chunk, owner, "CM", SLICE_LIT("time_metric"), SLICE_LIT("\"NS\""));
	const struct slice name = own_name(t->name, p->host);
	p->changed |=
	    t->has_id && (is_changed(st, name, "process", p->pid) || (p->host.n > 0 && name.n == t->name.n));
	if (name.n > 0 && !is_default_name(name, "process", p->pid))
		put_name(st, chunk, owner, "process_name", name, offset);
}

static struct dfw_process *process_of(struct dfw_state *st, const struct batch *b, const struct event *e,
                                      struct chunk *chunk)
{
	const struct track *const t = track_process(e->track);
	struct dfw_track *const to = &st->tracks[t->index];

	if (to->process != NULL)
		return to->process;
	struct dfw_process *const p = arena_zalloc(&st->arena, 1, sizeof *p);
	if (p == NULL)
		return NULL;
	*p = (struct dfw_process){ .number = ++st->nprocesses, .next_id = 1 };
	p->host = arena_copy(&st->arena, host_of(b, e));
	if (t->host.n > 0 && !slice_equal(t->host, p->host))
		dfw_lose(chunk, DFW_HOSTS, e->offset);
	if (p->host.p == NULL || !number_process(st, t, p, chunk, e->offset))
		return NULL;
	to->process = p;
	if (st->first == NULL)
		st->first = p;
	introduce_process(st, t, p, chunk, e->offset);
	return p;
}

/* ---- threads ---- */

static bool number_thread(struct dfw_state *st, const struct track *t, struct dfw_track *to,
                          struct chunk *chunk, uint64_t offset)
{
	const struct dfw_process *const p = to->process;
	static const uint64_t of_process = 0;
	const bool has_own = track_has_own_tid(t);
	const uint64_t *const own = has_own ? &t->id : t->kind == TRACK_PROCESS ? &of_process : NULL;

	if (!track_numbers_assign(&st->numbers, p->number, own, &to->tid))
		return false;
	if (has_own && to->tid != t->id) {
		to->changed = true;
		dfw_lose(chunk, DFW_NEW_NUMBER, offset);
	}
	to->changed |= t->kind == TRACK_PROCESS || p->changed || is_changed(st, t->name, "thread", to->tid);
	to->ready = true;
	return true;
}

/* Returns the process and thread of an event; writes their names before their first event. */
static struct dfw_owner who_of(struct dfw_state *st, const struct batch *b, const struct event *e,
                               struct chunk *chunk)
{
	const struct track *const t = e->track;
	struct dfw_track *const to = &st->tracks[t->index];

	if (!to->ready) {
		struct dfw_process *const p = process_of(st, b, e, chunk);
		to->process = p;
		if (note_failure(&chunk->text.failed,
		                 p == NULL || !number_thread(st, t, to, chunk, e->offset)))
			return (struct dfw_owner){ NULL, 0 };
		if (t->name.n > 0 && !is_default_name(t->name, "thread", to->tid))
			put_name(st, chunk, (struct dfw_owner){ p, to->tid }, "thread_name", t->name,
			         e->offset);
	}
	return (struct dfw_owner){ to->process, to->tid };
}

/* ---- times ---- */

/* Returns the times in the unit of the dialect. */
static struct out_times times_of(const struct dfw_state *st, const struct event *e, struct chunk *chunk)
{
	struct out_times t = out_times_of(e, st->signed_time);
	const uint64_t end = t.start + t.dur;

	if (t.negative)
		dfw_lose(chunk, DFW_NEGATIVE_TIME, e->offset);
	if (t.late)
		dfw_lose(chunk, DFW_LATE_END, e->offset);
	if (st->dialect == DFW_D5)
		return t;
	if (t.start % 1000 != 0 || t.dur % 1000 != 0)
		dfw_lose(chunk, DFW_TIME_ROUNDED, e->offset);
	t.start /= 1000;
	t.dur = end / 1000 - t.start;
	return t;
}

/* ---- events ---- */

enum kind { COMPLETE, COUNTER, AGGREGATE };

/* Aggregates are instants to readers of this format. */
static bool is_aggregate(const struct dfw_state *st, const struct batch *b, const struct event *e)
{
	if (!st->own || e->phase != PHASE_INSTANT)
		return false;
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (slice_is(f->name, "dft_cnt") || (slice_is(f->name, "dur") && f->value.type == VALUE_JSON))
			return true;
	}
	return false;
}

static enum kind kind_of(const struct dfw_state *st, const struct batch *b, const struct event *e,
                         struct chunk *chunk)
{
	static const enum dfw_loss losses[] = {
		[PHASE_BEGIN] = DFW_HALF_SPAN,    [PHASE_END] = DFW_HALF_SPAN,
		[PHASE_INSTANT] = DFW_INSTANT,    [PHASE_COUNTER] = DFW_COUNTER,
		[PHASE_FLOW_OUT] = DFW_ARROW_END, [PHASE_FLOW_IN] = DFW_ARROW_END,
	};

	if (st->dialect == DFW_D5 && e->phase == PHASE_COUNTER)
		return COUNTER;
	if (st->dialect == DFW_D5 && is_aggregate(st, b, e))
		return AGGREGATE;
	if (e->phase != PHASE_SPAN)
		dfw_lose(chunk, losses[e->phase], e->offset);
	else if ((e->flags & EVENT_ASYNC) != 0)
		dfw_lose(chunk, DFW_ASYNC_SPAN, e->offset);
	if (event_is_step(e))
		dfw_lose(chunk, DFW_STEP, e->offset);
	return COMPLETE;
}

static void put_event_name(struct chunk *chunk, const char *key, struct slice s, uint64_t offset)
{
	text_str(&chunk->text, key);
	if (s.n > MAX_NAME) {
		s = slice_of(s.p, utf8_cut(s.p, s.n, MAX_NAME));
		dfw_lose(chunk, DFW_TEXT_CUT, offset);
	}
	dfw_text(chunk, s, offset);
}

/* Adds `{"id":1,"name":`.  In d5 only records that had an id have one. */
static void put_begin(struct dfw_state *st, struct dfw_process *p, const struct value *id,
                      const struct event *e, struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	if (id == NULL && st->dialect == DFW_D5) {
		text_str(t, "{\"name\":");
		return;
	}
	if (id == NULL)
		dfw_lose(chunk, DFW_NUMBERED, e->offset);
	const uint64_t v = id != NULL ? id->u64 : p->next_id;
	p->next_id = v >= p->next_id && v < INT64_MAX ? v + 1 : p->next_id;
	text_str(t, st->dialect == DFW_D1 ? "{\"id\":\"" : "{\"id\":");
	text_u64(t, v);
	text_str(t, st->dialect == DFW_D1 ? "\",\"name\":" : ",\"name\":");
}

static void put_complete(struct dfw_state *st, const struct event *e, struct dfw_owner owner,
                         struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct out_times times = times_of(st, e, chunk);

	put_number(st, t, "pid", owner.process->pid);
	put_number(st, t, "tid", owner.tid);
	put_number(st, t, "ts", times.start);
	put_number(st, t, "dur", times.dur);
	text_str(t, st->dialect == DFW_D5 ? ",\"ph\":1" : ",\"ph\":\"X\"");
}

/* Adds the rest of a counter or an aggregate of d5. */
static void put_sample(struct dfw_state *st, const struct event *e, struct dfw_owner owner, enum kind kind,
                       struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	put_number(st, t, "ts", times_of(st, e, chunk).start);
	text_str(t, kind == COUNTER ? ",\"ph\":2" : ",\"ph\":3");
	put_number(st, t, "pid", owner.process->pid);
	put_number(st, t, "tid", owner.tid);
}

static void put_event(struct dfw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct dfw_owner owner = who_of(st, b, e, chunk);

	if (chunk->text.failed)
		return;
	if (st->tracks[e->track->index].changed)
		dfw_lose(chunk, DFW_TRACK_CHANGED, e->offset);
	dfw_define_hashes(st, b, e, owner, chunk);
	const enum kind kind = kind_of(st, b, e, chunk);
	const struct value *const type = dfw_type_of(st, b, e);
	put_begin(st, owner.process, kind == COMPLETE ? dfw_id_of(st, b, e) : NULL, e, chunk);
	put_event_name(chunk, "", e->name, e->offset);
	put_event_name(chunk, ",\"cat\":", e->cls->category, e->offset);
	if (type != NULL)
		put_number(st, &chunk->text, "type", type->u64);
	if (kind == COMPLETE)
		put_complete(st, e, owner, chunk);
	else
		put_sample(st, e, owner, kind, chunk);
	dfw_args(st, b, e, owner, kind == COUNTER, chunk);
	text_str(&chunk->text, "}\n");
	owner.process->calls++;
}

/* ---- the writer ---- */

const struct loss dfw_losses[DFW_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "dftracer/write/losses.def"
#undef LOSS
};
const char *const dfw_dialect_names[] = { "d1", "d3", "d5", NULL };

static bool dfw_open(struct writer *w, struct chunk *chunk)
{
	const char *const dialect = option_find(w->options, DFW_DIALECT_OPTION);
	const unsigned asked = dialect != NULL ? option_word(dfw_dialect_names, dialect) : DFW_D5;
	struct dfw_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	st->own = strcmp(w->run->trace->format, "dftracer") == 0;
	st->dialect = asked < DFW_D5 ? (enum dfw_dialect)asked : DFW_D5;
	if (st->dialect != DFW_D5)
		text_str(&chunk->text, "[\n");
	return true;
}

static bool dfw_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct dfw_state *const st = w->state;

	return tracks_reach(&st->tracks, &st->ntracks, sizeof *st->tracks, b);
}

static void dfw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct dfw_state *const st = state;

	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		put_event(st, b, &b->events[i], chunk);
}

/* ---- facts of the trace ---- */

/* Facts that readers of this format took from custom metadata;
 * not those of start and end, which are events. */
static bool is_custom(struct slice *name)
{
	static const char custom[] = "CM.";
	const uint32_t n = sizeof custom - 1;

	if (name->n <= n || memcmp(name->p, custom, n) != 0)
		return false;
	*name = slice_of(name->p + n, name->n - n);
	return true;
}

#define OWN_FACTS                                                                                            \
	((FACTS_TEXTS & ~FACTS_OF(FACT_BYTE_ORDER)) | FACTS_OF(FACT_EPOCH) | FACTS_OF(FACT_REBASED_BY))

static bool is_own_fact(const struct writer *w, struct slice name)
{
	struct facts own = facts_of(w->run, OWN_FACTS);
	struct fact f;

	while (facts_next(&own, &f))
		if (slice_equal(f.name, name))
			return true;
	return false;
}

/* Adds a fact as custom metadata; the unit of times was written already.  A fact of the trace that has the
 * name of a fact of this writer gets a prefix: readers keep the first or the last value of a name. */
static void put_fact(struct dfw_state *st, const struct writer *w, struct chunk *chunk, const struct fact *f)
{
	struct slice name = f->name, value;
	struct text *const t = &st->scratch;
	struct chunk made = { .text = { .p = NULL } };

	if (f->kind == FACT_TRACE && st->own && !is_custom(&name))
		return;
	if (f->kind == FACT_LOSS) {
		fact_put_name(&made.text, f);
	} else if (f->kind == FACT_TRACE && is_own_fact(w, name)) {
		text_str(&made.text, FACT_OF_TRACE);
		text_slice(&made.text, name);
	}
	const size_t n = made.text.n;
	if (!fact_put_text(&made.text, f))
		dfw_value(&made, &f->value, 0);
	value = slice_of(made.text.p + n, made.text.n - n);
	name = n > 0 ? slice_of(made.text.p, n) : name;
	text_clear(t);
	if (text_json_string(t, value) > 0) /* values of custom metadata are texts */
		dfw_lose(chunk, DFW_BAD_TEXT, LOSS_NOWHERE);
	ledger_merge(&chunk->ledger, &made.ledger);
	chunk->text.failed |= made.text.failed || t->failed;
	if (t->n > DFW_MAX_RECORD / 2)
		dfw_lose(chunk, DFW_TOO_LONG, LOSS_NOWHERE);
	else if (!chunk->text.failed && !slice_is(name, "time_metric"))
		put_metadata(st, chunk, (struct dfw_owner){ st->first, st->first->pid }, "CM", name,
		             slice_of(t->p, t->n));
	chunk_free(&made);
}

static void put_facts(struct dfw_state *st, const struct writer *w, struct chunk *chunk)
{
	struct facts of_trace = facts_of(w->run, FACTS_OF(FACT_TRACE));
	struct facts own = facts_of(w->run, OWN_FACTS | FACTS_OF(FACT_LOSS));
	struct fact f;

	while (facts_next(&of_trace, &f))
		put_fact(st, w, chunk, &f);
	while (facts_next(&own, &f))
		put_fact(st, w, chunk, &f);
}

static bool dfw_close(struct writer *w, struct chunk *chunk)
{
	struct dfw_state *const st = w->state;
	struct dfw_process nobody = { .next_id = 1 };
	const int128 epoch = w->run->trace->epoch_ns + w->run->rebased_by; /* readers of d1 take 0 */

	if (st->first == NULL)
		st->first = &nobody;
	if (st->dialect == DFW_D1)
		facts_lose(w,
		           (struct facts_losses){ .facts = &dfw_losses[DFW_NO_METADATA],
		                                  .epoch = epoch != 0 ? &dfw_losses[DFW_EPOCH] : NULL },
		           chunk);
	else
		put_facts(st, w, chunk);
	st->first = NULL;
	if (st->dialect == DFW_D3)
		text_char(&chunk->text, ']');
	return true;
}

static void dfw_free(void *state)
{
	struct dfw_state *const st = state;

	arena_free(&st->arena);
	free(st->tracks);
	track_numbers_free(&st->numbers);
	table64_free(&st->hosts);
	for (int i = 0; i < DFT_HASH_KINDS; i++) {
		tabletext_free(&st->hashed[i]);
		table64_free(&st->hashes_used[i]);
	}
	free(st->hashes);
	text_free(&st->scratch);
}

const struct writer_ops dfw_ops = {
	.state_size = sizeof(struct dfw_state),
	.want = WANT_FIELDS,
	.modes = WRITER_TEXT,
	.open = dfw_open,
	.declare = dfw_declare,
	.write = dfw_write,
	.close = dfw_close,
	.free = dfw_free,
};

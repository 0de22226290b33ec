/*
 * Records as events: class, name, track, fields.
 *
 * Texts point into the record unless they have escapes.  Classes and tracks are cached by the last byte of
 * the category and by tid.
 */
#include "dftracer/dftracer.h"
#include "model/value.h"

#include <math.h>

/* ---- values ---- */

/* Returns the nan or infinity of a JSON_NOT_FINITE token. */
static struct value not_finite_value(struct slice s)
{
	const bool sign = *s.p == '-' || *s.p == '+';
	const double v = (s.p[sign] | 0x20) == 'n' ? (double)NAN : (double)INFINITY;

	return (struct value){ .type = VALUE_F64, .f64 = *s.p == '-' && v == v ? -v : v };
}

struct value dft_value_of(const struct dft_record *rec, struct dft_token t, enum json_kind kind)
{
	const struct slice s = dft_token_text(rec, t);
	uint64_t v;

	switch (kind) {
	case JSON_UINT:
		return dft_digits(rec, t, &v) ? value_u64(v) : value_json(s);
	case JSON_INT:
		return json_integer(s, &v) ? (struct value){ .type = VALUE_I64, .i64 = (int64_t)v }
		                           : value_json(s);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = kind == JSON_TRUE };
	case JSON_NUMBER:
	case JSON_OBJECT:
	case JSON_ARRAY:
		return value_json(s);
	case JSON_NOT_FINITE:
		return not_finite_value(s);
	case JSON_ABSENT:
	case JSON_NULL:
		return (struct value){ .type = VALUE_NONE };
	default:
		return value_string(textscan_slice(s.p, s.n));
	}
}

/* ---- tracks ---- */

/* Returns the name of a host by its hash in this form; p NULL: none. */
static struct slice named_host(const struct dft_state *st, const struct dft_process *p, struct slice host,
                               enum json_kind form)
{
	struct dft_hash h;

	return dft_hash_read(host, form, &h) ? dft_name_find(st, DFT_HASH_HOST, h, p->pid) : SLICE_NONE;
}

/* Returns the name of the host of a process, or its hash; empty: not known. */
static struct slice host_name(struct dft_state *st, const struct dft_process *p)
{
	/* The host is as written: a name or a hash.  16 digits may be a hash in either form. */
	const struct slice host = p->host != 0 ? dft_host_text(&st->sh->hosts, p->host) : slice_of("", 0);
	struct slice name = SLICE_NONE;

	if (host.n == DFT_HEX_DIGITS)
		name = named_host(st, p, host, JSON_STRING);
	if (name.p == NULL && host.n > 0 && host.p[0] >= '0' && host.p[0] <= '9')
		name = named_host(st, p, host, JSON_UINT);
	name = name.p != NULL ? name : host;
	name.n = (uint32_t)utf8_cut(name.p, name.n, DFT_MAX_TITLE);
	return name;
}

/* Returns "the title (host)", or "process 12 (host)", in the scratch arena.  p is NULL on OOM. */
static struct slice process_name(struct dft_state *st, const struct dft_process *p, struct slice host,
                                 bool negative)
{
	struct slice name = dft_title_find(st, p->pid, p->host, NULL);

	if (name.p == NULL && negative)
		name = arena_printf(&st->scratch, "process %" PRId64, (int64_t)p->pid);
	else if (name.p == NULL)
		name = trace_track_name(st->r->trace, true, "process", p->pid);
	if (name.p != NULL && host.n > 0)
		name = ARENA_JOIN(&st->scratch, name, SLICE_LIT(" ("), host, SLICE_LIT(")"));
	return textscan_slice(name.p, name.n);
}

static const struct track *process_track(struct dft_state *st, struct dft_process *p, bool negative)
{
	if (p->track != NULL)
		return p->track;
	const struct slice host = host_name(st, p);
	const struct slice name = process_name(st, p, host, negative);
	struct track *const t = name.p != NULL ? trace_add_process(st->r->trace, name) : NULL;
	if (t == NULL)
		return NULL;
	t->has_id = true;
	t->id = p->pid;
	t->global = p->host != 0; /* ranks write files of their own */
	if (!trace_set_host(st->r->trace, t, host))
		return NULL;
	p->track = t;
	return t;
}

static bool is_number(struct slice name, const uint64_t *number)
{
	char digits[24];

	return number != NULL && name.n == (uint32_t)snprintf(digits, sizeof digits, "%" PRIu64, *number) &&
	       memcmp(name.p, digits, name.n) == 0;
}

static const struct track *add_thread(struct dft_state *st, const struct dft_record *rec,
                                      struct dft_process *p, const uint64_t *tid, uint64_t key, bool negative)
{
	struct trace *const trace = st->r->trace;
	const struct track *const process = process_track(st, p, negative);

	if (process == NULL)
		return NULL;
	if (st->sh->processes.threads.used >= DFT_MAX_THREADS) {
		dft_report(st, DFT_RULE_THREAD_LIMIT, dft_record_position(rec),
		           "more than 40000 threads: thread %" PRIu64 " shares a track with others",
		           tid != NULL ? *tid : 0);
		if (st->sh->processes.overflow == NULL)
			st->sh->processes.overflow =
			    trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more threads"));
		return st->sh->processes.overflow;
	}
	struct slice name = tid != NULL ? dft_title_find(st, p->pid, p->host, tid) : SLICE_LIT("no thread");
	if (name.p == NULL || is_number(name, tid)) /* tracers name threads by their numbers */
		name = trace_track_name(trace, false, "thread", *tid);
	struct track *const t =
	    name.p != NULL ? trace_add_thread(trace, process, tid != NULL ? *tid : 0, name) : NULL;
	if (t == NULL || !table64_put(&st->sh->processes.threads, key, t->index))
		return NULL;
	t->has_id = tid != NULL;
	return t;
}

static const struct track *thread_track(struct dft_state *st, const struct dft_record *rec,
                                        struct dft_process *p, bool has_tid, uint64_t tid, bool negative_pid)
{
	struct dft_thread *const recent = &st->sh->processes.recent[(tid ^ p->number) % DFT_RECENT];

	if (has_tid && recent->process == p && recent->tid == tid)
		return recent->track;
	const uint64_t key = has_tid ? dft_key_of(tid, p->number) : p->number;
	const uint32_t known = table64_get(&st->sh->processes.threads, key);
	const struct track *const t = known != TABLE_NONE
	                                  ? st->r->trace->tracks[known]
	                                  : add_thread(st, rec, p, has_tid ? &tid : NULL, key, negative_pid);
	if (has_tid && t != NULL)
		*recent = (struct dft_thread){ p, t, tid };
	return t;
}

/* ---- fields ---- */

/* The fields of one event: members other than name, times and ids of the track, and the arguments. */
struct fields {
	struct dft_state *st;
	struct batch *b;
	const struct dft_record *rec;
	const struct dft_facts *facts;
	struct field *to;
	uint32_t hashes; /* number of hashes that were added */
};

static struct slice checked_text(struct fields *x, struct slice s)
{
	x->st->r->no_memory |= s.p == NULL;
	return textscan_slice(s.p, s.n);
}

static struct value value_of(struct fields *x, const struct dft_arg *a)
{
	const enum json_kind kind = (enum json_kind)a->kind;

	if (kind == JSON_ESCAPED || kind == JSON_BAD_STRING)
		return value_string(dft_text(x->rec, a->value, kind, &x->b->scratch));
	return dft_value_of(x->rec, a->value, kind);
}

/* The name of an argument of a clean record: the same text in all events, if the trace has space for it. */
static struct slice clean_key_of(struct fields *x, const struct dft_arg *a)
{
	if (a->number == DFT_NO_KEY)
		return dft_clean_text(dft_token_text(x->rec, a->key));
	struct dft_key *const key = &x->st->keys.keys[a->number];
	if (key->shown.p == NULL)
		key->shown = trace_text(x->st->r->trace, dft_clean_text(key->text));
	return key->shown;
}

static void put_arg(struct fields *x, const struct dft_arg *a)
{
	struct field *const to = x->to++;

	if (a->repeats == 0 && x->rec->clean) {
		to->name = clean_key_of(x, a);
		to->value = a->kind == JSON_STRING
		                ? value_string(dft_clean_text(dft_token_text(x->rec, a->value)))
		                : value_of(x, a);
		return;
	}
	to->name = dft_text(x->rec, a->key, JSON_ESCAPED, &x->b->scratch);
	if (a->repeats > 0)
		to->name = checked_text(x, arena_numbered(&x->b->scratch, to->name, a->repeats + 1));
	to->value = value_of(x, a);
}

/* A name of fields that is part of the program. */
#define LITERAL(s) ((struct slice){ (s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON | SLICE_STAYS })

/* Fields that show names in place of hashes, unless the record has the argument `conflict`. */
static const struct {
	struct slice name;
	enum dft_role conflict;
} readable[] = {
	[DFT_ROLE_HHASH] = { LITERAL("hostname"), DFT_ROLE_HOSTNAME },
	[DFT_ROLE_FHASH] = { LITERAL("fname"), DFT_ROLE_FNAME },
	[DFT_ROLE_CMD_HASH] = { LITERAL("cmd"), DFT_ROLE_CMD },
	[DFT_ROLE_EXEC_HASH] = { LITERAL("exec"), DFT_ROLE_EXEC },
	[DFT_ROLE_CWD] = { LITERAL("cwd"), DFT_ROLE_NONE },
};

static struct slice name_of_hash(struct fields *x, const struct dft_arg *a)
{
	const enum dft_role role = (enum dft_role)a->role;
	const uint32_t i = x->hashes++;
	struct dft_hash h;

	if (i < x->facts->nnames)
		return x->facts->names[i];
	if (x->facts->phase != DFT_PHASE_METADATA ||
	    !dft_hash_read(dft_token_text(x->rec, a->value), (enum json_kind)a->kind, &h))
		return SLICE_NONE;
	return dft_name_find(x->st, dft_hash_kind_of(role), h, x->facts->pid);
}

static void put_hash(struct fields *x, const struct dft_arg *a)
{
	const enum dft_role role = (enum dft_role)a->role, conflict = readable[role].conflict;
	const struct slice name = name_of_hash(x, a);

	if (name.p == NULL || (conflict != DFT_ROLE_NONE && x->rec->special[conflict] != 0)) {
		put_arg(x, a);
		return;
	}
	*x->to++ = (struct field){ readable[role].name, value_string(name) };
	if (x->st->keep_ids && role != DFT_ROLE_CWD)
		put_arg(x, a);
}

/* Adds the series of a counter: all arguments but the host, which the track shows. */
static void put_counter(struct fields *x)
{
	for (uint32_t i = 0; i < x->rec->nargs; i++) {
		const struct dft_arg *const a = &x->rec->args[i];
		const struct slice s = dft_token_text(x->rec, a->value);
		enum json_kind kind;
		if (a->role == DFT_ROLE_HHASH || a->role == DFT_ROLE_HOSTNAME)
			continue;
		put_arg(x, a);
		if (a->kind == JSON_STRING && json_is_number(s, &kind))
			x->to[-1].value = value_json(s);
	}
}

/* Adds a member of the record. */
static void put_top(struct fields *x, enum dft_top which, struct slice name)
{
	const struct dft_arg a = { .value = x->rec->top[which],
		                   .kind = (uint8_t)dft_top_kind(x->rec, which) };

	if (a.kind != JSON_ABSENT)
		*x->to++ = (struct field){ name, value_of(x, &a) };
}

/* Whether another field of the event has, or may have, this name. */
static bool name_conflicts(const struct dft_record *rec, struct slice name)
{
	for (uint32_t i = 0; i < rec->nargs; i++)
		if (dft_key_is(rec, &rec->args[i], name))
			return true;
	for (size_t i = DFT_ROLE_HHASH; i < sizeof readable / sizeof readable[0]; i++)
		if (slice_equal(readable[i].name, name))
			return true;
	return false;
}

static void put_extra(struct fields *x, const struct dft_arg *a)
{
	const struct slice key = checked_text(x, dft_text(x->rec, a->key, JSON_ESCAPED, &x->b->scratch));

	put_arg(x, a);
	if (a->repeats > 0 || name_conflicts(x->rec, key)) {
		char digits[DECIMAL_U64_MAX];
		x->to[-1].name = checked_text(x, ARENA_JOIN(&x->b->scratch, key, SLICE_LIT(" (record, "),
		                                            decimal_slice(digits, a->repeats + UINT64_C(1)),
		                                            SLICE_LIT(")")));
	}
}

/* Whether the id of the record, in quotes or not, is the text of its number. */
static bool is_plain_id(const struct dft_record *rec)
{
	const struct slice id = dft_top_text(rec, DFT_ID);

	return dft_top_kind(rec, DFT_ID) == JSON_UINT || id.n == 1 || id.p[0] != '0';
}

static void put_all(struct fields *x)
{
	const struct dft_record *const rec = x->rec;

	if (x->facts->has_id && rec->special[DFT_ROLE_ID] == 0 && is_plain_id(rec))
		*x->to++ = (struct field){ LITERAL("id"), value_u64(x->facts->id) };
	else
		put_top(x, DFT_ID,
		        rec->special[DFT_ROLE_ID] == 0 ? SLICE_LIT("id") : SLICE_LIT("id (record)"));
	put_top(x, DFT_TYPE,
	        rec->special[DFT_ROLE_TYPE] == 0 ? SLICE_LIT("type") : SLICE_LIT("type (record)"));
	for (uint32_t i = 0; i < rec->nextras; i++)
		put_extra(x, &rec->extras[i]);
	for (uint32_t i = 0; i < rec->nargs; i++) {
		const struct dft_arg *const a = &rec->args[i];
		if (dft_role_is_hash((enum dft_role)a->role) && a->repeats == 0 && i < 64)
			put_hash(x, a);
		else
			put_arg(x, a);
	}
	if (dft_top_kind(rec, DFT_ARGS) != JSON_OBJECT)
		put_top(x, DFT_ARGS, SLICE_LIT("args"));
}

/* Adds members that an event cannot express: invalid times, unknown phases. */
static void put_inexpressible(struct fields *x, const struct event *e)
{
	const struct dft_facts *const f = x->facts;

	if (f->phase == DFT_PHASE_NONE || f->phase >= DFT_PHASE_BEGIN)
		put_top(x, DFT_PH, SLICE_LIT("ph (record)"));
	if (!f->has_ts)
		put_top(x, DFT_TS, SLICE_LIT("ts (record)"));
	if (e->phase != PHASE_SPAN || (f->has_dur && e->dur != f->dur))
		put_top(x, DFT_DUR, SLICE_LIT("dur (record)"));
}

/* Adds the arguments that count the bytes of a span. */
static void put_sizes(struct fields *x, const struct plan_bytes *bytes)
{
	for (uint32_t i = 0; i < x->rec->nargs; i++)
		for (uint32_t k = 0; k < bytes->nfields; k++)
			if (dft_key_is(x->rec, &x->rec->args[i], bytes->field[k])) {
				put_arg(x, &x->rec->args[i]);
				break;
			}
}

/* Adds fields of an event.  sizes: only these; NULL: all. */
static void add_fields(struct dft_state *st, struct batch *b, struct event *e, const struct plan_bytes *sizes)
{
	const struct dft_record *const rec = &st->record;
	const uint32_t max = 2 * rec->nargs + rec->nextras + 6;
	struct fields x = { st, b, rec, &st->facts, batch_fields(b, max), 0 };
	const struct field *const first = x.to;

	if (note_failure(&st->r->no_memory, first == NULL))
		return;
	if (sizes != NULL) {
		put_sizes(&x, sizes);
	} else if (e->phase == PHASE_COUNTER) {
		put_counter(&x);
	} else {
		put_all(&x);
		put_inexpressible(&x, e);
	}
	batch_set_fields(b, e, (uint16_t)(x.to - first > UINT16_MAX ? UINT16_MAX : x.to - first));
}

static void add_sizes(struct dft_state *st, struct batch *b, struct event *e)
{
	const struct plan_bytes *const sizes =
	    reader_wants_sizes(st->r, e->cls) ? plan_bytes_cached(&st->sizes, e->cls, e->name) : NULL;

	if (sizes != NULL)
		add_fields(st, b, e, sizes);
}

/* ---- classes ---- */

static struct class *find_class(struct dft_state *st, const struct dft_record *rec, struct slice name,
                                struct slice category)
{
	struct trace *const trace = st->r->trace;
	struct dft_classes *const all = &st->sh->classes;
	const uint32_t known = tabletext_get(&all->index, name);

	if (known != TABLE_NONE)
		return trace->planned[known];
	if (trace->nclasses >= DFT_MAX_CLASSES || name.n > DFT_MAX_CLASS_BYTES - all->bytes) {
		dft_report_limit(st, DFT_LIMIT_CLASSES, rec);
		if (all->overflow == NULL)
			all->overflow = trace_add_class(trace, SLICE_LIT("more categories"));
		return all->overflow;
	}
	struct class *const c =
	    trace_plan_class(trace, &(struct class){ .name = name,
	                                             .category = category,
	                                             .plan = trace_find_plan(trace, name, NULL, NULL) });
	if (c == NULL || !tabletext_put(&all->index, c->name, c->index))
		return NULL;
	all->bytes += name.n;
	return c;
}

/* The text in brackets distinguishes metadata of the tracer from categories of the same name. */
static struct class *metadata_class(struct dft_state *st, const struct dft_record *rec)
{
	static const struct {
		const char *name;
		struct slice class;
	} rows[] = {
		{ "HH", SLICE_LIT("HH (host name)") },
		{ "FH", SLICE_LIT("FH (file name)") },
		{ "SH", SLICE_LIT("SH (string)") },
		{ "PR", SLICE_LIT("PR (process)") },
		{ "CM", SLICE_LIT("CM (custom metadata)") },
		{ "EH", SLICE_LIT("EH (entity)") },
		{ "ET", SLICE_LIT("ET (entity type)") },
		{ "ER", SLICE_LIT("ER (entity relation)") },
		{ "process_name", SLICE_LIT("process_name") },
		{ "thread_name", SLICE_LIT("thread_name") },
	};
	const struct slice name =
	    dft_top_kind(rec, DFT_NAME) == JSON_STRING ? dft_top_text(rec, DFT_NAME) : SLICE_NONE;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (slice_is(name, rows[i].name))
			return find_class(st, rec, rows[i].class, SLICE_LIT("dftracer"));
	return find_class(st, rec, SLICE_LIT("metadata"), SLICE_LIT("dftracer"));
}

static struct class **recent_class(const struct dft_state *st, struct slice cat)
{
	return &st->sh->classes
	            .recent[cat.n > 0 ? (uint32_t)(unsigned char)cat.p[cat.n - 1] % DFT_RECENT : 0];
}

struct class *dft_class_recent(const struct dft_state *st, const struct dft_record *rec)
{
	const struct slice cat = dft_top_text(rec, DFT_CAT);
	struct class *const recent = *recent_class(st, cat);

	return recent != NULL && slice_equal(recent->name, cat) ? recent : NULL;
}

static struct class *class_of(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_CAT);
	struct slice cat = kind != JSON_ABSENT ? dft_top_text(rec, DFT_CAT) : slice_of("", 0);

	if (f->phase == DFT_PHASE_METADATA)
		return metadata_class(st, rec);
	struct class **const recent = recent_class(st, cat);
	if (kind == JSON_STRING && *recent != NULL && slice_equal((*recent)->name, cat))
		return *recent;
	arena_reset(&st->scratch);
	if (kind == JSON_ABSENT)
		cat = SLICE_LIT("no category");
	else
		cat = dft_text(rec, rec->top[DFT_CAT], kind, &st->scratch);
	struct class *const c = cat.p != NULL ? find_class(st, rec, cat, cat) : NULL;
	if (kind == JSON_STRING)
		*recent = c;
	return c;
}

/* ---- events ---- */

/* Records without a time or a pid are structure, not events. */
static enum phase phase_of(const struct dft_facts *f)
{
	if (f->phase == DFT_PHASE_METADATA || f->phase == DFT_PHASE_NONE || !f->has_ts || !f->has_pid)
		return PHASE_STRUCTURE;
	switch (f->phase) {
	case DFT_PHASE_COMPLETE:
		return f->has_dur ? PHASE_SPAN : PHASE_INSTANT;
	case DFT_PHASE_COUNTER:
		return PHASE_COUNTER;
	case DFT_PHASE_ASYNC_BEGIN:
	case DFT_PHASE_BEGIN:
		return PHASE_BEGIN;
	case DFT_PHASE_ASYNC_END:
	case DFT_PHASE_END:
		return PHASE_END;
	default:
		return PHASE_INSTANT;
	}
}

bool dft_event_is_structure(const struct dft_facts *f)
{
	return phase_of(f) == PHASE_STRUCTURE;
}

static struct slice name_of(struct trace *t, struct batch *b, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_NAME);

	if (kind == JSON_STRING && rec->clean)
		return trace_event_name(t, dft_clean_text(dft_top_text(rec, DFT_NAME)));
	return kind == JSON_ABSENT ? SLICE_LIT("") : dft_text(rec, rec->top[DFT_NAME], kind, &b->scratch);
}

/* Sets time, class, track and role of the last record. */
static void set_record(struct dft_state *st, struct record *rec)
{
	const struct dft_facts *const f = &st->facts;
	const unsigned want = st->r->want;
	const bool structure = dft_event_is_structure(f);

	rec->ts = f->has_ts ? f->ts : 0;
	if (!structure)
		rec->role = RECORD_IS_EVENT;
	else if (!st->raw && (want & WANT_STRUCTURE) != 0)
		rec->role = RECORD_IS_STRUCTURE;
	if (want == WANT_FINDINGS)
		return;
	struct class *const c = class_of(st, &st->record, f);
	if (!structure && (want & WANT_TIMES) != 0)
		rec->track = thread_track(st, &st->record, f->process, f->has_tid, f->tid, f->negative_pid);
	if (c != NULL)
		rec->cls = c;
	st->r->no_memory |= c == NULL || (!structure && (want & WANT_TIMES) != 0 && rec->track == NULL);
}

void dft_take_record(struct dft_state *st, struct record *rec)
{
	rec->ts = 0;
	rec->cls = &st->no_class;
	rec->track = NULL;
	rec->role = RECORD_IS_OTHER;
	rec->alone = st->r->records == 0;
	if (dft_is_passed_over(st))
		return;
	dft_check_record(st);
	dft_no_memory_of_tables(st);
	if (!st->r->no_memory)
		set_record(st, rec);
}

void dft_event_raw(const struct dft_state *st, struct batch *b, struct event *e)
{
	const enum phase phase = phase_of(&st->facts);

	e->name = name_of(st->r->trace, b, &st->record);
	e->phase = (uint8_t)phase;
	e->dur = phase == PHASE_SPAN ? st->facts.dur : 0;
}

void dft_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct dft_state *const st = r->state;
	const enum dft_phase phase = st->facts.phase;

	dft_event_raw(st, b, e);
	if (e->phase != PHASE_STRUCTURE && (phase == DFT_PHASE_ASYNC_BEGIN || phase == DFT_PHASE_ASYNC_END)) {
		const struct slice id = dft_top_text(&st->record, DFT_ID);
		e->flags = EVENT_ASYNC;
		e->dur = hash_bytes(id.p, id.n, hash_seed());
	}
	if (b->bytes != NULL)
		b->bytes[b->n].n = (uint32_t)(st->record.end - rec->p);
	if (reader_wants_fields(r, e))
		add_fields(st, b, e, NULL);
	else
		add_sizes(st, b, e);
}

void dft_add_common(struct dft_state *st, const struct class *cls, uint64_t tid, uint64_t ts, uint64_t dur,
                    struct batch *b)
{
	const struct dft_record *const rec = &st->record;
	struct event *const e = &b->events[b->n];
	const struct track *const track = thread_track(st, rec, st->sh->processes.last, true, tid, false);

	if (note_failure(&st->r->no_memory, track == NULL))
		return;
	*e = (struct event){ .ts = ts,
		             .dur = dur,
		             .name = name_of(st->r->trace, b, rec),
		             .cls = cls,
		             .track = track,
		             .offset = rec->offset,
		             .phase = PHASE_SPAN };
	add_sizes(st, b, e);
	b->n++;
}

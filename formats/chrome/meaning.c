#include <stdlib.h>

#include "chrome/chrome.h"
#include "model/event_traits.h"

/* ---- who ---- */

/* Processes and threads, and their names; classes of events. */

/* A pid or tid as it stands, numbers in quotes as numbers; what is missing is 0, as viewers take it. */
static struct slice id_text(const struct chrome_token *t)
{
	const struct slice s = chrome_token_text(t);

	if (t->kind == JSON_ABSENT || t->kind >= JSON_TRUE)
		return SLICE_LIT("0");
	return s.n > CHROME_MAX_ID ? slice_of(s.p, CHROME_MAX_ID) : s;
}

/* What the number of a process or thread is, if it is one.  t: where it stands; NULL: in another pass. */
static void read_id(struct chrome_reading *st, struct chrome_who *w, struct slice s, const char *what,
                    const struct chrome_token *t)
{
	struct quoted q;

	w->has_id = s.n > 0 && json_digits_any(s.p, s.n, &w->id);
	w->checked = t != NULL;
	if (t != NULL && t->kind != JSON_ABSENT && !json_is_string(t->kind) &&
	    (!w->has_id || w->id > UINT32_MAX))
		chrome_report(st, CHROME_RULE_ID_RANGE, t->p, "%s is %s", what, quoted(&q, s));
}

/* NULL: no memory, or too many (then *full). */
static struct chrome_who *add_who(struct chrome_reading *st, struct slice key, bool *full)
{
	if (st->nwhos == CHROME_MAX_WHO) {
		*full = true;
		return NULL;
	}
	struct arena *const a = &st->r->trace->arena;
	const struct slice copy = arena_copy(a, key);
	struct chrome_who *const w = arena_zalloc(a, 1, sizeof *w);

	if (copy.p == NULL || w == NULL ||
	    !array_room(&st->whos, st->nwhos, &st->whos_cap, sizeof *st->whos) ||
	    !tabletext_put(&st->ids, copy, st->nwhos))
		return NULL;
	st->whos[st->nwhos++] = w;
	return w;
}

/* All processes and threads beyond the limit. */
static struct chrome_who *one_for_the_rest(struct chrome_reading *st)
{
	chrome_report_limit(st, CHROME_LIMIT_WHO,
	                    "more than 60,000 processes and threads: the others are shown as one");
	if (st->more == NULL)
		st->more = arena_zalloc(&st->r->trace->arena, 1, sizeof *st->more);
	return st->more;
}

/* pid, or pid/tid; rec: the event that says them, NULL: it is one of another pass. */
static struct chrome_who *look_up(struct chrome_reading *st, const struct chrome_record *rec,
                                  struct slice pid, const struct slice *tid)
{
	char key[2 * CHROME_MAX_ID + 4];
	uint32_t n = pid.n;
	bool full = false;

	memcpy(key, pid.p, n);
	if (tid != NULL) {
		key[n++] = '/';
		memcpy(key + n, tid->p, tid->n);
		n += tid->n;
	}
	if (n == st->last_id_n && memcmp(key, st->last_id, n) == 0)
		return st->whos[st->last_who];
	const struct slice s = slice_of(key, n);
	const uint32_t known = tabletext_get(&st->ids, s);
	struct chrome_who *const w = known != TABLE_NONE ? st->whos[known] : add_who(st, s, &full);
	if (w != NULL && (known == TABLE_NONE || (rec != NULL && !w->checked))) {
		const enum chrome_member m = tid != NULL ? CHROME_TID : CHROME_PID;
		read_id(st, w, tid != NULL ? *tid : pid, tid != NULL ? "tid" : "pid",
		        rec != NULL ? &rec->of[m] : NULL);
	}
	if (known != TABLE_NONE) {
		memcpy(st->last_id, key, n);
		st->last_id_n = n;
		st->last_who = known;
	}
	return full ? one_for_the_rest(st) : w;
}

/* ---- tracks ---- */

static struct slice name_of(struct chrome_reading *st, const struct chrome_who *w, bool process,
                            struct slice id)
{
	struct trace *const trace = st->r->trace;
	const char *const noun = process ? "process" : "thread";

	if (w == st->more)
		return SLICE_LIT("more threads");
	if (w->title.p != NULL)
		return w->title;
	if (w->has_id)
		return trace_track_name(trace, process, noun, w->id);
	const struct slice text = arena_printf(&trace->arena, "%s %.*s", noun, (int)id.n, id.p);
	return text.p != NULL ? textscan_slice(text.p, text.n) : text;
}

/* The names may stand at the end of the file. */
static void look_ahead(struct chrome_reading *st)
{
	if (st->looked_ahead || st->titles_to != st ||
	    (st->r->want & (WANT_FIELDS | WANT_RAW)) != WANT_FIELDS)
		return;
	st->looked_ahead = true;
	st->no_memory |= reader_look_ahead(st->r) == LOOK_AHEAD_FAILED;
}

static const struct track *make_track(struct chrome_reading *st, struct chrome_who *w,
                                      const struct chrome_who *process, struct slice id)
{
	struct trace *const trace = st->r->trace;

	if (w->title.p == NULL)
		look_ahead(st);
	const struct slice name = name_of(st, w, process == NULL, id);
	if (name.p == NULL)
		return NULL;
	const uint64_t number = w->has_true_id ? w->true_id : w->id;
	struct track *const t = process == NULL ? trace_add_process(trace, name)
	                                        : trace_add_thread(trace, process->track, number, name);
	if (t == NULL)
		return NULL;
	t->id = number;
	t->has_id = w->has_id || w->has_true_id;
	return w->track = t;
}

/* The thread (or process) of st->rec, with a track if `track`; NULL: no memory. */
static struct chrome_who *chrome_who_of(struct chrome_reading *st, bool process, bool track)
{
	const struct slice pid = id_text(&st->rec.of[CHROME_PID]), tid = id_text(&st->rec.of[CHROME_TID]);
	struct chrome_who *const w = look_up(st, &st->rec, pid, process ? NULL : &tid);

	if (w == NULL || (w->owner != NULL && (!track || w->track != NULL)))
		return w;
	if (w->owner == NULL)
		w->owner = process ? w : look_up(st, &st->rec, pid, NULL);
	struct chrome_who *const owner = w->owner;
	if (owner == NULL || !track)
		return owner != NULL ? w : NULL;
	if (owner->track == NULL && make_track(st, owner, NULL, pid) == NULL)
		return NULL;
	return w->track != NULL || make_track(st, w, owner, tid) != NULL ? w : NULL;
}

void chrome_who_free(struct chrome_reading *st)
{
	tabletext_free(&st->ids);
	free(st->whos);
}

/* ---- metadata ---- */

/* The member of args of this name; kind JSON_ABSENT: none. */
static struct chrome_token arg(struct chrome_reading *st, const char *name)
{
	struct json json = { .lenient = true, .depth = JSON_MAX_DEPTH, .complete = true };
	const struct chrome_token *const args = &st->rec.of[CHROME_ARGS];
	struct slice key;
	enum json_kind kind;
	bool more;

	if (args->kind != JSON_OBJECT && args->kind != JSON_BAD_NESTED)
		return (struct chrome_token){ .kind = JSON_ABSENT };
	const char *p = args->p, *const e = args->end;
	if (*p != '{')
		return (struct chrome_token){ .kind = JSON_ABSENT };
	for (p = json_first(&json, p, e, &more); p != NULL && more; p = json_next(&json, p, e, '}', &more)) {
		const char *const v = json_key(&json, p, e, &key, &kind);
		p = v != NULL ? json_value(&json, v, e, &kind) : NULL;
		if (p == NULL)
			break;
		if (slice_is(key, name))
			return (struct chrome_token){ v, p, kind };
	}
	return (struct chrome_token){ .kind = JSON_ABSENT };
}

/* Metadata that names processes and threads. */
static void chrome_learn(struct chrome_reading *st)
{
	const struct slice name = chrome_token_text(&st->rec.of[CHROME_NAME]);
	const bool process = slice_is(name, "process_name");

	if (!process && !slice_is(name, "thread_name"))
		return;
	struct chrome_reading *const to = st->titles_to;
	const struct chrome_token title = arg(st, "name");
	const struct chrome_token number = arg(st, process ? "true_pid" : "true_tid");
	if (!json_is_string(title.kind))
		return;
	const struct slice pid = id_text(&st->rec.of[CHROME_PID]), tid = id_text(&st->rec.of[CHROME_TID]);
	struct chrome_who *const w = look_up(to, to == st ? &st->rec : NULL, pid, process ? NULL : &tid);
	struct slice text = chrome_text(&st->scratch, &title);
	text.n = text.n < CHROME_MAX_TITLE ? text.n : CHROME_MAX_TITLE;
	if (w != NULL && w != to->more && w->track == NULL && text.p != NULL) {
		text = arena_copy(&to->r->trace->arena, text);
		w->title = text.p != NULL ? textscan_slice(text.p, text.n) : text;
		const struct slice digits = chrome_token_text(&number);
		w->has_true_id = (number.kind == JSON_UINT || number.kind == JSON_STRING) &&
		                 json_digits_any(digits.p, digits.n, &w->true_id);
	}
	st->no_memory |= w == NULL || text.p == NULL;
}

/* ---- classes ---- */

/* The class of its category; NULL: no memory. */
static struct class *chrome_class_read(struct chrome_reading *st)
{
	struct trace *const trace = st->r->trace;
	const struct chrome_token *const t = &st->rec.of[CHROME_CAT];
	struct slice cat = t->kind == JSON_ABSENT ? SLICE_LIT("no category") : chrome_text(&st->scratch, t);

	if (cat.p == NULL)
		return NULL;
	cat.n = cat.n < CHROME_MAX_TITLE ? cat.n : CHROME_MAX_TITLE;
	if (cat.n == 0)
		cat = SLICE_LIT("no category");
	if (st->recent != NULL && slice_equal(st->recent->name, cat))
		return st->recent;
	const uint32_t known = tabletext_get(&st->class_names, cat);
	if (known != TABLE_NONE)
		return st->recent = trace->planned[known];
	if (trace->nclasses >= CHROME_MAX_CLASSES) {
		chrome_report_limit(st, CHROME_LIMIT_CLASSES,
		                    "more than 4,096 categories: the others are shown as one");
		return st->recent = trace_add_class(trace, SLICE_LIT("more categories"));
	}
	const struct slice name = textscan_slice(cat.p, cat.n);
	struct class *const c = trace_plan_class(
	    trace, &(struct class){ .name = name, .plan = trace_find_plan(trace, name, NULL, NULL) });
	if (c == NULL || !tabletext_put(&st->class_names, c->name, c->index))
		return NULL;
	return st->recent = c;
}

/* ---- event ---- */

/* Events: what each must have, how spans nest, and what comes of them. */

/* ---- spans of a thread ---- */

/* Whether it overlaps one before in part.  What is remembered are spans in each other; none is taken for an
 * overlap that is none, whatever the order. */
static bool overlaps(struct chrome_who *w, uint64_t from, uint64_t to)
{
	while (w->nspans > 0) {
		const struct chrome_span top = w->spans[w->nspans - 1];
		if (from >= top.from && to <= top.to)
			break; /* inside */
		if (to <= top.from || (from <= top.from && to >= top.to) || from >= top.to)
			w->nspans--; /* before it, around it, behind it */
		else
			return true;
	}
	if (w->nspans == CHROME_SPANS) {
		memmove(w->spans, w->spans + 1, (CHROME_SPANS - 1) * sizeof w->spans[0]);
		w->nspans--;
	}
	w->spans[w->nspans++] = (struct chrome_span){ from, to };
	return false;
}

static void check_nesting(struct chrome_reading *st, struct chrome_who *w)
{
	const struct chrome_record *const rec = &st->rec;

	switch (rec->ph) {
	case 'X':
		if (rec->has_dur && rec->dur > 0 && overlaps(w, rec->ts, rec->ts + rec->dur))
			chrome_report(st, CHROME_RULE_OVERLAP, rec->p,
			              "a span from %" PRIu64 " to %" PRIu64 " ns overlaps one before in part",
			              rec->ts, rec->ts + rec->dur);
		break;
	case 'B':
		if (w->begun++ == 0)
			w->begun_at = input_offset(st->r->in, rec->p);
		break;
	case 'E':
		if (w->begun > 0)
			w->begun--;
		else
			chrome_report(st, CHROME_RULE_UNBALANCED, rec->p,
			              "the end of a span, and none is open on this thread");
		break;
	default:
		break;
	}
}

/* ---- what an event is ---- */

/* A counter that this program's writer put below a thread: its id is the number of that. */
static bool is_of_thread(const struct chrome_record *rec)
{
	return rec->ph == 'C' && rec->of[CHROME_TID].kind != JSON_ABSENT &&
	       slice_is(chrome_token_text(&rec->of[CHROME_SCOPE]), "thread");
}

/* Whether it is about the process as a whole. */
static bool of_process(const struct chrome_record *rec)
{
	const struct slice s = chrome_token_text(&rec->of[CHROME_S]);

	if (strchr("iI", rec->ph) != NULL && s.n == 1)
		return *s.p == 'p' || *s.p == 'g';
	if (strchr("CcvVNODR", rec->ph) != NULL)
		return !is_of_thread(rec);
	return strchr("bneSTpF", rec->ph) != NULL && rec->of[CHROME_TID].kind == JSON_ABSENT;
}

static enum phase phase_of(const struct chrome_record *rec)
{
	switch (rec->ph) {
	case 'X':
		return rec->has_dur ? PHASE_SPAN : PHASE_INSTANT;
	case 'B':
	case 'b':
	case 'S':
		return PHASE_BEGIN;
	case 'E':
	case 'e':
	case 'F':
		return PHASE_END;
	case 'C':
		return PHASE_COUNTER;
	case 's':
		return PHASE_FLOW_OUT;
	case 't':
	case 'f':
		return PHASE_FLOW_IN;
	case 'M':
		return PHASE_STRUCTURE;
	default:
		return PHASE_INSTANT;
	}
}

/* false: it is no event at all. */
static bool check_members(struct chrome_reading *st)
{
	const struct chrome_record *const rec = &st->rec;
	const struct chrome_token *const ph = &rec->of[CHROME_PH];
	struct quoted q;

	if (ph->kind == JSON_ABSENT) {
		chrome_report(st, CHROME_RULE_NOT_AN_EVENT, rec->p, "the object has no ph");
		return false;
	}
	if (!chrome_phase_known(rec->ph)) {
		chrome_report(st, CHROME_RULE_UNKNOWN_PHASE, ph->p, "ph is %s",
		              quoted(&q, chrome_token_text(ph)));
		return false;
	}
	if (rec->ph == 'M')
		return true;
	chrome_times(st);
	if (!rec->has_ts) {
		chrome_report(st, CHROME_RULE_MISSING_FIELD, rec->p, "the event of ph %c has no ts; left out",
		              rec->ph);
		return false;
	}
	if (rec->of[CHROME_PID].kind == JSON_ABSENT)
		chrome_report(st, CHROME_RULE_MISSING_FIELD, rec->p, "the event has no pid; read as 0");
	if (rec->of[CHROME_TID].kind == JSON_ABSENT && strchr("BEXstf", rec->ph) != NULL)
		chrome_report(st, CHROME_RULE_MISSING_FIELD, rec->p, "the event has no tid; read as 0");
	if (rec->ph == 'X' && !rec->has_dur)
		chrome_report(st, CHROME_RULE_MISSING_DUR, rec->p, "the complete event has no dur");
	return true;
}

/* ---- events ---- */

/* A counter of another id is another one, unless this program's writer says by it of which thread it is. */
static struct slice name_of_event(struct chrome_reading *st, struct batch *b, const struct chrome_open *began)
{
	const struct chrome_token *const t = &st->rec.of[CHROME_NAME], *const id = &st->rec.of[CHROME_ID];

	if (t->kind == JSON_ABSENT && began != NULL && began->nname > 0) {
		const struct slice copy = arena_copy(&b->scratch, slice_of(began->text, began->nname));
		return copy.p != NULL ? textscan_slice(copy.p, copy.n) : copy;
	}
	const struct slice name = chrome_text(&b->scratch, t);
	if (st->rec.ph != 'C' || id->kind == JSON_ABSENT || is_of_thread(&st->rec) || name.p == NULL)
		return name;
	const struct slice s = chrome_token_text(id),
	                   both = arena_printf(&b->scratch, "%.*s[%.*s]", (int)name.n, name.p, (int)s.n, s.p);
	return both.p != NULL ? textscan_slice(both.p, both.n) : both;
}

/* What numbers the event, as this program's writer puts it, without the ids of process and thread behind. */
static bool add_ids(struct chrome_reading *st, struct batch *b, struct event *e)
{
	const struct chrome_token *const ids = &st->rec.of[CHROME_IDS];

	if (ids->kind == JSON_ABSENT || *ids->p != '{')
		return true;
	if (!chrome_fields(st, b, e, ids->p, ids->end))
		return false;
	while (e->nfields > 0 && (slice_is(b->fields[b->nfields - 1].name, "true_tid") ||
	                          slice_is(b->fields[b->nfields - 1].name, "true_pid"))) {
		e->nfields--;
		b->nfields--;
	}
	return true;
}

/* The args of the event, or those that its begin had. */
static bool add_fields(struct chrome_reading *st, struct batch *b, struct event *e,
                       const struct chrome_open *began)
{
	const struct chrome_token *const args = &st->rec.of[CHROME_ARGS];

	if (began != NULL && began->nargs > 0) {
		const struct slice copy =
		    arena_copy(&b->scratch, slice_of(began->text + began->nname, began->nargs));
		return copy.p != NULL && chrome_fields(st, b, e, copy.p, copy.p + copy.n);
	}
	if (!add_ids(st, b, e))
		return false;
	if (args->kind == JSON_ABSENT || *args->p != '{')
		return true;
	return chrome_fields(st, b, e, args->p, args->end);
}

/* This program's writer puts the true number of a thread first into the fields of events whose tid is
 * another: the track has it already. */
static void drop_true_tid(const struct batch *b, struct event *e)
{
	const struct field *const f = &b->fields[e->first_field];
	uint64_t id;

	if (e->nfields == 0 || f->name.n < 8 || memcmp(f->name.p, "true_tid", 8) != 0)
		return;
	if (f->value.type == VALUE_U64)
		id = f->value.u64;
	else if (f->value.type != VALUE_STRING || !json_digits_any(f->value.p, f->value.count, &id))
		return;
	if (id == e->track->id) {
		e->first_field++;
		e->nfields--;
	}
}

static void add_event(struct chrome_reading *st, struct batch *b, struct event e, const struct chrome_who *w,
                      const struct chrome_open *began)
{
	const struct chrome_record *const rec = &st->rec;
	const bool raw = (st->r->want & WANT_RAW) != 0;

	e.offset = input_offset(st->r->in, rec->p);
	e.name = name_of_event(st, b, began);
	e.first_field = b->nfields;
	st->no_memory |= e.name.p == NULL;
	if (raw)
		st->no_memory |= !chrome_fields(st, b, &e, rec->p, rec->end);
	else if ((st->r->want & WANT_FIELDS) != 0 || e.phase == PHASE_COUNTER || class_needs_fields(e.cls))
		st->no_memory |= !add_fields(st, b, &e, began);
	if (!raw && w != NULL && w->has_true_id)
		drop_true_tid(b, &e);
	if (!st->no_memory)
		b->events[b->n++] = e;
}

/* Begin and end of an async span become one event, at the end.  false: none. */
static bool async(struct chrome_reading *st, struct event *e, struct chrome_open *began)
{
	if (st->rec.ph == 'b' || st->rec.ph == 'S') {
		chrome_async_begins(st);
		return false;
	}
	if (!chrome_async_ends(st, began))
		return false;
	e->phase = PHASE_SPAN;
	e->flags = EVENT_ASYNC;
	e->ts = began->ts < st->rec.ts ? began->ts : st->rec.ts;
	e->dur = st->rec.ts - e->ts;
	return true;
}

static bool is_async_end(char ph)
{
	return ph == 'b' || ph == 'e' || ph == 'S' || ph == 'F';
}

static void take_timed(struct chrome_reading *st, struct batch *b)
{
	struct reader *const r = st->r;
	const struct chrome_record *const rec = &st->rec;
	const bool raw = (r->want & WANT_RAW) != 0, wanted = (r->want & WANT_TIMES) != 0;
	struct chrome_open began = { .text = NULL };
	struct chrome_who *const w = chrome_who_of(st, of_process(rec), wanted);
	struct class *const c = chrome_class_read(st);

	if (w == NULL || c == NULL) {
		st->no_memory = true;
		return;
	}
	c->records++;
	struct event e = { .ts = rec->ts, .cls = c, .track = w->track, .phase = (uint8_t)phase_of(rec) };
	e.dur = e.phase == PHASE_SPAN ? rec->dur : 0;
	check_nesting(st, w);
	bool given = true;
	e.flags = rec->ph == 't' ? EVENT_STEP : 0;
	if (event_is_flow(&e))
		e.dur = chrome_flow(st);
	else if (is_async_end(rec->ph))
		given = async(st, &e, &began) || raw;
	if (raw && is_async_end(rec->ph))
		e = (struct event){ .ts = rec->ts,
			            .cls = c,
			            .track = w->track,
			            .phase = (uint8_t)phase_of(rec),
			            .flags = EVENT_ASYNC };
	r->trace->events += given;
	if (given && wanted && !st->no_memory)
		add_event(st, b, e, w, &began);
	free(began.text);
}

static void take_metadata(struct chrome_reading *st, struct batch *b)
{
	struct class *const c = trace_add_class(st->r->trace, SLICE_LIT("metadata"));

	if (c == NULL) {
		st->no_memory = true;
		return;
	}
	c->records++;
	chrome_learn(st);
	if ((st->r->want & WANT_STRUCTURE) != 0 && !st->no_memory)
		add_event(st, b, (struct event){ .cls = c, .phase = PHASE_STRUCTURE }, NULL, NULL);
}

void chrome_take(struct chrome_reading *st, struct batch *b)
{
	if (st->titles_to != st) { /* a look-ahead pass is for names alone */
		if (st->rec.ph == 'M')
			chrome_learn(st);
		st->r->records++;
	} else if (check_members(st)) {
		if (st->rec.ph == 'M')
			take_metadata(st, b);
		else
			take_timed(st, b);
		st->r->records++;
	}
	if (st->scratch.used > 0)
		arena_reset(&st->scratch);
}

void chrome_take_finish(struct chrome_reading *st)
{
	uint64_t n = 0, first = UINT64_MAX;

	for (uint32_t i = 0; i < st->nwhos; i++) {
		n += st->whos[i]->begun;
		if (st->whos[i]->begun > 0 && st->whos[i]->begun_at < first)
			first = st->whos[i]->begun_at;
	}
	if (n > 0)
		finding_add(st->r->findings, &chrome_rules[CHROME_RULE_UNBALANCED], first, 0,
		            "a span begins here and does not end; %" PRIu64 " such spans in all", n);
	chrome_open_finish(st);
}

/*
 * The meaning of events: their process and thread, their class, and the batch event.  Names of processes and
 * threads may be at the end of the file, so the first track without a name starts a look-ahead pass for them;
 * so does the first call stack whose frames are not known.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "model/call_stack.h"
#include "model/event_traits.h"

/* Returns a name of a category, process or thread; a long one is cut, with a finding, if `to`, which keeps
 * it, has no space for it. */
static struct slice fit_title(struct chrome_reading *st, struct chrome_reading *to, struct slice s)
{
	if (s.n <= CHROME_MAX_TITLE)
		return s;
	if (s.n <= CHROME_MAX_TITLES - to->title_bytes) {
		to->title_bytes += s.n;
		return s;
	}
	chrome_report_limit(st, CHROME_LIMIT_TITLES,
	                    "more than 16 MiB of long names: the others are cut at 250 bytes");
	s.n = (uint32_t)utf8_cut(s.p, s.n, CHROME_MAX_TITLE);
	return s;
}

/* ---- processes and threads ---- */

/* Returns the digits of a whole number that is written in another form, as 7.0; other numbers as they are. */
static struct slice whole_id(struct chrome_reading *st, struct slice s)
{
	const bool minus = *s.p == '-';
	char digits[DECIMAL_U64_MAX];
	uint64_t v;

	if (!json_whole(slice_of(s.p + minus, s.n - minus), &v))
		return s;
	const struct slice number = decimal_slice(digits, v),
	                   text = minus && v > 0 ? ARENA_JOIN(&st->scratch, SLICE_LIT("-"), number)
	                                         : arena_copy(&st->scratch, number);
	st->r->no_memory |= text.p == NULL;
	return text.p != NULL ? text : s;
}

/* Returns a pid or tid as text without quotes; "0" if it is absent, as in viewers. */
static struct slice id_text(struct chrome_reading *st, const struct json_token *t)
{
	if (t->kind == JSON_ABSENT || t->kind >= JSON_TRUE)
		return SLICE_LIT("0");
	const bool plain = !json_is_string(t->kind) || t->kind == JSON_STRING;
	const struct slice text = plain ? json_token_text(t) : chrome_text(&st->scratch, t),
	                   s = t->kind == JSON_NUMBER ? whole_id(st, text) : text;
	st->r->no_memory |= s.p == NULL;
	if (s.n <= CHROME_MAX_ID)
		return s;
	chrome_report_limit(st, CHROME_LIMIT_IDS, "a pid or tid of more than 200 bytes: cut");
	return slice_of(s.p, utf8_cut(s.p, s.n, CHROME_MAX_ID));
}

/* The thread of an event without tid is the main thread of its process, whose tid is the pid. */
static struct slice tid_text(struct chrome_reading *st, struct slice pid)
{
	const struct json_token *const tid = &st->rec.of[CHROME_TID];

	return tid->kind == JSON_ABSENT ? pid : id_text(st, tid);
}

/* Sets the id of w.  t: its token for findings; NULL: the token is in another pass. */
static void read_id(struct chrome_reading *st, struct chrome_task *w, struct slice s, const char *what,
                    const struct json_token *t)
{
	struct quoted q;

	w->has_id = s.n > 0 && json_digits_any(s.p, s.n, &w->id);
	w->checked = t != NULL;
	if (t != NULL && t->kind != JSON_ABSENT && !json_is_string(t->kind) &&
	    (!w->has_id || w->id > UINT32_MAX) &&
	    !(st->dialect == CHROME_DIALECT_KINETO && slice_is(s, "-1")))
		chrome_report(st, CHROME_RULE_ID_RANGE, t->p, "%s is %s", what, quoted(&q, s));
}

/* A key in st->ids: one of these bytes, the length of the pid, the pid, the tid.  Both may be empty, or hold
 * any byte. */
#define KEY_OF_PROCESS 'p'
#define KEY_OF_THREAD 't'

/* key: as made by find_task().  Returns NULL at the limit (*full is set) or on OOM. */
static struct chrome_task *add_task(struct chrome_reading *st, struct slice key, uint32_t pid_n, bool *full)
{
	if (st->ntasks == CHROME_MAX_TASKS) {
		*full = true;
		return NULL;
	}
	struct arena *const a = &st->r->trace->arena;
	const struct slice copy = arena_copy(a, key);
	struct chrome_task *const w = arena_zalloc(a, 1, sizeof *w);

	if (copy.p == NULL || w == NULL ||
	    !array_reserve(&st->tasks, st->ntasks, &st->tasks_cap, sizeof *st->tasks) ||
	    !tabletext_put(&st->ids, copy, st->ntasks))
		return NULL;
	w->index = st->ntasks;
	w->is_thread = key.p[0] == KEY_OF_THREAD;
	w->pid = slice_of(copy.p + 2, pid_n);
	st->tasks[st->ntasks++] = w;
	return w;
}

static struct chrome_task *overflow_task(struct chrome_reading *st)
{
	chrome_report_limit(st, CHROME_LIMIT_TASKS,
	                    "more than 60,000 processes and threads: the others are shown as one");
	if (st->overflow == NULL)
		st->overflow = arena_zalloc(&st->r->trace->arena, 1, sizeof *st->overflow);
	return st->overflow;
}

/* Finds or adds a process (tid NULL) or thread.  rec: its event; NULL: the event is in another pass. */
static struct chrome_task *find_task(struct chrome_reading *st, const struct chrome_record *rec,
                                     struct slice pid, const struct slice *tid)
{
	char key[2 * CHROME_MAX_ID + 2];
	uint32_t n = 2 + pid.n;
	bool full = false;

	key[0] = tid != NULL ? KEY_OF_THREAD : KEY_OF_PROCESS;
	key[1] = (char)pid.n;
	memcpy(key + 2, pid.p, pid.n);
	if (tid != NULL) {
		memcpy(key + n, tid->p, tid->n);
		n += tid->n;
	}
	if (n == st->last_id_n && memcmp(key, st->last_id, n) == 0)
		return st->tasks[st->last_task];
	const struct slice s = slice_of(key, n);
	const uint32_t known = tabletext_get(&st->ids, s);
	struct chrome_task *const w = known != TABLE_NONE ? st->tasks[known] : add_task(st, s, pid.n, &full);
	if (w != NULL && (known == TABLE_NONE || (rec != NULL && !w->checked))) {
		const enum chrome_member m = tid != NULL ? CHROME_TID : CHROME_PID;
		read_id(st, w, tid != NULL ? *tid : pid, tid != NULL ? "tid" : "pid",
		        rec != NULL ? &rec->of[m] : NULL);
	}
	if (known != TABLE_NONE) {
		memcpy(st->last_id, key, n);
		st->last_id_n = n;
		st->last_task = known;
	}
	return full ? overflow_task(st) : w;
}

static struct slice track_name(struct chrome_reading *st, const struct chrome_task *w, bool process,
                               struct slice id)
{
	struct trace *const trace = st->r->trace;
	const char *const noun = process ? "process" : "thread";

	if (w == st->overflow)
		return SLICE_LIT("more threads");
	if (w->title.p != NULL)
		return process ? chrome_labelled(st, w->title) : w->title;
	if (w->has_id) {
		const struct slice name = trace_track_name(trace, process, noun, w->id);
		return process && name.p != NULL ? chrome_labelled(st, name) : name;
	}
	const struct slice text = ARENA_JOIN(&trace->arena, slice_str(noun), SLICE_LIT(" "), id);
	return text.p != NULL ? textscan_slice(text.p, text.n) : text;
}

/* Reads the names from the whole file, once. */
static void look_ahead(struct chrome_reading *st)
{
	if (st->looked_ahead || st->is_ahead || (st->r->want & WANT_RAW) != 0 || !reader_wants_names(st->r))
		return;
	st->looked_ahead = true;
	const enum look_ahead found = reader_look_ahead(st->r);
	st->has_frames = found == LOOK_AHEAD_DONE;
	st->r->no_memory |= found == LOOK_AHEAD_FAILED;
}

static const struct track *add_track(struct chrome_reading *st, struct chrome_task *w,
                                     const struct chrome_task *process, struct slice id)
{
	struct trace *const trace = st->r->trace;

	if (w->title.p == NULL)
		look_ahead(st);
	const struct slice name = track_name(st, w, process == NULL, id);
	if (name.p == NULL)
		return NULL;
	const uint64_t number = w->has_true_id ? w->true_id : w->id;
	struct track *const t = process == NULL ? trace_add_process(trace, name)
	                                        : trace_add_thread(trace, process->track, number, name);
	if (t == NULL)
		return NULL;
	t->id = number;
	t->has_id = w->has_id || w->has_true_id;
	if (process == NULL && !trace_set_host(trace, t, w->host))
		return NULL;
	return w->track = t;
}

/* Returns the thread (or process) of st->rec, with a track if `track`.  A call would cost 0.4 % of the
 * instructions of a validation. */
INLINE struct chrome_task *event_task(struct chrome_reading *st, bool process, bool track)
{
	const struct slice pid = id_text(st, &st->rec.of[CHROME_PID]), tid = tid_text(st, pid);
	struct chrome_task *const w = find_task(st, &st->rec, pid, process ? NULL : &tid);

	if (w == NULL || (w->owner != NULL && (!track || w->track != NULL)))
		return w;
	if (w->owner == NULL)
		w->owner = process ? w : find_task(st, &st->rec, pid, NULL);
	struct chrome_task *const owner = w->owner;
	if (owner == NULL || !track)
		return owner != NULL ? w : NULL;
	if (owner->track == NULL && add_track(st, owner, NULL, pid) == NULL)
		return NULL;
	return w->track != NULL || add_track(st, w, owner, tid) != NULL ? w : NULL;
}

const struct chrome_task *chrome_no_task(struct chrome_reading *st)
{
	st->rec.of[CHROME_PID].kind = st->rec.of[CHROME_TID].kind = JSON_ABSENT;
	return event_task(st, false, (st->r->want & WANT_TIMES) != 0);
}

void chrome_tasks_free(struct chrome_reading *st)
{
	tabletext_free(&st->ids);
	table64_free(&st->threads);
	free(st->tasks);
}

/* ---- metadata ---- */

/* Returns a copy of the text; after a look-ahead pass it is known. */
static struct slice kept_text(struct chrome_reading *st, struct chrome_reading *to, struct slice known,
                              struct slice text)
{
	if (known.p != NULL && slice_equal(known, text))
		return known;
	text = text.p != NULL ? arena_copy(&to->r->trace->arena, fit_title(st, to, text)) : text;
	st->r->no_memory |= text.p == NULL;
	return text.p != NULL ? textscan_slice(text.p, text.n) : text;
}

/* Reads metadata that names a process or thread. */
static void read_track_name(struct chrome_reading *st)
{
	const struct slice name = json_token_text(&st->rec.of[CHROME_NAME]);
	const bool labels = slice_is(name, "process_labels"),
	           process = labels || slice_is(name, "process_name");

	if (!process && !slice_is(name, "thread_name"))
		return;
	struct chrome_reading *const to = st->names_for;
	const struct json_token *const args = &st->rec.of[CHROME_ARGS];
	const struct json_token title = json_member(args, labels ? "labels" : "name");
	/* PyTorch: all processes are named "python"; the label states the GPU */
	if (labels && !(json_token_text(&title).n > 4 && memcmp(json_token_text(&title).p, "GPU ", 4) == 0))
		return;
	const struct json_token number = json_member(args, process ? "true_pid" : "true_tid"),
	                        host = json_member(args, process ? "host" : "");
	if (!json_is_string(title.kind))
		return;
	/* clang -ftime-trace: the main thread is named "" */
	if (json_token_text(&title).n == 0 && st->dialect != CHROME_DIALECT_TRACETOOL)
		return;
	const struct slice pid = id_text(st, &st->rec.of[CHROME_PID]), tid = tid_text(st, pid);
	struct chrome_task *const w = find_task(to, to == st ? &st->rec : NULL, pid, process ? NULL : &tid);
	const struct slice text = chrome_text(&st->scratch, &title);
	if (w != NULL && w != to->overflow && w->track == NULL && text.p != NULL &&
	    (labels || !w->labelled)) {
		w->labelled |= labels;
		w->title = kept_text(st, to, w->title, text);
		if (json_is_string(host.kind))
			w->host = kept_text(st, to, w->host, chrome_text(&st->scratch, &host));
		const struct slice digits = json_token_text(&number);
		w->has_true_id = (number.kind == JSON_UINT || number.kind == JSON_STRING) &&
		                 json_digits_any(digits.p, digits.n, &w->true_id);
	}
	st->r->no_memory |= w == NULL || text.p == NULL;
}

/* ---- classes and nesting ---- */

/* Returns the plan for a category: of the user, else that of the dialect. */
static const struct plan *find_plan(struct chrome_reading *st, struct slice cat, enum chrome_stack_kind stack)
{
	static const char *const prefixes[CHROME_STACK_KINDS] = { "", "stack:", "sample:" };
	const struct trace *const trace = st->r->trace;
	const struct plan *const m = trace_find_plan(trace, cat, NULL, NULL);

	if (m != NULL)
		return m;
	const struct slice name = ARENA_JOIN(&st->scratch, slice_str(prefixes[stack]),
	                                     slice_str(chrome_dialects[st->dialect]), SLICE_LIT(":"), cat);
	return name.p != NULL ? trace_find_plan(trace, name, NULL, NULL) : NULL;
}

/* Returns the category of st->rec; p NULL on OOM. */
static struct slice find_category(struct chrome_reading *st)
{
	const struct json_token *const t = &st->rec.of[CHROME_CAT];
	const struct slice name = json_token_text(&st->rec.of[CHROME_NAME]);
	const bool none = t->kind == JSON_ABSENT || t->kind == JSON_NULL;
	const struct slice cat = none ? SLICE_LIT("no category") : chrome_text(&st->scratch, t);

	/* totals that clang writes beside the events */
	if (none && st->dialect == CHROME_DIALECT_CLANG && name.n > 6 && memcmp(name.p, "Total ", 6) == 0)
		return SLICE_LIT("total");
	return cat.p != NULL && cat.n == 0 ? SLICE_LIT("no category") : cat;
}

/* Not all classes: "more categories" of a copy must not leave one category less. */
static uint32_t count_categories(const struct chrome_reading *st)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < CHROME_STACK_KINDS; i++)
		n += (uint32_t)st->class_names[i].used;
	return n;
}

static struct class *event_class(struct chrome_reading *st)
{
	struct trace *const trace = st->r->trace;
	struct slice cat = find_category(st);
	const enum chrome_stack_kind stack = st->rec.of[CHROME_SF].kind == JSON_ABSENT ? CHROME_STACK_NONE
	                                     : chrome_is_sample(st)                    ? CHROME_STACK_SAMPLE
	                                                                               : CHROME_STACK_EVENT;

	if (cat.p == NULL)
		return NULL;
	if (st->recent != NULL && slice_equal(st->recent->name, cat) && st->recent_stack == stack)
		return st->recent;
	struct tabletext *const names = &st->class_names[stack];
	uint32_t known = tabletext_get(names, cat);
	if (known == TABLE_NONE && cat.n > CHROME_MAX_TITLE) {
		cat = fit_title(st, st, cat);
		known = tabletext_get(names, cat);
	}
	st->recent_stack = (uint8_t)stack;
	if (known != TABLE_NONE)
		return st->recent = trace->planned[known];
	if (count_categories(st) >= CHROME_MAX_CLASSES) {
		chrome_report_limit(st, CHROME_LIMIT_CLASSES,
		                    "more than 4,096 categories: the others are shown as one");
		return st->recent = trace_add_class(trace, SLICE_LIT("more categories"));
	}
	const struct slice name = textscan_slice(cat.p, cat.n);
	struct class *const c =
	    trace_plan_class(trace, &(struct class){ .name = name, .plan = find_plan(st, name, stack) });
	if (c == NULL || !tabletext_put(names, c->name, c->index))
		return NULL;
	return st->recent = c;
}

/* Whether the span partially overlaps an earlier one.  Keeps a stack of enclosing spans of bounded
 * depth: in any order, it may miss overlaps but never reports a false one.  Sets *inner if the span has the
 * times of the latest one and, by the order of the spans before, is within it. */
static bool overlaps(struct chrome_reading *st, struct chrome_task *w, uint64_t from, uint64_t to,
                     bool *inner)
{
	while (w->nspans > 0) {
		const struct chrome_span top = w->spans[w->nspans - 1];
		const bool inside = from >= top.from && to <= top.to;
		const bool around = from <= top.from && to >= top.to;
		if (inside && around) {
			*inner = (w->span_order != CHROME_ORDER_UNKNOWN ? w->span_order : st->span_order) !=
			         CHROME_INNER_FIRST;
			return false;
		}
		if (inside || around)
			w->span_order = st->span_order = inside ? CHROME_OUTER_FIRST : CHROME_INNER_FIRST;
		if (inside)
			break;
		if (!around && from < top.to && to > top.from)
			return true;
		w->nspans--; /* the new span is before, around or after it */
	}
	if (w->nspans == CHROME_SPANS) {
		memmove(w->spans, w->spans + 1, (CHROME_SPANS - 1) * sizeof w->spans[0]);
		w->nspans--;
	}
	w->spans[w->nspans++] = (struct chrome_span){ from, to };
	return false;
}

/* Returns EVENT_INNER for a span within another one of the same times, else 0. */
static uint8_t check_nesting(struct chrome_reading *st, struct chrome_task *w)
{
	const struct chrome_record *const rec = &st->rec;
	const uint64_t zero = st->r->trace->zero_ns;
	bool inner = false;

	if (w == st->overflow)
		return 0;
	const bool is_cross = rec->ph == 'X' && rec->has_dur && rec->dur > 0 &&
	                      overlaps(st, w, rec->ts, rec->ts + rec->dur, &inner);
	if (st->r->findings != NULL) {
		if (is_cross)
			chrome_report(st, CHROME_RULE_OVERLAP, rec->p,
			              "a span from %" PRId64 " to %" PRId64 " ns overlaps one before in part",
			              (int64_t)(rec->ts - zero), (int64_t)(rec->ts + rec->dur - zero));
		if (rec->ph != 'X')
			chrome_check_end(st, w);
		if (rec->of[CHROME_BIND_ID].kind != JSON_ABSENT)
			chrome_check_bound(st, w);
	}
	return inner ? EVENT_INNER : 0;
}

/* ---- kinds of events ---- */

/* Returns true for a counter that tracetool wrote below a thread: its id is the tid. */
static bool is_of_thread(const struct chrome_record *rec)
{
	return rec->ph == 'C' && rec->of[CHROME_TID].kind != JSON_ABSENT &&
	       slice_is(json_token_text(&rec->of[CHROME_SCOPE]), "thread");
}

/* Whether the event belongs to the process as a whole. */
static bool is_of_process(const struct chrome_reading *st)
{
	const struct chrome_record *const rec = &st->rec;
	const struct slice s = json_token_text(&rec->of[CHROME_S]);

	/* tracetool writes no thread as 0 */
	if (st->dialect == CHROME_DIALECT_TRACETOOL && slice_is(json_token_text(&rec->of[CHROME_TID]), "0"))
		return true;
	if (strchr("BEXPstf", rec->ph) != NULL)
		return false;
	if (strchr("iI", rec->ph) != NULL)
		return s.n == 1 && (*s.p == 'p' || *s.p == 'g');
	return strchr("bneSTpF", rec->ph) == NULL ? !is_of_thread(rec)
	                                          : rec->of[CHROME_TID].kind == JSON_ABSENT;
}

static enum phase phase_of(const struct chrome_record *rec)
{
	static const uint8_t phases[256] = {
		/* + 1; 0: an instant */
		['B'] = PHASE_BEGIN + 1,   ['b'] = PHASE_BEGIN + 1,     ['S'] = PHASE_BEGIN + 1,
		['E'] = PHASE_END + 1,     ['e'] = PHASE_END + 1,       ['F'] = PHASE_END + 1,
		['C'] = PHASE_COUNTER + 1, ['s'] = PHASE_FLOW_OUT + 1,  ['t'] = PHASE_FLOW_IN + 1,
		['f'] = PHASE_FLOW_IN + 1, ['M'] = PHASE_STRUCTURE + 1,
	};
	const uint8_t known = phases[(unsigned char)rec->ph];

	if (rec->ph == 'X')
		return rec->has_dur ? PHASE_SPAN : PHASE_BEGIN;
	return known > 0 ? (enum phase)(known - 1) : PHASE_INSTANT;
}

/* Reports members that are missing or wrong.  Returns false if the object cannot be read as an event. */
static bool check_members(struct chrome_reading *st)
{
	const struct chrome_record *const rec = &st->rec;
	const struct json_token *const ph = &rec->of[CHROME_PH];
	struct quoted q;

	if (ph->kind == JSON_ABSENT && !chrome_is_sample(st))
		return chrome_report(st, CHROME_RULE_NOT_AN_EVENT, rec->p, "the object has no ph");
	if (!chrome_phase_known(rec->ph) && !chrome_is_sample(st))
		return chrome_report(st, CHROME_RULE_UNKNOWN_PHASE, ph->p, "ph is %s",
		                     quoted(&q, json_token_text(ph)));
	if (rec->ph == 'M')
		return true;
	chrome_read_times(st);
	if (!rec->has_ts)
		return chrome_report(st, CHROME_RULE_MISSING_FIELD, rec->p, "the %s %c has no ts; left out",
		                     chrome_is_sample(st) ? "sample, read as ph" : "event of ph", rec->ph);
	if (rec->of[CHROME_PID].kind == JSON_ABSENT && !chrome_is_sample(st))
		chrome_report(st, CHROME_RULE_MISSING_FIELD, rec->p, "the event has no pid; read as 0");
	if (rec->of[CHROME_TID].kind == JSON_ABSENT && strchr("BEXstf", rec->ph) != NULL)
		chrome_tally(st, CHROME_TALLY_NO_TID, chrome_offset(st, rec->p));
	if (rec->ph == 'X' && !rec->has_dur)
		chrome_tally(st, CHROME_TALLY_NO_DUR, chrome_offset(st, rec->p));
	return true;
}

/* ---- events ---- */

/* Counters with different ids are different counters, unless the id is the tid (is_of_thread()). */
static struct slice event_name(struct chrome_reading *st, struct batch *b)
{
	const struct json_token *const t = &st->rec.of[CHROME_NAME];
	const struct chrome_id id = st->rec.ph == 'C'
	                                ? chrome_find_id(&st->rec)
	                                : (struct chrome_id){ .token = { .kind = JSON_ABSENT } };
	const struct slice name = t->kind == JSON_NULL ? SLICE_LIT("") : chrome_text(&b->scratch, t);

	if (name.p != NULL && name.n == 0 && chrome_is_sample(st)) /* Hermes names none */
		return SLICE_LIT("sample");
	if (id.token.kind == JSON_ABSENT || is_of_thread(&st->rec) || name.p == NULL)
		return name;
	const struct slice s = chrome_text(&b->scratch, &id.token),
	                   both = ARENA_JOIN(&b->scratch, name, SLICE_LIT("["), s, SLICE_LIT("]"));
	return both.p != NULL ? textscan_slice(both.p, both.n) : both;
}

/* Adds the record number that tracetool writes into `ids`, without the true ids after it. */
static bool add_record_id(struct chrome_reading *st, struct batch *b, struct event *e)
{
	const struct json_token *const ids = &st->rec.of[CHROME_IDS];

	if (ids->kind == JSON_ABSENT || *ids->p != '{')
		return true;
	if (!chrome_read_fields(st, b, e, ids->p, ids->end))
		return false;
	while (e->nfields > 0 && (slice_is(b->fields[b->nfields - 1].name, "true_tid") ||
	                          slice_is(b->fields[b->nfields - 1].name, "true_pid"))) {
		e->nfields--;
		b->nfields--;
	}
	return true;
}

/* Values of counters may be numbers in quotes. */
static void read_series(const struct batch *b, struct event *e)
{
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct value *const v = &b->fields[e->first_field + i].value;
		if (v->type != VALUE_STRING)
			continue;
		struct json_token t = { .p = v->p, .end = v->p + v->count };
		if (json_is_number(value_text(v), &t.kind))
			*v = chrome_read_value(NULL, &t);
	}
}

static bool add_fields(struct chrome_reading *st, struct batch *b, struct event *e)
{
	const struct json_token *const args = &st->rec.of[CHROME_ARGS];

	if (!add_record_id(st, b, e))
		return false;
	if (args->kind != JSON_ABSENT && *args->p == '{' && !chrome_read_fields(st, b, e, args->p, args->end))
		return false;
	if (e->phase == PHASE_COUNTER)
		read_series(b, e);
	if (call_stack_of_class(e->cls))
		chrome_read_stack(st, b, e);
	return chrome_member_fields(st, b, e);
}

/* Drops a first field with the true tid, which tracetool writes if the tid differs: the track has it. */
static void drop_true_tid(const struct batch *b, struct event *e)
{
	const struct field *const f = &b->fields[e->first_field];
	uint64_t id;

	if (e->nfields == 0 || !slice_is(f->name, "true_tid"))
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

/* Adds the end of an arrow for a span with bind_id. */
static void add_bound(struct chrome_reading *st, struct batch *b, const struct event *e, enum phase phase,
                      bool step)
{
	if (b->n + 1 >= b->cap) /* the batch holds one event */
		return;
	b->events[++b->n] = (struct event){ .ts = e->ts,
		                            .dur = chrome_bound_number(st),
		                            .name = SLICE_LIT("flow"), /* viewers compare it at both ends */
		                            .cls = e->cls,
		                            .track = e->track,
		                            .offset = e->offset,
		                            .phase = (uint8_t)phase,
		                            .flags = step ? EVENT_STEP : 0 };
}

/* Copies an event whose memory the next record changes: its texts must live as long as the batch.  Returns
 * false on OOM. */
static bool own_event(struct chrome_reading *st, struct batch *b)
{
	struct chrome_record *const rec = &st->rec;

	if (!st->borrowed)
		return !st->r->no_memory;
	const struct slice copy = arena_copy(&b->scratch, slice_of(rec->p, (size_t)(rec->end - rec->p)));
	if (note_failure(&st->r->no_memory, copy.p == NULL))
		return false;
	for (unsigned m = 0; m < CHROME_MEMBERS; m++)
		if (rec->of[m].kind != JSON_ABSENT) {
			rec->of[m].p = copy.p + (rec->of[m].p - rec->p);
			rec->of[m].end = copy.p + (rec->of[m].end - rec->p);
		}
	rec->p = copy.p;
	rec->end = copy.p + copy.n;
	st->borrowed = false;
	return !st->r->no_memory;
}

void chrome_meaning(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct chrome_reading *const st = r->state;
	const struct json_token *const of = st->rec.of;

	if (rec->role == RECORD_IS_MORE) {
		chrome_sample_event(st, b, e);
		return;
	}
	if (!own_event(st, b))
		return;
	e->ts = st->event.ts;
	e->dur = st->event.dur;
	e->phase = st->event.phase;
	e->flags = st->event.flags;
	e->name = event_name(st, b);
	r->no_memory |= e->name.p == NULL;
	if (reader_wants_fields(r, e))
		r->no_memory |= !add_fields(st, b, e);
	if (rec->role == RECORD_IS_EVENT && st->task->has_true_id)
		drop_true_tid(b, e);
	if (of[CHROME_BIND_ID].kind == JSON_ABSENT || rec->role != RECORD_IS_EVENT)
		return;
	const bool in = of[CHROME_FLOW_IN].kind == JSON_TRUE, out = of[CHROME_FLOW_OUT].kind == JSON_TRUE;
	if (in)
		add_bound(st, b, e, PHASE_FLOW_IN, out);
	else if (out)
		add_bound(st, b, e, PHASE_FLOW_OUT, false);
}

static bool is_async(char ph)
{
	return ph == 'b' || ph == 'e' || ph == 'S' || ph == 'F';
}

void chrome_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct chrome_reading *const st = r->state;

	if (rec->role == RECORD_IS_GAP) {
		reader_bytes_fields(b, e, rec->p, rec->end);
		return;
	}
	if (!own_event(st, b))
		return;
	e->dur = is_async(st->rec.ph) ? 0 : st->event.dur;
	e->phase = (uint8_t)phase_of(&st->rec);
	e->flags = is_async(st->rec.ph) ? EVENT_ASYNC : st->event.flags & (uint8_t)~EVENT_INNER;
	e->name = event_name(st, b);
	r->no_memory |= e->name.p == NULL || !chrome_read_fields(st, b, e, st->rec.p, st->rec.end);
}

/* Returns enum event_flags and event_traits of st->rec. */
static uint8_t event_flags(const struct chrome_record *rec)
{
	switch (rec->ph) {
	case 'X':
		return rec->has_dur ? 0 : EVENT_ENDLESS;
	case 't':
		return EVENT_STEP;
	case 'f': /* without `bp` it binds to the next span */
		return slice_is(json_token_text(&rec->of[CHROME_BP]), "e") ? 0 : EVENT_NEXT;
	case 'i':
	case 'I':
		return slice_is(json_token_text(&rec->of[CHROME_S]), "g") ? EVENT_GLOBAL : 0;
	default:
		return is_async(rec->ph) ? EVENT_ASYNC : 0;
	}
}

static bool read_timed_event(struct chrome_reading *st, struct record *rec)
{
	const char ph = st->rec.ph;
	struct event *const e = &st->event;

	st->task = event_task(st, is_of_process(st), (st->r->want & WANT_TIMES) != 0);
	rec->cls = event_class(st);
	if (st->task == NULL || rec->cls == NULL)
		return false;
	rec->ts = st->rec.ts;
	rec->track = st->task->track;
	rec->role = RECORD_IS_EVENT;
	*e = (struct event){ .ts = rec->ts, .phase = (uint8_t)phase_of(&st->rec) };
	e->dur = e->phase == PHASE_SPAN ? st->rec.dur : 0;
	e->flags = event_flags(&st->rec) | check_nesting(st, st->task);
	const bool keyed = st->r->want != WANT_FINDINGS; /* hashes and tables are 10 % of a validation */
	if (keyed && event_is_flow(e))
		e->dur = chrome_arrow_number(st);
	else if (keyed && is_async(ph))
		e->dur = chrome_async_key(st);
	const struct json_token *const sf = &st->rec.of[CHROME_SF];
	if (sf->kind != JSON_ABSENT && !chrome_knows_frame(st, sf))
		look_ahead(st);
	if (ph == 'P' || ph == 'I')
		chrome_read_profile(st);
	return true;
}

static bool read_metadata(struct chrome_reading *st, struct record *rec)
{
	rec->cls = trace_add_class(st->r->trace, SLICE_LIT("metadata"));
	rec->ts = 0;
	rec->role = RECORD_IS_STRUCTURE;
	st->event = (struct event){ .phase = PHASE_STRUCTURE };
	if (rec->cls != NULL) {
		read_track_name(st);
		chrome_read_metadata(st);
	}
	return rec->cls != NULL;
}

/* Reads a sample, with the pid and the category that it does not have. */
static bool read_sample(struct chrome_reading *st, struct record *rec)
{
	static const char category[] = "\"sample\"";
	struct json_token *const of = st->rec.of;
	const struct json_token pid = of[CHROME_PID], cat = of[CHROME_CAT];

	if (pid.kind == JSON_ABSENT)
		of[CHROME_PID] = chrome_sample_pid(st);
	if (cat.kind == JSON_ABSENT)
		of[CHROME_CAT] = (struct json_token){ category, category + sizeof category - 1, JSON_STRING };
	const bool is_event = read_timed_event(st, rec);
	of[CHROME_PID] = pid;
	of[CHROME_CAT] = cat;
	return is_event;
}

bool chrome_read_event(struct chrome_reading *st, struct record *rec)
{
	bool is_event = false;

	if (chrome_is_sample(st))
		st->rec.ph = 'P';
	if (st->is_ahead) { /* reads names only */
		if (st->rec.ph == 'M')
			read_track_name(st);
	} else if (check_members(st)) {
		chrome_mark_event(st);
		is_event = chrome_is_sample(st) ? read_sample(st, rec)
		           : st->rec.ph == 'M'  ? read_metadata(st, rec)
		                                : read_timed_event(st, rec);
		st->r->no_memory |= !is_event;
	}
	if (st->scratch.used > 0)
		arena_reset(&st->scratch);
	return is_event;
}

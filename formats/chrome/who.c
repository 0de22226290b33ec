#include <stdlib.h>

#include "chrome/read.h"

/* Processes and threads, and their names; classes of events. */

/* A pid or tid as it stands, numbers in quotes as numbers; what is missing is 0, as viewers take it. */
static struct slice
id_text(const struct chrome_token *t)
{
	const struct slice s = chrome_token_text(t);

	if (t->kind == JSON_ABSENT || t->kind >= JSON_TRUE)
		return SLICE_LIT("0");
	return s.n > CHROME_MAX_ID ? slice_of(s.p, CHROME_MAX_ID) : s;
}

/* What the number of a process or thread is, if it is one.  t: where it stands; NULL: in another pass. */
static void
read_id(struct chrome_reading *st, struct chrome_who *w, struct slice s, const char *what,
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
static struct chrome_who *
add_who(struct chrome_reading *st, struct slice key, bool *full)
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
static struct chrome_who *
one_for_the_rest(struct chrome_reading *st)
{
	chrome_report_limit(st, CHROME_LIMIT_WHO,
	                    "more than 60,000 processes and threads: the others are shown as one");
	if (st->more == NULL)
		st->more = arena_zalloc(&st->r->trace->arena, 1, sizeof *st->more);
	return st->more;
}

/* pid, or pid/tid; rec: the event that says them, NULL: it is one of another pass. */
static struct chrome_who *
look_up(struct chrome_reading *st, const struct chrome_record *rec, struct slice pid, const struct slice *tid)
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

static struct slice
name_of(struct chrome_reading *st, const struct chrome_who *w, bool process, struct slice id)
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
static void
look_ahead(struct chrome_reading *st)
{
	if (st->looked_ahead || st->titles_to != st ||
	    (st->r->want & (WANT_FIELDS | WANT_RAW)) != WANT_FIELDS)
		return;
	st->looked_ahead = true;
	st->no_memory |= reader_look_ahead(st->r) == LOOK_AHEAD_FAILED;
}

static const struct track *
make_track(struct chrome_reading *st, struct chrome_who *w, const struct chrome_who *process, struct slice id)
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

struct chrome_who *
chrome_who_of(struct chrome_reading *st, bool process, bool track)
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

void
chrome_who_free(struct chrome_reading *st)
{
	tabletext_free(&st->ids);
	free(st->whos);
}

/* ---- metadata ---- */

/* The member of args of this name; kind JSON_ABSENT: none. */
static struct chrome_token
arg(struct chrome_reading *st, const char *name)
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

void
chrome_learn(struct chrome_reading *st)
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

struct class *
chrome_class_read(struct chrome_reading *st)
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

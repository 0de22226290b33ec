#include "cmd/select_options.h"

#include <string.h>

#include "cmd/options.h"
#include "cmd/say.h"
#include "cmd/time_option.h"
#include "run/sort/value_order.h"

enum {
	S_SINCE,
	S_UNTIL,
	S_EDGES,
	S_NAME,
	S_CATEGORY,
	S_PID,
	S_TID,
	S_PROCESS,
	S_THREAD,
	S_TRACK,
	S_MIN_DUR,
	S_MAX_DUR,
	S_WHERE,
	S_NOT,
	S_FAIL_ON_EMPTY,
};

const struct cmd_option select_option_rows[] = {
	[S_SINCE] = { "since", "TIME",
	              "events from TIME on: 1500000 (ns), 12.5ms, +1.5s, -2s, 50%, 2026-11-22T08:30Z", 0 },
	[S_UNTIL] = { "until", "TIME", "events before TIME", 0 },
	[S_EDGES] = { "edges", "clip|keep|drop",
	              "what becomes of spans that cross an end of the window (default: clip)", 0 },
	[S_NAME] = { "name", "GLOB,...", "events of these names (* stands for any text)", 0 },
	[S_CATEGORY] = { "category", "GLOB,...", "events of these categories", 0 },
	[S_PID] = { "pid", "N", "events of this process", 0 },
	[S_TID] = { "tid", "N", "events of this thread", 0 },
	[S_PROCESS] = { "process", "GLOB,...", "events of processes of these names", 0 },
	[S_THREAD] = { "thread", "GLOB,...", "events of threads of these names", 0 },
	[S_TRACK] = { "track", "GLOB,...", "events of tracks, threads or processes of these names", 0 },
	[S_MIN_DUR] = { "min-dur", "TIME", "spans of at least this duration, 1.5ms", 0 },
	[S_MAX_DUR] = { "max-dur", "TIME", "events of at most this duration", 0 },
	[S_WHERE] = { "where", "KEY=GLOB",
	              "events with a field KEY whose value is GLOB; KEY>N, KEY<=N, ...: a number", 0 },
	[S_NOT] = { "not", NULL, "negates the next filter: --not --name idle", 0 },
	[S_FAIL_ON_EMPTY] = { "fail-on-empty", NULL, "exit status 1 if no event is selected", 0 },
	{ NULL, NULL, NULL, 0 },
};

static bool
mistake(struct options *o, const char *option, const char *what, const char *arg)
{
	struct shown_path shown;

	o->status = options_mistake(o, "--%s takes %s, not %s", option, what, show_path(&shown, arg));
	return false;
}

static bool
take_time(struct options *o, int which, const char *arg, struct select_time *t)
{
	t->text = arg;
	return time_option(arg, t) || mistake(o, select_option_rows[which].name, time_option_why(arg), arg);
}

static bool
take_edges(struct select_options *s, struct options *o, const char *arg)
{
	static const char *const words[] = { "clip", "keep", "drop", NULL };
	const int i = options_word(o, "--edges", arg, words);

	if (i >= 0)
		s->select.edges = (enum select_edges)i;
	s->clip_asked = i == SELECT_CLIP;
	return i >= 0;
}

/* KEY<N, KEY<=N, KEY>N or KEY>=N; a "<" or ">" that no number follows belongs to the key. */
static bool
take_comparison(struct select_condition *c, const char *arg)
{
	const char *const sign = strpbrk(arg, "<>=");

	if (sign == NULL || sign == arg || *sign == '=')
		return false;
	const bool equal = sign[1] == '=';
	if (!value_number(slice_str(sign + 1 + equal), &c->with))
		return false;
	c->key = slice_of(arg, (size_t)(sign - arg));
	c->compare =
	    *sign == '<' ? (equal ? SELECT_AT_MOST : SELECT_LESS) : (equal ? SELECT_AT_LEAST : SELECT_MORE);
	return true;
}

static bool
take_where(struct select_condition *c, struct options *o, const char *arg)
{
	const char *const equals = strchr(arg, '=');

	if (take_comparison(c, arg))
		return true;
	if (equals == NULL || equals == arg || strchr("<>", equals[-1]) != NULL)
		return mistake(o, "where", "KEY=GLOB or a comparison with a number (KEY>N, KEY<=N)", arg);
	c->key = slice_of(arg, (size_t)(equals - arg));
	c->glob = slice_str(equals + 1);
	return true;
}

static bool
add(struct select *k, struct options *o, struct select_condition c)
{
	if (k->n == SELECT_MOST) {
		o->status = options_mistake(o, "takes %d conditions at most", SELECT_MOST);
		return false;
	}
	k->conditions[k->n++] = c;
	return true;
}

/* How much of a list its first pattern is: up to a comma that neither stands within brackets, as in
 * "sum(int, int)", nor behind a backslash.  Brackets that are not closed hold no comma back. */
static size_t
first_pattern(const char *list)
{
	size_t n = 0, depth = 0, comma = SIZE_MAX;

	for (; list[n] != '\0'; n++) {
		if (list[n] == '\\' && list[n + 1] != '\0')
			n++;
		else if (strchr("([{<", list[n]) != NULL)
			depth++;
		else if (strchr(")]}>", list[n]) != NULL)
			depth -= depth > 0;
		else if (list[n] == ',' && depth == 0)
			return n;
		else if (list[n] == ',' && comma == SIZE_MAX)
			comma = n;
	}
	return depth > 0 && comma != SIZE_MAX ? comma : n;
}

static bool
take_globs(struct select *k, struct options *o, struct select_condition c, const char *arg)
{
	for (;;) {
		const size_t n = first_pattern(arg);
		c.glob = slice_of(arg, n);
		if (!add(k, o, c))
			return false;
		if (arg[n] == '\0')
			return true;
		arg += n + 1;
	}
}

static bool
take_condition(struct select *k, struct options *o, int which, bool inverted, const char *arg)
{
	static const enum select_kind kinds[] = {
		[S_NAME] = SELECT_NAME,   [S_CATEGORY] = SELECT_CATEGORY, [S_PID] = SELECT_PID,
		[S_TID] = SELECT_TID,     [S_PROCESS] = SELECT_PROCESS,   [S_THREAD] = SELECT_THREAD,
		[S_TRACK] = SELECT_TRACK, [S_MIN_DUR] = SELECT_MIN_DUR,   [S_MAX_DUR] = SELECT_MAX_DUR,
		[S_WHERE] = SELECT_WHERE,
	};
	struct select_condition c = { .kind = kinds[which], .inverted = inverted };

	if (which == S_WHERE)
		return take_where(&c, o, arg) && add(k, o, c);
	c.glob = slice_str(arg);
	if (which == S_MIN_DUR || which == S_MAX_DUR)
		return (length_option(arg, &c.number) ||
		        mistake(o, select_option_rows[which].name, duration_option_why(arg), arg)) &&
		       add(k, o, c);
	if (which == S_PID || which == S_TID)
		return options_number(o, which == S_PID ? "--pid" : "--tid", arg, &c.number) && add(k, o, c);
	return take_globs(k, o, c, arg);
}

bool
select_options_take(struct select_options *s, struct options *o, int which, const char *arg)
{
	struct select *const k = &s->select;
	const bool inverted = s->invert;

	s->invert = which == S_NOT;
	if (which == S_NOT)
		return true;
	if (which == S_FAIL_ON_EMPTY && !inverted) {
		s->fail_on_empty = true;
		return true;
	}
	if (inverted &&
	    (which == S_SINCE || which == S_UNTIL || which == S_EDGES || which == S_FAIL_ON_EMPTY)) {
		o->status = options_mistake(o, "--not does not go with --%s", select_option_rows[which].name);
		return false;
	}
	if (which == S_SINCE)
		return take_time(o, which, arg, &k->since);
	if (which == S_UNTIL)
		return take_time(o, which, arg, &k->until);
	if (which == S_EDGES)
		return take_edges(s, o, arg);
	return take_condition(k, o, which, inverted, arg);
}

/* A condition of this kind that excludes the given one, as no duration is in both. */
static const struct select_condition *
excluding(const struct select *k, const struct select_condition *least)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->conditions[i].kind == SELECT_MAX_DUR && !k->conditions[i].inverted &&
		    k->conditions[i].number >= least->number)
			return NULL;
	for (uint32_t i = 0; i < k->n; i++)
		if (k->conditions[i].kind == SELECT_MAX_DUR && !k->conditions[i].inverted)
			return &k->conditions[i];
	return NULL;
}

/* Options that no event can meet together; false after a message. */
static bool
check_ranges(const struct select *k, struct options *o)
{
	const struct select_condition *most = NULL, *least = NULL;

	if (select_is_reversed(k)) {
		o->status = options_mistake(o,
		                            "--since %s is not before --until %s: no event can be between "
		                            "them",
		                            k->since.text, k->until.text);
		return false;
	}
	for (uint32_t i = 0; i < k->n; i++) {
		const struct select_condition *const c = &k->conditions[i];
		if (c->kind != SELECT_MIN_DUR || c->inverted)
			continue;
		most = excluding(k, c);
		least = c;
		if (most == NULL)
			return true; /* conditions of one kind are alternatives */
	}
	if (most == NULL)
		return true;
	o->status = options_mistake(o, "--min-dur %.*s is longer than --max-dur %.*s", (int)least->glob.n,
	                            least->glob.p, (int)most->glob.n, most->glob.p);
	return false;
}

bool
select_options_end(const struct select_options *s, struct options *o)
{
	const struct select *const k = &s->select;

	if (s->invert)
		o->status = options_mistake(o, "--not stands before no option that it could turn around");
	else if (k->edges != SELECT_CLIP && k->since.kind == SELECT_ANY_TIME &&
	         k->until.kind == SELECT_ANY_TIME)
		o->status =
		    options_mistake(o, "--edges says what --since and --until do to spans; give one of "
		                       "them");
	else
		return check_ranges(k, o);
	return false;
}

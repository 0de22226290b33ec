#include "cmd/select_options.h"

#include <string.h>

#include "cmd/options.h"
#include "cmd/say.h"
#include "cmd/time_option.h"

enum {
	S_SINCE,
	S_UNTIL,
	S_EDGES,
	S_NAME,
	S_CATEGORY,
	S_PID,
	S_TID,
	S_TRACK,
	S_MIN_DUR,
	S_MAX_DUR,
	S_ARG,
	S_NOT,
};

const struct cmd_option select_option_rows[] = {
	[S_SINCE] = { "since", "TIME",
	              "events from TIME on: 1500000 (ns), 12.5ms, +1.5s, -2s, 50%, 2026-11-22T08:30Z", 0 },
	[S_UNTIL] = { "until", "TIME", "events before TIME", 0 },
	[S_EDGES] = { "edges", "clip|keep|drop",
	              "what becomes of spans that cross an end of the window (default: clip)", 0 },
	[S_NAME] = { "name", "GLOB", "events of this name (* stands for any text)", 0 },
	[S_CATEGORY] = { "category", "GLOB", "events of this category", 0 },
	[S_PID] = { "pid", "N", "events of this process", 0 },
	[S_TID] = { "tid", "N", "events of this thread", 0 },
	[S_TRACK] = { "track", "GLOB", "events of tracks, threads or processes of this name", 0 },
	[S_MIN_DUR] = { "min-dur", "TIME", "spans of at least this duration, 1.5ms", 0 },
	[S_MAX_DUR] = { "max-dur", "TIME", "events of at most this duration", 0 },
	[S_ARG] = { "arg", "KEY=GLOB", "events with a field KEY whose value is GLOB", 0 },
	[S_NOT] = { "not", NULL, "turns the option that follows around: no event of that kind", 0 },
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
	return time_option(arg, t) || mistake(o, select_option_rows[which].name,
	                                      "a time (1500000, 12.5ms, +1.5s, -2s, 50%, "
	                                      "2026-11-22T08:30:00Z)",
	                                      arg);
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

static bool
take_arg(struct select_condition *c, struct options *o, const char *arg)
{
	const char *const equals = strchr(arg, '=');

	if (equals == NULL || equals == arg)
		return mistake(o, "arg", "KEY=GLOB", arg);
	c->key = slice_of(arg, (size_t)(equals - arg));
	c->glob = slice_str(equals + 1);
	return true;
}

static bool
take_condition(struct select_condition *c, struct options *o, int which, const char *arg)
{
	static const enum select_kind kinds[] = {
		[S_NAME] = SELECT_NAME,       [S_CATEGORY] = SELECT_CATEGORY, [S_PID] = SELECT_PID,
		[S_TID] = SELECT_TID,         [S_TRACK] = SELECT_TRACK,       [S_MIN_DUR] = SELECT_MIN_DUR,
		[S_MAX_DUR] = SELECT_MAX_DUR, [S_ARG] = SELECT_ARG,
	};

	c->kind = kinds[which];
	if (which == S_ARG)
		return take_arg(c, o, arg);
	if (which == S_MIN_DUR || which == S_MAX_DUR)
		return duration_option(arg, &c->number) ||
		       mistake(o, select_option_rows[which].name, "a duration (1500, 12.5ms)", arg);
	if (which == S_PID)
		return options_number(o, "--pid", arg, &c->number);
	if (which == S_TID)
		return options_number(o, "--tid", arg, &c->number);
	c->glob = slice_str(arg);
	return true;
}

bool
select_options_take(struct select_options *s, struct options *o, int which, const char *arg)
{
	struct select *const k = &s->select;
	const bool inverted = s->invert;

	s->invert = which == S_NOT;
	if (which == S_NOT)
		return true;
	if (inverted && (which == S_SINCE || which == S_UNTIL || which == S_EDGES)) {
		o->status = options_mistake(o, "--not does not go with --%s", select_option_rows[which].name);
		return false;
	}
	if (which == S_SINCE)
		return take_time(o, which, arg, &k->since);
	if (which == S_UNTIL)
		return take_time(o, which, arg, &k->until);
	if (which == S_EDGES)
		return take_edges(s, o, arg);
	if (k->n == SELECT_MOST) {
		o->status = options_mistake(o, "takes %d conditions at most", SELECT_MOST);
		return false;
	}
	struct select_condition *const c = &k->conditions[k->n++];
	c->inverted = inverted;
	return take_condition(c, o, which, arg);
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
		return true;
	return false;
}

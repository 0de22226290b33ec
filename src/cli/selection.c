/*
 * The options that select events (tracetool-select(7)): times and durations, lists of patterns, comparisons
 * of fields.  Conditions of one kind are alternatives, so only ranges that are empty for certain are refused.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/numbers.h"
#include "cli/options.h"
#include "model/number.h"

/* ---- times ---- */

#define NS_PER_MINUTE UINT64_C(60000000000)

bool duration_option(const char *s, uint64_t *ns)
{
	const struct slice text = slice_str(s);

	return strchr(s, ' ') == NULL && (units_count(text, ns) || units_time(text, ns));
}

/* Parses the offset of local time from UTC: "Z", " UTC", "+hh:mm", "-hh:mm" or nothing. */
static bool offset_of(const char *p, bool *behind, uint64_t *ns)
{
	uint64_t hours, minutes;

	*behind = *p == '-';
	*ns = 0;
	if (*p == '\0' || strcmp(p, "Z") == 0 || strcmp(p, " UTC") == 0)
		return true;
	if ((*p != '+' && *p != '-') || strlen(p) != 6 || p[3] != ':' ||
	    !units_count(slice_of(p + 1, 2), &hours) || !units_count(slice_of(p + 4, 2), &minutes) ||
	    hours > 23 || minutes > 59)
		return false;
	*ns = (hours * 60 + minutes) * NS_PER_MINUTE;
	return true;
}

/* Parses a wall time.  It accepts more than units_wall(): seconds and Z are optional, an offset from UTC is
 * allowed, and so is the form of reports, "2026-11-22 08:30:00.500 UTC". */
static bool wall_time(const char *s, uint64_t *ns)
{
	const char *const clock = strpbrk(s, "T ");
	char utc[64];
	bool behind;
	uint64_t offset;

	if (clock == NULL)
		return units_wall(slice_str(s), ns);
	const char *const zone = clock + 1 + strcspn(clock + 1, "Z+- ");
	const char *const colon = strchr(clock, ':');
	const bool seconds =
	    colon != NULL && colon < zone && memchr(colon + 1, ':', (size_t)(zone - colon - 1)) != NULL;
	const int n = snprintf(utc, sizeof utc, "%.*sT%.*s%sZ", (int)(clock - s), s, (int)(zone - clock - 1),
	                       clock + 1, seconds ? "" : ":00");
	if (n >= (int)sizeof utc || !offset_of(zone, &behind, &offset) || !units_wall(slice_str(utc), ns))
		return false;
	return behind ? !ckd_add(ns, *ns, offset) : !ckd_sub(ns, *ns, offset);
}

bool time_option(const char *s, struct select_time *t)
{
	t->kind = SELECT_WALL;
	if (strlen(s) >= 10 && s[4] == '-' && isdigit((unsigned char)*s))
		return wall_time(s, &t->v);
	if (strchr(s, ' ') != NULL)
		return false;
	if (*s == '+' || *s == '-') {
		t->kind = *s == '+' ? SELECT_FROM_FIRST : SELECT_BEFORE_LAST;
		return duration_option(s + 1, &t->v);
	}
	t->kind = SELECT_FRACTION;
	if (units_part(slice_str(s), SELECT_WHOLE, &t->v))
		return true;
	t->kind = SELECT_AT;
	return duration_option(s, &t->v);
}

static const char *skip_number(const char *s)
{
	while (isdigit((unsigned char)*s) || *s == '.')
		s++;
	return s;
}

const char *duration_option_takes(const char *s)
{
	const char *const unit = skip_number(s);
	uint64_t ns;

	if (unit == s)
		return "a duration, which is a number with a unit, such as 12.5ms";
	if (*unit == '\0')
		return units_count(slice_str(s), &ns) ? "a unit with its number: ns, us, ms, s, min or h"
		                                      : "a number with a unit, such as 12.5ms";
	if (isalpha((unsigned char)*unit)) {
		char one[24];
		(void)snprintf(one, sizeof one, "1%.20s", unit);
		if (!duration_option(one, &ns))
			return "one of the units ns, us, ms, s, min, h";
	}
	return "a duration of whole nanoseconds below 2^64, such as 12.5ms";
}

/* Returns the form of a valid time that is nearest to the refused argument s: "--since takes FORM, not 200%".
 */
static const char *time_option_takes(const char *s)
{
	const bool moved = *s == '+' || *s == '-';
	const char *const digits = s + moved, *const end = skip_number(digits);

	if (end > digits && strcmp(end, "%") == 0)
		return *s == '-' ? "0% to 100% of the trace (the last tenth is --since 90%)"
		                 : "at most 100%, with at most six decimals";
	if (!moved && strlen(s) >= 10 && s[4] == '-')
		return "a wall time such as 2026-11-22T08:30:00.5Z";
	if (end > digits && *end != '\0')
		return duration_option_takes(digits);
	return "a time: 1500000 (ns), 12.5ms, +1.5s, -2s, 50%, 2026-11-22T08:30:00Z";
}

bool duration_with_unit(const char *s, uint64_t *ns)
{
	uint64_t n;

	return (!units_count(slice_str(s), &n) || n == 0) && duration_option(s, ns);
}

/* ---- conditions ---- */

/* Values of cmd_option.at: enum select_kind, and these. */
enum { TAKES_SINCE = SELECT_KINDS, TAKES_UNTIL, TAKES_EDGES, TAKES_NOT, TAKES_FAIL_ON_EMPTY };
#define TO_SELECT(what) 0, OPTION_SELECT, .at = what

const struct cmd_option select_option_rows[] = {
	{ "since", "TIME", "events from TIME on: 1500000 (ns), 12.5ms, +1.5s, -2s, 50%, 2026-11-22T08:30Z",
	  TO_SELECT(TAKES_SINCE) },
	{ "until", "TIME", "events before TIME", TO_SELECT(TAKES_UNTIL) },
	{ "edges", "clip|keep|drop", "treatment of spans that cross an end of the window (default: clip)",
	  TO_SELECT(TAKES_EDGES) },
	{ "name", "GLOB,...", "events of these names (* stands for any text)", TO_SELECT(SELECT_NAME) },
	{ "category", "GLOB,...", "events of these categories", TO_SELECT(SELECT_CATEGORY) },
	{ "pid", "N", "events of this process", TO_SELECT(SELECT_PID) },
	{ "tid", "N", "events of this thread", TO_SELECT(SELECT_TID) },
	{ "process", "GLOB,...", "events of processes of these names", TO_SELECT(SELECT_PROCESS) },
	{ "thread", "GLOB,...", "events of threads of these names", TO_SELECT(SELECT_THREAD) },
	{ "track", "GLOB,...", "events of tracks, threads or processes of these names",
	  TO_SELECT(SELECT_TRACK) },
	{ "min-dur", "TIME", "spans of at least this duration, 1.5ms", TO_SELECT(SELECT_MIN_DUR) },
	{ "max-dur", "TIME", "events of at most this duration", TO_SELECT(SELECT_MAX_DUR) },
	{ "where", "KEY=GLOB", "events with a field KEY whose value is GLOB; KEY>N, KEY<=N, ...: a number",
	  TO_SELECT(SELECT_WHERE) },
	{ "no-waiting", NULL, "no spans in which a thread waits: parked workers, barriers",
	  TO_SELECT(SELECT_WAITING) },
	{ "not", NULL, "invert the next option: --not --name idle", TO_SELECT(TAKES_NOT) },
	{ "fail-on-empty", NULL, "exit status 1 if no event is selected", TO_SELECT(TAKES_FAIL_ON_EMPTY) },
	{ .name = NULL },
};

static bool mistake(struct options *o, const char *option, const char *what, const char *arg)
{
	char name[32];

	snprintf(name, sizeof name, "--%s", option);
	return options_takes(o, name, what, arg);
}

static bool set_time(struct options *o, const char *name, const char *arg, struct select_time *t)
{
	t->text = arg;
	return time_option(arg, t) || mistake(o, name, time_option_takes(arg), arg);
}

static bool set_edges(struct select_options *s, struct options *o, const char *arg)
{
	static const char *const words[] = { "clip", "keep", "drop", NULL };
	const int i = options_word(o, "--edges", arg, words);

	if (i >= 0)
		s->select.edges = (enum select_edges)i;
	s->clip_asked = i == SELECT_CLIP;
	return i >= 0;
}

/* Parses KEY<N, KEY<=N, KEY>N or KEY>=N; "<" or ">" without a number after it is part of the key. */
static bool parse_comparison(struct select_condition *c, const char *arg)
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

static bool parse_where(struct select_condition *c, struct options *o, const char *arg)
{
	const char *const equals = strchr(arg, '=');

	if (parse_comparison(c, arg))
		return true;
	if (equals == NULL || equals == arg || strchr("<>", equals[-1]) != NULL)
		return mistake(o, "where", "KEY=GLOB or a comparison with a number (KEY>N, KEY<=N)", arg);
	c->key = slice_of(arg, (size_t)(equals - arg));
	c->glob = slice_str(equals + 1);
	return true;
}

static bool append_condition(struct select *k, struct options *o, struct select_condition c)
{
	if (k->n == SELECT_MAX_CONDITIONS)
		return options_mistake(o, "takes at most %d conditions", SELECT_MAX_CONDITIONS);
	k->conditions[k->n++] = c;
	return true;
}

static bool add_globs(struct select *k, struct options *o, struct select_condition c, const char *arg)
{
	for (;;) {
		const size_t n = glob_length(arg);
		c.glob = slice_of(arg, n);
		if (!append_condition(k, o, c))
			return false;
		if (arg[n] == '\0')
			return true;
		arg += n + 1;
	}
}

static bool add_condition(struct select *k, struct options *o, const struct cmd_option *row, bool inverted,
                          const char *arg)
{
	struct select_condition c = { .kind = (enum select_kind)row->at, .inverted = inverted };

	if (c.kind == SELECT_WHERE)
		return parse_where(&c, o, arg) && append_condition(k, o, c);
	if (c.kind == SELECT_WAITING) {
		c.inverted = !inverted;
		return append_condition(k, o, c);
	}
	c.glob = slice_str(arg);
	if (c.kind == SELECT_MIN_DUR || c.kind == SELECT_MAX_DUR)
		return (duration_with_unit(arg, &c.number) ||
		        mistake(o, row->name, duration_option_takes(arg), arg)) &&
		       append_condition(k, o, c);
	if (c.kind == SELECT_PID || c.kind == SELECT_TID)
		return options_number(o, c.kind == SELECT_PID ? "--pid" : "--tid", arg, &c.number) &&
		       append_condition(k, o, c);
	return add_globs(k, o, c, arg);
}

bool select_options_take(struct select_options *s, struct options *o, const struct cmd_option *row,
                         const char *arg)
{
	struct select *const k = &s->select;
	const bool inverted = s->invert;

	s->invert = row->at == TAKES_NOT;
	if (inverted && row->at >= SELECT_KINDS && !s->invert)
		return options_mistake(o, "--not cannot invert --%s", row->name);
	switch (row->at) {
	case TAKES_NOT:
		return true;
	case TAKES_FAIL_ON_EMPTY:
		return s->fail_on_empty = true;
	case TAKES_SINCE:
		return set_time(o, row->name, arg, &k->since);
	case TAKES_UNTIL:
		return set_time(o, row->name, arg, &k->until);
	case TAKES_EDGES:
		return set_edges(s, o, arg);
	default:
		return add_condition(k, o, row, inverted, arg);
	}
}

/* A --max-dur that is below the --min-dur; NULL if a duration can meet both. */
static const struct select_condition *find_excluding(const struct select *k,
                                                     const struct select_condition *min)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->conditions[i].kind == SELECT_MAX_DUR && !k->conditions[i].inverted &&
		    k->conditions[i].number >= min->number)
			return NULL;
	for (uint32_t i = 0; i < k->n; i++)
		if (k->conditions[i].kind == SELECT_MAX_DUR && !k->conditions[i].inverted)
			return &k->conditions[i];
	return NULL;
}

/* Refuses options that no event can match together. */
static bool check_ranges(const struct select *k, struct options *o)
{
	const struct select_condition *max = NULL, *min = NULL;

	if (select_is_reversed(k))
		return options_mistake(o, "--since %s is not before --until %s: no event can be between them",
		                       k->since.text, k->until.text);
	for (uint32_t i = 0; i < k->n; i++) {
		const struct select_condition *const c = &k->conditions[i];
		if (c->kind != SELECT_MIN_DUR || c->inverted)
			continue;
		max = find_excluding(k, c);
		min = c;
		if (max == NULL)
			return true; /* conditions of one kind are alternatives */
	}
	if (max == NULL)
		return true;
	return options_mistake(o, "--min-dur %.*s is longer than --max-dur %.*s", (int)min->glob.n,
	                       min->glob.p, (int)max->glob.n, max->glob.p);
}

bool select_options_end(const struct select_options *s, struct options *o)
{
	const struct select *const k = &s->select;

	if (s->invert)
		return options_mistake(o, "--not needs a selecting option after it");
	if (k->edges != SELECT_CLIP && k->since.kind == SELECT_ANY_TIME && k->until.kind == SELECT_ANY_TIME)
		return options_mistake(o, "--edges needs --since or --until");
	return check_ranges(k, o);
}

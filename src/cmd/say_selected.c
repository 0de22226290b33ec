#include <inttypes.h>

#include "cmd/say.h"
#include "output/text_start.h"
#include "output/text_units.h"

enum { ROOM = 2048 };

static void
put_quoted(struct text *t, const char *s)
{
	text_char(t, '"');
	text_visible(t, slice_str(s), 0);
	text_char(t, '"');
}

static void
put_slice(struct text *t, struct slice s)
{
	text_char(t, '"');
	text_visible(t, s, 200);
	text_char(t, '"');
}

/* Whether texts of the trace were noted that a condition did not match, and are names, not ids. */
static void
put_what(struct text *t, const struct select_condition *c, const struct select_near *near)
{
	switch (c->kind) {
	case SELECT_NAME:
		text_str(t, "no event has the name ");
		put_slice(t, c->glob);
		break;
	case SELECT_CATEGORY:
		text_str(t, "no event has the category ");
		put_slice(t, c->glob);
		break;
	case SELECT_PID:
		text_printf(t, "no event is of a process %" PRIu64, c->number);
		break;
	case SELECT_TID:
		text_printf(t, "no event is of a thread %" PRIu64, c->number);
		break;
	case SELECT_PROCESS:
		text_str(t, "no event is of a process with the name ");
		put_slice(t, c->glob);
		break;
	case SELECT_THREAD:
		text_str(t, "no event is of a thread with the name ");
		put_slice(t, c->glob);
		break;
	case SELECT_TRACK:
		text_str(t, "no track, thread or process with events has the name ");
		put_slice(t, c->glob);
		break;
	default:
		text_str(t, near != NULL && near->has_key ? "no field " : "no event has a field ");
		put_slice(t, c->key);
		if (near != NULL && near->has_key) {
			text_str(t, c->compare == SELECT_GLOB ? " has the value " : " compares so");
			if (c->compare == SELECT_GLOB)
				put_slice(t, c->glob);
		}
		break;
	}
}

/* The nearest text, or the first few. */
static void
put_near(struct text *t, const struct select_condition *c, const struct select_near *near)
{
	const bool id = c->kind == SELECT_PID || c->kind == SELECT_TID;

	if (near == NULL || near->n == 0)
		return;
	if (near->best[0] != '\0') {
		text_str(t, "; did you mean ");
		put_quoted(t, near->best);
		text_char(t, '?');
		return;
	}
	text_str(t, near->n > 1 ? "; there are " : "; there is ");
	for (unsigned i = 0; i < near->n && i < FOUND_SHOWN; i++) {
		text_str(t, i > 0 ? ", " : "");
		if (id)
			text_str(t, near->first[i]);
		else
			put_quoted(t, near->first[i]);
	}
	text_str(t, near->n > FOUND_SHOWN ? ", ..." : "");
}

static void
warn(const struct options *o, const char *path, const struct text *what)
{
	struct shown_path shown;

	(void)o;
	say("%s: warning: %.*s", show_path(&shown, path), (int)what->n, what->p);
}

/* In seconds where the clock has run for long: other units would hide how far apart times are. */
static void
put_clock(struct text *t, uint64_t ns)
{
	if (ns >= 1000000000)
		text_printf(t, "%" PRIu64 ".%03u s", ns / 1000000000, (unsigned)(ns / 1000000 % 1000));
	else
		text_time(t, ns);
}

static void
put_span_of_time(struct text *t, const struct select_found *f)
{
	put_clock(t, f->first);
	text_str(t, " to ");
	put_clock(t, f->last);
}

/* An absolute time that was meant to be relative.  true: it was said. */
static void
say_early(const struct options *o, const char *path, const struct select_found *f, struct text *t)
{
	const struct select_time *const since = &o->select.select.since;

	if (since->kind != SELECT_AT || since->v == 0 || since->text == NULL || f->events == 0 ||
	    since->v >= f->first)
		return;
	struct shown_path shown;
	t->n = 0;
	text_visible(t, slice_str(since->text), 0);
	text_str(t, " is before the trace (");
	put_span_of_time(t, f);
	text_str(t, "); +");
	text_visible(t, slice_str(since->text), 0);
	text_str(t, " counts from its start");
	say("%s: note: %.*s", show_path(&shown, path), (int)t->n, t->p);
}

/* Which of the options no event met; how many. */
static unsigned
say_unmet(const struct options *o, const char *path, const struct select_found *f, struct text *t)
{
	const struct select *const s = &o->select.select;
	unsigned n = 0;

	for (uint32_t k = 0; k < s->n && f->events > 0; k++) {
		if ((f->unmet >> k & 1) == 0)
			continue;
		t->n = 0;
		put_what(t, &s->conditions[k], f->near[k]);
		put_near(t, &s->conditions[k], f->near[k]);
		warn(o, path, t);
		n++;
	}
	return n;
}

static void
say_empty(const struct options *o, const char *path, const struct select_found *f, struct text *t)
{
	const struct select *const s = &o->select.select;

	t->n = 0;
	if (f->events == 0) {
		text_str(t, "no event is selected: the trace has none");
	} else {
		text_printf(t, "none of %" PRIu64 " event%s is selected", f->events,
		            f->events == 1 ? "" : "s");
		if (s->since.kind != SELECT_ANY_TIME || s->until.kind != SELECT_ANY_TIME) {
			text_str(t, "; the trace is from ");
			put_span_of_time(t, f);
		}
	}
	warn(o, path, t);
}

enum exit_status
say_selected(const struct options *o, const char *path, const struct select_found *f)
{
	struct shown_path shown;
	char room[ROOM];

	if (f == NULL || !f->complete)
		return STATUS_CLEAN;
	const uint64_t selected = f->events - f->left_out;
	struct text t = text_start(room, sizeof room);
	const unsigned unmet = say_unmet(o, path, f, &t);
	if (selected == 0 && unmet == 0)
		say_empty(o, path, f, &t);
	if (!o->quiet) {
		say_early(o, path, f, &t);
		if (f->left_out > 0)
			say("%s: %" PRIu64 " of %" PRIu64 " event%s selected", show_path(&shown, path),
			    selected, f->events, f->events == 1 ? "" : "s");
	}
	text_free(&t);
	return selected == 0 && o->select.fail_on_empty ? STATUS_FINDINGS : STATUS_CLEAN;
}

void
say_crossing(const struct options *o, const char *path, const struct select_found *f)
{
	struct shown_path shown;

	if (f == NULL || o->quiet || f->clipped == 0)
		return;
	say("%s: %" PRIu64 " span%s the time window and %s whole, as records are copied",
	    show_path(&shown, path), f->clipped, f->clipped == 1 ? " crosses an end of" : "s cross an end of",
	    f->clipped == 1 ? "is" : "are");
}

/*
 * Messages on standard error: findings, results of a selection, losses, and progress.  Messages are made in
 * buffers on the stack, so that they are shown even without memory.
 */

#include "cli/say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "check/rules.h"
#include "cli/reports.h"
#include "format/ledger.h"
#include "input/open.h"
#include "model/call_stack.h"
#include "model/trace_origin.h"
#include "output/text_visible.h"
#include "report/report.h"
#include "run/join.h"
#include "run/read/operands.h"

/* ---- messages ---- */

enum { MESSAGE_SPACE = 4096 }; /* bytes on the stack, as messages must work without memory */

static void put_bytes(const char *p, size_t n)
{
	while (n > 0) {
		const ssize_t k = write(STDERR_FILENO, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return; /* no way left to report it */
		p += k;
		n -= (size_t)k;
	}
}

/* Writes lines without commands of CI services. */
static void put_lines(const char *p, size_t n)
{
	char buffer[MESSAGE_SPACE];
	struct text safe = text_start(buffer, sizeof buffer);

	if (!text_has_commands(p, n, 0)) {
		put_bytes(p, n);
		return;
	}
	text_add_guarded(&safe, p, n, 0);
	put_bytes(safe.p, safe.n);
	text_free(&safe);
}

void say_text(const struct text *t)
{
	put_lines(t->p, t->n);
	if (t->failed && t->n > 0 && t->p[t->n - 1] != '\n')
		put_lines("\n", 1); /* cut on OOM */
}

/* path: escaped; NULL: none. */
PRINTF(2, 0) static void say_line(const char *path, const char *fmt, va_list ap)
{
	char line[2048];
	int n = snprintf(line, sizeof line, "tracetool: %s%s", path != NULL ? path : "",
	                 path != NULL ? ": " : "");

	n += vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
	if ((size_t)n > sizeof line - 2)
		n = (int)sizeof line - 2;
	line[n++] = '\n';
	put_lines(line, (size_t)n);
}

bool say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(NULL, fmt, ap);
	va_end(ap);
	return false;
}

bool say_of(const char *path, const char *fmt, ...)
{
	struct shown_path shown;
	va_list ap;

	va_start(ap, fmt);
	say_line(show_path(&shown, path), fmt, ap);
	va_end(ap);
	return false;
}

const char *show_path(struct shown_path *p, const char *path)
{
	char buffer[4 * sizeof p->s];
	struct text t = text_start(buffer, sizeof buffer);

	text_visible(&t, slice_str(path), sizeof p->s);
	const size_t n = t.n < sizeof p->s ? t.n : sizeof p->s - 1;
	memcpy(p->s, t.p, n);
	p->s[n] = '\0';
	text_free(&t);
	return p->s;
}

const char *show_operand(struct shown_path *p, const char *path)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
	const size_t n = strlen(show_path(p, path));
	const bool option = path[0] == '-' && path[1] != '\0';
	const bool quote = path[strspn(path, plain)] != '\0';
	const char *const before = quote ? option ? "'./" : "'" : option ? "./" : "";
	const size_t k = strlen(before);

	/* A name that has a quote, or was escaped or cut, cannot be typed as it is shown. */
	if (strcmp(p->s, path) != 0 || strchr(path, '\'') != NULL || k + n + sizeof "'" > sizeof p->s)
		return p->s;
	memmove(p->s + k, p->s, n);
	memcpy(p->s, before, k);
	(void)strcpy(p->s + k + n, quote ? "'" : "");
	return p->s;
}

/* ---- findings ---- */

void say_line_of(const char *path, const struct finding *f, bool color)
{
	char buffer[MESSAGE_SPACE];
	struct text t = text_start(buffer, sizeof buffer);

	if (report_text_is_system(f))
		text_str(&t, "tracetool: ");
	report_text_finding(&t, path, f, color);
	say_text(&t);
	text_free(&t);
}

/* Shows a finding from the level `min` on, by the policy, and adds it to the reports of --report. */
static void say_from(struct options *o, enum level min, const struct findings *j, const struct finding *f)
{
	const bool failure = input_rule_is_failure(f->rule);
	const struct verdict verdict = policy_decide(o->policy, f->rule);
	struct finding plain = *f;

	plain.level = failure ? f->rule->level : verdict.level;
	/* a message may quote the trace; messages of system failures do not */
	if (o->wordless && !failure)
		plain.message = f->rule->text;
	if (o->side != NULL)
		finding_list_add(&o->side->log.open, &plain);
	/* beyond a limit of this program, events may be missing or different */
	if (plain.level < min && (o->quiet || plain.level != LEVEL_LIMIT))
		return;
	if (verdict.left_out && !failure)
		return;
	if (!failure && o->said == SAY_FINDINGS) {
		o->unsaid++;
		return;
	}
	o->said += !failure;
	say_line_of(j->path, &plain, options_color(o, STDERR_FILENO));
}

void say_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	say_from(ctx, LEVEL_ERROR, j, f);
}

void say_mistake(void *ctx, const struct findings *j, const struct finding *f)
{
	struct options *const o = ctx;

	say_from(o, o->quiet ? LEVEL_ERROR : LEVEL_WARNING, j, f);
}

bool say_failure(struct options *o, const struct findings *j, const struct finding *f)
{
	const bool failure = input_rule_is_failure(f->rule);

	if (failure)
		say_finding(o, j, f);
	return failure;
}

/* Counts warnings that were not shown.  Returns whether one of the findings changes the exit status. */
static bool judge(struct options *o, const struct findings *j)
{
	bool exits = false;

	for (uint32_t i = 0; i < j->ncounts; i++) {
		const struct verdict v = policy_decide(o->policy, j->counts[i].rule);
		exits |= v.exits && !v.left_out;
		o->warnings += v.level == LEVEL_WARNING && !v.left_out ? j->counts[i].count : 0;
	}
	return exits;
}

enum exit_status say_record(struct options *o, const struct file_record *what, const struct findings *j)
{
	char buffer[MESSAGE_SPACE];
	struct text t = text_start(buffer, sizeof buffer);

	const bool exits = judge(o, j);
	side_reports_record(o, what, j);
	if (!o->quiet && o->unsaid == 0)
		report_text_rest(&t, j, o->policy, LEVEL_LIMIT);
	if (what->unread_bytes > 0 && o->unsaid == 0) {
		struct shown_path shown;
		text_printf(&t, "%s: %" PRIu64 " byte%s not read\n", show_path(&shown, what->path),
		            what->unread_bytes, what->unread_bytes == 1 ? "" : "s");
	}
	say_text(&t);
	text_free(&t);
	if (what->unreadable)
		return STATUS_UNREADABLE;
	return exits ? STATUS_FINDINGS : STATUS_CLEAN;
}

enum exit_status say_end(struct options *o, const struct source *s)
{
	const struct file_record what = source_record(s);
	const enum exit_status status = say_record(o, &what, &s->findings);

	if (s->context == NULL || s->context->refused[0] == '\0')
		return status;
	say("%s: %s", o->cmd->name, s->context->refused);
	return STATUS_USAGE;
}

/* Proposes how to list the findings: by validate, or for a pipe, which cannot be read again, by --report.
 * Also, a pipe has findings that a file does not have: names that are defined after their use. */
static void put_listing_command(struct text *t, const struct options *o)
{
	const size_t nin = o->nin - (o->cmd->converts && o->output == NULL);
	struct shown_path shown;

	for (size_t i = 0; i < nin; i++)
		if (input_fd_of(o->in[i]) >= 0) {
			text_str(t, "--report text=FILE");
			return;
		}
	text_str(t, "tracetool validate ");
	text_str(t, nin == 1 ? show_operand(&shown, o->in[0]) : "IN ...");
}

/* not_shown: the message says so. */
static void say_listed(const struct options *o, uint64_t n, const char *what, bool not_shown)
{
	char buffer[MESSAGE_SPACE];
	struct text t = text_start(buffer, sizeof buffer);

	if (n == 0)
		return;
	put_listing_command(&t, o);
	say("%" PRIu64 " %s%s in the input%s%s: %.*s lists %s", n, what, n == 1 ? "" : "s",
	    not_shown ? n == 1 ? " is" : " are" : "", not_shown ? " not shown" : "", (int)t.n, t.p,
	    n == 1 ? "it" : "them");
	text_free(&t);
}

void say_found(const struct options *o)
{
	say_listed(o, o->unsaid, "further error", true);
	if (!o->quiet)
		say_listed(o, o->warnings, "warning", false);
}

/* ---- results of a selection ---- */

static void put_quoted(struct text *t, struct slice s)
{
	text_char(t, '"');
	text_visible(t, s, 200);
	text_char(t, '"');
}

static void put_condition(struct text *t, const struct select_condition *c, const struct select_near *near)
{
	static const char *const unmet[] = {
		[SELECT_NAME] = "no event has the name ",
		[SELECT_CATEGORY] = "no event has the category ",
		[SELECT_PID] = "no event has the pid ",
		[SELECT_TID] = "no event has the tid ",
		[SELECT_PROCESS] = "no event is of a process with the name ",
		[SELECT_THREAD] = "no event is of a thread with the name ",
		[SELECT_TRACK] = "no track, thread or process with events has the name ",
	};
	static const char *const operators[] = {
		[SELECT_LESS] = "<",
		[SELECT_AT_MOST] = "<=",
		[SELECT_MORE] = ">",
		[SELECT_AT_LEAST] = ">=",
	};
	const bool has_key = near != NULL && near->has_key;

	if (c->kind < COUNT_OF(unmet) && unmet[c->kind] != NULL) {
		text_str(t, unmet[c->kind]);
		if (c->kind == SELECT_PID || c->kind == SELECT_TID)
			text_u64(t, c->number);
		else
			put_quoted(t, c->glob);
		return;
	}
	text_str(t, has_key ? "no field " : "no event has a field ");
	put_quoted(t, c->key);
	if (!has_key)
		return;
	if (c->compare == SELECT_GLOB) {
		text_str(t, " has the value ");
		put_quoted(t, c->glob);
	} else {
		char space[SELECT_VALUE_TEXT];
		text_printf(t, " is %s ", operators[c->compare]);
		text_slice(t, select_value_text(&c->with, space));
	}
}

/* Writes the nearest text, or the first few texts. */
static void put_near(struct text *t, const struct select_condition *c, const struct select_near *near)
{
	const bool id = c->kind == SELECT_PID || c->kind == SELECT_TID;

	if (near == NULL || near->n == 0)
		return;
	if (near->best[0] != '\0') {
		text_str(t, "; did you mean ");
		put_quoted(t, slice_str(near->best));
		text_char(t, '?');
		return;
	}
	text_str(t, near->n > 1 ? "; there are " : "; there is ");
	for (unsigned i = 0; i < near->n && i < FOUND_SHOWN; i++) {
		text_str(t, i > 0 ? ", " : "");
		if (id)
			text_str(t, near->first[i]);
		else
			put_quoted(t, slice_str(near->first[i]));
	}
	text_str(t, near->n > FOUND_SHOWN ? ", ..." : "");
}

/* Names the option for a label such as "Renderer (4711)": tables add the number to names that are not unique.
 */
static void put_number(struct text *t, const struct select_condition *c)
{
	const size_t end = c->glob.n > 0 ? c->glob.n - 1 : 0;
	size_t at = end;

	if ((c->kind != SELECT_PROCESS && c->kind != SELECT_THREAD) || end == 0 || c->glob.p[end] != ')')
		return;
	while (at > 0 && c->glob.p[at - 1] >= '0' && c->glob.p[at - 1] <= '9')
		at--;
	if (at < 2 || at == end || memcmp(c->glob.p + at - 2, " (", 2) != 0)
		return;
	text_printf(t, "; --%s %.*s selects by number", c->kind == SELECT_PROCESS ? "pid" : "tid",
	            (int)(end - at), c->glob.p + at);
}

/* Writes a time, in seconds if the clock has run for long: other units would hide the distance between
 * times. */
static void put_clock(struct text *t, uint64_t at, uint64_t zero)
{
	const uint64_t ns = at < zero ? zero - at : at - zero;

	text_str(t, at < zero ? "-" : "");
	if (ns >= 1000000000)
		text_printf(t, "%" PRIu64 ".%03u s", ns / 1000000000, (unsigned)(ns / 1000000 % 1000));
	else
		text_time(t, ns);
}

/* wall: the given times are wall times. */
static void put_span_of_time(struct text *t, const struct select_found *f, bool wall)
{
	uint64_t first, last;

	if (!wall || !f->epoch_known || !trace_wall(f->epoch, f->first, f->zero, &first) ||
	    !trace_wall(f->epoch, f->last, f->zero, &last)) {
		put_clock(t, f->first, f->zero);
		text_str(t, " to ");
		put_clock(t, f->last, f->zero);
		return;
	}
	text_wall(t, first);
	text_str(t, " to ");
	text_wall(t, last);
}

/* Notes an absolute time that was probably meant as a relative one. */
static void say_early(const struct options *o, const char *path, const struct select_found *f, struct text *t)
{
	const struct select_time *const since = &o->select.select.since;

	if (since->kind != SELECT_AT || since->v == 0 || since->text == NULL || f->events == 0 ||
	    f->zero + since->v >= f->first)
		return;
	t->n = 0;
	text_visible(t, slice_str(since->text), 0);
	text_str(t, " is before the trace (");
	put_span_of_time(t, f, false);
	text_str(t, "); +");
	text_visible(t, slice_str(since->text), 0);
	text_str(t, " counts from its start");
	say_of(path, "note: %.*s", (int)t->n, t->p);
}

/* Warns of each option that no event matched; returns the number of such options. */
static unsigned say_unmet(const struct options *o, const char *path, const struct select_found *f,
                          struct text *t)
{
	const struct select *const s = &o->select.select;
	unsigned n = 0;

	for (uint32_t k = 0; k < s->n && f->events > 0; k++) {
		if ((f->unmet >> k & 1) == 0)
			continue;
		t->n = 0;
		put_condition(t, &s->conditions[k], f->near[k]);
		put_near(t, &s->conditions[k], f->near[k]);
		put_number(t, &s->conditions[k]);
		say_of(path, "warning: %.*s", (int)t->n, t->p);
		n++;
	}
	return n;
}

static void say_empty(const struct options *o, const char *path, const struct select_found *f, struct text *t)
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
			put_span_of_time(t, f, s->since.kind == SELECT_WALL || s->until.kind == SELECT_WALL);
		}
	}
	say_of(path, "warning: %.*s", (int)t->n, t->p);
}

enum exit_status say_selected(const struct options *o, const char *path, const struct select_found *f,
                              const struct trace *trace)
{
	char space[MESSAGE_SPACE];

	if (f == NULL && trace != NULL && trace->events == 0 && o->select.fail_on_empty) {
		say_of(path, "warning: no event is selected: the trace has none");
		return STATUS_FINDINGS;
	}
	if (f == NULL || !f->complete)
		return STATUS_CLEAN;
	const uint64_t selected = f->events - f->left_out;
	struct text t = text_start(space, sizeof space);
	const unsigned unmet = say_unmet(o, path, f, &t);
	if (selected == 0 && unmet == 0)
		say_empty(o, path, f, &t);
	if (!o->quiet) {
		say_early(o, path, f, &t);
		if (f->left_out > 0)
			say_of(path, "%" PRIu64 " of %" PRIu64 " event%s selected", selected, f->events,
			       f->events == 1 ? "" : "s");
	}
	text_free(&t);
	return selected == 0 && o->select.fail_on_empty ? STATUS_FINDINGS : STATUS_CLEAN;
}

void say_crossing(const struct options *o, const char *path, const struct select_found *f)
{
	if (f == NULL || o->quiet || f->crossing == 0)
		return;
	say_of(path, "%" PRIu64 " span%s the time window and %s whole, as records are copied", f->crossing,
	       f->crossing == 1 ? " crosses an end of" : "s cross an end of",
	       f->crossing == 1 ? "is" : "are");
}

void say_no_field(const char *path, const char *what, struct slice field)
{
	char space[MESSAGE_SPACE];
	struct text t = text_start(space, sizeof space);

	text_visible(&t, field, 0);
	say_of(path, "warning: no %s \"%.*s\"", what, (int)t.n, t.p);
	text_free(&t);
}

/* ---- losses, and traces as a whole ---- */

static void say_loss(const char *path, const struct ledger_row *row)
{
	char first[64] = "";

	if (row->first_offset != LOSS_NOWHERE)
		snprintf(first, sizeof first, "; the first at input offset %" PRIu64, row->first_offset);
	say("%s: %s: %" PRIu64 "%s [%s]", path, row->loss->text, row->count, first, row->loss->id);
}

/* Reports all losses by the nature of the format on one line: "41208 instants, fields of 82589 events". */
static void say_lacks(const char *path, const struct ledger *l)
{
	char buffer[MESSAGE_SPACE];
	struct text t = text_start(buffer, sizeof buffer);

	for (size_t i = 0; i < l->n; i++) {
		const char *const lacks = l->rows[i].loss->lacks;
		if (lacks == NULL)
			continue;
		const size_t before = strcspn(lacks, "#");
		const bool inside = lacks[before] == '#';
		text_printf(&t, "%s%.*s%" PRIu64 "%s%s", t.n > 0 ? ", " : "", inside ? (int)before : 0, lacks,
		            l->rows[i].count, inside ? "" : " ", inside ? lacks + before + 1 : lacks);
	}
	if (t.n > 0)
		say("%s: not in it: %.*s (--losses FILE lists them)", path, (int)t.n, t.p);
	text_free(&t);
}

void say_losses(const char *path, const struct ledger *l, bool each)
{
	struct shown_path shown;

	show_path(&shown, path);
	if (!each)
		say_lacks(shown.s, l);
	for (size_t i = 0; i < l->n; i++)
		if (each || l->rows[i].loss->lacks == NULL)
			say_loss(shown.s, &l->rows[i]);
}

void say_samples(const struct options *o, const char *path, const struct trace *trace)
{
	struct shown_path shown;
	bool any = false;

	for (uint32_t i = 0; i < trace->nplanned; i++)
		any |= call_stack_of_class(trace->planned[i]);
	if (any && !o->quiet)
		say("%s: no spans, but samples of call stacks: tracetool report shows them",
		    show_path(&shown, path));
}

void say_moved(uint64_t n, const char *with)
{
	if (n > 0)
		say("note: %" PRIu64 " new group%s a name that differs only in line and column from one that "
		    "is gone: %s leaves these out",
		    n, n == 1 ? " has" : "s have", with);
}

bool say_gap(const struct options *o, const struct join *j, const char *then)
{
	const struct join_trace *before, *after;
	const uint64_t gap = join_gap(j, &before, &after);
	struct shown_path one, other;

	if (gap > 0 && !o->quiet)
		say("warning: %s ends %" PRIu64 " days before %s begins: %s", show_path(&one, before->path),
		    gap / DAY_NS, show_path(&other, after->path), then);
	return gap > 0;
}

void job_parts_add(struct job_parts *p, const struct trace *trace)
{
	p->have += trace->parts > 0;
	p->of = trace->parts > p->of ? trace->parts : p->of;
}

void say_parts(const struct job_parts *p)
{
	if (p->have < p->of)
		say("note: traces of %" PRIu32 " of the %" PRIu32 " ranks of the job: %" PRIu32 " %s missing",
		    p->have, p->of, p->of - p->have, p->of - p->have == 1 ? "is" : "are");
}

bool is_nothing_read(const struct source *s)
{
	const struct trace *const t = s->context->trace;
	const uint64_t errors = s->findings.levels[LEVEL_ERROR];

	if (!s->open || errors == 0)
		return false;
	/* events can lack records of their own (`further`); lines are records, whatever is in them */
	return (s->reader.records == 0 && t->further == 0) ||
	       (s->reader.records <= errors && t->events == 0 && t->ntracks == 0 && t->nclasses == 0);
}

void say_nothing_read(const char *shown, const char *path, const struct format *as, const char *what)
{
	const struct format *const content = format_of_content(path);
	struct shown_path buffer;

	show_path(&buffer, shown);
	if (content != NULL && content != as)
		say("%s: %s; its content looks like %s (leave out --from)", buffer.s, what, content->name);
	else
		say("%s: %s", buffer.s, what);
}

/* ---- progress ---- */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void progress_init(struct progress *p, const struct options *o)
{
	*p = (struct progress){ .wanted = !o->quiet && isatty(STDERR_FILENO) };
	p->started_ms = p->last_ms = now_ms();
}

void progress_put(struct text *t, uint64_t at, uint64_t size, uint64_t read, int64_t ms)
{
	const uint64_t mega = 1000000, rate = ms > 0 ? read / (uint64_t)ms * 1000 : 0; /* bytes per second */

	if (size > 0)
		text_printf(t, "%3u %% of %" PRIu64 " MB", (unsigned)(at < size ? at * 100 / size : 100),
		            size / mega);
	else
		text_printf(t, "%" PRIu64 " MB", at / mega);
	if (rate < mega)
		return;
	text_printf(t, ", %" PRIu64 " MB/s", rate / mega);
	if (at >= size)
		return;
	const uint64_t left = (size - at) / rate + 1;
	if (left < 60)
		text_printf(t, ", %u s left", (unsigned)left);
	else
		text_printf(t, ", %" PRIu64 " min %u s left", left / 60, (unsigned)(left % 60));
}

void progress_show(struct progress *p, const struct input *in)
{
	char buffer[128];
	struct text t = text_start(buffer, sizeof buffer);

	if (!p->wanted)
		return;
	const int64_t now = now_ms();
	const uint64_t at = input_offset(in, in->p);
	if (in != p->in || at < p->at) {
		p->in = in;
		p->begun_at = at;
		p->begun_ms = now;
	}
	p->at = at;
	if (now - p->started_ms < 1000 || now - p->last_ms < 200)
		return;
	p->last_ms = now;
	p->shown = true;
	text_char(&t, '\r');
	progress_put(&t, at, in->packing == INPUT_PLAIN ? input_file_size(in) : 0, at - p->begun_at,
	             now - p->begun_ms);
	text_str(&t, "\033[K");
	put_lines(t.p, t.n);
	text_free(&t);
}

void progress_clear(struct progress *p)
{
	if (!p->wanted) /* also if several traces are read in parallel */
		return;
	p->in = NULL;
	if (!p->shown)
		return;
	put_lines("\r\033[K", 4);
	p->shown = false;
}

void options_progress(void *options, const struct input *in)
{
	struct options *const o = options;

	progress_show(&o->progress, in);
}

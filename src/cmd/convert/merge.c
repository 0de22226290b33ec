/*
 * merge: converts several traces, each with an offset of its clock: by wall times, --align start, or a file
 * of offsets.  Inputs are read twice, the first time for their wall times, starts and tracks (run/join.h).
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "cli/say.h"
#include "cmd/convert/convert.h"
#include "format/registry.h"
#include "input/open.h"
#include "run/join.h"
#include "run/read/operands.h"

/* ---- file of offsets ---- */

#define MAX_ALIGN_FILE (16 << 20) /* bytes */

struct align_line {
	const char *path; /* path of the file */
	unsigned number;  /* from 1 */
	struct options *options;
	struct join *join;
	uint8_t *given; /* by part: the file gives its offset */
};

static bool mistake(const struct align_line *l, const char *what, struct slice s)
{
	struct shown_path shown_file, shown;
	char text[200];

	snprintf(text, sizeof text, "%.*s", (int)(s.n < 150 ? s.n : 150), s.p);
	say("%s:%u: %s %s", show_path(&shown_file, l->path), l->number, what, show_path(&shown, text));
	l->options->status = STATUS_USAGE;
	return false;
}

static bool parse_offset(struct slice s, int64_t *ns)
{
	const bool negative = s.n > 0 && s.p[0] == '-', sign = negative || (s.n > 0 && s.p[0] == '+');
	uint64_t v;

	if (!units_time(slice_of(s.p + sign, s.n - sign), &v) || v > INT64_MAX)
		return false;
	*ns = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Parses a line without its end. */
static bool parse_line(struct align_line *l, const char *p, size_t n)
{
	while (n > 0 && (is_blank(p[n - 1]) || p[n - 1] == '\r'))
		n--;
	for (; n > 0 && is_blank(*p); n--)
		p++;
	if (n == 0 || *p == '#')
		return true;
	size_t end = 0;
	while (end < n && !is_blank(p[end]))
		end++;
	size_t at = end;
	while (at < n && is_blank(p[at]))
		at++;
	const struct slice offset = slice_of(p, end), name = slice_of(p + at, n - at);
	int64_t ns;
	if (!parse_offset(offset, &ns))
		return mistake(l, "there must be an offset such as 12.5ms, not", offset);
	for (size_t i = 0; i < l->join->n; i++)
		if (slice_equal(slice_str(l->join->traces[i].path), name)) {
			l->join->traces[i].offset_ns = ns;
			l->given[i] = 1;
			return true;
		}
	return mistake(l, "none of the inputs is named", name);
}

static bool parse_lines(struct align_line *l, const char *p, const char *end)
{
	bool ok = true;

	while (ok && p < end) {
		const char *const nl = memchr(p, '\n', (size_t)(end - p));
		const size_t n = (size_t)((nl != NULL ? nl : end) - p);
		l->number++;
		ok = parse_line(l, p, n);
		p += n + (nl != NULL);
	}
	return ok;
}

static bool read_file(struct align_line *l, struct input_whole *w)
{
	if (input_read_whole(w, l->path, MAX_ALIGN_FILE))
		return true;
	if (w->no_memory)
		options_no_memory(l->options);
	else if (w->too_large)
		say_of(l->path, "is larger than %d MiB", MAX_ALIGN_FILE >> 20);
	else
		say_of(l->path, "cannot read it: %s", w->why);
	l->options->status = STATUS_UNREADABLE;
	return false;
}

/* Reads a file of offsets.  A line has an offset ("12.5ms", "-3 s"), blanks, and an input as on the command
 * line; "#" begins a comment.  Returns false after a message, with o->status set. */
static bool align_file(const char *path, struct join *j, struct options *o)
{
	struct align_line l = { .path = path, .options = o, .join = j, .given = calloc(j->n, 1) };
	struct input_whole w = { .p = NULL };

	if (l.given == NULL)
		options_no_memory(o);
	bool ok = l.given != NULL && read_file(&l, &w) && parse_lines(&l, w.p, w.p + w.n);
	for (size_t i = 0; ok && i < j->n; i++)
		if (!l.given[i]) {
			struct shown_path input;
			say_of(path, "no offset of %s", show_path(&input, j->traces[i].path));
			o->status = STATUS_USAGE;
			ok = false;
		}
	free(w.p);
	free(l.given);
	return ok;
}

/* ---- options ---- */

struct merge {
	struct convert convert; /* first */
	struct trace_groups traces;
	struct join join;
	const char *align; /* NULL: by the wall times */
};

static const struct cmd_option own[] = {
	CONVERT_ROWS,
	{ "align", "start|none|FILE",
	  "how to align clocks (default: by wall time, which all traces must have)", 0,
	  TO_TEXT(struct merge, align) },
	{ .name = NULL },
};

/* convert has its output as the last operand, merge does not. */
static bool refuse_no_output(struct convert *c)
{
	const char *const last = c->nin > 1 ? c->in[c->nin - 1] : NULL;
	struct shown_path shown;

	if (last != NULL && format_by_suffix(last) != NULL && access(last, F_OK) != 0)
		return options_mistake(&c->options, "name the output with -o (is it -o %s?)",
		                       show_path(&shown, last));
	return options_mistake(&c->options, "name the output with -o");
}

static bool parse(struct merge *m)
{
	struct convert *const c = &m->convert;
	struct options *const o = &c->options;

	if (!options_parse(o, m))
		return false;
	c->out = o->output;
	c->in = o->in;
	c->nin = o->nin;
	if (c->out == NULL)
		return refuse_no_output(c);
	if (c->nin == 0)
		return options_mistake(o, "name the inputs");
	if (m->align != NULL && strcmp(m->align, "start") != 0 && strcmp(m->align, "none") != 0)
		c->offsets = m->align;
	return convert_check_names(c);
}

/* ---- clocks ---- */

static bool all_know_epoch(struct merge *m)
{
	struct shown_path shown;

	for (size_t i = 0; i < m->join.n; i++)
		if (!m->join.traces[i].epoch_known && m->join.traces[i].any)
			return options_mistake(&m->convert.options,
			                       "%s does not say at which wall time it began: --align start "
			                       "has all traces begin at 0, --align none leaves their times",
			                       show_path(&shown, m->join.traces[i].path));
	return true;
}

/* Returns false after a message, with the status set. */
static bool align(struct merge *m)
{
	struct options *const o = &m->convert.options;
	bool fits = true;

	if (m->align == NULL) {
		if (!all_know_epoch(m))
			return false;
		fits = join_by_epoch(&m->join);
	} else if (strcmp(m->align, "start") == 0) {
		fits = join_by_start(&m->join);
	} else if (m->convert.offsets != NULL && !align_file(m->align, &m->join, o)) {
		return false;
	}
	join_allow_negative(&m->join);
	const char *const mistake = fits ? join_window(&m->join, &o->select.select) : NULL;
	if (mistake != NULL)
		return options_mistake(o, "%s", mistake);
	if (fits && m->convert.offsets == NULL)
		(void)say_gap(&m->convert.options, &m->join,
		              "are their clocks the same? (--align start has all traces begin at 0)");
	if (fits && m->convert.rebase)
		fits = join_rebase(&m->join);
	if (!fits) {
		say("the times of the inputs are more than 292 years apart");
		o->status = STATUS_UNREADABLE;
	}
	return fits;
}

/* Copies pipes, as inputs are read twice.  Returns false after a message, with the status set. */
static bool spool(struct merge *m)
{
	const struct convert *const c = &m->convert;
	char why[512];

	for (size_t i = 0; i < c->nin; i++)
		if (!input_spool(c->in[i], convert_output_target(&c->output), why, sizeof why)) {
			say("%s", why);
			m->convert.options.status = STATUS_UNREADABLE;
			return false;
		}
	return true;
}

static enum exit_status run(struct merge *m)
{
	struct options *const o = &m->convert.options;

	if (!convert_open(&m->convert))
		return STATUS_UNREADABLE;
	const struct pipeline_job job = convert_job(&m->convert);
	if (!spool(m) || !options_traces(o, &m->traces))
		return o->status;
	if (m->traces.n > JOIN_MAX_TRACES) {
		say_of(m->convert.out,
		       "not written: the inputs are %" PRIu32 " traces; merge takes at most %u", m->traces.n,
		       JOIN_MAX_TRACES);
		return STATUS_UNREADABLE;
	}
	if (!join_init(&m->join, &m->traces) && !options_no_memory(o))
		return o->status;
	progress_init(&o->progress, o);
	const bool looked = join_look(&m->join, &job, options_threads(m->convert.threads));
	progress_clear(&o->progress);
	if (!looked) {
		struct shown_path in;
		say_of(m->convert.out, "not written: %s: %s", show_path(&in, m->join.failed_path),
		       pipeline_why_text(&m->join.why));
		return STATUS_UNREADABLE;
	}
	if (!align(m) || (m->join.failed && !options_no_memory(o)))
		return o->status;
	if (!o->quiet && m->join.n > 1)
		say_parts(&(struct job_parts){ m->join.nparts, m->join.max_parts });
	m->convert.join = &m->join;
	return convert_run(&m->convert);
}

static enum exit_status cmd_merge(const struct command *cmd, int argc, char **argv)
{
	struct merge m = { .align = NULL };

	options_init(&m.convert.options, cmd, argc, argv);
	const bool parsed = parse(&m);
	const enum exit_status status = parsed ? run(&m) : m.convert.options.status;
	if (parsed)
		say_found(&m.convert.options);
	convert_close(&m.convert);
	join_free(&m.join);
	trace_groups_free(&m.traces);
	options_free(&m.convert.options);
	return status;
}

const struct command merge_command = {
	.name = "merge",
	.operands = "[options] -o OUT IN ...",
	.summary = "Writes several traces, also of different formats, as one, with their clocks aligned.",
	.options = own,
	.words = convert_words,
	.reads = true,
	.writes = true,
	.selects = true,
	.converts = true,
	.run = cmd_merge,
};

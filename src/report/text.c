/* Findings as text: one a line, `FILE:@OFFSET: LEVEL: MESSAGE [RULE]`, with colours on a terminal, and a
 * summary of each input. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/parts.h"

static const char *const level_colors[LEVEL_COUNT] = {
	[LEVEL_NOTE] = "\033[36m",
	[LEVEL_WARNING] = "\033[35m",
	[LEVEL_LIMIT] = "\033[33m",
	[LEVEL_ERROR] = "\033[31m",
};

static void put_path(struct text *t, const char *path)
{
	text_visible(t, slice_str(path), 0);
}

bool report_text_is_system(const struct finding *f)
{
	const struct rule *const r = f->rule;

	return f->offset == 0 &&
	       (r == &input_rules[INPUT_RULE_MISSING] || r == &input_rules[INPUT_RULE_DENIED] ||
	        r == &input_rules[INPUT_RULE_SYSTEM] || r == &input_rules[INPUT_RULE_NO_MEMORY]);
}

/* Whether the finding is that a policy, a vocabulary or a map cannot be read: it has no place in the file. */
static bool is_unreadable(const struct finding *f)
{
	return strstr(f->rule->id, "unreadable") != NULL;
}

void report_text_finding(struct text *t, const char *path, const struct finding *f, bool color)
{
	const bool missing = strcmp(f->message, strerror(ENOENT)) == 0;

	put_path(t, path);
	if (report_text_is_system(f)) {
		text_printf(t, ": %s\n", missing ? "no such file" : f->message);
		return;
	}
	if (f->line > 0)
		text_printf(t, ":%" PRIu64, f->line);
	if (f->line > 0 && f->column > 0)
		text_printf(t, ":%" PRIu64, f->column);
	if (is_unreadable(f))
		text_str(t, ": ");
	else
		text_printf(t, ":@%" PRIu64 ": ", f->offset);
	text_printf(t, "%s%s%s: ", color ? level_colors[f->level] : "", level_name(f->level),
	            color ? "\033[0m" : "");
	text_str(t, is_unreadable(f) && missing ? "no such file" : f->message);
	text_printf(t, " [%s]\n", f->rule->id);
}

/* Writes the number of findings of a rule that are not shown. */
static void put_rule_rest(struct text *t, const char *path, const struct rule *rule, uint64_t more)
{
	put_path(t, path);
	text_printf(t, ": %" PRIu64 " more of [%s] %s not shown\n", more, rule->id, more == 1 ? "is" : "are");
}

void report_text_rest(struct text *t, const struct findings *j, const struct policy *policy, enum level min)
{
	for (size_t i = 0; i < j->ncounts; i++) {
		const struct rule_count *const c = &j->counts[i];
		const struct verdict v = policy_decide(policy, c->rule);
		if (c->count > FINDINGS_SHOWN && v.level >= min && !v.left_out)
			put_rule_rest(t, j->path, c->rule, c->count - FINDINGS_SHOWN);
	}
}

static void put_count(struct text *t, uint64_t n, const char *what)
{
	if (n > 0)
		text_count(t, ", ", n, what);
}

/* The summary of a file, or of all streams of a trace. */
struct summary {
	char *trace;         /* path of the trace whose streams are added; NULL: none */
	char own_format[32]; /* copy of the format's name, as the record is freed earlier */
	const char *path, *format, *dialect;
	bool valid, whole;
	uint64_t streams, records, levels[LEVEL_COUNT], left_out, unread_bytes;
};

struct text_state {
	struct summary of;      /* the trace whose streams are added */
	uint64_t traces, valid; /* number of traces so far, and of valid ones */
};

static void add_file(struct summary *s, const struct report_file *file)
{
	s->valid &= file->valid;
	s->records += file->record->records;
	s->left_out += file->left_out;
	s->unread_bytes += file->record->unread_bytes;
	for (int level = 0; level < LEVEL_COUNT; level++)
		s->levels[level] += file->levels[level];
}

/* Writes whether the trace is valid, and the number of records. */
static void put_summary(struct text *t, const struct summary *s)
{
	put_path(t, s->path);
	text_str(t, s->valid ? ": valid" : ": not valid");
	if (s->valid && s->levels[LEVEL_LIMIT] > 0)
		text_str(t, s->format != NULL ? " as far as it was read:" : " as far as it was read");
	if (s->format != NULL)
		text_printf(t, " %s%s%s%s", s->format, s->dialect[0] != '\0' ? " (" : "", s->dialect,
		            s->dialect[0] != '\0' ? ")" : "");
	put_count(t, s->streams, "stream");
	if (s->format != NULL && s->whole)
		text_str(t, " as a whole");
	else if (s->format != NULL)
		text_count(t, ", ", s->records, "record");
	for (int level = LEVEL_COUNT - 1; level >= 0; level--)
		put_count(t, s->levels[level], level_name((enum level)level));
	if (s->left_out > 0)
		text_printf(t, ", %" PRIu64 " left out", s->left_out);
	if (s->unread_bytes > 0)
		text_printf(t, ", %" PRIu64 " bytes not read", s->unread_bytes);
	text_char(t, '\n');
}

/* Escapes commands in the text after `from` if GitHub Actions reads it. */
static void guard(struct report *r, size_t from)
{
	struct text safe = { .p = NULL };

	if (!r->context->in_actions || r->out.failed)
		return;
	report_put_guarded(&safe, r->out.p + from, r->out.n - from);
	r->out.n = from;
	text_add(&r->out, safe.p, safe.n);
	r->out.failed |= safe.failed;
	text_free(&safe);
}

/* Counts a trace.  A folder with warnings alone has no format, and is none. */
static void count_trace(struct text_state *all, const struct summary *s)
{
	all->traces += s->format != NULL || !s->valid;
	all->valid += s->format != NULL && s->valid;
}

/* Writes the summary of a trace after its last stream. */
static void end_trace(struct report *r)
{
	struct text_state *const all = r->state;
	struct summary *const s = &all->of;
	const size_t from = r->out.n;

	if (s->trace == NULL)
		return;
	s->path = s->trace;
	put_summary(&r->out, s);
	count_trace(all, s);
	guard(r, from);
	free(s->trace);
	*s = (struct summary){ .trace = NULL };
}

static bool is_of_trace(const struct text_state *all, const struct report_file *file)
{
	const struct summary *const s = &all->of;

	return s->trace != NULL && file->record->trace != NULL && strcmp(s->trace, file->record->trace) == 0;
}

/* Adds a stream of the trace, or the findings about the trace as a whole. */
static void add_stream(struct report *r, const struct report_file *file)
{
	struct summary *const s = &((struct text_state *)r->state)->of;

	if (s->trace == NULL) {
		*s = (struct summary){ .trace = strdup(file->record->trace), .dialect = "", .valid = true };
		r->failed |= s->trace == NULL;
	}
	if (file->record->format != NULL) {
		snprintf(s->own_format, sizeof s->own_format, "%s", file->record->format);
		s->format = s->own_format;
	}
	s->streams += !file->record->whole && !file->record->is_sidecar;
	add_file(s, file);
}

static void finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	if (!is_of_trace(r->state, file))
		end_trace(r);
	const size_t from = r->out.n;

	if (r->context->quiet && f->level < LEVEL_ERROR)
		return;
	report_text_finding(&r->out, file->record->path, f, r->color);
	guard(r, from);
}

static void put_rest(struct report *r, const struct report_file *file)
{
	for (size_t i = 0; i < file->record->ncounts; i++) {
		const struct report_rule *const k = &file->rules[i];
		if (!k->verdict.left_out && k->count > k->listed)
			put_rule_rest(&r->out, file->record->path, k->rule, k->count - k->listed);
	}
}

static void file_end(struct report *r, const struct report_file *file)
{
	const struct file_record *const k = file->record;
	struct summary s = {
		.path = k->path, .format = k->format, .dialect = k->dialect, .valid = true, .whole = k->whole
	};

	if (r->context->quiet)
		return;
	if (!is_of_trace(r->state, file))
		end_trace(r);
	const size_t from = r->out.n;
	put_rest(r, file);
	if (k->trace != NULL)
		add_stream(r, file);
	else {
		add_file(&s, file);
		count_trace(r->state, &s);
		if (k->format != NULL || k->nfindings == 0 || !report_text_is_system(k->findings))
			put_summary(&r->out, &s);
	}
	guard(r, from);
}

static void text_end(struct report *r, const struct report_totals *totals)
{
	const struct text_state *const all = r->state;
	struct text *const t = &r->out;

	end_trace(r);
	if (r->context->quiet || all->traces < 2)
		return;
	text_printf(t, "%" PRIu64 " traces: ", all->traces);
	if (all->valid == all->traces)
		text_str(t, "all valid");
	else
		text_printf(t, "%" PRIu64 " not valid", all->traces - all->valid);
	for (int level = LEVEL_COUNT - 1; level >= 0; level--)
		put_count(t, totals->levels[level], level_name((enum level)level));
	put_count(t, totals->unreadable, "unreadable file");
	text_char(t, '\n');
}

static void text_free_state(struct report *r)
{
	free(((struct text_state *)r->state)->of.trace);
}

const struct report_ops report_text = {
	.name = "text",
	.state_size = sizeof(struct text_state),
	.end = text_end,
	.free = text_free_state,
	.finding = finding,
	.file = file_end,
};

/* ---- gcc: FILE:LINE:COLUMN: LEVEL: MESSAGE [RULE], a form that editors recognise ---- */

static void gcc_finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct text *const t = &r->out;
	const size_t from = t->n;

	if (r->context->quiet && f->level < LEVEL_ERROR)
		return;
	put_path(t, file->record->path);
	text_printf(t, ":%" PRIu64 ":%" PRIu64 ": %s: ", report_line(f), report_column(f),
	            level_name(report_known_level(f->level)));
	if (f->line == 0)
		text_printf(t, "@%" PRIu64 ": ", f->offset);
	text_str(t, f->message);
	text_printf(t, " [%s]\n", f->rule->id);
	guard(r, from);
}

static void gcc_file(struct report *r, const struct report_file *file)
{
	const size_t from = r->out.n;

	if (!r->context->quiet)
		put_rest(r, file);
	guard(r, from);
}

const struct report_ops report_gcc = {
	.name = "gcc",
	.finding = gcc_finding,
	.file = gcc_file,
};

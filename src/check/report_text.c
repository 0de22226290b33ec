#include <inttypes.h>

#include "check/report_parts.h"

static const char *const level_colors[LEVEL_COUNT] = {
	[LEVEL_NOTE] = "\033[36m",
	[LEVEL_WARNING] = "\033[35m",
	[LEVEL_ERROR] = "\033[31m",
};

static void
put_path(struct text *t, const char *path)
{
	text_visible(t, slice_str(path), 0);
}

void
report_text_finding(struct text *t, const char *path, const struct finding *f, bool color)
{
	put_path(t, path);
	if (f->line > 0)
		text_printf(t, ":%" PRIu64, f->line);
	if (f->line > 0 && f->column > 0)
		text_printf(t, ":%" PRIu64, f->column);
	text_printf(t, ":@%" PRIu64 ": ", f->offset);
	text_printf(t, "%s%s%s: ", color ? level_colors[f->level] : "", level_name(f->level),
	            color ? "\033[0m" : "");
	text_str(t, f->message);
	text_printf(t, " [%s]\n", f->rule->id);
}

void
report_text_more(struct text *t, const char *path, const struct rule *rule, uint64_t more)
{
	put_path(t, path);
	text_printf(t, ": %" PRIu64 " more of [%s] are not shown\n", more, rule->id);
}

void
report_text_rest(struct text *t, const struct findings *j)
{
	for (size_t i = 0; i < j->ncounts; i++)
		if (j->counts[i].count > FINDINGS_SHOWN)
			report_text_more(t, j->path, j->counts[i].rule, j->counts[i].count - FINDINGS_SHOWN);
}

static void
put_count(struct text *t, uint64_t n, const char *what)
{
	if (n > 0)
		text_printf(t, ", %" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* One closing line: valid or not, what was read. */
static void
put_summary(struct text *t, const struct report_file *file)
{
	const struct file_record *const r = file->record;

	put_path(t, r->path);
	text_str(t, file->valid ? ": valid" : ": not valid");
	if (r->format != NULL)
		text_printf(t, " %s%s%s%s", r->format, r->dialect[0] != '\0' ? " (" : "", r->dialect,
		            r->dialect[0] != '\0' ? ")" : "");
	if (r->format != NULL && r->whole)
		text_str(t, " as a whole");
	else if (r->format != NULL)
		text_printf(t, ", %" PRIu64 " record%s", r->records, r->records == 1 ? "" : "s");
	for (int level = LEVEL_COUNT - 1; level >= 0; level--)
		put_count(t, file->levels[level], level_name((enum level)level));
	if (file->left_out > 0)
		text_printf(t, ", %" PRIu64 " left out", file->left_out);
	if (r->unread_bytes > 0)
		text_printf(t, ", %" PRIu64 " bytes not read", r->unread_bytes);
	text_char(t, '\n');
}

/* Takes what was put behind `from`, and puts it back in a form that is no command. */
static void
guard(struct report *r, size_t from)
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

static void
finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	const size_t from = r->out.n;

	if (r->context->quiet && f->level < LEVEL_ERROR)
		return;
	report_text_finding(&r->out, file->record->path, f, r->color);
	guard(r, from);
}

static void
put_more(struct report *r, const struct report_file *file)
{
	for (size_t i = 0; i < file->nrules; i++)
		if (file->rules[i].count > file->rules[i].listed)
			report_text_more(&r->out, file->record->path, file->rules[i].rule,
			                 file->rules[i].count - file->rules[i].listed);
}

static void
file_end(struct report *r, const struct report_file *file)
{
	const size_t from = r->out.n;

	if (r->context->quiet)
		return;
	put_more(r, file);
	put_summary(&r->out, file);
	guard(r, from);
}

const struct report_ops report_text = {
	.name = "text",
	.finding = finding,
	.file = file_end,
};

/* ---- gcc: FILE:LINE:COLUMN: LEVEL: MESSAGE [RULE], which editors know ---- */

static void
gcc_finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct text *const t = &r->out;
	const size_t from = t->n;

	if (r->context->quiet && f->level < LEVEL_ERROR)
		return;
	put_path(t, file->record->path);
	text_printf(t, ":%" PRIu64 ":%" PRIu64 ": %s: ", f->line > 0 ? f->line : 1,
	            f->line > 0 && f->column > 0 ? f->column : 1, level_name(f->level));
	if (f->line == 0)
		text_printf(t, "@%" PRIu64 ": ", f->offset);
	text_str(t, f->message);
	text_printf(t, " [%s]\n", f->rule->id);
	guard(r, from);
}

static void
gcc_file(struct report *r, const struct report_file *file)
{
	const size_t from = r->out.n;

	if (!r->context->quiet)
		put_more(r, file);
	guard(r, from);
}

const struct report_ops report_gcc = {
	.name = "gcc",
	.finding = gcc_finding,
	.file = gcc_file,
};

/* Reports for GitHub: workflow commands, which become annotations, and Markdown, the summary of a job. */
#include <inttypes.h>

#include "output/text_visible.h"
#include "report/parts.h"

/* ---- workflow commands ---- */

/* The log as text, then annotations for the worst findings. */

#define MAX_OF_LEVEL 10 /* annotations of a level that GitHub shows for a step */

struct github_state {
	struct report text; /* the log */
	struct text commands[LEVEL_COUNT];
	uint64_t n[LEVEL_COUNT];
};

/* Writes a value of a command.  property: the value is before the second "::". */
static void put_value(struct text *t, const char *s, bool property)
{
	const char *const end = s + strlen(s);

	for (; *s != '\0'; s++) {
		if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
			text_printf(t, "%%%02X", (unsigned)(unsigned char)*s);
		else if (text_is_command(s, end))
			text_str(t, "#\\x23"), s++;
		else if (strncmp(s, "::", 2) == 0)
			text_str(t, ":\\x3a"), s++;
		else
			text_char(t, *s);
	}
}

static void put_command(struct report *r, struct text *t, const struct report_file *file,
                        const struct finding *f)
{
	static const char *const commands[LEVEL_COUNT] = { "notice", "warning", "warning", "error" };
	struct text raw = { .p = NULL }, path = { .p = NULL };

	report_put_path(&raw, r->context, file->record->path);
	text_visible_message(&path, slice_of(raw.p, raw.n));
	text_char(&path, '\0');
	text_printf(t, "::%s file=", commands[f->level]);
	if (!path.failed)
		put_value(t, path.p, true);
	text_printf(t, ",line=%" PRIu64, report_line(f));
	if (f->line > 0 && f->column > 0)
		text_printf(t, ",col=%" PRIu64, f->column);
	text_str(t, ",title=");
	put_value(t, f->rule->id, true);
	text_printf(t, "::@%" PRIu64 ": ", f->offset);
	put_value(t, f->message, false);
	text_printf(t, " [%s]\n", f->rule->id);
	r->failed |= raw.failed || path.failed || t->failed;
	text_free(&raw);
	text_free(&path);
}

static void github_begin(struct report *r)
{
	struct github_state *const s = r->state;

	r->failed |= !report_init(&s->text, &report_text, r->context);
}

static void github_finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct github_state *const s = r->state;
	const enum level shown = report_known_level(f->level);

	if (s->n[shown]++ < MAX_OF_LEVEL)
		put_command(r, &s->commands[shown], file, f);
}

static void github_file(struct report *r, const struct report_file *file)
{
	struct github_state *const s = r->state;

	if (s->text.state == NULL) /* OOM */
		return;
	report_file(&s->text, file);
	r->failed |= s->text.failed || s->text.out.failed;
	text_add_guarded(&r->out, s->text.out.p, s->text.out.n, 0);
	text_clear(&s->text.out);
}

static void github_end(struct report *r, const struct report_totals *totals)
{
	struct github_state *const s = r->state;
	uint64_t more = 0;

	for (int level = LEVEL_COUNT - 1; level >= 0; level--) {
		if (s->commands[level].n > 0)
			text_add(&r->out, s->commands[level].p, s->commands[level].n);
		more += s->n[level] > MAX_OF_LEVEL ? s->n[level] - MAX_OF_LEVEL : 0;
	}
	if (more > 0)
		text_printf(&r->out, "%" PRIu64 " more findings are in the log, without an annotation\n",
		            more);
	report_put_sum(&r->out, totals);
	text_char(&r->out, '\n');
}

static void github_free(struct report *r)
{
	struct github_state *const s = r->state;

	if (s->text.ops != NULL)
		report_free(&s->text);
	for (int level = 0; level < LEVEL_COUNT; level++)
		text_free(&s->commands[level]);
}

const struct report_ops report_github = {
	.name = "github",
	.state_size = sizeof(struct github_state),
	.begin = github_begin,
	.finding = github_finding,
	.file = github_file,
	.end = github_end,
	.free = github_free,
};

/* ---- Markdown ---- */

/*
 * Markdown, as the summary of a CI job: counts, a table of the worst findings, and all others folded.  GitHub
 * accepts 1 MiB for all summaries of a step.
 */
#define MARKDOWN_HEAD "### tracetool "
#define MAX_OPEN 20                   /* findings outside of a fold */
#define MAX_BYTES ((size_t)192 << 10) /* size of the rows of one level */

struct markdown_state {
	struct text rows[LEVEL_COUNT]; /* a row has one newline, at its end */
};

static void markdown_finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct markdown_state *const s = r->state;
	struct text *const t = &s->rows[f->level];

	if (t->n >= MAX_BYTES) {
		r->dropped++;
		return;
	}
	text_printf(t, "| %s | ", level_name(f->level));
	report_put_visible(t, file->record->path, text_markdown);
	if (f->line > 0)
		text_printf(t, " | line %" PRIu64 ", byte %" PRIu64 " | ", f->line, f->offset);
	else
		text_printf(t, " | byte %" PRIu64 " | ", f->offset);
	report_put_visible(t, f->message, text_markdown);
	text_printf(t, " | %s |\n", f->rule->id);
	r->failed |= t->failed;
}

static void put_rows(struct report *r)
{
	struct markdown_state *const s = r->state;
	size_t n = 0;

	for (int level = LEVEL_COUNT - 1; level >= 0; level--)
		for (const char *p = s->rows[level].p, *const end = p + s->rows[level].n; p != end; n++) {
			const size_t size =
			    (size_t)((const char *)memchr(p, '\n', (size_t)(end - p)) - p) + 1;
			if (n == MAX_OPEN)
				text_str(&r->out, "\n<details><summary>all others</summary>\n");
			if (n == 0 || n == MAX_OPEN)
				text_str(&r->out, "\n| level | file | place | finding | rule |\n"
				                  "|---|---|---|---|---|\n");
			text_add(&r->out, p, size);
			p += size;
		}
	if (n > MAX_OPEN)
		text_str(&r->out, "\n</details>\n");
}

static void markdown_end(struct report *r, const struct report_totals *totals)
{
	text_printf(&r->out, MARKDOWN_HEAD "%s\n\n", r->context->command);
	report_put_sum(&r->out, totals);
	if (r->dropped > 0)
		text_printf(&r->out, "; %" PRIu64 " do not fit in this summary", r->dropped);
	text_char(&r->out, '\n');
	if (!r->failed) /* else a row may be incomplete */
		put_rows(r);
	text_char(&r->out, '\n');
}

static void markdown_free(struct report *r)
{
	struct markdown_state *const s = r->state;

	for (int level = 0; level < LEVEL_COUNT; level++)
		text_free(&s->rows[level]);
}

const struct report_ops report_markdown = {
	.name = "markdown",
	.head = MARKDOWN_HEAD,
	.state_size = sizeof(struct markdown_state),
	.finding = markdown_finding,
	.end = markdown_end,
	.free = markdown_free,
};

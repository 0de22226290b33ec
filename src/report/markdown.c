#include <inttypes.h>

#include "report/parts.h"

/*
 * Markdown, as the summary of a CI job: counts, a table of the worst findings,
 * the others folded.  GitHub takes 1 MiB of all summaries of a step.
 */
#define MARKDOWN_HEAD "### tracetool validate\n\n"
#define MAX_OPEN 20                   /* findings outside of a fold */
#define MAX_BYTES ((size_t)192 << 10) /* of the rows of one level */

struct markdown_state {
	struct text rows[LEVEL_COUNT]; /* each ends with a newline and has no other */
};

static void put_visible(struct text *t, const char *s)
{
	struct text visible = { .p = NULL };

	text_visible_message(&visible, slice_str(s));
	text_markdown(t, slice_of(visible.p, visible.n));
	t->failed |= visible.failed;
	text_free(&visible);
}

static void finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct markdown_state *const s = r->state;
	struct text *const t = &s->rows[f->level];

	if (t->n >= MAX_BYTES) {
		r->dropped++;
		return;
	}
	text_printf(t, "| %s | ", level_name(f->level));
	put_visible(t, file->record->path);
	if (f->line > 0)
		text_printf(t, " | line %" PRIu64 ", byte %" PRIu64 " | ", f->line, f->offset);
	else
		text_printf(t, " | byte %" PRIu64 " | ", f->offset);
	put_visible(t, f->message);
	text_printf(t, " | %s |\n", f->rule->id);
	r->failed |= t->failed;
}

static void put_table_head(struct text *t)
{
	text_str(t, "\n| level | file | place | finding | rule |\n|---|---|---|---|---|\n");
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
				put_table_head(&r->out);
			text_add(&r->out, p, size);
			p += size;
		}
	if (n > MAX_OPEN)
		text_str(&r->out, "\n</details>\n");
}

static void end(struct report *r, const struct report_totals *totals)
{
	text_str(&r->out, MARKDOWN_HEAD);
	report_put_sum(&r->out, totals);
	if (r->dropped > 0)
		text_printf(&r->out, "; %" PRIu64 " do not fit in this summary", r->dropped);
	text_char(&r->out, '\n');
	if (!r->failed) /* a row may lack its end */
		put_rows(r);
	text_char(&r->out, '\n');
}

static void free_state(struct report *r)
{
	struct markdown_state *const s = r->state;

	for (int level = 0; level < LEVEL_COUNT; level++)
		text_free(&s->rows[level]);
}

const struct report_ops report_markdown = {
	.name = "markdown",
	.head = MARKDOWN_HEAD,
	.state_size = sizeof(struct markdown_state),
	.finding = finding,
	.end = end,
	.free = free_state,
};

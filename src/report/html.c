/*
 * A report as one HTML file that contains style, script and data.  Its Content-Security-Policy forbids to run
 * or load anything else.  Text of the trace is visible text with markup escaped; the data is JSON in an
 * element that no browser executes, with <, > and & escaped.  The parts are written in order, without a
 * template, as a name could be taken for a placeholder.
 */
#include "report/parts.h"

#include <inttypes.h>
#include <stdlib.h>

#define HTML_HEAD "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
#define MAX_BYTES ((size_t)256 << 10) /* size of the rows of one level, and of the rows of files */
#define MAX_RULES 200                 /* explained rules */
#define OPEN_ROWS 24 /* longer tables are collapsed, as what readers want stands below them */

struct html_state {
	struct text rows[LEVEL_COUNT], files;
	struct report_rules rules;
	uint64_t nfiles, unlisted; /* files; those without a row */
};

void report_page_free(struct report_page *p)
{
	text_free(&p->facts);
	text_free(&p->sections);
	text_free(&p->data);
	*p = (struct report_page){ .title = NULL };
}

static void put_visible(struct text *t, const char *s)
{
	report_put_visible(t, s, text_html);
}

static void put_path(struct text *t, const struct report *r, const char *path)
{
	struct text name = { .p = NULL };

	report_put_path(&name, r->context, path);
	text_char(&name, '\0');
	/* report_put_path() drops the first slash for CI services; readers need it to find the file */
	const bool absolute = !name.failed && path[0] == '/' && strcmp(path + 1, name.p) == 0;
	put_visible(t, name.failed ? "" : absolute ? path : name.p);
	t->failed |= name.failed;
	text_free(&name);
}

static void finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct html_state *const s = r->state;
	struct text *const t = &s->rows[f->level];

	r->failed |= report_rules_index(&s->rules, f->rule) == UINT32_MAX;
	if (t->n >= MAX_BYTES) {
		r->dropped++;
		return;
	}
	text_printf(t, "<tr class=\"%s\"><td>%s</td><td>", level_name(f->level), level_name(f->level));
	put_path(t, r, file->record->path);
	if (f->line > 0)
		text_printf(t, "</td><td class=\"w\">line %" PRIu64 ", byte %" PRIu64 "</td><td>", f->line,
		            f->offset);
	else
		text_printf(t, "</td><td class=\"w\">byte %" PRIu64 "</td><td>", f->offset);
	put_visible(t, f->message);
	text_str(t, "</td><td class=\"w\">");
	put_visible(t, f->rule->id);
	text_str(t, "</td></tr>\n");
	r->failed |= t->failed;
}

static void file(struct report *r, const struct report_file *file)
{
	struct html_state *const s = r->state;
	const struct file_record *const k = file->record;

	s->nfiles++;
	if (s->files.n >= MAX_BYTES) {
		s->unlisted++;
		return;
	}
	text_str(&s->files, "<tr><td>");
	put_path(&s->files, r, k->path);
	text_str(&s->files, "</td><td>");
	put_visible(&s->files, k->format != NULL ? k->format : "not recognised");
	text_printf(&s->files, "</td><td class=\"n\">%" PRIu64 "</td><td>%s</td></tr>\n", k->records,
	            k->unreadable ? "not readable"
	            : file->valid ? "valid"
	                          : "not valid");
	r->failed |= s->files.failed;
}

/* ---- the document ---- */

static void put_title(struct report *r)
{
	const struct report_page *const page = r->context->page;

	if (page != NULL && page->title != NULL)
		put_visible(&r->out, page->title);
	else
		text_printf(&r->out, "tracetool %s", r->context->command);
}

static void put_head(struct report *r)
{
	struct text *const t = &r->out;

	text_str(t, HTML_HEAD "<meta name=\"generator\" content=\"");
	put_visible(t, r->context->tool);
	text_printf(t,
	            "\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	            "script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'; "
	            "require-trusted-types-for 'script'; trusted-types 'none'\">\n"
	            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	            "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	            page_asset_page_js.hash, page_asset_page_css.hash);
	put_title(r);
	text_str(t, "</title>\n<style>");
	text_add(t, page_asset_page_css.text, page_asset_page_css.n);
	text_str(t, "</style>\n</head>\n<body>\n<header>\n<h1>");
	put_title(r);
	text_str(t, "</h1>\n<p>Made by ");
	put_visible(t, r->context->tool);
	text_str(t, ".</p>\n</header>\n<main>\n");
}

static void put_explanations(struct text *t, const struct html_state *s)
{
	if (s->rules.n == 0)
		return;
	text_str(t, "<h3>Rules</h3>\n");
	for (uint32_t i = 0; i < s->rules.n && i < MAX_RULES; i++) {
		const struct rule *const rule = s->rules.list[i];
		text_str(t, "<details><summary>");
		put_visible(t, rule->id);
		text_str(t, ": ");
		put_visible(t, rule->text);
		text_str(t, "</summary>\n<p>");
		put_visible(t, rule->explain);
		text_str(t, "</p>\n");
		if (rule->spec[0] != '\0') {
			text_str(t, "<p>Specification: ");
			put_visible(t, rule->spec);
			text_str(t, "</p>\n");
		}
		text_str(t, "</details>\n");
	}
}

static void begin_fold(struct text *t, bool folds, uint64_t n, const char *what)
{
	if (folds)
		text_printf(t, "<details><summary>%" PRIu64 " %s</summary>\n", n, what);
}

static void end_fold(struct text *t, bool folds)
{
	text_str(t, folds ? "</details>\n" : "");
}

static void put_findings(struct report *r, const struct report_totals *totals)
{
	const struct html_state *const s = r->state;
	const struct report_page *const page = r->context->page;
	struct text *const t = &r->out;
	const bool folds_files = s->nfiles > OPEN_ROWS;
	/* nothing is wrong, and pictures follow */
	const bool folds_list = page != NULL && !page->findings_first && totals->levels[LEVEL_ERROR] == 0 &&
	                        totals->listed > OPEN_ROWS;

	text_str(t, "<section id=\"findings\" aria-labelledby=\"h-findings\">\n<h2 "
	            "id=\"h-findings\">Findings</h2>\n<p>");
	report_put_sum(t, totals);
	if (r->dropped > 0)
		text_printf(t, "; %" PRIu64 " do not fit on this page", r->dropped);
	text_str(t, "</p>\n");
	begin_fold(t, folds_files, totals->files, "files");
	if (s->nfiles > 1 || s->rules.n > 0) {
		text_str(
		    t,
		    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Files\"><table>\n"
		    "<thead><tr><th scope=\"col\">file</th><th scope=\"col\">format</th>"
		    "<th scope=\"col\" class=\"n\">records</th><th scope=\"col\">verdict</th></tr></thead>\n"
		    "<tbody>\n");
		text_add(t, s->files.p, s->files.n);
		text_str(t, "</tbody></table></div>\n");
	}
	end_fold(t, folds_files);
	if (s->unlisted > 0)
		text_printf(t, "<p>Files that do not fit on this page: %" PRIu64 "</p>\n", s->unlisted);
	if (s->rules.n > 0) {
		begin_fold(t, folds_list, totals->listed, "findings");
		text_str(t, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"List of "
		            "findings\"><table>\n"
		            "<thead><tr><th scope=\"col\">level</th><th scope=\"col\">file</th>"
		            "<th scope=\"col\">place</th><th scope=\"col\">finding</th>"
		            "<th scope=\"col\">rule</th></tr></thead>\n<tbody>\n");
		for (int level = LEVEL_COUNT - 1; level >= 0; level--)
			text_add(t, s->rows[level].p, s->rows[level].n);
		text_str(t, "</tbody></table></div>\n");
		end_fold(t, folds_list);
		put_explanations(t, s);
	}
	text_str(t, "</section>\n");
}

static void end(struct report *r, const struct report_totals *totals)
{
	const struct report_page *const page = r->context->page;

	put_head(r);
	if (page != NULL && !page->findings_first)
		text_add(&r->out, page->facts.p, page->facts.n);
	if (!r->failed) /* else a row may be incomplete */
		put_findings(r, totals);
	if (page != NULL && page->findings_first)
		text_add(&r->out, page->facts.p, page->facts.n);
	if (page != NULL)
		text_add(&r->out, page->sections.p, page->sections.n);
	text_str(&r->out, "</main>\n<script type=\"application/json\" id=\"data\">");
	if (page != NULL && page->data.n > 0)
		text_add(&r->out, page->data.p, page->data.n);
	else
		text_str(&r->out, "null");
	text_str(&r->out, "</script>\n<script>");
	text_add(&r->out, page_asset_page_js.text, page_asset_page_js.n);
	text_str(&r->out, "</script>\n</body>\n</html>\n");
	if (page != NULL)
		r->failed |= page->facts.failed || page->sections.failed || page->data.failed;
}

static void free_state(struct report *r)
{
	struct html_state *const s = r->state;

	for (int level = 0; level < LEVEL_COUNT; level++)
		text_free(&s->rows[level]);
	text_free(&s->files);
	free(s->rules.list);
}

const struct report_ops report_html = {
	.name = "html",
	.head = HTML_HEAD "<meta name=\"generator\" content=\"tracetool",
	.state_size = sizeof(struct html_state),
	.finding = finding,
	.file = file,
	.end = end,
	.free = free_state,
};

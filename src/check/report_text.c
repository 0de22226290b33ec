#include <inttypes.h>

#include "check/report.h"

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
report_text_finding(struct text *t, const struct findings *j, const struct finding *f, bool color)
{
	put_path(t, j->path);
	if (f->line > 0)
		text_printf(t, ":%" PRIu64, f->line);
	if (f->line > 0 && f->column > 0)
		text_printf(t, ":%" PRIu64, f->column);
	text_printf(t, ":@%" PRIu64 ": ", f->offset);
	text_printf(t, "%s%s%s: ", color ? level_colors[f->rule->level] : "", level_name(f->rule->level),
	            color ? "\033[0m" : "");
	text_str(t, f->message);
	text_printf(t, " [%s]\n", f->rule->id);
}

void
report_text_rest(struct text *t, const struct findings *j)
{
	for (size_t i = 0; i < j->ncounts; i++) {
		if (j->counts[i].count <= FINDINGS_SHOWN)
			continue;
		put_path(t, j->path);
		text_printf(t, ": %" PRIu64 " more of [%s] are not shown\n",
		            j->counts[i].count - FINDINGS_SHOWN, j->counts[i].rule->id);
	}
}

static void
put_count(struct text *t, uint64_t n, const char *what)
{
	if (n > 0)
		text_printf(t, ", %" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

void
report_text_summary(struct text *t, const struct findings *j, const struct report_file *file)
{
	put_path(t, file->path);
	text_str(t, file->valid ? ": valid" : ": not valid");
	if (file->format != NULL)
		text_printf(t, " %s%s%s%s", file->format, file->dialect[0] != '\0' ? " (" : "", file->dialect,
		            file->dialect[0] != '\0' ? ")" : "");
	if (file->format != NULL && file->whole)
		text_str(t, " as a whole");
	else if (file->format != NULL)
		text_printf(t, ", %" PRIu64 " record%s", file->records, file->records == 1 ? "" : "s");
	for (int level = LEVEL_COUNT - 1; level >= 0; level--)
		put_count(t, j->levels[level], level_name((enum level)level));
	if (file->unread_bytes > 0)
		text_printf(t, ", %" PRIu64 " bytes not read", file->unread_bytes);
	text_char(t, '\n');
}

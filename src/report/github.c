#include <inttypes.h>

#include "output/text_visible.h"
#include "report/parts.h"

/*
 * Workflow commands of GitHub Actions: the log as text, then annotations for
 * the worst findings; of each level a step shows ten.
 */
#define MAX_OF_LEVEL 10

struct github_state {
	struct report text; /* the log */
	struct text commands[LEVEL_COUNT];
	uint64_t n[LEVEL_COUNT];
};

/* A value of a command; property: before the second "::". */
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
	text_printf(t, ",line=%" PRIu64, f->line > 0 ? f->line : 1);
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

/* Moves the text of the log to `out`. */
static void move_log(struct report *r)
{
	struct github_state *const s = r->state;

	r->failed |= s->text.failed || s->text.out.failed;
	if (s->text.out.n == 0)
		return;
	report_put_guarded(&r->out, s->text.out.p, s->text.out.n);
	text_clear(&s->text.out);
}

static void begin(struct report *r)
{
	struct github_state *const s = r->state;

	r->failed |= !report_init(&s->text, &report_text, r->context);
}

static void finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct github_state *const s = r->state;

	const enum level shown = f->level == LEVEL_LIMIT ? LEVEL_WARNING : f->level; /* as GitHub counts */
	if (s->n[shown]++ < MAX_OF_LEVEL)
		put_command(r, &s->commands[shown], file, f);
}

static void file_end(struct report *r, const struct report_file *file)
{
	struct github_state *const s = r->state;

	if (s->text.state == NULL)
		return;
	report_file(&s->text, file);
	move_log(r);
}

static void end(struct report *r, const struct report_totals *totals)
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

static void free_state(struct report *r)
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
	.begin = begin,
	.finding = finding,
	.file = file_end,
	.end = end,
	.free = free_state,
};

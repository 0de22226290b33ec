#include "cmd/losses_out.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "cmd/say.h"
#include "run/engine_losses.h"

/* ---- kinds ---- */

struct kind_search {
	struct slice kind;
	bool found;
};

static void
see_kind(void *ctx, const struct loss *loss)
{
	struct kind_search *const s = ctx;

	s->found |= glob_fits(s->kind, slice_str(loss->id));
}

/* The next kind of a list; moves *list behind it. */
static struct slice
next_kind(const char **list)
{
	const size_t n = strcspn(*list, ",");
	const struct slice kind = slice_of(*list, (uint32_t)n);

	*list += n + ((*list)[n] == ',');
	return kind;
}

bool
losses_out_fail_on(struct losses_out *l, struct options *o, const char *kinds)
{
	struct shown_path shown;

	l->kinds = l->fail && l->kinds == NULL ? NULL : kinds;
	l->fail = true;
	for (const char *p = kinds; p != NULL && *p != '\0';) {
		char word[80];
		struct kind_search search = { next_kind(&p), false };
		snprintf(word, sizeof word, "%.*s", (int)search.kind.n, search.kind.p);
		if (search.kind.n < sizeof word && glob_is_linear(search.kind))
			losses_visit(see_kind, &search);
		if (search.found)
			continue;
		const char *const near = loss_nearest_id(word);
		o->status = options_mistake(o, "--fail-on-loss-of: there is no kind of loss %s%s%s%s",
		                            show_path(&shown, word), near != NULL ? "; did you mean " : "",
		                            near != NULL ? near : "",
		                            near != NULL ? "?" : " (tracetool explain lists them)");
		return false;
	}
	return true;
}

static bool
counts(const struct losses_out *l, const struct loss *loss)
{
	const char *p = l->kinds;

	if (!l->fail || p == NULL)
		return l->fail;
	while (*p != '\0')
		if (glob_fits(next_kind(&p), slice_str(loss->id)))
			return true;
	return false;
}

/* ---- the report: schemas/losses.schema.json ---- */

static void
put_text(struct text *t, const char *name, const char *s)
{
	text_printf(t, ",\"%s\":", name);
	if (s != NULL)
		text_json_string(t, slice_str(s));
	else
		text_str(t, "null");
}

static void
put_row(struct text *t, const struct losses_out *l, const struct ledger_row *row)
{
	text_str(t, "\n  {\"id\":");
	text_json_string(t, slice_str(row->loss->id));
	put_text(t, "text", row->loss->text);
	put_text(t, "explain", row->loss->explain);
	text_str(t, ",\"count\":");
	text_json_u64(t, row->count);
	text_str(t, ",\"first_offset\":");
	text_json_u64(t, row->first_offset);
	text_printf(t, ",\"fails\":%s}", counts(l, row->loss) ? "true" : "false");
}

static void
put_report(struct text *t, const struct losses_out *l, const struct losses_of *of)
{
	text_str(t, "{\"tool\":");
	text_json_string(t, slice_str(TOOL_NAME));
	text_str(t, ",\"inputs\":[");
	for (size_t i = 0; i < of->nin; i++) {
		text_str(t, i > 0 ? "," : "");
		text_json_string(t, slice_str(of->in[i]));
	}
	text_char(t, ']');
	put_text(t, "from", of->from);
	put_text(t, "output", of->out);
	put_text(t, "to", of->to);
	text_printf(t, ",\"lossless\":%s,\"losses\":[", of->ledger->n == 0 ? "true" : "false");
	for (size_t i = 0; i < of->ledger->n; i++) {
		text_str(t, i > 0 ? "," : "");
		put_row(t, l, &of->ledger->rows[i]);
	}
	text_str(t, of->ledger->n > 0 ? "\n]}\n" : "]}\n");
}

bool
losses_out_open(struct losses_out *l, const struct options *o)
{
	return l->path == NULL || report_out_open_file(&l->report, l->path, o->force);
}

enum exit_status
losses_out_end(struct losses_out *l, const struct losses_of *of, struct publication *p)
{
	enum exit_status status = STATUS_CLEAN;
	struct text t = { .p = NULL };

	for (size_t i = 0; i < of->ledger->n; i++)
		if (counts(l, of->ledger->rows[i].loss))
			status = STATUS_FINDINGS;
	if (l->report.out == NULL)
		return status;
	put_report(&t, l, of);
	report_out_put(&l->report, &t);
	text_free(&t);
	publication_add(p, &l->report);
	return status;
}

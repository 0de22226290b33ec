/*
 * Losses of an output: --fail-on-loss and the report of --losses (schemas/losses.schema.json).
 */
#include <stdio.h>
#include <string.h>

#include "base/match.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "json/out.h"
#include "run/engine_losses.h"

/* ---- --fail-on-loss ---- */

struct kind_search {
	struct slice kind;
	bool found;
};

static void match_kind(void *ctx, const struct loss *loss)
{
	struct kind_search *const s = ctx;

	s->found |= glob_fits(s->kind, slice_str(loss->id));
}

/* Returns the next kind of a comma-separated list; advances *list. */
static struct slice next_kind(const char **list)
{
	const size_t n = strcspn(*list, ",");
	const struct slice kind = slice_of(*list, (uint32_t)n);

	*list += n + ((*list)[n] == ',');
	return kind;
}

bool losses_out_fail_on(struct losses_out *l, struct options *o, const char *kinds)
{
	struct shown_path shown;

	l->kinds = l->fail && l->kinds == NULL ? NULL : kinds;
	l->fail = true;
	for (const char *p = kinds; p != NULL && *p != '\0';) {
		char name[80];
		struct kind_search search = { next_kind(&p), false };
		snprintf(name, sizeof name, "%.*s", (int)search.kind.n, search.kind.p);
		if (search.kind.n < sizeof name && glob_is_linear(search.kind))
			losses_visit(match_kind, &search);
		if (search.found)
			continue;
		const char *const near = loss_nearest_id(name);
		return options_mistake(o, "--fail-on-loss-of: there is no kind of loss %s%s%s%s",
		                       show_path(&shown, name), near != NULL ? "; did you mean " : "",
		                       near != NULL ? near : "",
		                       near != NULL ? "?" : " (tracetool explain lists them)");
	}
	return true;
}

static bool counts(const struct losses_out *l, const struct loss *loss)
{
	const char *p = l->kinds;

	if (!l->fail || p == NULL)
		return l->fail;
	while (*p != '\0')
		if (glob_fits(next_kind(&p), slice_str(loss->id)))
			return true;
	return false;
}

/* ---- --losses ---- */

static void put_loss(struct json_out *o, const struct losses_out *l, const struct ledger_row *row)
{
	json_out_space(o, "\n  ");
	json_out_begin(o, NULL, "{");
	json_out_string(o, "id", row->loss->id);
	json_out_string(o, "text", row->loss->text);
	json_out_string(o, "explain", row->loss->explain);
	json_out_u64_or_string(o, "count", row->count);
	json_out_u64_or_string(o, "first_offset", row->first_offset);
	json_out_bool(o, "fails", counts(l, row->loss));
	json_out_end(o, "}");
}

static void put_losses(struct text *t, const struct losses_out *l, const struct losses_of *of)
{
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", TOOL_NAME);
	json_out_begin(&o, "inputs", "[");
	for (size_t i = 0; i < of->nin; i++)
		json_out_string(&o, NULL, of->in[i]);
	json_out_end(&o, "]");
	json_out_string(&o, "from", of->from);
	json_out_string(&o, "output", of->out);
	json_out_string(&o, "to", of->to);
	json_out_bool(&o, "lossless", of->ledger->n == 0);
	json_out_begin(&o, "losses", "[");
	for (size_t i = 0; i < of->ledger->n; i++)
		put_loss(&o, l, &of->ledger->rows[i]);
	json_out_end(&o, of->ledger->n > 0 ? "\n]}\n" : "]}\n");
}

bool losses_out_open(struct losses_out *l, const struct options *o)
{
	return l->path == NULL || report_out_open_file(&l->report, l->path, o->force);
}

enum exit_status losses_out_end(struct losses_out *l, const struct losses_of *of, struct publication *p)
{
	enum exit_status status = STATUS_CLEAN;
	struct text t = { .p = NULL };

	for (size_t i = 0; i < of->ledger->n; i++)
		if (counts(l, of->ledger->rows[i].loss))
			status = STATUS_FINDINGS;
	if (l->report.out == NULL)
		return status;
	put_losses(&t, l, of);
	report_out_put(&l->report, &t);
	text_free(&t);
	publication_add(p, &l->report);
	return status;
}

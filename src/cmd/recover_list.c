#include "cmd/recover_list.h"

#include <inttypes.h>

#include "cmd/say.h"
#include "output/text_start.h"

/* ---- text ---- */

/* How often a rule was shown; the rules beyond the table share a row. */
static uint64_t
count_up(struct recover_list *l, const struct rule *rule)
{
	size_t i = 0;

	while (i < RECOVER_LIST_RULES - 1 && l->shown[i].rule != NULL && l->shown[i].rule != rule)
		i++;
	l->shown[i].rule = rule;
	return ++l->shown[i].count;
}

static void
put_path(struct text *t, const struct recover_list *l)
{
	struct shown_path shown;

	text_str(t, show_path(&shown, l->input));
	if (l->file != NULL)
		text_printf(t, "/%s", show_path(&shown, l->file));
}

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void
say_change(struct recover_list *l, const struct recover_change *c)
{
	char room[4 * sizeof(struct shown_path)];
	struct text t = text_start(room, sizeof room);

	if (count_up(l, c->rule) > FINDINGS_SHOWN)
		return;
	put_path(&t, l);
	text_printf(&t, ":@%" PRIu64 ": ", c->offset);
	if (!c->repaired)
		text_printf(&t, "%" PRIu64 " byte%s dropped", c->length, plural(c->length));
	else if (c->length == 0)
		text_printf(&t, "%" PRIu32 " byte%s inserted", c->inserted, plural(c->inserted));
	else if (c->inserted == 0)
		text_printf(&t, "%" PRIu64 " byte%s removed", c->length, plural(c->length));
	else
		text_printf(&t, "%" PRIu64 " byte%s replaced by %" PRIu32, c->length, plural(c->length),
		            c->inserted);
	text_printf(&t, ": %s [%s]\n", c->why, c->rule->id);
	say_text(&t);
	text_free(&t);
}

void
recover_list_sums(struct recover_list *l, bool quiet)
{
	struct shown_path shown;

	show_path(&shown, l->input);
	for (size_t i = 0; i < RECOVER_LIST_RULES && l->shown[i].rule != NULL; i++)
		if (l->shown[i].count > FINDINGS_SHOWN)
			say("%s: %" PRIu64 " more [%s]", shown.s, l->shown[i].count - FINDINGS_SHOWN,
			    l->shown[i].rule->id);
	if (!quiet)
		say("%s: %" PRIu64 " record%s in %" PRIu64 " byte%s kept, %" PRIu64
		    " byte%s dropped in %" PRIu64 " range%s, %" PRIu64 " repair%s",
		    shown.s, l->records, plural(l->records), l->kept, plural(l->kept), l->dropped,
		    plural(l->dropped), l->gaps, plural(l->gaps), l->repairs, plural(l->repairs));
	if (!quiet && l->not_repaired > 0)
		say("%s: %" PRIu64 " error%s of metadata not repaired: the output has the same", shown.s,
		    l->not_repaired, plural(l->not_repaired));
}

/* ---- JSON ---- */

static void
put_string(struct text *t, const char *s)
{
	if (s != NULL)
		text_json_string(t, slice_str(s));
	else
		text_str(t, "null");
}

static void
put_change(struct recover_list *l, const struct recover_change *c)
{
	struct text *const t = &l->text;

	text_printf(t, "%s\n{\"file\":", l->any ? "," : "");
	l->any = true;
	put_string(t, l->file);
	text_printf(t,
	            ",\"change\":\"%s\",\"offset\":%" PRIu64 ",\"length\":%" PRIu64 ",\"inserted\":%" PRIu32
	            ",\"rule\":\"%s\",\"why\":",
	            c->repaired ? "repaired" : "dropped", c->offset, c->length, c->inserted, c->rule->id);
	put_string(t, c->why);
	text_char(t, '}');
	report_out_put(&l->out, t);
}

bool
recover_list_open(struct recover_list *l, const char *path, bool force)
{
	if (path == NULL)
		return true;
	if (!report_out_open_file(&l->out, path, force))
		return false;
	l->json = true;
	text_str(&l->text, "{\"tool\":\"" TOOL_NAME "\",\"input\":");
	put_string(&l->text, l->input);
	text_str(&l->text, ",\"output\":");
	put_string(&l->text, l->output);
	text_str(&l->text, ",\"changes\":[");
	report_out_put(&l->out, &l->text);
	return true;
}

void
recover_list_end(struct recover_list *l, bool written)
{
	struct text *const t = &l->text;

	if (!l->json)
		return;
	text_str(t, "],\n\"format\":");
	put_string(t, l->format);
	text_str(t, ",\"dialect\":");
	put_string(t, l->dialect);
	text_printf(t,
	            ",\"records\":%" PRIu64 ",\"kept_bytes\":%" PRIu64 ",\"dropped_bytes\":%" PRIu64
	            ",\"dropped_ranges\":%" PRIu64 ",\"repairs\":%" PRIu64 ",\"not_repaired\":%" PRIu64
	            ",\"packed_damage\":%s,\"written\":%s}\n",
	            l->records, l->kept, l->dropped, l->gaps, l->repairs, l->not_repaired,
	            l->packed_damage ? "true" : "false", written ? "true" : "false");
	report_out_put(&l->out, t);
	text_free(t);
}

/* ---- both ---- */

void
recover_list_change(struct recover_list *l, const struct recover_change *c)
{
	if (!l->no_text)
		say_change(l, c);
	if (l->json)
		put_change(l, c);
}

void
recover_list_run(struct recover_list *l, const struct recover_run *run)
{
	const struct recovery *const rc = &run->recovery;

	l->records += rc->records;
	l->kept += rc->kept;
	l->dropped += rc->dropped;
	l->gaps += rc->gaps;
	l->repairs += rc->repairs;
	l->not_repaired += run->not_repaired;
	l->packed_damage |= run->packed_damage;
}

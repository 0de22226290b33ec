#include <stdlib.h>

#include "base/match.h"
#include "base/memory.h"
#include "base/scan.h"
#include "vocab/private.h"

/* ---- vocab template ---- */

/* Texts with references in them: "poll {spawn_loc}", "{type,value|label}". */

static struct slice trim(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	return slice_of(p, (size_t)(end - p));
}

/* Where the word ends: at one of these bytes. */
static const char *word_end(const char *p, const char *end, char a, char b)
{
	while (p < end && *p != a && *p != b)
		p++;
	return p;
}

static bool take_fields(struct vocab_draft *d, const struct yaml_node *at, const char *p, const char *end,
                        struct plan_ref *out)
{
	struct quoted q;

	for (;; p++) {
		const char *const to = word_end(p, end, ',', ',');
		const struct slice name = trim(p, to);
		if (name.n == 0 || out->nfields == 2) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "%s in {%.*s}",
			          name.n == 0 ? "a field has no name" : "there are more than two fields",
			          (int)(end - p > 60 ? 60 : end - p), p);
			return false;
		}
		if (memchr(name.p, '{', name.n) != NULL) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "the brace in %s is not closed",
			          quoted(&q, at->text));
			return false;
		}
		out->field[out->nfields] = vocab_copy(d, name);
		out->none[out->nfields] = vocab_none_of(d, name);
		if (out->field[out->nfields++].p == NULL)
			return false;
		if ((p = to) == end)
			return true;
	}
}

/* What stands between the braces. */
static bool take_ref(struct vocab_draft *d, const struct yaml_node *at, const char *p, const char *end,
                     struct plan_ref *out)
{
	const char *to = word_end(p, end, '|', '|');

	*out = (struct plan_ref){ .nfields = 0 };
	if (!take_fields(d, at, p, to, out))
		return false;
	while (to < end) {
		p = to + 1;
		to = word_end(p, end, '|', '|');
		if (out->ntables == sizeof out->tables) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "a value is looked up in %zu tables at most",
			          sizeof out->tables);
			return false;
		}
		if (!vocab_table(d, at, trim(p, to), &out->tables[out->ntables]))
			return false;
		out->ntables++;
	}
	if (out->nfields < 2 || out->ntables > 0)
		return true;
	vocab_say(d, VOCAB_RULE_BAD_VALUE, at,
	          "two fields are a key: name the table to look it up in, as in {a,b|table}");
	return false;
}

struct parts {
	struct plan_part part[PLAN_MAX_PARTS];
	uint32_t n;
	char *text; /* of the present part */
	uint32_t ntext;
};

/* Ends the present part, with a reference or without. */
static bool end_part(struct vocab_draft *d, const struct yaml_node *at, struct parts *t,
                     const struct plan_ref *ref)
{
	if (t->n == PLAN_MAX_PARTS) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "there are more than %d references in one text",
		          PLAN_MAX_PARTS - 1);
		return false;
	}
	struct plan_part *const part = &t->part[t->n++];
	*part = (struct plan_part){ .text = textscan_slice(t->text, t->ntext) };
	if (ref != NULL)
		part->ref = *ref;
	t->text += t->ntext;
	t->ntext = 0;
	return true;
}

static bool take_parts(struct vocab_draft *d, const struct yaml_node *node, struct parts *t)
{
	const char *p = node->text.p, *const end = p + node->text.n;
	struct plan_ref ref;
	struct quoted q;

	while (p < end) {
		const char c = *p++;
		if (c != '{' && c != '}') {
			t->text[t->ntext++] = c;
		} else if (p < end && *p == c) {
			t->text[t->ntext++] = *p++;
		} else if (c == '}') {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, node,
			          "a } without its { in %s; a brace itself is }}", quoted(&q, node->text));
			return false;
		} else {
			const char *const to = word_end(p, end, '}', '}');
			if (to == end) {
				vocab_say(d, VOCAB_RULE_BAD_VALUE, node,
				          "the brace in %s is not closed; a brace itself is {{",
				          quoted(&q, node->text));
				return false;
			}
			if (!take_ref(d, node, p, to, &ref) || !end_part(d, node, t, &ref))
				return false;
			p = to + 1;
		}
	}
	return (t->ntext == 0 && t->n > 0) || end_part(d, node, t, NULL);
}

bool vocab_template(struct vocab_draft *d, const struct yaml_node *node, const char *what,
                    struct plan_template *out)
{
	struct parts t = { .n = 0 };
	struct slice ignored;

	if (!vocab_text(d, node, what, &ignored) || (t.text = vocab_alloc(d, 1, node->text.n)) == NULL ||
	    !take_parts(d, node, &t))
		return false;
	struct plan_part *const parts = vocab_alloc(d, t.n, sizeof *parts);
	if (parts == NULL)
		return false;
	memcpy(parts, t.part, t.n * sizeof *parts);
	*out = (struct plan_template){ parts, t.n };
	return true;
}

bool vocab_ref(struct vocab_draft *d, const struct yaml_node *node, const char *what, bool only_one,
               struct plan_ref *out)
{
	struct plan_template t;
	struct slice field;

	if (!vocab_text(d, node, what, &field))
		return false;
	*out = (struct plan_ref){ .nfields = 0 };
	if (field.p[0] != '{') {
		out->field[0] = field;
		out->none[0] = vocab_none_of(d, field);
		out->nfields = 1;
		return true;
	}
	if (!vocab_template(d, node, what, &t))
		return false;
	if (t.nparts != 1 || t.parts[0].text.n > 0 || t.parts[0].ref.nfields == 0) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s is a field or one {reference}", what);
		return false;
	}
	*out = t.parts[0].ref;
	if (!only_one || out->nfields == 1)
		return true;
	vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s takes one field, not two", what);
	return false;
}

/* ---- vocab rule ---- */

/* One item of `events`: which classes it is for, and what their events mean. */

struct rule_draft {
	struct vocab_row *row;
	struct plan *m;
};

static void take_event(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_texts(d, value, "event", &r->row->exact, &r->row->nexact);
}

/* A pattern that does not take long to compare. */
static void check_glob(struct vocab_draft *d, const struct yaml_node *value, const char *what,
                       struct slice glob)
{
	if (glob_stars(glob) > VOCAB_MAX_STARS)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "%s has more than %u *", what, VOCAB_MAX_STARS);
	else if (!glob_is_linear(glob))
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "%s has more than %u bytes between two *", what,
		          GLOB_LINEAR);
}

static void take_match(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;
	const uint32_t n = value->kind == NODE_LIST ? value->n : 1;

	if (n > VOCAB_MAX_GLOBS - d->v->nglobs) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value,
		          "there are more than %u patterns of match in all; event takes names as they are",
		          VOCAB_MAX_GLOBS);
		return;
	}
	d->v->nglobs += n;
	vocab_texts(d, value, "match", &r->row->globs, &r->row->nglobs);
	for (uint32_t i = 0; i < r->row->nglobs; i++)
		check_glob(d, value, "match", r->row->globs[i]);
}

static void take_fields_vocab_rule(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_texts(d, value, "fields", &r->row->fields, &r->row->nfields);
}

static void take_named(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	if (vocab_text(d, value, "named", &r->m->named))
		check_glob(d, value, "named", r->m->named);
	if (d->v->nnamed == VOCAB_MAX_NAMED)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "there are more than %u rules with named in all",
		          VOCAB_MAX_NAMED);
	else
		d->v->nnamed++;
}

static void take_phase(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	/* in the order of enum meaning_phase, the first left out */
	static const char *const phases[] = { "span",    "begin",   "end",       "state", "state-end",
		                              "instant", "counter", "structure", NULL };
	struct rule_draft *const r = ctx;
	uint32_t i;

	if (vocab_choice(d, value, "phase", phases, &i))
		r->m->phase = (uint8_t)(i + 1);
}

/* A key that only says something with some of the phases. */
static void needs_phase(struct vocab_draft *d, const struct yaml_node *value, const struct rule_draft *r,
                        const char *key, unsigned phases, const char *names)
{
	if (r->m->phase != PLAN_AS_READ && (phases & 1U << r->m->phase) == 0)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "%s goes with phase %s", key, names);
}

static void take_pair(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;
	struct slice ignored;

	needs_phase(d, value, r, "pair", 1U << PLAN_BEGIN | 1U << PLAN_END, "begin or end");
	vocab_number_word(d, &d->v->pairs, value, "pair", &r->m->pair, &ignored);
}

static void take_key(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	needs_phase(d, value, r, "key", 1U << PLAN_BEGIN | 1U << PLAN_END, "begin or end");
	vocab_ref(d, value, "key", false, &r->m->key);
}

static void take_async(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	needs_phase(d, value, r, "async", 1U << PLAN_SPAN | 1U << PLAN_BEGIN | 1U << PLAN_END,
	            "span, begin or end");
	vocab_bool(d, value, "async", &r->m->async);
}

static void take_state(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	needs_phase(d, value, r, "state", 1U << PLAN_STATE | 1U << PLAN_STATE_END, "state or state-end");
	vocab_number_word(d, &d->v->states, value, "state", &r->m->state, &r->m->state_name);
}

static void take_parts_vocab_rule(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_take_parts(d, value, r->m);
}

static void take_stack_of(struct vocab_draft *d, const struct yaml_node *value, struct plan *m,
                          const char *kind, enum plan_stack of)
{
	if (m->stack.p != NULL)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "an event has one stack: cpu, off-cpu or alloc");
	vocab_text(d, value, kind, &m->stack);
	m->stack_of = (uint8_t)of;
}

static void take_cpu_stack(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	take_stack_of(d, value, ctx, "cpu", PLAN_STACK_CPU);
}

static void take_off_cpu_stack(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	take_stack_of(d, value, ctx, "off-cpu", PLAN_STACK_OFF_CPU);
}

static void take_alloc_stack(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	take_stack_of(d, value, ctx, "alloc", PLAN_STACK_ALLOC);
}

/* A field, or what its stacks tell of and the field. */
static void take_stack(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	static const struct vocab_key keys[] = { { "cpu", take_cpu_stack },
		                                 { "off-cpu", take_off_cpu_stack },
		                                 { "alloc", take_alloc_stack } };
	struct rule_draft *const r = ctx;

	if (value->kind == NODE_MAP)
		(void)vocab_map(d, value, "stack", keys, sizeof keys / sizeof keys[0], r->m);
	else
		vocab_text(d, value, "stack", &r->m->stack);
}

static void take_category(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_take_category(d, value, r->m);
	if (r->m->named.p != NULL)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value,
		          "category does not go with named: the events of a class share theirs");
}

static void take_name(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;
	vocab_templates(d, value, "name", &r->m->names, &r->m->nnames);
}

static void take_track(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_take_track(d, value, r->m);
}

static void take_duration(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	needs_phase(d, value, r, "duration", 1U << PLAN_SPAN, "span");
	vocab_text(d, value, "duration", &r->m->duration);
}

static void take_values(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	needs_phase(d, value, r, "values", 1U << PLAN_COUNTER, "counter");
	vocab_texts(d, value, "values", &r->m->values, &r->m->nvalues);
}

static void take_series(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;
	struct slice table = { NULL, 0, 0 };

	needs_phase(d, value, r, "series", 1U << PLAN_COUNTER, "counter");
	vocab_text(d, value, "series", &table);
	r->m->has_series = table.p != NULL && vocab_table(d, value, table, &r->m->series);
}

static void take_flow(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_take_flow(d, value, r->m);
}

static void take_layout(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_take_layout(d, value, r->m);
	if (r->m->payload.p == NULL)
		r->m->payload = SLICE_LIT("payload");
}

static void take_payload(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_text(d, value, "payload", &r->m->payload);
}

static void take_define(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_take_define(d, value, r->m);
}

static void take_epoch(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_text(d, value, "epoch", &r->m->epoch);
}

static void take_facts(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_text(d, value, "facts", &r->m->facts);
}

static void take_reader(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct rule_draft *const r = ctx;

	vocab_take_reader(d, value, r->m);
}

/* The phase first: others are checked by it.  The payload before the layout, which has a default for it; the
 * parts before the category, which can refer to them. */
static const struct vocab_key rule_keys[] = {
	{ "event", take_event },
	{ "match", take_match },
	{ "fields", take_fields_vocab_rule },
	{ "named", take_named },
	{ "phase", take_phase },
	{ "pair", take_pair },
	{ "key", take_key },
	{ "async", take_async },
	{ "state", take_state },
	{ "parts", take_parts_vocab_rule },
	{ "stack", take_stack },
	{ "category", take_category },
	{ "name", take_name },
	{ "track", take_track },
	{ "duration", take_duration },
	{ "values", take_values },
	{ "flow", take_flow },
	{ "payload", take_payload },
	{ "layout", take_layout },
	{ "define", take_define },
	{ "epoch", take_epoch },
	{ "facts", take_facts },
	{ "reader", take_reader },
	{ "series", take_series },
};

static bool template_needs_fields(const struct plan_template *t)
{
	for (uint32_t i = 0; i < t->nparts; i++)
		if (t->parts[i].ref.nfields > 0)
			return true;
	return false;
}

/* A layout alone changes nothing for who wants no fields.  The fields of a counter are what it says. */
static bool needs_fields(const struct plan *m)
{
	bool needs = m->key.nfields > 0 || m->duration.p != NULL || m->flow_out.p != NULL ||
	             m->flow_in.p != NULL || m->ndefines > 0 || m->epoch.p != NULL || m->facts.p != NULL ||
	             m->phase == PLAN_COUNTER;

	for (uint32_t i = 0; i < m->nnames; i++)
		needs |= template_needs_fields(&m->names[i]);
	for (uint32_t i = 0; i < m->ntracks; i++)
		needs |= template_needs_fields(&m->tracks[i].name) || m->tracks[i].id.nfields > 0;
	return needs;
}

static bool add_row(struct vocab_draft *d, struct vocab_row *row)
{
	struct vocab *const v = d->v;

	if (!array_room(&v->rows, v->nrows, &v->rows_cap, sizeof(struct vocab_row *))) {
		d->file.no_memory = true;
		return false;
	}
	v->rows[v->nrows++] = row;
	return true;
}

void vocab_take_rule(struct vocab_draft *d, const struct yaml_node *node)
{
	struct vocab_row *const row = vocab_alloc(d, 1, sizeof *row);
	struct rule_draft r = { .row = row };
	const uint64_t mistakes = d->file.mistakes;

	if (row == NULL)
		return;
	r.m = &row->plan;
	d->nrules++;
	if (!vocab_map(d, node, "a rule", rule_keys, sizeof rule_keys / sizeof rule_keys[0], &r) ||
	    d->file.mistakes != mistakes)
		return;
	if (row->nexact == 0 && row->nglobs == 0)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, node,
		          "the rule names no events: event or match is needed");
	if ((row->plan.phase == PLAN_STATE || row->plan.phase == PLAN_STATE_END) && row->plan.state == 0)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, node,
		          "the rule does not say which state: state is needed");
	row->plan.needs_fields = needs_fields(&row->plan);
	add_row(d, row);
}

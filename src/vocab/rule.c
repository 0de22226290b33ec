/*
 * A rule: one item of `events`, which names the classes that it is for and what their events mean.  A
 * function for each key fills in a struct vocab_row; keys whose values are mappings of their own are read by
 * rule_nested.c.
 */
#include "vocab/private.h"

#include "base/match.h"
#include "base/memory.h"

/* ---- which classes ---- */

static void read_event(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	vocab_texts(d, value, "event", &row->exact, &row->nexact);
}

static void read_match(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;
	const uint32_t n = value->kind == NODE_LIST ? value->n : 1;

	if (n > VOCAB_MAX_GLOBS - d->v->nglobs) {
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
		             "there are more than %u patterns of match in all; event takes names as they are",
		             VOCAB_MAX_GLOBS);
		return;
	}
	d->v->nglobs += n;
	vocab_texts(d, value, "match", &row->globs, &row->nglobs);
	for (uint32_t i = 0; i < row->nglobs; i++)
		vocab_check_glob(d, value, "match", row->globs[i]);
}

static void read_fields(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	vocab_texts(d, value, "fields", &row->fields, &row->nfields);
}

static void read_named(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	if (vocab_text(d, value, "named", &row->plan.named))
		vocab_check_glob(d, value, "named", row->plan.named);
	if (d->v->nnamed == VOCAB_MAX_NAMED)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "there are more than %u rules with named in all",
		             VOCAB_MAX_NAMED);
	else
		d->v->nnamed++;
}

/* ---- phases, pairs and states ---- */

static void read_phase(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	/* in the order of enum plan_phase, without the first */
	static const char *const phases[] = { "span",    "begin",   "end",       "state", "state-end",
		                              "instant", "counter", "structure", NULL };
	struct vocab_row *const row = ctx;
	uint32_t i;

	if (vocab_choice(d, value, "phase", phases, &i))
		row->plan.phase = (uint8_t)(i + 1);
}

/* Reports a key that has no effect in the phase of the rule.  phases: a bit for each where it has one. */
static void check_phase(struct vocab_draft *d, const struct yaml_node *value, const struct vocab_row *row,
                        const char *key, unsigned phases, const char *names)
{
	if (row->plan.phase != PLAN_AS_READ && (phases & 1U << row->plan.phase) == 0)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "%s goes with phase %s", key, names);
}

static void read_pair(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;
	struct slice ignored;

	check_phase(d, value, row, "pair", 1U << PLAN_BEGIN | 1U << PLAN_END, "begin or end");
	vocab_name_number(d, &d->v->pairs, value, "pair", &row->plan.pair, &ignored);
}

static void read_key(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	check_phase(d, value, row, "key", 1U << PLAN_BEGIN | 1U << PLAN_END, "begin or end");
	vocab_ref(d, value, "key", false, &row->plan.key);
}

static void read_async(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	check_phase(d, value, row, "async", 1U << PLAN_SPAN | 1U << PLAN_BEGIN | 1U << PLAN_END,
	            "span, begin or end");
	vocab_bool(d, value, "async", &row->plan.async);
}

static void read_waiting(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	check_phase(d, value, row, "waiting", 1U << PLAN_SPAN | 1U << PLAN_BEGIN | 1U << PLAN_STATE,
	            "span, begin or state");
	if (row->plan.named.p != NULL)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
		             "waiting does not go with named: it applies to all events of a class");
	vocab_bool(d, value, "waiting", &row->plan.waiting);
}

static void read_state(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	check_phase(d, value, row, "state", 1U << PLAN_STATE | 1U << PLAN_STATE_END, "state or state-end");
	vocab_name_number(d, &d->v->states, value, "state", &row->plan.state, &row->plan.state_name);
}

/* ---- names, stacks and values ---- */

static void read_stack_of(struct vocab_draft *d, const struct yaml_node *value, struct vocab_row *row,
                          const char *kind, enum plan_stack of)
{
	struct plan *const m = &row->plan;

	if (m->stack.p != NULL)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value, "an event has one stack: cpu, off-cpu or alloc");
	vocab_text(d, value, kind, &m->stack);
	m->stack_of = (uint8_t)of;
}

static void read_cpu_stack(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	read_stack_of(d, value, ctx, "cpu", PLAN_STACK_CPU);
}

static void read_off_cpu_stack(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	read_stack_of(d, value, ctx, "off-cpu", PLAN_STACK_OFF_CPU);
}

static void read_alloc_stack(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	read_stack_of(d, value, ctx, "alloc", PLAN_STACK_ALLOC);
}

/* A field, or the kind of its stacks and the field. */
static void read_stack(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	static const struct vocab_key keys[] = { { "cpu", read_cpu_stack },
		                                 { "off-cpu", read_off_cpu_stack },
		                                 { "alloc", read_alloc_stack } };
	struct vocab_row *const row = ctx;

	if (value->kind == NODE_MAP)
		(void)vocab_map(d, value, "stack", keys, sizeof keys / sizeof keys[0], row);
	else
		vocab_text(d, value, "stack", &row->plan.stack);
}

static void read_bytes(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	check_phase(d, value, row, "bytes", 1U << PLAN_SPAN | 1U << PLAN_BEGIN, "span or begin");
	if (row->plan.named.p != NULL)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
		             "bytes does not go with named: it has names of its own");
	vocab_read_bytes(d, value, &row->plan);
}

static void read_category(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	vocab_read_category(d, value, &row->plan);
	if (row->plan.named.p != NULL)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, value,
		             "category does not go with named: the events of a class share theirs");
}

static void read_name(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	vocab_templates(d, value, "name", &row->plan.names, &row->plan.nnames);
}

static void read_duration(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	check_phase(d, value, row, "duration", 1U << PLAN_SPAN, "span");
	vocab_text(d, value, "duration", &row->plan.duration);
}

static void read_values(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	check_phase(d, value, row, "values", 1U << PLAN_COUNTER, "counter");
	vocab_texts(d, value, "values", &row->plan.values, &row->plan.nvalues);
}

static void read_series(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;
	struct slice table = { NULL, 0, 0 };

	check_phase(d, value, row, "series", 1U << PLAN_COUNTER, "counter");
	vocab_text(d, value, "series", &table);
	row->plan.has_series = table.p != NULL && vocab_table(d, value, table, &row->plan.series);
}

static void read_layout(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	vocab_read_layout(d, value, &row->plan);
	if (row->plan.payload.p == NULL)
		row->plan.payload = SLICE_LIT("payload");
}

static void read_payload(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	vocab_text(d, value, "payload", &row->plan.payload);
}

static void read_epoch(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	vocab_text(d, value, "epoch", &row->plan.epoch);
}

static void read_facts(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	struct vocab_row *const row = ctx;

	vocab_text(d, value, "facts", &row->plan.facts);
}

/* ---- the whole rule ---- */

/* In the order in which they are read: the phase first, since others are checked by it; the payload before
 * the layout, which has a default for it; the parts before the category, which can refer to them. */
static const struct vocab_key rule_keys[] = {
	{ "event", read_event },       { "match", read_match },       { "fields", read_fields },
	{ "named", read_named },       { "phase", read_phase },       { "pair", read_pair },
	{ "key", read_key },           { "async", read_async },       { "waiting", read_waiting },
	{ "state", read_state },       { "parts", vocab_read_parts }, { "stack", read_stack },
	{ "category", read_category }, { "name", read_name },         { "track", vocab_read_track },
	{ "duration", read_duration }, { "values", read_values },     { "flow", vocab_read_flow },
	{ "payload", read_payload },   { "layout", read_layout },     { "define", vocab_read_define },
	{ "epoch", read_epoch },       { "facts", read_facts },       { "reader", vocab_read_reader },
	{ "series", read_series },     { "bytes", read_bytes },
};

static bool template_needs_fields(const struct plan_template *t)
{
	for (uint32_t i = 0; i < t->nparts; i++)
		if (t->parts[i].ref.nfields > 0)
			return true;
	return false;
}

/* Returns true if the meaning of an event depends on its fields.  A layout alone changes only the fields
 * themselves; those of a counter are its values. */
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

static void add_row(struct vocab_draft *d, struct vocab_row *row)
{
	struct vocab *const v = d->v;

	if (!array_reserve(&v->rows, v->nrows, &v->rows_cap, sizeof(struct vocab_row *))) {
		d->file.no_memory = true;
		return;
	}
	v->rows[v->nrows++] = row;
}

void vocab_read_rule(struct vocab_draft *d, const struct yaml_node *node)
{
	struct vocab_row *const row = vocab_alloc(d, 1, sizeof *row);
	const uint64_t mistakes = d->file.mistakes;

	if (row == NULL)
		return;
	d->nrules++;
	if (!vocab_map(d, node, "a rule", rule_keys, sizeof rule_keys / sizeof rule_keys[0], row) ||
	    d->file.mistakes != mistakes)
		return;
	if (row->nexact == 0 && row->nglobs == 0)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, node,
		             "the rule names no events: event or match is needed");
	if ((row->plan.phase == PLAN_STATE || row->plan.phase == PLAN_STATE_END) && row->plan.state == 0)
		vocab_report(d, VOCAB_RULE_BAD_VALUE, node,
		             "the rule does not say which state: state is needed");
	row->plan.needs_fields = needs_fields(&row->plan);
	add_row(d, row);
}

/*
 * A rule is one item of `events`: it names classes, and states the meaning of their events.  A function for
 * each key fills in a struct vocab_row.  rule_nested.c reads the keys whose values are mappings.
 */
#include "vocab/private.h"

#include "base/memory.h"

/* ---- which classes ---- */

static bool read_event(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	return vocab_texts(d, value, what, &row->exact, &row->nexact);
}

static bool read_match(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;
	const uint32_t n = yaml_count(value);

	if (n > VOCAB_MAX_GLOBS - d->v->nglobs)
		return yaml_bad(&d->file, value,
		                "there are more than %u patterns of match in all; event takes names as they "
		                "are",
		                VOCAB_MAX_GLOBS);
	d->v->nglobs += n;
	bool ok = vocab_texts(d, value, what, &row->globs, &row->nglobs);
	for (uint32_t i = 0; i < row->nglobs; i++)
		ok &= yaml_is_glob(&d->file, value, what, row->globs[i]);
	return ok;
}

static bool read_fields(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	return vocab_texts(d, value, what, &row->fields, &row->nfields);
}

static bool read_named(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	if (vocab_text(d, value, what, &row->plan.named))
		yaml_is_glob(&d->file, value, what, row->plan.named);
	if (d->v->nnamed == VOCAB_MAX_NAMED)
		return yaml_bad(&d->file, value, "there are more than %u rules with named in all",
		                VOCAB_MAX_NAMED);
	d->v->nnamed++;
	return true;
}

/* ---- phases, pairs and states ---- */

static bool read_phase(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	/* as enum plan_phase, without its first value */
	static const char *const phases[] = { "span",    "begin",   "end",       "state", "state-end",
		                              "instant", "counter", "structure", NULL };
	struct vocab_row *const row = to;
	uint32_t i;

	if (!yaml_word(&d->file, value, what, phases, &i))
		return false;
	row->plan.phase = (uint8_t)(i + 1);
	return true;
}

/* Reports a key that has no effect in the rule's phase.  phases: a bit for each phase with an effect. */
static void check_phase(struct vocab_draft *d, const struct yaml_node *value, const struct vocab_row *row,
                        const char *key, unsigned phases, const char *names)
{
	if (row->plan.phase != PLAN_AS_READ && (phases & 1U << row->plan.phase) == 0)
		yaml_bad(&d->file, value, "%s goes with phase %s", key, names);
}

static bool read_pair(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;
	struct slice ignored;

	check_phase(d, value, row, what, 1U << PLAN_BEGIN | 1U << PLAN_END, "begin or end");
	return vocab_name_number(d, &d->v->pairs, value, what, &row->plan.pair, &ignored);
}

static bool read_key(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	check_phase(d, value, row, what, 1U << PLAN_BEGIN | 1U << PLAN_END, "begin or end");
	return vocab_ref(d, value, what, false, &row->plan.key);
}

static bool read_async(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	check_phase(d, value, row, what, 1U << PLAN_SPAN | 1U << PLAN_BEGIN | 1U << PLAN_END,
	            "span, begin or end");
	return yaml_bool(&d->file, value, what, &row->plan.async);
}

static bool read_waiting(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	check_phase(d, value, row, what, 1U << PLAN_SPAN | 1U << PLAN_BEGIN | 1U << PLAN_STATE,
	            "span, begin or state");
	if (row->plan.named.p != NULL)
		yaml_bad(&d->file, value,
		         "waiting does not go with named: it applies to all events of a class");
	return yaml_bool(&d->file, value, what, &row->plan.waiting);
}

static bool read_state(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	check_phase(d, value, row, what, 1U << PLAN_STATE | 1U << PLAN_STATE_END, "state or state-end");
	return vocab_name_number(d, &d->v->states, value, what, &row->plan.state, &row->plan.state_name);
}

/* ---- names, stacks and values ---- */

static bool read_stack_of(struct vocab_draft *d, const struct yaml_node *value, const char *kind,
                          struct vocab_row *row, enum plan_stack of)
{
	struct plan *const m = &row->plan;

	if (m->stack.p != NULL)
		yaml_bad(&d->file, value, "an event has one stack: cpu, off-cpu or alloc");
	m->stack_of = (uint8_t)of;
	return vocab_text(d, value, kind, &m->stack);
}

static bool read_cpu_stack(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	return read_stack_of(d, value, what, to, PLAN_STACK_CPU);
}

static bool read_off_cpu_stack(struct vocab_draft *d, const struct yaml_node *value, const char *what,
                               void *to)
{
	return read_stack_of(d, value, what, to, PLAN_STACK_OFF_CPU);
}

static bool read_alloc_stack(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	return read_stack_of(d, value, what, to, PLAN_STACK_ALLOC);
}

/* Reads a field, or a mapping from the kind of stacks to the field. */
static bool read_stack(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	static const struct vocab_key keys[] = { { "cpu", read_cpu_stack, 0 },
		                                 { "off-cpu", read_off_cpu_stack, 0 },
		                                 { "alloc", read_alloc_stack, 0 } };
	struct vocab_row *const row = to;

	return value->kind == NODE_MAP ? VOCAB_MAP(d, value, what, keys, row)
	                               : vocab_text(d, value, what, &row->plan.stack);
}

static bool read_bytes(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	check_phase(d, value, row, what, 1U << PLAN_SPAN | 1U << PLAN_BEGIN, "span or begin");
	if (row->plan.named.p != NULL)
		yaml_bad(&d->file, value, "bytes does not go with named: it has names of its own");
	return vocab_read_bytes(d, value, what, &row->plan);
}

static bool read_category(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;
	const bool ok = vocab_read_category(d, value, what, &row->plan);

	if (row->plan.named.p != NULL)
		return yaml_bad(&d->file, value,
		                "category does not go with named: the events of a class share theirs");
	return ok;
}

static bool read_name(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	return vocab_templates(d, value, what, &row->plan.names, &row->plan.nnames);
}

static bool read_duration(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	check_phase(d, value, row, what, 1U << PLAN_SPAN, "span");
	return vocab_text(d, value, what, &row->plan.duration);
}

static bool read_values(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;

	check_phase(d, value, row, what, 1U << PLAN_COUNTER, "counter");
	return vocab_texts(d, value, what, &row->plan.values, &row->plan.nvalues);
}

static bool read_series(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to)
{
	struct vocab_row *const row = to;
	struct slice table = { NULL, 0, 0 };

	check_phase(d, value, row, what, 1U << PLAN_COUNTER, "counter");
	vocab_text(d, value, what, &table);
	row->plan.has_series = table.p != NULL && vocab_table(d, value, table, &row->plan.series);
	return row->plan.has_series;
}

/* ---- the whole rule ---- */

/* In reading order: the phase before the keys that are checked by it; the payload before the layout, which
 * sets a default payload; the parts before the category, which can refer to them. */
static const struct vocab_key rule_keys[] = {
	{ "event", read_event, 0 },
	{ "match", read_match, 0 },
	{ "fields", read_fields, 0 },
	{ "named", read_named, 0 },
	{ "phase", read_phase, 0 },
	{ "pair", read_pair, 0 },
	{ "key", read_key, 0 },
	{ "async", read_async, 0 },
	{ "waiting", read_waiting, 0 },
	{ "state", read_state, 0 },
	{ "parts", vocab_read_parts, offsetof(struct vocab_row, plan) },
	{ "stack", read_stack, 0 },
	{ "category", read_category, 0 },
	{ "name", read_name, 0 },
	{ "track", vocab_read_track, offsetof(struct vocab_row, plan) },
	{ "duration", read_duration, 0 },
	{ "values", read_values, 0 },
	{ "flow", vocab_read_flow, offsetof(struct vocab_row, plan) },
	{ "payload", vocab_text, offsetof(struct vocab_row, plan.payload) },
	{ "layout", vocab_read_layout, offsetof(struct vocab_row, plan) },
	{ "define", vocab_read_define, offsetof(struct vocab_row, plan) },
	{ "epoch", vocab_text, offsetof(struct vocab_row, plan.epoch) },
	{ "facts", vocab_text, offsetof(struct vocab_row, plan.facts) },
	{ "reader", vocab_read_reader, offsetof(struct vocab_row, plan) },
	{ "series", read_series, 0 },
	{ "bytes", read_bytes, 0 },
};

static bool template_needs_fields(const struct plan_template *t)
{
	for (uint32_t i = 0; i < t->nparts; i++)
		if (t->parts[i].ref.nfields > 0)
			return true;
	return false;
}

/* Returns true if the meaning of an event depends on its fields.  A layout alone changes only the fields, not
 * the meaning.  The fields of a counter are its values. */
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
	if (!VOCAB_MAP(d, node, "a rule", rule_keys, row) || d->file.mistakes != mistakes)
		return;
	if (row->nexact == 0 && row->nglobs == 0)
		yaml_bad(&d->file, node, "the rule names no events: event or match is needed");
	if ((row->plan.phase == PLAN_STATE || row->plan.phase == PLAN_STATE_END) && row->plan.state == 0)
		yaml_bad(&d->file, node, "the rule does not say which state: state is needed");
	row->plan.needs_fields = needs_fields(&row->plan);
	add_row(d, row);
}

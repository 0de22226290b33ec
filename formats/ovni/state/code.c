/*
 * Actions of event codes, resolved once for each code from the keywords that the vocabulary has for the
 * reader.
 */
#include "ovni/state/state.h"

/* ---- keywords ---- */

static bool keyword_is(const struct plan *m, const char *key, const char *text)
{
	const struct slice s = plan_word(m, key);

	return s.p != NULL && slice_is(s, text);
}

/* Checks of events other than the states of stacks. */
static const struct {
	const char *key, *value;
	void (*check)(const struct state_event *x);
	uint8_t action;
} actions[] = {
	{ "lifecycle", "create", state_check_life, STATE_CREATE },
	{ "lifecycle", "execute", state_check_life, STATE_EXECUTE },
	{ "lifecycle", "cool", state_check_life, STATE_COOL },
	{ "lifecycle", "pause", state_check_life, STATE_PAUSE },
	{ "lifecycle", "warm", state_check_life, STATE_WARM },
	{ "lifecycle", "resume", state_check_life, STATE_RESUME },
	{ "lifecycle", "end", state_check_life, STATE_END },
	{ "affinity", "self", state_check_affinity, STATE_SELF },
	{ "affinity", "remote", state_check_affinity, STATE_REMOTE },
	{ "flush", "open", state_check_flush, STATE_OPEN },
	{ "flush", "close", state_check_flush, STATE_CLOSE },
	{ "mark", "set", state_check_mark, STATE_SET },
	{ "mark", "push", state_check_mark, STATE_PUSH },
	{ "mark", "pop", state_check_mark, STATE_POP },
	{ "progress", "p", state_check_progress, STATE_PROGRESSING },
	{ "progress", "r", state_check_progress, STATE_RESTING },
	{ "progress", "a", state_check_progress, STATE_ABSORBING },
	{ "task", "type", state_check_task, STATE_TYPE },
	{ "task", "create", state_check_task, STATE_CREATE },
	{ "task", "create-parallel", state_check_task, STATE_CREATE_PARALLEL },
	{ "task", "execute", state_check_task, STATE_EXECUTE },
	{ "task", "pause", state_check_task, STATE_PAUSE },
	{ "task", "resume", state_check_task, STATE_RESUME },
	{ "task", "end", state_check_task, STATE_END },
	{ "worksharing", "begin", state_check_worksharing, STATE_BEGIN },
	{ "worksharing", "end", state_check_worksharing, STATE_END },
	{ "counters", "true", state_check_counters, STATE_SET },
	{ "burst", "true", state_check_burst, STATE_SET },
};

static void read_action(struct state_code *code, const struct plan *m)
{
	code->check = state_check_stack;
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		if (keyword_is(m, actions[i].key, actions[i].value)) {
			code->check = actions[i].check;
			code->action = actions[i].action;
			return;
		}
}

/* ---- offsets in the payload ---- */

/* Returns the offset of a field of this size; STATE_NO_FIELD: missing, or after fields of variable size. */
static uint8_t find_offset(const struct plan *m, const char *name, uint32_t size)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nlayout; i++) {
		const struct plan_layout_field *const f = &m->layout[i];
		if (f->type == VALUE_STRING || f->type == VALUE_BYTES || f->repeated ||
		    at >= STATE_NO_FIELD - 8)
			break;
		if (slice_is(f->name, name))
			return plan_width(f->type) == size ? (uint8_t)at : STATE_NO_FIELD;
		at += plan_width(f->type);
	}
	return STATE_NO_FIELD;
}

static void read_offsets(struct state_code *c, const struct plan *m)
{
	c->fixed_size = m->layout_size < STATE_NO_FIELD ? (uint8_t)m->layout_size : STATE_NO_FIELD;
	c->at_task = find_offset(m, "taskid", 4);
	c->at_type = find_offset(m, "typeid", 4);
	c->at_body = find_offset(m, "bodyid", 4);
	c->at_cpu = find_offset(m, "cpu", 4);
	c->at_tid = find_offset(m, "tid", 4);
	c->at_value = find_offset(m, "value", 8);
	c->at_mark = find_offset(m, "type", 4);
}

/* ---- resolving ---- */

/* Numbers texts from 1; returns 0 for none, and if there are too many. */
static uint8_t number_text(struct slice *list, uint32_t *n, uint32_t max, struct slice text)
{
	if (text.p == NULL)
		return 0;
	for (uint32_t i = 1; i <= *n; i++)
		if (slice_equal(list[i], text))
			return (uint8_t)i;
	if (*n + 1 >= max)
		return 0;
	list[++*n] = text;
	return (uint8_t)*n;
}

/* States of equal text are one state, whichever code names it. */
static bool number_value(struct state_checker *c, struct state_code *code)
{
	code->value = tabletext_get(&c->values, code->value_text);
	if (code->value != TABLE_NONE)
		return true;
	code->value = ++c->nvalues;
	return tabletext_put(&c->values, code->value_text, code->value);
}

static bool is_required(const struct ovni_system *s, struct slice model)
{
	/* Single streams, and streams without the list, do not show which models the trace requires. */
	if (!s->in_folder || s->nrequired == 0 || model.p == NULL || slice_is(model, "ovni"))
		return true;
	for (uint32_t i = 0; i < s->nrequired; i++)
		if (slice_equal(s->required[i], model))
			return true;
	return s->nrequired >= OVNI_MAX_REQUIRED;
}

static void read_stack(struct state_checker *c, struct state_code *code, const struct plan *m)
{
	const struct slice stack = plan_word(m, "stack"), value = plan_word(m, "value");

	code->move = keyword_is(m, "kind", "push") ? 1 : keyword_is(m, "kind", "pop") ? -1 : 0;
	code->stack = number_text(c->stack_names, &c->nstack_names, STATE_STACK_NAMES, stack);
	if (code->stack != 0 && slice_is(stack, "kernel"))
		c->kernel = code->stack;
	code->repeat_error = keyword_is(m, "repeat", "error");
	code->open_error = keyword_is(m, "open", "error");
	code->value_text = value.p != NULL ? value : SLICE_LIT("a state");
	if (m->nnames == 1 && m->names->nparts == 1 && m->names->parts->ref.nfields == 0)
		code->value_name = m->names->parts->text;
	code->label = value.n > 6 && memcmp(value.p + value.n - 6, ".label", 6) == 0;
}

static bool resolve(struct state_checker *c, struct state_code *code, const struct plan *m)
{
	const struct slice model = plan_word(m, "model");

	read_offsets(code, m);
	read_action(code, m);
	const bool on_cpu = keyword_is(m, "needs", "active-on-cpu");
	code->needs = on_cpu || keyword_is(m, "needs", "active") ? STATE_NEEDS_ACTIVE
	              : keyword_is(m, "needs", "running")        ? STATE_NEEDS_RUNNING
	                                                         : STATE_NEEDS_ANY;
	code->on_cpu = on_cpu || keyword_is(m, "on-cpu", "true");
	read_stack(c, code, m);
	code->checked = m->nwords > 0;
	code->refused = keyword_is(m, "old", "refused");
	code->model = number_text(c->models, &c->nmodels, STATE_MAX_MODELS, model);
	code->model_off = !is_required(c->system, model);
	return number_value(c, code);
}

struct state_code *state_code_of(struct state_checker *c, const struct class *cls)
{
	if (cls->index < c->ncodes && c->codes[cls->index].cls != NULL)
		return &c->codes[cls->index];
	if (!array_reach(&c->codes, &c->ncodes, cls->index, sizeof *c->codes))
		return NULL;
	struct state_code *const code = &c->codes[cls->index];
	const struct plan *const m = ovni_class_plan(cls);
	*code = (struct state_code){ .checked = m == NULL, .refused = m == NULL };
	if (m != NULL && !resolve(c, code, m))
		return NULL;
	code->cls = cls;
	return code;
}

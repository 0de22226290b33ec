#include "ovni/state/parts.h"

#include "ovni/code.h"

/* The words of the vocabulary, resolved once for each code. */

struct word {
	const char *name;
	uint8_t n;
};

static uint8_t
word_of(const struct plan *m, const char *key, const struct word *words)
{
	const struct slice s = plan_word(m, key);

	for (; s.p != NULL && words->name != NULL; words++)
		if (slice_is(s, words->name))
			return words->n;
	return 0;
}

static bool
word_is(const struct plan *m, const char *key, const char *text)
{
	const struct slice s = plan_word(m, key);

	return s.p != NULL && slice_is(s, text);
}

static const struct word life_words[] = { { "create", STATE_CREATE }, { "execute", STATE_EXECUTE },
	                                  { "cool", STATE_COOL },     { "pause", STATE_PAUSE },
	                                  { "warm", STATE_WARM },     { "resume", STATE_RESUME },
	                                  { "end", STATE_END },       { NULL, 0 } };
static const struct word affinity_words[] = { { "self", STATE_SELF },
	                                      { "remote", STATE_REMOTE },
	                                      { NULL, 0 } };
static const struct word flush_words[] = { { "open", STATE_OPEN }, { "close", STATE_CLOSE }, { NULL, 0 } };
static const struct word mark_words[] = {
	{ "set", STATE_SET }, { "push", STATE_PUSH }, { "pop", STATE_POP }, { NULL, 0 }
};
static const struct word progress_words[] = {
	{ "p", STATE_PROGRESSING }, { "r", STATE_RESTING }, { "a", STATE_ABSORBING }, { NULL, 0 }
};
static const struct word task_words[] = { { "type", STATE_TYPE },
	                                  { "create", STATE_CREATE },
	                                  { "create-parallel", STATE_CREATE_PARALLEL },
	                                  { "execute", STATE_EXECUTE },
	                                  { "pause", STATE_PAUSE },
	                                  { "resume", STATE_RESUME },
	                                  { "end", STATE_END },
	                                  { NULL, 0 } };
static const struct word worksharing_words[] = { { "begin", STATE_BEGIN },
	                                         { "end", STATE_END },
	                                         { NULL, 0 } };
static const struct word counters_words[] = { { "true", STATE_SET }, { NULL, 0 } };
static const struct word burst_words[] = { { "true", STATE_SET }, { NULL, 0 } };
static const struct word needs_words[] = { { "active", STATE_NEEDS_ACTIVE },
	                                   { "active-on-cpu", STATE_NEEDS_ACTIVE },
	                                   { "running", STATE_NEEDS_RUNNING },
	                                   { NULL, 0 } };

static const struct {
	const char *key;
	uint8_t role;
	const struct word *words;
} roles[] = {
	{ "lifecycle", STATE_ROLE_LIFE, life_words },
	{ "affinity", STATE_ROLE_AFFINITY, affinity_words },
	{ "flush", STATE_ROLE_FLUSH, flush_words },
	{ "mark", STATE_ROLE_MARK, mark_words },
	{ "progress", STATE_ROLE_PROGRESS, progress_words },
	{ "task", STATE_ROLE_TASK, task_words },
	{ "worksharing", STATE_ROLE_WORKSHARING, worksharing_words },
	{ "counters", STATE_ROLE_COUNTERS, counters_words },
	{ "burst", STATE_ROLE_BURST, burst_words },
};

/* ---- places in the payload ---- */

static uint8_t
place_of(const struct plan *m, const char *name, uint32_t size)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nlayout; i++) {
		const struct plan_layout_field *const f = &m->layout[i];
		if (f->type == VALUE_STRING || f->type == VALUE_BYTES || f->repeated ||
		    at >= STATE_NOWHERE - 8)
			break;
		if (slice_is(f->name, name))
			return plan_width(f->type) == size ? (uint8_t)at : STATE_NOWHERE;
		at += plan_width(f->type);
	}
	return STATE_NOWHERE;
}

static void
find_places(struct state_code *c, const struct plan *m)
{
	c->least = m->layout_size < STATE_NOWHERE ? (uint8_t)m->layout_size : STATE_NOWHERE;
	c->at_task = place_of(m, "taskid", 4);
	c->at_type = place_of(m, "typeid", 4);
	c->at_body = place_of(m, "bodyid", 4);
	c->at_cpu = place_of(m, "cpu", 4);
	c->at_tid = place_of(m, "tid", 4);
	c->at_value = place_of(m, "value", 8);
	c->at_mark = place_of(m, "type", 4);
}

/* ---- numbers for words ---- */

/* From 1; 0: no such word, or too many of them. */
static uint8_t
number_of(struct slice *list, uint32_t *n, uint32_t most, struct slice word)
{
	if (word.p == NULL)
		return 0;
	for (uint32_t i = 1; i <= *n; i++)
		if (slice_equal(list[i], word))
			return (uint8_t)i;
	if (*n + 1 >= most)
		return 0;
	list[++*n] = word;
	return (uint8_t)*n;
}

/* States of one text are one state, whichever code names it. */
static bool
number_value(struct state_checker *c, struct state_code *code)
{
	code->value = tabletext_get(&c->values, code->value_text);
	if (code->value != TABLE_NONE)
		return true;
	code->value = ++c->nvalues;
	return tabletext_put(&c->values, code->value_text, code->value);
}

static bool
is_required(const struct ovni_system *s, struct slice model)
{
	/* single streams, and those without the list, do not show what the trace requires */
	if (!s->in_folder || s->nrequired == 0 || model.p == NULL || slice_is(model, "ovni"))
		return true;
	for (uint32_t i = 0; i < s->nrequired; i++)
		if (slice_equal(s->required[i], model))
			return true;
	return s->nrequired >= OVNI_MAX_REQUIRED;
}

static void
find_role(struct state_code *code, const struct plan *m)
{
	for (size_t i = 0; i < sizeof roles / sizeof roles[0] && code->role == STATE_ROLE_STACK; i++) {
		code->action = word_of(m, roles[i].key, roles[i].words);
		code->role = code->action != STATE_NO_ACTION ? roles[i].role : STATE_ROLE_STACK;
	}
}

static void
find_stack(struct state_checker *c, struct state_code *code, const struct plan *m)
{
	const struct slice stack = plan_word(m, "stack"), value = plan_word(m, "value");

	code->move = word_is(m, "kind", "push") ? 1 : word_is(m, "kind", "pop") ? -1 : 0;
	code->stack = number_of(c->stack_names, &c->nstack_names, STATE_STACK_NAMES, stack);
	if (code->stack != 0 && slice_is(stack, "kernel"))
		c->kernel = code->stack;
	code->repeat_error = word_is(m, "repeat", "error");
	code->open_error = word_is(m, "open", "error");
	code->value_text = value.p != NULL ? value : SLICE_LIT("a state");
	if (m->nnames == 1 && m->names->nparts == 1 && m->names->parts->ref.nfields == 0)
		code->value_name = m->names->parts->text;
	code->label = value.n > 6 && memcmp(value.p + value.n - 6, ".label", 6) == 0;
}

static bool
resolve(struct state_checker *c, struct state_code *code, const struct plan *m)
{
	const struct slice model = plan_word(m, "model");

	find_places(code, m);
	find_role(code, m);
	find_stack(c, code, m);
	code->checked = m->nwords > 0;
	code->needs = word_of(m, "needs", needs_words);
	code->on_cpu = word_is(m, "on-cpu", "true") || word_is(m, "needs", "active-on-cpu");
	code->refused = word_is(m, "old", "refused");
	code->model = number_of(c->models, &c->nmodels, STATE_MAX_MODELS, model);
	code->model_off = !is_required(c->system, model);
	return number_value(c, code);
}

struct state_code *
state_code_of(struct state_checker *c, const struct class *cls)
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

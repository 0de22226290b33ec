#include <stdlib.h>

#include "ovni/ovni_emulate.h"

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

static const struct word life_words[] = { { "create", EMU_CREATE }, { "execute", EMU_EXECUTE },
	                                  { "cool", EMU_COOL },     { "pause", EMU_PAUSE },
	                                  { "warm", EMU_WARM },     { "resume", EMU_RESUME },
	                                  { "end", EMU_END },       { NULL, 0 } };
static const struct word affinity_words[] = { { "self", EMU_SELF }, { "remote", EMU_REMOTE }, { NULL, 0 } };
static const struct word flush_words[] = { { "open", EMU_OPEN }, { "close", EMU_CLOSE }, { NULL, 0 } };
static const struct word mark_words[] = {
	{ "set", EMU_SET }, { "push", EMU_PUSH }, { "pop", EMU_POP }, { NULL, 0 }
};
static const struct word progress_words[] = {
	{ "p", EMU_PROGRESSING }, { "r", EMU_RESTING }, { "a", EMU_ABSORBING }, { NULL, 0 }
};
static const struct word task_words[] = { { "type", EMU_TYPE },
	                                  { "create", EMU_CREATE },
	                                  { "create-parallel", EMU_CREATE_PARALLEL },
	                                  { "execute", EMU_EXECUTE },
	                                  { "pause", EMU_PAUSE },
	                                  { "resume", EMU_RESUME },
	                                  { "end", EMU_END },
	                                  { NULL, 0 } };
static const struct word worksharing_words[] = { { "begin", EMU_BEGIN }, { "end", EMU_END }, { NULL, 0 } };
static const struct word counters_words[] = { { "true", EMU_SET }, { NULL, 0 } };
static const struct word needs_words[] = {
	{ "active", EMU_ACTIVE }, { "active-on-cpu", EMU_ACTIVE }, { "running", EMU_RUNNING }, { NULL, 0 }
};

static const struct {
	const char *key;
	uint8_t role;
	const struct word *words;
} roles[] = {
	{ "lifecycle", EMU_LIFE, life_words },
	{ "affinity", EMU_AFFINITY, affinity_words },
	{ "flush", EMU_FLUSH, flush_words },
	{ "mark", EMU_MARK, mark_words },
	{ "progress", EMU_PROGRESS, progress_words },
	{ "task", EMU_TASK, task_words },
	{ "worksharing", EMU_WORKSHARING, worksharing_words },
	{ "counters", EMU_COUNTERS, counters_words },
};

/* ---- places in the payload ---- */

static uint8_t
place_of(const struct plan *m, const char *name, uint32_t size)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nlayout; i++) {
		const struct plan_layout_field *const f = &m->layout[i];
		if (f->type == VALUE_STRING || f->type == VALUE_BYTES || f->repeated || at >= EMU_NOWHERE - 8)
			break;
		if (slice_is(f->name, name))
			return plan_width(f->type) == size ? (uint8_t)at : EMU_NOWHERE;
		at += plan_width(f->type);
	}
	return EMU_NOWHERE;
}

static void
find_places(struct emu_act *a, const struct plan *m)
{
	a->least = m->layout_size < EMU_NOWHERE ? (uint8_t)m->layout_size : EMU_NOWHERE;
	a->at_task = place_of(m, "taskid", 4);
	a->at_type = place_of(m, "typeid", 4);
	a->at_body = place_of(m, "bodyid", 4);
	a->at_cpu = place_of(m, "cpu", 4);
	a->at_tid = place_of(m, "tid", 4);
	a->at_value = place_of(m, "value", 8);
	a->at_mark = place_of(m, "type", 4);
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
number_value(struct ovni_emulator *em, struct emu_act *a)
{
	a->value = tabletext_get(&em->values, a->value_text);
	if (a->value != TABLE_NONE)
		return true;
	a->value = ++em->nvalues;
	return tabletext_put(&em->values, a->value_text, a->value);
}

static bool
is_required(const struct ovni_shared *sh, struct slice model)
{
	/* single streams, and those without the list, do not tell what the trace requires */
	if (!sh->in_folder || sh->nrequired == 0 || model.p == NULL || slice_is(model, "ovni"))
		return true;
	for (uint32_t i = 0; i < sh->nrequired; i++)
		if (slice_equal(sh->required[i], model))
			return true;
	return sh->nrequired >= OVNI_MAX_REQUIRED;
}

static bool
resolve(struct ovni_emulator *em, const struct ovni_shared *sh, struct emu_act *a, const struct plan *m)
{
	const struct slice model = plan_word(m, "model"), stack = plan_word(m, "stack");

	find_places(a, m);
	a->checked = m->nwords > 0;
	for (size_t i = 0; i < sizeof roles / sizeof roles[0] && a->role == EMU_PLAIN; i++) {
		a->step = word_of(m, roles[i].key, roles[i].words);
		a->role = a->step != EMU_NO_STEP ? roles[i].role : EMU_PLAIN;
	}
	a->needs = word_of(m, "needs", needs_words);
	a->on_cpu = word_is(m, "on-cpu", "true") || word_is(m, "needs", "active-on-cpu");
	a->jumbo = word_is(m, "jumbo", "true");
	a->repeat_error = word_is(m, "repeat", "error");
	a->open_error = word_is(m, "open", "error");
	a->refused = word_is(m, "old", "refused");
	a->move = word_is(m, "kind", "push") ? 1 : word_is(m, "kind", "pop") ? -1 : 0;
	a->model = number_of(em->models, &em->nmodels, EMU_MODELS, model);
	a->model_off = !is_required(sh, model);
	a->stack = number_of(em->stacks_names, &em->nstack_names, EMU_STACK_NAMES, stack);
	if (a->stack != 0 && slice_is(stack, "kernel"))
		em->kernel = a->stack;
	a->value_text = plan_word(m, "value");
	if (a->value_text.p == NULL)
		a->value_text = SLICE_LIT("a state");
	if (m->nnames == 1 && m->names->nparts == 1 && m->names->parts->ref.nfields == 0)
		a->value_name = m->names->parts->text;
	a->label = a->value_text.n > 6 && memcmp(a->value_text.p + a->value_text.n - 6, ".label", 6) == 0;
	return number_value(em, a);
}

/* NULL: no memory. */
struct emu_act *
emu_act_of(struct ovni_emulator *em, const struct ovni_shared *sh, const struct class *cls)
{
	if (!array_reach(&em->acts, &em->nacts, cls->index, sizeof *em->acts))
		return NULL;
	struct emu_act *const a = &em->acts[cls->index];
	if (a->cls != NULL)
		return a;
	const struct plan *m = cls->plan;
	while (m != NULL && m->named.p != NULL && !plan_glob(m->named, cls->name))
		m = m->otherwise;
	*a = (struct emu_act){ .checked = m == NULL, .refused = m == NULL };
	if (m != NULL && !resolve(em, sh, a, plan_shape(m)))
		return NULL;
	a->cls = cls;
	return a;
}

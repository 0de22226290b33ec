#include <stdlib.h>

#include "ovni/ovni_emulate.h"

/*
 * Stacks of states: a thread has one for each word that the vocabulary uses,
 * one for each type of marks, and one of bodies for each model with tasks.
 * They are lists in one pool, so that memory has one bound for all.
 */

static struct emu_stack *
find_stack(const struct ovni_emulator *em, uint32_t thread, uint8_t id)
{
	const uint32_t i = table64_get(&em->stack_index, (uint64_t)thread << 8 | id);

	return i != TABLE_NONE ? &em->stacks[i] : NULL;
}

/* NULL: no more of them. */
static struct emu_stack *
make_stack(const struct emu_step_of *x, uint8_t id)
{
	struct ovni_emulator *const em = x->em;

	if (em->nstacks >= OVNI_EMU_STACKS) {
		ovni_limit(x->st, "stacks of states", OVNI_EMU_STACKS);
		return NULL;
	}
	if (!array_room(&em->stacks, em->nstacks, &em->stacks_cap, sizeof *em->stacks) ||
	    !table64_put(&em->stack_index, (uint64_t)x->thread << 8 | id, em->nstacks)) {
		em->failed = true;
		return NULL;
	}
	em->stacks[em->nstacks] = (struct emu_stack){ .thread = x->thread, .top = TABLE_NONE, .id = id };
	return &em->stacks[em->nstacks++];
}

/* TABLE_NONE: the pool is full. */
static uint32_t
make_entry(const struct emu_step_of *x)
{
	struct ovni_emulator *const em = x->em;
	const uint32_t i = em->free_entry;

	if (i != TABLE_NONE) {
		em->free_entry = em->entries[i].below;
		return i;
	}
	if (em->nentries >= OVNI_EMU_ENTRIES) {
		ovni_limit(x->st, "open states", OVNI_EMU_ENTRIES);
		return TABLE_NONE;
	}
	if (!array_room(&em->entries, em->nentries, &em->entries_cap, sizeof *em->entries)) {
		em->failed = true;
		return TABLE_NONE;
	}
	return em->nentries++;
}

const struct emu_entry *
emu_top(const struct ovni_emulator *em, uint32_t thread, uint8_t id)
{
	const struct emu_stack *const s = find_stack(em, thread, id);

	return s != NULL && s->top != TABLE_NONE ? &em->entries[s->top] : NULL;
}

/* ---- what is said ---- */

struct state_text {
	char s[360];
};

static int
shown(struct slice s)
{
	return s.n < 40 ? (int)s.n : 40;
}

static const char *
state_text(struct state_text *t, const struct emu_act *a, uint64_t value)
{
	struct quoted q;

	if (a->role == EMU_MARK)
		snprintf(t->s, sizeof t->s, "value %" PRId64, (int64_t)value);
	else if (a->label)
		snprintf(t->s, sizeof t->s, "a label");
	else if (a->value_name.p != NULL)
		snprintf(t->s, sizeof t->s, "%s (%.*s)", quoted(&q, a->value_name), shown(a->value_text),
		         a->value_text.p);
	else
		snprintf(t->s, sizeof t->s, "state %.*s", shown(a->value_text), a->value_text.p);
	return t->s;
}

static void
say_mismatch(const struct emu_step_of *x, uint64_t value, const struct emu_entry *top)
{
	const struct emu_act *const opener = &x->em->acts[top->cls];
	struct state_text t, t2;

	emu_say(x, OVNI_RULE_NESTING_MISMATCH,
	        "%.*s closes %s, but the innermost open one is %s, opened by %.*s at byte %" PRIu64,
	        (int)x->act->cls->name.n, x->act->cls->name.p, state_text(&t, x->act, value),
	        opener->label && x->act->label ? "another label" : state_text(&t2, opener, top->value),
	        (int)opener->cls->name.n, opener->cls->name.p, top->offset);
}

/* P3, P4: what is wrong with pushing. */
static void
check_push(const struct emu_step_of *x, const struct emu_stack *s, uint64_t value)
{
	const struct emu_entry *const top = s->top != TABLE_NONE ? &x->em->entries[s->top] : NULL;
	struct state_text t;

	if (x->act->repeat_error && top != NULL && top->value == value)
		emu_say(x, OVNI_RULE_NESTING_REPEAT,
		        "%.*s opens %s, which is the innermost open one since byte %" PRIu64,
		        (int)x->act->cls->name.n, x->act->cls->name.p, state_text(&t, x->act, value),
		        top->offset);
	if (s->depth == EMU_DEPTH && s->over == 0)
		emu_say(x, OVNI_RULE_NESTING_DEEP, "%.*s would be number %d on its stack",
		        (int)x->act->cls->name.n, x->act->cls->name.p, EMU_DEPTH + 1);
}

/* ---- push and pop ---- */

void
emu_push(const struct emu_step_of *x, uint8_t id, uint64_t value, bool body, bool quiet)
{
	struct emu_stack *s = find_stack(x->em, x->thread, id);

	if (s == NULL && (s = make_stack(x, id)) == NULL)
		return;
	if (!quiet)
		check_push(x, s, value);
	const uint32_t i = s->depth < EMU_DEPTH && s->over == 0 ? make_entry(x) : TABLE_NONE;
	if (i == TABLE_NONE) {
		s->over += s->over < UINT32_MAX;
		return;
	}
	x->em->entries[i] =
	    (struct emu_entry){ value, x->e->offset, s->top, x->act->cls->index & 0x7fffffff, body };
	s->top = i;
	s->depth++;
}

static void
drop(struct ovni_emulator *em, struct emu_stack *s)
{
	const uint32_t i = s->top;

	s->top = em->entries[i].below;
	s->depth--;
	em->entries[i].below = em->free_entry;
	em->free_entry = i;
}

static bool
holds(const struct ovni_emulator *em, const struct emu_stack *s, uint64_t value)
{
	for (uint32_t i = s->top; i != TABLE_NONE; i = em->entries[i].below)
		if (em->entries[i].value == value)
			return true;
	return false;
}

static void
say_empty(const struct emu_step_of *x, uint64_t value)
{
	struct state_text t;

	emu_say(x, OVNI_RULE_NESTING_EMPTY, "%.*s closes %s, and nothing is open", (int)x->act->cls->name.n,
	        x->act->cls->name.p, state_text(&t, x->act, value));
}

/* P1, P2.  A state that is open further below is closed with all that lies on it; one that is not open
 * changes nothing. */
uint32_t
emu_pop(const struct emu_step_of *x, uint8_t id, uint64_t value, bool quiet)
{
	struct emu_stack *const s = find_stack(x->em, x->thread, id);
	uint32_t n = 0;

	if (s != NULL && s->over > 0) {
		s->over--;
		return 1;
	}
	if (s == NULL || s->top == TABLE_NONE) {
		/* when the stacks are full, some are not there */
		if (!quiet && (s != NULL || x->em->nstacks < OVNI_EMU_STACKS))
			say_empty(x, value);
		return 0;
	}
	if (!quiet && x->em->entries[s->top].value != value)
		say_mismatch(x, value, &x->em->entries[s->top]);
	if (!holds(x->em, s, value))
		return 0;
	for (bool found = false; !found; n++) {
		found = x->em->entries[s->top].value == value;
		drop(x->em, s);
	}
	return n;
}

/* ---- marks ---- */

/* K2, K4, K5: the type is declared, and of the kind that the event is for. */
static bool
check_mark_type(const struct emu_step_of *x, uint32_t type)
{
	static const struct ovni_mark none;
	const struct ovni_mark *const mark = type < OVNI_MARK_TYPES ? &x->sh->marks[type] : &none;
	const char *const wanted = x->act->step == EMU_SET ? "single" : "stack";

	if (mark->title.p == NULL) {
		if (x->sh->in_folder)
			emu_say(x, OVNI_RULE_MARK_UNDECLARED,
			        "mark type %" PRId32 " is declared in no stream.json", (int32_t)type);
		return type < OVNI_MARK_TYPES;
	}
	if (slice_is(mark->chan_type, wanted))
		return true;
	emu_say(x, OVNI_RULE_MARK_KIND, "%.*s is for types of chan_type \"%s\", and type %" PRIu32 " is not",
	        (int)x->act->cls->name.n, x->act->cls->name.p, wanted, type);
	return false;
}

void
emu_mark(const struct emu_step_of *x)
{
	const struct emu_act *const a = x->act;

	if (a->at_mark == EMU_NOWHERE || a->at_value == EMU_NOWHERE || !emu_payload(x, a->least, true))
		return;
	const uint32_t type = emu_u32(x, a->at_mark);
	const uint64_t value = load_u64(x->payload.p + a->at_value, x->st->big);
	if (!check_mark_type(x, type))
		return;
	if (value == 0)
		emu_say(x, OVNI_RULE_MARK_ZERO, "a mark of type %" PRIu32 " with value 0", type);
	if (a->step == EMU_PUSH)
		emu_push(x, (uint8_t)(EMU_STACK_MARKS + type), value, false, false);
	else if (a->step == EMU_POP)
		emu_pop(x, (uint8_t)(EMU_STACK_MARKS + type), value, false);
}

#include <stdlib.h>

#include "ovni/ovni_emulate.h"

/* The way of one event through the rules. */

void
emu_say(const struct emu_step_of *x, enum ovni_rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(x->st->r->findings, &ovni_rules[rule], x->e->offset, 0, fmt, ap);
	va_end(ap);
}

bool
emu_payload(const struct emu_step_of *x, uint32_t n, bool exact)
{
	if (x->left_out)
		return false;
	if (x->payload.n == n || (x->payload.n > n && !exact))
		return true;
	emu_say(x, OVNI_RULE_PAYLOAD_REFUSED, "%.*s has %" PRIu32 " bytes of payload, expected %s%" PRIu32,
	        (int)x->act->cls->name.n, x->act->cls->name.p, x->payload.n, exact ? "" : "at least ", n);
	return false;
}

uint32_t
emu_u32(const struct emu_step_of *x, uint8_t place)
{
	return place != EMU_NOWHERE && place + 4U <= x->payload.n ? load_u32(x->payload.p + place, x->st->big)
	                                                          : 0;
}

/* ---- the rules in their order ---- */

/* What the emulator knows no such event of, or whose model nobody asked for.  Once for each code. */
static bool
is_known(const struct emu_step_of *x)
{
	struct emu_act *const a = x->act;
	struct quoted q, q2;

	if (!a->refused && !a->model_off)
		return true;
	if (!a->said && a->refused)
		emu_say(x, OVNI_RULE_EVENT_REFUSED, "event %s, here first", quoted(&q, a->cls->name));
	else if (!a->said)
		emu_say(x, OVNI_RULE_MODEL_NOT_REQUIRED,
		        "event %s is of model %s, which no stream's ovni.require has; here first",
		        quoted(&q, a->cls->name), quoted(&q2, x->em->models[a->model]));
	a->said = true;
	return !a->refused;
}

/* S14, P6: what the thread must be. */
static void
check_thread(const struct emu_step_of *x)
{
	struct emu_thread *const t = emu_thread(x);
	const struct emu_act *const a = x->act;

	if (a->on_cpu && t->out && !t->said_out) {
		emu_say(x, OVNI_RULE_OUT_OF_CPU, "%.*s while the kernel has taken the thread off its CPU",
		        (int)a->cls->name.n, a->cls->name.p);
		t->said_out = true;
	}
	if (t->said_needs || a->needs == EMU_ANY ||
	    (a->needs == EMU_ACTIVE ? emu_is_active(t) : t->life == EMU_IS_RUNNING))
		return;
	static const char *const lives[] = { "has not started", "is running", "is paused",
		                             "is cooling",      "is warming", "has ended" };
	emu_say(x, OVNI_RULE_THREAD_INACTIVE, "%.*s asks for a thread that is %s, and it %s",
	        (int)a->cls->name.n, a->cls->name.p,
	        a->needs == EMU_ACTIVE ? "running, cooling or warming" : "running", lives[t->life]);
	t->said_needs = true;
}

static void
plain(const struct emu_step_of *x)
{
	const struct emu_act *const a = x->act;

	if (a->stack == 0)
		return;
	if (a->move > 0)
		emu_push(x, a->stack, a->value, false, false);
	else if (a->move < 0)
		emu_pop(x, a->stack, a->value, false);
	if (a->stack == x->em->kernel && a->move != 0) {
		emu_thread(x)->out = emu_top(x->em, x->thread, a->stack) != NULL;
		emu_thread(x)->said_out = false;
	}
}

static void
apply(const struct emu_step_of *x)
{
	switch ((enum emu_role)x->act->role) {
	case EMU_PLAIN:
		plain(x);
		break;
	case EMU_LIFE:
		emu_life(x);
		break;
	case EMU_AFFINITY:
		emu_affinity(x);
		break;
	case EMU_FLUSH:
		emu_flush(x);
		break;
	case EMU_MARK:
		emu_mark(x);
		break;
	case EMU_PROGRESS:
		emu_progress(x);
		break;
	case EMU_TASK:
		emu_task(x);
		break;
	case EMU_WORKSHARING:
		emu_worksharing(x);
		break;
	case EMU_COUNTERS:
		emu_counters(x);
		break;
	}
}

/* ---- the event ---- */

static void
find_payload(struct emu_step_of *x, const struct batch *b)
{
	for (uint32_t i = 0; i < x->e->nfields; i++) {
		const struct field *const f = &b->fields[x->e->first_field + i];
		if (f->value.type == VALUE_BYTES && slice_is(f->name, "payload"))
			x->payload = value_text(&f->value);
		else if (f->value.type == VALUE_U8 && slice_is(f->name, "flags"))
			x->has_jumbo = (f->value.u64 & OVNI_FLAG_JUMBO) != 0;
	}
	x->left_out = x->has_jumbo && x->payload.p == NULL;
}

static struct ovni_emulator *
emulator_of(struct ovni_shared *sh)
{
	if (sh->emulator == NULL && (sh->emulator = calloc(1, sizeof *sh->emulator)) != NULL) {
		sh->emulator->free_entry = TABLE_NONE;
		sh->emulator->units.most = OVNI_EMU_UNITS;
	}
	return sh->emulator;
}

void
ovni_emulate(struct reader *r, const struct batch *b, const struct event *e)
{
	struct ovni_shared *const sh = r->shared;
	struct ovni_emulator *const em = emulator_of(sh);
	struct emu_step_of x = { .st = r->state, .sh = sh, .em = em, .e = e };

	if (em == NULL || em->failed || r->trace->vocabulary == NULL)
		return;
	x.act = emu_act_of(em, sh, e->cls);
	if (x.act == NULL)
		em->failed = true;
	if (em->failed || !x.act->checked || !emu_thread_of(&x) || !is_known(&x))
		return;
	find_payload(&x, b);
	check_thread(&x);
	apply(&x);
}

/* S11 */
void
ovni_emulate_nothing(struct ovni_state *st)
{
	if (((const struct ovni_shared *)st->r->shared)->rules_state)
		ovni_say(st->r, OVNI_RULE_THREAD_NOT_DEAD, "the thread has no events");
}

bool
ovni_emulate_failed(const struct ovni_shared *sh)
{
	return sh->rules_state && sh->emulator != NULL && sh->emulator->failed;
}

void
ovni_emulate_end(struct reader *r)
{
	struct ovni_shared *const sh = r->shared;

	if (sh->emulator != NULL && !sh->emulator->failed)
		emu_check_end(r, sh->emulator);
}

void
ovni_emulate_close(struct ovni_shared *sh)
{
	struct ovni_emulator *const em = sh->emulator;

	if (em == NULL)
		return;
	free(em->acts);
	tabletext_free(&em->values);
	free(em->threads);
	table64_free(&em->by_tid);
	free(em->cpus);
	table64_free(&em->cpu_index);
	free(em->entries);
	free(em->stacks);
	table64_free(&em->stack_index);
	emu_units_free(&em->units);
	free(em);
	sh->emulator = NULL;
}

/* ---- what the trace requires ---- */

bool
ovni_emulate_require(struct ovni_state *st, const char *model)
{
	struct ovni_shared *const sh = st->r->shared;

	for (uint32_t i = 0; i < sh->nrequired; i++)
		if (slice_is(sh->required[i], model))
			return true;
	if (sh->nrequired >= OVNI_MAX_REQUIRED)
		return true;
	return ovni_merge_text(st, model, &sh->required[sh->nrequired++]);
}

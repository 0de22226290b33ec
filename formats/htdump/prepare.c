#include "htdump/prepare.h"

#include <stdlib.h>

#include "htdump/describe.h"
#include "htdump/finding.h"
#include "htdump/plan.h"
#include "htdump/unfold.h"
#include "htdump/vocabulary.h"

/* When the first record of a class comes, its description is complete. */

#define MAX_DECLARED 256U /* fields of a class that is declared */

static void
check_field_count(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_class *const c = rec->c;
	const uint32_t own = c->nfields - (ht_class_base(c) >= 0);
	struct quoted q;

	if (st->wire ? c->nfields == c->declared : own == c->declared || own + 1 == c->declared)
		return;
	ht_finding_add(st, HT_RULE_FIELD_COUNT, rec,
	               "class %s announced %u fields, %u were described before its first event",
	               quoted(&q, c->name), c->declared, c->nfields);
}

/* ---- what the class declares ---- */

/* Words for the types of leaves: the files' own are numbers, or names of C types. */
static struct slice
type_word(uint8_t value)
{
	static const char *const words[] = {
		[VALUE_U8] = "u8",       [VALUE_U16] = "u16",         [VALUE_U32] = "u32",
		[VALUE_U64] = "u64",     [VALUE_I8] = "i8",           [VALUE_I16] = "i16",
		[VALUE_I32] = "i32",     [VALUE_I64] = "i64",         [VALUE_F32] = "float",
		[VALUE_F64] = "double",  [VALUE_ADDRESS] = "pointer", [VALUE_STRING] = "string",
		[VALUE_BYTES] = "bytes",
	};

	return slice_str(words[value]);
}

static const char *
unit_of(const struct ht_class *c, const struct ht_plan *plan, uint32_t leaf)
{
	if (leaf == plan->duration)
		return "ns";
	return c->kind == HT_KIND_FIELD && slice_is(plan->leaves[leaf].name, "size") ? "byte" : NULL;
}

/* What a class that is declared costs, as if it had so many fields more. */
#define CLASS_FIELDS 16U

/* The class of the trace with these fields; those of raw events have their head before them.  Small classes
 * only: nothing depends on it.  false: no memory. */
static bool
declare(struct ht_state *st, struct ht_class *c, const struct ht_plan *plan, struct class *like)
{
	const uint32_t head = st->raw ? HT_HEAD_FIELDS : 0, n = head + plan->nleaves;
	struct class_field f[HT_HEAD_FIELDS + MAX_DECLARED];
	struct ht_classes *const all = &st->classes;
	const uint32_t before = st->r->trace->nplanned;

	if (n > 0 && plan->nleaves <= MAX_DECLARED &&
	    n + CLASS_FIELDS <= HT_MAX_LEAVES - all->declared_fields) {
		memcpy(f, ht_head_fields[st->wire], head * sizeof *f);
		for (uint32_t i = 0; i < plan->nleaves; i++) {
			const struct ht_leaf *const l = &plan->leaves[i];
			f[head + i] = (struct class_field){ .name = st->raw ? plan->paths[i] : l->name,
				                            .type = type_word(l->value),
				                            .value = ht_leaf_raw_type(l),
				                            .size = l->size,
				                            .unit = unit_of(c, plan, i) };
		}
		like->fields = f;
		like->nfields = n;
	}
	c->cls = trace_plan_class(st->r->trace, like);
	if (c->cls != NULL && like->nfields > 0 && st->r->trace->nplanned > before)
		all->declared_fields += n + CLASS_FIELDS;
	return c->cls != NULL;
}

/* ---- the plan ---- */

/* false: as ht_class_prepare. */
static bool
make_plan(struct ht_state *st, const struct ht_record *rec, struct ht_plan *plan, struct class *like)
{
	if (!ht_unfold(st, rec, plan))
		return false;
	if (!ht_plan_make_runs(plan) || !ht_state_reserve(st, plan->nruns))
		st->no_memory = true;
	else
		ht_vocabulary_apply(st, rec->c, plan, like);
	if (!st->no_memory && !ht_plan_list_args(plan, rec->c->kind != HT_KIND_EVENT))
		st->no_memory = true;
	if (!st->no_memory && !declare(st, rec->c, plan, like))
		st->no_memory = true;
	return !st->no_memory;
}

bool
ht_class_prepare(struct ht_state *st, const struct ht_record *rec)
{
	struct ht_class *const c = rec->c;
	struct ht_plan *const plan = calloc(1, sizeof *plan);
	struct class like = { .name = c->name };

	if (plan == NULL) {
		st->no_memory = true;
		return false;
	}
	ht_describe_end(st, c);
	if (c->id >= HT_BUILTIN_CLASSES)
		check_field_count(st, rec);
	if (!make_plan(st, rec, plan, &like)) {
		ht_plan_free(plan);
		return false;
	}
	st->classes.leaves += plan->nleaves;
	if (!st->raw) { /* nobody asks for them any more */
		free(plan->paths);
		plan->paths = NULL;
	}
	c->plan = plan;
	c->used = true;
	return true;
}

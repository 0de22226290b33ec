#include "model/call_stack.h"

#include "base/numbers.h"

bool call_stack_get(struct call_stack *stack, const struct batch *b, const struct event *e)
{
	const struct field *const fields = b->fields + e->first_field;

	if (!call_stack_of_class(e->cls))
		return false;
	for (uint32_t i = 0; i < e->nfields; i++) {
		if (fields[i].value.type != VALUE_LIST || !slice_equal(fields[i].name, e->cls->plan->stack))
			continue;
		*stack = (struct call_stack){ fields[i].value.values, fields[i].value.count };
		return true;
	}
	return false;
}

struct slice call_stack_frame(const struct call_stack *stack, uint32_t i, char room[CALL_STACK_ADDRESS])
{
	const struct value *const v = &stack->frames[i];

	if (v->type == VALUE_STRING)
		return value_text(v);
	if (v->type < VALUE_U8 || v->type > VALUE_ADDRESS || v->type == VALUE_F32 || v->type == VALUE_F64)
		return SLICE_LIT("?");
	return (struct slice){ room, (uint32_t)(decimal_hex(room, v->u64) - room), SLICE_UTF8 | SLICE_JSON };
}

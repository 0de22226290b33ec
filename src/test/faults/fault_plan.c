#include "test/faults/fault_plan.h"

#include <errno.h>

static const char *const names[FAULT_CALLS] = {
#define CALL(name, first, second, harmless) #name,
#include "test/faults/fault_calls.def"
#undef CALL
};

const struct fault_errors fault_errors[FAULT_CALLS] = {
#define CALL(name, first, second, harmless) { { first, second }, harmless },
#include "test/faults/fault_calls.def"
#undef CALL
};

const char *fault_call_name(enum fault_call call)
{
	return call < FAULT_CALLS ? names[call] : "none";
}

bool fault_call_moves(enum fault_call call)
{
	return call == FAULT_read || call == FAULT_pread || call == FAULT_write || call == FAULT_pwrite;
}

#include "out/kind.h"

const struct event_kind_row event_kind_rows[EVENT_KINDS + 1] = {
#define ROW(kind, name, words, part, phase, flags)                                                           \
	[EVENT_KIND_##kind] = { { SLICE_LIT(name), SLICE_LIT(words), SLICE_LIT(part) }, phase, flags },
	EVENT_KIND_ROWS(ROW)
#undef ROW
};

#include "dial9/dialect.h"

#include "dial9/state.h"

const char *const d9_dialects[] = { [D9_0_3] = "0.3", [D9_0_4] = "0.4", NULL };

void
d9_dialect_begin(struct d9_state *st)
{
	const char *const asked = st->r->dialect;
	struct trace *const trace = st->r->trace;

	st->strict = asked != NULL && strcmp(asked, d9_dialects[D9_0_3]) == 0;
	/* another input of the same trace may have been newer */
	if (asked == NULL ? trace->dialect != d9_dialects[D9_0_4] : st->strict)
		trace->dialect = d9_dialects[D9_0_3];
	else
		trace->dialect = d9_dialects[D9_0_4];
}

void
d9_newer(struct d9_state *st, const struct d9_frame *f, const char *at, const char *what)
{
	if (st->strict)
		d9_find_at(st, D9_RULE_NOT_IN_DOCUMENT, f, at, "%s is not in the document of 0.3", what);
	else
		st->r->trace->dialect = d9_dialects[D9_0_4];
}

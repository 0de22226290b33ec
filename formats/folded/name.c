#include "folded/name.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Flame graph tools take " 12" or " 12.5" at the end of a stack for a second count. */
static void
join_number(char *p, size_t n)
{
	size_t i = n;

	while (i > 0 && is_digit(p[i - 1]))
		i--;
	if (i > 0 && p[i - 1] == '.') {
		i--;
		while (i > 0 && is_digit(p[i - 1]))
			i--;
	}
	if (i > 0 && i < n && is_digit(p[i]) && p[i - 1] == ' ')
		p[i - 1] = '_';
}

void
folded_name(struct text *t, struct slice name)
{
	struct text shown = { .p = NULL };
	const size_t at = t->n;

	text_visible(&shown, name.n > 0 ? name : SLICE_LIT("(no name)"), FOLDED_NAME_MAX);
	for (size_t i = 0; i < shown.n; i++)
		if (shown.p[i] == ';')
			text_str(t, "\\x3b");
		else if (shown.p[i] == '#' && i == 0)
			text_str(t, "\\x23"); /* it would begin a comment */
		else
			text_char(t, shown.p[i]);
	t->failed |= shown.failed;
	if (!t->failed)
		join_number(t->p + at, t->n - at);
	text_free(&shown);
}

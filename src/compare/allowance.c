#include "compare/allowance.h"

#include "format/touches.h"

#define ALL_PARTS ((1U << ALLOWANCE_PARTS) - 1)

static void
add(struct allowance *a, unsigned touches, uint64_t count)
{
	if ((touches & TOUCHES_TIME) != 0) /* an event that moved is missing at its place */
		touches |= TOUCHES_MISSING | TOUCHES_MORE;
	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++) {
		uint64_t *const left = &a->left[i];
		if ((touches >> i & 1) == 0)
			continue;
		if ((touches & TOUCHES_MANY) != 0 || count > UINT64_MAX - *left)
			*left = UINT64_MAX;
		else
			*left += count;
	}
}

struct allowance
allowance_of(const struct ledger *l, const struct loss *losses)
{
	struct allowance a = { .tolerance = 0 };

	for (size_t i = 0; i < l->n; i++) {
		const unsigned touches = l->rows[i].loss->touches;
		if ((touches & TOUCHES_MICROSECONDS) != 0)
			a.tolerance = 999;
		add(&a, touches == TOUCHES_ANYTHING ? ALL_PARTS : touches, l->rows[i].count);
	}
	for (; losses != NULL && losses->id != NULL; losses++)
		if ((losses->touches & TOUCHES_ALWAYS) != 0)
			add(&a, losses->touches | TOUCHES_MANY, 1);
	return a;
}

bool
allowance_take(struct allowance *a, const struct difference *d)
{
	const unsigned parts = d->in[DIFFER_B] == NULL   ? TOUCHES_MISSING
	                       : d->in[DIFFER_A] == NULL ? TOUCHES_MORE
	                                                 : d->parts;

	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++)
		if ((parts >> i & 1) != 0 && a->left[i] == 0)
			return false;
	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++)
		a->left[i] -= (parts >> i & 1) != 0 && a->left[i] != UINT64_MAX;
	return true;
}

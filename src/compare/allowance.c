#include "compare/allowance.h"

#include "format/touches.h"

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

/* How all events are compared. */
static void
set_rules(struct allowance *a, const struct loss *l)
{
	if ((l->touches & TOUCHES_MICROSECONDS) != 0)
		a->tolerance = 999;
	if ((l->touches & TOUCHES_TRACK_NAMES) != 0)
		a->tracks |= TRACKS_WITHOUT_NAMES;
	if ((l->touches & TOUCHES_PROCESSES) != 0)
		a->tracks |= TRACKS_WITHOUT_PROCESSES;
}

static void
add_words(const char **to, const char *words)
{
	size_t n = 0;

	while (to[n] != NULL)
		n++;
	if (words != NULL && n < ALLOWANCE_WORDS)
		to[n] = words;
}

static void
add_row(struct allowance *a, const struct loss *l, uint64_t count)
{
	unsigned touches = l->touches;

	set_rules(a, l);
	if (l->adds != NULL && (touches & TOUCHES_MORE) != 0) {
		add_words(a->more, l->adds);
		a->nmore += count;
		touches &= ~(unsigned)TOUCHES_MORE;
	} else if (l->adds != NULL && count >= a->events) { /* to each of them */
		add_words(a->added, l->adds);
		touches &= ~(unsigned)TOUCHES_FIELDS;
	}
	add(a, touches, count);
}

struct allowance
allowance_of(const struct ledger *l, const struct loss *losses, uint64_t events)
{
	struct allowance a = { .events = events };

	for (size_t i = 0; i < l->n; i++)
		add_row(&a, l->rows[i].loss, l->rows[i].count);
	for (; losses != NULL && losses->id != NULL; losses++)
		if ((losses->touches & TOUCHES_ALWAYS) != 0) {
			set_rules(&a, losses);
			add_words(a.added, losses->adds);
		}
	return a;
}

unsigned
allowance_ignore(const struct allowance *a)
{
	const unsigned most = PART_NAME | PART_CATEGORY | PART_FIELDS | PART_TRACK | PART_PHASE;
	unsigned parts = 0;

	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++)
		if (a->left[i] >= a->events)
			parts |= 1U << i;
	return parts & most;
}

bool
allowance_is_none(const struct allowance *a)
{
	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++)
		if (a->left[i] > 0)
			return false;
	return a->tolerance == 0;
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

#include "ovni/state/parts.h"

/*
 * WS4.  ovniemu numbers the labels of task types by a hash of 32 bits, of which
 * it drops the highest, and refuses two labels of one number in one model.  The
 * hash is Bob Jenkins' of 1996, whose two words of state begin with the golden
 * ratio, and the third with 0xfeedbeef.
 */

#define MOST_LABELS (1U << 20)

struct words {
	uint32_t a, b, c;
};

static void
mix(struct words *w)
{
	static const uint8_t shifts[3][3] = { { 13, 8, 13 }, { 12, 16, 5 }, { 3, 10, 15 } };

	for (int i = 0; i < 3; i++) {
		w->a = (w->a - w->b - w->c) ^ w->c >> shifts[i][0];
		w->b = (w->b - w->c - w->a) ^ w->a << shifts[i][1];
		w->c = (w->c - w->a - w->b) ^ w->b >> shifts[i][2];
	}
}

/* Up to four bytes, the first one lowest. */
static uint32_t
low_bytes(const char *p, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n && i < 4; i++)
		v |= (uint32_t)(unsigned char)p[i] << 8 * i;
	return v;
}

static uint32_t
number_of_label(struct slice label)
{
	struct words w = { 0x9e3779b9U, 0x9e3779b9U, 0xfeedbeefU };
	const char *p = label.p;
	size_t n = label.n;

	for (; n >= 12; n -= 12, p += 12) {
		w.a += low_bytes(p, 4);
		w.b += low_bytes(p + 4, 4);
		w.c += low_bytes(p + 8, 4);
		mix(&w);
	}
	/* the length takes the lowest byte of the third word */
	w.a += low_bytes(p, n);
	w.b += n > 4 ? low_bytes(p + 4, n - 4) : 0;
	w.c += label.n + (n > 8 ? low_bytes(p + 8, n - 8) << 8 : 0);
	mix(&w);
	const uint32_t number = w.c & 0x7fffffff;
	return number != 0 ? number : 1;
}

void
state_check_label(const struct state_event *x, struct slice label, uint32_t hash)
{
	struct state_checker *const c = x->checker;
	const uint64_t key = (uint64_t)x->code->model << 32 | number_of_label(label);
	const uint32_t known = table64_get(&c->label_numbers, key);
	struct quoted q;

	/* a table holds no TABLE_NONE */
	hash = hash == TABLE_NONE ? 0 : hash;
	if (label.n >= 512 || known == hash)
		return;
	if (known != TABLE_NONE)
		state_report(x, OVNI_RULE_LABEL_COLLISION,
		             "label %s has the number %" PRIu32 " of another label before", quoted(&q, label),
		             (uint32_t)key);
	else if (c->nlabels < MOST_LABELS && c->nlabels++ < MOST_LABELS &&
	         !table64_put(&c->label_numbers, key, hash))
		state_no_memory(x);
}

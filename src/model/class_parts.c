#include "base/utf8.h"
#include "model/class_parts.h"

#include "base/decimal.h"
#include "base/textscan.h"
#include "model/event.h"
#include "model/value.h"

/* The last place in name[0, end) where the text stands; UINT32_MAX: none. */
static uint32_t
last_place(struct slice name, uint32_t end, struct slice text)
{
	for (uint32_t i = end; i >= text.n; i--)
		if (memcmp(name.p + i - text.n, text.p, text.n) == 0)
			return i - text.n;
	return UINT32_MAX;
}

bool
class_parts_match(const struct plan_template *shape, struct slice name, struct slice *part)
{
	uint32_t end = name.n;

	for (uint32_t i = shape->nparts; i-- > 0;) {
		const struct plan_part *const p = &shape->parts[i];
		const bool takes = p->ref.nfields > 0;
		const uint32_t n = p->text.n;
		uint32_t at = 0;
		if (end < n + takes)
			return false;
		if (i > 0)
			at = takes ? last_place(name, end - 1, p->text) : end - n;
		if (at == UINT32_MAX || (n > 0 && memcmp(name.p + at, p->text.p, n) != 0) ||
		    (i == 0 && !takes && end > n))
			return false;
		part[i] =
		    takes ? textscan_slice(name.p + at + n, end - at - n) : (struct slice){ NULL, 0, 0 };
		end = at;
	}
	return true;
}

/* A number of 19 digits fits 64 bits; one that begins with 0 would be written another way. */
static struct value
value_of(struct slice text)
{
	uint64_t number = 0;

	if (text.n > 19 || (text.n > 1 && text.p[0] == '0'))
		return value_string(text);
	for (uint32_t i = 0; i < text.n; i++) {
		const unsigned digit = (unsigned)(text.p[i] - '0');
		if (digit > 9)
			return value_string(text);
		number = number * 10 + digit;
	}
	return value_u64(number);
}

/* false: no memory.  Without a shape that fits there are no parts. */
static bool
find_parts(struct class *cls, const struct plan *m, struct arena *arena)
{
	struct slice part[PLAN_MAX_PARTS];
	uint32_t shape = 0, n = 0;

	while (shape < m->nshapes && !class_parts_match(&m->shapes[shape], cls->name, part))
		shape++;
	if (shape == m->nshapes)
		return true;
	const struct plan_template *const t = &m->shapes[shape];
	struct field *const fields = arena_alloc(arena, t->nparts * sizeof *fields);
	if (fields == NULL)
		return false;
	for (uint32_t i = 0; i < t->nparts; i++)
		if (part[i].p != NULL)
			fields[n++] = (struct field){ t->parts[i].ref.field[0], value_of(part[i]) };
	cls->parts = fields;
	cls->nparts = n;
	return true;
}

static const struct field *
part_named(const struct class *cls, struct slice name)
{
	for (uint32_t i = 0; i < cls->nparts; i++)
		if (slice_equal(cls->parts[i].name, name))
			return &cls->parts[i];
	return NULL;
}

struct made {
	char text[CLASS_CATEGORY_MAX];
	uint32_t n;
	bool cut;
};

/* Adds a text as far as there is room; characters are not cut. */
static void
add(struct made *to, struct slice text)
{
	const uint32_t room = to->cut ? 0 : CLASS_CATEGORY_MAX - to->n;
	const uint32_t n = (uint32_t)utf8_cut(text.p, text.n, room);

	to->cut |= n < text.n;
	if (n > 0)
		memcpy(to->text + to->n, text.p, n);
	to->n += n;
}

/* false: it needs a part that is not there. */
static bool
make_text(struct made *to, const struct class *cls, const struct plan_template *t)
{
	char digits[24];

	*to = (struct made){ .n = 0 };
	for (uint32_t i = 0; i < t->nparts; i++) {
		add(to, t->parts[i].text);
		if (t->parts[i].ref.nfields == 0)
			continue;
		const struct field *const f = part_named(cls, t->parts[i].ref.field[0]);
		if (f == NULL)
			return false;
		if (f->value.type == VALUE_STRING)
			add(to, value_text(&f->value));
		else
			add(to, slice_of(digits, (size_t)(decimal_u64(digits, f->value.u64) - digits)));
	}
	return to->n > 0;
}

bool
class_parts_find(struct class *cls, const struct plan *m, struct arena *arena)
{
	struct made made;

	if (m->nshapes > 0 && !find_parts(cls, m, arena))
		return false;
	for (uint32_t i = 0; i < m->ncategories; i++) {
		if (!make_text(&made, cls, &m->categories[i]))
			continue;
		const struct slice copy = arena_copy(arena, textscan_slice(made.text, made.n));
		if (copy.p != NULL)
			cls->category = copy;
		return copy.p != NULL;
	}
	return true;
}

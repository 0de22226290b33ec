/* Copies names and fields of open spans, into one block each, and joins the fields of BEGIN and END.  Texts
 * with SLICE_STAYS are not copied.  The size is computed first, so that the limit is checked before memory is
 * allocated. */
#include "run/meaning/interpret.h"

#include <stdlib.h>

#include "base/table.h"
#include "model/value.h"

#define DEPTH 16 /* max nesting of lists */

/* Size of the variable part of a block: values of lists, then bytes of texts. */
struct extent {
	uint64_t values, bytes;
};

/* Write positions for values and bytes. */
struct output {
	struct value *values;
	char *bytes;
};

/* Returns the bytes of a text to copy. */
static uint32_t text_bytes(struct slice s)
{
	return (s.flags & SLICE_STAYS) != 0 ? 0 : s.n;
}

static bool fits(const struct extent *x, uint64_t limit)
{
	return x->values <= limit / sizeof(struct value) &&
	       x->bytes <= limit - x->values * sizeof(struct value);
}

static bool measure(const struct value *v, struct extent *x, uint64_t limit, int depth)
{
	const uint64_t n = value_entries(v);

	x->bytes += value_is_text(v) ? text_bytes(value_text(v)) : 0;
	x->values += n;
	if (!fits(x, limit) || (n > 0 && depth == DEPTH))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!measure(&v->values[i], x, limit, depth + 1))
			return false;
	return true;
}

static struct slice copy_text(struct output *to, struct slice s)
{
	if ((s.flags & SLICE_STAYS) != 0)
		return s;
	array_copy(to->bytes, s.p, s.n);
	s.p = to->bytes;
	to->bytes += s.n;
	return s;
}

/* Recursion is bounded by measure(). */
static struct value copy_value(struct output *to, const struct value *v)
{
	const uint64_t n = value_entries(v);
	struct value copy = *v;

	if (value_is_text(v))
		copy.p = copy_text(to, value_text(v)).p;
	if (n == 0)
		return copy;
	struct value *const list = to->values;
	to->values += n;
	for (uint64_t i = 0; i < n; i++)
		list[i] = copy_value(to, &v->values[i]);
	copy.values = list;
	return copy;
}

/* ---- blocks ---- */

static size_t head_size(uint32_t n)
{
	return sizeof(struct retained) + (size_t)n * sizeof(struct field);
}

/* Returns a block for n fields and `more` bytes. */
static struct retained *take_block(struct retained_spare *spare, uint32_t n, uint64_t more)
{
	struct batch_block *const block =
	    spare != NULL && more == 0 && n < RETAINED_SPARE_FIELDS ? spare->blocks[n] : NULL;

	if (block == NULL)
		return malloc((size_t)(head_size(n) + more));
	spare->blocks[n] = block->next;
	return (struct retained *)(void *)block;
}

void retained_done(struct retained *k, struct batch *b, struct retained_spare *spare)
{
	const uint32_t n = k->nfields;

	if (k->own || n >= RETAINED_SPARE_FIELDS) {
		batch_own(b, &k->block);
		return;
	}
	k->block.next = spare->blocks[n];
	spare->blocks[n] = &k->block;
}

void retained_spare_free(struct retained_spare *spare)
{
	for (uint32_t i = 0; i < RETAINED_SPARE_FIELDS; i++)
		for (struct batch_block *block; (block = spare->blocks[i]) != NULL;) {
			spare->blocks[i] = block->next;
			free(block);
		}
}

/* Whether the name of the i-th field is that of the class, which needs no copy. */
static inline bool is_declared(const struct class *cls, const struct field *f, uint32_t i)
{
	return i < cls->nfields && cls->fields[i].name.p == f->name.p && cls->fields[i].name.n == f->name.n;
}

enum retained_made retained_new(struct retained **made, struct slice name, const struct class *cls,
                                const struct field *fields, uint32_t n, uint32_t limit,
                                struct retained_spare *spare)
{
	struct extent x = { 0, name.p != NULL ? text_bytes(name) : 0 };
	const uint64_t head = head_size(n);
	uint64_t declared = 0;

	*made = NULL;
	/* a span without an end has one field more */
	if (n >= UINT16_MAX || head > limit || !fits(&x, limit - head))
		return RETAINED_TOO_MUCH;
	for (uint32_t i = 0; i < n; i++) {
		const struct value *const v = &fields[i].value;
		const uint32_t bytes = text_bytes(fields[i].name);
		x.bytes += bytes;
		declared += is_declared(cls, &fields[i], i) ? bytes : 0;
		if (value_is_text(v))
			x.bytes += text_bytes(value_text(v));
		else if (v->type > VALUE_STRING && !measure(v, &x, limit - head, 0))
			return RETAINED_TOO_MUCH;
	}
	if (!fits(&x, limit - head))
		return RETAINED_TOO_MUCH;
	const uint64_t more = x.values * sizeof(struct value) + x.bytes;
	struct retained *const k = take_block(spare, n, more - declared);
	if (k == NULL)
		return RETAINED_NO_MEMORY;
	struct output to = { .values = (struct value *)(void *)(k->fields + n) };
	to.bytes = (char *)(to.values + x.values);
	*k = (struct retained){ .bytes = (uint32_t)(head + more),
		                .nfields = (uint16_t)n,
		                .own = more > declared };
	if (name.p != NULL)
		k->name = copy_text(&to, name);
	array_copy(k->fields, fields, n * sizeof *fields);
	for (uint32_t i = 0; k->own && i < n; i++) {
		const struct field *const f = &fields[i];
		k->fields[i].name = is_declared(cls, f, i) ? f->name : copy_text(&to, f->name);
		k->fields[i].value = f->value.type < VALUE_STRING ? f->value : copy_value(&to, &f->value);
	}
	*made = k;
	return RETAINED_MADE;
}

void retained_free(struct retained *k)
{
	free(k);
}

static bool equal(const struct value *a, const struct value *b, int depth)
{
	if (a->type != b->type)
		return false;
	if (value_is_text(a))
		return slice_equal(value_text(a), value_text(b));
	if (a->type != VALUE_LIST && a->type != VALUE_MAP)
		return a->type == VALUE_NONE || a->u64 == b->u64; /* floats: compares bits */
	if (a->count != b->count || depth == DEPTH)
		return false;
	for (uint64_t i = 0; i < value_entries(a); i++)
		if (!equal(&a->values[i], &b->values[i], depth + 1))
			return false;
	return true;
}

/* ---- fields of both ends ---- */

/* Index of the names of a BEGIN: a linear search for few, a hash table for many, so that two ends with
 * thousands of fields take linear time. */
#define FEW_NAMES 32U

struct names {
	const struct field *fields;
	uint32_t n, mask;
	uint32_t *slots; /* hash table: index + 1 of the first field of a name; NULL: few names */
	uint64_t seed;
};

static uint32_t *name_slot(const struct names *names, struct slice name)
{
	uint64_t h = hash_bytes(name.p, name.n, names->seed);

	for (;; h++) {
		uint32_t *const slot = &names->slots[h & names->mask];
		if (*slot == 0 || slice_equal(names->fields[*slot - 1].name, name))
			return slot;
	}
}

static void names_of(struct names *names, struct batch *b, const struct field *fields, uint32_t n)
{
	uint32_t cap = 4 * FEW_NAMES;

	*names = (struct names){ .fields = fields, .n = n };
	if (n <= FEW_NAMES)
		return;
	while (cap < 2 * n)
		cap *= 2;
	names->slots = arena_zalloc(&b->scratch, cap, sizeof *names->slots);
	if (names->slots == NULL)
		return;
	names->mask = cap - 1;
	names->seed = hash_seed();
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *const slot = name_slot(names, fields[i].name);
		*slot = *slot == 0 ? i + 1 : *slot;
	}
}

/* Returns the index of the BEGIN's field with the name of f, the END's i-th field, or names->n. */
static uint32_t same_name(const struct names *names, const struct field *f, uint32_t i)
{
	if (i < names->n && slice_equal(names->fields[i].name, f->name))
		return i;
	if (names->slots != NULL) {
		i = *name_slot(names, f->name);
		return i != 0 ? i - 1 : names->n;
	}
	for (i = 0; i < names->n; i++)
		if (slice_equal(names->fields[i].name, f->name))
			return i;
	return i;
}

/* Whether the names of the END are a prefix of those of the BEGIN: the common case, which needs no
 * table. */
static bool has_same_names(const struct field *begin, uint32_t nbegin, const struct field *end, uint32_t nend)
{
	for (uint32_t i = 0; i < nend; i++)
		if (i >= nbegin || !slice_equal(begin[i].name, end[i].name))
			return false;
	return true;
}

/* Returns "end.NAME". */
static struct slice end_name(struct batch *b, struct slice name)
{
	static const char before[] = "end.";
	char *const p = arena_alloc(&b->scratch, sizeof before + name.n);

	if (p == NULL)
		return SLICE_NONE;
	memcpy(p, before, sizeof before - 1);
	array_copy(p + sizeof before - 1, name.p, name.n);
	return (struct slice){ p, (uint32_t)(sizeof before - 1) + name.n,
		               name.flags & ~(uint32_t)SLICE_STAYS };
}

uint32_t retained_join(struct batch *b, const struct field *begin, uint32_t nbegin, const struct field *end,
                       uint32_t nend, struct field *to)
{
	struct names names;
	uint32_t n = nbegin;

	array_copy(to, begin, nbegin * sizeof *to);
	const bool same = has_same_names(begin, nbegin, end, nend);
	names_of(&names, b, begin, same ? 0 : nbegin);
	if (b->scratch.failed)
		return n;
	names.n = nbegin;
	for (uint32_t i = 0; i < nend; i++) {
		const uint32_t known = same ? i : same_name(&names, &end[i], i);
		if (known < nbegin && equal(&begin[known].value, &end[i].value, 0))
			continue;
		to[n] = end[i];
		if (known < nbegin)
			to[n].name = end_name(b, end[i].name);
		n++;
	}
	return n;
}

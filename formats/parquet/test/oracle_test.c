#include "parquet/test/oracle_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define MAX_DEPTH 12

bool pq_fault(struct pq_file *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (f->error[0] == '\0')
		(void)vsnprintf(f->error, sizeof f->error, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- Thrift ---- */

struct node_input {
	struct arena *arena;
	const char *p, *end;
	bool bad;
};

static uint8_t take_byte(struct node_input *in)
{
	if (in->p >= in->end) {
		in->bad = true;
		return 0;
	}
	return (uint8_t)*in->p++;
}

static uint64_t take_varint(struct node_input *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && !in->bad; shift += 7) {
		const uint8_t byte = take_byte(in);
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	in->bad = true;
	return 0;
}

static int64_t take_zigzag(struct node_input *in)
{
	const uint64_t v = take_varint(in);

	return (int64_t)(v >> 1 ^ (~(v & 1) + 1));
}

static void take_value(struct node_input *in, struct node *to, unsigned depth);

static struct node *new_node(struct node_input *in, int id, int type)
{
	struct node *const to = arena_zalloc(in->arena, 1, sizeof *to);

	cr_assert_not_null(to);
	to->id = id;
	to->type = type;
	return to;
}

static void take_fields(struct node_input *in, struct node *to, unsigned depth)
{
	struct node **end = &to->first;
	int id = 0;

	while (!in->bad) {
		const uint8_t head = take_byte(in);
		if (head == 0)
			return;
		const int step = head >> 4;
		const int next = step != 0 ? id + step : (int)take_zigzag(in);
		in->bad |= next <= id; /* this writer adds fields in order */
		id = next;
		*end = new_node(in, id, head & 15);
		take_value(in, *end, depth + 1);
		end = &(*end)->next;
		to->n++;
	}
}

static void take_list(struct node_input *in, struct node *to, unsigned depth)
{
	struct node **end = &to->first;
	const uint8_t head = take_byte(in);
	const uint64_t n = head >> 4 == 15 ? take_varint(in) : head >> 4;

	for (; to->n < n && !in->bad; to->n++) {
		*end = new_node(in, 0, head & 15);
		take_value(in, *end, depth + 1);
		end = &(*end)->next;
	}
}

static void take_value(struct node_input *in, struct node *to, unsigned depth)
{
	in->bad |= depth > MAX_DEPTH;
	if (in->bad)
		return;
	if (to->type == 1 || to->type == 2) {
		to->number = to->type == 1;
	} else if (to->type == 5 || to->type == 6) {
		to->number = take_zigzag(in);
	} else if (to->type == 8) {
		const uint64_t n = take_varint(in);
		in->bad |= n > (uint64_t)(in->end - in->p);
		to->text = in->bad ? to->text : slice_of(in->p, n);
		in->p += to->text.n;
	} else if (to->type == 9) {
		take_list(in, to, depth);
	} else if (to->type == 12) {
		take_fields(in, to, depth);
	} else {
		in->bad = true;
	}
}

struct node *node_read(struct arena *a, const char **p, const char *end)
{
	struct node_input in = { a, *p, end, false };
	struct node *const to = new_node(&in, 0, 12);

	take_fields(&in, to, 0);
	*p = in.p;
	return in.bad ? NULL : to;
}

const struct node *node_get(const struct node *of, int id)
{
	const struct node *k = of != NULL ? of->first : NULL;

	while (k != NULL && k->id != id)
		k = k->next;
	return k;
}

int64_t node_number(const struct node *of, int id, int64_t otherwise)
{
	const struct node *const k = node_get(of, id);

	return k != NULL ? k->number : otherwise;
}

/* ---- the file ---- */

static bool take_footer(struct pq_file *f)
{
	if (f->n < 12 || memcmp(f->p, "PAR1", 4) != 0 || memcmp(f->p + f->n - 4, "PAR1", 4) != 0)
		return pq_fault(f, "no magic at both ends");
	const unsigned char *const length = (const unsigned char *)f->p + f->n - 8;
	const size_t n =
	    length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
	if (n > f->n - 12)
		return pq_fault(f, "the footer has %zu bytes", n);
	const char *p = f->p + f->n - 8 - n;
	f->footer = node_read(&f->arena, &p, f->p + f->n - 8);
	if (f->footer == NULL || p != f->p + f->n - 8)
		return pq_fault(f, "the footer is no structure of its length");
	return true;
}

static bool take_schema(struct pq_file *f)
{
	const struct node *k = node_get(f->footer, 2);

	if (k == NULL || k->n < 1 || node_number(k->first, 5, -1) != k->n - 1)
		return pq_fault(f, "the schema is not a flat one");
	f->ncolumns = k->n - 1;
	f->rows = (uint64_t)node_number(f->footer, 3, -1);
	f->columns = arena_zalloc(&f->arena, f->ncolumns, sizeof *f->columns);
	k = k->first->next;
	for (uint32_t i = 0; i < f->ncolumns; i++, k = k->next) {
		struct pq_column *const c = &f->columns[i];
		c->name = node_get(k, 4)->text;
		c->type = (enum pq_type)node_number(k, 1, -1);
		c->converted = (int)node_number(k, 6, -1);
		c->optional = node_number(k, 3, -1) == 1;
		c->all_by_dictionary = true;
		c->cells = arena_zalloc(&f->arena, f->rows > 0 ? f->rows : 1, sizeof *c->cells);
	}
	return true;
}

static bool take_group(struct pq_file *f, const struct node *group, uint64_t first)
{
	const uint64_t rows = (uint64_t)node_number(group, 3, -1);
	const struct node *const chunks = node_get(group, 1);
	const struct node *chunk = chunks->first;
	int64_t packed = 0, unpacked = 0;

	if (first + rows > f->rows || rows == 0 || chunks->n != f->ncolumns)
		return pq_fault(f, "a row group of %" PRIu64 " rows, %" PRIu32 " columns", rows, chunks->n);
	for (uint32_t i = 0; i < f->ncolumns; i++, chunk = chunk->next) {
		const struct node *const meta = node_get(chunk, 3);
		struct pq_column *const c = &f->columns[i];
		if (!slice_equal(node_get(meta, 3)->first->text, c->name))
			return pq_fault(f, "column %" PRIu32 " has another path", i);
		if (!pq_chunk(f, c, meta, c->cells + first, rows))
			return false;
		unpacked += node_number(meta, 6, 0);
		packed += node_number(meta, 7, 0);
	}
	if (node_number(group, 2, 0) != unpacked || node_number(group, 6, 0) != packed)
		return pq_fault(f, "the sizes of a row group are not the sum of its columns'");
	f->largest_group = rows > f->largest_group ? rows : f->largest_group;
	return true;
}

static bool is_sorted(const struct pq_file *f)
{
	for (uint64_t i = 1; i < f->rows; i++)
		if (f->columns[0].cells[i].i < f->columns[0].cells[i - 1].i)
			return false;
	return true;
}

bool pq_read(struct pq_file *f, const char *p, size_t n)
{
	uint64_t rows = 0;

	*f = (struct pq_file){ .p = p, .n = n };
	if (!take_footer(f) || !take_schema(f))
		return false;
	const struct node *const groups = node_get(f->footer, 4);
	f->groups = groups->n;
	for (const struct node *g = groups->first; g != NULL; g = g->next) {
		if (!take_group(f, g, rows))
			return false;
		rows += (uint64_t)node_number(g, 3, 0);
	}
	if (rows != f->rows)
		return pq_fault(f, "%" PRIu64 " rows in groups, %" PRIu64 " in all", rows, f->rows);
	return is_sorted(f) || pq_fault(f, "the rows are not sorted by time");
}

void pq_free(struct pq_file *f)
{
	arena_free(&f->arena);
}

const struct pq_column *pq_column(const struct pq_file *f, const char *name)
{
	for (uint32_t i = 0; i < f->ncolumns; i++)
		if (slice_is(f->columns[i].name, name))
			return &f->columns[i];
	cr_assert_fail("there is no column %s", name);
	return NULL;
}

struct slice pq_about(const struct pq_file *f, const char *key)
{
	const struct node *const list = node_get(f->footer, 5);

	for (const struct node *k = list != NULL ? list->first : NULL; k != NULL; k = k->next)
		if (slice_is(node_get(k, 1)->text, key))
			return node_get(k, 2)->text;
	return (struct slice){ .p = NULL };
}

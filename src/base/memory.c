/* Memory that is freed at once (blocks that double up to 1 MiB), arrays that double, and the pass of a radix
 * sort. */
#include "base/memory.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

/* ---- arena ---- */

/* Block sizes in bytes: blocks double from the first size to the second; a larger request has its own
 * block. */
#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)
#define ALIGN alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t size, used; /* bytes of data */
	alignas(max_align_t) char data[];
};

static struct arena_block *block_new(size_t size)
{
	if (size > PTRDIFF_MAX - sizeof(struct arena_block))
		return NULL;

	struct arena_block *b = malloc(sizeof *b + size);
	if (b == NULL)
		return NULL;
	b->next = NULL;
	b->size = size;
	b->used = 0;
	return b;
}

static size_t next_block_size(const struct arena *a)
{
	if (a->head == NULL)
		return BLOCK_MIN;
	return a->head->size < BLOCK_MAX / 2 ? a->head->size * 2 : BLOCK_MAX;
}

/* Adds a block with space for n bytes. */
static struct arena_block *arena_grow(struct arena *a, size_t n)
{
	const size_t size = next_block_size(a);
	struct arena_block *b = block_new(n > size ? n : size);

	if (b == NULL)
		return NULL;
	/* The block of one large request is full: it is inserted after the head, whose rest is still used. */
	if (n > size && a->head != NULL) {
		b->next = a->head->next;
		a->head->next = b;
	} else {
		b->next = a->head;
		a->head = b;
	}
	return b;
}

static void *fail(struct arena *a)
{
	a->failed = true;
	return NULL;
}

void *arena_alloc(struct arena *a, size_t n)
{
	if (n > SIZE_MAX - ALIGN)
		return fail(a);
	n = n == 0 ? ALIGN : (n + ALIGN - 1) / ALIGN * ALIGN;
	gate_pass(a->gate);

	struct arena_block *b = a->head;
	if ((b == NULL || n > b->size - b->used) && (b = arena_grow(a, n)) == NULL)
		return fail(a);

	char *p = b->data + b->used;
	b->used += n;
	a->used += n;
	return p;
}

void *arena_zalloc(struct arena *a, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		return fail(a);

	void *p = arena_alloc(a, count * size);
	if (p != NULL)
		memset(p, 0, count * size);
	return p;
}

struct slice arena_copy(struct arena *a, struct slice s)
{
	char *p = arena_alloc(a, (size_t)s.n + 1);

	if (p == NULL)
		return SLICE_NONE;
	array_copy(p, s.p, s.n);
	p[s.n] = '\0';
	return (struct slice){ p, s.n, s.flags };
}

struct slice arena_printf(struct arena *a, const char *fmt, ...)
{
	char usual[128];
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(usual, sizeof usual, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof usual)
		return arena_copy(a, slice_of(usual, (size_t)n));

	char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
	if (p == NULL)
		return SLICE_NONE;

	va_start(ap, fmt);
	(void)vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return slice_of(p, (size_t)n);
}

struct slice arena_join(struct arena *a, const struct slice *parts, size_t n)
{
	uint64_t length = 0;
	uint32_t flags = SLICE_UTF8 | SLICE_JSON;

	for (size_t i = 0; i < n; i++) {
		length += parts[i].n;
		if (parts[i].n > 0)
			flags &= parts[i].flags;
	}
	char *const p = length <= UINT32_MAX ? arena_alloc(a, length + 1) : fail(a);
	if (p == NULL)
		return SLICE_NONE;
	char *to = p;
	for (size_t i = 0; i < n; i++) {
		array_copy(to, parts[i].p, parts[i].n);
		to += parts[i].n;
	}
	*to = '\0';
	return (struct slice){ p, (uint32_t)length, flags };
}

struct slice arena_numbered(struct arena *a, struct slice name, uint64_t number)
{
	char digits[DECIMAL_U64_MAX];

	return ARENA_JOIN(a, name, SLICE_LIT(" ("), decimal_slice(digits, number), SLICE_LIT(")"));
}

static void free_blocks(struct arena_block *b)
{
	while (b != NULL) {
		struct arena_block *next = b->next;
		free(b);
		b = next;
	}
}

void arena_move(struct arena *to, struct arena *from)
{
	struct arena_block *last = from->head;

	to->failed |= from->failed;
	from->failed = false;
	if (last == NULL)
		return;
	while (last->next != NULL)
		last = last->next;
	if (to->head == NULL) {
		to->head = from->head;
	} else { /* inserted after the head, whose rest is still used */
		last->next = to->head->next;
		to->head->next = from->head;
	}
	to->used += from->used;
	*from = (struct arena){ 0 };
}

void arena_reset(struct arena *a)
{
	struct arena_block *b = a->head;

	a->used = 0;
	if (b == NULL)
		return;
	/* The block of a huge request must not be kept for the rest of the run. */
	if (b->size > BLOCK_MAX) {
		free_blocks(b);
		a->head = NULL;
		return;
	}
	free_blocks(b->next);
	b->next = NULL;
	b->used = 0;
}

void arena_free(struct arena *a)
{
	free_blocks(a->head);
	*a = (struct arena){ 0 };
}

/* ---- array ---- */

#define FIRST_CAP 4U    /* elements of a list, as there may be one for each of many tracks ... */
#define FIRST_REACH 16U /* ... and of an array by index */

/* The caller's pointer has another type than void *, so it is copied (aliasing). */
bool array_resize(void *list, uint64_t cap, size_t size)
{
	void *p;

	memcpy(&p, list, sizeof p);
	if (cap > UINT32_MAX || cap > SIZE_MAX / size)
		return false;
	p = realloc(p, (size_t)cap * size);
	if (p != NULL)
		memcpy(list, &p, sizeof p);
	return p != NULL;
}

bool array_reserve(void *list, uint32_t n, uint32_t *cap, size_t size)
{
	if (n < *cap)
		return true;
	uint64_t want = *cap == 0 ? FIRST_CAP : (uint64_t)*cap * 2;
	while (want <= n)
		want *= 2;
	if (!array_resize(list, want, size))
		return false;
	*cap = (uint32_t)want;
	return true;
}

bool array_reach(void *list, uint32_t *n, uint32_t index, size_t size)
{
	uint64_t want = *n < FIRST_REACH ? FIRST_REACH : *n;

	if (index < *n)
		return true;
	while (want <= index)
		want *= 2;
	if (!array_resize(list, want, size))
		return false;
	char *p;
	memcpy(&p, list, sizeof p);
	memset(p + *n * size, 0, ((size_t)want - *n) * size);
	*n = (uint32_t)want;
	return true;
}

/* ---- order of numbers ---- */

int compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return ORDER(x, y);
}

#define DIGITS (1U << RADIX_BITS)

void radix_pass(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift)
{
	uint32_t starts[DIGITS] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		starts[(from[i] >> shift) % DIGITS]++;
	for (uint32_t d = 0; d < DIGITS; d++) {
		const uint32_t count = starts[d];
		starts[d] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[starts[(from[i] >> shift) % DIGITS]++] = from[i];
}

/* ---- order of time ---- */

#define RUN_LEAST 16U /* shorter runs are extended by insertion */

static uint32_t run_end(struct timed *list, uint32_t from, uint32_t n)
{
	uint32_t to = from + 1;

	for (; to < n; to++) {
		const struct timed x = list[to];
		uint32_t i = to;
		if (x.ts >= list[to - 1].ts)
			continue;
		if (to - from >= RUN_LEAST)
			break;
		for (; i > from && x.ts < list[i - 1].ts; i--)
			list[i] = list[i - 1];
		list[i] = x;
	}
	return to;
}

/* Merges list[from, mid) and list[mid, to), each in order. */
static void merge_runs(struct timed *list, uint32_t from, uint32_t mid, uint32_t to, struct timed *spare)
{
	uint32_t start = mid, i = 0, k = mid;

	while (start > from && list[start - 1].ts > list[mid].ts)
		start--;
	const uint32_t n = mid - start;
	memcpy(spare, list + start, n * sizeof *spare);
	while (i < n)
		list[start++] = k < to && list[k].ts < spare[i].ts ? list[k++] : spare[i++];
}

void timed_sort(struct timed *list, uint32_t n, struct timed *spare)
{
	for (bool merged = true; merged;) {
		merged = false;
		for (uint32_t from = 0, mid, to; from < n; from = to) {
			mid = run_end(list, from, n);
			to = mid < n ? run_end(list, mid, n) : n;
			if (mid < n)
				merge_runs(list, from, mid, to, spare);
			merged |= mid < n;
		}
	}
}

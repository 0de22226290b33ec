#include "output/text.h"
#include "output/text_numbers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "output/text_put.h"

#define TEXT_MIN ((size_t)256)

/* Closes the text: no room is found from now on, so that nothing follows what is missing. */
static bool
fail(struct text *t)
{
	t->failed = true;
	t->cap = t->n;
	return false;
}

bool
text_grow(struct text *t, size_t room)
{
	if (t->failed || room >= PTRDIFF_MAX - t->n)
		return fail(t);

	/* One more than asked: see text_room(). */
	const size_t need = t->n + room + 1;
	size_t cap = t->cap <= PTRDIFF_MAX / 2 ? t->cap * 2 : PTRDIFF_MAX;
	if (cap < TEXT_MIN)
		cap = TEXT_MIN;
	if (cap < need)
		cap = need;

	char *p = realloc(t->borrowed ? NULL : t->p, cap);
	if (p == NULL)
		return fail(t);
	if (t->borrowed)
		memcpy(p, t->p, t->n);
	t->borrowed = false;
	t->p = p;
	t->cap = cap;
	return true;
}

void
text_clear(struct text *t)
{
	t->n = 0;
}

void
text_free(struct text *t)
{
	if (!t->borrowed)
		free(t->p);
	*t = (struct text){ 0 };
}

void
text_add(struct text *t, const char *p, size_t n)
{
	char *const to = text_room(t, n);

	if (to != NULL)
		t->n += (size_t)(text_put(to, p, n) - to);
}

void
text_str(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void
text_slice(struct text *t, struct slice s)
{
	text_add(t, s.p, s.n);
}

void
text_u64(struct text *t, uint64_t v)
{
	char *const to = text_room(t, DECIMAL_U64_MAX);

	if (to != NULL)
		t->n += (size_t)(decimal_u64(to, v) - to);
}

void
text_i64(struct text *t, int64_t v)
{
	char *const to = text_room(t, DECIMAL_I64_MAX);

	if (to != NULL)
		t->n += (size_t)(decimal_i64(to, v) - to);
}

void
text_u128(struct text *t, unsigned __int128 v)
{
	char *const to = text_room(t, DECIMAL_U128_MAX);

	if (to != NULL)
		t->n += (size_t)(decimal_u128(to, v) - to);
}

void
text_hex(struct text *t, const char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *to = text_room(t, n * 2);

	if (to == NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		*to++ = digits[(unsigned char)p[i] >> 4];
		*to++ = digits[p[i] & 15];
	}
	t->n += n * 2;
}

void
text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		(void)fail(t);
		return;
	}

	/* printf wants a place for its NUL. */
	char *const to = text_room(t, (size_t)n + 1);
	if (to == NULL)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(to, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
}

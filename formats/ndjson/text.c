#include "base/utf8.h"
#include "ndjson/state.h"

#define FEW 16 /* names that are compared each with each */

bool
ndjson_is_utf8(struct slice s)
{
	return (s.flags & (SLICE_UTF8 | SLICE_JSON)) != 0 || utf8_valid(s.p, s.n);
}

/* Valid UTF-8, in which a backslash is `\\`, which JSON writes as four. */
static void
put_valid(struct text *t, const char *p, size_t n)
{
	const char *const end = p + n;

	while (p < end) {
		const char *const found = memchr(p, '\\', (size_t)(end - p));
		const char *const stop = found != NULL ? found : end;
		struct slice s = slice_of(p, (size_t)(stop - p));
		s.flags = SLICE_UTF8;
		text_json_chars(t, s);
		if (found != NULL)
			text_add(t, "\\\\\\\\", 4);
		p = stop + (found != NULL);
	}
}

static void
put_escaped(struct text *t, struct slice s)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < s.n;) {
		const uint32_t valid = (uint32_t)utf8_valid_prefix(s.p + i, s.n - i);
		put_valid(t, s.p + i, valid);
		i += valid;
		const uint32_t bad = i < s.n ? (uint32_t)utf8_invalid_run(s.p + i, s.n - i) : 0;
		for (const uint32_t stop = i + bad; i < stop; i++) {
			const unsigned char b = (unsigned char)s.p[i];
			text_add(t, (const char[]){ '\\', '\\', 'x', digits[b >> 4], digits[b & 15] }, 5);
		}
	}
}

bool
ndjson_chars(struct text *t, struct slice s)
{
	const size_t start = t->n;

	if (text_json_chars(t, s) == 0)
		return false;
	t->n = start;
	put_escaped(t, s);
	return true;
}

bool
ndjson_string(struct text *t, struct slice s)
{
	text_char(t, '"');
	const bool escaped = ndjson_chars(t, s);
	text_char(t, '"');
	return escaped;
}

static void
put_name(struct text *t, const char *name)
{
	text_str(t, ",\"");
	text_str(t, name);
	text_str(t, "\":");
}

bool
ndjson_member(struct text *t, const char *name, struct slice s)
{
	put_name(t, name);
	return ndjson_string(t, s);
}

void
ndjson_member_u64(struct text *t, const char *name, uint64_t v)
{
	put_name(t, name);
	text_u64(t, v);
}

void
ndjson_escaped(struct text *t, const char *const *names, const bool *escaped, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		if (!escaped[i])
			continue;
		text_str(t, any ? ",\"" : ",\"escaped\":[\"");
		text_str(t, names[i]);
		text_char(t, '"');
		any = true;
	}
	if (any)
		text_char(t, ']');
}

static bool
few_distinct(ndjson_name_at *at, const void *ctx, uint32_t n)
{
	struct slice names[FEW];

	for (uint32_t i = 0; i < n; i++) {
		names[i] = at(ctx, i);
		for (uint32_t k = 0; k < i; k++)
			if (slice_equal(names[i], names[k]))
				return false;
	}
	return true;
}

bool
ndjson_distinct(struct text *t, ndjson_name_at *at, const void *ctx, uint32_t n)
{
	struct tabletext seen = { .slots = NULL };
	bool distinct = true;

	if (n <= FEW)
		return few_distinct(at, ctx, n);
	for (uint32_t i = 0; i < n && distinct && !t->failed; i++) {
		const struct slice name = at(ctx, i);
		distinct = tabletext_get(&seen, name) == TABLE_NONE;
		t->failed |= distinct && !tabletext_put(&seen, name, 1);
	}
	tabletext_free(&seen);
	return distinct;
}

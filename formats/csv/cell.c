#include "base/decimal.h"
#include "base/utf8.h"
#include "csv/state.h"
#include "output/text_utf8.h"

static bool
needs_quotes(struct slice s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r')
			return true;
	return false;
}

/* ---- one character, or one byte that is part of none ---- */

/* How many bytes it takes; *valid: they are a character. */
static size_t
piece_size(const char *p, const char *end, bool *valid)
{
	const unsigned char c = (unsigned char)*p;
	const size_t size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, left = (size_t)(end - p);

	*valid = size <= left && utf8_valid(p, size);
	return *valid ? size : 1;
}

static bool
is_control(const char *p, size_t size)
{
	return size == 1 ? (unsigned char)*p < 0x20 || *p == 0x7f : utf8_is_hidden(utf8_point(p, size));
}

/* csv has no escapes but the doubled quote. */
static unsigned
put_quoted(struct text *t, struct slice s)
{
	const char *const end = s.p + s.n;
	unsigned harm = 0;
	bool valid;

	for (const char *p = s.p; p < end;) {
		size_t size = piece_size(p, end, &valid);
		if (!valid) {
			text_str(t, TEXT_REPLACEMENT);
			size = utf8_invalid_run(p, (size_t)(end - p));
			harm |= CSV_BAD_TEXT;
		} else if (*p == '\t' || *p == '\n' || *p == '\r' || !is_control(p, size)) {
			text_add(t, p, size);
			if (*p == '"')
				text_char(t, '"');
		} else {
			text_str(t, TEXT_REPLACEMENT);
			harm |= CSV_HIDDEN;
		}
		p += size;
	}
	return harm;
}

static void
put_escaped(struct text *t, struct slice s)
{
	static const char hex[] = "0123456789abcdef";
	const char *const end = s.p + s.n;
	bool valid;

	for (const char *p = s.p; p < end;) {
		const size_t size = piece_size(p, end, &valid);
		const unsigned char c = (unsigned char)*p;
		const char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\\';
		if (c == '\t' || c == '\n' || c == '\r' || c == '\\')
			text_add(t, (const char[]){ '\\', letter }, 2);
		else if (valid && !is_control(p, size))
			text_add(t, p, size);
		else if (valid && size > 1)
			text_printf(t, "\\u{%04x}", (unsigned)utf8_point(p, size));
		else
			text_add(t, (const char[]){ '\\', 'x', hex[c >> 4], hex[c & 15] }, 4);
		p += size;
	}
}

/* ---- cells ---- */

unsigned
csv_cell(struct text *t, bool tabs, struct slice s)
{
	const bool plain = (s.flags & SLICE_JSON) != 0; /* nothing in it is escaped */
	const bool quotes = !tabs && (plain ? s.n > 0 && memchr(s.p, ',', s.n) != NULL : needs_quotes(s));
	unsigned harm = 0;

	if (quotes)
		text_char(t, '"');
	if (plain)
		text_slice(t, s);
	else if (tabs)
		put_escaped(t, s);
	else
		harm = put_quoted(t, s);
	if (quotes)
		text_char(t, '"');
	return harm;
}

/* Each `c` from `from` on becomes two.  From the end to the front, so that each byte moves once: what is
 * written stays behind what is read. */
static void
double_each(struct text *t, size_t from, char c)
{
	size_t n = 0;

	if (t->failed)
		return;
	for (size_t i = from; i < t->n; i++)
		n += t->p[i] == c;
	if (text_room(t, n) == NULL)
		return;
	const char *s = t->p + t->n;
	t->n += n;
	for (char *d = t->p + t->n; d > s;) {
		const char ch = *--s;
		d[-1] = ch;
		d[-2] = ch;
		d -= 1 + (ch == c);
	}
}

/* JSON text of the trace may have line ends and tabs between its values: blanks mean the same. */
static void
blank_controls(struct text *t, size_t from)
{
	for (size_t i = from; i < t->n; i++)
		t->p[i] = (unsigned char)t->p[i] < 0x20 ? ' ' : t->p[i];
}

#define MAX_EXACT ((UINT64_C(1) << 53) - 1) /* larger integers are text in JSON */

/* A text of JSON in which nothing is escaped. */
static inline char *
put_plain(char *p, bool tabs, const char *s, uint32_t n)
{
	memset(p, '"', 2);
	p = text_put(p + 2 - tabs, s, n);
	memset(p, '"', 2);
	return p + 2 - tabs;
}

/* Fields as most of them are, already doubled: plain names; plain texts and small integers.  false: another
 * one, nothing was written. */
static inline bool
put_plain_field(struct text *t, bool tabs, const struct field *f, bool first)
{
	const struct value *const v = &f->value;
	const bool string = v->type == VALUE_STRING && (v->flags & SLICE_JSON) != 0;
	const bool number = v->type >= VALUE_U8 && v->type <= VALUE_U64 && v->u64 <= MAX_EXACT;

	if ((f->name.flags & SLICE_JSON) == 0 || !(string || number))
		return false;
	char *p = text_room(t, (size_t)f->name.n + (string ? v->count : DECIMAL_U64_MAX) + 16);
	if (p == NULL)
		return true;
	*p = ',';
	p = put_plain(p + !first, tabs, f->name.p, f->name.n);
	*p++ = ':';
	p = string ? put_plain(p, tabs, v->p, v->count) : decimal_u64(p, v->u64);
	t->n = (size_t)(p - t->p);
	return true;
}

void
csv_args(struct text *t, bool tabs, const struct field *fields, uint32_t n, struct fields_json_lost *lost)
{
	if (n == 0)
		return;
	text_str(t, tabs ? "{" : "\"{");
	for (uint32_t i = 0; i < n; i++) {
		if (put_plain_field(t, tabs, &fields[i], i == 0))
			continue;
		const size_t from = t->n;
		if (i > 0)
			text_char(t, ',');
		fields_json(t, &fields[i], 1, lost);
		if (tabs)
			blank_controls(t, from);
		double_each(t, from, tabs ? '\\' : '"');
	}
	text_add(t, "}\"", 2U - tabs);
}

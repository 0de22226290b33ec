/* Comparing names: globs, misspellings, positions in sources.  Globs with short parts use bit-parallel search
 * (Shift-And, Baeza-Yates and Gonnet): a pattern from an input must not take quadratic time. */
#include "base/match.h"

#include <stdint.h>
#include <string.h>

/* ---- misspelt names ---- */

#define NAME_MAX_BYTES 63

static size_t min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Damerau-Levenshtein distance (optimal string alignment): changes, insertions, deletions and swaps of
 * neighbours that turn a into b.  SIZE_MAX if it is more than `limit`, or one is too long.  Only the part of
 * the matrix within `limit` of its diagonal is computed (Ukkonen), row by row until all of it is too far. */
static size_t edit_distance(const char *a, const char *b, size_t limit)
{
	const size_t na = strlen(a), nb = strlen(b), far = limit + 1;
	size_t rows[3][NAME_MAX_BYTES + 2]; /* rows of the matrix: two rows back, the last, this one */
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	if (na > NAME_MAX_BYTES || nb > NAME_MAX_BYTES || (na > nb ? na - nb : nb - na) > limit)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb + 1; j++)
		last[j] = min2(j, far);
	for (size_t i = 1; i <= na; i++) {
		const size_t from = i > limit ? i - limit : 1, to = min2(nb, i + limit);
		size_t least = now[from - 1] = from == 1 ? min2(i, far) : far;
		for (size_t j = from; j <= to; j++) {
			now[j] = min2(min2(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = min2(now[j], before[j - 2] + 1);
			least = min2(least, now[j]);
		}
		now[to + 1] = far;
		if (least > limit)
			return SIZE_MAX;
		size_t *const free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return last[nb] > limit ? SIZE_MAX : last[nb];
}

bool nearest_add(struct nearest *n, const char *known)
{
	const size_t third = strlen(known) / 3, limit = third < 1 ? 1 : third > 3 ? 3 : third;

	if (n->name != NULL && n->distance == 0)
		return false;
	const size_t most = n->name != NULL && n->distance <= limit ? n->distance - 1 : limit;
	const size_t distance = edit_distance(n->typed, known, most);
	if (distance == SIZE_MAX)
		return false;
	n->name = known;
	n->distance = distance;
	return true;
}

/* ---- glob ---- */

/* A pattern is a list of parts between *.  A part is a list of elements: one byte of a text each, or ANY. */
#define ANY 256U

/* Reads the element at *i and moves *i after it. */
static unsigned read_element(struct slice pattern, uint32_t *i)
{
	const char c = pattern.p[(*i)++];

	if (c == '?')
		return ANY;
	if (c == '\\' && *i < pattern.n)
		return (unsigned char)pattern.p[(*i)++];
	return (unsigned char)c;
}

/* The end of the part that begins at i: at a *, or at the end of the pattern. */
static uint32_t part_end(struct slice pattern, uint32_t i, uint32_t *elements)
{
	*elements = 0;
	while (i < pattern.n && pattern.p[i] != '*') {
		read_element(pattern, &i);
		++*elements;
	}
	return i;
}

/* Whether the part [i, end) matches at p, which has enough bytes. */
static bool part_matches(struct slice pattern, uint32_t i, uint32_t end, const char *p)
{
	for (; i < end; p++) {
		const unsigned e = read_element(pattern, &i);
		if (e != ANY && e != (unsigned char)*p)
			return false;
	}
	return true;
}

/* ---- searching for a part ---- */

/* For each byte, the elements of the current part that it matches. */
struct masks {
	uint64_t of[256];
	bool ready; /* all masks are zero between two searches */
};

static void set_masks(struct masks *s, struct slice pattern, uint32_t i, uint32_t end, bool on)
{
	for (uint64_t bit = 1; i < end; bit <<= 1) {
		const unsigned e = read_element(pattern, &i);
		if (e != ANY)
			s->of[e] = on ? s->of[e] | bit : 0;
	}
}

/* The elements that are ANY. */
static uint64_t any_mask(struct slice pattern, uint32_t i, uint32_t end)
{
	uint64_t any = 0;

	for (uint64_t bit = 1; i < end; bit <<= 1)
		any |= read_element(pattern, &i) == ANY ? bit : 0;
	return any;
}

/* Bit b of the state: the last b + 1 bytes match the first b + 1 elements. */
static uint32_t search_bits(struct masks *s, struct slice pattern, uint32_t i, uint32_t end,
                            uint32_t elements, struct slice text, uint32_t from)
{
	const uint64_t any = any_mask(pattern, i, end), last = UINT64_C(1) << (elements - 1);
	uint64_t state = 0;
	uint32_t found = UINT32_MAX;

	if (!s->ready)
		memset(s->of, 0, sizeof s->of);
	s->ready = true;
	set_masks(s, pattern, i, end, true);
	for (uint32_t k = from; k < text.n; k++) {
		state = (state << 1 | 1) & (s->of[(unsigned char)text.p[k]] | any);
		if ((state & last) != 0) {
			found = k + 1 - elements;
			break;
		}
	}
	set_masks(s, pattern, i, end, false);
	return found;
}

/* The first position from `from` on where the part matches; UINT32_MAX: none. */
static uint32_t search_part(struct masks *s, struct slice pattern, uint32_t i, uint32_t end,
                            uint32_t elements, struct slice text, uint32_t from)
{
	if (elements > text.n - from)
		return UINT32_MAX;
	if (elements <= GLOB_LINEAR && (uint64_t)elements * (text.n - from) > 1024)
		return search_bits(s, pattern, i, end, elements, text, from);
	for (uint32_t k = from; k <= text.n - elements; k++)
		if (part_matches(pattern, i, end, text.p + k))
			return k;
	return UINT32_MAX;
}

static bool match_parts(struct slice pattern, struct slice text)
{
	struct masks masks;
	uint32_t elements, i = 0, from, end = part_end(pattern, 0, &elements);

	masks.ready = false;
	/* the part before the first * must match at the beginning */
	if (elements > text.n || !part_matches(pattern, 0, end, text.p))
		return false;
	if (end == pattern.n)
		return elements == text.n;
	for (from = elements; end < pattern.n; from += elements) {
		i = end + 1;
		end = part_end(pattern, i, &elements);
		if (elements == 0)
			continue;
		if (end == pattern.n) /* the part after the last * must match at the end */
			return elements <= text.n - from &&
			       part_matches(pattern, i, end, text.p + text.n - elements);
		from = search_part(&masks, pattern, i, end, elements, text, from);
		if (from == UINT32_MAX)
			return false;
	}
	return true;
}

/* ---- globs of one name ---- */

/* Whether no byte has a special meaning. */
static bool is_literal(struct slice s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (s.p[i] == '*' || s.p[i] == '?' || s.p[i] == '\\')
			return false;
	return true;
}

bool slice_contains(struct slice text, struct slice name)
{
	if (name.n > text.n)
		return false;
	const char *const last = text.p + (text.n - name.n);
	for (const char *p = text.p; p <= last; p++) {
		p = memchr(p, name.p[0], (size_t)(last - p) + 1);
		if (p == NULL)
			return false;
		if (memcmp(p, name.p, name.n) == 0)
			return true;
	}
	return false;
}

/* Fast path for "name", "name*", "*name" and "*name*", and short texts.  Returns false for other patterns. */
static bool match_name(struct slice pattern, struct slice text, bool *fits)
{
	const bool any_before = pattern.n > 0 && pattern.p[0] == '*';
	const bool any_after = pattern.n > 1 && pattern.p[pattern.n - 1] == '*';
	const struct slice name = slice_of(pattern.p + any_before, pattern.n - any_before - any_after);

	if (name.n == 0 || !is_literal(name) || (uint64_t)name.n * text.n > 1024)
		return false;
	if (text.n < name.n || (text.n > name.n && !any_before && !any_after))
		*fits = false;
	else if (any_before && any_after)
		*fits = slice_contains(text, name);
	else
		*fits = memcmp(text.p + (any_before ? text.n - name.n : 0), name.p, name.n) == 0;
	return true;
}

/* Whether the first byte of the pattern is literal and differs from that of the text. */
static inline bool differs_at_once(struct slice pattern, struct slice text)
{
	const char c = pattern.n > 0 ? pattern.p[0] : '*';

	return c != '*' && c != '?' && c != '\\' && (text.n == 0 || text.p[0] != c);
}

bool glob_fits(struct slice pattern, struct slice text)
{
	bool fits;

	if (differs_at_once(pattern, text))
		return false;
	return match_name(pattern, text, &fits) ? fits : match_parts(pattern, text);
}

bool glob_is_linear(struct slice pattern)
{
	uint32_t elements, end = part_end(pattern, 0, &elements);

	while (end < pattern.n) {
		end = part_end(pattern, end + 1, &elements);
		if (end < pattern.n && elements > GLOB_LINEAR)
			return false;
	}
	return true;
}

size_t glob_length(const char *list)
{
	size_t n = 0, depth = 0, comma = SIZE_MAX;

	for (; list[n] != '\0'; n++) {
		if (list[n] == '\\' && list[n + 1] != '\0')
			n++;
		else if (strchr("([{<", list[n]) != NULL)
			depth++;
		else if (strchr(")]}>", list[n]) != NULL)
			depth -= depth > 0;
		else if (list[n] == ',' && depth == 0)
			return n;
		else if (list[n] == ',' && comma == SIZE_MAX)
			comma = n;
	}
	return depth > 0 && comma != SIZE_MAX ? comma : n;
}

uint32_t glob_stars(struct slice pattern)
{
	uint32_t elements, stars = 0;

	for (uint32_t end = part_end(pattern, 0, &elements); end < pattern.n; stars++)
		end = part_end(pattern, end + 1, &elements);
	return stars;
}

/* ---- positions in sources ---- */

struct slice slice_without_line(struct slice s)
{
	for (int i = 0; i < 2; i++) {
		uint32_t n = s.n;
		while (n > 0 && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
			n--;
		if (n == s.n || n < 2 || s.p[n - 1] != ':')
			break;
		s.n = n - 1;
	}
	return s;
}

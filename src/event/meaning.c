#include "event/meaning.h"

uint32_t
meaning_width(uint8_t type)
{
	static const uint8_t widths[] = {
		[VALUE_U8] = 1,  [VALUE_U16] = 2, [VALUE_U32] = 4, [VALUE_U64] = 8, [VALUE_I8] = 1,      [VALUE_I16] = 2,
		[VALUE_I32] = 4, [VALUE_I64] = 8, [VALUE_F32] = 4, [VALUE_F64] = 8, [VALUE_ADDRESS] = 8,
	};

	return type < sizeof widths ? widths[type] : 0;
}

struct slice
meaning_word(const struct meaning *m, const char *name)
{
	for (uint32_t i = 0; i < m->nwords; i++)
		if (slice_is(m->words[i].name, name))
			return value_text(&m->words[i].value);
	return (struct slice){ NULL, 0, 0 };
}

/* Whether the pattern's byte at i stands for this one; *i moves behind it. */
static bool
matches_byte(struct slice pattern, uint32_t *i, char c)
{
	if (pattern.p[*i] == '?') {
		++*i;
		return true;
	}
	if (pattern.p[*i] == '\\' && *i + 1 < pattern.n)
		++*i;
	return pattern.p[(*i)++] == c;
}

/* Only the last * met is ever tried again: what an earlier one could take, it can take as well. */
bool
meaning_glob(struct slice pattern, struct slice text)
{
	uint32_t i = 0, k = 0, star = UINT32_MAX, from = 0;

	while (k < text.n) {
		if (i < pattern.n && pattern.p[i] == '*') {
			star = ++i;
			from = k;
			continue;
		}
		if (i < pattern.n && matches_byte(pattern, &i, text.p[k])) {
			k++;
			continue;
		}
		if (star == UINT32_MAX)
			return false;
		i = star;
		k = ++from;
	}
	while (i < pattern.n && pattern.p[i] == '*')
		i++;
	return i == pattern.n;
}

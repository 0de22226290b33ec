#include "base/edit_distance.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX 63

static size_t
min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t
edit_distance(const char *a, const char *b)
{
	const size_t na = strlen(a), nb = strlen(b);
	size_t rows[3][WORD_MAX + 1]; /* two rows back, the last row, this row */
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	if (na > WORD_MAX || nb > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		last[j] = j;
	for (size_t i = 1; i <= na; i++) {
		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = min2(min2(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = min2(now[j], before[j - 2] + 1);
		}
		size_t *const free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return last[nb];
}

int
edit_distance_plausible(const char *typed, const char *known)
{
	size_t limit = strlen(known) / 3;

	limit = limit < 1 ? 1 : limit > 3 ? 3 : limit;
	return edit_distance(typed, known) <= limit;
}

/* The short ways of looking at text. */
#include <criterion/criterion.h>
#include <string.h>

#include "heph/heph.h"

#define MOST 70U

/* One byte that is not ASCII is seen wherever it stands, and none outside. */
Test(heph_text, each_byte_is_looked_at)
{
	char text[MOST + 2];

	for (uint32_t n = 0; n <= MOST; n++) {
		memset(text, '\x80', sizeof text);
		memset(text + 1, 'x', n);
		cr_expect(heph_is_ascii(text + 1, n), "%u bytes", n);
		for (uint32_t i = 1; i <= n; i++) {
			text[i] = (char)0xc3;
			cr_expect_not(heph_is_ascii(text + 1, n), "byte %u of %u", i, n);
			text[i] = 'x';
		}
	}
}

#include <string.h>

#include "bench/bench_inputs.h"

/* Regions of a runtime, mostly without payload, as one thread writes them: 12 bytes, each 16th event 28. */

#define BLOCK 4096

static size_t
put(char *to, unsigned flags, const char *code, uint64_t clock, size_t payload)
{
	to[0] = (char)flags;
	memcpy(to + 1, code, 3);
	for (int i = 0; i < 8; i++)
		to[4 + i] = (char)(clock >> 8 * i & 0xff);
	memset(to + 12, 1, payload);
	return 12 + payload;
}

bool
bench_make_ovni(FILE *f, uint64_t events)
{
	static const char *const codes[] = { "VU[", "VS[", "VS]", "VU]", "VAs", "VAS", "VMa", "VMA" };
	static char block[BLOCK * 28];
	bool ok = fwrite("ovni\1\0\0\0", 1, 8, f) == 8;
	uint64_t clock = UINT64_C(1000000000000);

	for (uint64_t i = 0; ok && i < events;) {
		size_t n = 0;
		for (unsigned k = 0; k < BLOCK && i < events; k++, i++, clock += 20 + i % 7 * 10)
			n += i + 1 == events ? put(block + n, 0, "OHe", clock, 0)
			     : i % 16 == 9   ? put(block + n, 15, "VTc", clock, 16)
			                     : put(block + n, 0, codes[i % 8], clock, 0);
		ok = fwrite(block, 1, n, f) == n;
	}
	return ok;
}

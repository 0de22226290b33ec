#ifndef DFTRACER_RANDOM_H
#define DFTRACER_RANDOM_H

#include "json/json_random.h"

/* Random records: any fields in any order, any values. */

static inline void random_key(struct random_text *x, bool arg)
{
	static const char *const tops[] = { "id",  "name", "cat", "type", "pid",
		                            "tid", "ts",   "dur", "ph",   "more" };
	static const char *const args[] = { "hhash", "fhash",    "ret",
		                            "name",  "value",    "dft_cnt",
		                            "dur",   "hostname", "a key of more than 16 bytes" };

	random_put(x, "\"");
	random_put(x, arg ? args[random_below(x, sizeof args / sizeof args[0])]
	                  : tops[random_below(x, sizeof tops / sizeof tops[0])]);
	random_put(x, "\":");
	random_blank(x);
}

/* One record, valid but for keys that come twice. */
static inline void random_record(struct random_text *x)
{
	const uint32_t n = random_below(x, 9), args = random_below(x, n + 3);

	x->n = 0;
	x->plain = random_below(x, 3) > 0;
	random_put(x, "{");
	for (uint32_t i = 0; i < n; i++) {
		random_put(x, i > 0 ? "," : "");
		random_blank(x);
		if (i != args) {
			random_key(x, false);
			random_value(x, 3);
			continue;
		}
		random_put(x, "\"args\":{");
		for (uint32_t k = 0, most = random_below(x, 6); k < most; k++) {
			random_put(x, k > 0 ? "," : "");
			random_key(x, true);
			random_value(x, 0);
		}
		random_put(x, "}");
	}
	random_put(x, "}");
}

#endif

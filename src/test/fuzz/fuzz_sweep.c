#include "test/fuzz/fuzz_sweep.h"

#include <stdlib.h>

#define PARTS_FULL (FUZZ_ALL & ~(unsigned)(FUZZ_SLOW_7 | FUZZ_SLOW_1))

/* Returns the parts of the next case. */
static unsigned next_parts(const struct fuzz_sweep *s, const struct fuzz_swept *out)
{
	const uint64_t ordinal = out->prefixes + out->changes;

	if (s->full_every == 0 || ordinal % s->full_every != 0)
		return FUZZ_CHECK;
	return ordinal / s->full_every % 512 == 0 ? FUZZ_ALL : PARTS_FULL;
}

static bool check_case(const struct fuzz_sweep *s, struct fuzz_swept *out, const char *p, size_t n)
{
	const bool ok = fuzz_check(&out->result, p, n, s->format, NULL, next_parts(s, out));

	out->status[out->result.status]++;
	return ok;
}

/* Each prefix is an allocation of its own, so that sanitizers see the first byte after it. */
static bool sweep_prefixes(const struct fuzz_sweep *s, struct fuzz_swept *out)
{
	bool ok = true;

	for (size_t n = s->first; n <= s->n && ok; n += s->stride) {
		char *const p = malloc(n);
		if (p == NULL && n > 0)
			return fuzz_broken(&out->result, "no memory");
		if (n > 0)
			memcpy(p, s->p, n);
		if (s->at != NULL)
			s->at(s->ctx, n);
		out->place = n;
		out->byte = -1;
		ok = check_case(s, out, n > 0 ? p : "", n);
		out->prefixes++;
		free(p);
	}
	return ok;
}

static bool is_light(unsigned char was, unsigned char is)
{
	static const unsigned char values[] = { 0, 1, 2, 0x7f, 0x80, 0xff }, flips[] = { 0x01, 0x20, 0x80 };

	for (size_t i = 0; i < sizeof values; i++)
		if (is == values[i])
			return true;
	for (size_t i = 0; i < sizeof flips; i++)
		if ((was ^ is) == flips[i])
			return true;
	return false;
}

static bool sweep_bytes(const struct fuzz_sweep *s, struct fuzz_swept *out, char *p)
{
	for (size_t i = s->first; i < s->n; i += s->stride * (s->sparse > 0 ? s->sparse : 1)) {
		const unsigned char was = (unsigned char)p[i];
		if (s->at != NULL)
			s->at(s->ctx, i);
		for (unsigned byte = 0; byte < 256; byte++) {
			if (byte == was || (s->light && !is_light(was, (unsigned char)byte)))
				continue;
			p[i] = (char)byte;
			out->place = i;
			out->byte = (int)byte;
			if (!check_case(s, out, p, s->n))
				return false;
			out->changes++;
		}
		p[i] = (char)was;
	}
	return true;
}

bool fuzz_sweep_run(const struct fuzz_sweep *s, struct fuzz_swept *out)
{
	*out = (struct fuzz_swept){ .byte = -1 };
	if (!sweep_prefixes(s, out) || s->n == 0)
		return s->n == 0 && out->result.fault[0] == '\0';
	char *const p = malloc(s->n);
	if (p == NULL)
		return fuzz_broken(&out->result, "no memory");
	memcpy(p, s->p, s->n);
	const bool ok = sweep_bytes(s, out, p);
	free(p);
	return ok;
}

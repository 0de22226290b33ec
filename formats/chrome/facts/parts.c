/*
 * Traces of which each is a part of a job: the ranks of a PyTorch program, the objects of a clang build.
 * Files of a folder have equal processes (GPU 0 to 7, pid 1), so the part goes before their names: "rank 3:
 * GPU 0".
 */
#include "chrome/chrome.h"

void chrome_read_ranks(struct chrome_reading *st, const struct json_token *t)
{
	struct json json = { .lenient = true, .depth = JSON_MAX_DEPTH, .complete = true };
	struct json_walk w = json_walk(&json, t->p, t->end);
	uint64_t v;

	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key), text = json_token_text(&w.value);
		if (text.n == 0 || !json_digits_any(text.p, text.n, &v))
			continue;
		if (slice_is(key, "rank")) {
			st->has_rank = true;
			st->rank = v;
		} else if (slice_is(key, "world_size")) {
			st->r->trace->parts = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
		}
	}
}

static const char *base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Finds "rank3", "rank-3" or "rank_3" in a name. */
static bool rank_of_name(const char *name, uint64_t *rank)
{
	for (const char *p = name; (p = strstr(p, "rank")) != NULL;) {
		p += 4;
		p += *p == '-' || *p == '_';
		const size_t n = strspn(p, "0123456789");
		if (n > 0 && json_digits_any(p, (uint32_t)n, rank))
			return true;
	}
	return false;
}

/* Returns the length of a name without the suffixes that all files have. */
static int stem(const char *name)
{
	static const char *const suffixes[] = { ".gz", ".zst", ".xz", ".json", ".trace", ".pt" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		const size_t m = strlen(suffixes[i]);
		if (n > m && memcmp(name + n - m, suffixes[i], m) == 0)
			n -= m;
	}
	return (int)(n < 100 ? n : 100);
}

struct slice chrome_labelled(struct chrome_reading *st, struct slice name)
{
	struct arena *const a = &st->r->trace->arena;
	const char *const file = base_name(st->r->in->path);
	uint64_t rank = st->rank;
	struct slice text;

	if (st->r->folder == 0)
		return name;
	if (chrome_is_dialect(st, CHROME_DIALECT_KINETO) && (st->has_rank || rank_of_name(file, &rank)))
		text = arena_printf(a, "rank %" PRIu64 ": %.*s", rank, (int)name.n, name.p);
	else if (chrome_is_dialect(st, CHROME_DIALECT_KINETO) || chrome_is_dialect(st, CHROME_DIALECT_CLANG))
		text = arena_printf(a, "%.*s: %.*s", stem(file), file, (int)name.n, name.p);
	else
		return name;
	st->r->trace->labelled = true;
	return text.p != NULL ? textscan_slice(text.p, text.n) : text;
}

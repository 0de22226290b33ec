#include "dftracer/write.h"

#include "dftracer/md5.h"

/*
 * Names of hosts, files and strings as hashes, each with a record that defines
 * it.  Tracers cut them from the MD5 of the name: up to 1.0.8 the high half of
 * each byte, later every second byte.
 */

static const char *const records[] = { [DFW_HOST] = "HH", [DFW_FILE] = "FH", [DFW_STRING] = "SH" };

static uint64_t
cut(const unsigned char digest[DFT_MD5_SIZE], bool halves)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < DFT_MD5_SIZE; i += halves ? 1 : 2)
		v = halves ? v << 4 | digest[i] >> 4 : v << 8 | digest[i];
	return v > UINT16_MAX ? v : v + UINT16_MAX + 1; /* small numbers are the hashes of another dialect */
}

static struct dfw_hash
make_hash(const struct dfw_state *st, uint64_t value)
{
	struct dfw_hash h;
	const int n =
	    snprintf(h.text, sizeof h.text, st->dialect == DFW_D3 ? "%" PRIu64 : "\"%016" PRIx64 "\"", value);

	h.n = (uint32_t)n;
	return h;
}

/* NULL: no memory. */
static const struct dfw_hash *
add(struct dfw_state *st, enum dfw_hash_kind kind, struct slice text, uint64_t value)
{
	const struct slice copy = arena_copy(&st->arena, text);

	if (copy.p == NULL || !array_room(&st->hashes, st->nhashes, &st->hashes_cap, sizeof *st->hashes) ||
	    !tabletext_put(&st->hashed[kind], copy, st->nhashes) ||
	    !table64_put(&st->hashes_used[kind], value, 1))
		return NULL;
	st->hash_bytes += text.n;
	st->hashes[st->nhashes] = make_hash(st, value);
	return &st->hashes[st->nhashes++];
}

struct dfw_hash
dfw_hash_of(struct dfw_state *st, struct chunk *chunk, struct dfw_who who, enum dfw_hash_kind kind,
            struct slice text)
{
	const struct dfw_hash none = { .n = 0 };
	unsigned char digest[DFT_MD5_SIZE];

	if (st->dialect == DFW_D1 || text.n == 0)
		return none;
	const uint32_t known = tabletext_get(&st->hashed[kind], text);
	if (known != TABLE_NONE)
		return st->hashes[known];
	if (st->nhashes >= DFW_MOST_HASHES || text.n > DFW_MOST_HASH_BYTES - st->hash_bytes)
		return none;
	dft_md5(text, digest);
	const uint64_t value = cut(digest, st->dialect == DFW_D3);
	if (table64_get(&st->hashes_used[kind], value) != TABLE_NONE)
		return none; /* that of another text */
	const struct dfw_hash *const h = add(st, kind, text, value);
	if (h == NULL) {
		chunk->text.failed = true;
		return none;
	}
	const struct dfw_hash hash = *h;
	if (kind == DFW_HOST && who.process->host_hash.n == 0)
		who.process->host_hash = hash;
	dfw_metadata(st, chunk, who, records[kind], text, slice_of(hash.text, hash.n));
	return hash;
}

#include "dftracer/keys.h"

#include <stdlib.h>

#include "base/table.h"

static const struct {
	const char *text;
	enum dft_role role;
} known_keys[] = {
	{ "hhash", DFT_ROLE_HHASH },       { "fhash", DFT_ROLE_FHASH },
	{ "cmd_hash", DFT_ROLE_CMD_HASH }, { "exec_hash", DFT_ROLE_EXEC_HASH },
	{ "cwd", DFT_ROLE_CWD },           { "hostname", DFT_ROLE_HOSTNAME },
	{ "fname", DFT_ROLE_FNAME },       { "cmd", DFT_ROLE_CMD },
	{ "exec", DFT_ROLE_EXEC },         { "name", DFT_ROLE_NAME },
	{ "value", DFT_ROLE_VALUE },       { "hash", DFT_ROLE_HASH },
	{ "version", DFT_ROLE_VERSION },   { "num_events", DFT_ROLE_NUM_EVENTS },
	{ "cfg", DFT_ROLE_CFG },           { "dft_cnt", DFT_ROLE_COUNT_OF_CALLS },
	{ "dur", DFT_ROLE_DURATION },      { "id", DFT_ROLE_ID },
	{ "type", DFT_ROLE_TYPE },
};

bool
dft_keys_init(struct dft_keys *k)
{
	*k = (struct dft_keys){ .keys = calloc(DFT_MAX_KEYS, sizeof *k->keys),
		                .slots = calloc(DFT_KEY_SLOTS, sizeof *k->slots),
		                .seed = hash_seed() };
	return k->keys != NULL && k->slots != NULL;
}

void
dft_keys_free(struct dft_keys *k)
{
	free(k->keys);
	free(k->slots);
	arena_free(&k->text);
	*k = (struct dft_keys){ .keys = NULL };
}

static enum dft_role
role_of(struct slice s)
{
	for (size_t i = 0; i < sizeof known_keys / sizeof known_keys[0]; i++)
		if (slice_is(s, known_keys[i].text))
			return known_keys[i].role;
	return DFT_ROLE_NONE;
}

/* Keyed, so that no input can choose keys that all meet in one slot. */
static inline uint32_t
first_slot(const struct dft_keys *k, uint64_t low, uint64_t high, uint32_t n)
{
	const unsigned __int128 m =
	    (unsigned __int128)(low ^ k->seed) * (high ^ n ^ (k->seed << 32 | k->seed >> 32));

	return (uint32_t)((uint64_t)m ^ (uint64_t)(m >> 64)) % DFT_KEY_SLOTS;
}

static uint16_t
add(struct dft_keys *k, uint64_t low, uint64_t high, struct slice s, uint32_t slot)
{
	if (k->n == DFT_MAX_KEYS || s.n > DFT_MAX_KEY_BYTES - k->bytes)
		return DFT_NO_KEY;
	const struct slice text = arena_copy(&k->text, s);
	if (text.p == NULL)
		return DFT_NO_KEY; /* a key without a number is read all the same, until somebody asks */
	k->bytes += s.n;
	k->keys[k->n] =
	    (struct dft_key){ .low = low, .high = high, .text = text, .role = (uint8_t)role_of(s) };
	k->slots[slot] = (uint16_t)(k->n + 1);
	return (uint16_t)k->n++;
}

static inline uint16_t
find(struct dft_keys *k, uint64_t low, uint64_t high, struct slice s)
{
	uint32_t slot = first_slot(k, low, high, s.n);

	for (; k->slots[slot] != 0; slot = (slot + 1) % DFT_KEY_SLOTS) {
		const struct dft_key *const key = &k->keys[k->slots[slot] - 1];
		if (key->low == low && key->high == high && key->text.n == s.n &&
		    (s.n <= 16 || memcmp(key->text.p, s.p, s.n) == 0))
			return (uint16_t)(k->slots[slot] - 1);
	}
	return add(k, low, high, s, slot);
}

uint16_t
dft_key_number(struct dft_keys *k, struct slice s)
{
	char start[16] = { 0 };

	if (s.n > 0)
		memcpy(start, s.p, s.n < 16 ? s.n : 16);
	/* long keys share their start easily: the hash of the whole tells them apart */
	return find(k, load_u64(start, false),
	            s.n <= 16 ? load_u64(start + 8, false) : hash_bytes(s.p, s.n, k->seed), s);
}

enum dft_top
dft_top_of(struct slice key)
{
	static const char *const names[DFT_TOPS] = {
		[DFT_ID] = "id",   [DFT_NAME] = "name", [DFT_CAT] = "cat", [DFT_TYPE] = "type",
		[DFT_PID] = "pid", [DFT_TID] = "tid",   [DFT_TS] = "ts",   [DFT_DUR] = "dur",
		[DFT_PH] = "ph",   [DFT_ARGS] = "args",
	};

	for (int i = 0; i < DFT_TOPS; i++)
		if (slice_is(key, names[i]))
			return (enum dft_top)i;
	return DFT_TOPS;
}

#include <stdlib.h>

#include "dftracer/dftracer_record.h"

/*
 * The keys of arguments are few and come again in every record, so each gets a
 * number, by its first 16 bytes.  That a key comes twice in one object is seen
 * by the object it was met in last.
 */

static const struct {
	const char *text;
	enum dft_plan plan;
} vocabularies[] = {
	{ "hhash", DFT_MEANS_HHASH },       { "fhash", DFT_MEANS_FHASH },
	{ "cmd_hash", DFT_MEANS_CMD_HASH }, { "exec_hash", DFT_MEANS_EXEC_HASH },
	{ "cwd", DFT_MEANS_CWD },           { "hostname", DFT_MEANS_HOSTNAME },
	{ "fname", DFT_MEANS_FNAME },       { "cmd", DFT_MEANS_CMD },
	{ "exec", DFT_MEANS_EXEC },         { "name", DFT_MEANS_NAME },
	{ "value", DFT_MEANS_VALUE },       { "hash", DFT_MEANS_HASH },
	{ "version", DFT_MEANS_VERSION },   { "num_events", DFT_MEANS_NUM_EVENTS },
	{ "cfg", DFT_MEANS_CFG },           { "dft_cnt", DFT_MEANS_COUNT_OF_CALLS },
	{ "dur", DFT_MEANS_DURATION },      { "id", DFT_MEANS_ID },
	{ "type", DFT_MEANS_TYPE },
};

bool
dft_keys_init(struct dft_keys *k)
{
	k->keys = calloc(DFT_MAX_KEYS, sizeof *k->keys);
	k->slots = calloc(DFT_KEY_SLOTS, sizeof *k->slots);
	k->seed = hash_seed();
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

static enum dft_plan
plan_of(struct slice s)
{
	for (size_t i = 0; i < sizeof vocabularies / sizeof vocabularies[0]; i++)
		if (slice_is(s, vocabularies[i].text))
			return vocabularies[i].plan;
	return DFT_MEANS_NOTHING;
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
		return DFT_NO_KEY; /* a key without a number is read all the same */
	k->bytes += s.n;
	k->keys[k->n] = (struct dft_key){
		.low = low, .high = high, .n = s.n, .text = text.p, .plan = (uint8_t)plan_of(s)
	};
	k->slots[slot] = (uint16_t)(k->n + 1);
	return (uint16_t)k->n++;
}

static inline uint16_t
find(struct dft_keys *k, uint64_t low, uint64_t high, const char *p, uint32_t n)
{
	uint32_t slot = first_slot(k, low, high, n);

	for (; k->slots[slot] != 0; slot = (slot + 1) % DFT_KEY_SLOTS) {
		const struct dft_key *const key = &k->keys[k->slots[slot] - 1];
		if (key->low == low && key->high == high && key->n == n &&
		    (n <= 16 || memcmp(key->text, p, n) == 0))
			return (uint16_t)(k->slots[slot] - 1);
	}
	return add(k, low, high, slice_of(p, n), slot);
}

uint16_t
dft_key_number(struct dft_keys *k, struct slice s)
{
	char start[16] = { 0 };

	if (s.n > 0)
		memcpy(start, s.p, s.n < 16 ? s.n : 16);
	if (s.n <= 16)
		return find(k, load_u64(start, false), load_u64(start + 8, false), s.p, s.n);
	/* long keys share their start easily: the hash of the whole tells them apart */
	return find(k, load_u64(start, false), hash_bytes(s.p, s.n, k->seed), s.p, s.n);
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

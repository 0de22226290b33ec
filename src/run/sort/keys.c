/* Sorting keys: natural merge sort for keys with long runs, else radix sort on the bytes that differ. */
#include <string.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "run/sort/sorter.h"

/* ---- merging runs ---- */

/*
 * Two algorithms: a natural merge sort, and a radix sort for many keys in nearly random order, where each
 * step of a merge would cost an unpredictable comparison.
 *
 * Runs wait on a stack, where each is at least twice as long as the next one: two runs are merged when they
 * are not, so a key takes part in O(log n) merges, and few long runs in few.
 */

#define SHORT_RUN 16U  /* keys; shorter runs are extended to this length by insertion sort */
#define MAX_PENDING 32 /* of 2^32 keys at most */

struct run {
	uint32_t at, n;
};

static void reverse(struct order_key *keys, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		const struct order_key k = keys[i];
		keys[i] = keys[n - 1 - i];
		keys[n - 1 - i] = k;
	}
}

/* Insertion sort of n keys, of which the first `sorted` are in order. */
static void insert_rest(struct order_key *keys, uint32_t sorted, uint32_t n)
{
	for (uint32_t i = sorted; i < n; i++) {
		const struct order_key k = keys[i];
		uint32_t at = i;
		for (; at > 0 && order_key_less(&k, &keys[at - 1]); at--)
			keys[at] = keys[at - 1];
		keys[at] = k;
	}
}

/* Finds or creates a run at the start of n > 0 keys, and returns its length.  Only strictly descending keys
 * are reversed, so equal keys keep their order. */
static uint32_t first_run(struct order_key *keys, uint32_t n)
{
	uint32_t len = 1;

	if (n > 1 && order_key_less(&keys[1], &keys[0])) {
		while (len < n && order_key_less(&keys[len], &keys[len - 1]))
			len++;
		reverse(keys, len);
	} else {
		while (len < n && !order_key_less(&keys[len], &keys[len - 1]))
			len++;
	}
	if (len < SHORT_RUN && len < n) {
		const uint32_t want = n < SHORT_RUN ? n : SHORT_RUN;
		insert_rest(keys, len, want);
		len = want;
	}
	return len;
}

/* Returns the number of n sorted keys that are less than `key`, or equal if or_equal. */
static uint32_t count_before(const struct order_key *keys, uint32_t n, const struct order_key *key,
                             bool or_equal)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		if (or_equal ? !order_key_less(key, &keys[mid]) : order_key_less(&keys[mid], key))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Returns `second ? b : a` without a branch, which would be unpredictable; compilers emit one for a?b:c. */
static const struct order_key *choose(bool second, const struct order_key *a, const struct order_key *b)
{
	const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return (const struct order_key *)(x ^ ((x ^ y) & -(uintptr_t)second));
}

/* Merges two adjacent runs; the left one goes to scratch.  Keys at both ends that are already in position
 * stay. */
static void merge_runs(struct order_key *keys, uint32_t nleft, uint32_t n, struct order_key *scratch)
{
	const uint32_t skip = count_before(keys, nleft, &keys[nleft], true);

	if (skip == nleft)
		return;
	const size_t nright = count_before(keys + nleft, n - nleft, &keys[nleft - 1], false);
	const struct order_key *const left = scratch, *const right = keys + nleft;
	size_t done = 0, from_right = 0;

	keys += skip;
	nleft -= skip;
	memcpy(scratch, keys, nleft * sizeof *keys);
	while (done - from_right < nleft && from_right < nright) {
		const struct order_key *const l = left + (done - from_right), *const r = right + from_right;
		const bool take_right = order_key_less(r, l);
		keys[done++] = *choose(take_right, l, r);
		from_right += take_right;
	}
	memcpy(keys + done, left + (done - from_right), (nleft - (done - from_right)) * sizeof *keys);
}

static void merge_sort(struct order_key *keys, uint32_t n, struct order_key *scratch)
{
	struct run pending[MAX_PENDING];
	unsigned npending = 0;

	for (uint32_t at = 0; at < n;) {
		struct run last = { at, first_run(keys + at, n - at) };
		at += last.n;
		for (; npending > 0 && (at == n || pending[npending - 1].n / 2 < last.n); npending--) {
			const struct run before = pending[npending - 1];
			last = (struct run){ before.at, before.n + last.n };
			merge_runs(keys + before.at, before.n, last.n, scratch);
		}
		pending[npending++] = last;
	}
}

/* ---- radix sort ---- */

#define MIN_RADIX 1024U  /* keys; below, counting digits costs more than it saves */
#define FAR_DISTANCE 64U /* keys; merges are cheap if few keys have to move that far */

/* Bits in which keys differ: of start - min_start and track - min_track. */
struct spread {
	uint64_t min_start;
	uint32_t min_track;
	unsigned start_bits, track_bits;
	uint32_t descents; /* keys less than their predecessor */
	uint32_t far;      /* keys less than a key at least FAR_DISTANCE before: if few, merges suffice */
};

static unsigned bits_of(uint64_t v)
{
	return v == 0 ? 0 : high_bit(v) + 1;
}

static struct spread spread_of(const struct order_key *keys, uint32_t n)
{
	struct spread s = { .min_start = keys[0].start, .min_track = keys[0].track };
	uint64_t max_start = s.min_start;
	uint32_t max_track = s.min_track;
	const struct order_key *max = keys, *border_max = keys, *far_max = keys;

	for (uint32_t i = 1; i < n; i++) {
		const struct order_key *const k = &keys[i];
		s.min_start = k->start < s.min_start ? k->start : s.min_start;
		max_start = k->start > max_start ? k->start : max_start;
		s.min_track = k->track < s.min_track ? k->track : s.min_track;
		max_track = k->track > max_track ? k->track : max_track;
		s.descents += order_key_less(k, k - 1);
		s.far += order_key_less(k, far_max);
		max = choose(order_key_less(max, k), max, k);
		if (i % FAR_DISTANCE == 0) {
			far_max = border_max;
			border_max = max;
		}
	}
	s.start_bits = bits_of(max_start - s.min_start);
	s.track_bits = bits_of(max_track - s.min_track);
	return s;
}

/* Packs each key into one number: the bits in which keys differ, above its index. */
static void pack_keys(const struct order_key *keys, uint32_t n, const struct spread *s, unsigned index_bits,
                      uint64_t *to)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t track = keys[i].track - s->min_track;
		to[i] = (track << s->start_bits | (keys[i].start - s->min_start)) << index_bits | i;
	}
}

/* Sorts keys that are in order except for durations. */
static void sort_durations(struct order_key *keys, uint32_t n, struct order_key *scratch)
{
	for (uint32_t i = 0, end; i < n; i = end) {
		bool in_order = true;
		for (end = i + 1;
		     end < n && keys[end].start == keys[i].start && keys[end].track == keys[i].track; end++)
			in_order &= keys[end - 1].inv_dur <= keys[end].inv_dur;
		if (!in_order)
			merge_sort(keys + i, end - i, scratch);
	}
}

/* LSD radix sort.  index_bits: bits of the index; with the bits in which keys differ at most 64. */
static void radix_sort(struct order_key *keys, uint32_t n, struct order_key *scratch, const struct spread *s,
                       unsigned index_bits)
{
	uint64_t *from = (uint64_t *)(void *)scratch, *to = from + n;
	struct order_key *const sorted = scratch + n;

	pack_keys(keys, n, s, index_bits, from);
	for (unsigned bit = 0; bit < s->start_bits + s->track_bits; bit += RADIX_BITS) {
		uint64_t *const was_from = from;
		radix_pass(from, to, n, index_bits + bit);
		from = to;
		to = was_from;
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = keys[from[i] & ((UINT64_C(1) << index_bits) - 1)];
	memcpy(keys, sorted, n * sizeof *keys);
	sort_durations(keys, n, scratch);
}

void order_sort(struct order_key *keys, uint32_t n, struct order_key *scratch)
{
	if (n >= MIN_RADIX) {
		const struct spread s = spread_of(keys, n);
		if (s.descents == 0)
			return;
		const unsigned index_bits = bits_of(n - 1);
		if (s.descents > n / SHORT_RUN && s.far > n / 8 &&
		    s.start_bits + s.track_bits + index_bits <= 64) {
			radix_sort(keys, n, scratch, &s, index_bits);
			return;
		}
	}
	merge_sort(keys, n, scratch);
}

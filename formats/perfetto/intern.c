#include <stdlib.h>

#include "base/utf8.h"
#include "perfetto/equal.h"
#include "perfetto/state.h"
#include "output/text_utf8.h"

/*
 * Interned texts.  Memory is bounded for any input: what finds no room is
 * written where it is used.  Short strings of arguments get a number when they
 * come the second time, so that texts that never come again take no room.
 */
#define TABLE_ENTRIES (1U << 18)
#define TABLE_BYTES (32U << 20)
#define TEXT_MOST 1024 /* bytes; longer ones are not interned */
#define STRING_LEAST 4 /* shorter ones are as short as a number */
#define SEEN (1U << 16)
#define STRING_LONG 32 /* longer ones get a number at once, as long as ... */
#define EAGER 4096     /* ... no more than this many did not come again */

static const uint8_t fields[KINDS] = {
	[KIND_CATEGORY] = INTERNED_CATEGORIES,
	[KIND_NAME] = INTERNED_NAMES,
	[KIND_KEY] = INTERNED_KEYS,
	[KIND_STRING] = INTERNED_STRINGS,
	[KIND_FUNCTION] = INTERNED_FUNCTIONS,
};

struct slice
perfetto_clean(struct perfetto_state *st, struct slice s, unsigned *changed)
{
	struct text *const t = &st->clean;
	const char *p = s.p, *const end = p + s.n;

	*changed = 0;
	if ((s.flags & SLICE_JSON) != 0 || s.n == 0)
		return s;
	if (memchr(p, '\0', s.n) == NULL && ((s.flags & SLICE_UTF8) != 0 || utf8_valid(p, s.n)))
		return s;
	text_clear(t);
	for (;;) {
		const char *const nul = memchr(p, '\0', (size_t)(end - p));
		const char *const stop = nul != NULL ? nul : end;
		if (text_utf8(t, slice_of(p, (size_t)(stop - p))) > 0)
			*changed |= 1U << PERFETTO_BAD_TEXT;
		if (nul == NULL)
			break;
		text_add(t, "\\0", 2);
		*changed |= 1U << PERFETTO_NUL;
		p = nul + 1;
	}
	st->body.failed |= t->failed;
	if (t->n > UINT32_MAX) /* a text of GiB that is not text */
		t->n = UINT32_MAX;
	return (struct slice){ t->p, (uint32_t)t->n, SLICE_UTF8 };
}

void
perfetto_lose_all(struct perfetto_state *st, unsigned changed)
{
	for (unsigned i = 0; changed != 0; i++, changed >>= 1)
		if ((changed & 1) != 0)
			perfetto_lose(st, (enum perfetto_loss)i, 1);
}

/* Keys that the importer makes one of are the same. */
uint64_t
perfetto_hash_key(struct perfetto_state *st, struct slice s)
{
	char room[TEXT_MOST];
	uint64_t hash = st->seed;

	for (size_t at = 0; at < s.n || at == 0; at += sizeof room) {
		const size_t n = s.n - at < sizeof room ? s.n - at : sizeof room;
		for (size_t i = 0; i < n; i++) {
			const char c = s.p[at + i];
			room[i] = c == '.' || c == '[' || c == ']' ? '_' : c;
		}
		hash = hash_bytes(room, n, hash);
	}
	return hash | 1;
}

/* The next number, for this text; 0: there is no room. */
static uint32_t
add(struct perfetto_state *st, struct perfetto_table *t, struct slice s)
{
	if (s.n > TEXT_MOST || t->n >= TABLE_ENTRIES || t->bytes + s.n > TABLE_BYTES)
		return 0;
	const struct slice copy = arena_copy(&st->arena, s);
	if (copy.p == NULL || !array_room(&t->entries, t->n, &t->cap, sizeof *t->entries) ||
	    !tabletext_put(&t->iids, copy, t->n + 1)) {
		st->body.failed = true;
		return 0;
	}
	t->entries[t->n] = (struct perfetto_entry){ .text = copy };
	t->bytes += s.n;
	return ++t->n;
}

static uint32_t
define(struct perfetto_state *st, enum perfetto_kind kind, struct slice s)
{
	struct perfetto_table *const t = &st->tables[kind];
	const uint32_t iid = add(st, t, s);
	unsigned changed;

	if (iid == 0)
		return 0;
	const struct slice text = perfetto_clean(st, s, &changed);
	const size_t at = wire_open(&st->defs, fields[kind]);
	wire_number(&st->defs, ENTRY_IID, iid);
	wire_slice(&st->defs, ENTRY_TEXT, text);
	wire_close(&st->defs, at);
	t->entries[iid - 1].changed = (uint8_t)changed;
	if (kind == KIND_KEY)
		t->entries[iid - 1].same = perfetto_hash_key(st, text);
	return iid;
}

static inline uint32_t
use(struct perfetto_state *st, const struct perfetto_table *t, uint32_t iid)
{
	if (t->entries[iid - 1].changed != 0)
		perfetto_lose_all(st, t->entries[iid - 1].changed);
	return iid;
}

/* The row of the memo where a text is, if it is in it. */
static inline uint32_t *
memo_of(struct perfetto_table *t, struct slice s)
{
	uint32_t sum = s.n * 37, tail = 0;

	if (s.n >= 4)
		memcpy(&tail, s.p + s.n - 4, 4);
	else if (s.n > 0)
		tail = (unsigned char)s.p[s.n - 1];
	sum += (tail * 2654435761U) >> 20;
	sum += s.n > 0 ? (unsigned char)s.p[s.n / 2] * 5U : 0;

	return &t->memo[sum % PERFETTO_MEMO];
}

static inline bool
is_known(const struct perfetto_table *t, uint32_t iid, struct slice s)
{
	return iid != 0 && perfetto_equal(t->entries[iid - 1].text, s);
}

uint32_t
perfetto_intern(struct perfetto_state *st, enum perfetto_kind kind, struct slice s)
{
	struct perfetto_table *const t = &st->tables[kind];
	uint32_t *const memo = memo_of(t, s);

	if (is_known(t, *memo, s))
		return use(st, t, *memo);
	uint32_t iid = tabletext_get(&t->iids, s);
	if (iid == TABLE_NONE)
		iid = define(st, kind, s);
	if (iid == 0)
		return 0;
	*memo = iid;
	return use(st, t, iid);
}

/* The number of a string that comes again; 0 for one that comes the first time. */
static uint32_t
when_seen(struct perfetto_state *st, struct slice s)
{
	if (st->seen == NULL && (st->seen = calloc(SEEN, sizeof *st->seen)) == NULL) {
		st->body.failed = true;
		return 0;
	}
	const uint64_t hash = hash_bytes(s.p, s.n, UINT64_C(0x9e3779b97f4a7c15));
	uint32_t *const slot = &st->seen[hash % SEEN];
	if (*slot != (uint32_t)(hash >> 32 | 1)) {
		*slot = (uint32_t)(hash >> 32 | 1);
		return 0;
	}
	const uint32_t made = define(st, KIND_STRING, s);
	return made != 0 ? use(st, &st->tables[KIND_STRING], made) : 0;
}

uint32_t
perfetto_intern_string(struct perfetto_state *st, struct slice s)
{
	struct perfetto_table *const t = &st->tables[KIND_STRING];

	if (s.n < STRING_LEAST || s.n > TEXT_MOST)
		return 0;
	uint32_t *const memo = memo_of(t, s);
	const uint32_t iid = is_known(t, *memo, s) ? *memo : tabletext_get(&t->iids, s);
	if (iid != TABLE_NONE) {
		*memo = iid;
		st->repeats++;
		return use(st, t, iid);
	}
	if (s.n >= STRING_LONG && t->n < st->repeats + EAGER) {
		const uint32_t made = define(st, KIND_STRING, s);
		return made != 0 ? use(st, t, made) : 0;
	}
	return when_seen(st, s);
}

void
perfetto_intern_free(struct perfetto_state *st)
{
	for (int i = 0; i < KINDS; i++) {
		tabletext_free(&st->tables[i].iids);
		free(st->tables[i].entries);
	}
	free(st->seen);
}

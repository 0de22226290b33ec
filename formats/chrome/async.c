/*
 * Async spans and flows: matches their ends by category, id and other members that depend on the phase.  The
 * key is a 64-bit hash of these, seeded per run, so memory is bounded: at most CHROME_MAX_OPEN entries in an
 * array with a free list, and a table from key to the innermost open entry.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

/* Bytes of name and args that are kept until the end of a span: of one span, and of all. */
#define MAX_TEXT (64u << 10)
#define MAX_TEXT_BYTES (16u << 20)

/* ---- keys ---- */

static uint64_t hash_text(struct chrome_reading *st, uint64_t h, struct slice s)
{
	return hash_bytes(s.p, s.n, h ^ st->seed);
}

/* Returns id2.local, else id2.global or id.  *local: the id is unique in its process only. */
static struct slice find_id(struct chrome_reading *st, bool *local)
{
	struct json json = { .lenient = true, .depth = JSON_MAX_DEPTH, .complete = true };
	const struct json_token *const id = &st->rec.of[CHROME_ID], *const id2 = &st->rec.of[CHROME_ID2];
	struct slice found = chrome_token_text(id);

	*local = false;
	if (id2->kind != JSON_OBJECT)
		return found;
	struct json_walk w = json_walk(&json, id2->p, id2->end);
	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key);
		if (slice_is(key, "local") || slice_is(key, "global")) {
			*local = slice_is(key, "local");
			found = json_token_text(&w.value);
		}
	}
	return found;
}

/* Hashes category, scope and id, of flows and the older async spans (S, F) the name too. */
static uint64_t match_key(struct chrome_reading *st, bool flow)
{
	const struct chrome_record *const rec = &st->rec;
	const bool named = flow || rec->ph == 'S' || rec->ph == 'F';
	bool local;

	if (st->seed == 0)
		st->seed = hash_seed();
	uint64_t h = hash_text(st, flow ? 1 : named ? 2 : 3, find_id(st, &local));
	h = hash_text(st, h, chrome_token_text(&rec->of[CHROME_CAT]));
	h = hash_text(st, h, chrome_token_text(&rec->of[CHROME_SCOPE]));
	if (named)
		h = hash_text(st, h, chrome_token_text(&rec->of[CHROME_NAME]));
	return local ? hash_text(st, h, chrome_token_text(&rec->of[CHROME_PID])) : h;
}

/* Rebuilds the table without keys that have no open entry. */
static bool drop_unused_keys(struct chrome_reading *st)
{
	struct table64 kept = { .slots = NULL };
	bool ok = true;

	for (size_t i = 0; ok && i <= st->open_keys.mask; i++) {
		const struct table64_slot *const s = &st->open_keys.slots[i];
		if (s->value != TABLE_NONE && s->value != 0)
			ok = table64_put(&kept, s->key, s->value);
	}
	table64_free(ok ? &st->open_keys : &kept);
	if (ok)
		st->open_keys = kept;
	return ok;
}

/* Returns index + 1 of the innermost open entry of the key; 0: none. */
static uint32_t find_open(const struct chrome_reading *st, uint64_t key)
{
	const uint32_t top = table64_get(&st->open_keys, key);

	return top != TABLE_NONE ? top : 0;
}

/* Returns NULL after a finding (the limit) or on OOM. */
static struct chrome_open *push_open(struct chrome_reading *st, uint64_t key)
{
	const uint32_t top = find_open(st, key);
	uint32_t i = st->free_open;

	if (st->in_use == CHROME_MAX_OPEN) {
		chrome_report_limit(
		    st, CHROME_LIMIT_OPEN,
		    "more than 262,144 flows and async spans are open: the others are not matched");
		return NULL;
	}
	if ((st->open_keys.used > 4 * CHROME_MAX_OPEN && !drop_unused_keys(st)) ||
	    (i == 0 && !array_reserve(&st->open, st->nopen, &st->open_cap, sizeof *st->open)) ||
	    !table64_put(&st->open_keys, key, i != 0 ? i : st->nopen + 1)) {
		st->r->no_memory = true;
		return NULL;
	}
	if (i != 0)
		st->free_open = st->open[i - 1].next;
	else
		i = ++st->nopen;
	st->in_use++;
	st->open[i - 1] = (struct chrome_open){ .next = top };
	return &st->open[i - 1];
}

/* Removes open[top - 1], the innermost entry of the key.  The caller owns the text of the copy. */
static struct chrome_open pop_open(struct chrome_reading *st, uint64_t key, uint32_t top)
{
	const struct chrome_open was = st->open[top - 1];

	table64_put(&st->open_keys, key, was.next); /* the key exists: nothing is allocated */
	st->open[top - 1] = (struct chrome_open){ .next = st->free_open };
	st->free_open = top;
	st->in_use--;
	st->open_bytes -= was.nname + was.nargs;
	return was;
}

/* ---- async spans ---- */

/* Copies name and args for the event that the end of the span creates. */
static void copy_text(struct chrome_reading *st, struct chrome_open *o)
{
	const struct slice name = chrome_token_text(&st->rec.of[CHROME_NAME]);
	const struct json_token *const args = &st->rec.of[CHROME_ARGS];
	const size_t n = args->kind == JSON_OBJECT ? (size_t)(args->end - args->p) : 0;

	if ((st->r->want & WANT_FIELDS) == 0 || name.n + n == 0)
		return;
	if (name.n + n > MAX_TEXT || name.n + n > MAX_TEXT_BYTES - st->open_bytes) {
		chrome_report_limit(st, CHROME_LIMIT_ARGS,
		                    "more args of async spans than 16 MiB, or 64 KiB of one: "
		                    "the others are left out");
		return;
	}
	o->text = malloc(name.n + n);
	if (o->text == NULL) {
		st->r->no_memory = true;
		return;
	}
	memcpy(o->text, name.p, name.n);
	if (n > 0)
		memcpy(o->text + name.n, args->p, n);
	o->nname = name.n;
	o->nargs = (uint32_t)n;
	st->open_bytes += name.n + n;
}

void chrome_begin_async(struct chrome_reading *st)
{
	const uint64_t key = match_key(st, false);

	if (st->rec.ph == 'S' && find_open(st, key) != 0)
		chrome_report(st, CHROME_RULE_DUPLICATE_ID, st->rec.p,
		              "an async span of this name and id has not ended");
	struct chrome_open *const o = push_open(st, key);
	if (o == NULL)
		return;
	o->ts = st->rec.ts;
	st->async_open++;
	copy_text(st, o);
}

bool chrome_end_async(struct chrome_reading *st, struct chrome_open *began)
{
	const uint64_t key = match_key(st, false);
	const uint32_t top = find_open(st, key);

	if (top == 0 && !st->limits[CHROME_LIMIT_OPEN])
		chrome_report(st, CHROME_RULE_UNBALANCED, st->rec.p,
		              "the end of an async span of which no begin has this category and id");
	if (top == 0)
		return false;
	*began = pop_open(st, key, top);
	st->async_open--;
	return true;
}

/* ---- flows ---- */

static bool parse_hex(struct slice s, uint64_t *v)
{
	*v = 0;
	for (uint32_t i = 0; i < s.n; i++) {
		const char c = s.p[i] | 0x20;
		const int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (d < 0)
			return false;
		*v = *v << 4 | (uint64_t)d;
	}
	return s.n > 0 && s.n <= 16;
}

/* Returns the number that the text is, else a hash without a seed: the same in every run. */
static uint64_t flow_number(struct slice s)
{
	uint64_t v;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x' && parse_hex(slice_of(s.p + 2, s.n - 2), &v))
		return v;
	if (s.n > 0 && json_digits_any(s.p, s.n, &v))
		return v;
	return hash_bytes(s.p, s.n, 1);
}

uint64_t chrome_match_flow(struct chrome_reading *st)
{
	const uint64_t key = match_key(st, true);
	const uint32_t top = find_open(st, key);
	const bool early = top != 0 && st->open[top - 1].early;
	bool local;

	if (st->rec.ph == 's' && early) {
		pop_open(st, key, top); /* files need not be in time order */
		st->flows_early--;
	} else if (st->rec.ph == 's' && top != 0) {
		chrome_report(st, CHROME_RULE_DUPLICATE_ID, st->rec.p,
		              "a flow of this category, name and id has begun and not ended");
	} else if (st->rec.ph == 's') {
		push_open(st, key);
	} else if (st->rec.ph == 'f' && top != 0 && !early) {
		pop_open(st, key, top);
	} else if (st->rec.ph == 'f') {
		struct chrome_open *const o = push_open(st, key);
		if (o != NULL) {
			o->early = true;
			st->flows_early++;
		}
	}
	return flow_number(find_id(st, &local));
}

/* ---- end of the input ---- */

void chrome_report_open(struct chrome_reading *st)
{
	if (st->async_open > 0)
		chrome_report(st, CHROME_RULE_UNBALANCED, st->r->in->p,
		              "%" PRIu64 " async spans begin and do not end; left out", st->async_open);
	if (st->flows_early > 0 && !st->limits[CHROME_LIMIT_OPEN])
		chrome_report(st, CHROME_RULE_UNBALANCED, st->r->in->p,
		              "%" PRIu64 " flows end that did not begin", st->flows_early);
}

void chrome_open_free(struct chrome_reading *st)
{
	for (uint32_t i = 0; i < st->nopen; i++)
		free(st->open[i].text);
	free(st->open);
	table64_free(&st->open_keys);
}

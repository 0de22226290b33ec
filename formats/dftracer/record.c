/*
 * Records as tokens, which point into the record; only the keys of arguments are copied, to number them.
 *
 * The parser reads a JSON object of any layout in one pass, and repairs the flaws of known tracers (stray q,
 * unescaped quotes).  A record with the layout of an earlier one needs no parser (paths.c).
 */
#include <stdlib.h>

#include "dftracer/dftracer.h"
#include "json/repair.h"

#define TOPS(X)                                                                                              \
	X(DFT_ID, "id")                                                                                      \
	X(DFT_NAME, "name")                                                                                  \
	X(DFT_CAT, "cat")                                                                                    \
	X(DFT_TYPE, "type")                                                                                  \
	X(DFT_PID, "pid")                                                                                    \
	X(DFT_TID, "tid")                                                                                    \
	X(DFT_TS, "ts")                                                                                      \
	X(DFT_DUR, "dur")                                                                                    \
	X(DFT_PH, "ph")                                                                                      \
	X(DFT_ARGS, "args")

#define ROW(which, text) [which] = (text),
const char *const dft_top_names[DFT_TOPS] = { TOPS(ROW) };
#undef ROW

enum dft_top dft_top_of(struct slice key)
{
	/* A literal each, not a loop over the names: comparisons with constant lengths are inlined. */
#define COMPARE(which, text)                                                                                 \
	if (slice_is(key, text))                                                                             \
		return which;
	TOPS(COMPARE)
#undef COMPARE
	return DFT_TOPS;
}

/* ---- keys of arguments ---- */

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

bool dft_keys_init(struct dft_keys *k)
{
	*k = (struct dft_keys){ .keys = calloc(DFT_MAX_KEYS, sizeof *k->keys),
		                .slots = calloc(DFT_KEY_SLOTS, sizeof *k->slots),
		                .seed = hash_seed() };
	return k->keys != NULL && k->slots != NULL;
}

void dft_keys_free(struct dft_keys *k)
{
	free(k->keys);
	free(k->slots);
	arena_free(&k->text);
	*k = (struct dft_keys){ .keys = NULL };
}

static enum dft_role role_of(struct slice s)
{
	for (size_t i = 0; i < sizeof known_keys / sizeof known_keys[0]; i++)
		if (slice_is(s, known_keys[i].text))
			return known_keys[i].role;
	return DFT_ROLE_NONE;
}

/* The hash is seeded, so that no input can choose keys that collide. */
static inline uint32_t hash_of(const struct dft_keys *k, uint64_t low, uint64_t high, uint32_t n)
{
	const uint128 m = (uint128)(low ^ k->seed) * (high ^ n ^ (k->seed << 32 | k->seed >> 32));

	return (uint32_t)((uint64_t)m ^ (uint64_t)(m >> 64));
}

static uint16_t add_key(struct dft_keys *k, uint64_t low, uint64_t high, struct slice s, uint32_t slot,
                        uint16_t tag)
{
	if (k->n == DFT_MAX_KEYS || s.n > DFT_MAX_KEY_BYTES - k->bytes)
		return DFT_NO_KEY;
	const struct slice text = arena_copy(&k->text, s);
	if (text.p == NULL)
		return DFT_NO_KEY; /* as if there were too many; the reader checks k->text.failed */
	k->bytes += s.n;
	k->keys[k->n] =
	    (struct dft_key){ .low = low, .high = high, .text = text, .role = (uint8_t)role_of(s) };
	k->slots[slot] = (struct dft_key_slot){ tag, (uint16_t)(k->n + 1) };
	return (uint16_t)k->n++;
}

static inline uint16_t find_key(struct dft_keys *k, uint64_t low, uint64_t high, struct slice s)
{
	const uint32_t hash = hash_of(k, low, high, s.n);
	const uint16_t tag = (uint16_t)(hash >> 16);
	uint32_t slot = hash % DFT_KEY_SLOTS;

	for (; k->slots[slot].number != 0; slot = (slot + 1) % DFT_KEY_SLOTS) {
		if (k->slots[slot].tag != tag)
			continue;
		const struct dft_key *const key = &k->keys[k->slots[slot].number - 1];
		if (key->low == low && key->high == high && key->text.n == s.n &&
		    (s.n <= 16 || memcmp(key->text.p, s.p, s.n) == 0))
			return (uint16_t)(k->slots[slot].number - 1);
	}
	return add_key(k, low, high, s, slot, tag);
}

/* Returns the number of a key, after adding it if it is new; DFT_NO_KEY if there are too many. */
static uint16_t key_number(struct dft_keys *k, struct slice s)
{
	char start[16] = { 0 };

	if (s.n > 0)
		memcpy(start, s.p, s.n < 16 ? s.n : 16);
	/* long keys often share their start, so the whole key is hashed */
	return find_key(k, load_u64(start, false),
	                s.n <= 16 ? load_u64(start + 8, false) : hash_bytes(s.p, s.n, k->seed), s);
}

/* ---- keys with spare escapes, see json_spare() ---- */

struct slice dft_plain_key(const struct dft_record *rec, char to[JSON_WORD], struct dft_token key)
{
	const struct slice s = dft_token_text(rec, key);

	return rec->json.spare != NULL ? json_plain(to, s) : s;
}

/* Not inlined: few records have any, and the others should not reserve their memory. */

static NOINLINE enum dft_top plain_top_of(struct slice key)
{
	char word[JSON_WORD];

	return dft_top_of(json_plain(word, key));
}

static NOINLINE uint16_t plain_key_number(struct dft_keys *k, struct slice key)
{
	char word[JSON_WORD];

	return key_number(k, json_plain(word, key));
}

static inline enum dft_top top_of(const struct dft_record *rec, struct slice key)
{
	return rec->json.spare == NULL ? dft_top_of(key) : plain_top_of(key);
}

/* ---- strings ---- */

bool dft_record_init(struct dft_record *rec)
{
	*rec = (struct dft_record){ .args_cap = 256, .json = { .lenient = true, .depth = DFT_MAX_DEPTH } };
	rec->args = rec->own_args = malloc(rec->args_cap * sizeof *rec->args);
	rec->top = rec->own_top;
	return rec->args != NULL;
}

void dft_record_free(struct dft_record *rec)
{
	free(rec->own_args);
	free(rec->members);
	rec->args = rec->own_args = NULL;
	rec->members = NULL;
}

struct parse {
	struct dft_record *rec;
	struct dft_keys *keys;
	const char *e;
};

static struct dft_token token_of(const struct dft_record *rec, const char *from, const char *to)
{
	return (struct dft_token){ (uint32_t)(from - rec->p), (uint32_t)(to - from) };
}

/* Returns the token of a value [p, q), without the quotes of a string. */
static struct dft_token value_token(const struct dft_record *rec, const char *p, const char *q,
                                    enum json_kind kind)
{
	return json_is_string(kind) ? token_of(rec, p + 1, q - 1) : token_of(rec, p, q);
}

struct slice dft_text(const struct dft_record *rec, struct dft_token t, enum json_kind kind, struct arena *a)
{
	const struct slice s = dft_token_text(rec, t);

	if (rec->clean && json_is_string(kind))
		return dft_clean_text(s);
	if ((kind == JSON_ESCAPED || kind == JSON_BAD_STRING) && memchr(s.p, '\\', s.n) != NULL)
		return json_unescape(a, s);
	return textscan_slice(s.p, s.n);
}

bool dft_begins_record(const char *p, const char *e)
{
	const char *const key = p < e && *p == '{' ? json_skip_blanks(p + 1, e) : e;
	const char *const limit = e - key > JSON_WORD ? key + JSON_WORD : e;

	if (key == e || *key != '"')
		return false;
	const char *const close = memchr(key + 1, '"', (size_t)(limit - key) - 1);
	const char *const colon = close != NULL ? json_skip_blanks(close + 1, e) : e;
	return colon < e && *colon == ':' &&
	       plain_top_of(slice_of(key + 1, (size_t)(close - key) - 1)) != DFT_TOPS;
}

static bool record_starts(void *ctx, const char *from, const char *p, const char *e, bool *more)
{
	return dft_begins_record(p, e);
}

static bool is_top_key(struct slice key)
{
	return dft_top_of(key) != DFT_TOPS;
}

/* Guesses the end of the string that opens at `open`: the text after its first end, if any, is not JSON.
 * depth: 1 for members of the record, 2 for arguments. */
static const char *guess_end(const char *open, const char *e, unsigned depth)
{
	static const struct json_records records = { .starts = record_starts, .is_key = is_top_key };
	struct json_repair x; /* large: only members that json_text_end() reads are set */

	x.records = &records;
	x.complete = true;
	x.eager = x.more = false;
	x.from = open;
	x.depth = depth;
	x.objects = ((uint128)1 << depth) - 1;
	return json_text_end(&x, open, e);
}

static void drop_flaws_after(struct json *x, const char *p)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < x->nflaws; i++)
		if (x->flaws[i].at < p)
			x->flaws[kept++] = x->flaws[i];
	x->nflaws = kept;
}

/* Reads a string value.  Unescaped quotes inside, and an unescaped backslash before the last quote, are
 * recognised by the bytes that follow. */
static const char *read_string(struct parse *x, const char *p, unsigned depth, enum json_kind *kind)
{
	struct json *const json = &x->rec->json;
	const char *const q = json_string(json, p, x->e, kind);
	const char *const next = q != NULL ? json_skip_blanks(q, x->e) : NULL;

	if (q != NULL && (next == x->e || *next == ',' || *next == '}' || *next == ']'))
		return q;
	const char *const end = guess_end(p, x->e, depth);
	if (end == NULL)
		return q; /* the missing comma will be reported */
	if (q != NULL && end > q) {
		json_flaw_add(json, DFT_FLAW_UNESCAPED_QUOTE, q - 1);
	} else {
		drop_flaws_after(json, end);
		json_flaw_add(json, JSON_FLAW_ESCAPE, end - 2);
	}
	*kind = JSON_BAD_STRING;
	return end;
}

static const char *read_value(struct parse *x, const char *p, unsigned depth, enum json_kind *kind)
{
	return p < x->e && *p == '"' ? read_string(x, p, depth, kind)
	                             : json_value(&x->rec->json, p, x->e, kind);
}

/* ---- arguments ---- */

static bool reserve_arg(struct dft_record *rec)
{
	if (rec->nargs >= DFT_MAX_ARGS) {
		rec->too_many = true;
		return false;
	}
	if (rec->nargs < rec->args_cap)
		return true;
	rec->no_memory = !array_reserve(&rec->own_args, rec->nargs, &rec->args_cap, sizeof *rec->args);
	rec->args = rec->own_args;
	return !rec->no_memory;
}

/* Counts earlier arguments with a key that has no number; looks at the last 256 only, to bound the time. */
static uint32_t count_repeats(const struct dft_record *rec, struct dft_token key)
{
	const uint32_t from = rec->nargs > 256 ? rec->nargs - 256 : 0;
	const struct slice s = dft_token_text(rec, key);
	uint32_t n = 0;

	for (uint32_t i = from; i < rec->nargs; i++)
		n += rec->args[i].number == DFT_NO_KEY &&
		     slice_equal(dft_token_text(rec, rec->args[i].key), s);
	return n;
}

static void set_role(struct dft_record *rec, struct dft_arg *a, enum dft_role role)
{
	const uint32_t i = rec->nargs;

	a->role = (uint8_t)role;
	if (role == DFT_ROLE_NONE || a->repeats > 0)
		return;
	rec->special[role] = (uint16_t)(i + 1);
	if (dft_role_is_hash(role) && i < 64)
		rec->hashes |= UINT64_C(1) << i;
}

/* Adds the flaw without counting it: repeated keys are valid JSON. */
static void add_duplicate_flaw(struct dft_record *rec, const char *at)
{
	json_flaw_add(&rec->json, DFT_FLAW_DUPLICATE_KEY, at);
	rec->json.met--;
}

static void add_arg(struct parse *x, struct dft_token key, struct dft_token value, enum json_kind kind)
{
	struct dft_record *const rec = x->rec;

	if (!reserve_arg(rec))
		return;
	struct dft_arg *const a = &rec->args[rec->nargs];
	*a = (struct dft_arg){ .key = key, .value = value, .kind = (uint8_t)kind };
	a->number = rec->json.spare == NULL ? key_number(x->keys, dft_token_text(rec, key))
	                                    : plain_key_number(x->keys, dft_token_text(rec, key));
	if (a->number == DFT_NO_KEY) {
		a->repeats = count_repeats(rec, key);
	} else {
		struct dft_key *const k = &x->keys->keys[a->number];
		k->repeats = k->object == x->keys->object ? k->repeats + 1 : 0;
		k->object = x->keys->object;
		a->repeats = k->repeats;
		set_role(rec, a, (enum dft_role)k->role);
	}
	if (a->repeats > 0)
		add_duplicate_flaw(rec, rec->p + key.at);
	rec->nargs++;
}

static const char *read_args(struct parse *x, const char *p)
{
	struct json *const json = &x->rec->json;
	bool more;

	x->keys->object++;
	p = json_first(json, p, x->e, &more);
	while (p != NULL && more) {
		struct slice key;
		enum json_kind kind;
		const char *const v = json_key(json, p, x->e, &key, &kind);
		const char *const q = v != NULL ? read_value(x, v, 2, &kind) : NULL;
		if (q == NULL)
			return NULL;
		add_arg(x, token_of(x->rec, key.p, key.p + key.n), value_token(x->rec, v, q, kind), kind);
		p = json_next(json, q, x->e, '}', &more);
	}
	return p;
}

/* ---- members ---- */

const char *dft_wrapper_end(const char *p, const char *e)
{
	static const char key[] = "\"traceEvents\"";
	const char *const limit = e - p > 256 ? p + 256 : e;

	for (const char *q = p; limit - q >= (ptrdiff_t)sizeof key - 1; q++) {
		if (*q != '"' || memcmp(q, key, sizeof key - 1) != 0)
			continue;
		q = json_skip_blanks(q + sizeof key - 1, e);
		if (q == e || *q != ':')
			return NULL;
		q = json_skip_blanks(q + 1, e);
		return q < e && *q == '[' ? q + 1 : NULL;
	}
	return NULL;
}

static void add_extra(struct dft_record *rec, struct dft_token key, struct dft_token value,
                      enum json_kind kind)
{
	const struct slice s = dft_token_text(rec, key);
	uint32_t repeats = top_of(rec, s) != DFT_TOPS;

	if (rec->nextras == DFT_EXTRAS) {
		rec->too_many = true;
		return;
	}
	for (uint32_t i = 0; i < rec->nextras; i++)
		repeats += slice_equal(dft_token_text(rec, rec->extras[i].key), s);
	if (repeats > 0)
		add_duplicate_flaw(rec, s.p);
	rec->extras[rec->nextras++] = (struct dft_arg){
		.key = key, .value = value, .number = DFT_NO_KEY, .kind = (uint8_t)kind, .repeats = repeats
	};
}

static void add_member(struct dft_record *rec, struct dft_arg m)
{
	if (rec->nmembers == DFT_MAX_ARGS)
		rec->too_many = true;
	else if (!array_reserve(&rec->members, rec->nmembers, &rec->members_cap, sizeof *rec->members))
		rec->no_memory = true;
	else
		rec->members[rec->nmembers++] = m;
}

/* Versions of 2025 printed a "q" after the pid of some metadata. */
static void repair_pid(struct dft_record *rec, struct dft_token *value, enum json_kind *kind)
{
	const struct slice s = dft_token_text(rec, *value);
	const char *const last = s.p + s.n - 1;
	struct json *const json = &rec->json;

	if (*kind != JSON_BAD_WORD || s.n < 2 || *last != 'q' || json_skip_digits(s.p, last) != last)
		return;
	/* report the stray q in place of the bad value */
	for (uint32_t i = 0; i < json->nflaws; i++)
		if (json->flaws[i].kind == JSON_FLAW_WORD && json->flaws[i].at == s.p)
			json->flaws[i--] = json->flaws[--json->nflaws];
	value->n--;
	json_flaw_add(json, DFT_FLAW_STRAY_Q, last);
	*kind = JSON_UINT;
}

static const char *read_member(struct parse *x, const char *p)
{
	struct dft_record *const rec = x->rec;
	struct slice key;
	enum json_kind kind;
	const char *const v = json_key(&rec->json, p, x->e, &key, &kind);

	if (v == NULL)
		return NULL;
	const enum dft_top which = top_of(rec, key);
	const bool known = which != DFT_TOPS && dft_top_kind(rec, which) == JSON_ABSENT;
	const bool args = known && which == DFT_ARGS && v < x->e && *v == '{';
	const uint32_t flaws = rec->json.met;
	kind = JSON_OBJECT;
	const char *const q = args ? read_args(x, v) : read_value(x, v, 1, &kind);
	if (q == NULL)
		return NULL;
	struct dft_token value = value_token(rec, v, q, kind);
	if (which == DFT_PID)
		repair_pid(rec, &value, &kind);
	const struct dft_token name = token_of(rec, key.p, key.p + key.n);
	if (rec->keep_members)
		add_member(rec, (struct dft_arg){ .key = name,
		                                  .value = value,
		                                  .kind = args && rec->json.met > flaws ? JSON_BAD_NESTED
		                                                                        : (uint8_t)kind });
	if (!known) {
		add_extra(rec, name, value, kind);
		return q;
	}
	rec->top[which] = value;
	rec->shape |= (uint64_t)kind << 4 * which;
	return q;
}

static void clear_record(struct dft_record *rec)
{
	rec->shape = 0;
	memset(rec->special, 0, sizeof rec->special);
	rec->nargs = rec->nextras = rec->nmembers = 0;
	json_clear(&rec->json);
	rec->json.spare = NULL;
	rec->hashes = 0;
	rec->clean = rec->too_many = rec->no_memory = false;
}

bool dft_parse(struct dft_record *rec, struct dft_keys *keys, const char *p, const char *e)
{
	struct parse x = { rec, keys, e };
	bool more;

	clear_record(rec);
	rec->p = p;
	rec->top = rec->own_top;
	rec->args = rec->own_args;
	p = json_first(&rec->json, p, e, &more);
	while (p != NULL && more) {
		p = read_member(&x, p);
		if (p != NULL)
			p = json_next(&rec->json, p, e, '}', &more);
	}
	rec->end = p;
	return p != NULL && !rec->no_memory;
}

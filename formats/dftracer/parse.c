#include "dftracer/parse.h"

#include <stdlib.h>

#include "base/array.h"

/* Records of any shape, with all flaws. */

bool
dft_record_init(struct dft_record *rec)
{
	*rec = (struct dft_record){ .args_cap = 256, .json = { .lenient = true, .depth = DFT_MAX_DEPTH } };
	rec->args = malloc(rec->args_cap * sizeof *rec->args);
	return rec->args != NULL;
}

void
dft_record_free(struct dft_record *rec)
{
	free(rec->args);
	free(rec->members);
	rec->args = NULL;
	rec->members = NULL;
}

struct parse {
	struct dft_record *rec;
	struct dft_keys *keys;
	const char *e;
};

static struct dft_token
token(const struct dft_record *rec, const char *from, const char *to)
{
	return (struct dft_token){ (uint32_t)(from - rec->p), (uint32_t)(to - from) };
}

/* What stands between the quotes of a string [p, q), and all of anything else. */
static struct dft_token
value_token(const struct dft_record *rec, const char *p, const char *q, enum json_kind kind)
{
	return json_is_string(kind) ? token(rec, p + 1, q - 1) : token(rec, p, q);
}

/* ---- a quote that should have been escaped ---- */

/* Nothing but closing braces, one at least, and blanks. */
static bool
closes_line(const char *p, const char *e)
{
	const bool brace = p < e && *p == '}';

	while (p < e && *p == '}')
		p++;
	return brace && json_skip_blanks(p, e) == e;
}

/* A comma and the next name. */
static bool
names_next(const char *p, const char *e)
{
	p = json_skip_blanks(p, e);
	if (p == e || *p != ',')
		return false;
	p = json_skip_blanks(p + 1, e);
	if (p == e || *p != '"')
		return false;
	const char *const name = ++p;
	while (p < e &&
	       (*p == '_' || *p == '.' || *p == '-' || (*p >= '0' && *p <= '9') || (*p | 0x20) >= 'a') &&
	       *p < 0x7f)
		p++;
	return p > name && e - p >= 2 && p[0] == '"' && p[1] == ':';
}

bool
dft_begins_record(const char *p, const char *e)
{
	return ((size_t)(e - p) >= 6 && memcmp(p, "{\"id\":", 6) == 0) ||
	       ((size_t)(e - p) >= 8 && memcmp(p, "{\"name\":", 8) == 0);
}

/* Where the text that opens at `open` ends, given that what follows its first end (NULL: it has none) is no
 * JSON; NULL: not known.  Behind the true end stands the end of the object, or a comma and the next name.  Of
 * a quote behind a backslash more is asked.  A record that begins inside the text was glued to it: then the
 * text does not go on behind it. */
static const char *
true_end(const char *open, const char *first_end, const char *e)
{
	for (const char *p = open + 1; p < e; p++) {
		if (dft_begins_record(p, e))
			return NULL;
		if (*p != '"')
			continue;
		const bool escaped = first_end == NULL || p + 1 < first_end;
		const char *const next = json_skip_blanks(p + 1, e);
		if (names_next(next, e) || (escaped ? closes_line(next, e) : next < e && *next == '}'))
			return p + 1;
	}
	return NULL;
}

static void
forget_flaws_behind(struct json *x, const char *p)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < x->nflaws; i++)
		if (x->flaws[i].at < p)
			x->flaws[kept++] = x->flaws[i];
	x->nflaws = kept;
}

/* A string as a value.  Quotes inside that are not escaped are recognised by what follows them, and so is an
 * unescaped backslash before the last quote. */
static const char *
string_value(struct parse *x, const char *p, enum json_kind *kind)
{
	struct json *const json = &x->rec->json;
	const char *const q = json_string(json, p, x->e, kind);
	const char *const next = q != NULL ? json_skip_blanks(q, x->e) : NULL;

	if (q != NULL && (next == x->e || *next == ',' || *next == '}' || *next == ']'))
		return q;
	const char *const end = true_end(p, q, x->e);
	if (end == NULL)
		return q; /* the missing comma will be reported */
	if (q != NULL && end > q) {
		json_flaw_add(json, DFT_FLAW_UNESCAPED_QUOTE, q - 1);
	} else {
		forget_flaws_behind(json, end);
		json_flaw_add(json, JSON_FLAW_ESCAPE, end - 2);
	}
	*kind = JSON_BAD_STRING;
	return end;
}

static const char *
any_value(struct parse *x, const char *p, enum json_kind *kind)
{
	return p < x->e && *p == '"' ? string_value(x, p, kind) : json_value(&x->rec->json, p, x->e, kind);
}

/* ---- arguments ---- */

static bool
room_for_arg(struct dft_record *rec)
{
	if (rec->nargs < rec->args_cap)
		return true;
	if (rec->nargs >= DFT_MAX_ARGS) {
		rec->too_many = true;
		return false;
	}
	const uint32_t cap = rec->args_cap * 2;
	struct dft_arg *const p = realloc(rec->args, cap * sizeof *p);
	rec->no_memory = p == NULL;
	if (p == NULL)
		return false;
	rec->args = p;
	rec->args_cap = cap;
	return true;
}

/* Keys beyond those that have numbers are compared one by one, a bounded number of times. */
static uint32_t
count_same(const struct dft_record *rec, struct dft_token key)
{
	const uint32_t from = rec->nargs > 256 ? rec->nargs - 256 : 0;
	const struct slice s = dft_token_text(rec, key);
	uint32_t n = 0;

	for (uint32_t i = from; i < rec->nargs; i++)
		n += rec->args[i].number == DFT_NO_KEY &&
		     slice_equal(dft_token_text(rec, rec->args[i].key), s);
	return n;
}

static void
take_role(struct dft_record *rec, struct dft_arg *a, enum dft_role role)
{
	const uint32_t i = rec->nargs;

	a->role = (uint8_t)role;
	if (role == DFT_ROLE_NONE || a->repeats > 0)
		return;
	rec->special[role] = (uint16_t)(i + 1);
	if (dft_role_is_hash(role) && i < 64)
		rec->hashes |= UINT64_C(1) << i;
}

/* That a name comes twice is valid JSON. */
static void
flaw_duplicate(struct dft_record *rec, const char *at)
{
	json_flaw_add(&rec->json, DFT_FLAW_DUPLICATE_KEY, at);
	rec->json.met--;
}

static void
add_arg(struct parse *x, struct dft_token key, struct dft_token value, enum json_kind kind)
{
	struct dft_record *const rec = x->rec;

	if (!room_for_arg(rec))
		return;
	struct dft_arg *const a = &rec->args[rec->nargs];
	*a = (struct dft_arg){ .key = key, .value = value, .kind = (uint8_t)kind };
	a->number = dft_key_number(x->keys, dft_token_text(rec, key));
	if (a->number == DFT_NO_KEY) {
		a->repeats = count_same(rec, key);
	} else {
		struct dft_key *const k = &x->keys->keys[a->number];
		k->repeats = k->object == x->keys->object ? k->repeats + 1 : 0;
		k->object = x->keys->object;
		a->repeats = k->repeats;
		take_role(rec, a, (enum dft_role)k->role);
	}
	if (a->repeats > 0)
		flaw_duplicate(rec, rec->p + key.at);
	rec->nargs++;
}

/* The object of the arguments, at its brace. */
static const char *
arguments(struct parse *x, const char *p)
{
	struct json *const json = &x->rec->json;
	bool more;

	x->keys->object++;
	p = json_first(json, p, x->e, &more);
	while (p != NULL && more) {
		struct slice key;
		enum json_kind kind;
		const char *const v = json_key(json, p, x->e, &key, &kind);
		const char *const q = v != NULL ? any_value(x, v, &kind) : NULL;
		if (q == NULL)
			return NULL;
		add_arg(x, token(x->rec, key.p, key.p + key.n), value_token(x->rec, v, q, kind), kind);
		p = json_next(json, q, x->e, '}', &more);
	}
	return p;
}

/* ---- the record ---- */

const char *
dft_wrapper_end(const char *p, const char *e)
{
	static const char key[] = "\"traceEvents\"";
	const char *const most = e - p > 256 ? p + 256 : e;

	for (const char *q = p; most - q >= (ptrdiff_t)sizeof key - 1; q++) {
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

static void
add_extra(struct dft_record *rec, struct dft_token key, struct dft_token value, enum json_kind kind)
{
	const struct slice s = dft_token_text(rec, key);
	uint32_t repeats = dft_top_of(s) != DFT_TOPS;

	if (rec->nextras == DFT_EXTRAS) {
		rec->too_many = true;
		return;
	}
	for (uint32_t i = 0; i < rec->nextras; i++)
		repeats += slice_equal(dft_token_text(rec, rec->extras[i].key), s);
	if (repeats > 0)
		flaw_duplicate(rec, s.p);
	rec->extras[rec->nextras++] = (struct dft_arg){
		.key = key, .value = value, .number = DFT_NO_KEY, .kind = (uint8_t)kind, .repeats = repeats
	};
}

static void
add_member(struct dft_record *rec, struct dft_member m)
{
	if (rec->nmembers == DFT_MAX_ARGS)
		rec->too_many = true;
	else if (!array_room(&rec->members, rec->nmembers, &rec->members_cap, sizeof *rec->members))
		rec->no_memory = true;
	else
		rec->members[rec->nmembers++] = m;
}

static bool
is_digits_and_q(struct slice s)
{
	uint32_t i = 0;

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i > 0 && i + 1 == s.n && s.p[i] == 'q';
}

/* Versions of 2025 printed a "q" behind the pid of some metadata. */
static void
repair_pid(struct dft_record *rec, struct dft_token *value, enum json_kind *kind)
{
	const struct slice s = dft_token_text(rec, *value);
	struct json *const json = &rec->json;

	if (*kind != JSON_BAD_WORD || !is_digits_and_q(s))
		return;
	/* the stray q is reported in place of the bad value */
	for (uint32_t i = 0; i < json->nflaws; i++)
		if (json->flaws[i].kind == JSON_FLAW_WORD && json->flaws[i].at == s.p)
			json->flaws[i--] = json->flaws[--json->nflaws];
	value->n--;
	json_flaw_add(json, DFT_FLAW_STRAY_Q, s.p + value->n);
	*kind = JSON_UINT;
}

/* One field of the record: its key at p. */
static const char *
top_field(struct parse *x, const char *p)
{
	struct dft_record *const rec = x->rec;
	struct slice key;
	enum json_kind kind;
	const char *const v = json_key(&rec->json, p, x->e, &key, &kind);

	if (v == NULL)
		return NULL;
	const enum dft_top which = dft_top_of(key);
	const bool known = which != DFT_TOPS && dft_top_kind(rec, which) == JSON_ABSENT;
	const bool args = known && which == DFT_ARGS && v < x->e && *v == '{';
	const uint32_t met = rec->json.met;
	kind = JSON_OBJECT;
	const char *const q = args ? arguments(x, v) : any_value(x, v, &kind);
	if (q == NULL)
		return NULL;
	struct dft_token value = value_token(rec, v, q, kind);
	if (which == DFT_PID)
		repair_pid(rec, &value, &kind);
	const struct dft_token name = token(rec, key.p, key.p + key.n);
	if (rec->keep_members)
		add_member(rec, (struct dft_member){ name, value,
		                                     args && rec->json.met > met ? JSON_BAD_NESTED : kind });
	if (!known) {
		add_extra(rec, name, value, kind);
		return q;
	}
	rec->top[which] = value;
	rec->shape |= (uint64_t)kind << 4 * which;
	return q;
}

static void
forget_last(struct dft_record *rec)
{
	rec->shape = 0;
	memset(rec->special, 0, sizeof rec->special);
	rec->nargs = rec->nextras = rec->nmembers = 0;
	json_clear(&rec->json);
	rec->hashes = 0;
	rec->clean = rec->too_many = rec->no_memory = false;
}

bool
dft_parse(struct dft_record *rec, struct dft_keys *keys, const char *p, const char *e)
{
	struct parse x = { rec, keys, e };
	bool more;

	forget_last(rec);
	rec->p = p;
	p = json_first(&rec->json, p, e, &more);
	while (p != NULL && more) {
		p = top_field(&x, p);
		if (p != NULL)
			p = json_next(&rec->json, p, e, '}', &more);
	}
	rec->end = p;
	return p != NULL && !rec->no_memory;
}

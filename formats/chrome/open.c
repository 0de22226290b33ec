#include <stdlib.h>

#include "chrome/chrome.h"
#include "json/token.h"

/* ---- probe ---- */

/*
 * Whether bytes are this format: an object with an array traceEvents, or an
 * array of objects that have a ph of the format.  Other formats are made of
 * such objects too: the bits are fewer than those of a format that finds what
 * nobody but its own writers writes.
 */

#define OBJECT_BITS 48
#define ARRAY_BITS 40
#define LIKELY_BITS 24 /* the bytes end before what would decide */
#define EMPTY_BITS 4
#define LOOKED_AT 4 /* elements of an array */

/* Members of the object form that stand before traceEvents in some files. */
static bool is_known_member(struct slice key)
{
	static const char *const keys[] = { "displayTimeUnit", "otherData",         "stackFrames",
		                            "samples",         "systemTraceEvents", "controllerTraceDataKey",
		                            "schemaVersion" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (slice_is(key, keys[i]))
			return true;
	return false;
}

static int probe_object(struct json *x, const char *p, const char *e)
{
	bool more, known = false, unit = false;
	enum json_kind kind;
	struct slice key;

	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, '}', &more)) {
		p = json_key(x, p, e, &key, &kind);
		if (p == NULL)
			break;
		if (slice_is(key, "traceEvents"))
			return p == e || *p == '[' ? OBJECT_BITS : 0;
		known |= is_known_member(key);
		unit |= slice_is(key, "displayTimeUnit"); /* which nobody else has */
		p = json_value(x, p, e, &kind);
		if (p == NULL)
			break;
	}
	return unit || (known && p == NULL && x->error.cut) ? LIKELY_BITS : 0;
}

/* Whether the object at p is an event; *end is behind it, NULL: it could not be read to its end. */
static bool is_event(struct json *x, const char *p, const char *e, const char **end)
{
	bool more, has_phase = false, has_time = false;
	enum json_kind kind;
	struct slice key;

	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, '}', &more)) {
		p = json_key(x, p, e, &key, &kind);
		const char *const v = p;
		if (p == NULL || (p = json_value(x, p, e, &kind)) == NULL)
			break;
		const struct slice text = json_text(v, p, kind);
		if (slice_is(key, "ph"))
			has_phase = kind == JSON_STRING && text.n == 1 && chrome_phase_known(*text.p);
		has_time |= slice_is(key, "ts") || (slice_is(key, "ph") && slice_is(text, "M"));
	}
	*end = p;
	return has_phase && has_time;
}

static int probe_array(struct json *x, const char *p, const char *e)
{
	bool more;
	unsigned i = 0;

	for (p = json_first(x, p, e, &more); p != NULL && more && i < LOOKED_AT;
	     p = json_next(x, p, e, ']', &more), i++) {
		const char *end;
		if (*p != '{')
			return 0;
		const bool event = is_event(x, p, e, &end);
		if (event && end == NULL)
			return x->error.cut ? LIKELY_BITS : 0;
		/* a comma, a bracket, or nothing: an array may lack its end */
		end = end != NULL ? json_skip_blanks(end, e) : NULL;
		if (event && (end == e || *end == ',' || *end == ']'))
			return ARRAY_BITS;
		if (end == NULL)
			return 0;
		p = end;
	}
	return i == 0 && (p != NULL || x->error.cut) ? EMPTY_BITS : 0;
}

int chrome_probe(struct slice head, bool complete)
{
	struct json x = { .lenient = true, .complete = complete, .depth = JSON_MAX_DEPTH };
	const char *p = head.p, *const e = head.p + head.n;

	if (head.n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	p = json_skip_blanks(p, e);
	if (p == e)
		return 0;
	if (*p == '{')
		return probe_object(&x, p, e);
	return *p == '[' ? probe_array(&x, p, e) : 0;
}

/* ---- open ---- */

/*
 * Flows and async spans: their ends are matched by category, id and what else
 * the phase asks for.  A key is the hash of all that, so a table of bounded
 * memory holds them.
 */

#define MAX_TEXT (64u << 10)       /* bytes of the args of one span that are retained until its end ... */
#define MAX_TEXT_BYTES (16u << 20) /* ... and of all together */

static uint64_t mix(struct chrome_reading *st, uint64_t h, struct slice s)
{
	return hash_bytes(s.p, s.n, h ^ st->seed);
}

/* The id, and whether it is one of its process: id2.local, else id2.global or id. */
static struct slice id_of(struct chrome_reading *st, bool *local)
{
	struct json json = { .lenient = true, .depth = JSON_MAX_DEPTH, .complete = true };
	const struct chrome_token *const id = &st->rec.of[CHROME_ID], *const id2 = &st->rec.of[CHROME_ID2];
	struct slice found = chrome_token_text(id), key;
	enum json_kind kind;
	bool more;

	*local = false;
	if (id2->kind != JSON_OBJECT)
		return found;
	const char *p = id2->p, *const e = id2->end;
	for (p = json_first(&json, p, e, &more); p != NULL && more; p = json_next(&json, p, e, '}', &more)) {
		const char *const v = json_key(&json, p, e, &key, &kind);
		p = v != NULL ? json_value(&json, v, e, &kind) : NULL;
		if (p == NULL)
			break;
		if (slice_is(key, "local") || slice_is(key, "global")) {
			*local = slice_is(key, "local");
			found = json_text(v, p, kind);
		}
	}
	return found;
}

/* What identifies it.  Nestable async spans: category, scope and id; older ones and flows: the name too. */
static uint64_t key_of(struct chrome_reading *st, bool flow)
{
	const struct chrome_record *const rec = &st->rec;
	const bool named = flow || rec->ph == 'S' || rec->ph == 'F';
	bool local;

	if (st->seed == 0)
		st->seed = hash_seed();
	uint64_t h = mix(st, flow ? 1 : named ? 2 : 3, id_of(st, &local));
	h = mix(st, h, chrome_token_text(&rec->of[CHROME_CAT]));
	h = mix(st, h, chrome_token_text(&rec->of[CHROME_SCOPE]));
	if (named)
		h = mix(st, h, chrome_token_text(&rec->of[CHROME_NAME]));
	return local ? mix(st, h, chrome_token_text(&rec->of[CHROME_PID])) : h;
}

/* Without the keys of which nothing is open. */
static bool shrink_keys(struct chrome_reading *st)
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

/* The innermost of the key, + 1; 0: none. */
static uint32_t top_of(const struct chrome_reading *st, uint64_t key)
{
	const uint32_t top = table64_get(&st->open_keys, key);

	return top != TABLE_NONE ? top : 0;
}

/* NULL: too many, or no memory. */
static struct chrome_open *push(struct chrome_reading *st, uint64_t key)
{
	const uint32_t top = top_of(st, key);
	uint32_t i = st->free_open;

	if (st->in_use == CHROME_MAX_OPEN) {
		chrome_report_limit(
		    st, CHROME_LIMIT_OPEN,
		    "more than 262,144 flows and async spans are open: the others are not matched");
		return NULL;
	}
	if ((st->open_keys.used > 4 * CHROME_MAX_OPEN && !shrink_keys(st)) ||
	    (i == 0 && !array_room(&st->open, st->nopen, &st->open_cap, sizeof *st->open)) ||
	    !table64_put(&st->open_keys, key, i != 0 ? i : st->nopen + 1)) {
		st->no_memory = true;
		return NULL;
	}
	if (i != 0)
		st->free_open = st->open[i - 1].below;
	else
		i = ++st->nopen;
	st->in_use++;
	st->open[i - 1] = (struct chrome_open){ .below = top };
	return &st->open[i - 1];
}

/* The text is the caller's then. */
static struct chrome_open pop(struct chrome_reading *st, uint64_t key, uint32_t top)
{
	const struct chrome_open was = st->open[top - 1];

	table64_put(&st->open_keys, key, was.below); /* it is there, so nothing is allocated */
	st->open[top - 1] = (struct chrome_open){ .below = st->free_open };
	st->free_open = top;
	st->in_use--;
	st->open_bytes -= was.nname + was.nargs;
	return was;
}

/* ---- async spans ---- */

/* Name and args, for the event that is made at the end. */
static void retain_text(struct chrome_reading *st, struct chrome_open *o)
{
	const struct slice name = chrome_token_text(&st->rec.of[CHROME_NAME]);
	const struct chrome_token *const args = &st->rec.of[CHROME_ARGS];
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
		st->no_memory = true;
		return;
	}
	memcpy(o->text, name.p, name.n);
	if (n > 0)
		memcpy(o->text + name.n, args->p, n);
	o->nname = name.n;
	o->nargs = (uint32_t)n;
	st->open_bytes += name.n + n;
}

void chrome_async_begins(struct chrome_reading *st)
{
	const uint64_t key = key_of(st, false);

	if (st->rec.ph == 'S' && top_of(st, key) != 0)
		chrome_report(st, CHROME_RULE_DUPLICATE_ID, st->rec.p,
		              "an async span of this name and id has not ended");
	struct chrome_open *const o = push(st, key);
	if (o == NULL)
		return;
	o->ts = st->rec.ts;
	st->async_open++;
	retain_text(st, o);
}

bool chrome_async_ends(struct chrome_reading *st, struct chrome_open *began)
{
	const uint64_t key = key_of(st, false);
	const uint32_t top = top_of(st, key);

	if (top == 0 && !st->limits[CHROME_LIMIT_OPEN])
		chrome_report(st, CHROME_RULE_UNBALANCED, st->rec.p,
		              "the end of an async span of which no begin has this category and id");
	if (top == 0)
		return false;
	*began = pop(st, key, top);
	st->async_open--;
	return true;
}

/* ---- flows ---- */

static bool hex_digits(struct slice s, uint64_t *v)
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

/* Numbers are their own; other texts get one that is theirs in all likelihood, and the same in every run. */
static uint64_t number_of(struct slice s)
{
	uint64_t v;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x' && hex_digits(slice_of(s.p + 2, s.n - 2), &v))
		return v;
	if (s.n > 0 && json_digits_any(s.p, s.n, &v))
		return v;
	return hash_bytes(s.p, s.n, 1);
}

uint64_t chrome_flow(struct chrome_reading *st)
{
	const uint64_t key = key_of(st, true);
	const uint32_t top = top_of(st, key);
	const bool early = top != 0 && st->open[top - 1].early;
	bool local;

	if (st->rec.ph == 's' && early) {
		pop(st, key, top); /* files need not be in order of time */
		st->flows_early--;
	} else if (st->rec.ph == 's' && top != 0) {
		chrome_report(st, CHROME_RULE_DUPLICATE_ID, st->rec.p,
		              "a flow of this category, name and id has begun and not ended");
	} else if (st->rec.ph == 's') {
		push(st, key);
	} else if (st->rec.ph == 'f' && top != 0 && !early) {
		pop(st, key, top);
	} else if (st->rec.ph == 'f') {
		struct chrome_open *const o = push(st, key);
		if (o != NULL) {
			o->early = true;
			st->flows_early++;
		}
	}
	return number_of(id_of(st, &local));
}

/* ---- the end ---- */

void chrome_open_finish(struct chrome_reading *st)
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

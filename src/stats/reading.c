/* Typed values of JSON, and objects whose members are read to places that a table states. */
#include "stats/reading.h"

#include <math.h>
#include <stdio.h>

#include "base/numbers.h"
#include "json/number.h"

bool reading_fail(struct reading *r, const char *at, const char *wrong)
{
	if (r->file->why[0] == '\0' && !r->no_memory)
		snprintf(r->file->why, sizeof r->file->why, "byte %zu: %.400s",
		         at != NULL ? (size_t)(at - r->file->text.p) : 0, wrong);
	return false;
}

bool reading_no_memory(struct reading *r)
{
	r->no_memory = true;
	return false;
}

/* ---- values ---- */

bool reading_u64(struct reading *r, struct json_token *v, void *to)
{
	return (v->kind == JSON_UINT && json_digits_any(v->p, (uint32_t)(v->end - v->p), to)) ||
	       reading_fail(r, v->p, "an integer of 64 bits is expected");
}

bool reading_ns(struct reading *r, struct json_token *v, void *ns)
{
	uint64_t *const to = ns;
	const bool minus = v->kind == JSON_INT;
	const uint64_t zero = r->s->zero_ns;

	if (!minus && !reading_u64(r, v, to))
		return false;
	if (minus && !json_digits_any(v->p + 1, (uint32_t)(v->end - v->p) - 1, to))
		return reading_fail(r, v->p, "an integer of 64 bits is expected");
	if (*to > (minus ? zero : UINT64_MAX - zero))
		return reading_fail(r, v->p, "a time is out of range");
	*to = minus ? zero - *to : zero + *to;
	return true;
}

bool reading_sum(struct reading *r, struct json_token *v, void *to)
{
	uint128 *const sum = to;

	*sum = 0;
	for (const char *p = v->p; v->kind == JSON_UINT && p < v->end; p++) {
		*sum = *sum * 10 + (unsigned)(*p - '0');
		if (*sum > (uint128)1 << 100)
			return reading_fail(r, v->p, "a sum is above 2^100");
	}
	return v->kind == JSON_UINT || reading_fail(r, v->p, "an integer is expected");
}

bool reading_total(struct reading *r, struct json_token *v, void *to)
{
	uint128 sum;

	if (!reading_sum(r, v, &sum))
		return false;
	*(struct total *)to = (struct total){ (uint64_t)sum, (uint64_t)(sum >> 64) };
	return true;
}

bool reading_bool(struct reading *r, struct json_token *v, void *to)
{
	*(bool *)to = v->kind == JSON_TRUE;
	return v->kind == JSON_TRUE || v->kind == JSON_FALSE ||
	       reading_fail(r, v->p, "true or false is expected");
}

bool reading_any_f64(struct reading *r, struct json_token *v, void *to)
{
	const struct slice s = v->end != NULL ? json_token_text(v) : slice_of(v->p, 0);

	if ((v->kind != JSON_UINT && v->kind != JSON_INT && v->kind != JSON_NUMBER && !slice_is(s, "inf") &&
	     !slice_is(s, "-inf") && !slice_is(s, "nan")))
		return reading_fail(r, v->p, "a number is expected");
	return decimal_read_f64(s, to) || reading_fail(r, v->p, "a number is expected");
}

bool reading_f64(struct reading *r, struct json_token *v, void *to)
{
	return reading_any_f64(r, v, to) &&
	       (isfinite(*(double *)to) || reading_fail(r, v->p, "a finite number is expected"));
}

bool reading_text(struct reading *r, struct json_token *v, void *to)
{
	struct slice *const text = to;

	if (v->kind != JSON_STRING && v->kind != JSON_ESCAPED)
		return reading_fail(r, v->p, "a text is expected");
	*text = json_token_text(v);
	if (v->kind == JSON_ESCAPED)
		*text = json_unescape(&r->s->text, *text);
	return text->p != NULL || reading_no_memory(r);
}

bool reading_later(struct reading *r, struct json_token *v, void *to)
{
	(void)r;
	*(struct json_token *)to = *v;
	return true;
}

struct json_walk reading_walk(struct reading *r, const struct json_token *v, enum json_kind kind)
{
	if (v->kind == kind) {
		struct json_walk w = json_walk(&r->json, v->p, r->end);
		w.lazy = true;
		return w;
	}
	reading_fail(r, v->p, kind == JSON_OBJECT ? "an object is expected" : "a list is expected");
	return (struct json_walk){ .json = &r->json, .more = false };
}

bool reading_walked(struct reading *r, const struct json_walk *w, struct json_token *v)
{
	v->end = w->p;
	return w->p != NULL || reading_fail(r, r->json.error.at, r->json.error.why);
}

/* ---- lists and objects ---- */

bool reading_list(struct reading *r, struct json_token *list, value_reader *read, void *to)
{
	struct json_walk w = reading_walk(r, list, JSON_ARRAY);

	while (w.p != NULL && json_walk_next(&w))
		if (!read(r, &w.value, to))
			return false;
	return reading_walked(r, &w, list);
}

bool reading_member(struct reading *r, struct json_walk *w, const struct member *list, size_t n, bool each)
{
	for (size_t i = 0; i < n; i++)
		if (json_walk_is(w, list[i].name))
			return each ? reading_list(r, &w->value, list[i].read, list[i].to)
			            : list[i].read(r, &w->value, list[i].to);
	return true;
}

/* Returns the place for the current member if it is a key; NULL: it is none, or OOM. */
static struct slice *place_of_key(struct reading *r, const struct json_walk *w, struct row_keys *keys)
{
	struct slice name = json_token_text(&w->key);

	if (w->key.kind == JSON_ESCAPED)
		name = json_unescape(&r->s->text, name);
	r->no_memory |= name.p == NULL;
	for (unsigned i = 0; i < keys->n && name.p != NULL; i++)
		if (slice_is(name, group_by_key(&r->s->by, i))) {
			keys->met |= 1U << i;
			return &keys->values[i];
		}
	return NULL;
}

bool reading_object(struct reading *r, struct json_token *object, struct row_keys *keys,
                    const struct member *list, size_t n)
{
	struct json_walk w = reading_walk(r, object, JSON_OBJECT);

	while (w.p != NULL && json_walk_next(&w)) {
		struct slice *const key = keys != NULL ? place_of_key(r, &w, keys) : NULL;
		if (r->no_memory ||
		    !(key != NULL ? reading_text(r, &w.value, key) : reading_member(r, &w, list, n, false)))
			return false;
	}
	return reading_walked(r, &w, object);
}

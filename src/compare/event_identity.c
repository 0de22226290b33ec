#include "compare/event_identity.h"

#include "model/class.h"
#include "model/event_traits.h"

enum { TEXT = 1, FIELD, EVENT, CATEGORY };

static struct wide_hash
text(struct slice s)
{
	struct wide_hash h = wide_hash_start(TEXT);

	wide_hash_add_text(&h, s);
	return wide_hash_end(h);
}

struct wide_hash
event_field_hash(struct canon *c, const struct field *f)
{
	struct wide_hash h = wide_hash_start(FIELD);

	wide_hash_add_text(&h, f->name);
	wide_hash_add_hash(&h, f->value.type <= VALUE_U64 && f->value.type >= VALUE_U8
	                           ? canon_integer(false, f->value.u64)
	                           : canon_value(c, &f->value));
	return wide_hash_end(h);
}

uint32_t
event_words_at(const char *const *lists, struct slice name)
{
	uint32_t at = 0;

	for (; *lists != NULL; lists++)
		for (const char *p = *lists; *p != '\0'; at++) {
			const size_t n = strcspn(p, " ");
			if (n == name.n && memcmp(p, name.p, n) == 0)
				return at;
			p += n + (p[n] == ' ');
		}
	return UINT32_MAX;
}

bool
event_field_counts_in(const struct event_fields *f, struct slice name, unsigned *seen)
{
	const uint32_t at = f->added != NULL ? event_words_at(f->added, name) : UINT32_MAX;

	if (at < 32 && (*seen >> at & 1) == 0) {
		*seen |= 1U << at;
		return false;
	}
	return f->counts == NULL || f->counts(f->ctx, name);
}

struct event_identity
event_identity(struct canon *c, const struct batch *b, const struct event *e,
               const struct event_fields *fields)
{
	struct event_identity id = {
		.name = text(e->name),
		.category = event_is_flow(e) ? (struct wide_hash){ 0, 0 } : text(event_category(e)),
		.ts = e->ts,
		.dur = event_compared_length(e),
		.phase = event_compared_phase(e),
		.async = event_is_async(e),
		.step = event_is_step(e),
	};
	const bool all = fields == NULL || event_all_fields_count(fields);
	unsigned seen = 0;

	for (uint16_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (!all && !event_field_counts_in(fields, f->name, &seen))
			continue;
		wide_hash_sum(&id.fields, event_field_hash(c, f));
		id.nfields++;
	}
	return id;
}

static struct wide_hash
category_of(struct category_memo *m, const struct event *e)
{
	if (m->of != e->cls) {
		struct wide_hash h = wide_hash_start(CATEGORY);
		wide_hash_add_text(&h, event_category(e));
		*m = (struct category_memo){ e->cls, wide_hash_end(h) };
	}
	return m->hash;
}

/* All but the fields is one chain of words; what is hashed by itself is added to that. */
struct wide_hash
event_hash(struct canon *c, struct category_memo *m, const struct batch *b, const struct event *e,
           const struct event_fields *fields)
{
	const bool all = event_all_fields_count(fields);
	struct wide_hash sum = { 0, 0 }, h = wide_hash_start(EVENT);
	uint64_t n = 0;
	unsigned seen = 0;

	for (uint16_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (!all && !event_field_counts_in(fields, f->name, &seen))
			continue;
		wide_hash_sum(&sum, event_field_hash(c, f));
		n++;
	}
	if (!event_is_flow(e))
		wide_hash_sum(&sum, category_of(m, e));
	wide_hash_add(&h, n << 16 | (uint64_t)event_compared_phase(e) << 1 |
	                      (event_is_async(e) || event_is_step(e)));
	wide_hash_add(&h, e->ts);
	wide_hash_add(&h, event_compared_length(e));
	wide_hash_add_text(&h, e->name);
	wide_hash_sum(&h, sum);
	return wide_hash_end(h);
}

struct wide_hash
event_identity_hash(const struct event_identity *id, unsigned without)
{
	struct wide_hash h = wide_hash_start(EVENT);

	wide_hash_add(&h, (without & PART_PHASE) != 0 ? 0 : id->phase * 2U + (id->async || id->step));
	wide_hash_add(&h, (without & PART_TIME) != 0 ? 0 : id->ts);
	wide_hash_add(&h, (without & PART_DURATION) != 0 ? 0 : id->dur);
	if ((without & PART_NAME) == 0)
		wide_hash_add_hash(&h, id->name);
	if ((without & PART_CATEGORY) == 0)
		wide_hash_add_hash(&h, id->category);
	if ((without & PART_FIELDS) == 0) {
		wide_hash_add(&h, id->nfields);
		wide_hash_add_hash(&h, id->fields);
	}
	return wide_hash_end(h);
}

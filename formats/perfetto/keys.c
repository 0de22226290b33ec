#include <inttypes.h>
#include <stdio.h>

#include "perfetto/equal.h"
#include "perfetto/state.h"

/*
 * Keys of annotations.  The importer keeps the last one of a name only, and a
 * name must not be empty, so later ones get a number.  Events of a class mostly
 * have fields of the same names: what their keys are is found out once.
 */

#define ARGS_MOST (128U << 20)

/* ---- keys of one event ---- */

static bool
is_there(struct perfetto_state *st, struct perfetto_keys *keys, uint64_t same)
{
	if (keys->n > KEYS_FEW)
		return table64_get(&keys->many, same) != TABLE_NONE;
	for (uint32_t i = 0; i < keys->n; i++)
		if (keys->few[i] == same)
			return true;
	return false;
}

static void
remember(struct perfetto_state *st, struct perfetto_keys *keys, uint64_t same)
{
	bool well = true;

	if (keys->n < KEYS_FEW) {
		keys->few[keys->n++] = same;
		return;
	}
	if (keys->n == KEYS_FEW)
		for (int i = 0; i < KEYS_FEW; i++)
			well &= table64_put(&keys->many, keys->few[i], 1);
	keys->n++;
	well &= table64_put(&keys->many, same, 1);
	st->body.failed |= !well;
}

static uint64_t
same_of(struct perfetto_state *st, uint32_t iid, struct slice text)
{
	return iid != 0 ? st->tables[KIND_KEY].entries[iid - 1].same : perfetto_hash_key(st, text);
}

/* "name (2)" and so on; how often a name came is kept, so that the search does not start over. */
static uint32_t
rename_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name, uint64_t same,
           struct slice *text)
{
	const struct slice base = name.n > 0 ? name : SLICE_LIT("(empty)");
	uint32_t i = table64_get(&keys->many, ~same);
	uint32_t iid;

	perfetto_lose(st, PERFETTO_KEY_CHANGED, 1);
	for (i = i == TABLE_NONE ? 1 : i + 1;; i++) {
		*text = i == 1 && name.n == 0 ? base
		                              : arena_printf(&keys->arena, "%.*s (%" PRIu32 ")", (int)base.n,
		                                             base.p, i + (name.n > 0));
		if (text->p == NULL) {
			st->body.failed = true;
			return 0;
		}
		iid = perfetto_intern(st, KIND_KEY, *text);
		const uint64_t other = same_of(st, iid, *text);
		if (is_there(st, keys, other))
			continue;
		remember(st, keys, other);
		break;
	}
	st->body.failed |= !table64_put(&keys->many, ~same, i);
	return iid;
}

uint32_t
perfetto_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name, struct slice *text)
{
	const uint32_t iid = name.n > 0 ? perfetto_intern(st, KIND_KEY, name) : 0;
	const uint64_t same = same_of(st, iid, name);

	*text = name;
	if (name.n == 0 || is_there(st, keys, same))
		return rename_key(st, keys, name, same, text);
	remember(st, keys, same);
	return iid;
}

void
perfetto_keys_free(struct perfetto_keys *keys)
{
	table64_free(&keys->many);
	arena_free(&keys->arena);
}

static void
put_key(struct perfetto_state *st, uint32_t iid, struct slice text)
{
	unsigned changed;

	if (iid != 0) {
		wire_number(&st->body, ANNOTATION_NAME_IID, iid);
		return;
	}
	wire_slice(&st->body, ANNOTATION_NAME, perfetto_clean(st, text, &changed));
	perfetto_lose_all(st, changed);
}

void
perfetto_put_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name)
{
	struct slice text;
	const uint32_t iid = perfetto_key(st, keys, name, &text);

	put_key(st, iid, text);
}

/* ---- fields of an event ---- */

static inline bool
same_names(const struct perfetto_shape *s, const struct field *f)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!perfetto_equal(s->names[i], f[i].name))
			return false;
	return true;
}

/* Keys of these fields, each of which has a number and nothing to be counted; false: they have not. */
static bool
learn(struct perfetto_state *st, struct perfetto_shape *s, const struct field *f, uint32_t n)
{
	const struct perfetto_table *const t = &st->tables[KIND_KEY];
	struct perfetto_keys keys = { .n = 0 };
	bool plain = true;

	s->n = 0;
	for (uint32_t i = 0; i < n && plain; i++) {
		uint32_t iid = tabletext_get(&t->iids, f[i].name);
		plain = iid != TABLE_NONE && f[i].name.n > 0 && t->entries[iid - 1].changed == 0 &&
		        !is_there(st, &keys, t->entries[iid - 1].same);
		if (!plain)
			break;
		remember(st, &keys, t->entries[iid - 1].same);
		s->iids[i] = iid;
		s->names[i] = slice_of(tabletext_key(&t->iids, f[i].name), f[i].name.n);
	}
	perfetto_keys_free(&keys);
	s->n = plain ? n : 0;
	return plain;
}

static inline uint32_t
row_of(const struct field *f, uint32_t n)
{
	const struct slice a = f[0].name, z = f[n - 1].name;

	return (n + 3 * a.n + 7 * z.n + (a.n > 0 ? 5 * (unsigned char)a.p[a.n - 1] : 0) +
	        (z.n > 0 ? 11 * (unsigned char)z.p[z.n / 2] : 0)) %
	       SHAPES;
}

static inline void
put_field(struct perfetto_state *st, uint32_t iid, const struct value *v)
{
	char *p = text_room(&st->body, 3 * WIRE_VARINT_MAX);

	if (p == NULL)
		return;
	char *const start = p;
	p += 2;
	*p++ = WIRE_TAG(ANNOTATION_NAME_IID, WIRE_VARINT);
	p = wire_put(p, iid);
	start[0] = WIRE_TAG(EVENT_ANNOTATIONS, WIRE_BYTES);
	if (v->type >= VALUE_U8 && v->type <= VALUE_U64) {
		*p++ = WIRE_TAG(ANNOTATION_UINT, WIRE_VARINT);
		p = wire_put(p, v->u64);
		start[1] = (char)(p - start - 2);
		st->body.n = (size_t)(p - st->body.p);
		return;
	}
	const size_t at = (size_t)(start + 2 - st->body.p);
	st->body.n = (size_t)(p - st->body.p);
	perfetto_value(st, v, 0);
	wire_close(&st->body, at);
}

static void
put_fields(struct perfetto_state *st, const struct field *f, uint32_t n)
{
	struct perfetto_keys keys = { .n = 0 };

	for (uint32_t i = 0; i < n; i++) {
		const size_t at = wire_open(&st->body, EVENT_ANNOTATIONS);
		perfetto_put_key(st, &keys, f[i].name);
		perfetto_value(st, &f[i].value, 0);
		wire_close(&st->body, at);
	}
	perfetto_keys_free(&keys);
}

void
perfetto_args(struct perfetto_state *st, const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;
	const uint32_t n = e->nfields;
	const size_t before = st->body.n;

	if (n == 0)
		return;
	struct perfetto_shape *const s = &st->shapes[row_of(f, n)];
	if (n <= SHAPE_FIELDS && ((s->n == n && same_names(s, f)) || learn(st, s, f, n))) {
		for (uint32_t i = 0; i < n; i++)
			put_field(st, s->iids[i], &f[i].value);
	} else {
		put_fields(st, f, n);
	}
	if (st->body.n - before > ARGS_MOST) {
		st->body.n = before;
		perfetto_lose(st, PERFETTO_ARGS_SIZE, 1);
	}
}

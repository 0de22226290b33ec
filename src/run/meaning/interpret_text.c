/* References into the fields of an event, and texts made of them. */
#include <math.h>

#include "base/decimal.h"
#include "run/meaning/interpret_parts.h"

#define PIECES 16
#define MADE_BYTES 4096U /* of a text that is put together; a single reference is not cut */

const struct value *
interpret_field(const struct batch *b, const struct event *e, struct slice name)
{
	const struct field *f = b->fields + e->first_field, *const end = f + e->nfields;

	for (; f < end; f++)
		if (f->name.n == name.n && (f->name.p == name.p || memcmp(f->name.p, name.p, name.n) == 0))
			return &f->value;
	for (uint32_t i = 0; e->cls != NULL && i < e->cls->nparts; i++)
		if (slice_equal(e->cls->parts[i].name, name))
			return &e->cls->parts[i].value;
	return NULL;
}

bool
interpret_number(const struct value *v, uint64_t *number)
{
	switch ((enum value_type)v->type) {
	case VALUE_BOOL:
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
	case VALUE_ADDRESS:
		*number = v->u64;
		return true;
	case VALUE_STRING:
	case VALUE_BYTES:
		*number = hash_bytes(v->p, v->count, hash_seed());
		return true;
	default:
		return false;
	}
}

uint32_t
interpret_scope(const struct interpret *in, const struct event *e, uint8_t table)
{
	const uint8_t scope =
	    in->trace->vocabulary != NULL ? in->trace->vocabulary->scopes[table] : PLAN_SCOPE_TRACE;

	if (scope == PLAN_SCOPE_TRACE || e->track == NULL)
		return DEFINITIONS_WHOLE_TRACE;
	return scope == PLAN_SCOPE_THREAD ? e->track->index : track_process(e->track)->index;
}

/* Whether the value says that there is none. */
static bool
is_none(const struct plan_none *none, const struct value *v)
{
	const bool number = (v->type >= VALUE_U8 && v->type <= VALUE_I64) || v->type == VALUE_ADDRESS;

	for (uint32_t i = 0; number && i < none->n; i++)
		if (v->u64 == none->values[i])
			return true;
	return false;
}

/* The i-th field of a reference; NULL: it is not there, or says that there is nothing. */
static const struct value *
ref_field(const struct batch *b, const struct event *e, const struct plan_ref *r, uint32_t i)
{
	const struct value *const v = interpret_field(b, e, r->field[i]);

	return v == NULL || (r->none[i].n > 0 && is_none(&r->none[i], v)) ? NULL : v;
}

struct value
interpret_ref(const struct interpret *in, const struct batch *b, const struct event *e,
              const struct plan_ref *r)
{
	const struct value none = { .type = VALUE_NONE };
	const struct value *const first = r->nfields > 0 ? ref_field(b, e, r, 0) : NULL;
	uint64_t key1, key2 = 0;

	if (first == NULL || r->ntables == 0)
		return first != NULL ? *first : none;
	if (r->nfields > 1) {
		const struct value *const second = ref_field(b, e, r, 1);
		if (second == NULL || !interpret_number(second, &key2))
			return none;
	}
	struct value v = *first;
	for (uint32_t i = 0; i < r->ntables && v.type != VALUE_NONE; i++, key2 = 0) {
		if (!interpret_number(&v, &key1))
			return none;
		v = definitions_get(&in->trace->definitions, r->tables[i],
		                    interpret_scope(in, e, r->tables[i]), key1, key2);
	}
	return v;
}

/* ---- texts ---- */

/* What a value looks like; p NULL: it has no text.  Numbers are written to `to`, which has room for
 * DECIMAL_F64_MAX bytes. */
static struct slice
piece_of(const struct value *v, char *to)
{
	const char *end = to;

	switch ((enum value_type)v->type) {
	case VALUE_BOOL:
		return v->u64 != 0 ? SLICE_LIT("true") : SLICE_LIT("false");
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		end = decimal_u64(to, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		end = decimal_i64(to, v->i64);
		break;
	case VALUE_ADDRESS:
		end = decimal_hex(to, v->u64);
		break;
	case VALUE_F32:
	case VALUE_F64:
		if (isfinite(v->f64))
			end = v->type == VALUE_F32 ? decimal_f32(to, (float)v->f64) : decimal_f64(to, v->f64);
		break;
	case VALUE_STRING:
		return value_text(v);
	default:
		break;
	}
	if (end == to)
		return (struct slice){ NULL, 0, 0 };
	return (struct slice){ to, (uint32_t)(end - to), SLICE_UTF8 | SLICE_JSON };
}

/* Puts pieces behind each other; what is too long is cut. */
static struct slice
joined(struct arena *a, const struct slice *pieces, uint32_t n)
{
	uint32_t flags = SLICE_UTF8 | SLICE_JSON;
	uint64_t size = 0;

	for (uint32_t i = 0; i < n; i++) {
		flags &= pieces[i].n > 0 ? pieces[i].flags : flags;
		size += pieces[i].n;
	}
	if (size > MADE_BYTES) {
		size = MADE_BYTES;
		flags = 0;
	}
	char *const p = arena_alloc(a, (size_t)size);
	uint32_t at = 0;
	if (p == NULL)
		return (struct slice){ NULL, 0, 0 };
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t room = (uint32_t)size - at, part = pieces[i].n < room ? pieces[i].n : room;
		if (part > 0)
			memcpy(p + at, pieces[i].p, part);
		at += part;
	}
	return (struct slice){ p, at, flags };
}

/* One reference without text around it needs no copy. */
static bool
single(const struct interpret *in, struct batch *b, const struct event *e, const struct plan_ref *r,
       struct slice *text, bool *lasting)
{
	const struct value v = interpret_ref(in, b, e, r);
	char number[DECIMAL_F64_MAX];
	const struct slice s = piece_of(&v, number);

	if (s.p == NULL)
		return false;
	*lasting = (v.type == VALUE_STRING && r->ntables > 0) || v.type == VALUE_BOOL; /* definitions stay */
	*text = s.p == number ? arena_copy(&b->scratch, s) : s;
	return text->p != NULL;
}

bool
interpret_template(const struct interpret *in, struct batch *b, const struct event *e,
                   const struct plan_template *t, struct slice *text, bool *lasting)
{
	char numbers[PIECES][DECIMAL_F64_MAX];
	struct slice pieces[PIECES];
	uint32_t n = 0;

	if (t->nparts == 1 && t->parts[0].ref.nfields == 0) {
		*text = t->parts[0].text;
		*lasting = true;
		return true;
	}
	if (t->nparts == 1 && t->parts[0].text.n == 0)
		return single(in, b, e, &t->parts[0].ref, text, lasting);
	*lasting = false;
	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_part *const part = &t->parts[i];
		if (n + 2 > PIECES) {
			pieces[0] = joined(&b->scratch, pieces, n);
			n = 1;
		}
		if (part->text.n > 0)
			pieces[n++] = part->text;
		if (part->ref.nfields == 0)
			continue;
		const struct value v = interpret_ref(in, b, e, &part->ref);
		pieces[n] = piece_of(&v, numbers[n]);
		if (pieces[n++].p == NULL)
			return false;
	}
	*text = joined(&b->scratch, pieces, n);
	return text->p != NULL;
}

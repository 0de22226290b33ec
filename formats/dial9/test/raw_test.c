/* Raw events: nothing is looked up or left out, and they suffice to write the file again. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dial9/test/build.h"
#include "dial9/test/oracle.h"
#include "dial9/test/run_test.h"
#include "input/open.h"
#include "input/test/memory_input.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"

#define WANT (WANT_RAW | WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

/* ---- fields: the file is written again from these alone ---- */

struct again {
	struct d9_build b;
	uint8_t *types[65536]; /* of the fields, by type_id */
	uint32_t left;         /* entries to come */
};

static const struct value *field(const struct batch *b, const struct event *e, uint32_t i, const char *name)
{
	cr_assert_lt(i, e->nfields);
	const struct field *const f = &b->fields[e->first_field + i];
	cr_assert(slice_is(f->name, name), "%.*s, not %s", (int)f->name.n, f->name.p, name);
	return &f->value;
}

static uint64_t number(const struct batch *b, const struct event *e, uint32_t i, const char *name,
                       enum value_type type)
{
	const struct value *const v = field(b, e, i, name);

	cr_assert_eq(v->type, type, "%s has type %u", name, v->type);
	return v->u64;
}

static void put_text(struct again *a, const struct value *v, unsigned bits)
{
	cr_assert(v->type == VALUE_STRING || v->type == VALUE_BYTES);
	if (bits == 16)
		d9b_u16(&a->b, (uint16_t)v->count);
	else
		d9b_u32(&a->b, v->count);
	d9b_bytes(&a->b, v->p, v->count);
}

static void put_addresses(struct again *a, const struct value *v)
{
	d9b_u32(&a->b, v->count);
	for (uint32_t i = 0; i < v->count; i++) {
		cr_assert_eq(v->values[i].type, VALUE_ADDRESS);
		d9b_u64(&a->b, v->values[i].u64);
	}
}

/* The type of an element; an id of a pool and a map of texts look like others. */
static uint8_t type_of(const struct value *v)
{
	static const uint8_t types[] = {
		[VALUE_BOOL] = D9T_BOOL, [VALUE_U8] = D9T_U8,         [VALUE_U16] = D9T_U16,
		[VALUE_U32] = D9T_U32,   [VALUE_U64] = D9T_VARINT,    [VALUE_I64] = D9T_I64,
		[VALUE_F64] = D9T_F64,   [VALUE_STRING] = D9T_STRING, [VALUE_BYTES] = D9T_BYTES,
		[VALUE_MAP] = D9T_MAP,   [VALUE_LIST] = D9T_LIST
	};

	if (v->type == VALUE_LIST && v->count > 0 && v->values[0].type == VALUE_ADDRESS)
		return D9T_STACK;
	cr_assert(v->type < sizeof types && types[v->type] != 0, "an element of type %u", v->type);
	return types[v->type];
}

static void put_value(struct again *a, uint8_t type, const struct value *v)
{
	static const uint8_t expected[] = {
		[D9T_I64] = VALUE_I64,     [D9T_F64] = VALUE_F64,          [D9T_STRING] = VALUE_STRING,
		[D9T_BYTES] = VALUE_BYTES, [D9T_POOLED_STACK] = VALUE_U32, [D9T_POOLED_STRING] = VALUE_U32,
		[D9T_STACK] = VALUE_LIST,  [D9T_VARINT] = VALUE_U64,       [D9T_STRING_MAP] = VALUE_MAP,
		[D9T_U8] = VALUE_U8,       [D9T_U16] = VALUE_U16,          [D9T_U32] = VALUE_U32,
		[D9T_LIST] = VALUE_LIST,   [D9T_MAP] = VALUE_MAP
	};

	if ((type & D9T_OPTIONAL) != 0) {
		d9b_u8(&a->b, v->type != VALUE_NONE);
		if (v->type == VALUE_NONE)
			return;
	}
	type &= 0x7f;
	if (type == D9T_BOOL)
		cr_assert(v->type == VALUE_BOOL || (v->type == VALUE_U8 && v->u64 > 1));
	else
		cr_assert_eq(v->type, expected[type], "type %u is %u", type, v->type);
	switch (type) {
	case D9T_BOOL:
	case D9T_U8:
		d9b_u8(&a->b, (uint8_t)v->u64);
		break;
	case D9T_U16:
		d9b_u16(&a->b, (uint16_t)v->u64);
		break;
	case D9T_U32:
	case D9T_POOLED_STRING:
	case D9T_POOLED_STACK:
		d9b_u32(&a->b, (uint32_t)v->u64);
		break;
	case D9T_VARINT:
		d9b_varint(&a->b, v->u64);
		break;
	case D9T_STRING:
	case D9T_BYTES:
		put_text(a, v, 32);
		break;
	case D9T_STACK:
		put_addresses(a, v);
		break;
	case D9T_STRING_MAP:
	case D9T_LIST:
	case D9T_MAP:
		d9b_u32(&a->b, v->count);
		for (uint32_t i = 0; i < v->count << (type != D9T_LIST); i++) {
			if (type != D9T_STRING_MAP)
				d9b_u8(&a->b, type_of(&v->values[i]));
			put_value(a, type == D9T_STRING_MAP ? D9T_STRING : type_of(&v->values[i]),
			          &v->values[i]);
		}
		break;
	default:
		d9b_u64(&a->b, v->u64);
	}
}

static void put_schema(struct again *a, const struct batch *b, const struct event *e)
{
	const uint16_t id = (uint16_t)number(b, e, 0, "type_id", VALUE_U16);
	const struct value *const map = field(b, e, 3, "fields");

	d9b_u8(&a->b, 1);
	d9b_u16(&a->b, id);
	put_text(a, field(b, e, 1, "name"), 16);
	d9b_u8(&a->b, (uint8_t)number(b, e, 2, "has_timestamp", VALUE_U8));
	d9b_u16(&a->b, (uint16_t)map->count);
	free(a->types[id]);
	a->types[id] = calloc(map->count + 1, 1);
	for (uint32_t i = 0; i < map->count; i++) {
		put_text(a, &map->values[2 * i], 16);
		cr_assert_eq(map->values[2 * i + 1].type, VALUE_U8);
		a->types[id][i] = (uint8_t)map->values[2 * i + 1].u64;
		d9b_u8(&a->b, a->types[id][i]);
	}
}

static void put_pool(struct again *a, const struct batch *b, const struct event *e, bool strings)
{
	uint32_t i = 0;

	if (a->left == 0) {
		a->left = (uint32_t)number(b, e, i++, "count", VALUE_U32);
		d9b_u8(&a->b, strings ? 3 : 4);
		d9b_u32(&a->b, a->left);
		if (a->left == 0)
			return;
	}
	a->left--;
	d9b_u32(&a->b, (uint32_t)number(b, e, i, "pool_id", VALUE_U32));
	if (strings)
		put_text(a, field(b, e, i + 1, "data"), 32);
	else
		put_addresses(a, field(b, e, i + 1, "frames"));
	cr_expect_eq(e->nfields, i + 2);
}

static void put_annotations(struct again *a, const struct batch *b, const struct event *e)
{
	uint32_t i = 0;

	if (a->left == 0) {
		d9b_u8(&a->b, 6);
		d9b_varint(&a->b, number(b, e, i++, "type_id", VALUE_U64));
		a->left = (uint32_t)number(b, e, i++, "count", VALUE_U16);
		d9b_u16(&a->b, (uint16_t)a->left);
		if (a->left == 0)
			return;
	}
	a->left--;
	d9b_u16(&a->b, (uint16_t)number(b, e, i, "field_index", VALUE_U16));
	put_text(a, field(b, e, i + 1, "key"), 16);
	put_text(a, field(b, e, i + 2, "value"), 32);
	cr_expect_eq(e->nfields, i + 3);
}

static void put_event(struct again *a, const struct batch *b, const struct event *e)
{
	const uint16_t id = (uint16_t)number(b, e, 0, "type_id", VALUE_U16);
	const struct field *const f = &b->fields[e->first_field];
	uint32_t i = 1;

	cr_expect(e->cls->plan == NULL && !e->cls->reader_applies);
	cr_assert_eq(e->nfields, e->cls->nfields);
	d9b_u8(&a->b, 2);
	d9b_u16(&a->b, id);
	if (slice_is(e->cls->fields[1 % e->nfields].name, "timestamp_delta_ns")) {
		const uint64_t delta = number(b, e, i++, "timestamp_delta_ns", VALUE_U32);
		d9b_u16(&a->b, (uint16_t)delta);
		d9b_u8(&a->b, (uint8_t)(delta >> 16));
	}
	for (uint32_t k = i; k < e->nfields; k++) {
		const struct class_field *const declared = &e->cls->fields[k];
		cr_expect(slice_equal(f[k].name, declared->name));
		cr_expect(f[k].value.type == declared->value || f[k].value.type == VALUE_NONE ||
		          declared->value == VALUE_BOOL);
		put_value(a, a->types[id][k - i], &f[k].value);
	}
}

static void put(struct again *a, const struct batch *b, const struct event *e)
{
	const struct slice name = e->cls->name;

	if (e->phase != PHASE_STRUCTURE) {
		put_event(a, b, e);
	} else if (slice_is(name, "Header")) {
		d9b_bytes(&a->b, "TRC", 4);
		d9b_u8(&a->b, (uint8_t)number(b, e, 0, "version", VALUE_U8));
	} else if (slice_is(name, "TimestampReset")) {
		d9b_u8(&a->b, 5);
		d9b_u64(&a->b, number(b, e, 0, "timestamp_ns", VALUE_U64));
	} else if (slice_is(name, "Schema")) {
		put_schema(a, b, e);
	} else if (slice_is(name, "SchemaAnnotations")) {
		put_annotations(a, b, e);
	} else {
		put_pool(a, b, e, slice_is(name, "StringPool"));
	}
}

/* Events do not show whether a number was overlong or an id was in a list: only their bytes do. */
static bool is_ambiguous(const char *path)
{
	return strstr(path, "max-integers") != NULL || strstr(path, "all-types-0.4") != NULL;
}

static void write_again(const struct sample *s)
{
	struct again *const a = calloc(1, sizeof *a);
	struct live_batches l;

	cr_assert_not_null(a);
	d9b_init(&a->b);
	live_batches_read(&l, s->format, input_from_memory(s->p, s->n), WANT & ~(unsigned)WANT_BYTES, 1024);
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++)
			put(a, l.batches[i], &l.batches[i]->events[k]);
	if (!is_ambiguous(s->path))
		cr_expect(a->b.n == s->n && memcmp(a->b.p, s->p, s->n) == 0, "%s: %zu bytes of %zu", s->path,
		          a->b.n, s->n);
	live_batches_free(&l);
	d9b_free(&a->b);
	for (size_t i = 0; i < 65536; i++)
		free(a->types[i]);
	free(a);
}

static void write_faulty_again(const struct sample *s)
{
	if (strstr(s->path, "bool-value") != NULL || strstr(s->path, "duplicate-field") != NULL)
		write_again(s);
}

Test(dial9_raw, fields_are_enough_to_write_the_file_again)
{
	each_sample_of("dial9", SAMPLES_GOOD | SAMPLES_REAL, write_again);
	each_sample_of("dial9", SAMPLES_BAD, write_faulty_again);
}

/* ---- every type keeps its width ---- */

static const struct {
	uint8_t type, value;
	uint32_t size;
	const char *bytes; /* of a value */
	size_t n;
	uint64_t number;
} widths[] = {
	{ D9T_I64, VALUE_I64, 8, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, UINT64_C(0) - 2 },
	{ D9T_F64, VALUE_F64, 8, "\1\0\0\0\0\0\xf0\x7f", 8, UINT64_C(0x7ff0000000000001) },
	{ D9T_BOOL, VALUE_BOOL, 1, "\1", 1, 1 },
	{ D9T_VARINT, VALUE_U64, 0, "\x80\1", 2, 128 },
	{ D9T_POOLED_STACK, VALUE_U32, 4, "\7\0\0\x80", 4, 0x80000007 },
	{ D9T_POOLED_STRING, VALUE_U32, 4, "\7\0\0\0", 4, 7 },
	{ D9T_U8, VALUE_U8, 1, "\xff", 1, 0xff },
	{ D9T_U16, VALUE_U16, 2, "\xfe\xff", 2, 0xfffe },
	{ D9T_U32, VALUE_U32, 4, "\xfd\xff\xff\xff", 4, 0xfffffffd },
	{ D9T_U8 | D9T_OPTIONAL, VALUE_U8, 0, "\1\5", 2, 5 },
	{ D9T_BOOL | D9T_OPTIONAL, VALUE_BOOL, 0, "\1\0", 2, 0 },
	{ D9T_STRING, VALUE_STRING, 0, "\0\0\0\0", 4, 0 },
	{ D9T_BYTES, VALUE_BYTES, 0, "\0\0\0\0", 4, 0 },
	{ D9T_STACK, VALUE_LIST, 0, "\0\0\0\0", 4, 0 },
	{ D9T_STRING_MAP, VALUE_MAP, 0, "\0\0\0\0", 4, 0 },
	{ D9T_LIST, VALUE_LIST, 0, "\0\0\0\0", 4, 0 },
	{ D9T_MAP, VALUE_MAP, 0, "\0\0\0\0", 4, 0 },
};

#define WIDTHS (sizeof widths / sizeof widths[0])

/* One event of one field of each type, whose names are all the same. */
static void build_widths(struct d9_build *b)
{
	struct d9_field_desc fields[WIDTHS];

	d9b_init(b);
	d9b_header(b);
	for (size_t i = 0; i < WIDTHS; i++)
		fields[i] = (struct d9_field_desc){ "field", widths[i].type };
	d9b_schema(b, 9, "Widths", true, fields, WIDTHS);
	d9b_string(b, 7, "must not be looked up");
	d9b_annotation(b, 9, 6, "metrique.unit", "bytes");
	d9b_event_delta(b, 9, 0xfedcba);
	for (size_t i = 0; i < WIDTHS; i++)
		d9b_bytes(b, widths[i].bytes, widths[i].n);
}

static void expect_width(const struct batch *b, const struct event *e, size_t i)
{
	const struct field *const f = &b->fields[e->first_field + 2 + i];
	const struct class_field *const declared = &e->cls->fields[2 + i];

	cr_expect(slice_is(f->name, "field") && slice_is(declared->name, "field"));
	cr_expect_eq(f->value.type, widths[i].value, "type %u is %u", widths[i].type, f->value.type);
	cr_expect_eq(f->value.count, 0);
	if (widths[i].value < VALUE_STRING)
		cr_expect_eq(f->value.u64, widths[i].number, "type %u: %" PRIx64, widths[i].type,
		             f->value.u64);
	cr_expect_eq(declared->value, widths[i].value, "type %u", widths[i].type);
	cr_expect_eq(declared->size, widths[i].size, "type %u", widths[i].type);
}

Test(dial9_raw, every_type_keeps_its_width)
{
	struct d9_build b;
	struct d9t_run t;

	build_widths(&b);
	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT);
	d9t_read(&t, 1024);
	cr_assert_eq(t.status, READ_END);
	const struct batch *const last = &t.batches[t.n - 1];
	const struct event *const e = &last->events[last->n - 1];
	cr_assert_eq(e->nfields, WIDTHS + 2);
	cr_expect_eq(number(last, e, 0, "type_id", VALUE_U16), 9);
	cr_expect_eq(number(last, e, 1, "timestamp_delta_ns", VALUE_U32), 0xfedcba);
	cr_expect_eq(e->cls->fields[1].size, 3);
	cr_expect_eq(e->ts, 0xfedcba);
	for (size_t i = 0; i < WIDTHS; i++)
		expect_width(last, e, i);
	cr_expect_str_eq(e->cls->fields[8].unit, "byte");
	d9t_free(&t);
	d9b_free(&b);
}

static void ignore_finding(void *ctx, const struct findings *all, const struct finding *f)
{
}

/* An event has at most 65,535 fields: those of its head have a place before those of the schema if there is
 * room. */
Test(dial9_raw, fields_of_the_head_fit_before_those_of_wide_schemas)
{
	static const struct {
		uint16_t declared;
		bool timed;
		uint16_t head, found;
	} cases[] = {
		{ 65533, true, 2, 0 }, { 65534, true, 1, 1 },  { 65534, false, 1, 0 },
		{ 65535, true, 0, 1 }, { 65535, false, 0, 1 },
	};
	struct d9_field_desc *const fields = calloc(UINT16_MAX, sizeof *fields);

	cr_assert_not_null(fields);
	for (size_t i = 0; i < UINT16_MAX; i++)
		fields[i] = (struct d9_field_desc){ "f", D9T_U8 };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct d9_build b;
		struct d9t_run t;
		d9b_init(&b);
		d9b_header(&b);
		d9b_schema(&b, 9, "Wide", cases[i].timed, fields, cases[i].declared);
		if (cases[i].timed)
			d9b_event_delta(&b, 9, 5);
		else
			d9b_untimed(&b, 9);
		for (uint32_t k = 0; k < cases[i].declared; k++)
			d9b_u8(&b, (uint8_t)k);
		d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT);
		t.findings.sink = ignore_finding; /* levels are counted */
		d9t_read(&t, 1024);
		cr_assert_eq(t.status, READ_END);
		while (t.n > 1 && t.batches[t.n - 1].n == 0)
			batch_free(&t.batches[--t.n]);
		const struct batch *const last = &t.batches[t.n - 1];
		const struct event *const e = &last->events[last->n - 1];
		cr_expect_eq(e->nfields, cases[i].declared + cases[i].head, "row %zu: %u", i, e->nfields);
		cr_expect_eq(t.findings.levels[LEVEL_LIMIT], cases[i].found, "row %zu", i);
		if (cases[i].head > 0)
			cr_expect_eq(number(last, e, 0, "type_id", VALUE_U16), 9);
		d9t_free(&t);
		d9b_free(&b);
	}
	free(fields);
}

/*
 * Raw events have all fields of their records, so that the file can be written again byte for byte.  The
 * encoder here knows nothing of the reader but the types of values.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "htdump/test/build.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"
#include "htdump/test/oracle.h"
#include "input/test/memory_input.h"

#define GOOD "testdata/htdump/good"
#define RAW (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES | WANT_RAW)

struct encoder {
	unsigned char *p;
	size_t n, cap;
	bool big;
};

static void put_bytes(struct encoder *w, const void *p, size_t n)
{
	if (n > w->cap - w->n) {
		w->cap = 2 * (w->n + n);
		w->p = realloc(w->p, w->cap);
		cr_assert_not_null(w->p);
	}
	if (n > 0)
		memcpy(w->p + w->n, p, n);
	w->n += n;
}

static void put_number(struct encoder *w, uint64_t v, unsigned size)
{
	unsigned char bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[w->big ? size - 1 - i : i] = (unsigned char)(v >> 8 * i);
	put_bytes(w, bytes, size);
}

/* Returns the bits of the float that a double was converted from.  NaNs are converted by hand: a processor
 * would make signalling ones quiet. */
static uint32_t narrowed(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof d);
	if (d != d)
		return (uint32_t)(bits >> 63 << 31) | 0x7f800000u | (uint32_t)(bits >> 29 & 0x7fffff);
	const float f = (float)d;
	uint32_t narrow;
	memcpy(&narrow, &f, sizeof narrow);
	return narrow;
}

static void put_value(struct encoder *w, const struct value *v)
{
	static const unsigned sizes[] = {
		[VALUE_U8] = 1, [VALUE_U16] = 2, [VALUE_U32] = 4, [VALUE_U64] = 8, [VALUE_ADDRESS] = 8,
		[VALUE_I8] = 1, [VALUE_I16] = 2, [VALUE_I32] = 4, [VALUE_I64] = 8, [VALUE_F64] = 8,
	};

	if (v->type == VALUE_F32) {
		put_number(w, narrowed(v->u64), 4);
	} else if (v->type == VALUE_STRING || v->type == VALUE_BYTES) {
		put_bytes(w, v->p, v->count);
		put_bytes(w, "", v->type == VALUE_STRING);
	} else {
		cr_assert(v->type < sizeof sizes / sizeof sizes[0] && sizes[v->type] > 0, "type %u", v->type);
		put_number(w, v->u64, sizes[v->type]);
	}
}

static const struct field *field_named(const struct batch *b, const struct event *e, const char *name)
{
	for (uint32_t i = 0; i < e->nfields; i++)
		if (slice_is(b->fields[e->first_field + i].name, name))
			return &b->fields[e->first_field + i];
	return NULL;
}

/* Writes a record from its fields.  A record of class 0 sets the byte order of the following ones. */
static void put_record(struct encoder *w, const struct batch *b, const struct event *e)
{
	const struct field *const id = field_named(b, e, "klass_id");
	const struct field *const order = field_named(b, e, "endianness");

	cr_assert_not_null(id);
	for (uint32_t i = 0; i < e->nfields; i++)
		put_value(w, &b->fields[e->first_field + i].value);
	if (id->value.u64 == 0 && order->value.u64 <= 1)
		w->big = order->value.u64 == 1;
}

static void read_raw(struct live_batches *l, const void *p, size_t n)
{
	live_batches_read(l, format_by_name("htdump"), input_from_memory(p, n), RAW, 50);
}

/* Checks that the records, rebuilt from their fields, are the input. */
static void expect_same_bytes(const char *what, const void *p, size_t n)
{
	struct live_batches l;
	struct encoder w = { .n = 0 };

	read_raw(&l, p, n);
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++)
			put_record(&w, l.batches[i], &l.batches[i]->events[k]);
	cr_expect(w.n == n && memcmp(w.p, p, n) == 0, "%s: %zu bytes were written, %zu were read", what, w.n,
	          n);
	live_batches_free(&l);
	free(w.p);
}

static void expect_sample(const struct sample *s)
{
	expect_same_bytes(s->path, s->p, s->n);
}

Test(htdump_raw, fields_write_the_file_again)
{
	each_sample_of("htdump", SAMPLES_VALID, expect_sample);
}

/* ---- fields ---- */

static bool value_is(const struct value *v, const struct oracle_field *want)
{
	switch (want->kind) {
	case ORACLE_STRING:
		return v->type == VALUE_STRING && v->count == strlen(want->s) &&
		       memcmp(v->p, want->s, v->count) == 0;
	case ORACLE_FLOAT:
		return v->type == VALUE_F32 &&
		       (v->f64 == want->d || (v->f64 != v->f64 && want->d != want->d));
	case ORACLE_DOUBLE:
		return v->type == VALUE_F64 && memcmp(&v->f64, &want->d, sizeof v->f64) == 0;
	case ORACLE_SIGNED:
		return v->type >= VALUE_I8 && v->type <= VALUE_I64 && v->u64 == want->u;
	case ORACLE_POINTER:
		return (v->type == VALUE_ADDRESS || v->type == VALUE_U32) && v->u64 == want->u;
	case ORACLE_UNSIGNED:
		return v->type >= VALUE_U8 && v->type <= VALUE_U64 && v->u64 == want->u;
	}
	return false;
}

static void expect_event(const char *path, const struct batch *b, const struct event *e,
                         const struct oracle_event *want)
{
	const struct field *const f = b->fields + e->first_field;

	cr_expect(e->phase == PHASE_INSTANT && e->ts == want->ts && e->dur == 0 && e->track != NULL &&
	              slice_equal(e->name, e->cls->name),
	          "%s: event at %zu", path, (size_t)e->offset);
	cr_assert_eq(e->nfields, want->nfields + 3, "%s: event at %zu", path, (size_t)e->offset);
	for (size_t i = 0; i < want->nfields; i++)
		cr_expect(slice_is(f[i + 3].name, want->fields[i].key) &&
		              value_is(&f[i + 3].value, &want->fields[i]),
		          "%s: event at %zu, field %s", path, (size_t)e->offset, want->fields[i].key);
}

static void expect_oracle(const struct sample *file)
{
	struct live_batches l;
	struct oracle o;
	uint64_t records = 0;
	size_t next = 0;

	oracle_decode(&o, (const unsigned char *)file->p, file->n);
	read_raw(&l, file->p, file->n);
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++, records++) {
			const struct event *const e = &l.batches[i]->events[k];
			if (next < o.n && o.events[next].offset == e->offset)
				expect_event(file->path, l.batches[i], e, &o.events[next++]);
			else
				cr_expect_eq(e->phase, PHASE_STRUCTURE, "%s: %zu", file->path,
				             (size_t)e->offset);
		}
	cr_expect_eq(next, o.n, "%s", file->path);
	cr_expect_eq(records, o.records, "%s", file->path);
	cr_expect_eq(live_batches_free(&l), 0);
	oracle_free(&o);
}

Test(htdump_raw, fields_equal_the_oracle)
{
	each_sample_of("htdump", SAMPLES_GOOD | SAMPLES_REAL, expect_oracle);
}

/* ---- names, floats, labels ---- */

/* Gets the names of the fields of the last event, each with a blank after it. */
static void last_names(const struct live_batches *l, char *to, size_t size)
{
	const struct batch *const b = l->batches[l->n - 1];
	const struct event *const e = &b->events[b->n - 1];

	to[0] = '\0';
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct slice name = b->fields[e->first_field + i].name;
		const size_t n = strlen(to);
		snprintf(to + n, size - n, "%.*s ", (int)name.n, name.p);
	}
}

/* Names are not made unique; members of structs have the name of the struct in front.  The class declares the
 * same names. */
Test(htdump_raw, names_are_those_of_the_file)
{
	static const struct ht_field_desc inner[] = { { "uint8_t", "x", 1, HT_UNSIGNED } };
	static const struct ht_field_desc outer[] = {
		{ "uint64_t", "id", 8, HT_UNSIGNED },      { "Inner", "at", 1, HT_STRUCT },
		{ "uint64_t", "duration", 8, HT_INTEGER }, { "const char*", "label", 8, HT_STRING },
		{ "void*", "p", 4, HT_POINTER },
	};
	struct live_batches l;
	struct ht_build b;
	char names[200];

	ht_init(&b, HT_DOCUMENT, true);
	ht_prologue(&b);
	ht_describe(&b, 20, "Inner", NULL, inner, 1);
	ht_describe(&b, 21, "Outer", "HT_CallstackBaseEvent", outer, 5);
	ht_event(&b, 21, 77);
	for (unsigned i = 0; i < 12 + 8 + 1 + 8; i++)
		ht_u8(&b, 1);
	ht_string(&b, "x");
	ht_u32(&b, 5);
	read_raw(&l, b.p, b.n);
	cr_assert_eq(l.status, READ_END);
	last_names(&l, names, sizeof names);
	cr_expect_str_eq(names, "timestamp event_id klass_id duration thread_id id at.x duration label p ");
	const struct batch *const last = l.batches[l.n - 1];
	const struct event *const e = &last->events[last->n - 1];
	cr_assert_eq(e->cls->nfields, e->nfields);
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &last->fields[e->first_field + i];
		const struct class_field *const d = &e->cls->fields[i];
		cr_expect(slice_equal(d->name, f->name) && d->value == f->value.type, "field %u", i);
	}
	cr_expect(e->cls->fields[9].size == 4 && e->cls->fields[9].value == VALUE_U32);
	cr_expect(e->cls->fields[0].size == 8 && strcmp(e->cls->fields[0].unit, "ns") == 0);
	cr_expect(e->cls->fields[8].size == 0 && e->cls->fields[8].value == VALUE_STRING);
	cr_expect_eq(live_batches_free(&l), 0);
	ht_free(&b);
}

/* All bits of NaNs are kept, also of signalling ones. */
Test(htdump_raw, bits_of_floats)
{
	static const struct ht_field_desc fields[] = { { "float", "f", 4, HT_FLOAT },
		                                       { "double", "d", 8, HT_DOUBLE } };
	static const uint32_t floats[] = { 0x7fa00001, 0xffc12345, 0x7f800000, 0xff800000,
		                           0x80000000, 0x00000001, 0x807fffff, 0x7f7fffff };
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_describe(&b, 20, "Reals", NULL, fields, 2);
	for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
		ht_event(&b, 20, i);
		ht_u32(&b, floats[i]);
		ht_u64(&b, (uint64_t)floats[i] << 32 | 1);
	}
	expect_same_bytes("floats", b.p, b.n);
	ht_free(&b);
}

/* Labels stay numbers, also after the record that names them. */
Test(htdump_raw, labels_are_not_resolved)
{
	struct live_batches l;
	size_t n;
	size_t labels = 0;

	char *const p = read_whole(GOOD "/late-mapping.htdump", &n);
	cr_assert_not_null(p);
	read_raw(&l, p, n);
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++) {
			const struct event *const e = &l.batches[i]->events[k];
			const struct field *const label = field_named(l.batches[i], e, "label");
			if (!slice_is(e->cls->name, "OwnSpan"))
				continue;
			labels++;
			cr_expect(slice_is(e->name, "OwnSpan") && label->value.type == VALUE_U64);
		}
	cr_expect_eq(labels, 4);
	cr_expect_eq(live_batches_free(&l), 0);
	free(p);
}

/* Raw events: each packet has all its fields, from which the trace can be written again, byte for byte. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heph/test/build.h"
#include "format/registry.h"
#include "test/fuzz/live_batches.h"
#include "heph/test/oracle.h"
#include "input/test/memory_input.h"
#include "test/properties/rows_test.h"

#define RAW (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES | WANT_RAW)

static void read_raw(struct live_batches *l, const void *p, size_t n)
{
	live_batches_read(l, format_by_name("heph"), input_from_memory(p, n), RAW, 50);
}

/* ---- writing from fields ---- */

static void write_text(struct heph_build *w, struct slice s)
{
	heph_u16(w, (uint16_t)s.n);
	heph_bytes(w, s.p, s.n);
}

static uint8_t type_byte(uint8_t value)
{
	return value == VALUE_U64 ? 1 : value == VALUE_I64 ? 2 : value == VALUE_F64 ? 3 : 4;
}

static void write_value(struct heph_build *w, const struct value *v)
{
	if (v->type == VALUE_U32)
		heph_u32(w, (uint32_t)v->u64);
	else if (v->type == VALUE_STRING)
		write_text(w, value_text(v));
	else if (v->type == VALUE_BYTES)
		heph_bytes(w, v->p, v->count);
	else
		heph_u64(w, v->u64);
}

static void write_attribute(struct heph_build *w, const struct field *f)
{
	const struct value *const v = &f->value;

	write_text(w, f->name);
	if (v->type != VALUE_LIST) {
		heph_u8(w, type_byte(v->type));
		write_value(w, v);
		return;
	}
	heph_u8(w, (uint8_t)(0x80 | type_byte(v->element)));
	heph_u16(w, (uint16_t)v->count);
	for (uint32_t i = 0; i < v->count; i++) {
		cr_expect_eq(v->values[i].type, v->element);
		write_value(w, &v->values[i]);
	}
}

/* Writes the declared fields, then attributes. */
static void write_packet(struct heph_build *w, const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	cr_assert_geq(e->nfields, e->cls->nfields);
	for (uint32_t i = 0; i < e->nfields; i++) {
		if (i >= e->cls->nfields) {
			write_attribute(w, &f[i]);
			continue;
		}
		const struct class_field *const d = &e->cls->fields[i];
		cr_expect(slice_equal(f[i].name, d->name) &&
		          (d->value == VALUE_NONE || f[i].value.type == d->value));
		write_value(w, &f[i].value);
	}
}

static void expect_same_bytes(const char *what, const void *p, size_t n)
{
	struct live_batches l;
	struct heph_build w;

	heph_init(&w);
	read_raw(&l, p, n);
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++)
			write_packet(&w, l.batches[i], &l.batches[i]->events[k]);
	cr_expect(w.n == n && memcmp(w.p, p, n) == 0, "%s: %zu bytes were written, %zu were read", what, w.n,
	          n);
	live_batches_free(&l);
	heph_free(&w);
}

static void expect_sample(const struct sample *s)
{
	expect_same_bytes(s->path, s->p, s->n);
}

Test(heph_raw, fields_write_the_trace_again)
{
	each_sample_of("heph", SAMPLES_VALID, expect_sample);
}

/* ---- fields ---- */

/* Names of attributes may be repeated, and may equal those of the fields before them; empty lists have a
 * type. */
Test(heph_raw, attributes_keep_their_names_and_types)
{
	static const char *const names[] = { "magic", "size", "stream",      "stream_counter", "substream",
		                             "start", "end",  "description", "size",           "x",
		                             "x",     "none", "nothing" };
	struct heph_build b;
	struct live_batches l;

	heph_init(&b);
	heph_event(&b, 1, 1, 5, 3, "event");
	heph_unsigned(&b, "size", 1);
	heph_signed(&b, "x", -1);
	heph_text_value(&b, "x", "text");
	heph_attribute(&b, "none", 0x83);
	heph_u16(&b, 0);
	heph_attribute(&b, "nothing", 0x84);
	heph_u16(&b, 0);
	heph_end(&b);
	expect_same_bytes("names", b.p, b.n);
	read_raw(&l, b.p, b.n);
	cr_assert(l.n > 0 && l.batches[0]->n == 1);
	const struct event *const e = &l.batches[0]->events[0];
	const struct field *const f = l.batches[0]->fields + e->first_field;
	cr_assert_eq(e->nfields, sizeof names / sizeof names[0]);
	for (uint32_t i = 0; i < e->nfields; i++)
		cr_expect(slice_is(f[i].name, names[i]), "field %u is not %s", i, names[i]);
	cr_expect(f[11].value.type == VALUE_LIST && f[11].value.element == VALUE_F64);
	cr_expect(f[12].value.type == VALUE_LIST && f[12].value.element == VALUE_STRING);
	cr_expect(e->ts == 5 && e->dur == 0 && f[5].value.u64 == 5 && f[6].value.u64 == 3);
	cr_expect_eq(live_batches_free(&l), 0);
	heph_free(&b);
}

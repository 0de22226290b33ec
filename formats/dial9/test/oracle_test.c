/*
 * The oracle: a decoder for tests, written from the specification, with the arguments of an event as
 * JSON.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"
#include "base/compiler.h"
#include "dial9/test/oracle.h"
#include "test/properties/rows_test.h"
#include "input/open.h"

/* ---- bytes ---- */

uint64_t d9o_number(struct d9o *o, size_t size)
{
	uint64_t v = 0;

	if (size > o->n - o->at) {
		o->fault = "cut";
		return 0;
	}
	for (size_t i = size; i-- > 0;)
		v = v << 8 | o->p[o->at + i];
	o->at += size;
	return v;
}

uint64_t d9o_leb(struct d9o *o)
{
	uint64_t v = 0, byte = 0x80;

	for (unsigned shift = 0; byte >= 0x80 && o->fault == NULL; shift += 7) {
		byte = d9o_number(o, 1);
		v += (byte & 0x7f) << shift;
	}
	return v;
}

static void d9o_skip(struct d9o *o, uint64_t n)
{
	if (n > o->n - o->at)
		o->fault = "cut";
	else
		o->at += (size_t)n;
}

static void name(struct d9o *o, char *to)
{
	const size_t n = (size_t)d9o_number(o, 2);

	cr_assert(n < 256 && n <= o->n - o->at);
	memcpy(to, o->p + o->at, n);
	to[n] = '\0';
	o->at += n;
}

static void *append(void *list, size_t *n, size_t *cap, size_t size)
{
	void **const at = list;

	if (*n == *cap) {
		*cap = *cap * 2 + 64;
		*at = realloc(*at, *cap * size);
		cr_assert_not_null(*at);
	}
	memset((char *)*at + *n * size, 0, size);
	return (char *)*at + (*n)++ * size;
}

/* ---- frames ---- */

void d9o_skip_value(struct d9o *o, uint8_t type)
{
	if (type >= 0x80 && d9o_number(o, 1) == 0)
		return;
	switch (type & 0x7f) {
	case 3:
	case 11:
		d9o_skip(o, 1);
		break;
	case 12:
		d9o_skip(o, 2);
		break;
	case 6:
	case 7:
	case 13:
		d9o_skip(o, 4);
		break;
	case 1:
	case 2:
		d9o_skip(o, 8);
		break;
	case 4:
	case 5:
		d9o_skip(o, d9o_number(o, 4));
		break;
	case 8:
		d9o_skip(o, d9o_number(o, 4) * 8);
		break;
	case 9:
		d9o_leb(o);
		break;
	case 10:
		for (uint64_t n = d9o_number(o, 4) * 2; n > 0 && o->fault == NULL; n--)
			d9o_skip_value(o, 4);
		break;
	case 14:
	case 15:
		for (uint64_t n = d9o_number(o, 4) * ((type & 0x7f) - 13U); n > 0 && o->fault == NULL; n--)
			d9o_skip_value(o, (uint8_t)d9o_number(o, 1));
		break;
	default:
		o->fault = "unknown type";
	}
}

static void schema(struct d9o *o)
{
	struct d9o_schema *const s = append(&o->schemas, &o->nschemas, &o->schemas_cap, sizeof *s);

	s->segment = o->segments;
	s->id = (uint16_t)d9o_number(o, 2);
	name(o, s->name);
	s->timed = d9o_number(o, 1) == 1;
	s->nfields = (size_t)d9o_number(o, 2);
	if (s->nfields > 16) {
		o->fault = D9O_MANY_FIELDS;
		s->nfields = 0;
	}
	for (size_t i = 0; i < s->nfields; i++) {
		name(o, s->fields[i].name);
		s->fields[i].type = (uint8_t)d9o_number(o, 1);
	}
}

static uint32_t find_schema(const struct d9o *o, uint16_t id)
{
	for (size_t i = o->nschemas; i-- > 0;)
		if (o->schemas[i].segment == o->segments && o->schemas[i].id == id)
			return (uint32_t)i;
	cr_assert(false, "no schema %u", id);
	return 0;
}

/* Reads a SymbolTableEntry at `values`. */
static void symbol(struct d9o *o, const struct d9o_schema *s, size_t offset)
{
	struct d9o_entry *const e = append(&o->entries, &o->nentries, &o->entries_cap, sizeof *e);

	*e = (struct d9o_entry){ .offset = offset, .segment = o->segments, .kind = 1 };
	for (size_t i = 0; i < s->nfields; i++) {
		const size_t at = o->at;
		if (strcmp(s->fields[i].name, "addr") == 0)
			e->address = d9o_leb(o);
		else if (strcmp(s->fields[i].name, "inline_depth") == 0)
			e->depth = d9o_leb(o);
		else if (strcmp(s->fields[i].name, "symbol_name") == 0)
			e->id = (uint32_t)d9o_number(o, 4);
		o->at = at;
		d9o_skip_value(o, s->fields[i].type);
	}
}

static void event(struct d9o *o, size_t offset, uint64_t *base)
{
	struct d9o_event *const e = append(&o->events, &o->nevents, &o->events_cap, sizeof *e);

	e->offset = offset;
	e->segment = o->segments;
	e->schema = find_schema(o, (uint16_t)d9o_number(o, 2));
	const struct d9o_schema *const s = &o->schemas[e->schema];
	if (s->timed)
		*base += d9o_number(o, 3);
	e->ts = *base;
	e->values = o->at;
	if (strcmp(s->name, "SymbolTableEntry") == 0) {
		symbol(o, s, offset);
		return;
	}
	for (size_t i = 0; i < s->nfields; i++)
		d9o_skip_value(o, s->fields[i].type);
}

static void pool(struct d9o *o, uint8_t tag, size_t offset)
{
	for (uint64_t n = d9o_number(o, 4); n > 0 && o->fault == NULL; n--) {
		struct d9o_entry *const e = append(&o->entries, &o->nentries, &o->entries_cap, sizeof *e);
		e->offset = offset;
		e->segment = o->segments;
		e->kind = tag;
		e->id = (uint32_t)d9o_number(o, 4);
		e->n = (uint32_t)d9o_number(o, 4);
		e->data = o->at;
		d9o_skip(o, (uint64_t)e->n * (tag == 4 ? 8 : 1));
	}
}

static void annotations(struct d9o *o)
{
	d9o_leb(o);
	for (uint64_t n = d9o_number(o, 2); n > 0; n--) {
		d9o_skip(o, 2);
		d9o_skip(o, d9o_number(o, 2));
		d9o_skip(o, d9o_number(o, 4));
	}
}

void d9o_decode(struct d9o *o, const unsigned char *p, size_t n)
{
	uint64_t base = 0;

	*o = (struct d9o){ .p = p, .n = n };
	while (o->at < n && o->fault == NULL) {
		const size_t offset = o->at;
		const uint8_t tag = (uint8_t)d9o_number(o, 1);
		o->frames[tag]++;
		if (tag == 'T') {
			d9o_skip(o, 4);
			o->segments++;
			base = 0;
		} else if (tag == 1) {
			schema(o);
		} else if (tag == 2) {
			event(o, offset, &base);
		} else if (tag == 3 || tag == 4) {
			pool(o, tag, offset);
		} else if (tag == 5) {
			base = d9o_number(o, 8);
		} else if (tag == 6) {
			annotations(o);
		} else {
			o->fault = "unknown tag";
		}
	}
}

void d9o_free(struct d9o *o)
{
	free(o->schemas);
	free(o->events);
	free(o->entries);
}

/* ---- the oracle itself ---- */

/* A trace as the specification describes it, written out by hand. */
Test(dial9_oracle, a_trace_byte_by_byte)
{
	static const unsigned char bytes[] =
	    "TRC\0\1"
	    "\1\2\0\1\0A\1\2\0\1\0v\x09\1\0s\x07" /* schema 2, "A", timed: v Varint, s PooledString */
	    "\3\1\0\0\0\5\0\0\0\2\0\0\0hi"        /* string 5 */
	    "\5\0\1\0\0\0\0\0\0"                  /* the time is 256 */
	    "\2\2\0\x10\0\0\xac\2\5\0\0\0";       /* 16 ns later: v 300, s 5 */
	struct d9o o;

	d9o_decode(&o, bytes, sizeof bytes - 1);
	cr_assert_null(o.fault);
	cr_assert_eq(o.nevents, 1);
	cr_expect_eq(o.events[0].ts, 272);
	char *const args = d9o_arguments(&o, 0);
	cr_expect_str_eq(args, "{\"v\":300,\"s\":\"hi\"}");
	free(args);
	d9o_free(&o);
}

/* ---- arguments as JSON ---- */

struct out {
	const struct d9o *o;
	struct d9o in; /* a cursor */
	const struct d9o_event *e;
	char *s;
	size_t n, cap;
};

static void put(struct out *t, const char *s, size_t n)
{
	if (t->n + n + 1 > t->cap) {
		t->cap = 2 * (t->n + n) + 256;
		t->s = realloc(t->s, t->cap);
		cr_assert_not_null(t->s);
	}
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

PRINTF(2, 3) static void print(struct out *t, const char *fmt, ...)
{
	char text[80];
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	put(t, text, (size_t)n);
}

static void put_text(struct out *t, const unsigned char *p, size_t n)
{
	put(t, "\"", 1);
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\')
			print(t, "\\u%04x", p[i]);
		else
			put(t, (const char *)p + i, 1);
	put(t, "\"", 1);
}

/* Integers beyond a double's precision are text. */
static void put_unsigned(struct out *t, uint64_t v)
{
	print(t, v < UINT64_C(1) << 53 ? "%" PRIu64 : "\"%" PRIu64 "\"", v);
}

static void put_signed(struct out *t, int64_t v)
{
	const bool exact = v < INT64_C(1) << 53 && v > -(INT64_C(1) << 53);

	print(t, exact ? "%" PRId64 : "\"%" PRId64 "\"", v);
}

static void put_double(struct out *t, uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	if (v - v == 0)
		print(t, "%.17g", v);
	else
		print(t, "\"%s\"", v > 0 ? "Infinity" : v < 0 ? "-Infinity" : "NaN");
}

/* The last definition before the event, else the first one after it. */
static const struct d9o_entry *find_entry(const struct d9o *o, uint8_t kind, uint32_t id, uint32_t segment,
                                          size_t offset)
{
	const struct d9o_entry *found = NULL;

	for (size_t i = 0; i < o->nentries; i++) {
		const struct d9o_entry *const e = &o->entries[i];
		if (e->kind == kind && e->id == id && e->segment == segment &&
		    (e->offset < offset || found == NULL))
			found = e;
	}
	return found;
}

static void put_address(struct out *t, uint64_t address)
{
	const struct d9o_entry *best = NULL;

	for (size_t i = 0; i < t->o->nentries; i++) {
		const struct d9o_entry *const e = &t->o->entries[i];
		if (e->kind == 1 && e->address == address && (best == NULL || e->depth < best->depth))
			best = e;
	}
	const struct d9o_entry *const text =
	    best != NULL ? find_entry(t->o, 3, best->id, best->segment, best->offset) : NULL;
	if (text != NULL)
		put_text(t, t->o->p + text->data, text->n);
	else
		print(t, "\"0x%" PRIx64 "\"", address);
}

static void put_stack(struct out *t, size_t at, uint32_t n)
{
	struct d9o c = { .p = t->o->p, .n = t->o->n, .at = at };

	for (uint32_t i = 0; i < n; i++) {
		put(t, i > 0 ? "," : "[", 1);
		put_address(t, d9o_number(&c, 8));
	}
	put(t, "[]", n == 0 ? 2 : 0);
	put(t, "]", n == 0 ? 0 : 1);
}

static void put_pooled(struct out *t, uint8_t kind)
{
	const uint32_t id = (uint32_t)d9o_number(&t->in, 4);
	const struct d9o_entry *const e = find_entry(t->o, kind, id, t->e->segment, t->e->offset);

	if (e == NULL)
		print(t, "%" PRIu32, id);
	else if (kind == 3)
		put_text(t, t->o->p + e->data, e->n);
	else
		put_stack(t, e->data, e->n);
}

static void put_value(struct out *t, uint8_t type);

static void put_bytes(struct out *t)
{
	const uint64_t n = d9o_number(&t->in, 4);

	put(t, "\"0x", 3);
	for (uint64_t i = 0; i < n; i++)
		print(t, "%02x", t->in.p[t->in.at + i]);
	put(t, "\"", 1);
	d9o_skip(&t->in, n);
}

static void put_string(struct out *t)
{
	const size_t n = (size_t)d9o_number(&t->in, 4);

	put_text(t, t->in.p + t->in.at, n);
	d9o_skip(&t->in, n);
}

/* Whether all keys of the map whose entries begin here are text. */
static bool keys_are_text(const struct out *t, uint64_t n)
{
	struct d9o c = t->in;
	bool all = true;

	for (uint64_t i = 0; i < 2 * n; i++) {
		const uint8_t type = (uint8_t)d9o_number(&c, 1);
		bool text = type == 4;
		if (type == 7) {
			struct d9o id = c;
			text = find_entry(t->o, 3, (uint32_t)d9o_number(&id, 4), t->e->segment,
			                  t->e->offset) != NULL;
		}
		all = all && (text || i % 2 == 1);
		d9o_skip_value(&c, type);
	}
	return all;
}

/* type 10: keys and values are text without tags; 15: any. */
static void put_map(struct out *t, uint8_t type)
{
	const uint64_t n = d9o_number(&t->in, 4);
	const bool object = type == 10 || keys_are_text(t, n);

	put(t, object ? "{" : "[", 1);
	for (uint64_t i = 0; i < n; i++) {
		put(t, ",", i > 0 ? 1 : 0);
		put(t, "[", object ? 0 : 1);
		put_value(t, type == 10 ? 4 : (uint8_t)d9o_number(&t->in, 1));
		put(t, object ? ":" : ",", 1);
		put_value(t, type == 10 ? 4 : (uint8_t)d9o_number(&t->in, 1));
		put(t, "]", object ? 0 : 1);
	}
	put(t, object ? "}" : "]", 1);
}

static void put_list(struct out *t)
{
	put(t, "[", 1);
	for (uint64_t n = d9o_number(&t->in, 4), i = 0; i < n; i++) {
		put(t, ",", i > 0 ? 1 : 0);
		put_value(t, (uint8_t)d9o_number(&t->in, 1));
	}
	put(t, "]", 1);
}

static void put_value(struct out *t, uint8_t type)
{
	if (type >= 0x80 && d9o_number(&t->in, 1) == 0) {
		put(t, "null", 4);
		return;
	}
	type &= 0x7f;
	if (type == 1) {
		put_signed(t, (int64_t)d9o_number(&t->in, 8));
	} else if (type == 2) {
		put_double(t, d9o_number(&t->in, 8));
	} else if (type == 3) {
		print(t, "%s", d9o_number(&t->in, 1) != 0 ? "true" : "false");
	} else if (type == 4) {
		put_string(t);
	} else if (type == 5) {
		put_bytes(t);
	} else if (type == 6 || type == 7) {
		put_pooled(t, type == 6 ? 4 : 3);
	} else if (type == 8) {
		const uint32_t n = (uint32_t)d9o_number(&t->in, 4);
		put_stack(t, t->in.at, n);
		d9o_skip(&t->in, (uint64_t)n * 8);
	} else if (type == 9) {
		put_unsigned(t, d9o_leb(&t->in));
	} else if (type == 10 || type == 15) {
		put_map(t, type);
	} else if (type == 14) {
		put_list(t);
	} else {
		put_unsigned(t, d9o_number(&t->in, type == 11 ? 1 : type == 12 ? 2 : 4));
	}
}

char *d9o_arguments(const struct d9o *o, size_t i)
{
	struct out t = { .o = o, .in = *o, .e = &o->events[i] };
	const struct d9o_schema *const s = &o->schemas[t.e->schema];

	t.in.at = t.e->values;
	put(&t, "{", 1);
	for (size_t k = 0; k < s->nfields; k++) {
		put(&t, ",", k > 0 ? 1 : 0);
		put_text(&t, (const unsigned char *)s->fields[k].name, strlen(s->fields[k].name));
		put(&t, ":", 1);
		put_value(&t, s->fields[k].type);
	}
	put(&t, "}", 1);
	return t.s;
}

static void expect_decoded(const char *path, const char *p, size_t n)
{
	struct d9o o;

	d9o_decode(&o, (const unsigned char *)p, n);
	if (o.fault == NULL || strcmp(o.fault, D9O_MANY_FIELDS) != 0) {
		cr_expect_null(o.fault, "%s: %s", path, o.fault);
		cr_expect(o.at == n && o.segments == 1, "%s", path);
	}
	d9o_free(&o);
}

/* Traces of all formats, written as dial9 traces. */
Test(dial9_oracle, reads_written_traces)
{
	each_written("dial9", NULL, expect_decoded);
}

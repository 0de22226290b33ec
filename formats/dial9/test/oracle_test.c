#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"
#include "dial9/test/oracle.h"
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

void d9o_skip(struct d9o *o, uint64_t n)
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
	cr_assert_leq(s->nfields, 16);
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

/* What a SymbolTableEntry at `values` says. */
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

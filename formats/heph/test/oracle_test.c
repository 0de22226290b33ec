/* The decoder of the tests (oracle.h), and tests of it with the examples of the specification. */
#include "heph/test/oracle.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heph/test/build.h"
#include "test/properties/rows_test.h"

struct bytes {
	const unsigned char *p;
	size_t at, end;
	const char *fault;
};

static uint64_t read_number(struct bytes *b, unsigned size)
{
	uint64_t v = 0;

	if (b->end - b->at < size) {
		b->fault = "a number does not fit";
		b->at = b->end;
		return 0;
	}
	for (unsigned i = 0; i < size; i++)
		v = v * 256 + b->p[b->at++];
	return v;
}

static const char *read_text(struct bytes *b, size_t *n)
{
	*n = read_number(b, 2);
	if (*n > b->end - b->at) {
		b->fault = "a text does not fit";
		*n = b->end - b->at;
	}
	const char *const s = (const char *)b->p + b->at;
	b->at += *n;
	return s;
}

/* Returns space for one more than n elements.  Doubles it when it is full: under memory checkers each
 * realloc() copies. */
static void *grow(void *old, size_t n, size_t size)
{
	void *const p = (n & (n - 1)) == 0 ? realloc(old, (n > 0 ? 2 * n : 1) * size) : old;

	if (p == NULL)
		abort();
	memset((char *)p + n * size, 0, size);
	return p;
}

static struct heph_oracle_value read_value(struct bytes *b, unsigned type)
{
	struct heph_oracle_value v = { 0 };

	if (type == 4)
		v.s = read_text(b, &v.n);
	else if (type >= 1 && type <= 3)
		v.bits = read_number(b, 8);
	else
		b->fault = "an unknown type";
	return v;
}

static struct heph_oracle_attribute read_attribute(struct bytes *b)
{
	struct heph_oracle_attribute a = { 0 };

	a.name = read_text(b, &a.name_n);
	a.type = (unsigned)read_number(b, 1);
	const size_t n = (a.type & 128) != 0 ? read_number(b, 2) : 1;
	while (a.n < n && b->fault == NULL) {
		a.values = grow(a.values, a.n, sizeof *a.values);
		a.values[a.n++] = read_value(b, a.type & 127);
	}
	return a;
}

static bool is_new_track(const struct heph_oracle *o, const struct heph_oracle_event *e)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->events[i].stream == e->stream && o->events[i].substream == e->substream)
			return false;
	return true;
}

static void read_event(struct heph_oracle *o, struct bytes *b, size_t offset)
{
	struct heph_oracle_event e = { .offset = offset };

	e.stream = (uint32_t)read_number(b, 4);
	e.counter = (uint32_t)read_number(b, 4);
	e.substream = read_number(b, 8);
	e.start = read_number(b, 8);
	e.end = read_number(b, 8);
	e.name = read_text(b, &e.name_n);
	while (b->at < b->end && b->fault == NULL) {
		e.attributes = grow(e.attributes, e.n, sizeof *e.attributes);
		e.attributes[e.n] = read_attribute(b);
		o->types[e.attributes[e.n++].type]++;
	}
	o->tracks += is_new_track(o, &e);
	o->events = grow(o->events, o->n, sizeof *o->events);
	o->events[o->n++] = e;
}

static void read_option(struct heph_oracle *o, struct bytes *b)
{
	size_t n;
	const char *const name = read_text(b, &n);

	if (n == 5 && memcmp(name, "epoch", 5) == 0) {
		o->epoch_known = true;
		o->epoch = read_number(b, 8);
	}
}

void heph_oracle_decode(struct heph_oracle *o, const unsigned char *p, size_t n)
{
	*o = (struct heph_oracle){ 0 };
	for (size_t at = 0; at < n && o->fault == NULL; o->packets++) {
		struct bytes b = { .p = p, .at = at, .end = n };
		const uint64_t magic = read_number(&b, 4), size = read_number(&b, 4);

		if (size < 10 || size > n - at)
			b.fault = "a wrong size";
		else
			b.end = at + size;
		if (b.fault == NULL && magic == 0xC1FC1FB7)
			read_event(o, &b, at);
		else if (b.fault == NULL && magic == 0x75D11D4D)
			read_option(o, &b);
		else
			b.fault = "a wrong magic";
		o->fault = b.fault;
		at += size;
	}
}

void heph_oracle_free(struct heph_oracle *o)
{
	for (size_t i = 0; i < o->n; i++) {
		for (size_t k = 0; k < o->events[i].n; k++)
			free(o->events[i].attributes[k].values);
		free(o->events[i].attributes);
	}
	free(o->events);
}

double heph_oracle_double(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* Copied from the specification. */
static const unsigned char spec_epoch[] = {
	0x75, 0xD1, 0x1D, 0x4D, 0,    0,    0,    23,   0,    5,    'e',  'p',
	'o',  'c',  'h',  0x16, 0x58, 0x45, 0xE9, 0x12, 0x14, 0xEC, 0x90,
};
static const unsigned char spec_event[] = {
	0xC1, 0xFC, 0x1F, 0xB7, 0,    0,    0,   91,  0,    0, 0,   0,    0,    0,    0,    0,
	0,    0,    0,    0,    0,    0,    0,   1,   0,    0, 0,   0,    0,    0,    0,    100,
	0,    0,    0,    0,    0,    0,    0,   200, 0,    8, 'M', 'y',  ' ',  'e',  'v',  'e',
	'n',  't',  0,    4,    'T',  'e',  's', 't', 1,    0, 0,   0,    0,    0,    0,    0,
	123,  0,    5,    'T',  'e',  's',  't', '2', 0x83, 0, 2,   0x40, 0x5E, 0xDD, 0x2F, 0x1A,
	0x9F, 0xBE, 0x77, 0x40, 0x88, 0xA8, 0,   0,   0,    0, 0,
};

Test(heph_oracle, reads_the_examples_of_the_specification)
{
	unsigned char both[sizeof spec_epoch + sizeof spec_event];
	struct heph_oracle o;

	memcpy(both, spec_epoch, sizeof spec_epoch);
	memcpy(both + sizeof spec_epoch, spec_event, sizeof spec_event);
	heph_oracle_decode(&o, both, sizeof both);
	cr_assert_null(o.fault, "%s", o.fault);
	cr_expect(o.epoch_known && o.epoch == 1610113734118010000u);
	cr_assert_eq(o.n, 1);
	cr_expect(o.events[0].start == 100 && o.events[0].end == 200 && o.events[0].substream == 1);
	cr_assert_eq(o.events[0].n, 2);
	cr_expect_eq(o.events[0].attributes[0].values[0].bits, 123);
	cr_expect_eq(heph_oracle_double(o.events[0].attributes[1].values[0].bits), 123.456);
	cr_expect_eq(heph_oracle_double(o.events[0].attributes[1].values[1].bits), 789.0);
	heph_oracle_free(&o);
}

/* The builder of the samples writes the same bytes. */
Test(heph_oracle, builder_writes_the_examples_of_the_specification)
{
	struct heph_build b;

	heph_init(&b);
	heph_spec_epoch(&b);
	cr_expect_arr_eq(b.p, spec_epoch, sizeof spec_epoch);
	heph_spec_event(&b);
	cr_assert_eq(b.n, sizeof spec_epoch + sizeof spec_event);
	cr_expect_arr_eq(b.p + sizeof spec_epoch, spec_event, sizeof spec_event);
	heph_free(&b);
}

static void expect_decoded(const char *path, const char *p, size_t n)
{
	struct heph_oracle o;

	if (n > 256u << 10)
		return; /* the oracle is slow with many tracks */
	heph_oracle_decode(&o, (const unsigned char *)p, n);
	cr_expect_null(o.fault, "%s: %s", path, o.fault);
	heph_oracle_free(&o);
}

/* Traces of all formats, written as Heph traces. */
Test(heph_oracle, reads_written_traces)
{
	each_written("heph", NULL, expect_decoded);
}

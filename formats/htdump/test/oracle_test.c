/*
 * The oracle: a decoder of .htdump written from the specification, and tests of it against samples and
 * against the counts of another independent reader.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/samples_test_util.h"
#include "htdump/test/oracle.h"
#include "test/properties/rows_test.h"

/* Data types as the specification numbers them.  The wire has other numbers. */
enum type { T_STRUCT, T_STRING, T_INTEGER, T_FLOAT, T_DOUBLE, T_POINTER, T_UNSIGNED, T_UNKNOWN };

struct described_field {
	char type_name[64], name[64];
	uint64_t size;
	enum type type;
};

struct described_class {
	uint32_t id;
	char name[128];
	struct described_field fields[32];
	size_t nfields;
};

struct mapping {
	uint64_t id;
	const char *label;
};

struct decoder {
	const unsigned char *p;
	size_t n, at;
	bool wire, big;
	struct described_class *classes;
	size_t nclasses;
	struct mapping mappings[256];
	size_t nmappings;
	struct oracle *o;
};

static uint64_t read_number(struct decoder *d, size_t size)
{
	uint64_t v = 0;

	if (size > d->n - d->at) {
		d->o->fault = "cut";
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		v = v << 8 | d->p[d->at + (d->big ? i : size - 1 - i)];
	d->at += size;
	return v;
}

static const char *read_string(struct decoder *d)
{
	const unsigned char *const s = d->p + d->at;
	const unsigned char *const end = memchr(s, 0, d->n - d->at);

	if (end == NULL) {
		d->o->fault = "string without end";
		return "";
	}
	d->at += (size_t)(end - s) + 1;
	return (const char *)s;
}

static enum type type_of(bool wire, uint64_t v)
{
	if (wire)
		return v == 99 ? T_UNSIGNED : v >= 1 && v <= 6 ? (enum type)(v - 1) : T_UNKNOWN;
	return v <= 6 ? (enum type)v : T_UNKNOWN;
}

/* On the wire; the document has no HT_ in front. */
static const char *const builtin_names[] = {
	"HT_EndiannessInfoEvent",
	"HT_Event",
	"HT_EventKlassInfoEvent",
	"HT_EventKlassFieldInfoEvent",
};

static struct described_class *class_by_id(struct decoder *d, uint32_t id)
{
	for (size_t i = 0; i < d->nclasses; i++)
		if (d->classes[i].id == id)
			return &d->classes[i];
	return NULL;
}

static struct described_class *class_by_name(struct decoder *d, const char *name)
{
	for (size_t i = 0; i < d->nclasses; i++)
		if (strcmp(d->classes[i].name, name) == 0)
			return &d->classes[i];
	return NULL;
}

static void count_class(struct oracle *o, const char *name)
{
	size_t i = 0;

	while (i < o->ncounts && strcmp(o->counts[i].name, name) != 0)
		i++;
	if (i == sizeof o->counts / sizeof o->counts[0])
		return;
	if (i == o->ncounts)
		snprintf(o->counts[o->ncounts++].name, sizeof o->counts[i].name, "%s", name);
	o->counts[i].count++;
}

static void read_class_info(struct decoder *d)
{
	const uint32_t id = (uint32_t)read_number(d, 4);
	const char *const name = read_string(d);

	read_number(d, 1);
	if (id <= 3)
		return;
	d->classes = realloc(d->classes, (d->nclasses + 1) * sizeof *d->classes);
	cr_assert_not_null(d->classes);
	d->classes[d->nclasses] = (struct described_class){ .id = id };
	snprintf(d->classes[d->nclasses++].name, sizeof d->classes[0].name, "%s", name);
}

static void read_field_info(struct decoder *d)
{
	const uint32_t id = (uint32_t)read_number(d, 4);
	struct described_class *const c = class_by_id(d, id);
	struct described_field f = { 0 };

	snprintf(f.type_name, sizeof f.type_name, "%s", read_string(d));
	snprintf(f.name, sizeof f.name, "%s", read_string(d));
	f.size = read_number(d, 8);
	f.type = type_of(d->wire, read_number(d, 1));
	if (f.type == T_DOUBLE && f.size == 4)
		f.type = T_FLOAT;
	if (id <= 3)
		return;
	if (c == NULL || c->nfields == sizeof c->fields / sizeof c->fields[0])
		d->o->fault = "field of no class";
	else
		c->fields[c->nfields++] = f;
}

static struct oracle_field read_scalar(struct decoder *d, const struct described_field *f, const char *prefix)
{
	static const enum oracle_kind kinds[] = {
		[T_STRING] = ORACLE_STRING, [T_INTEGER] = ORACLE_SIGNED,  [T_FLOAT] = ORACLE_FLOAT,
		[T_DOUBLE] = ORACLE_DOUBLE, [T_POINTER] = ORACLE_POINTER, [T_UNSIGNED] = ORACLE_UNSIGNED,
	};
	struct oracle_field v = { .kind = kinds[f->type] };

	snprintf(v.key, sizeof v.key, "%s%s", prefix, f->name);
	if (f->type == T_STRING) {
		v.s = read_string(d);
		return v;
	}
	v.u = read_number(d, (size_t)f->size);
	if (f->type == T_INTEGER && f->size < 8 && v.u >> (8 * f->size - 1) != 0)
		v.u |= ~UINT64_C(0) << 8 * f->size;
	if (f->type == T_FLOAT) {
		const uint32_t bits = (uint32_t)v.u;
		float single;

		memcpy(&single, &bits, sizeof single);
		v.d = (double)single;
	} else if (f->type == T_DOUBLE) {
		memcpy(&v.d, &v.u, sizeof v.d);
	}
	return v;
}

static void read_fields(struct decoder *d, const struct described_class *c, struct oracle_event *e,
                        const char *prefix, unsigned depth)
{
	for (size_t i = 0; i < c->nfields && d->o->fault == NULL; i++) {
		const struct described_field *const f = &c->fields[i];
		char inside[200];

		if (f->type == T_STRUCT &&
		    (strcmp(f->type_name, "HT_Event") == 0 || strcmp(f->type_name, "Event") == 0))
			continue; /* the head of the record */
		if (f->type == T_STRUCT) {
			const struct described_class *const inner = class_by_name(d, f->type_name);

			/* Fields of a base have no prefix, members of other structs do. */
			snprintf(inside, sizeof inside, "%s%s%s", prefix,
			         strcmp(f->name, "base") == 0 ? "" : f->name,
			         strcmp(f->name, "base") == 0 ? "" : ".");
			if (inner == NULL || depth > 20)
				d->o->fault = "structure of no class";
			else
				read_fields(d, inner, e, inside, depth + 1);
		} else if (f->type == T_UNKNOWN || f->size > 8 || e->nfields == ORACLE_MAX_FIELDS) {
			d->o->fault = "impossible field";
		} else {
			e->fields[e->nfields++] = read_scalar(d, f, prefix);
		}
	}
}

const struct oracle_field *oracle_find(const struct oracle_event *e, const char *key)
{
	for (size_t i = 0; i < e->nfields; i++)
		if (strcmp(e->fields[i].key, key) == 0)
			return &e->fields[i];
	return NULL;
}

static void add_event(struct oracle *o, const struct oracle_event *e)
{
	if (o->n == o->cap) {
		o->cap = 2 * o->cap + 64;
		o->events = realloc(o->events, o->cap * sizeof *o->events);
		cr_assert_not_null(o->events);
	}
	o->events[o->n++] = *e;
}

static void read_described(struct decoder *d, uint32_t id, struct oracle_event *e)
{
	const struct described_class *const c = class_by_id(d, id);

	if (c == NULL) {
		d->o->fault = "unknown class";
		return;
	}
	count_class(d->o, c->name);
	read_fields(d, c, e, "", 0);
	if (strcmp(c->name, "HT_StringMappingEvent") == 0 && e->nfields == 2) {
		cr_assert_lt(d->nmappings, sizeof d->mappings / sizeof d->mappings[0]);
		d->mappings[d->nmappings++] = (struct mapping){ e->fields[0].u, e->fields[1].s };
	} else if (strcmp(c->name, "HT_SystemInfoEvent") != 0) {
		/* Copied: the next concatenated file drops all classes. */
		snprintf(e->name, sizeof e->name, "%s", c->name);
		add_event(d->o, e);
	}
}

static void read_record(struct decoder *d)
{
	struct oracle_event e = { .offset = d->at };
	uint32_t id;

	if (d->wire) {
		id = (uint32_t)read_number(d, 4);
		e.ts = read_number(d, 8);
		e.id = read_number(d, 8);
	} else {
		e.ts = read_number(d, 8);
		e.id = read_number(d, 8);
		id = (uint32_t)read_number(d, 4);
	}
	d->o->records++;
	if (id <= 3)
		count_class(d->o, builtin_names[id] + (d->wire ? 0 : strlen("HT_")));
	if (id == 0) {
		d->big = read_number(d, 1) != 0;
		d->nclasses = 0; /* a concatenated file */
	} else if (id == 2) {
		read_class_info(d);
	} else if (id == 3) {
		read_field_info(d);
	} else if (id != 1) {
		read_described(d, id, &e);
	}
}

static void name_event(const struct decoder *d, struct oracle_event *e)
{
	const struct oracle_field *const label = oracle_find(e, "label"), *const name =
	                                                                      oracle_find(e, "name");
	const struct oracle_field *const duration = oracle_find(e, "duration"), *const thread = oracle_find(
	                                                                            e, "thread_id");

	e->span = duration != NULL;
	e->dur = duration != NULL ? duration->u : 0;
	e->tid = thread != NULL ? thread->u : 0;
	if (label != NULL && label->kind == ORACLE_STRING) {
		snprintf(e->name, sizeof e->name, "%s", label->s);
		e->named_by = label;
	} else if (label != NULL && (label->kind == ORACLE_UNSIGNED || label->kind == ORACLE_SIGNED ||
	                             label->kind == ORACLE_POINTER)) {
		if (label->kind == ORACLE_SIGNED)
			snprintf(e->name, sizeof e->name, "%" PRId64, (int64_t)label->u);
		else
			snprintf(e->name, sizeof e->name, "%" PRIu64, label->u);
		e->named_by = label;
		for (size_t i = 0; i < d->nmappings; i++)
			if (d->mappings[i].id == label->u)
				snprintf(e->name, sizeof e->name, "%s", d->mappings[i].label);
	} else if (name != NULL && name->kind == ORACLE_STRING) {
		snprintf(e->name, sizeof e->name, "%s", name->s);
		e->named_by = name;
	}
}

void oracle_decode(struct oracle *o, const unsigned char *p, size_t n)
{
	struct decoder *const d = calloc(1, sizeof *d);

	cr_assert_not_null(d);
	*o = (struct oracle){ 0 };
	d->p = p;
	d->n = n;
	d->o = o;
	/* The class id of the second record, a class info (2), is at different offsets in the two layouts. */
	d->wire = n < 41 || !(p[37] + p[38] + p[39] + p[40] == 2 && memcmp(p + 16, "\0\0\0", 4) == 0 &&
	                      p[21] + p[22] + p[23] + p[24] != 2);
	o->id_key = d->wire ? "id" : "event_id";
	while (d->at < n && o->fault == NULL)
		read_record(d);
	for (size_t i = 0; i < o->n; i++)
		name_event(d, &o->events[i]);
	free(d->classes);
	free(d);
}

void oracle_free(struct oracle *o)
{
	free(o->events);
	*o = (struct oracle){ 0 };
}

static void agree_with_expected(const char *dir, const cJSON *want, const char *text)
{
	struct oracle o;
	char path[1024];
	uint64_t spans = 0, sum = 0, first = UINT64_MAX;
	size_t n;

	(void)text;
	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	char *const p = read_whole(path, &n);
	cr_assert_not_null(p, "%s", path);
	oracle_decode(&o, (const unsigned char *)p, n);
	cr_expect_null(o.fault, "%s: %s", path, o.fault);
	for (size_t i = 0; i < o.n; i++)
		if (o.events[i].span) {
			spans++;
			sum += o.events[i].dur;
			first = o.events[i].ts < first ? o.events[i].ts : first;
		}
	cr_expect_eq(spans, (uint64_t)cJSON_GetObjectItem(want, "events")->valuedouble, "%s", path);
	cr_expect_eq(sum, (uint64_t)cJSON_GetObjectItem(want, "dur_sum_ns")->valuedouble, "%s", path);
	if (spans > 0)
		cr_expect_eq(first, (uint64_t)cJSON_GetObjectItem(want, "first_ns")->valuedouble, "%s", path);
	for (size_t i = 0; i < o.ncounts; i++) {
		const cJSON *const c =
		    cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItem(want, "classes"), o.counts[i].name);

		cr_expect(c != NULL && (uint64_t)c->valuedouble == o.counts[i].count, "%s: %s", path,
		          o.counts[i].name);
	}
	oracle_free(&o);
	free(p);
}

/* EXPECTED.json is from another independent reader. */
Test(htdump_oracle, agrees_with_expected)
{
	cr_expect_gt(each_expected(real_traces(), "htdump/", agree_with_expected), 0);
}

Test(htdump_oracle, reads_all_good_samples)
{
	char **const names = list_folder("testdata/htdump/good", ".htdump");

	cr_expect_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		struct oracle o;
		char path[1024];
		size_t n;

		snprintf(path, sizeof path, "testdata/htdump/good/%s", names[i]);
		char *const p = read_whole(path, &n);
		cr_assert_not_null(p);
		oracle_decode(&o, (const unsigned char *)p, n);
		cr_expect_null(o.fault, "%s: %s", path, o.fault);
		oracle_free(&o);
		free(p);
	}
	list_free(names);
}

/* Limits of the oracle, which uses 20 KiB per event and 32 fields per class. */
#define MANY_FIELDS "many-"
#define MAX_DECODED (512U << 10) /* bytes */

static void expect_decoded(const char *path, const char *p, size_t n)
{
	struct oracle o;

	if (n > MAX_DECODED || strstr(path, MANY_FIELDS) != NULL)
		return;
	oracle_decode(&o, (const unsigned char *)p, n);
	cr_expect_null(o.fault, "%s: %s", path, o.fault);
	for (size_t i = 1; i < o.n; i++)
		cr_expect_gt(o.events[i].id, o.events[i - 1].id, "%s: event id %" PRIu64, path,
		             o.events[i].id);
	oracle_free(&o);
}

/* Traces of all formats, written as .htdump. */
Test(htdump_oracle, reads_written_traces)
{
	each_written("htdump", NULL, expect_decoded);
}

/* Inputs too large for samples: made here, sent down a pipe. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "htdump/test/build.h"
#include "cmd/test/cli_test_util.h"

/* Findings of this rule, when there are no others but notes; -1: there are others. */
static int only_rule(const struct ran *r, const char *rule)
{
	cJSON *const report = cJSON_Parse(r->out);
	const cJSON *const file = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "files"), 0),
	                   *f;
	int n = 0;

	cr_assert_not_null(file, "no report: %.200s", r->err);
	cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(file, "findings"))
	{
		const char *const id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "rule"));
		const char *const level = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "level"));

		cr_assert(id != NULL && level != NULL);
		if (strcmp(id, rule) == 0)
			n += n >= 0;
		else if (strcmp(level, "note") != 0)
			n = -1;
	}
	cJSON_Delete(report);
	return n;
}

static void expect_rule(struct ht_build *b, const char *rule, int status)
{
	const char *const args[] = { "validate", "--format", "json", "-", NULL };
	struct ran r = run_tool(args, b->p, b->n);

	cr_expect_eq(r.status, status, "%s: exit status %d: %.500s", rule, r.status, r.err);
	cr_expect_geq(only_rule(&r, rule), 1, "%s: %.1000s", rule, r.out);
	ran_free(&r);
	ht_free(b);
}

Test(htdump_limits, too_many_classes)
{
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i <= 65536; i++)
		ht_class(&b, 100 + i, "Class", 0);
	expect_rule(&b, "htdump/limit", 1);
}

Test(htdump_limits, too_many_fields)
{
	const struct ht_field_desc byte = { "x", "x", 1, HT_UNSIGNED };
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i <= (1u << 18) / 250; i++) {
		ht_class(&b, 100 + i, "Class", 250);
		for (unsigned k = 0; k < 250; k++)
			ht_field(&b, 100 + i, byte);
	}
	expect_rule(&b, "htdump/limit", 1);
}

Test(htdump_limits, too_many_threads)
{
	struct ht_build b;

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i < 132000; i++)
		ht_span(&b, i, 1, 7 * i, "x");

	/* Validation does not distinguish threads. */
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "chrome", "-", "-", NULL }, b.p, b.n);
	cr_expect_eq(r.status, 0, "exit status %d", r.status);
	cr_expect_not_null(strstr(r.err, "htdump/thread-limit"), "%.500s", r.err);
	ran_free(&r);
	ht_free(&b);
}

/* Each class holds the one before twice: the event of the last would be 2^40 bytes long. */
Test(htdump_limits, structures_that_double)
{
	const char *const args[] = { "validate", "--format", "json", "-", NULL };
	struct ht_build b;
	char name[16] = "C0", inner[16];

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_describe(&b, 100, name, NULL, &(struct ht_field_desc){ "uint8_t", "x", 1, HT_UNSIGNED }, 1);
	for (uint32_t i = 1; i <= 40; i++) {
		snprintf(inner, sizeof inner, "C%u", i - 1);
		snprintf(name, sizeof name, "C%u", i);
		const struct ht_field_desc both[] = { { inner, "a", 1, HT_STRUCT },
			                              { inner, "b", 1, HT_STRUCT } };
		ht_describe(&b, 100 + i, name, NULL, both, 2);
	}
	ht_event(&b, 140, 5);
	for (unsigned i = 0; i < 100; i++)
		ht_u64(&b, 0);
	struct ran r = run_tool(args, b.p, b.n);
	cr_expect_eq(r.status, 1, "exit status %d: %.500s", r.status, r.err);
	ran_free(&r);
	ht_free(&b);
}

/* A base behind a base behind a base: deep, but finite. */
Test(htdump_limits, deep_inheritance)
{
	const char *const args[] = { "validate", "--format", "json", "-", NULL };
	struct ht_build b;
	char name[16] = "", base[16];

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(base, sizeof base, "%s", name);
		snprintf(name, sizeof name, "D%u", i);
		ht_describe(&b, 100 + i, name, i == 0 ? NULL : base, NULL, 0);
	}
	ht_event(&b, 100 + 19999, 5);
	struct ran r = run_tool(args, b.p, b.n);
	cr_expect(r.status == 0 || r.status == 1, "exit status %d: %.500s", r.status, r.err);
	ran_free(&r);
	ht_free(&b);
}

static uint64_t rows_read(struct ht_build *b)
{
	const char *const args[] = { "stats", "--format", "json", "-", NULL };
	struct ran r = run_tool(args, b->p, b->n);
	cJSON *const report = cJSON_Parse(r.out);
	const cJSON *const input = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	const double n = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(input, "events"));

	cr_expect_eq(r.status, 0, "exit status %d: %.500s", r.status, r.err);
	cJSON_Delete(report);
	ran_free(&r);
	return (uint64_t)n;
}

/* Converts under a bound of memory; 0: without one. */
static void converts_within(const struct ht_build *b, unsigned kib)
{
	char command[200];

	snprintf(command, sizeof command, "%s ulimit -v %u; \"$0\" convert --to chrome - - > /dev/null",
	         kib == 0 ? ":" : "", kib);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, b->p, b->n);
	cr_expect(r.status == 0 || r.status == 1, "exit status %d: %.500s", r.status, r.err);
	ran_free(&r);
}

/* Address sanitizers reserve far more than any bound. */
#if defined(__SANITIZE_ADDRESS__)
#define NO_BOUND 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_BOUND 1
#endif
#endif

/* Small files whose events have many fields, whose labels change for ever, and whose classes are described
 * again for ever. */
Test(host_memory, htdump_stays_small)
{
	struct ht_field_desc fields[250];
	char names[250][8], name[16];
	struct ht_build b;

	for (unsigned i = 0; i < 250; i++) {
		snprintf(names[i], sizeof names[i], "f%u", i);
		fields[i] = (struct ht_field_desc){ "uint8_t", names[i], 1, HT_UNSIGNED };
	}
#ifdef NO_BOUND
	const uint32_t times = 1000, bound = 0;
#else
	const uint32_t times = 60000, bound = 160 << 10;
#endif
	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_describe(&b, 100, "Leaf", NULL, fields, 250);
	for (uint32_t i = 0; i < 40; i++)
		fields[i] = (struct ht_field_desc){ "Leaf", names[i], 250, HT_STRUCT };
	ht_describe(&b, 101, "Wide", NULL, fields, 40);
	for (uint32_t i = 0; i < 2000; i++) {
		static const char zeros[250 * 40];
		ht_event(&b, 101, i);
		ht_bytes(&b, zeros, sizeof zeros);
	}
	cr_expect_eq(rows_read(&b), 2000);
	converts_within(&b, bound);
	ht_free(&b);

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	for (unsigned i = 0; i < 250; i++) /* without bytes */
		fields[i] = (struct ht_field_desc){ "x", names[i], 0, HT_UNSIGNED };
	ht_class(&b, 100, "Leaf", 250);
	for (unsigned i = 0; i < 250; i++)
		ht_field_raw(&b, 100, fields[i], 77);
	for (uint32_t i = 0; i < times; i++) {
		snprintf(name, sizeof name, "N%u", i);
		ht_endianness(&b);
		ht_describe(&b, 101, name, "Leaf", NULL, 0);
		ht_event(&b, 101, i);
		ht_mapping(&b, 1, i % 2 == 0 ? "" : "a");
	}
	converts_within(&b, bound);
	ht_free(&b);
}

/* Events of all types of fields, side by side: their ends are found, and what is odd in them. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dial9/test/build.h"
#include "dial9/dial9.h"
#include "dial9/test/run_test.h"
#include "input/open.h"

static const unsigned types[] = {
	D9T_I64,   D9T_F64,    D9T_BOOL, D9T_STRING, D9T_BYTES, D9T_POOLED_STACK, D9T_POOLED_STRING,
	D9T_STACK, D9T_VARINT, D9T_U8,   D9T_U16,    D9T_U32,   D9T_STRING_MAP,   D9T_LIST,
};
#define TYPES (sizeof types / sizeof types[0])
#define KINDS (2 * TYPES) /* optional ones too */
#define ROUNDS 6U

static unsigned kind(size_t i)
{
	return types[i % TYPES] | (i % KINDS >= TYPES ? D9T_OPTIONAL : 0);
}

/* The three fields of the i-th schema: all pairs of kinds come first and second. */
static void fields_of(size_t i, struct d9_field_desc *f)
{
	f[0] = (struct d9_field_desc){ "a", kind(i / KINDS) };
	f[1] = (struct d9_field_desc){ "b", kind(i) };
	f[2] = (struct d9_field_desc){ "c", kind(i / KINDS + i) };
}

/* What stands in the fields of one trace. */
struct content {
	uint8_t boolean;
	uint32_t id;
	uint64_t booleans; /* how many there are */
};

static void put(struct d9_build *b, unsigned type, unsigned round, struct content *c)
{
	static const uint64_t numbers[ROUNDS] = { 0, 127, 128, 16384, UINT64_C(1) << 60, UINT64_MAX };
	static const char *const texts[ROUNDS] = { "",         "x",        "seven b",
		                                   "eight by", "\xc3\xa9", "sixteen and more" };
	const bool optional = (type & D9T_OPTIONAL) != 0, absent = optional && round % 3 == 1;

	type &= ~(unsigned)D9T_OPTIONAL;
	if (optional)
		d9b_u8(b, !absent);
	if (absent)
		return;
	c->booleans += type == D9T_BOOL;
	if (type == D9T_BOOL)
		d9b_u8(b, c->boolean);
	else if (type == D9T_POOLED_STACK || type == D9T_POOLED_STRING)
		d9b_u32(b, c->id);
	else if (type == D9T_I64 || type == D9T_F64)
		d9b_u64(b, numbers[round]);
	else if (type == D9T_VARINT)
		d9b_varint(b, numbers[round]);
	else if (type == D9T_U8)
		d9b_u8(b, (uint8_t)(round * 50));
	else if (type == D9T_U16)
		d9b_u16(b, (uint16_t)(round * 13000));
	else if (type == D9T_U32)
		d9b_u32(b, round * 800000000U);
	else if (type == D9T_STRING || type == D9T_BYTES)
		d9b_text32(b, texts[round]);
	else
		d9b_u32(b, 0); /* an empty run or map */
}

static uint64_t count_of(const struct d9t_run *t, enum d9_rule rule)
{
	return findings_count(&t->findings, &d9_rules[rule]);
}

/* What is reported of Bool values. */
static void note_bools(void *ctx, const struct findings *j, const struct finding *f)
{
	(void)j;
	if (f->rule == &d9_rules[D9_RULE_BOOL_VALUE])
		snprintf(ctx, 200, "%s", f->message);
}

/* Reads a trace of all pairs, and compares what was counted. */
static void expect_all(struct content c, bool odd)
{
	struct d9_build b;
	struct d9_field_desc f[3];
	struct d9t_run t;
	char name[32], all[40], bools[200] = "";

	d9b_init(&b);
	d9b_header(&b);
	d9b_string(&b, 1, "one");
	d9b_stack(&b, 1, &(uint64_t){ 4096 }, 1);
	for (size_t i = 0; i < KINDS * KINDS; i++) {
		snprintf(name, sizeof name, "E%zu", i);
		fields_of(i, f);
		d9b_schema(&b, (uint16_t)i, name, i % 7 != 3, f, 3);
	}
	for (unsigned round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < KINDS * KINDS; i++) {
			fields_of(i, f);
			if (i % 7 != 3)
				d9b_event_delta(&b, (uint16_t)i, round);
			else
				d9b_untimed(&b, (uint16_t)i);
			for (unsigned k = 0; k < 3; k++)
				put(&b, f[k].type, (round + k) % ROUNDS, &c);
		}
	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT_FINDINGS);
	t.findings.sink = note_bools;
	t.findings.ctx = bools;
	d9t_read(&t, 100000);
	cr_expect_eq(t.status, READ_END);
	cr_expect_eq(t.trace.events, ROUNDS * KINDS * KINDS);
	cr_expect_eq(t.r.records, 3 + (ROUNDS + 1) * KINDS * KINDS);
	snprintf(all, sizeof all, "; %" PRIu64 " in all", c.booleans);
	cr_expect_eq(strstr(bools, all) != NULL, odd, "%s", bools);
	cr_expect_eq(t.findings.levels[LEVEL_ERROR], odd);
	cr_expect_eq(count_of(&t, D9_RULE_UNDEFINED_STRING), odd);
	cr_expect_eq(count_of(&t, D9_RULE_UNDEFINED_STACK), odd);
	d9t_free(&t);
	d9b_free(&b);
}

Test(dial9_measure, all_pairs_of_types)
{
	expect_all((struct content){ .boolean = 1, .id = 1 }, false);
}

Test(dial9_measure, what_is_odd_is_reported_in_all_of_them)
{
	expect_all((struct content){ .boolean = 2, .id = 99 }, true);
}

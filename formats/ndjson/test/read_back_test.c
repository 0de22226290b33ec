/* The lines that the writer makes of samples, real traces and random events are parsed and compared with
 * them. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/samples_test_util.h"
#include "model/test/lane_track_test.h"
#include "model/trace_engine.h"
#include "ndjson/test/agree_test.h"
#include "ndjson/test/made_test.h"
#include "test/support/splitmix.h"
#include "test/support/strength.h"

/* ---- inputs ---- */

static void agree_both(const char *path, void *ctx)
{
	size_t *const n = ctx;

	agree_input(path, false, NULL);
	agree_input(path, true, NULL);
	*n += 1;
}

Test(ndjson_inputs, samples_read_back)
{
	size_t n = 0;

	agree_samples(agree_both, &n);
	cr_expect_gt(n, strength(25, 150, 150));
}

/* files, folders: paths below the folder of real traces, as arguments of the shell. */
static void expect_read_back(const char *files, const char *folders)
{
	const char *const dir = real_traces();
	char find[300];

	snprintf(find, sizeof find,
	         "cd \"$0\" && { find %s -type f -size -%luk ! -name '*.json'; "
	         "find %s -mindepth 1 -maxdepth 1 -type d; } | sort",
	         files, strength(300, 1 << 30, 1 << 30), folders);
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, dir, NULL }, NULL, 0);
	size_t n = 0;

	cr_assert_eq(r.status, 0, "%s", r.err);
	for (char *name = strtok(r.out, "\n"); name != NULL; name = strtok(NULL, "\n")) {
		char path[1024];
		snprintf(path, sizeof path, "%s/%s", dir, name);
		if (strength_takes(name, 3))
			agree_both(path, &n);
	}
	cr_expect_gt(n, strength(0, 1, 1));
	ran_free(&r);
}

Test(ndjson_inputs, real_traces_read_back)
{
	expect_read_back("htdump heph dftracer", "ovni/good ovni/bad ovni/state");
}

Test(ndjson_inputs, real_traces_of_dial9_read_back)
{
	expect_read_back("dial9 next/dial9", "dial9");
}

/* ---- random events ---- */

/* Events that readers never or seldom return. */

static uint64_t any(struct made *r, uint64_t below)
{
	return splitmix_next(&r->state) % below;
}

static struct slice any_text(struct made *r)
{
	static const char *const texts[] = {
		"",     "a",           "b",    "name",         "NaN",   "0x10", "$u8",
		"$",    "caf\xc3\xa9", "\xe9", "\\",           "\\xe9", "\"",   "\n\x01",
		"\xff", "ab\xe2\x82",  "-1",   "\xed\xa0\x80", "12",    "\x7f"
	};
	const uint64_t i = any(r, 22);

	if (i == 20)
		return slice_of("nul\0nul", 7);
	if (i == 21) {
		char *const p = arena_alloc(&r->trace.arena, 64);
		const uint32_t n = (uint32_t)any(r, 64);
		cr_assert_not_null(p);
		for (uint32_t k = 0; k < n; k++)
			p[k] = (char)any(r, any(r, 2) == 0 ? 256 : 128);
		return textscan_slice(p, n);
	}
	return any(r, 2) == 0 ? slice_str(texts[i]) : textscan_slice(texts[i], (uint32_t)strlen(texts[i]));
}

static int64_t any_integer(struct made *r, unsigned bits)
{
	const uint64_t v = splitmix_next(&r->state);

	switch (any(r, 4)) {
	case 0:
		return 0;
	case 1:
		return -1;
	case 2:
		return (int64_t)(UINT64_C(1) << (bits - 1));
	default:
		return (int64_t)(v >> any(r, 64));
	}
}

static double any_double(struct made *r)
{
	static const uint64_t odd[] = { 0,
		                        UINT64_C(0x8000000000000000),
		                        UINT64_C(0x7ff8000000000000),
		                        UINT64_C(0xfff8000000000000),
		                        UINT64_C(0x7ff8000000000001),
		                        UINT64_C(0x7ff0000000000000),
		                        UINT64_C(0xfff0000000000000),
		                        1,
		                        UINT64_C(0x4340000000000000) };
	const uint64_t i = any(r, 12);
	const uint64_t bits = i < 9 ? odd[i] : splitmix_next(&r->state);
	double v;

	memcpy(&v, &bits, sizeof v);
	return i == 11 ? (double)any(r, 1000) / 8 : v;
}

static struct value any_value(struct made *r, enum value_type type, unsigned depth);

static enum value_type any_type(struct made *r, unsigned depth)
{
	const enum value_type type = (enum value_type)any(r, VALUE_JSON + 1);

	return depth > 3 && (type == VALUE_LIST || type == VALUE_MAP) ? VALUE_NONE : type;
}

static struct value any_list(struct made *r, enum value_type type, unsigned depth)
{
	const uint32_t n = (uint32_t)any(r, any(r, 8) == 0 ? 40 : 4);
	const size_t all = (size_t)n << (type == VALUE_MAP);
	struct value *const values = arena_alloc(&r->trace.arena, all * sizeof *values);
	const enum value_type one = any_type(r, depth + 1);
	const bool same = type == VALUE_LIST && any(r, 2) == 0;
	const bool text_keys = any(r, 2) == 0;

	cr_assert_not_null(values);
	for (size_t i = 0; i < all; i++)
		values[i] = any_value(r,
		                      same                                           ? one
		                      : type == VALUE_MAP && i % 2 == 0 && text_keys ? VALUE_STRING
		                                                                     : any_type(r, depth + 1),
		                      depth + 1);
	return (struct value){ .type = (uint8_t)type,
		               .element = same && any(r, 2) == 0 ? (uint8_t)one : VALUE_NONE,
		               .count = n,
		               .values = values };
}

static struct value any_value(struct made *r, enum value_type type, unsigned depth)
{
	static const char *const json[] = { "1",           "-0",      "1.50",
		                            "\"\\u20ac\"", "null",    "{\"a\" : [ ]}",
		                            " true",       "[1,\n2]", "{}",
		                            "[[1]]",       "\"x\"  ", "1e5" };
	static const unsigned widths[] = {
		[VALUE_U8] = 8, [VALUE_U16] = 16, [VALUE_U32] = 32, [VALUE_U64] = 64,
		[VALUE_I8] = 8, [VALUE_I16] = 16, [VALUE_I32] = 32, [VALUE_I64] = 64
	};
	const struct slice text = any_text(r);

	switch (type) {
	case VALUE_NONE:
		return made_integer(type, 0);
	case VALUE_BOOL:
		return made_integer(type, (int64_t)any(r, 2));
	case VALUE_ADDRESS:
		return made_integer(type, any_integer(r, 64));
	case VALUE_F32:
		return made_number(type, (double)(float)any_double(r));
	case VALUE_F64:
		return made_number(type, any_double(r));
	case VALUE_STRING:
		return value_string(text);
	case VALUE_BYTES:
		return made_bytes(type, text.p, text.n);
	case VALUE_JSON: {
		const char *const p = json[any(r, sizeof json / sizeof *json)];
		return made_bytes(type, p, strlen(p));
	}
	case VALUE_LIST:
	case VALUE_MAP:
		return any_list(r, type, depth);
	default: {
		const int64_t v = any_integer(r, widths[type]);
		const unsigned cut = 64 - widths[type];
		return type <= VALUE_U64 ? made_integer(type, (int64_t)((uint64_t)v << cut >> cut))
		                         : made_integer(type, (int64_t)((uint64_t)v << cut) >> cut);
	}
	}
}

static void any_class(struct made *r)
{
	char name[32];

	snprintf(name, sizeof name, "class %" PRIu64 "%s", any(r, 1000000), any(r, 8) == 0 ? "\xff" : "");
	r->cls = trace_add_class(&r->trace, slice_str(name));
	cr_assert_not_null(r->cls);
	r->cls->category = any(r, 2) == 0 ? r->cls->name : any_text(r);
	for (uint64_t n = r->cls->nfields == 0 ? any(r, 8) : 0; n > 0; n--) {
		const struct slice text = any_text(r);
		char *const copy = arena_zalloc(&r->trace.arena, text.n + 1, 1);
		cr_assert_not_null(copy);
		memcpy(copy, text.p, text.n);
		made_declare(r, copy, (enum value_type)any(r, VALUE_JSON + 1));
	}
}

static void any_track(struct made *r)
{
	struct track *k = NULL;

	if (any(r, 4) == 0) {
		k = trace_add_process(&r->trace, any_text(r));
		r->process = k;
	} else if (any(r, 3) > 0) {
		k = trace_add_thread(&r->trace, r->process, 0, any_text(r));
	}
	if (k != NULL) {
		k->has_id = any(r, 2) == 0;
		k->id = (uint64_t)any_integer(r, 64);
		r->track = k;
	} else {
		r->track = any(r, 2) == 0 ? trace_child_track(&r->trace, r->track, any_text(r))
		                          : trace_lane(&r->trace, r->track, (uint16_t)(1 + any(r, 3)));
	}
	cr_assert_not_null(r->track);
}

/* Returns a name that the class declares, usually. */
static struct slice any_name(struct made *r)
{
	static const char *const plain[] = { "one", "two", "three", "four", "five", "six", "seven", "eight" };
	char name[24];

	if (r->cls->nfields > 0 && any(r, 3) > 0)
		return r->cls->fields[any(r, r->cls->nfields)].name;
	if (any(r, 3) > 0)
		return slice_str(plain[any(r, 8)]);
	if (any(r, 3) > 0)
		return any_text(r);
	snprintf(name, sizeof name, "name %" PRIu64, any(r, 100));
	return arena_copy(&r->trace.arena, slice_str(name));
}

static void any_event(struct made *r)
{
	struct event *const e = made_event(r, (enum phase)any(r, PHASE_STRUCTURE + 1), "");
	const uint64_t n = any(r, 16) == 0 ? any(r, 400) : any(r, 6);

	e->name = any_text(r);
	e->ts = (uint64_t)any_integer(r, 64);
	e->dur = (uint64_t)any_integer(r, 64);
	e->offset = (uint64_t)any_integer(r, 64);
	e->flags = (uint8_t)any(r, 4);
	if (e->phase == PHASE_STRUCTURE && any(r, 2) == 0)
		e->track = NULL;
	for (uint64_t i = 0; i < n; i++) {
		const struct slice name = any_name(r);
		struct value v = any_value(r, any_type(r, 0), 0);
		for (uint32_t k = 0; k < r->cls->nfields && any(r, 2) == 0; k++)
			if (slice_equal(r->cls->fields[k].name, name))
				v = any_value(r, (enum value_type)r->cls->fields[k].value, 0);
		made_field(r, name, v);
	}
}

/* Makes a random trace, and compares its lines with it. */
static void make_lines(struct made *r, uint64_t seed, struct run_facts run)
{
	made_begin(r, run);
	r->state = seed;
	for (int batch = 0; batch < 8; batch++) {
		for (int i = 0; i < 40; i++) {
			if (any(r, 5) == 0)
				any_class(r);
			if (any(r, 5) == 0)
				any_track(r);
			any_event(r);
		}
		made_render(r);
	}
	for (int i = 0; i < 20; i++) {
		struct value v = any_value(r, any_type(r, 0), 0);
		cr_assert(trace_add_meta(&r->trace, any_text(r), v));
	}
	agree_end(&r->g);
}

Test(ndjson_random, reads_back)
{
	for (int round = 0; round < 60; round++) {
		struct made r;
		make_lines(&r, 1000 + (uint64_t)round,
		           (struct run_facts){
		               .raw = round % 2 == 0, .signed_time = round % 3 == 0, .rebased = true });
		made_free(&r);
	}
}

/* ---- copies of copies ---- */

/* Runs a command that writes `to` and may find errors, then a copy of it, which is the same. */
static void expect_same_copy(const char *dir, uint64_t seed, const char *command)
{
	char shell[1024];

	snprintf(shell, sizeof shell,
	         "a=$1/a.ndjson b=$1/b.ndjson c=$1/c.ndjson; rm -f $b $c; { $0 %s >$1/out 2>&1 || [ $? = 1 "
	         "]; } && "
	         "[ -s $b ] && $0 convert -q --verify $b $c && cmp $b $c",
	         command);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", shell, tool_path(), dir, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "seed %" PRIu64 ": %s: status %d: %s%s", seed, command, r.status, r.out,
	             r.err);
	ran_free(&r);
}

/* The same for selections, and for merged traces with equal classes. */
Test(ndjson_random, copies_of_copies_are_the_same)
{
	static const char *const commands[] = {
		"convert -q $a $b",
		"convert -q --track '*a*' $a $b",
		"convert -q --since 30% --until 60% $a $b",
		"convert -q --min-dur 1us --edges keep --until 60% $a $b",
		"convert -q --rebase $a $b",
		"merge -q --align none -o $b $a $a",
		"merge -q --align none --since 10% --until 60% -o $b $a $a",
	};
	const uint64_t first = test_seed(2000);
	char *const dir = make_folder();
	char path[600];

	snprintf(path, sizeof path, "%s/a.ndjson", dir);
	for (uint64_t seed = first; seed < first + strength(2, 40, 400); seed++) {
		struct made r;
		make_lines(&r, seed, (struct run_facts){ .signed_time = seed % 2 == 0 });
		cr_assert(write_whole(path, r.lines.p, r.lines.n));
		made_free(&r);
		for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
			expect_same_copy(dir, seed, commands[i]);
	}
	remove_folder(dir);
}

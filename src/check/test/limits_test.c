/*
 * "A limit of ours is never called an error of the file": records that the specifications allow, and that are
 * larger than --max-record.  They are made here, as they are too large for samples.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "dial9/test/build.h"
#include "heph/test/build.h"
#include "htdump/test/build.h"

#define LONG (5U << 20) /* bytes of a text */

/* A trace with one long record. */
struct trace {
	const char *name; /* of its file */
	char *p;
	size_t n;
	size_t at;        /* offset of the record */
	const char *size; /* of the record, as messages print it; NULL: messages print none */
	bool ends;        /* nothing after the record can be read without it */
};

static char *long_text(void)
{
	char *const s = malloc(LONG + 1);

	cr_assert_not_null(s);
	memset(s, 'x', LONG);
	s[LONG] = '\0';
	return s;
}

/* ---- traces ---- */

/* Five arrays of as many numbers as an array can have. */
static struct trace heph_packet(void)
{
	struct heph_build b;
	char name[8];

	heph_init(&b);
	heph_plain(&b, 1, 1, 2);
	const size_t at = b.n;
	heph_event(&b, 1, 1, 3, 4, "arrays");
	for (unsigned i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "a%u", i);
		heph_attribute(&b, name, 0x81);
		heph_u16(&b, UINT16_MAX);
		for (unsigned k = 0; k < UINT16_MAX; k++)
			heph_u64(&b, k);
	}
	heph_end(&b);
	heph_plain(&b, 1, 5, 6);
	return (struct trace){ "long.bin.log", (char *)b.p, b.n, at, "2621483 bytes", false };
}

static struct trace dial9_string(void)
{
	static const struct d9_field_desc fields[] = { { "text", D9T_STRING }, { "number", D9T_VARINT } };
	char *const s = long_text();
	struct d9_build b;
	size_t at = 0;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Text", true, fields, 2);
	for (uint64_t i = 1; i <= 3; i++) {
		at = i == 2 ? b.n : at;
		d9b_event(&b, 1, 1000 * i);
		d9b_text32(&b, i == 2 ? s : "short");
		d9b_varint(&b, i);
	}
	free(s);
	return (struct trace){ "long.bin", (char *)b.p, b.n, at, "5242891 bytes", false };
}

/* With optional values, a map and nested lists around the text. */
static struct trace dial9_values(void)
{
	static const struct d9_field_desc fields[] = { { "none", D9T_U32 | 0x80 },
		                                       { "map", D9T_MAP },
		                                       { "list", D9T_LIST },
		                                       { "number", D9T_VARINT | 0x80 } };
	static char size[40];
	char *const s = long_text();
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Values", true, fields, 4);
	const size_t at = b.n;
	d9b_event(&b, 1, 1000);
	d9b_u8(&b, 0);
	d9b_u32(&b, 1);
	d9b_u8(&b, D9T_VARINT);
	d9b_varint(&b, UINT64_MAX);
	d9b_u8(&b, D9T_LIST);
	d9b_u32(&b, 0);
	d9b_u32(&b, 3);
	d9b_u8(&b, D9T_LIST);
	d9b_u32(&b, 1);
	d9b_u8(&b, D9T_STRING);
	d9b_text32(&b, s);
	d9b_u8(&b, D9T_BOOL);
	d9b_u8(&b, 1);
	d9b_u8(&b, D9T_F64);
	d9b_u64(&b, 0);
	d9b_u8(&b, 1);
	d9b_varint(&b, 300);
	const size_t n = b.n - at;
	for (unsigned i = 0; i < 2; i++) {
		d9b_event(&b, 1, 2000 + i);
		d9b_u8(&b, 0);
		d9b_u32(&b, 0);
		d9b_u32(&b, 0);
		d9b_u8(&b, 0);
	}
	free(s);
	snprintf(size, sizeof size, "%zu bytes", n);
	return (struct trace){ "long.bin", (char *)b.p, b.n, at, size, false };
}

static struct trace dial9_pool(uint8_t which)
{
	static const struct d9_field_desc fields[] = { { "text", D9T_POOLED_STRING } };
	char *const s = long_text();
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Pooled", true, fields, 1);
	d9b_strings(&b, 3);
	size_t at = b.n - 5; /* the first entry begins with the frame */
	for (uint32_t i = 0; i < 3; i++) {
		at = i == which && i > 0 ? b.n : at;
		d9b_u32(&b, i);
		d9b_text32(&b, i == which ? s : "short");
	}
	for (uint32_t i = 0; i < 3; i++) {
		d9b_event(&b, 1, 1000 + i);
		d9b_u32(&b, i);
	}
	free(s);
	return (struct trace){
		"long.bin", (char *)b.p, b.n, at, which == 0 ? "5242893 bytes" : "5242888 bytes", false
	};
}

/* As many fields as a schema can have, with names of 64 bytes. */
static struct trace dial9_schema(void)
{
	static struct d9_field_desc fields[UINT16_MAX];
	char *const names = malloc(UINT16_MAX * 65UL);
	struct d9_build b;

	cr_assert_not_null(names);
	for (unsigned i = 0; i < UINT16_MAX; i++) {
		snprintf(names + 65UL * i, 65, "%064u", i);
		fields[i] = (struct d9_field_desc){ names + 65UL * i, D9T_U8 };
	}
	d9b_init(&b);
	d9b_header(&b);
	const size_t at = b.n;
	d9b_schema(&b, 1, "Wide", true, fields, UINT16_MAX);
	d9b_event(&b, 1, 1000);
	for (unsigned i = 0; i < UINT16_MAX; i++)
		d9b_u8(&b, (uint8_t)i);
	free(names);
	return (struct trace){ "long.bin", (char *)b.p, b.n, at, NULL, true };
}

static struct trace htdump_text(void)
{
	struct ht_build b;
	char *const s = long_text();

	ht_init(&b, HT_WIRE, false);
	ht_prologue(&b);
	ht_span(&b, 100, 5, 1, "short");
	const size_t at = b.n;
	ht_span(&b, 200, 5, 1, s);
	ht_span(&b, 300, 5, 1, "short");
	free(s);
	return (struct trace){ "long.htdump", (char *)b.p, b.n, at, "5242913 bytes", false };
}

static struct trace ovni_jumbo(void)
{
	static const char head[] = "ovni\1\0\0\0", jumbo[] = "\x13OUj\1\0\0\0\0\0\0\0\0\0\x50\0",
	                  end[] = "\0OHe\2\0\0\0\0\0\0\0";
	const size_t n = 8 + 16 + (size_t)LONG + 12;
	char *const p = calloc(1, n);

	cr_assert_not_null(p);
	memcpy(p, head, 8);
	memcpy(p + 8, jumbo, 16);
	memcpy(p + n - 12, end, 12);
	return (struct trace){ "long.obs", p, n, 8, "5242896 bytes", false };
}

/* ---- what is expected of each ---- */

static struct ran run(const char *command, const char *max, const char *option, const char *path,
                      const char *out)
{
	const char *args[10] = { command, max };
	size_t n = 2;

	if (option != NULL)
		args[n++] = option;
	args[n++] = path;
	if (out != NULL) {
		args[n++] = "-o";
		args[n++] = out;
		args[n++] = "-f";
	}
	args[n] = NULL;
	return run_tool(args, NULL, 0);
}

static void expect_copy(const struct trace *t, const char *out, struct ran r)
{
	size_t n = 0;
	char *const p = read_whole(out, &n);

	cr_expect_eq(r.status, 0, "%s: %s%s", t->name, r.out, r.err);
	cr_expect(p != NULL && n == t->n && memcmp(p, t->p, n) == 0, "%s: %zu bytes of %zu", t->name, n,
	          t->n);
	ran_free(&r);
	free(p);
}

/* Without --max-record, the whole trace is read. */
static void expect_read(const struct trace *t, const char *path)
{
	struct ran r = run("validate", "--fail-level=error", NULL, path, NULL);

	cr_expect(r.status == 0 && strstr(r.out, ": valid ") != NULL && strstr(r.out, "limit") == NULL,
	          "%s: %s", t->name, r.out);
	cr_expect_null(strstr(r.out, "as far as"), "%s", r.out);
	ran_free(&r);
}

static void expect_not_checked(const struct trace *t, const char *path)
{
	char want[200];

	for (int level = 0; level < 2; level++) {
		struct ran r =
		    run("validate", "--max-record=1M", level ? "--fail-level=limit" : NULL, path, NULL);
		cr_expect_eq(r.status, level, "%s: %s", t->name, r.out);
		snprintf(want, sizeof want, ":@%zu: limit: ", t->at);
		cr_expect_not_null(strstr(r.out, want), "%s: %s", t->name, r.out);
		cr_expect_not_null(strstr(r.out, "not checked"), "%s", r.out);
		cr_expect_not_null(strstr(r.out, "1048576"), "%s", r.out);
		cr_expect(t->size == NULL || strstr(r.out, t->size) != NULL, "%s: %s", t->name, r.out);
		cr_expect_not_null(strstr(r.out, "[limit/record]"), "%s", r.out);
		cr_expect_not_null(strstr(r.out, ": valid as far as it was read: "), "%s", r.out);
		cr_expect((strstr(r.out, "bytes not read") != NULL) == t->ends, "%s", r.out);
		cr_expect_null(strstr(r.out, "error"), "%s", r.out);
		ran_free(&r);
	}
}

/* A pipe gives the same finding and the same copy as a file. */
static void expect_same_of_pipe(const struct trace *t, const char *path, const char *out)
{
	const char *const args[] = { "validate", "--max-record=1M", "-", NULL };
	const char *const copy[] = { "recover", "--max-record=1M", "-", "-o", out, "-f", NULL };
	struct ran file = run("validate", "--max-record=1M", NULL, path, NULL),
	           pipe = run_tool(args, t->p, t->n);
	const char *const a = strstr(file.out, ": limit: "), *const b = strstr(pipe.out, ": limit: ");

	cr_expect(a != NULL && b != NULL && strncmp(a, b, strcspn(a, "\n")) == 0, "%s%s", file.out, pipe.out);
	ran_free(&file);
	ran_free(&pipe);
	expect_copy(t, out, run_tool(copy, t->p, t->n));
}

static void expect_all(struct trace t)
{
	char *const dir = make_folder(), path[1024], out[1024];

	snprintf(path, sizeof path, "%s/in-%s", dir, t.name);
	snprintf(out, sizeof out, "%s/%s", dir, t.name);
	cr_assert(write_whole(path, t.p, t.n));
	expect_read(&t, path);
	expect_not_checked(&t, path);
	expect_copy(&t, out, run("recover", "--max-record=1M", NULL, path, out));
	if (strstr(t.name, ".obs") == NULL) { /* copies of ovni are folders: ovni_copied_records */
		expect_copy(&t, out, run("convert", "--max-record=1M", "--raw", path, out));
		expect_copy(&t, out, run("convert", "--max-record=1M", "--verify", path, out));
	}
	expect_same_of_pipe(&t, path, out);
	free(t.p);
	remove_folder(dir);
}

Test(limits, a_heph_packet_of_2_6_MB)
{
	expect_all(heph_packet());
}

Test(limits, a_dial9_string_of_5_MiB)
{
	expect_all(dial9_string());
}

Test(limits, dial9_values_around_a_string_of_5_MiB)
{
	expect_all(dial9_values());
}

Test(limits, a_dial9_pool_entry_of_5_MiB)
{
	for (uint8_t i = 0; i < 3; i++)
		expect_all(dial9_pool(i));
}

Test(limits, a_dial9_schema_of_65535_fields)
{
	expect_all(dial9_schema());
}

Test(limits, an_htdump_text_of_5_MiB)
{
	expect_all(htdump_text());
}

Test(limits, an_ovni_jumbo_event_of_5_MiB)
{
	expect_all(ovni_jumbo());
}

/* ---- reports, statistics, status ---- */

static void expect_words(const struct trace *t, const char *const *args, int status, const char *words)
{
	expect_ran(run_tool(args, t->p, t->n), status, words);
}

#define REPORT(format) ((const char *const[]){ "validate", "--max-record=1M", "--format", format, "-", NULL })

Test(limits, reports_tell_it_from_errors)
{
	struct trace t = dial9_string();

	expect_words(&t, REPORT("json"), 0, "\"rule\":\"limit/record\",\"level\":\"limit\"");
	expect_words(&t, REPORT("json"), 0, "\"counts\":{\"error\":0,\"limit\":1,\"warning\":0,\"note\":0}");
	expect_words(&t, REPORT("json"), 0, "\"valid\":true");
	expect_words(&t, REPORT("sarif"), 0,
	             "\"ruleId\":\"limit/record\",\"ruleIndex\":0,\"level\":\"warning\"");
	expect_words(&t, REPORT("junit"), 0, "failures=\"0\"");
	expect_words(&t, REPORT("github"), 0, "::warning file=stdin,line=1,title=limit/record");
	expect_words(&t, REPORT("gitlab"), 0, "\"severity\":\"minor\"");
	expect_words(&t, REPORT("markdown"), 0, "0 errors, 1 limit, 0 warnings, 0 notes in 1 file");
	expect_words(&t, REPORT("gcc"), 0, ": warning: @");
	free(t.p);
}

#undef REPORT

/* Outputs lack the record; its class is counted. */
Test(limits, outputs_lack_it)
{
	struct trace t = dial9_string();

	expect_words(&t, (const char *const[]){ "stats", "--max-record=1M", "-", NULL }, 0, "2  Text");
	expect_words(&t, (const char *const[]){ "convert", "--max-record=1M", "--to", "csv", "-", "-", NULL },
	             0, "[limit/record]");
	expect_words(&t,
	             (const char *const[]){ "convert", "--fail-on-loss", "--max-record=1M", "--to", "csv",
	                                    "-", "-", NULL },
	             1, "[limit/record]");
	expect_words(&t, (const char *const[]){ "stats", "-", NULL }, 0, "3  Text");
	free(t.p);
}

/* A damaged size is an error, and costs no other packet. */
Test(limits, a_damaged_size_of_a_heph_packet)
{
	struct heph_build b;

	heph_init(&b);
	for (uint64_t i = 0; i < 5; i++)
		heph_plain(&b, 1, i, i + 1);
	b.p[47 * 2 + 4] = 0x7f;
	struct ran r = run_tool((const char *const[]){ "validate", "-", NULL }, b.p, b.n);
	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.out, "[heph/cut-packet]"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, ", 4 records, "), "%s", r.out);
	ran_free(&r);
	heph_free(&b);
}

Test(limits, values_of_max_record)
{
	static const char *const good[] = { "64", "1K", "64M", "2G", "4000M" }, *const bad[] = { "0", "63",
		                                                                                 "4G", "much",
		                                                                                 "-1" };

	for (size_t i = 0; i < 5; i++) {
		expect_ran(run_tool((const char *const[]){ "validate", "--max-record", good[i],
		                                           "testdata/heph/good/spec-example.bin.log", NULL },
		                    NULL, 0),
		           0, "valid");
		expect_ran(run_tool((const char *const[]){ "validate", "--max-record", bad[i],
		                                           "testdata/heph/good/spec-example.bin.log", NULL },
		                    NULL, 0),
		           3, "--max-record takes");
	}
}

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/convert.h"
#include "format/registry.h"

/* convert --verify: what is written well gets its name; what differs in more than was declared does not. */

#define SAMPLE "testdata/htdump/good/wire-little.htdump"

static void expect_status(const char *in, const char *out, int status, const char *words)
{
	struct ran r = run_tool((const char *const[]){ "convert", "-q", "--verify", in, out, NULL }, NULL, 0);

	cr_expect_eq(r.status, status, "%s to %s: %d, %s", in, out, r.status, r.err);
	cr_expect_not_null(strstr(r.err, words), "%s", r.err);
	ran_free(&r);
}

Test(convert_verify, what_is_written_well_gets_its_name)
{
	static const char *const samples[] = { SAMPLE, "testdata/heph/good/nested.bin.log",
		                               "testdata/dial9/good/odd-doubles.dial9",
		                               "testdata/dftracer/good/d4.pfw" };
	static const char *const outputs[] = { "a.ndjson", "a.json.gz", "a.htdump" };
	char *const dir = make_folder();
	char out[512];

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
			snprintf(out, sizeof out, "%s/%zu%s", dir, i, outputs[k]);
			expect_status(samples[i], out, 0, "");
			cr_expect_eq(access(out, R_OK), 0, "%s", out);
		}
	remove_folder(dir);
}

Test(convert_verify, what_cannot_be_read_back_is_refused)
{
	char *const dir = make_folder();
	char out[512];

	snprintf(out, sizeof out, "%s/a.csv", dir);
	expect_status(SAMPLE, out, 3, "csv cannot be read");
	cr_expect_eq(access(out, F_OK), -1);
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--verify", "--to=ndjson", SAMPLE, "-", NULL }, NULL, 0);
	cr_expect_eq(r.status, 3);
	cr_expect_not_null(strstr(r.err, "cannot be standard output"), "%s", r.err);
	ran_free(&r);
	remove_folder(dir);
}

/* ---- a writer that errs: the ndjson writer, with some of the events changed before it sees them ---- */

static const struct format *honest;
static void (*change)(struct event *e);
static const struct loss *counted; /* for each of them; NULL: nothing */
static bool raw;                   /* records are written as they are */
static bool once;                  /* the input can be read only once */

static const struct loss declared = { .id = "lies/dur", .touches = TOUCHES_DURATION };
static const struct loss omitted = { .id = "lies/missing", .touches = TOUCHES_MISSING };
static const struct loss other = { .id = "lies/name", .touches = TOUCHES_NAME };

static void longer(struct event *e)
{
	e->dur++;
}

static void renamed(struct event *e)
{
	e->name = SLICE_LIT("lie");
}

static void later(struct event *e)
{
	e->ts++;
}

static void gone(struct event *e)
{
	e->phase = PHASE_STRUCTURE;
}

/* The third span of the trace; of raw events, the third. */
static void lying_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	int spans = 0;

	for (uint32_t i = 0; i < b->n && change != NULL; i++) {
		struct event *const e = &b->events[i];
		if ((raw ? e->phase == PHASE_STRUCTURE : e->phase != PHASE_SPAN) || ++spans != 3)
			continue;
		if (counted != NULL)
			ledger_add(&chunk->ledger, counted, e->offset, 1);
		change(e);
	}
	honest->writer->render(state, b, chunk);
}

/* Converts the sample with it; what was said is in `said`. */
static char said[2048];

static enum exit_status convert(const char *out, void (*how)(struct event *), const struct loss *loss)
{
	char path[32];
	const char *const in[] = { once ? path : SAMPLE };
	const int fd = once ? open(SAMPLE, O_RDONLY) : -1;
	char program[] = "convert", *argv[] = { program, NULL };
	struct writer_ops ops;
	struct format lying;
	FILE *const f = tmpfile();
	const int before = dup(STDERR_FILENO);

	honest = format_by_name("ndjson");
	cr_assert(honest != NULL && f != NULL && before >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
	ops = *honest->writer;
	ops.render = lying_render;
	lying = *honest;
	lying.writer = &ops;
	change = how;
	counted = loss;
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	struct convert c = { .in = in, .nin = 1, .out = out, .to = &lying, .threads = 1, .raw = raw };
	options_init(&c.options, &convert_command, 1, argv);
	c.verify.wanted = true;
	const enum exit_status status = convert_run(&c);
	options_free(&c.options);
	if (once)
		(void)close(fd);
	cr_assert_geq(dup2(before, STDERR_FILENO), 0);
	(void)close(before);
	(void)fseek(f, 0, SEEK_SET);
	said[fread(said, 1, sizeof said - 1, f)] = '\0';
	(void)fclose(f);
	return status;
}

static void expect(void (*how)(struct event *), const struct loss *loss, enum exit_status want,
                   const char *words)
{
	char *const dir = make_folder();
	char out[512];

	snprintf(out, sizeof out, "%s/out.ndjson", dir);
	cr_expect_eq(convert(out, how, loss), want, "%s", said);
	cr_expect_not_null(strstr(said, words), "%s\nnot in\n%s", words, said);
	cr_expect_eq(access(out, F_OK), want == STATUS_CLEAN ? 0 : -1);
	char **const names = list_folder(dir, "");
	cr_expect(want == STATUS_CLEAN || names[0] == NULL, "%s is left", names[0]);
	list_free(names);
	remove_folder(dir);
}

static void expect_errors(void)
{
	expect(NULL, NULL, STATUS_CLEAN, "");
	expect(longer, NULL, STATUS_UNREADABLE, ": span draw at 5001101 ns: other duration\n");
	expect(longer, NULL, STATUS_UNREADABLE, "--verify: input @2395, output @");
	expect(longer, NULL, STATUS_UNREADABLE, "not written: 1 events differ in what no loss declares");
	expect(renamed, NULL, STATUS_UNREADABLE, ": other name\n");
	expect(later, NULL, STATUS_UNREADABLE, "not in the output: span draw at 5001101 ns");
}

Test(convert_verify, what_no_loss_declares_is_an_error)
{
	expect_errors();
}

Test(convert_verify, events_of_what_can_be_read_once_are_kept)
{
	once = true;
	expect_errors();
	expect(longer, &declared, STATUS_CLEAN, "lies/dur");
}

Test(convert_verify, raw_records_are_compared_too)
{
	raw = true;
	expect(NULL, NULL, STATUS_CLEAN, "");
	expect(later, NULL, STATUS_UNREADABLE, "not in the output: ");
	once = true;
	expect(NULL, NULL, STATUS_CLEAN, "");
	expect(later, NULL, STATUS_UNREADABLE, "not in the output: ");
}

Test(convert_verify, what_a_loss_declares_is_allowed_as_often_as_it_counts)
{
	expect(longer, &declared, STATUS_CLEAN, "lies/dur");
	expect(longer, &other, STATUS_UNREADABLE, "other duration");
	expect(renamed, &other, STATUS_CLEAN, "lies/name");
	expect(gone, &omitted, STATUS_CLEAN, "lies/missing");
	expect(gone, &other, STATUS_UNREADABLE, "not in the output: span draw");
	expect(later, &omitted, STATUS_UNREADABLE, "not in the input: span draw");
}

/* ---- copies of the records of a format ---- */

/* The copy is that of what could be read: its bytes are not those of the input, its events are. */
Test(convert_verify, copy_of_a_damaged_input_is_compared_by_its_events)
{
	char *const dir = make_folder();
	char cut[512], out[512], *trace;
	size_t n;

	cr_assert((trace = read_whole(SAMPLE, &n)) != NULL);
	snprintf(cut, sizeof cut, "%s/cut.htdump", dir);
	snprintf(out, sizeof out, "%s/out.htdump", dir);
	cr_assert(write_whole(cut, trace, n - 3));
	expect_status(cut, out, 1, "");
	cr_expect_eq(access(out, R_OK), 0);
	free(trace);
	remove_folder(dir);
}

Test(convert_verify, copy_is_compared_however_it_is_packed)
{
	static const char *const names[] = { "a.htdump.gz", "b.htdump.zst", "c.htdump" };
	char *const dir = make_folder();
	char in[512], out[512];

	snprintf(in, sizeof in, "%s", SAMPLE);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(out, sizeof out, "%s/%s", dir, names[i]);
		expect_status(in, out, 0, "");
		cr_expect_eq(access(out, R_OK), 0, "%s", out);
		snprintf(in, sizeof in, "%s", out);
	}
	remove_folder(dir);
}

/* convert --verify of copied selections, and of copies with other times: fields that writers compute anew,
 * and records that a selection needs, are no differences. */
#define _GNU_SOURCE /* memmem */

#include <criterion/criterion.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/convert/convert.h"
#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "format/ledger.h"
#include "format/registry.h"

/* convert --verify: a correct output gets its name; an output with more differences than its losses
 * declare does not. */

#define SAMPLE "testdata/htdump/good/wire-little.htdump"

/* ---- a writer that errs: the ndjson writer, with some of the events changed before it sees them ---- */

static const struct format *honest;

static void (*change)(struct event *e);
static const struct loss *counted; /* for each of them; NULL: nothing */
static bool raw;                   /* records are written as they are */
static bool once;                  /* the input can be read only once */
static const struct loss declared = { .id = "lies/dur", .affects = AFFECTS_DURATION };
static const struct loss omitted = { .id = "lies/missing", .affects = AFFECTS_MISSING };
static const struct loss other = { .id = "lies/name", .affects = AFFECTS_NAME };

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

/* Not rendered. */
static void gone(struct event *e)
{
	(void)e;
}

/* The third span of the trace; of raw events, the third. */
static void lying_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	struct batch rest = *b;
	int spans = 0;

	for (uint32_t i = 0; i < rest.n && change != NULL; i++) {
		struct event *const e = &b->events[i];
		if ((raw ? e->phase == PHASE_STRUCTURE : e->phase != PHASE_SPAN) || ++spans != 3)
			continue;
		if (counted != NULL)
			ledger_add(&chunk->ledger, counted, e->offset, 1);
		change(e);
		if (change == gone)
			memmove(e, e + 1, (--rest.n - i) * sizeof *e);
	}
	honest->writer->render(state, &rest, chunk);
}

/* Converts the sample to it, with standard error in `told`. */
static char told[2048];

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
	told[fread(told, 1, sizeof told - 1, f)] = '\0';
	(void)fclose(f);
	return status;
}

static void expect(void (*how)(struct event *), const struct loss *loss, enum exit_status want,
                   const char *words)
{
	char *const dir = make_folder();
	char out[512];

	snprintf(out, sizeof out, "%s/out.ndjson", dir);
	cr_expect_eq(convert(out, how, loss), want, "%s", told);
	cr_expect_not_null(strstr(told, words), "%s\nnot in\n%s", words, told);
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
	expect(longer, NULL, STATUS_UNREADABLE, "not written: 1 event differs, and no loss explains it");
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

/* ---- each kind of damage ---- */

/*
 * convert --verify of an output with one changed value of one event: every writer writes the changed event,
 * with the losses of the true one.  The difference is reported, unless the format cannot hold that part of
 * events.
 */

static const char trace[] =
    "{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"interpreted\",\"rebased\":false,"
    "\"format\":\"tick\",\"clock\":\"monotonic\"}\n"
    "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\",\"id\":7}\n"
    "{\"type\":\"track\",\"index\":1,\"kind\":\"thread\",\"name\":\"one\",\"id\":8,\"parent\":0}\n"
    "{\"type\":\"track\",\"index\":2,\"kind\":\"thread\",\"name\":\"two\",\"id\":9,\"parent\":0}\n"
    "{\"type\":\"class\",\"index\":0,\"name\":\"c\",\"category\":\"k\"}\n"
    "{\"type\":\"class\",\"index\":1,\"name\":\"d\",\"category\":\"l\"}\n"
#define EVENT(ts, dur, name, cls, category, track, tid, fields)                                              \
	"{\"kind\":\"span\",\"ts_ns\":" ts ",\"dur_ns\":" dur ",\"name\":\"" name "\",\"class_index\":" cls  \
	",\"category\":\"" category "\",\"track_index\":" track ",\"pid\":7,\"tid\":" tid ",\"offset\":" ts  \
	",\"args\":{" fields "}}\n"
    EVENT("1000", "900", "around", "1", "l", "2", "9",
          "\"a\":1")                                       /* the one that comes first is all tracks' */
    EVENT("1100", "5000", "outer", "0", "k", "1", "8", "") /**/
    EVENT("2000", "500", "target", "0", "k", "1", "8", "\"a\":5,\"b\":\"x\"") /**/
    EVENT("3000", "0", "zero", "0", "k", "1", "8", "")                        /**/
    EVENT("4000", "500", "target", "0", "k", "1", "8", "\"a\":5,\"b\":\"x\"") /**/
    EVENT("4000", "10", "other", "1", "l", "2", "9", "\"a\":2")               /**/
    "{\"kind\":\"instant\",\"ts_ns\":5000,\"name\":\"i\",\"class_index\":0,\"category\":\"k\",\"track_"
    "index\":1,"
    "\"pid\":7,\"tid\":8,\"offset\":5000}\n"
    "{\"kind\":\"counter\",\"ts_ns\":5500,\"name\":\"c\",\"class_index\":0,\"category\":\"k\",\"track_"
    "index\":1,"
    "\"pid\":7,\"tid\":8,\"offset\":5500,\"args\":{\"v\":3}}\n"
    "{\"type\":\"trace_end\",\"records\":8,\"events\":8,\"format\":\"tick\","
    "\"clock\":\"monotonic\",\"losses\":{}}\n";

/* ---- what is changed ---- */

enum damage { NONE, NAME, TIME, DURATION, CATEGORY, VALUE, FIELD, TRACK, PHASE, MISSING, TWICE, DAMAGES };

static const char *const words[DAMAGES] = {
	[NONE] = "",
	[NAME] = "other name",
	[TIME] = "not in the output: span target",
	[DURATION] = "other duration",
	[CATEGORY] = "other category",
	[VALUE] = "\n    field a: 5, 6",
	[FIELD] = "\n    field b: \"x\", none",
	[TRACK] = "other track",
	[PHASE] = "other phase",
	[MISSING] = "not in the output: span target",
	[TWICE] = "not in the input: span target",
};

/* Parts that a format cannot hold: no event has them when the output is read back. */
static const struct {
	const char *format;
	unsigned parts;
} blind[] = {
	{ "htdump", 1U << CATEGORY },
	{ "dftracer", 1U << PHASE },
	{ "ovni", 1U << CATEGORY | 1U << VALUE | 1U << FIELD | 1U << PHASE },
	{ "perfetto", 1U << 31 }, /* none, but counters have other names */
};
static enum damage damage;
static bool zero;                       /* the event that is changed has no duration */
static struct ledger true_losses;       /* of the event that is changed */
static const struct event *other_event; /* of another class and track */

static bool is_target(const struct event *e)
{
	return zero ? slice_is(e->name, "zero") : slice_is(e->name, "target") && e->ts == 4000;
}

static void put(void *state, const struct batch *b, struct chunk *chunk)
{
	if (honest->writer->render != NULL)
		honest->writer->render(state, b, chunk);
	else
		honest->writer->write(state, b, chunk);
}

static void change_event(struct batch *b, struct event *e)
{
	e->name = damage == NAME ? SLICE_LIT("lie") : e->name;
	e->ts += damage == TIME;
	e->dur += damage == DURATION;
	e->cls = damage == CATEGORY ? other_event->cls : e->cls;
	e->track = damage == TRACK ? other_event->track : e->track;
	e->phase = damage == PHASE ? (uint8_t)PHASE_INSTANT : e->phase;
	e->nfields = (uint16_t)(e->nfields - (damage == FIELD));
	if (damage == VALUE)
		b->fields[e->first_field].value.u64++;
}

/* Writes the changed event, and counts the losses of the true one, which the run without a change
 * recorded. */
static void put_target(void *state, struct batch *one, struct chunk *chunk)
{
	const struct ledger before = chunk->ledger;

	chunk->ledger = (struct ledger){ .n = 0 };
	for (int i = 0; i < (damage == MISSING ? 0 : damage == TWICE ? 2 : 1); i++)
		put(state, one, chunk);
	if (damage == NONE)
		ledger_merge(&true_losses, &chunk->ledger);
	ledger_free(&chunk->ledger);
	chunk->ledger = before;
	ledger_merge(&chunk->ledger, &true_losses);
}

/* One event after the other. */
static void put_changed(void *state, const struct batch *b, struct chunk *chunk)
{
	struct batch one = *b;

	one.n = 0; /* what is declared with the batch */
	put(state, &one, chunk);
	one.ntracks = one.nclasses = 0;
	one.n = 1;
	for (uint32_t i = 0; i < b->n; i++) {
		struct event e = b->events[i];
		one.events = &e;
		if (i == 0)
			other_event = &b->events[0];
		if (e.phase == PHASE_SPAN && is_target(&e)) {
			change_event(&one, &e);
			put_target(state, &one, chunk);
		} else {
			put(state, &one, chunk);
		}
	}
}

static void render_changed(const void *state, const struct batch *b, struct chunk *chunk)
{
	put_changed((void *)(uintptr_t)state, b, chunk);
}

/* ---- converting with it ---- */

static enum exit_status run_convert_from(const struct format *from, const struct format *to,
                                         const char *const *ins, size_t nin, const char *out, char *said,
                                         size_t size)
{
	char program[] = "convert", *argv[] = { program, NULL };
	FILE *const f = tmpfile();
	const int before = dup(STDERR_FILENO);

	cr_assert(f != NULL && before >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
	struct convert c = { .in = ins, .nin = nin, .out = out, .to = to, .threads = 1 };
	options_init(&c.options, &convert_command, 1, argv);
	c.options.quiet = true;
	c.options.from = from;
	c.verify.wanted = true;
	const enum exit_status status = convert_run(&c);
	options_free(&c.options);
	cr_assert_geq(dup2(before, STDERR_FILENO), 0);
	(void)close(before);
	(void)fseek(f, 0, SEEK_SET);
	said[fread(said, 1, size - 1, f)] = '\0';
	(void)fclose(f);
	return status;
}

static enum exit_status run_convert(const struct format *to, const char *in, const char *out, char *said,
                                    size_t size)
{
	const char *const ins[] = { in };

	return run_convert_from(NULL, to, ins, 1, out, said, size);
}

static enum exit_status convert_damaged(const char *in, const char *out, char *said, size_t size)
{
	struct writer_ops ops = *honest->writer;
	struct format changed = *honest;

	ops.render = ops.render != NULL ? render_changed : NULL;
	ops.write = ops.write != NULL ? put_changed : NULL;
	changed.writer = &ops;
	return run_convert(&changed, in, out, said, size);
}

static unsigned lacks(const struct format *f)
{
	for (size_t i = 0; i < sizeof blind / sizeof *blind; i++)
		if (strcmp(blind[i].format, f->name) == 0)
			return blind[i].parts;
	return 0;
}

/* Converts without a change, then with this one, which must be found. */
static void expect_found(const char *in, const char *dir, enum damage d)
{
	const enum damage both[] = { NONE, d };
	char out[512], said[4096];

	zero = d == PHASE;
	for (int i = 0; i < 2; i++) {
		const bool seen = i > 0 && (lacks(honest) >> d & 1) == 0;
		/* if losses allow some differences, the reported event may be any of those that differ */
		const bool lossy = lacks(honest) != 0;
		const char *const want = lossy ? " events differ, and no loss explains it" : words[d];
		const char *const one = lossy ? " event differs, and no loss explains it" : want;
		damage = both[i];
		snprintf(out, sizeof out, "%s/%d-%d.%s", dir, d, i, honest->name);
		const enum exit_status status = convert_damaged(in, out, said, sizeof said);
		cr_expect_eq(status, seen ? STATUS_UNREADABLE : STATUS_CLEAN, "%s, %d: %d, %s", honest->name,
		             damage, status, said);
		cr_expect(!seen || strstr(said, want) != NULL || strstr(said, one) != NULL,
		          "%s: \"%s\" not in %s", honest->name, want, said);
	}
	ledger_free(&true_losses);
}

Test(convert_verify_damage, is_seen_in_each_part_of_events)
{
	char *const dir = make_folder();
	char in[512];

	snprintf(in, sizeof in, "%s/in.ndjson", dir);
	cr_assert(write_whole(in, trace, sizeof trace - 1));
	for (const struct format *const *f = formats; *f != NULL; f++) {
		if ((*f)->reader == NULL || (*f)->writer == NULL)
			continue;
		honest = *f;
		for (enum damage d = NAME; d < DAMAGES; d++)
			expect_found(in, dir, d);
	}
	remove_folder(dir);
}

/* ---- bytes that the disk changed ---- */

static const char *changed_folder;
static long changed_at;

/* Near the end of a long output: its first bytes are in the temporary file already. */
static bool close_and_change(struct writer *w, struct chunk *chunk)
{
	char pattern[600];
	glob_t found;

	(void)snprintf(pattern, sizeof pattern, "%s/.out.*", changed_folder);
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0, "%s", pattern);
	FILE *const f = fopen(found.gl_pathv[0], "r+b");
	cr_assert(f != NULL && fseek(f, changed_at, SEEK_SET) == 0);
	const int c = fgetc(f);
	cr_assert(c != EOF && fseek(f, changed_at, SEEK_SET) == 0 && fputc(c ^ 1, f) != EOF);
	(void)fclose(f);
	globfree(&found);
	return honest->writer->close == NULL || honest->writer->close(w, chunk);
}

/* The head of an NDJSON trace names the program that wrote it: no event depends on it, so only the
 * comparison of bytes finds the change. */
Test(convert_verify_damage, every_byte_is_compared_with_what_was_written)
{
	char *const dir = make_folder();
	char in[512], out[512], said[4096];
	FILE *f;

	honest = format_by_name("ndjson");
	changed_folder = dir;
	snprintf(in, sizeof in, "%s/in.ndjson", dir);
	f = fopen(in, "w");
	const char *const end = strstr(trace, "{\"type\":\"trace_end\"");
	cr_assert(f != NULL && fwrite(trace, 1, (size_t)(end - trace), f) > 0);
	for (int i = 0; i < 4000; i++)
		fprintf(
		    f,
		    "{\"kind\":\"instant\",\"ts_ns\":%d,\"name\":\"i\",\"class_index\":0,\"category\":\"k\","
		    "\"track_index\":1,\"pid\":7,\"tid\":8,\"offset\":%d}\n",
		    6000 + i, 6000 + i);
	fprintf(f, "{\"type\":\"trace_end\",\"records\":4008,\"events\":4008,\"format\":\"tick\","
	           "\"clock\":\"monotonic\",\"losses\":{}}\n");
	cr_assert_eq(fclose(f), 0);
	for (changed_at = 0; changed_at < 120; changed_at += 7) {
		struct writer_ops ops = *honest->writer;
		struct format changing = *honest;
		snprintf(out, sizeof out, "%s/out", dir);
		ops.close = close_and_change;
		changing.writer = &ops;
		const enum exit_status status = run_convert(&changing, in, out, said, sizeof said);
		cr_expect_eq(status, STATUS_UNREADABLE, "byte %ld: %d", changed_at, status);
		cr_expect_not_null(strstr(said, "not those that were written"), "%s", said);
		cr_expect_neq(access(out, F_OK), 0);
	}
	remove_folder(dir);
}

/* ---- copies of several inputs ---- */

#define JOINED                                                                                               \
	"[{\"name\":\"a\",\"cat\":\"c\",\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1,"                \
	"\"args\":{\"of\":\"marker\"}}]"

static int markers; /* of records up to now */
static int changed_marker;

/* Changes one byte of the marker, in a copy of the batch's bytes. */
static void copy_changed(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	static char changed[4096];
	char *const at = bytes.n > 0 ? memmem(bytes.p, bytes.n, "marker", 6) : NULL;

	if (at != NULL && ++markers == changed_marker) {
		cr_assert_leq(bytes.n, sizeof changed);
		memcpy(changed, bytes.p, bytes.n);
		changed[at - bytes.p] ^= 1;
		bytes.p = changed;
	}
	honest->copier->record(c, b, e, bytes);
}

static void expect_joined(const char *const *ins, const char *out, int damaged)
{
	struct copier_ops ops = *honest->copier;
	struct format changed = *honest;
	char said[4096];

	ops.record = copy_changed;
	changed.copier = &ops;
	markers = 0;
	changed_marker = damaged;
	const enum exit_status status = run_convert_from(&changed, &changed, ins, 2, out, said, sizeof said);
	cr_expect_eq(status, damaged > 0 ? STATUS_UNREADABLE : STATUS_CLEAN, "%s, %d: %d, %s", honest->name,
	             damaged, status, said);
	cr_expect_eq(markers, 2, "%s: %d", honest->name, markers);
	cr_expect(damaged == 0 || strstr(said, "other fields") != NULL, "%s", said);
	cr_expect_eq(access(out, F_OK), damaged > 0 ? -1 : 0);
}

/* Ids that the inputs have in common get other numbers in the copy; all other bytes are unchanged. */
Test(convert_verify_damage, every_byte_of_a_copy_of_several_inputs_but_its_numbers)
{
	static const char *const of[] = { "heph", "perfetto", "dftracer" }; /* dial9 has texts in pools */
	char *const dir = make_folder();
	char json[512], in[512], again[512], out[512];

	snprintf(json, sizeof json, "%s/in.json", dir);
	cr_assert(write_whole(json, JOINED, sizeof JOINED - 1));
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		honest = format_by_name(of[i]);
		snprintf(in, sizeof in, "%s/in%s", dir, honest->suffixes[0]);
		snprintf(again, sizeof again, "%s/again%s", dir, honest->suffixes[0]);
		for (int k = 0; k < 2; k++) {
			struct ran r = run_tool((const char *const[]){ "convert", "-q", "--to", of[i], json,
			                                               k == 0 ? in : again, NULL },
			                        NULL, 0);
			cr_assert_eq(r.status, 0, "%s", r.err);
			ran_free(&r);
		}
		for (int damaged = 0; damaged <= 2; damaged++) {
			snprintf(out, sizeof out, "%s/%s-%d", dir, of[i], damaged);
			expect_joined((const char *const[]){ in, again }, out, damaged);
		}
	}
	remove_folder(dir);
}

/* ---- selections ---- */

enum { MAX_SAMPLES = 4 }; /* per format */

static void expect_verified(const char *path, const char *out, const struct format *f, const char *option,
                            const char *arg)
{
	struct ran r = run_tool((const char *const[]){ "convert", "-qf", "--verify", option, arg, "--to",
	                                               f->name, "-o", out, path, NULL },
	                        NULL, 0);

	cr_expect_lt(r.status, 2, "%s %s %s: %s", path, option, arg, r.err);
	cr_expect_null(strstr(r.err, "--verify:"), "%s %s %s: %s", path, option, arg, r.err);
	ran_free(&r);
}

static void expect_all(const char *path, const char *out, const struct format *f)
{
	static const char *const cases[][2] = {
		{ "--since", "40%" }, { "--until", "60%" }, { "--name", "*e*" }, { "--rebase", "--quiet" }
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_verified(path, out, f, cases[i][0], cases[i][1]);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_copied(const struct format *f)
{
	return f->reader != NULL && format_omits_records(f);
}

Test(convert_verify_select, good_samples)
{
	char *const dir = make_folder(), path[1024], out[1024];

	for (size_t i = 0; formats[i] != NULL; i++) {
		size_t n = 0;
		if (!is_copied(formats[i]))
			continue;
		snprintf(path, sizeof path, "testdata/%s/good", formats[i]->name);
		char **const names = list_folder(path, "");
		for (size_t k = 0; names[k] != NULL && n < MAX_SAMPLES; k++) {
			snprintf(path, sizeof path, "testdata/%s/good/%s", formats[i]->name, names[k]);
			if (k % 3 != 0 || strstr(names[k], ".expect") != NULL)
				continue;
			/* a folder is replaced only by a folder */
			snprintf(out, sizeof out, "%s/%s-%d", dir, formats[i]->name, is_folder(path));
			expect_all(path, out, formats[i]);
			n++;
		}
		cr_expect_gt(n, 1, "%s", formats[i]->name);
		list_free(names);
	}
	remove_folder(dir);
}

Test(convert_verify_select, real_traces)
{
	static const char *const traces[][2] = { { "heph/no-arrays.bin.log", "heph" },
		                                 { "dial9/block-in-place.bin", "dial9" },
		                                 { "ovni/good/mpi-func", "ovni" },
		                                 { "htdump/mapped.htdump", "htdump" },
		                                 { "dftracer/graph.pfw", "dftracer" } };
	const char *const from = real_traces();
	char *const dir = make_folder(), path[1024], out[1024];

	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
		snprintf(path, sizeof path, "%s/%s", from, traces[i][0]);
		snprintf(out, sizeof out, "%s/%zu", dir, i);
		expect_all(path, out, format_by_name(traces[i][1]));
	}
	remove_folder(dir);
}

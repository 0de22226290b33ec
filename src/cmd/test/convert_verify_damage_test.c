#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/convert.h"
#include "format/ledger.h"
#include "format/registry.h"

/*
 * convert --verify of an output in which one value of one event is another: every writer writes a changed
 * event, with the losses that it counted for the true one.  The difference is reported, unless the format
 * does not hold that part of events.
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

/* Parts that a format does not hold: all events lack them in what is read back. */
static const struct {
	const char *format;
	unsigned parts;
} blind[] = {
	{ "htdump", 1U << CATEGORY },
	{ "dftracer", 1U << PHASE },
	{ "ovni", 1U << CATEGORY | 1U << VALUE | 1U << FIELD | 1U << PHASE },
};

static const struct format *honest;
static enum damage damage;
static bool zero;                 /* the event that is changed has no duration */
static struct ledger true_losses; /* of the event that is changed */
static const struct event *other; /* of another class and track */

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

static void change(struct batch *b, struct event *e)
{
	e->name = damage == NAME ? SLICE_LIT("lie") : e->name;
	e->ts += damage == TIME;
	e->dur += damage == DURATION;
	e->cls = damage == CATEGORY ? other->cls : e->cls;
	e->track = damage == TRACK ? other->track : e->track;
	e->phase = damage == PHASE ? (uint8_t)PHASE_INSTANT : e->phase;
	e->nfields = (uint16_t)(e->nfields - (damage == FIELD));
	if (damage == VALUE)
		b->fields[e->first_field].value.u64++;
}

/* The changed event, and what the true one lost; that is learned where nothing is changed. */
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
			other = &b->events[0];
		if (e.phase == PHASE_SPAN && is_target(&e)) {
			change(&one, &e);
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

static enum exit_status run_convert(const struct format *to, const char *in, const char *out, char *said,
                                    size_t size)
{
	const char *const ins[] = { in };
	char program[] = "convert", *argv[] = { program, NULL };
	FILE *const f = tmpfile();
	const int before = dup(STDERR_FILENO);

	cr_assert(f != NULL && before >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
	struct convert c = { .in = ins, .nin = 1, .out = out, .to = to, .threads = 1 };
	options_init(&c.options, &convert_command, 1, argv);
	c.options.quiet = true;
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

static enum exit_status convert(const char *in, const char *out, char *said, size_t size)
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

/* What no change and then this one says. */
static void expect(const char *in, const char *dir, enum damage d)
{
	const enum damage both[] = { NONE, d };
	char out[512], said[4096];

	zero = d == PHASE;
	for (int i = 0; i < 2; i++) {
		const bool seen = i > 0 && (lacks(honest) >> d & 1) == 0;
		/* where events differ as their losses say, it may be the last of them that is one too many */
		const char *const want = lacks(honest) == 0 ? words[d] : " events differ in what no loss";
		damage = both[i];
		snprintf(out, sizeof out, "%s/%d-%d.%s", dir, d, i, honest->name);
		const enum exit_status status = convert(in, out, said, sizeof said);
		cr_expect_eq(status, seen ? STATUS_UNREADABLE : STATUS_CLEAN, "%s, %d: %d, %s", honest->name,
		             damage, status, said);
		cr_expect(!seen || strstr(said, want) != NULL, "%s: \"%s\" not in %s", honest->name, want,
		          said);
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
		if ((*f)->reader == NULL || (*f)->writer == NULL ||
		    ((*f)->writer->modes & WRITER_INTERPRETED) == 0)
			continue;
		honest = *f;
		for (enum damage d = NAME; d < DAMAGES; d++)
			expect(in, dir, d);
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

/* The head of an NDJSON trace tells what wrote it, which is not of any event, nor of a copy's meaning. */
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

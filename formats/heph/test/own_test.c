/* Options and attributes of tracetool: how the reader interprets them. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "heph/test/build.h"

#define WORDS "testdata/heph/good/own-words.bin.log"

/* Expects each line in the output of `cat`. */
static void expect_lines(const char *const *lines, size_t n)
{
	struct ran r = run_tool((const char *const[]){ "cat", WORDS, NULL }, NULL, 0);

	cr_expect_eq(r.status, 0, "%s", r.err);
	for (size_t i = 0; i < n; i++)
		cr_expect_not_null(strstr(r.out, lines[i]), "%s is not in\n%s", lines[i], r.out);
	ran_free(&r);
}

/* A type that does not fit its value is ignored. */
Test(heph_own, events)
{
	static const char *const lines[] = {
		" async \"of another format\" ts=100 dur=50 track=\"a thread\" name=\"async span\" "
		"number=200 text=0x00ff list=[true, false]\n",
		" begin \"of another format\" ts=101 track=\"a child of it\" name=begin number=200 "
		"text=\"00ff\" "
		"list=[1, 0]\n",
		" end \"of another format\" ts=102 track=\"a thread\"",
		" instant \"of another format\" ts=103 track=\"a child of it\"",
		" counter \"of another format\" ts=104 track=\"a thread\"",
		" span \"of another format\" ts=105 dur=0 ",
		" span \"of another format\" ts=106 dur=0 track=\"a thread\" name=\"no kind\"",
		" flow_out \"of another format\" ts=107 ",
		" span event ts=300 dur=10 track=\"a thread\" name=\"of no class\" stream_counter=8 "
		"\"stream_counter (2)\"=7\n",
	};

	expect_lines(lines, sizeof lines / sizeof lines[0]);
}

Test(heph_own, tracks_and_facts)
{
	static const char *const words[] = {
		"\"kind\":\"process\",\"name\":\"a process\",\"id\":33}",
		"\"kind\":\"thread\",\"name\":\"a thread\",\"id\":99,\"parent\":0}",
		"\"kind\":\"process\",\"name\":\"stream 4\",\"id\":4}",
		"\"name\":\"a child of it\",\"parent\":",
		"\"clock\":\"monotonic\"",
		"\"args\":{\"host\":\"a host\"}",
	};
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", "--to=ndjson", WORDS, "-", NULL }, NULL, 0);

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		cr_expect_not_null(strstr(r.out, words[i]), "%s is not in\n%s", words[i], r.out);
	ran_free(&r);
}

/* Expects a fault in one packet that does not affect the others. */
static void expect_fault(struct heph_build *b, const char *want)
{
	struct ran r = run_tool((const char *const[]){ "validate", "-", NULL }, b->p, b->n);

	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.out, want), "%s is not in %s", want, r.out);
	cr_expect_not_null(strstr(r.out, " 3 records, 1 error"), "%s", r.out);
	ran_free(&r);
}

Test(heph_own, faults)
{
	struct heph_build b;

	heph_init(&b);
	heph_plain(&b, 1, 1, 2);
	heph_metadata(&b, "tracetool.track");
	heph_u64(&b, 1);
	heph_end(&b);
	heph_plain(&b, 1, 2, 3);
	expect_fault(&b, "stream and substream needs 12 bytes, 8 remain");
	heph_free(&b);
	heph_init(&b);
	heph_plain(&b, 1, 1, 2);
	heph_metadata(&b, "tracetool.fact");
	heph_attribute(&b, "trace.host", 0x44);
	heph_end(&b);
	heph_plain(&b, 1, 2, 3);
	expect_fault(&b, "[heph/unknown-type]");
	heph_free(&b);
}

/* Without the initial option, or with another version of it, they are ordinary attributes. */
Test(heph_own, words_of_others)
{
	for (unsigned version = 0; version < 3; version += 2) {
		struct heph_build b;
		heph_init(&b);
		if (version > 0) {
			heph_metadata(&b, "tracetool.trace");
			heph_unsigned(&b, "version", version);
		}
		heph_event(&b, 1, 1, 5, 6, "span");
		heph_text_value(&b, "tracetool.class", "class");
		struct ran r = run_tool((const char *const[]){ "cat", "-", NULL }, b.p, b.n);
		cr_expect_not_null(strstr(r.out, "stream_counter=0 tracetool.class=\"class\""), "%s", r.out);
		ran_free(&r);
		heph_free(&b);
	}
}

/* Rules of users: the reader applies some, the engine others; the output is the same. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define GOOD "testdata/htdump/good/"

/* The output of a command for a sample with these rules; ran_free() afterwards. */
static struct ran with_rules(const char *command, const char *rules, const char *sample)
{
	char *const dir = make_folder();
	char path[1024], text[2048];

	snprintf(path, sizeof path, "%s/own.yaml", dir);
	snprintf(text, sizeof text, "format: htdump\n%s", rules);
	cr_assert(write_whole(path, text, strlen(text)));
	const bool convert = strcmp(command, "convert") == 0;
	const char *const args[] = { command, "--vocabulary", path, sample, convert ? "-" : NULL,
		                     "--to",  "chrome",       NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	remove_folder(dir);
	return r;
}

static void expect_lines(struct ran r, const char *const *lines)
{
	for (; *lines != NULL; lines++)
		cr_expect_not_null(strstr(r.out, *lines), "no %s in:\n%.2000s", *lines, r.out);
	ran_free(&r);
}

/* The names of labels stand behind these events. */
Test(htdump_schema, counters_named_by_labels)
{
	expect_lines(
	    with_rules("convert",
	               "tables: {label: trace}\n"
	               "events:\n"
	               "  - {event: OwnSpan, phase: counter, name: \"n {label|label}\", values: [duration], "
	               "track: \"lane "
	               "{label|label}\"}\n",
	               GOOD "late-mapping.htdump"),
	    (const char *const[]){ "\"args\":{\"name\":\"lane even\"}",
	                           "{\"name\":\"n even\",\"cat\":\"OwnSpan\",\"ph\":\"C\",\"ts\":0.000,",
	                           "{\"name\":\"n odd\",\"cat\":\"OwnSpan\",\"ph\":\"C\",\"ts\":3.000,",
	                           "\"args\":{\"duration\":13}", NULL });
}

/* Other fields than the usual ones, which the reader can do itself. */
Test(htdump_schema, a_span_of_other_fields)
{
	expect_lines(with_rules("cat",
	                        "events:\n"
	                        "  - {event: Level3, phase: span, duration: f2, category: levels,\n"
	                        "     track: {name: \"thread {f3}\", id: f3}}\n",
	                        GOOD "inheritance.htdump"),
	             (const char *const[]){
	                 "span Level3 ts=7200 dur=2001 track=\"thread 2002\" name=Level3 id=67 duration=50 "
	                 "thread_id=7 label=\"Level3\" f1=2000\n",
	                 "span Level2 ts=7100 dur=50 track=\"thread 7\" name=Level2 id=66 f1=1000 f2=1001\n",
	                 NULL });
}

/* The same where the engine must do it, as the name has more than one field. */
Test(htdump_schema, a_span_of_other_fields_by_the_engine)
{
	expect_lines(with_rules("cat",
	                        "events:\n"
	                        "  - {event: Level3, phase: span, duration: f2, name: \"{f1} and {f3}\",\n"
	                        "     track: {name: \"thread {f3}\", id: f3}}\n",
	                        GOOD "inheritance.htdump"),
	             (const char *const[]){
	                 "span Level3 ts=7200 dur=2001 track=\"thread 2002\" name=\"2000 and 2002\" id=67 "
	                 "duration=50 thread_id=7 label=\"Level3\" f1=2000 f3=2002\n",
	                 NULL });
}

Test(htdump_schema, begin_and_end)
{
	expect_lines(
	    with_rules("convert",
	               "events:\n"
	               "  - {event: Level1, phase: begin, pair: levels, name: from 1 to 4}\n"
	               "  - {event: Level4, phase: end, pair: levels}\n",
	               GOOD "inheritance.htdump"),
	    (const char *const[]){
	        "{\"name\":\"from 1 to 4\",\"cat\":\"Level1\",\"ph\":\"X\",\"ts\":7.000,\"dur\":0.300,",
	        NULL });
}

/* What is structure is no event. */
Test(htdump_schema, structure)
{
	struct ran r =
	    with_rules("stats", "events:\n  - {match: \"*\", phase: structure}\n", GOOD "inheritance.htdump");

	cr_expect_not_null(strstr(r.out, " 0 events"), "%s", r.out);
	ran_free(&r);
}

Test(htdump_schema, names_of_threads)
{
	expect_lines(with_rules("cat", "tracks: {thread: \"T{id}\", threads: {7: seventh}}\nevents: []\n",
	                        GOOD "inheritance.htdump"),
	             (const char *const[]){ "span Level3 ts=7200 dur=50 track=seventh name=Level3",
	                                    "track=T0 name=Holder", NULL });
}

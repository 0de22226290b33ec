/* Hardware counters: numbers in a jumbo event, named by the metadata of the stream. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

static const char metadata[] =
    "{\"version\":3,\"ovni\":{\"part\":\"thread\",\"tid\":100,\"pid\":1,\"loom\":\"n\",\"app_id\":1,"
    "\"finished\":1,"
    "\"require\":{\"ovni\":\"1.1.0\",\"nosv\":\"2.6.0\"},\"lib\":{\"version\":\"1.14.0\",\"commit\":\"x\"},"
    "\"loom_cpus\":[{\"index\":0,\"phyid\":0}]},\"nosv\":{\"hwc\":{\"0\":{\"name\":\"cycles\"},\"1\":{"
    "\"name\":\"misses\"}}}}";

static const char stream[] =
    "ovni\1\0\0\0"
    "\x0fOHx\1\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"
    "\x13VWC\2\0\0\0\0\0\0\0\x18\0\0\0\7\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff\5\0\0\0\0\0\0\0"
    "\0OHe\3\0\0\0\0\0\0\0";

Test(ovni_counter, series_have_the_names_of_the_metadata)
{
	char *const dir = make_folder();
	char path[1024];

	snprintf(path, sizeof path, "%s/stream.json", dir);
	cr_assert(write_whole(path, metadata, sizeof metadata - 1));
	snprintf(path, sizeof path, "%s/stream.obs", dir);
	cr_assert(write_whole(path, stream, sizeof stream - 1));
	const char *const args[] = { "convert", "--to", "chrome", dir, "-", NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	/* three numbers, two names; the thread's number distinguishes the counter from those of other threads
	 */
	cr_expect_not_null(
	    strstr(r.out, "{\"name\":\"hardware counters\",\"cat\":\"nosv\",\"ph\":\"C\",\"id\":\"100\","
	                  "\"scope\":\"thread\",\"ts\":0.002,"),
	    "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"args\":{\"cycles\":7,\"misses\":-2,\"value 3\":5}}"), "%s",
	                   r.out);
	ran_free(&r);
	remove_folder(dir);
}

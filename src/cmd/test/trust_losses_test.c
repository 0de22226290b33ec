/* What is lost is said, whatever is asked for besides; what a killed run leaves is what the manual says. */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)
#define OVERLAPPING "testdata/htdump/good/overlapping.htdump"

Test(trust, explain_knows_losses_of_the_engine_and_of_outputs)
{
	expect_ran(RUN("explain", "pairs/no-end"), 0, "pairs/no-end (loss): spans without an end");
	expect_ran(RUN("explain", "lanes/off"), 0, "lanes/off (loss): spans that overlap");
	expect_ran(RUN("explain", "chrome/time-rounded"), 0, "chrome/time-rounded (loss): ");
	expect_ran(RUN("explain", "repeats/text-cut"), 0, "repeats/text-cut (loss): ");
	expect_ran(RUN("explain", "lanes/of"), 3, "did you mean lanes/off?");
}

Test(trust, quiet_does_not_hide_why_a_loss_failed)
{
	expect_ran(RUN("convert", "-q", "--fail-on-loss", "--to", "folded", OVERLAPPING, "-"), 1,
	           "spans whose fields are left out: 6");
	struct ran r = RUN("convert", "-q", "--to", "folded", OVERLAPPING, "-");
	cr_expect_eq(r.status, 0);
	cr_expect_str_eq(r.err, "");
	ran_free(&r);
}

Test(trust, lanes_off_with_overlaps_is_a_counted_loss)
{
	expect_ran(RUN("convert", "--lanes", "off", "--to", "chrome", OVERLAPPING, "-"), 0, "[lanes/off]");
	expect_ran(RUN("convert", "--lanes", "off", "--fail-on-loss", "--to", "chrome", OVERLAPPING, "-"), 1,
	           "left there by --lanes off: 2;");
	expect_ran(RUN("convert", "-q", "--lanes", "off", "--to", "chrome", OVERLAPPING, "-"), 0,
	           "\"losses\":{\"lanes/off\":2}");
}

/* The output is half written for certain: the input is a FIFO that stays open. */
Test(host_signal, leftovers_of_sigkill_have_the_name_in_the_manual)
{
	static const char command[] =
	    "mkfifo \"$1/in\" || exit 99\n"
	    "\"$0\" convert - \"$1/out.json\" < \"$1/in\" & pid=$!\n"
	    "exec 9> \"$1/in\"\n"
	    "cat testdata/htdump/good/wire-little.htdump >&9; head -c 70000 /dev/zero >&9\n"
	    "n=0\n"
	    "while [ \"$(ls -A \"$1\" | wc -l)\" -lt 2 ] && [ $n -lt 6000 ]; do sleep 0.01; n=$((n+1)); "
	    "done\n"
	    "kill -KILL $pid; wait $pid 2> /dev/null; echo \"status $?\"; rm \"$1/in\"; ls -A \"$1\"\n";
	char *const dir = make_folder();
	size_t n;
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), dir, NULL }, NULL, 0);

	cr_expect_eq(fnmatch("status 137\n.out.json.tracetool-[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]"
	                     "[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]\n",
	                     r.out, 0),
	             0, "%s", r.out);
	ran_free(&r);
	char *const page = read_whole("man/tracetool.1", &n);
	cr_assert_not_null(page);
	cr_expect_not_null(strstr(page, ".tracetool-XXXXXXXXXX"));
	cr_expect_not_null(strstr(page, "SIGKILL"));
	free(page);
	remove_folder(dir);
}

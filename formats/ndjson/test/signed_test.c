/* Times before 0: NDJSON retains them, and outputs differ from those of a later trace by the difference
 * alone.  The internal zero of signed times is 2^62, which no output may show. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "output/text.h"
#include "test/support/splitmix.h"
#include "test/support/strength.h"

#define LATER 100000 /* us, by which the second trace is later */

/* Writes a random trace of Chrome JSON from -5 ms to 5 ms, later by `by` us.  Offsets do not depend on it. */
static void write_trace(const char *path, uint64_t seed, int by)
{
	struct text t = { .p = NULL };

	text_printf(&t, "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":%12.1f,\"dur\":1000}",
	            by - 5000.0);
	for (int i = 0; i < 40; i++) {
		const double ts =
		    (double)(splitmix_next(&seed) % 10000) + 0.5 * (double)(splitmix_next(&seed) % 2);
		text_printf(&t, ",\n{\"name\":\"%c\",\"pid\":1,\"tid\":%u,\"ts\":%12.1f,",
		            'a' + (int)(seed >> 8 & 3), (unsigned)(seed >> 16 & 1) + 1, by - 5000.0 + ts);
		const unsigned v = (unsigned)(seed >> 32 & 1023);
		switch ((seed >> 24) % 5) {
		case 0:
			text_printf(&t, "\"ph\":\"C\",\"args\":{\"v\":%u}}", v);
			break;
		case 1:
			text_printf(&t, "\"ph\":\"i\",\"s\":\"t\"}");
			break;
		case 2:
			text_printf(&t, "\"ph\":\"%c\",\"cat\":\"f\",\"id\":%u}", "sf"[v & 1], v / 2);
			break;
		default:
			text_printf(&t, "\"ph\":\"X\",\"dur\":%u,\"cat\":\"c\"}", v);
		}
	}
	text_str(&t, "]\n");
	cr_assert(!t.failed && write_whole(path, t.p, t.n));
	text_free(&t);
}

/* Runs a script: $0 is the program, $1 the folder, $n and $p are traces in it, $o begins names of outputs. */
static struct ran run(const char *dir, const char *script)
{
	char shell[1024];

	snprintf(shell, sizeof shell, "n=$1/n.json p=$1/p.json o=$1/o; rm -rf $o*; %s", script);
	return run_program((const char *const[]){ "sh", "-c", shell, tool_path(), dir, NULL }, NULL, 0);
}

static bool is_number(const char *s)
{
	return (*s >= '0' && *s <= '9') || (*s == '-' && s[1] >= '0' && s[1] <= '9');
}

/* Reads an integer, and moves *s after it. */
static int64_t take_number(const char **s)
{
	char *end;
	const int64_t v = strtoll(*s, &end, 10);

	*s = end;
	return v;
}

/* Whether all numbers of b are those of a, or later times in ns. */
static bool is_later(const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		if (is_number(a) && is_number(b)) {
			const int64_t by = -take_number(&a) + take_number(&b);
			if (by != 0 && by != LATER * INT64_C(1000))
				return false;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

Test(ndjson_signed, comes_back)
{
	static const char *const scripts[] = {
		"$0 convert -q --verify $n $o.ndjson && $0 convert -q --verify $o.ndjson $o.json && "
		"$0 diff $n $o.ndjson && $0 diff $n $o.json",
		"$0 convert -q $n $o.ndjson && for c in 'stats --format csv' 'top --json' 'stats --every 1ms "
		"--json'; do "
		"  $0 $c $n | grep -v bytes >$o.1 && $0 $c $o.ndjson | grep -v bytes | sed "
		"'s|/o.ndjson|/n.json|' >$o.2 && "
		"  cmp $o.1 $o.2 || exit 1; "
		"done",
		"$0 convert -q --since 20% --until 70% $n $o.1.ndjson && $0 convert -q $n $o.ndjson && "
		"$0 convert -q --since 20% --until 70% $o.ndjson $o.2.ndjson && cmp $o.1.ndjson $o.2.ndjson",
		"$0 convert -q $n $o.ndjson && $0 recover -q $o.ndjson $o.2.ndjson && cmp $o.ndjson "
		"$o.2.ndjson && "
		"tail -n +2 $o.ndjson >$o.3.ndjson && $0 recover -q $o.3.ndjson $o.4.ndjson; "
		"$0 diff $o.4.ndjson $o.ndjson",
		"$0 merge -q --align none -o $o.ndjson $n $p && $0 convert -q --verify $o.ndjson $o.2.ndjson "
		"&& "
		"cmp $o.ndjson $o.2.ndjson",
	};
	const uint64_t first = test_seed(1);
	char *const dir = make_folder();
	char path[600];

	for (uint64_t seed = first; seed < first + strength(2, 20, 200); seed++)
		for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
			snprintf(path, sizeof path, "%s/n.json", dir);
			write_trace(path, seed, 0);
			snprintf(path, sizeof path, "%s/p.json", dir);
			write_trace(path, seed, LATER);
			struct ran r = run(dir, scripts[i]);
			cr_expect_eq(r.status, 0, "seed %" PRIu64 ": %s:\n%.900s%.900s", seed, scripts[i],
			             r.out, r.err);
			ran_free(&r);
		}
	remove_folder(dir);
}

/* Windows count from the first event, as an absolute time is another one in both traces. */
Test(ndjson_signed, no_output_shows_the_internal_zero)
{
	static const char *const commands[] = {
		"stats --json $f",
		"stats --format csv --columns count,first,last $f",
		"stats --format md --columns count,first,last --sort first $f",
		"stats --json --examples 3 $f",
		"stats --json --every 1ms $f",
		"stats --json --share --gaps 3 $f",
		"stats --json --together --full $f $f",
		"stats --json --full $f >$o && $0 stats --merge --full --json $o $o",
		"stats --json --full --by thread $f >$o && $0 stats --merge --full --json $o $o",
		"stats --json --since +1ms --until 80% $f",
		"stats --json --since 30% --until -1ms --edges drop $f",
		"top --json $f",
		"top $f",
		"info $f",
		"info --json $f",
		"cat $f",
		"cat --since 90% --until +1ms $f",
		"cat --json --since 10% $f",
		"diff --json $f $1/other.json",
		"diff $f $1/other.json",
		"compare --json $f -- $f",
		"convert -q --to csv $f -",
		"convert -q --to speedscope $f -",
		"convert -q --anonymise $1/key --shift-time --to csv $f -",
		"convert -q --to folded $f -",
		"convert -q --to csv --since +1ms --until 60% $f -",
		"convert -q --to csv --split time=2ms $f $o && cat $o/*",
		"merge -q --align none --to csv -o - $f $f",
		"merge -q --align none --to csv --since +1ms -o - $f $f",
		"merge -q --align none --to csv --until 40% -o - $f $f",
		"merge -q --align none --to csv --since 10% --until +4ms --edges drop -o - $f $f",
		"merge -q --align none --to csv --since 90% --until +1ms -o - $f $f",
		"merge -q --align start --to csv --until 40% -o - $f $f",
		"merge -q --rebase --align none --to csv --until 40% -o - $f $f",
	};
	const uint64_t first = test_seed(1);
	char *const dir = make_folder();
	char path[600], script[400];

	snprintf(path, sizeof path, "%s/key", dir);
	cr_assert(write_whole(path, "a key of more than sixteen bytes\n", 33));

	for (uint64_t seed = first; seed < first + strength(1, 20, 200); seed++)
		for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
			struct ran of[2];
			for (int k = 0; k < 2; k++) {
				snprintf(path, sizeof path, "%s/f.json", dir);
				write_trace(path, seed, k * LATER);
				snprintf(path, sizeof path, "%s/other.json", dir);
				write_trace(path, seed + 1, k * LATER);
				snprintf(script, sizeof script, "f=$1/f.json; $0 %s", commands[i]);
				of[k] = run(dir, script);
			}
			cr_expect(of[0].status == of[1].status && is_later(of[0].out, of[1].out) &&
			              is_later(of[0].err, of[1].err),
			          "seed %" PRIu64 ": %s:\n%.900s%.900s\n%.900s%.900s", seed, commands[i],
			          of[0].out, of[0].err, of[1].out, of[1].err);
			ran_free(&of[0]);
			ran_free(&of[1]);
		}
	remove_folder(dir);
}

/* Bytes of a mapped input are written without a copy.  If the file becomes shorter meanwhile, this is a
 * fault of the input, not of the output. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "input/open.h"
#include "output/output.h"

#define BYTES (512U << 10)

Test(shrunk_copy, is_a_fault_of_the_input)
{
	char *const dir = make_folder(), *const bytes = malloc(BYTES);
	char from[300], to[300], why[300];
	size_t n;

	cr_assert_not_null(bytes);
	memset(bytes, 'x', BYTES);
	snprintf(from, sizeof from, "%s/from", dir);
	snprintf(to, sizeof to, "%s/to", dir);
	cr_assert(write_whole(from, bytes, BYTES));
	input_handle_signals();
	struct input *const in = input_open(from);
	struct output *const out = output_open(to, 0, 1, why, sizeof why);
	cr_assert_not_null(in);
	cr_assert_not_null(out, "%s", why);
	cr_assert_eq(in->end - in->p, BYTES);
	cr_assert_eq(truncate(from, 100000), 0);
	cr_expect(output_write(out, in->p, BYTES), "%s", output_error(out));
	in->p = in->end;
	cr_expect(input_shrunk(in));
	cr_expect(output_commit(out, why, sizeof why), "%s", why);
	char *const copied = read_whole(to, &n);
	cr_expect_eq(n, BYTES);
	cr_expect_eq(memcmp(copied, bytes, 100000), 0);
	input_close(in);
	free(copied);
	free(bytes);
	remove_folder(dir);
}

#define _GNU_SOURCE /* mkstemp */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "input/test/samples.h"

/* Files of which only a piece is in memory. */
TestSuite(input_pieces, .init = samples_begin, .fini = samples_end);

static struct bytes some_text(size_t n)
{
	struct bytes b = { .p = malloc(n), .n = n };
	uint64_t seed = 7;

	cr_assert_not_null(b.p);
	for (size_t i = 0; i < n; i++)
		b.p[i] = (char)random_next(&seed);
	b.p[0] = 't'; /* not packed */
	return b;
}

Test(input_pieces, all_bytes_come_in_order)
{
	static const size_t sizes[] = { 1, 255, 256, 257, 5000, 1000000 },
	                    pieces[] = { 1, 300, 4096, 1 << 20 };

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
			struct bytes b = some_text(sizes[i]);
			struct input *const in = input_open_pieces(NULL, write_file(&b), pieces[k]);
			cr_assert_not_null(in);
			cr_expect_eq(input_file_size(in), b.n);
			cr_expect_eq(read_all(in, &b), b.n);
			cr_expect_eq(in->fault, INPUT_OK);
			input_close(in);
			free(b.p);
		}
}

/* A referenced piece does not change when the window moves on. */
Test(input_pieces, held_pieces_stay)
{
	struct bytes b = some_text(10000);
	struct input *const in = input_open_pieces(NULL, write_file(&b), 256);
	struct input_pins holds = { 0 };

	cr_assert_not_null(in);
	input_pin(in, &holds);
	const char *const first = in->p;
	size_t at = 0;
	for (; input_need(in, 1); in->p = in->end) {
		cr_assert(memcmp(in->p, b.p + at, (size_t)(in->end - in->p)) == 0);
		at += (size_t)(in->end - in->p);
	}
	cr_expect_eq(at, b.n);
	cr_expect(memcmp(first, b.p, 256) == 0);
	cr_expect_geq(input_pins_size(&holds), b.n);
	input_close(in);
	cr_expect(memcmp(first, b.p, 256) == 0);
	input_pins_free(&holds);
	free(b.p);
}

Test(input_pieces, no_descriptor_is_kept)
{
	struct bytes b = some_text(2000);
	struct input *in[50];

	for (size_t i = 0; i < 50; i++)
		cr_assert_not_null(in[i] = input_open_pieces(NULL, write_file(&b), 256));
	const int fd = dup(0);
	cr_expect_lt(fd, 40, "%d", fd);
	close(fd);
	for (size_t i = 0; i < 50; i++)
		input_close(in[i]);
	free(b.p);
}

Test(input_pieces, a_file_that_becomes_shorter)
{
	struct bytes b = some_text(5000);
	struct input *const in = input_open_pieces(NULL, write_file(&b), 256);

	cr_assert_not_null(in);
	cr_assert_eq(truncate(sample_path, 3000), 0);
	while (input_need(in, (size_t)(in->end - in->p) + 1))
		;
	cr_expect_eq(in->fault, INPUT_SHRUNK);
	cr_expect_not_null(strstr(in->fault_text, "became shorter"));
	cr_expect(in->last);
	input_close(in);
	free(b.p);
}

/* For a record much larger than a piece the rest of the file is mapped. */
Test(trust, a_piece_that_is_mapped_becomes_shorter, .init = samples_begin, .fini = samples_end)
{
	struct bytes b = some_text(1 << 20);
	struct input *const in = input_open_pieces(NULL, write_file(&b), 256);

	cr_assert_not_null(in);
	input_handle_signals();
	cr_assert(input_need(in, 300000));
	cr_assert(in->last, "it is not mapped");
	cr_expect_not(input_shrunk(in));
	cr_assert_eq(truncate(sample_path, 300000), 0);
	cr_expect_eq(in->p[500000], 0);
	in->p += 500001;
	cr_expect(input_shrunk(in));
	cr_expect_eq(in->fault, INPUT_SHRUNK);
	cr_expect_eq(in->fault_offset, 500001);
	cr_expect(input_shrunk(in), "it stays so");
	input_close(in);
	free(b.p);
}

/* A source without NAME_shrunk does not compile. */
Test(trust, a_source_without_shrunk_does_not_compile)
{
	static const char command[] =
	    "for shrunk in 1 0; do printf '%s\n' '#define _POSIX_C_SOURCE 200809L' '#include "
	    "\"input/private.h\"' 'static bool x_more(struct input *in);' '#if '$shrunk "
	    "'static bool x_shrunk(struct input *in);' '#endif' 'INPUT_SOURCE_OPS(x);' | cc -std=c11 -Isrc "
	    "-fsyntax-only -w -x c - 2> /dev/null && echo compiles || echo fails; done";
	char said[64] = "";
	FILE *const f = popen(command, "r");

	cr_assert_not_null(f);
	said[fread(said, 1, sizeof said - 1, f)] = '\0';
	pclose(f);
	cr_expect_str_eq(said, "compiles\nfails\n");
}

Test(input_pieces, another_file_in_its_place)
{
	struct bytes b = some_text(5000);
	struct input *const in = input_open_pieces(NULL, write_file(&b), 256);
	char other[sizeof sample_path + 2];

	cr_assert_not_null(in);
	snprintf(other, sizeof other, "%s.x", sample_path);
	cr_assert_eq(rename(sample_path, other), 0);
	write_file(&b);
	cr_expect_not(input_need(in, 5000));
	cr_expect_eq(in->fault, INPUT_CHANGED);
	input_close(in);
	unlink(other);
	free(b.p);
}

Test(input_pieces, missing_and_empty)
{
	struct bytes none = { .n = 0, .p = (char[]){ 0 } };
	struct input *in = input_open_pieces(NULL, "/nonexistent/file", 256);

	cr_assert_not_null(in);
	cr_expect_eq(in->fault, INPUT_MISSING);
	input_close(in);
	in = input_open_pieces(NULL, write_file(&none), 256);
	cr_assert_not_null(in);
	cr_expect_eq(in->fault, INPUT_EMPTY);
	input_close(in);
}

#define _GNU_SOURCE /* posix_openpt, mkdtemp */
#include "input/open.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input/test/memory_input.h"
#include "input/test/samples.h"

/* A folder of its own for each test. */
static char folder[] = "/tmp/input-test-XXXXXX";
static bool have_folder;

static const char *in_folder(const char *name)
{
	static char path[256];

	if (!have_folder && mkdtemp(folder) == NULL)
		abort();
	have_folder = true;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void clean(void)
{
	char command[256];

	snprintf(command, sizeof command, "rm -rf %s", folder);
	if (have_folder && system(command) != 0)
		abort();
}

TestSuite(input, .fini = clean);

static const char *file_with(const char *name, const char *p, size_t n)
{
	const char *path = in_folder(name);
	FILE *f = fopen(path, "wb");

	if (f == NULL || fwrite(p, 1, n, f) != n || fclose(f) != 0)
		abort();
	return path;
}

static void expect_fault(const char *path, enum input_fault fault, const char *text)
{
	struct input *in = input_open(path);

	cr_assert_not_null(in);
	cr_expect_eq(in->fault, fault, "%s: fault %d, %s", path, (int)in->fault, in->fault_text);
	cr_expect_not_null(strstr(in->fault_text, text), "%s: %s", path, in->fault_text);
	cr_expect_eq(in->p, in->end);
	cr_expect(in->last);
	cr_expect_not(input_more(in));
	cr_expect(!input_need(in, 1) && input_need(in, 0));
	cr_expect_eq(input_drain(in), 0);
	cr_expect_not(input_shrunk(in));
	input_release_read(in);
	cr_expect_str_eq(in->path, path);
	input_close(in);
}

static void expect_name(const char *path, const char *name)
{
	const struct input in = { .path = path };

	cr_expect(slice_is(input_name(&in), name), "%s", path);
}

Test(input, names)
{
	expect_name("a.bin", "a.bin");
	expect_name("/tmp/x/a.bin", "a.bin");
	expect_name("x/", "x/");
	expect_name("-", "standard input");
	expect_name("./-", "-");
}

Test(input, faults_of_named_things)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path;
	int fd;

	expect_fault(in_folder("none"), INPUT_MISSING, "No such file");
	expect_fault("/etc/passwd/x", INPUT_MISSING, "Not a directory");
	cr_assert_eq(symlink("nowhere", in_folder("link")), 0);
	expect_fault(in_folder("link"), INPUT_MISSING, "link to nowhere");
	expect_fault("/tmp", INPUT_NOT_A_FILE, "is a directory");
	expect_fault("/dev/null", INPUT_NOT_A_FILE, "is a character device");
	expect_fault("", INPUT_MISSING, "");
	path = in_folder("fifo");
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_fault(path, INPUT_NOT_A_FILE, "is a named FIFO: feed it to standard input");
	path = in_folder("socket");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	cr_assert_lt(strlen(path), sizeof address.sun_path);
	memcpy(address.sun_path, path, strlen(path));
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	expect_fault(path, INPUT_NOT_A_FILE, "is a socket");
	expect_fault(file_with("empty", "", 0), INPUT_EMPTY, "empty");
	expect_fault("/dev/fd/77", INPUT_SYSTEM, "Bad file descriptor");
	expect_fault("77", INPUT_MISSING, "");
}

Test(input, denied)
{
	const char *path = file_with("secret", "x", 1);

	chmod(path, 0);
	if (geteuid() == 0 && (chmod(folder, 0755) != 0 || seteuid(65534) != 0))
		cr_skip_test("cannot become somebody without rights");
	expect_fault(path, INPUT_DENIED, "Permission denied");
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
}

Test(input, standard_input_that_cannot_be_read)
{
	const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	int fd = open("/tmp", O_RDONLY);

	cr_assert_geq(dup2(fd, 0), 0);
	expect_fault("-", INPUT_NOT_A_FILE, "is a directory");
	fd = open("/dev/null", O_RDONLY);
	dup2(fd, 0);
	expect_fault("-", INPUT_EMPTY, "empty");
	expect_fault("/dev/stdin", INPUT_EMPTY, "empty");
	if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0) {
		fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);
		dup2(fd, 0);
		expect_fault("-", INPUT_NOT_A_FILE, "standard input is a terminal");
	}
	close(0);
	expect_fault("-", INPUT_SYSTEM, "Bad file descriptor");
}

Test(input, file_is_one_window)
{
	char bytes[100000];
	uint64_t seed = 1;
	struct input *in, *again;
	struct input_pins holds = { 0 };

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)random_next(&seed);
	in = input_open(file_with("plain", bytes, sizeof bytes));
	cr_assert_eq(in->fault, INPUT_OK);
	cr_expect(in->last);
	cr_expect_eq((size_t)(in->end - in->p), sizeof bytes);
	cr_expect_arr_eq(in->p, bytes, sizeof bytes);
	cr_expect_eq(input_file_size(in), sizeof bytes);
	cr_expect_eq(in->packing, INPUT_PLAIN);
	cr_expect_eq(input_offset(in, in->p + 5), 5);
	in->p += 99990;
	cr_expect_eq(input_offset(in, in->p), 99990);
	cr_expect(input_need(in, 10));
	cr_expect_not(input_need(in, 11));
	cr_expect_not(input_shrunk(in));
	cr_expect(input_can_reopen(in));
	again = input_reopen(in);
	cr_assert_not_null(again);
	cr_expect_eq(input_drain(in), 10);
	cr_expect_eq(input_drain(in), 0);
	cr_expect_arr_eq(again->p, bytes, sizeof bytes);
	input_pin(again, &holds);
	{
		const char *kept = again->p;

		input_close(again);
		input_close(in);
		cr_expect_arr_eq(kept, bytes, sizeof bytes);
	}
	input_pins_free(&holds);
	input_close(NULL);
}

/* Records: one byte of length class, four of length, the bytes.  Read from `in` and compared with the
 * original. */
struct retained {
	const char *p;
	size_t at, n;
};

static size_t make_records(char *to, size_t size, size_t longest, uint64_t seed)
{
	size_t n = 0;

	for (;;) {
		const uint64_t r = random_next(&seed);
		uint32_t length = (uint32_t)(r % (r >> 60 == 0 ? longest : 200));

		if (n + 4 + length > size)
			return n;
		memcpy(to + n, &length, 4);
		n += 4;
		for (uint32_t i = 0; i < length; i++)
			to[n++] = (char)(random_next(&seed) % 16);
	}
}

static void read_records(struct input *in, const char *bytes, size_t n, bool use_holds)
{
	struct retained *kept = malloc(n * sizeof *kept / 4 + sizeof *kept);
	struct input_pins holds = { 0 };
	size_t at = 0, nkept = 0;

	input_pin(in, use_holds ? &holds : NULL);
	while (input_need(in, 1)) {
		uint32_t length;

		cr_assert(input_need(in, 4));
		memcpy(&length, in->p, 4);
		in->p += 4;
		cr_assert(input_need(in, length));
		cr_assert_eq(input_offset(in, in->p), at + 4);
		cr_assert(memcmp(in->p, bytes + at + 4, length) == 0);
		kept[nkept++] = (struct retained){ in->p, at + 4, length };
		in->p += length;
		at += 4 + length;
	}
	cr_assert_eq(at, n, "%zu of %zu: %s", at, n, in->fault_text);
	cr_assert(in->last);
	for (size_t i = 0; use_holds && i < nkept; i++)
		cr_assert(memcmp(kept[i].p, bytes + kept[i].at, kept[i].n) == 0);
	input_close(in);
	for (size_t i = 0; use_holds && i < nkept; i++)
		cr_assert(memcmp(kept[i].p, bytes + kept[i].at, kept[i].n) == 0);
	input_pins_free(&holds);
	free(kept);
}

Test(input, memory_slowly)
{
	static char bytes[6000];
	const size_t n = make_records(bytes, sizeof bytes, 1000, 7);

	read_records(input_from_memory(bytes, n), bytes, n, false);
	for (size_t step = 1; step < 40; step++)
		read_records(input_from_memory_slowly(bytes, n, step), bytes, n, step % 2 == 0);
	read_records(input_from_memory_slowly(bytes, n, n - 1), bytes, n, true);
	read_records(input_from_memory_slowly(bytes, n, SIZE_MAX), bytes, n, true);
}

Test(input, memory_empty_and_reopened)
{
	struct input *in = input_from_memory("", 0), *again;

	cr_expect_eq(in->fault, INPUT_EMPTY);
	input_close(in);
	in = input_from_memory_slowly("abc", 3, 1);
	cr_expect_eq(in->end - in->p, 1);
	in->p++;
	again = input_reopen(in);
	cr_expect(input_need(again, 3));
	cr_expect_not(input_need(again, 4));
	cr_expect_arr_eq(again->p, "abc", 3);
	input_close(again);
	cr_expect_eq(input_drain(in), 2);
	input_close(in);
}

Test(input, pipe_records)
{
	static const struct {
		size_t size, longest, portion;
		unsigned pause;
	} cases[] = {
		{ 12 << 20, 10000, 1 << 16, 0 },   { 3 << 20, 200, 4093, 0 }, { 200000, 100000, 3000, 300 },
		{ 24 << 20, 6 << 20, 1 << 20, 0 }, { 30, 20, 1, 1000 },
	};
	char *bytes = malloc(24 << 20);

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const size_t n = make_records(bytes, cases[i].size, cases[i].longest, 3 + i);

		for (int held = 0; held < 2; held++) {
			const pid_t pid = pipe_in(bytes, n, cases[i].portion, cases[i].pause, false);
			struct input *in = input_open("-");

			cr_expect_eq(input_file_size(in), 0);
			cr_expect_not(input_can_reopen(in));
			cr_expect_null(input_reopen(in));
			read_records(in, bytes, n, held);
			waitpid(pid, NULL, 0);
		}
	}
	free(bytes);
}

Test(input, pipe_by_other_names)
{
	static const char *const names[] = { "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0" };

	for (size_t i = 0; i < 3; i++) {
		const pid_t pid = pipe_in("hello", 5, 2, 100, false);
		struct input *in = input_open(names[i]);

		cr_expect_eq(in->fault, INPUT_OK, "%s", in->fault_text);
		cr_expect(input_need(in, 5));
		cr_expect(in->last);
		cr_expect_arr_eq(in->p, "hello", 5);
		input_close(in);
		waitpid(pid, NULL, 0);
	}
}

Test(input, pipe_left_non_blocking_by_somebody)
{
	const pid_t pid = pipe_in("hello", 5, 1, 3000, false);
	struct input *in;

	fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
	in = input_open("-");
	cr_expect(input_need(in, 5));
	cr_expect_arr_eq(in->p, "hello", 5);
	input_close(in);
	waitpid(pid, NULL, 0);
}

Test(input, pipe_closed_early)
{
	char *bytes = calloc(1, 4 << 20);
	const pid_t pid = pipe_in(bytes, 4 << 20, 1 << 20, 0, false);
	struct input *in = input_open("-");

	cr_expect_geq(in->end - in->p, 65536);
	cr_expect_not(in->last);
	input_close(in);
	close(0);
	waitpid(pid, NULL, 0);
	free(bytes);
}

Test(input, pipe_drained)
{
	char *bytes = calloc(1, 5000000);
	const pid_t pid = pipe_in(bytes, 5000000, 1 << 20, 0, false);
	struct input *in = input_open("-");
	struct input_pins holds = { 0 };

	input_pin(in, &holds);
	in->p += 10;
	cr_expect_eq(input_drain(in), 4999990);
	cr_expect_eq(input_offset(in, in->p), 5000000);
	cr_expect_leq(holds.n, 2);
	input_close(in);
	input_pins_free(&holds);
	waitpid(pid, NULL, 0);
	free(bytes);
}

Test(input, standard_input_from_the_middle_of_a_file)
{
	const int fd = open(file_with("part", "0123456789", 10), O_RDONLY);
	struct input *in;

	dup2(fd, 0);
	in = input_open("-");
	cr_expect(in->last);
	cr_expect(input_can_reopen(in));
	cr_expect_arr_eq(in->p, "0123456789", 10);
	input_close(in);
	lseek(0, 4, SEEK_SET);
	in = input_open("-");
	cr_expect_eq(in->end - in->p, 6);
	cr_expect_arr_eq(in->p, "456789", 6);
	cr_expect_not(input_can_reopen(in));
	input_close(in);
}

Test(input, file_without_a_size)
{
	struct input *in = input_open("/proc/self/status");

	cr_expect_eq(in->fault, INPUT_OK, "%s", in->fault_text);
	cr_expect(input_need(in, 5));
	cr_expect_arr_eq(in->p, "Name:", 5);
	input_close(in);
}

Test(input, too_many_files_for_the_registry)
{
	enum { FILES = 4200 };
	static struct input *in[FILES];
	const char *path = file_with("small", "0123456789", 10);
	size_t mapped = 0;

	for (size_t i = 0; i < FILES; i++) {
		in[i] = input_open(path);
		/* A file that cannot be mapped is read, which needs a descriptor. */
		if (in[i]->fault == INPUT_SYSTEM)
			continue;
		cr_assert_eq(in[i]->fault, INPUT_OK, "%s", in[i]->fault_text);
		cr_assert_arr_eq(in[i]->p, "0123456789", 10);
		cr_assert(input_can_reopen(in[i]));
		mapped++;
	}
	cr_expect_geq(mapped, 4096);
	for (size_t i = 0; i < FILES; i++)
		input_close(in[i]);
}

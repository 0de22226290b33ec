#define _XOPEN_SOURCE 700 /* realpath */

#include <criterion/criterion.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/docs_test_util.h"

/*
 * docs/add-a-format.md, followed to the letter: its blocks become the
 * files they name, the program is linked with them, and its examples are run.
 * Everything else comes from the objects of this build, beside the program.
 */

#ifdef __clang__
#define COMPILER "clang"
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#else
#define COMPILER "gcc"
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED
#endif
#endif
#ifdef SANITIZED
#define SANITIZE "-fsanitize=address,undefined"
#else
#define SANITIZE ""
#endif

/* In the new folder $1, with the objects below $2.  The flags are those of the Makefile. */
static const char script[] =
    "warn=$(sed -n '/^WARN := /,/[^\\\\]$/p' Makefile | tr -d '\\\\' | sed 's/^WARN := //') || exit\n"
    "flags=\"-D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -I$1/formats -Isrc -Iformats " SANITIZE "\"\n"
    "for o in $(MAKEFLAGS= make -s BUILD=\"$2\" list-objects); do\n"
    "	case $o in */format/registry.o) ;; *) objects=\"$objects $o\" ;; esac\n"
    "done\n"
    "cat formats/formats.def >> \"$1/formats/formats.def\"\n"
    "exec " COMPILER
    " $warn $flags -o \"$1/tracetool\" \"$1\"/formats/tick/*.c src/format/registry.c $objects "
    "$(pkg-config --libs $(sed -n 's/^LIB_PC *:= *//p' Makefile)) -lpthread -lm\n";

/* A C block of it begins with a comment that is its path; one without goes to formats.def. */
static void write_block(const char *dir, const char *block)
{
	char name[256] = "formats/formats.def", path[1024];

	sscanf(block, "/* %255s */", name);
	const char *const text = strncmp(block, "/* ", 3) == 0 ? strchr(block, '\n') + 1 : block;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, text, strlen(text)), "cannot write %s", path);
}

static size_t write_blocks(const char *dir, const char *tutorial)
{
	char *block;
	size_t n = 0;

	for (; (block = markdown_block(&tutorial, "c")) != NULL; n++) {
		write_block(dir, block);
		free(block);
	}
	return n;
}

static void run_quietly(const char *const *argv)
{
	struct ran r = run_program(argv, NULL, 0);

	cr_assert_eq(r.status, 0, "%s %s: %s%s", argv[0], argv[1], r.out, r.err);
	ran_free(&r);
}

Test(docs_format, the_format_of_the_tutorial_builds_reads_and_writes)
{
	char *const tutorial = doc_text("docs/add-a-format.md"), *const dir = make_folder();
	char *const program = realpath(tool_path(), NULL), path[1024];
	const char *at = tutorial;

	cr_assert_not_null(program);
	snprintf(path, sizeof path, "%s/formats/tick", dir);
	run_quietly((const char *const[]){ "mkdir", "-p", path, NULL });
	cr_expect_eq(write_blocks(dir, tutorial), 7);

	/* ./tracetool is a copy; the objects are where it was linked */
	const char *objects = dirname(program);
	snprintf(path, sizeof path, "%s/src/main.o", objects);
	if (access(path, F_OK) != 0)
		objects = "build";
	run_quietly((const char *const[]){ "sh", "-c", script, "sh", dir, objects, NULL });

	snprintf(path, sizeof path, "%s/tracetool", dir);
	struct place p = place_make(path);
	char *const examples = markdown_block(&at, "console tick");
	cr_assert_not_null(examples);
	cr_expect(run_examples(&p, "docs/add-a-format.md", examples) > 0);
	free(examples);
	place_free(&p);
	run_quietly((const char *const[]){ "rm", "-rf", dir, NULL });
	free(dir);
	free(program);
	free(tutorial);
}

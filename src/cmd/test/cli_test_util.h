#ifndef CMD_CLI_TEST_UTIL_H
#define CMD_CLI_TEST_UTIL_H

#include <stdbool.h>
#include <stddef.h>

/* For tests that run the program as a user does: TRACETOOL_BIN names it, ./tracetool otherwise. */

struct ran {
	int status; /* exit status; 128 + n: killed by signal n; -1: took longer than 2 minutes, or could not
	               be started */
	char *out, *err; /* output, NUL-terminated */
	size_t out_n, err_n;
};

const char *tool_path(void);

/* Runs the program with these arguments (NULL-terminated, without its own name).  in: its standard input;
 * NULL: /dev/null.  ran_free() afterwards. */
struct ran run_tool(const char *const *args, const void *in, size_t in_n);

/* The same for any program; argv[0] is searched in PATH. */
struct ran run_program(const char *const *argv, const void *in, size_t in_n);

void ran_free(struct ran *r);

/* Expects this exit status, and these words in either output.  Frees r. */
void expect_ran(struct ran r, int status, const char *words);

/* Runs a command (at most 7 arguments, of which IN stands for the path) with one thread and with three, and
 * expects the same output, messages and status, 0 or 1.  what: for messages. */
void expect_same_for_threads(const char *const *command, const char *path, const char *what);

/* Read and write a whole file; NULL or false on failure.  A NUL follows the bytes that were read. */
char *read_whole(const char *path, size_t *n);
bool write_whole(const char *path, const void *p, size_t n);

/* Writes a file into a folder; fails the test if that cannot be done. */
void put_file(const char *dir, const char *name, const void *p, size_t n);

/* Compressed copies, to be freed; abort() when it cannot be done. */
void *gzip_copy(const void *p, size_t n, size_t *packed);
void *zstd_copy(const void *p, size_t n, size_t *packed);

/* A new folder of its own for a test; to be removed with remove_folder(), which frees the name too. */
char *make_folder(void);
void remove_folder(char *dir);

/* Names in a folder that end in suffix ("" for all), sorted; NULL-terminated. */
char **list_folder(const char *dir, const char *suffix);
void list_free(char **names);

#endif

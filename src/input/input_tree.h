#ifndef INPUT_INPUT_TREE_H
#define INPUT_INPUT_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "input/input_fault.h"

/*
 * The files under a folder.  Links are followed unless they lead out of it, and
 * folders on other file systems are left out; that there are such is one
 * problem.  Each folder is visited once (so loops of links are harmless), and
 * the folder itself may be a link.  The result does not depend on the order
 * in which the file system names things: files are sorted by the bytes of
 * their paths.
 */
struct input_tree_problem {
	char *path;
	enum input_fault fault; /* INPUT_MISSING, ..._DENIED, ..._NOT_A_FILE, ..._SYSTEM, ..._ELSEWHERE */
	char *text;             /* the reason, without the path */
};

struct input_tree {
	char **paths; /* the folder's name, a slash, and the way to the file */
	size_t n, cap;
	struct input_tree_problem *problems; /* what could not be looked into, sorted too */
	size_t nproblems, problems_cap;
	bool no_memory;
};

/* More files than these are not listed; that is a problem of the folder. */
#define INPUT_TREE_MAX 1000000

/* Whether the path leads to a folder.  false: it does not, or nobody can tell; input_open() says why. */
bool input_is_folder(const char *path);

/* Lists the files whose last name is wanted.  Things with a wanted name that are no regular files are
 * problems, and so is whatever cannot be looked at: it may be a folder.  Fills *t (zeroed before); end with
 * input_tree_free(). */
void input_tree_list(struct input_tree *t, const char *folder, bool (*wanted)(void *ctx, const char *name),
                     void *ctx);

/* Both texts are copied.  Without memory, no_memory is set. */
void input_tree_add_problem(struct input_tree *t, const char *path, enum input_fault fault, const char *text);

void input_tree_free(struct input_tree *t);

#endif

#ifndef FAULTS_FAULT_TREE_H
#define FAULTS_FAULT_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum { FAULT_TREE_BYTES = 4 << 20, FAULT_TREE_ENTRIES = 1024 };

/* A file or folder; path and bytes lie in the tree. */
struct fault_entry {
	const char *path; /* from the root on */
	const char *p;    /* NULL: a folder */
	size_t n;
};

/* Contents of a folder, each folder before what is in it, by name. */
struct fault_tree {
	struct fault_entry *list;
	unsigned n;
	char *bytes;
	size_t used;
};

bool fault_tree_init(struct fault_tree *t);

/* Reads all below the folder; false: it cannot be read, or is too large (errno). */
bool fault_tree_take(struct fault_tree *t, const char *folder);

/* Adds one file, under its name. */
bool fault_tree_add(struct fault_tree *t, const char *file);

/* Writes all into the folder. */
bool fault_tree_put(const struct fault_tree *t, const char *folder);

const struct fault_entry *fault_tree_find(const struct fault_tree *t, const char *path);

/* The same kind and bytes, or both are NULL. */
bool fault_entries_equal(const struct fault_entry *a, const struct fault_entry *b);

/* Removes what is in a folder. */
void fault_folder_empty(const char *path);

#endif

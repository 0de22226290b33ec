#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/options.h"

/* ---- run names ---- */

/*
 * All names of files that a run reads or writes.  They are compared before
 * anything is opened for writing: a file that is written is no other file of
 * the run, and lies in no folder that is written.  Names are the same if they
 * lead to one file, whatever they look like; of what does not exist, if they
 * end in the same way below one folder.
 */
struct run_names {
	struct options *options; /* borrowed, as all names are */
	const char *const *in;   /* operands; what lies in folders counts too */
	size_t nin;
	bool all_files; /* of folders, not only those that are named like traces */
	struct run_name {
		const char *role; /* for messages: "report", "key" */
		const char *path;
		bool written, folder;
	} * list;
	uint32_t n, cap;
	bool no_memory;
};

/* Begins with the operands, and what the common options name: vocabularies, files of formats' own options,
 * reports.  -o is the command's to add, as its OUT may be an operand. */
void run_names_begin(struct run_names *n, struct options *o, const char *const *in, size_t nin);

/* Each adds one; path NULL: it was not given. */
void run_names_read(struct run_names *n, const char *role, const char *path);
void run_names_written(struct run_names *n, const char *role, const char *path);
void run_names_folder(struct run_names *n, const char *role, const char *path);

/* Compares them, and frees.  false after a message, and status set: STATUS_USAGE. */
bool run_names_end(struct run_names *n);

/* All of it for a command that reads operands and writes what -o names. */
bool run_names_check(struct options *o, const char *const *in, size_t nin);

/* ---- operand names ---- */

/* Whether what the paths name can be read as one trace: a folder holds one, or files of one format each of
 * which is one.  false after a message, and o->status set. */
bool names_one_trace(struct options *o, const char *const *in, size_t n);

#endif

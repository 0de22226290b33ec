#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/options.h"

/* ---- run names ---- */

/*
 * All names of files that a run reads or writes.  They are compared before
 * anything is opened for writing: a written file must not be another file of
 * the run, nor be in a folder that is written.  Names are the same if they lead
 * to one file.  Names of missing files are the same if they have the same path
 * below the same existing folder.
 */
struct run_names {
	struct options *options; /* borrowed, as all names are */
	const char *const *in;   /* operands; files in folders are compared too */
	size_t nin;
	const struct operands *listed; /* borrowed listing of these operands; NULL: folders are listed here */
	bool all_files;                /* compare all files in folders, not only those with names of traces */
	struct run_name {
		const char *role; /* for messages: "report", "key" */
		const char *path;
		bool written, folder;
	} * list;
	uint32_t n, cap;
	bool no_memory;
};

/* Begins with the operands and the files of common options: vocabularies, files of formats' own options,
 * reports.  The command adds its output (-o), as OUT may be an operand. */
void run_names_begin(struct run_names *n, struct options *o, const char *const *in, size_t nin);

/* Each function adds a name.  A NULL path is ignored. */
void run_names_read(struct run_names *n, const char *role, const char *path);
void run_names_written(struct run_names *n, const char *role, const char *path);
void run_names_folder(struct run_names *n, const char *role, const char *path);

/* Adds the file of -o; without -o, the file that is standard output. */
void run_names_output(struct run_names *n);

/* Compares all names, and frees the list.  Returns false after a message, with status STATUS_USAGE. */
bool run_names_end(struct run_names *n);

/* All steps together, for a command that reads operands and writes the file of -o. */
bool run_names_check(struct options *o, const char *const *in, size_t nin);

/* ---- operand names ---- */

/* Whether each path can be read as one trace.  A folder must have one trace, or files of one format that each
 * are a trace.  Returns false after a message, with o->status set. */
bool names_one_trace(struct options *o, const char *const *in, size_t n);

/* The format of all traces in a folder or an archive, by the names of its files; NULL: there are several, or
 * none. */
const struct format *names_format(const char *path);

#endif

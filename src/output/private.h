#ifndef OUTPUT_PRIVATE_H
#define OUTPUT_PRIVATE_H

#include "base/table.h"
#include "output/output.h"
#include "output/text.h"

/*
 * Declarations that the files of output/ share:
 *
 *     file.c            an output of one file
 *     pack.c            compression
 *     file_publish.c    temporary names, the step to the final one, removal by signals
 *     folder.c          an output of several files
 *     folder_publish.c  the name of a folder: its list of files, what it replaces
 */

/* ---- failures (file.c) ---- */

/* The first failure of an output, as a message "NAME: REASON".  Zero-initialise, then call
 * output_failure_init(). */
struct output_failure {
	int error;   /* errno; 0: none */
	char *name;  /* name of the output, escaped for a terminal */
	char *text;  /* allocated at the start, so that a lack of memory can be reported */
	size_t size; /* size of `text` in bytes */
};

bool output_failure_init(struct output_failure *f, const char *name);
void output_failure_free(struct output_failure *f);

enum { OUTPUT_FILE_NAME_MAX = 1024 /* max bytes of the name of a file in a folder */ };

/* Set the first failure, and return false.  reason NULL: the text of errno.  file: a file in the folder, at
 * most OUTPUT_FILE_NAME_MAX bytes. */
bool output_failure_set(struct output_failure *f, int error);
bool output_failure_because(struct output_failure *f, int error, const char *reason);
bool output_failure_in(struct output_failure *f, const char *file, int error, const char *reason);

/* Returns NULL if there is no failure. */
const char *output_failure_text(const struct output_failure *f);

/* Copies the message, NUL-terminated, into n bytes.  A long message is cut at the start of the name, so that
 * the reason is complete. */
void output_failure_copy(const struct output_failure *f, char *why, size_t n);

/* The message without a struct output_failure.  name: not escaped. */
void output_failure_no_memory(const char *name, char *why, size_t n);

/* Computes the sum of a regular file.  Returns 0, or an errno value; EINVAL: not a regular file. */
int byte_sum_read(struct byte_sum *s, const char *path);

/* ---- pack.c ---- */

/* A compressed stream. */
struct output_pack;

/* Consumes packed bytes; false ends the call of output_pack_feed(). */
typedef bool output_pack_sink(void *to, const char *p, size_t n);

/* threads: number of threads that may compress, including the caller's; at least 1. */
struct output_pack *output_pack_open(enum output_packing packing, unsigned threads);

/* Packs n bytes; `last`, which is set once, also writes the end of the stream.  The packed bytes do not
 * depend on the sizes of the calls.  Returns NULL (also if the sink returned false), or the failure of the
 * library as a constant text. */
const char *output_pack_feed(struct output_pack *k, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to);
void output_pack_close(struct output_pack *k); /* NULL is fine */

/* ---- file_publish.c ---- */

/* An entry in the list of files and folders that the handlers of output_handle_signals() remove. */
struct output_registered;

/* Adds a file or folder that was created in the folder of the entry; the last one added is removed first. */
bool output_register_inside(struct output_registered *folder, const char *path, bool is_folder);

/* A file or folder with a temporary name next to its target.  It is registered until it is published or
 * removed. */
struct output_temp {
	char *path;         /* the temporary name; NULL: there is no file */
	const char *target; /* borrowed; must stay valid as long as the temporary name */
	struct output_registered *entry;
	int dir; /* both names are relative to it; AT_FDCWD: both are paths */
	bool folder;
	enum output_temp_named {
		TEMP_UNNAMED,
		TEMP_NAMED,   /* it has its target's name, which can be taken back */
		TEMP_SWAPPED, /* as TEMP_NAMED, and the replaced file has the temporary name */
	} named;
};

/* Creates the file for writing next to `target`, whose links must be followed already.  dir: an open folder
 * with this name, which must stay open until the file is published or removed; AT_FDCWD: target is a path.
 * keep_mode: its permission bits; -1: 0666 less the umask.  Returns the descriptor, or -1 with errno; then no
 * file is left. */
int output_temp_create(struct output_temp *t, int dir, const char *target, int keep_mode);

/* Creates a folder next to `target`, with the mode 0777 less the umask.  Returns false with errno set; then
 * no folder is left. */
bool output_temp_create_folder(struct output_temp *t, const char *target);

/* Gives the file its target's name.  Returns 0, or an errno value (then the file still has its temporary
 * name); EEXIST: the target exists and `replace` is false. */
int output_temp_publish(struct output_temp *t, bool replace);

/* Likewise, but the step can be undone until output_temp_remove(): the replaced file is kept until then, if
 * the file system supports that. */
int output_temp_try(struct output_temp *t, bool replace);

/* Undoes output_temp_try(): the replaced file gets its name back. */
void output_temp_take_back(struct output_temp *t);

/* Ends the registration of a file that has another name now, or is gone. */
void output_temp_forget(struct output_temp *t);

/* Removes the file, if there is one, or the replaced file after output_temp_try(); for a folder also the
 * contents that were registered. */
void output_temp_remove(struct output_temp *t);

/* ---- folder_publish.c ---- */

/* A file of an output folder, as its line in the list OUTPUT_FOLDER_LIST describes it. */
struct folder_file {
	char *name; /* in a list that was read: part of its text */
	struct byte_sum sum;
};

/* Appends the list of these files. */
void folder_list_put(struct text *t, const struct folder_file *files, uint32_t n);

/* Returns "A/B", malloced. */
char *folder_path(const char *a, const char *b);

/* Why a folder must not be replaced; all 0: it may be. */
struct folder_wrong {
	const char *text; /* a constant; NULL: no mistake is known */
	int error;        /* or errno of a check that failed */
};

/* The contents of a folder that an output is to replace, compared with the list in it. */
struct folder_old {
	struct text text;       /* text of the list */
	struct tabletext names; /* names in the list, to indexes in listed[] */
	struct folder_file *listed;
	uint32_t nlisted, listed_cap;
	struct folder_entry {
		char *path;
		bool is_folder;
	} * entries; /* all entries of the folder, each folder before its contents */
	uint32_t n, cap;
};

/* Reads the folder, its list and the files.  The folder may be removed if it is empty, or if its list has
 * every file in it with its size and sum; otherwise the reason is returned. */
struct folder_wrong folder_old_read(struct folder_old *old, const char *path);

/* Removes the entries that were read, and the folder.  Returns 0, or an errno value; then a part of the
 * folder may be gone. */
int folder_old_remove(const struct folder_old *old, const char *path);
void folder_old_free(struct folder_old *old);

/* Exchanges two paths: rename_exchange(), or a test's function. */
typedef int folder_exchange(const char *a, const char *b);

/* Gives a temporary folder the name of its target, which may exist with `replace` if tracetool made it.
 * Returns false after setting *failure; then the target is unchanged, unless the failure names a part of the
 * old folder that could not be removed. */
bool folder_publish(struct output_temp *temp, bool replace, folder_exchange *exchange,
                    struct output_failure *failure);

/* Whether a path may become an output folder.  Returns false after setting *failure. */
bool folder_may_replace(const char *path, bool replace, struct output_failure *failure);

#endif

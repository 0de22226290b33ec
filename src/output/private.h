#ifndef OUTPUT_PRIVATE_H
#define OUTPUT_PRIVATE_H

#include "base/table.h"
#include "output/output.h"
#include "output/text.h"

/*
 * What the files of an output share:
 *
 *     file.c            an output of one file
 *     pack.c            compression
 *     file_publish.c    temporary names, the step to the final one, removal by signals
 *     folder.c          an output of several files
 *     folder_publish.c  the name of a folder: its list of files, what it replaces
 */

/* ---- failures (file.c) ---- */

/* The first failure of an output, as a message "NAME: REASON".  Zero-initialise, then init. */
struct output_failure {
	int error;   /* errno; 0: none */
	char *name;  /* of the output, escaped for a terminal */
	char *text;  /* allocated from the start, so that a lack of memory can be reported */
	size_t size; /* of text, bytes */
};

bool output_failure_init(struct output_failure *f, const char *name);
void output_failure_free(struct output_failure *f);

enum { OUTPUT_FILE_NAME_MAX = 1024 /* bytes of the name of a file in a folder */ };

/* Set the first failure, and return false.  reason NULL: the text of errno.  file: in a folder, at most
 * OUTPUT_FILE_NAME_MAX bytes. */
bool output_failure_set(struct output_failure *f, int error);
bool output_failure_because(struct output_failure *f, int error, const char *reason);
bool output_failure_in(struct output_failure *f, const char *file, int error, const char *reason);

/* NULL: none. */
const char *output_failure_text(const struct output_failure *f);

/* Copies the message, NUL-terminated, into n bytes.  A message that is too long loses the start of the name,
 * not the reason. */
void output_failure_copy(const struct output_failure *f, char *why, size_t n);

/* The message without a struct output_failure.  name: not escaped. */
void output_failure_no_memory(const char *name, char *why, size_t n);

/* The text of errno: strerror() for threads. */
void output_errno_text(char *text, size_t size, int error);

/* The sum of a regular file.  0, or an errno value; EINVAL: not a regular file. */
int byte_sum_read(struct byte_sum *s, const char *path);

/* ---- pack.c ---- */

/* A compressed stream. */
struct output_pack;

/* Consumes packed bytes; false ends the call of output_pack_feed(). */
typedef bool output_pack_sink(void *to, const char *p, size_t n);

/* threads: that may compress, the caller's among them; from 1. */
struct output_pack *output_pack_open(enum output_packing packing, unsigned threads);

/* Packs n bytes; `last` also writes the end of the stream, once.  The packed bytes do not depend on how the
 * input is cut into calls.  Returns NULL (also if the sink returned false), or why the library failed, a
 * constant text. */
const char *output_pack_feed(struct output_pack *k, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to);
void output_pack_close(struct output_pack *k); /* NULL is fine */

/* ---- file_publish.c ---- */

/* An entry in the list of files and folders that the handlers of output_handle_signals() remove. */
struct output_registered;

/* Adds a file or folder that was created in the folder of the entry; the last one is removed first. */
bool output_register_inside(struct output_registered *folder, const char *path, bool is_folder);

/* A file or folder with a temporary name next to its target.  It is registered until it is published or
 * removed. */
struct output_temp {
	char *path;         /* the temporary name; NULL: there is no file */
	const char *target; /* borrowed; must live as long as the temporary name */
	struct output_registered *entry;
	int dir; /* both names are relative to it; AT_FDCWD: paths */
	bool folder;
	enum output_temp_named {
		TEMP_UNNAMED,
		TEMP_NAMED,   /* has its target's name, which can be taken back */
		TEMP_SWAPPED, /* likewise, and the replaced file has the temporary name */
	} named;
};

/* Creates the file for writing next to `target` (whose links are followed already).  keep_mode: its
 * permission bits; -1: 0666 less the umask.  Returns the descriptor, or -1 with errno and nothing left. */
int output_temp_create(struct output_temp *t, const char *target, int keep_mode);

/* Likewise in an open folder, which stays open until the file is published or removed; target: its name
 * there. */
int output_temp_create_in(struct output_temp *t, int dir, const char *target, int keep_mode);

/* Creates a folder next to `target`, with the mode 0777 less the umask.  Returns false with errno set and
 * nothing left. */
bool output_temp_create_folder(struct output_temp *t, const char *target);

/* Gives the file its target's name.  0, or an errno value (the file then still has its temporary name);
 * EEXIST: the target exists and `replace` is false. */
int output_temp_publish(struct output_temp *t, bool replace);

/* Likewise, but can be taken back until output_temp_remove(): the replaced file is kept until then, if the
 * file system can do that. */
int output_temp_try(struct output_temp *t, bool replace);

/* Takes the name away again, and gives it back to the replaced file. */
void output_temp_take_back(struct output_temp *t);

/* Ends the registration of a file that has another name now, or is gone. */
void output_temp_forget(struct output_temp *t);

/* Removes the file, if there is one, or after output_temp_try() the replaced one; with a folder also what was
 * registered as inside. */
void output_temp_remove(struct output_temp *t);

/* ---- folder_publish.c ---- */

/* A file of an output folder, as its line in the list OUTPUT_FOLDER_LIST describes it. */
struct folder_file {
	char *name; /* of a list that was read: in its text */
	struct byte_sum sum;
};

/* Appends the list of these files. */
void folder_list_put(struct text *t, const struct folder_file *files, uint32_t n);

/* "A/B", malloced. */
char *folder_path(const char *a, const char *b);

/* Why a folder must not be replaced; all 0: it may be. */
struct folder_wrong {
	const char *text; /* a constant; NULL: nothing is known to be wrong */
	int error;        /* or errno: the check failed */
};

/* The contents of a folder that an output is to replace, compared with the list in it. */
struct folder_old {
	struct text text;       /* of the list */
	struct tabletext names; /* in the list -> listed[] */
	struct folder_file *listed;
	uint32_t nlisted, listed_cap;
	struct folder_entry {
		char *path;
		bool is_folder;
	} * entries; /* all in it, folders before their contents */
	uint32_t n, cap;
};

/* Reads the folder, its list and the files.  Nothing is wrong if it is empty, or if its list names every file
 * with its size and sum: then it may be removed. */
struct folder_wrong folder_old_read(struct folder_old *old, const char *path);

/* Removes the entries that were read, and the folder.  0, or an errno value: then a part may be gone. */
int folder_old_remove(const struct folder_old *old, const char *path);
void folder_old_free(struct folder_old *old);

/* Exchanges two paths: rename_exchange(), or a test's function. */
typedef int folder_exchange(const char *a, const char *b);

/* Gives a temporary folder the name of its target; with `replace` that may be a folder which tracetool made.
 * Returns false after setting *failure; the target is then unchanged, unless the failure names what could not
 * be removed of the old one. */
bool folder_publish(struct output_temp *temp, bool replace, folder_exchange *exchange,
                    struct output_failure *failure);

/* Whether a path may become the output.  Returns false after setting *failure. */
bool folder_may_replace(const char *path, bool replace, struct output_failure *failure);

#endif

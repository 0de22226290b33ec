#ifndef OUTPUT_PRIVATE_H
#define OUTPUT_PRIVATE_H

#include <isa-l/crc64.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "output/text.h"

/* ---- byte sum ---- */

/* Bytes that were written, and their sum: CRC-64/ECMA-182 (reflected), which differs whenever no more than 64
 * bits in a row do.  Zero-initialise to start. */
struct byte_sum {
	uint64_t bytes, sum;
};

static inline void byte_sum_add(struct byte_sum *s, const char *p, size_t n)
{
	s->bytes += n;
	if (n > 0)
		s->sum = crc64_ecma_refl(s->sum, (const unsigned char *)p, n);
}

static inline bool byte_sum_equal(const struct byte_sum *a, const struct byte_sum *b)
{
	return a->bytes == b->bytes && a->sum == b->sum;
}

#define BYTE_SUM_DIFFERS "the bytes that are read back are not those that were written"

/* Reads a regular file.  0, or an errno value; EINVAL: it is none. */
int byte_sum_read(struct byte_sum *s, const char *path);

/* ---- output failure ---- */

/* The first thing that failed in an output, as a message "NAME: REASON".  Zero-initialise to start. */
struct output_failure {
	int error;  /* errno; 0: nothing failed */
	char *name; /* of the output, as a terminal may show it */
	char *text; /* has room for the message from the start */
	size_t size;
};

/* false: no memory. */
bool output_failure_init(struct output_failure *f, const char *name);
void output_failure_free(struct output_failure *f);

/* Remember the first failure; all return false.  reason: NULL is that of errno.  file: of a folder, not
 * longer than OUTPUT_FAILURE_FILE_MOST bytes. */
enum { OUTPUT_FAILURE_FILE_MOST = 1024 };

bool output_failure_set(struct output_failure *f, int error);
bool output_failure_because(struct output_failure *f, int error, const char *reason);
bool output_failure_in(struct output_failure *f, const char *file, int error, const char *reason);

/* NULL: nothing failed. */
const char *output_failure_text(const struct output_failure *f);

/* Copies the message, NUL-terminated, into n bytes.  When it is too long, the start of the name goes, not the
 * reason. */
void output_failure_tell(const struct output_failure *f, char *why, size_t n);

/* The message when there was no memory for a struct output_failure.  name: as it came, not escaped. */
void output_failure_no_memory(const char *name, char *why, size_t n);

/* ---- output pack ---- */

enum output_packing { OUTPUT_PLAIN, OUTPUT_GZIP, OUTPUT_ZSTD };

/* One compressed stream under way. */
struct output_pack;

/* Takes packed bytes; false: they could not be written. */
typedef bool output_pack_sink(void *to, const char *p, size_t n);

/* What the name asks for: .gz, .zst, or neither. */
enum output_packing output_packing_of(const char *path);

/* NULL: no memory. */
struct output_pack *output_pack_open(enum output_packing packing);

/* Packs n bytes; `last` also writes the end of the stream, once.  The packed bytes depend on how the input is
 * cut into calls, so equal output needs equal pieces.  NULL, or why the library failed (a constant text); a
 * sink that returns false ends the call early with NULL, the sink knows why. */
const char *output_pack_feed(struct output_pack *k, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to);
void output_pack_close(struct output_pack *k); /* NULL is fine */

/* ---- output register ---- */

/*
 * What the handlers of output_handle_signals() remove before the process ends:
 * files, and folders with what was made in them.
 */
struct output_registered;

/* Around the creation of something and its entry here: no signal finds the one without the other.  false: the
 * process is about to be ended by a signal; create nothing (errno: EINTR). */
struct output_register_hold {
	sigset_t before;
	bool blocked, held;
};

bool output_register_begin(struct output_register_hold *h);
void output_register_end(const struct output_register_hold *h); /* keeps errno */

/* Enters what was made in that folder; removed before the folder, the last one first.  false: no memory. */
bool output_register_inside(struct output_registered *folder, const char *path, bool is_folder);

/* ---- output temp ---- */

/*
 * A file or a folder that grows under a temporary name beside its target.  From
 * creation until it is published or removed, its name stands in the register of
 * output_register.h.
 */
struct output_temp {
	char *path;         /* the temporary name; NULL: there is no such file */
	const char *target; /* the caller's; must live as long as the file has its temporary name */
	struct output_registered *entry;
	int dir; /* where both begin; AT_FDCWD: as any path */
	bool folder;
	enum output_temp_named {
		TEMP_UNNAMED,
		TEMP_NAMED,   /* it has its target's name, and can give it back */
		TEMP_SWAPPED, /* the same, and what had that name before has its temporary one */
	} named;
};

/* Creates the file for writing, beside `target` (whose links are already followed).  keep_mode: the
 * permission bits it gets; -1: 0666 less the umask.  The descriptor, or -1 with errno set and nothing left
 * behind. */
int output_temp_create(struct output_temp *t, const char *target, int keep_mode);

/* The same for a file in an open folder, which stays open until the file is published or removed; target: its
 * name there. */
int output_temp_create_in(struct output_temp *t, int dir, const char *target, int keep_mode);

/* Creates a folder beside `target`, with the mode 0777 less the umask.  false: errno, and nothing is left
 * behind. */
bool output_temp_create_folder(struct output_temp *t, const char *target);

/* Gives the file its target's name.  0, or an errno value (the file then still has its temporary name);
 * EEXIST: the target exists and `replace` is false. */
int output_temp_publish(struct output_temp *t, bool replace);

/* The same of a file, so that it can be taken back until output_temp_remove(): what is replaced is kept so
 * long, if the file system has a way to do so. */
int output_temp_try(struct output_temp *t, bool replace);

/* Takes the name away again, and gives it back to who had it. */
void output_temp_take_back(struct output_temp *t);

/* It has another name now, or is gone: it will not be removed. */
void output_temp_forget(struct output_temp *t);

/* Removes the file, if there still is one, or after output_temp_try() the one that it replaced; of a folder
 * also what was registered as inside. */
void output_temp_remove(struct output_temp *t);

/* ---- folder files ---- */

enum { FOLDER_FILES_OPEN = 64 };

/* A file that was put into a temporary folder. */
struct folder_file {
	char *name;
	uint32_t slot; /* UINT32_MAX: it is not open */
	bool created;
	struct byte_sum given; /* that were put */
};

struct folder_slot {
	int fd;        /* -1: nobody's */
	uint32_t file; /* whose it is */
	uint64_t used; /* when last */
	size_t n;      /* bytes that wait */
	char *held;
};

/* The files of a temporary folder: few of them open, small writes gathered.  Zero-initialise to start, then
 * folder_files_init(). */
struct folder_files {
	struct output_temp *temp; /* borrowed */
	struct folder_file *files;
	uint32_t n, cap;
	struct tabletext by_name;
	struct tabletext folders; /* that were made; their names lie in those of files */
	struct folder_slot slots[FOLDER_FILES_OPEN];
	uint64_t clock;
	uint32_t last;        /* the file that was put last */
	uint32_t failed_file; /* which one a failure is about; UINT32_MAX: none of them */
};

/* ---- folder list ---- */

/*
 * The list OUTPUT_FOLDER_LIST of an output folder, by which tracetool knows a
 * folder that it wrote:
 *
 *     tracetool-files 1 COUNT SUM
 *     BYTES SUM NAME
 *     ...
 *
 * The first SUM is that of the lines below; each other one of the bytes of its
 * file.  Sums are CRC-64/ECMA-182 (reflected), 16 hexadecimal digits.
 */

/* Appends the list of these files. */
void folder_list_put(struct text *t, const struct folder_file *files, uint32_t n);

struct folder_list {
	struct text text;       /* the bytes of the file; names lie in it */
	struct tabletext names; /* -> files[] */
	struct folder_listed {
		struct slice name; /* valid by folder_name_wrong() */
		struct byte_sum is;
	} * files;
	uint32_t n, cap;
};

/* Why a folder is not to be replaced; all 0: it may be. */
struct folder_wrong {
	const char *text; /* what is wrong with it (a constant); NULL: nothing that was seen */
	int error;        /* or errno: it could not be looked at */
};

/* Whether the folder has a list that is to be believed, and all its files with the sizes in it.  *error: 0,
 * or errno if that could not be found out. */
bool folder_is_complete(const char *folder, int *error);

/* ---- folder old ---- */

/* What lies in a folder that an output is to replace, compared with the list of files in it. */
struct folder_old {
	struct folder_list list;
	char **files, **folders; /* paths of what there is, folders before what is in them */
	uint32_t nfiles, nfolders, files_cap, folders_cap;
};

/* Reads the folder, its list and the files.  Nothing is wrong: it is empty, or its list names every file with
 * the size and the sum that it has, and it may be removed. */
struct folder_wrong folder_old_read(struct folder_old *old, const char *path);

/* Removes what was read, and the folder.  0, or an errno value: then a part may be gone. */
int folder_old_remove(const struct folder_old *old, const char *path);
void folder_old_free(struct folder_old *old);

/* ---- folder publish ---- */

/* How paths are exchanged: rename_exchange(), or what a test puts in its place. */
typedef int folder_exchange(const char *a, const char *b);

/* Gives a temporary folder the name of its target, which `replace` allows to be a folder that tracetool made:
 * see output_folder.h.  false after setting *failure; the target is as it was then, unless the failure says
 * what could not be removed of the old one. */
bool folder_publish(struct output_temp *temp, bool replace, folder_exchange *exchange,
                    struct output_failure *failure);

/* Whether a path may become the output.  false after setting *failure. */
bool folder_may_replace(const char *path, bool replace, struct output_failure *failure);

#endif

#ifndef OUTPUT_FOLDER_FILES_H
#define OUTPUT_FOLDER_FILES_H

#include "base/table.h"
#include "output/byte_sum.h"
#include "output/output_temp.h"

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

void folder_files_init(struct folder_files *f, struct output_temp *temp);

/* Adds to a file, whose name was checked, and makes it if there is none yet.  0, or an errno value, so too
 * below. */
int folder_files_put(struct folder_files *f, const char *name, const char *p, size_t n);

/* Writes out what waits, and closes all. */
int folder_files_close(struct folder_files *f);

/* After that: reads all files.  EBADMSG: the bytes of one are not those that were put. */
int folder_files_check(struct folder_files *f);

/* Closes what is open, and frees. */
void folder_files_free(struct folder_files *f);

#endif

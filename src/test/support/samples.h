#ifndef TESTING_SAMPLES_H
#define TESTING_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Samples of a format: small traces, good and bad, with the findings of `tracetool validate`.  They are text
 * in formats/X/test/samples, which assemble.c reads (docs/samples.md) and make_testdata writes to testdata/X.
 */

#define SAMPLE_FILES 8
#define SAMPLE_FINDINGS 16
#define SAMPLE_NAME 120

struct sample_file {
	char name[SAMPLE_NAME]; /* below testdata/X */
	unsigned char *p;
	size_t n;
};

struct sample {
	char name[SAMPLE_NAME]; /* "bad/cut-record" */
	bool folder;            /* any number of files; else a single file */
	int exit_status;        /* of validate; -1: not set, no findings above notes */
	int records;            /* records kept; -1: not set */
	char dialect[16];       /* "": not set */
	struct sample_file files[SAMPLE_FILES];
	size_t nfiles;
	struct {
		char rule[64]; /* with the name of the format */
		uint64_t offset;
		unsigned rank; /* position in the order of reports */
	} findings[SAMPLE_FINDINGS];
	size_t nfindings;
};

struct samples_of {
	struct sample *list;
	size_t n;
};

/* Reads all samples of a format from the working directory, the root of the tree.  Returns false after a
 * message on standard error.  A format may have none. */
bool samples_read(struct samples_of *all, const char *format);
void samples_free(struct samples_of *all);

/* Writes a sample below DIR, with NAME.expect if its exit status is set.  Returns false after a message. */
bool sample_write(const struct sample *s, const char *dir);

/* ---- the assembler ---- */

/* Adds the samples of a file to all.  Returns false after a message with its line. */
bool samples_assemble(struct samples_of *all, const char *format, const char *path);

/* Compress to the same bytes everywhere: a gzip member of at most 64 KiB or a zlib stream, with one block,
 * which is stored or has literals in the fixed code.  Return the length;
 * out has space for 2 * n + 64 bytes. */
size_t gzip_stored(unsigned char *out, const unsigned char *p, size_t n);
size_t gzip_fixed(unsigned char *out, const unsigned char *p, size_t n);
size_t zlib_fixed(unsigned char *out, const unsigned char *p, size_t n);

#endif

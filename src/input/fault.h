#ifndef INPUT_FAULT_H
#define INPUT_FAULT_H

#include <stdbool.h>

/* Faults of an input itself, which any format can have.  Those up to INPUT_CHANGED prevent reading. */
enum input_fault {
	INPUT_OK,
	INPUT_MISSING,    /* no such file, or a dangling link */
	INPUT_DENIED,     /* no permission */
	INPUT_NOT_A_FILE, /* directory, FIFO, device, socket, terminal */
	INPUT_EMPTY,      /* no bytes at all (also: a compressed stream without bytes) */
	INPUT_SYSTEM,     /* failure to read, map, allocate memory or start a thread */
	INPUT_SHRUNK,     /* the file became shorter while it was mapped */
	INPUT_CHANGED,    /* not the file of an earlier pass, or written to while it was read */
	/* The bytes before it are read. */
	INPUT_CUT,     /* the compressed stream, or archive, ends early */
	INPUT_CORRUPT, /* the compressed stream, or archive, is damaged (bits, checksum, length) */
	/* Warnings: the rest is read. */
	INPUT_TRAILING,  /* bytes after the compressed stream that are not a further member */
	INPUT_REPLACED,  /* several files of one name in an archive, of which one is read */
	INPUT_ELSEWHERE, /* left out: links that lead out of a folder, other file systems in it */
	INPUT_PASSED,    /* left out: packed files in a folder, names that would be wanted in lower case */
	INPUT_NO_TRACE,  /* files in a folder that have the suffix of a trace but are not traces */
};

static inline bool input_fault_is_warning(enum input_fault fault)
{
	return fault >= INPUT_TRAILING;
}

enum input_packing { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD, INPUT_XZ };

#endif

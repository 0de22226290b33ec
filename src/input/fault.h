#ifndef INPUT_FAULT_H
#define INPUT_FAULT_H

#include <stdbool.h>

/* Faults of an input itself, in any format. */
enum input_fault {
	INPUT_OK,
	INPUT_MISSING,    /* no such file, or a link to nowhere */
	INPUT_DENIED,     /* no permission */
	INPUT_NOT_A_FILE, /* directory, FIFO, device, socket, terminal */
	INPUT_EMPTY,      /* no bytes at all (also: a compressed stream of no bytes) */
	INPUT_SYSTEM,     /* read, map, memory, thread */
	INPUT_SHRUNK,     /* the file became shorter while it was mapped */
	INPUT_CHANGED,    /* another file than in an earlier pass, or written to while it was read */
	INPUT_CUT,        /* the compressed stream, or archive, ends early */
	INPUT_CORRUPT,    /* the compressed stream, or archive, is damaged (bits, checksum, length) */
	/* Warnings: the rest is read. */
	INPUT_TRAILING,  /* bytes after the compressed stream that are no further member */
	INPUT_REPLACED,  /* of several files of one name in an archive one is read */
	INPUT_ELSEWHERE, /* links out of a folder, or other file systems in it, are left out */
	INPUT_PASSED,    /* archives in a folder, or names that are wanted in lower case only, are left out */
	INPUT_NO_TRACE,  /* files in a folder that have the suffix of a trace and are none */
};

static inline bool input_fault_is_warning(enum input_fault fault)
{
	return fault >= INPUT_TRAILING;
}

enum input_packing { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD, INPUT_XZ };

#endif

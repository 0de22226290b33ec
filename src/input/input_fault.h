#ifndef INPUT_INPUT_FAULT_H
#define INPUT_INPUT_FAULT_H

#include <stdbool.h>

/* What can be wrong with an input itself, whatever its format. */
enum input_fault {
	INPUT_OK,
	INPUT_MISSING,    /* no such file, or a link to nowhere */
	INPUT_DENIED,     /* no permission */
	INPUT_NOT_A_FILE, /* directory, FIFO, device, socket, terminal */
	INPUT_EMPTY,      /* no bytes at all (also: a compressed stream of no bytes) */
	INPUT_SYSTEM,     /* read, map, memory, thread */
	INPUT_SHRUNK,     /* the file became shorter while it was mapped */
	INPUT_CHANGED,    /* it is not what it was before in this run, or was written to while it was read */
	INPUT_CUT,        /* the compressed stream, or archive, ends early */
	INPUT_CORRUPT,    /* the compressed stream, or archive, is damaged (bits, checksum, length) */
	INPUT_TRAILING, /* bytes after the compressed stream that are no further member; a warning, not an end
	                 */
	INPUT_REPLACED,  /* of several files of one name in an archive one is read; a warning too */
	INPUT_ELSEWHERE, /* links out of a folder, or other file systems in it, are left out; a warning too */
};

/* Whether the rest of the input is read all the same. */
static inline bool
input_fault_is_warning(enum input_fault fault)
{
	return fault == INPUT_TRAILING || fault == INPUT_REPLACED || fault == INPUT_ELSEWHERE;
}

enum input_packing { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD, INPUT_XZ };

#endif

#ifndef DFTRACER_WIRE_H
#define DFTRACER_WIRE_H

/* The words of the format, and the bounds of this reader. */

/* `ph`: letters up to 2.x, integers since.  "H" for metadata was written for one day in September 2024. */
enum dft_phase {
	DFT_PHASE_NONE, /* no ph, or one that nobody writes */
	DFT_PHASE_COMPLETE,
	DFT_PHASE_METADATA,
	DFT_PHASE_COUNTER,
	DFT_PHASE_AGGREGATE,
	DFT_PHASE_BEGIN, /* of Chrome's format, not of this */
	DFT_PHASE_END,
	DFT_PHASE_INSTANT,
};

#define DFT_HEX_DIGITS 16 /* of a hash as text */

/* A record longer than this is not read, so that it need not be held in memory.  Tracers cut theirs at 16 KiB
 * or write one path and some numbers. */
#define DFT_MAX_LINE (8u << 20)

#define DFT_SKIP (1u << 20) /* bytes that a look ahead passes over in one go */
#define DFT_AHEAD_WORDS 3   /* that it searches for */

/* Tables that input can fill. */
#define DFT_MAX_PROCESSES 16384
#define DFT_MAX_THREADS 40000
#define DFT_MAX_HOSTS 16384
#define DFT_MAX_HASHES (1u << 17)
#define DFT_MAX_TEXTS (1u << 16)      /* different names of hashes ... */
#define DFT_MAX_TEXT_BYTES (8u << 20) /* ... and their bytes */
#define DFT_MAX_CLASSES 4096
#define DFT_MAX_CLASS_BYTES (1u << 20)
#define DFT_MAX_TITLES 32768           /* names of processes and threads from metadata */
#define DFT_MAX_TITLE 60               /* bytes of one that are retained */
#define DFT_MAX_META 64                /* facts of the whole trace ... */
#define DFT_MAX_META_BYTES (64u << 10) /* ... and their bytes */

#endif

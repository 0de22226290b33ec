#ifndef DFTRACER_STATE_H
#define DFTRACER_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "base/idset.h"
#include "dftracer/hash.h"
#include "dftracer/keys.h"
#include "dftracer/paths.h"
#include "dftracer/process.h"
#include "dftracer/title.h"
#include "dftracer/wire.h"
#include "format/format.h"
#include "json/json_scan.h"

/* The present line.  Offsets are those of the trace, since the window may move. */
struct dft_line {
	uint64_t number, start;
	bool begun;   /* some of it was consumed */
	bool only_cr; /* nothing but blanks */
	bool end_known;
	bool skipping;     /* the rest of it is dropped */
	bool dropped;      /* what was consumed last could not be read */
	uint64_t end;      /* of its newline, or of the trace; valid if end_known */
	uint64_t searched; /* no newline is before this */
	uint32_t records;  /* on it ... */
	uint64_t second;   /* ... and where the second begins */
	bool comma;        /* the last thing on it */
	uint64_t comma_at;
	uint64_t nul_start, nul_bytes; /* of the run that is being read */
	uint64_t skip_start, skipped;  /* of a record that is too long */
};

/* Classes of events.  Zero-initialise to start. */
struct dft_classes {
	struct tabletext index;           /* category -> trace.classes[] */
	struct class *recent[DFT_RECENT]; /* by a byte of the name */
	struct class *more;
	struct class *run;     /* of raw events that stand for several records */
	struct class *gaps[2]; /* of raw events: what stands between records; what cannot be read */
	uint32_t bytes;        /* of all names */
};

enum dft_limit { DFT_LIMIT_PROCESSES, DFT_LIMIT_HASHES, DFT_LIMIT_CLASSES, DFT_LIMIT_TITLES, DFT_LIMITS };

/* What the inputs of one trace know of each other. */
struct dft_shared {
	struct arena *arena; /* the trace's: events may point to what lies in it */
	struct dft_who who;
	struct dft_names names;
	struct dft_titles titles;
	struct dft_processes processes;
	struct dft_classes classes;
	struct idset ids;
	uint32_t meta_bytes; /* of facts of the whole trace */
	bool limits_reported[DFT_LIMITS];
};

struct dft_state {
	struct reader *r;
	struct dft_shared *sh;
	bool no_memory; /* asked for once a record */

	const struct json_scanner *scanner;
	struct json_index *index;
	const uint32_t *quotes; /* in the index: the first quote not yet used */
	const uint32_t *lines, *odd;
	struct dft_paths paths;
	struct dft_keys keys;
	struct dft_record record;
	struct dft_line line;

	bool opened, closed; /* a `[` was met; a `]`, and nothing behind it */
	struct dft_place closed_at;
	bool wrapped, trailer; /* inside {"traceEvents":[ ... ; behind it */
	uint64_t trailer_start, trailer_bytes;

	const char *dialect; /* as opened */
	bool mixed_reported;
	uint64_t usual_signature; /* of records that are of it, see dftracer_dialect.h */
	uint64_t valid_shape;     /* a shape and phase that was checked without a finding ... */
	unsigned valid_tallies;   /* ... and what is to be counted for it */
	uint64_t findings;        /* reported so far */
	struct dft_tally tallies[DFT_TALLIES];

	struct dft_shared *names_to; /* where names go: sh; in a look-ahead pass that of who asked for it */
	bool ahead;                  /* this is a look-ahead pass ... */
	uint64_t ahead_next[DFT_AHEAD_WORDS]; /* ... and where what it looks for may stand next */
	bool looked_ahead;
	bool resolve; /* names are wanted for what stands as hashes and numbers */
	bool keep_ids;
	bool raw;             /* raw events: see dftracer_raw.c ... */
	bool raw_fields;      /* ... and their fields */
	bool no_events;       /* not even of structure */
	bool runs, in_run;    /* ... records after the first are one event together; those being read are */
	uint64_t covered;     /* raw: where the bytes of the last event end */
	struct arena scratch; /* for one record */
};

#endif

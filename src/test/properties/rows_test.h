#ifndef PROPERTIES_ROWS_TEST_H
#define PROPERTIES_ROWS_TEST_H

#include "format/format.h"
#include "format/ledger.h"
#include "output/text.h"
#include "run/choose/select.h"

/*
 * The readable formats, their properties, and their samples: the suites of this folder test every row.  Their
 * tests apply to each format with a row; struct format shows what it supports.
 */
enum row_is {
	ROW_JOINS = 1,   /* concatenated files of one dialect are a valid file */
	ROW_LINES = 2,   /* raw records of a damaged file cover all of its bytes */
	ROW_REPAIRS = 4, /* a copy changes damaged records */
	ROW_DEPENDS = 8, /* selected records need other records, which are events too */
	ROW_QUIET = 16,  /* names defined too late for a pipe are not reported */
	ROW_FRAMES = 32, /* several records may share a head, and are recovered together */
	ROW_RENAMES =
	    64, /* older dialects reserve the name of a field; other fields of this name are renamed */
	ROW_AHEAD = 128,   /* names are also searched for raw records */
	ROW_STABLE = 256,  /* an output that is read back is written as the same bytes */
	ROW_SEVERAL = 512, /* a record may be several events: a selection of one includes the others, but not
	                      the ends of those; names and lanes of tracks depend on their events */
	ROW_TAIL = 1024,   /* the last raw record of a cut file may be half a record, as with ROW_LINES */
};

struct row {
	const char *format; /* samples: testdata/FORMAT/good and bad */
	unsigned is;        /* enum row_is */
	const char *late;   /* good sample that defines names after their use; NULL: none */
	const char *bound;  /* name of an event whose track other events name, selected or not; NULL: none */
};

struct sample {
	const struct row *row;
	const struct format *format;
	bool good;
	char path[600];
	char *p; /* unpacked; allocated with n bytes */
	size_t n;
};

enum samples_of {
	SAMPLES_GOOD = 1, /* in testdata */
	SAMPLES_BAD = 2,
	SAMPLES_RANDOM = 4, /* random events, written in the format */
	SAMPLES_REAL = 8,   /* real traces of at most 256 KiB, if available */
	SAMPLES_VALID = SAMPLES_GOOD | SAMPLES_RANDOM | SAMPLES_REAL,
};

/* Calls f for each sample of each format.  Packed bad samples are skipped: the damage may be in the packed
 * stream. */
void each_sample(unsigned of, void (*f)(const struct sample *s));

/* The same for one format. */
void each_sample_of(const char *format, unsigned of, void (*f)(const struct sample *s));

/* Returns the samples of a row; free them. */
struct sample *samples_of(const struct row *row, unsigned of, size_t *n);
void row_samples_free(struct sample *list, size_t n);
extern const struct row rows[]; /* terminated by a format of NULL */

static inline bool sample_is_copied(const struct sample *s)
{
	return s->format->copier != NULL;
}

/* ---- events ---- */

/* An event without its offset, and without fields that a copy renumbers. */
struct told {
	uint64_t ts, dur, offset;
	uint64_t hash; /* of class, track, fields, phase, flags, name */
	uint64_t name; /* hash of the name */
	bool is_span;
	bool is_open; /* span without an end, which lasts until the end of the trace */
};

struct telling {
	struct told *list;
	size_t n;
	bool complete;
	bool epoch_known;
	uint64_t epoch;           /* ns; wall time at 0 */
	struct findings findings; /* counts only */
};

/* Interprets a trace, as `cat` does. */
struct telling tell(const struct format *format, const char *p, size_t n);

/* The same, but each record separately: raw events, not interpreted. */
struct telling tell_records(const struct format *format, const char *p, size_t n);
void telling_free(struct telling *t);

/* Returns the hash of a name. */
uint64_t told_name(struct slice name);

/* Whether b equals a, moved `moved_by` ns earlier. */
bool told_same(const struct told *a, const struct told *b, uint64_t moved_by);

/* Returns a rule of level error or warning that b breaks and a does not; NULL: none. */
const char *telling_new_rule(const struct telling *a, const struct telling *b);

/* ---- outputs ---- */

struct copying {
	const struct format *to, *from;
	const char *path;      /* of the input, reopened for each pass; or ... */
	const char *p;         /* ... its bytes */
	size_t n, step;        /* step: growth of the window in bytes; 0: all at once */
	bool interpreted;      /* records are interpreted, not copied, even within a format */
	bool once;             /* the bytes can be read only once, as from a pipe */
	bool raw, rebase;      /* the options */
	unsigned threads;      /* total */
	const char *dialect;   /* --to-dialect; NULL: the default */
	struct select *select; /* NULL: all events */
};

struct copied {
	struct copied_file {
		char *name; /* NULL: the output is one file */
		struct text text;
	} * files;
	uint32_t n, cap;
	struct text *text;    /* of the first file that is not a sidecar */
	struct ledger losses; /* of the writer */
	bool written;         /* completely */
};

/* Runs `convert` in this process. */
struct copied copy(const struct copying *c);
void copied_free(struct copied *c);

/* Writes good samples and real traces of all formats in this format, for other decoders.  dialect: NULL: the
 * default. */
void each_written(const char *format, const char *dialect,
                  void (*f)(const char *path, const char *p, size_t n));

#endif

#ifndef PROPERTIES_ROWS_TEST_H
#define PROPERTIES_ROWS_TEST_H

#include "format/format.h"
#include "format/ledger.h"
#include "output/text.h"
#include "run/choose/select.h"

/*
 * The formats that can be read, what is true of each, and their samples: the suites of this folder test every
 * row.  A format gets all of them by its row, and what it cannot do is seen by its functions (struct format).
 */
enum row_is {
	ROW_JOINS = 1,    /* files of one dialect, one after the other, are one file */
	ROW_LINES = 2,    /* raw records of a damaged file are all of its bytes */
	ROW_REPAIRS = 4,  /* a copy changes damaged records */
	ROW_DEPENDS = 8,  /* records of a selection need other records, which are events too */
	ROW_QUIET = 16,   /* names that come too late for a pipe are not reported */
	ROW_FRAMES = 32,  /* several records may have one head, and are recovered together */
	ROW_RENAMES = 64, /* older dialects have a field of their own; others of its name get another one */
	ROW_AHEAD = 128,  /* names of raw records are looked for, too */
	ROW_STABLE = 256, /* what is read of an output is written as the same bytes */
};

struct row {
	const char *format; /* its samples are testdata/FORMAT/good and bad */
	unsigned is;        /* enum row_is */
	const char *late;   /* a good sample that defines names after their use; NULL: the format has none */
	const char *bound;  /* name of an event whose track other events name, selected or not; NULL: none */
};

struct sample {
	const struct row *row;
	const struct format *format;
	bool good;
	char path[600];
	char *p; /* unpacked; an allocation of n bytes */
	size_t n;
};

enum samples_of {
	SAMPLES_GOOD = 1, /* of testdata */
	SAMPLES_BAD = 2,
	SAMPLES_RANDOM = 4, /* random events, written in the format */
	SAMPLES_REAL = 8,   /* real traces of at most 256 KiB, if they are there */
	SAMPLES_VALID = SAMPLES_GOOD | SAMPLES_RANDOM | SAMPLES_REAL,
};

/* Calls f for each sample of each format.  Bad samples that are packed are left out: their damage may be that
 * of the packed stream. */
void each_sample(unsigned of, void (*f)(const struct sample *s));

/* The same for one format. */
void each_sample_of(const char *format, unsigned of, void (*f)(const struct sample *s));

/* The same for one row; the samples are the caller's. */
struct sample *samples_of(const struct row *row, unsigned of, size_t *n);
void row_samples_free(struct sample *list, size_t n);
extern const struct row rows[]; /* ended by a format of NULL */

static inline bool sample_is_copied(const struct sample *s)
{
	return s->format->writer != NULL && (s->format->writer->modes & WRITER_RAW_SAME) != 0;
}

/* ---- events ---- */

/* An event with all that it says, but for its offset and fields that a copy counts anew. */
struct told {
	uint64_t ts, dur, offset;
	uint64_t hash; /* of class, track, fields, phase, flags, name */
	uint64_t name; /* hash of the name */
	bool is_span;
	bool is_open; /* a span without an end, which lasts as long as the trace */
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

/* The same, each record by itself: its raw event, without what it means. */
struct telling tell_records(const struct format *format, const char *p, size_t n);
void telling_free(struct telling *t);

/* The hash of a name. */
uint64_t told_name(struct slice name);

/* Whether b is a, `moved_by` ns earlier. */
bool told_same(const struct told *a, const struct told *b, uint64_t moved_by);

/* Returns a rule of an error or a warning that b has and a has not; NULL: none. */
const char *telling_new_rule(const struct telling *a, const struct telling *b);

/* ---- outputs ---- */

struct copying {
	const struct format *to, *from;
	const char *path;      /* of the input, which is opened for each pass; or ... */
	const char *p;         /* ... its bytes */
	size_t n, step;        /* step: bytes by which the window grows; 0: all at once */
	bool interpreted;      /* its records are not copied, though the format is the same */
	bool once;             /* the bytes cannot be read again, as those of a pipe */
	bool raw, rebase;      /* the options */
	unsigned threads;      /* in all */
	const char *dialect;   /* --to-dialect; NULL: the default */
	struct select *select; /* NULL: all events */
};

struct copied {
	struct copied_file {
		char *name; /* NULL: the output is one file */
		struct text text;
	} * files;
	uint32_t n, cap;
	struct text *text;    /* of the first file that is no sidecar of the trace */
	struct ledger losses; /* of the writer */
	bool written;         /* up to its end */
};

/* Runs `convert` in this process. */
struct copied copy(const struct copying *c);
void copied_free(struct copied *c);

/* Writes good samples and real traces of all formats in this one, for other decoders.  dialect: NULL: the
 * default. */
void each_written(const char *format, const char *dialect,
                  void (*f)(const char *path, const char *p, size_t n));

#endif

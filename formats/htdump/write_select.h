#ifndef HTDUMP_WRITE_SELECT_H
#define HTDUMP_WRITE_SELECT_H

#include "format/format.h"

/*
 * Which structure a selection of records needs: the byte order of each stream, descriptions of the classes of
 * its records and of the classes that these are made of, names of the numbers that are its labels; all facts.
 * A survey of the input finds it, so that what is written stays in the order of the input.
 *
 * Memory: at most HTW_MOST_DESCRIPTIONS, HTW_MOST_LABELS and twice as many marks are held; beyond that all
 * structure is written.
 */
#define HTW_MOST_DESCRIPTIONS (1U << 19)
#define HTW_MOST_LABELS (1U << 19)

/* A record that describes a class. */
struct htw_description {
	uint64_t place;
	uint32_t next; /* number + 1 of the class's next one; 0: none */
};

/* A class of the input. */
struct htw_known {
	uint32_t first, last; /* descriptions that are not needed so far: number + 1 */
	uint32_t nparts, parts_cap;
	struct slice *parts; /* names of classes that it is made of */
	uint32_t stream;     /* in which it was described */
	uint32_t settled;    /* equals `changes`: it is needed, with all its parts, as they are known now */
	uint32_t visit;
	bool used;
};

/* A number that stands for a text. */
struct htw_label {
	uint64_t place;    /* of the record that says so, if `waits` */
	uint32_t class_id; /* of that */
	bool waits, used;
};

struct htw_select {
	struct arena arena;
	uint32_t input;  /* that is read, from 1 on */
	uint32_t stream; /* EndiannessInfoEvents, and inputs, so far */
	uint32_t changes, visit;
	struct htw_description *descriptions;
	uint32_t ndescriptions, descriptions_cap;
	struct htw_known **known;
	uint32_t nknown, known_cap;
	struct htw_known *last;   /* that of the last event, whose id is last_id; NULL: none */
	uint32_t last_id;
	struct table64 by_id;     /* class id -> known[] */
	struct tabletext by_name; /* likewise */
	uint32_t *path;           /* of classes that turn out to be needed */
	uint32_t path_cap;
	struct htw_label *labels;
	uint32_t nlabels, labels_cap;
	struct table64 by_label; /* number -> labels[] */
	struct table64 needed;   /* place of a record -> 1 */
	bool over;               /* the survey is */
	bool everything;         /* it is too much to tell apart */
	bool failed;             /* no memory */
};

void htw_select_free(struct htw_select *s);

/* The next raw event of the survey. */
void htw_select_look(struct htw_select *s, const struct batch *b, const struct event *e);

/* The survey is over: from here on the same events come again.  Harmless twice. */
void htw_select_end(struct htw_select *s);

/* Whether the next event's record is to be written. */
bool htw_select_takes(struct htw_select *s, const struct event *e);

#endif

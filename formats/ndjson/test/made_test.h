#ifndef NDJSON_MADE_TEST_H
#define NDJSON_MADE_TEST_H

#include "ndjson/test/agree_test.h"

/* A trace made by hand, whose lines are read back. */
struct made {
	struct trace trace;
	struct batch batch;
	struct agree g;
	struct text lines;
	struct class *cls;
	const struct track *process, *track;
	uint32_t tracks, classes; /* shown so far */
	uint64_t state;           /* of what is random */
};

void made_begin(struct made *r, struct writer w);

/* The fields that are made next are of this event. */
struct event *made_event(struct made *r, enum phase phase, const char *name);
void made_field(struct made *r, struct slice name, struct value v);

/* One more field that the present class declares. */
void made_declare(struct made *r, const char *name, enum value_type type);

/* Gives what was made to the writer. */
void made_render(struct made *r);

/* The same; the last line must be this. */
void made_expect_line(struct made *r, const char *want);

void made_finish(struct made *r);
void made_free(struct made *r); /* when agree_end() was called */

struct value made_integer(enum value_type type, int64_t v);
struct value made_number(enum value_type type, double v);
struct value made_bytes(enum value_type type, const char *p, size_t n);

#endif

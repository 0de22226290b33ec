#ifndef NDJSON_MADE_TEST_H
#define NDJSON_MADE_TEST_H

#include "ndjson/test/agree_test.h"

/* A trace built by a test, whose lines are parsed and compared (agree_test.h). */
struct made {
	struct trace trace;
	struct batch batch;
	struct agree g;
	struct text lines;
	struct class *cls;
	const struct track *process, *track;
	uint32_t tracks, classes; /* shown so far */
	uint64_t state;           /* of the random generator */
};

void made_begin(struct made *r, struct run_facts run);

/* Adds an event, which receives the fields added next. */
struct event *made_event(struct made *r, enum phase phase, const char *name);
void made_field(struct made *r, struct slice name, struct value v);

/* Adds a field to the declaration of the current class. */
void made_declare(struct made *r, const char *name, enum value_type type);

/* Passes new tracks, classes and events to the writer. */
void made_render(struct made *r);

/* The same, and expects this last line. */
void made_expect_line(struct made *r, const char *want);

void made_finish(struct made *r);
void made_free(struct made *r); /* after agree_end() */

struct value made_integer(enum value_type type, int64_t v);
struct value made_number(enum value_type type, double v);
struct value made_bytes(enum value_type type, const char *p, size_t n);

#endif

#ifndef DIAL9_FACTS_TEST_H
#define DIAL9_FACTS_TEST_H

#include "base/table.h"
#include "dial9/test/oracle.h"

/* What is known of the events of a trace by "PHASE|category|name|track": how many, and how long together. */

struct d9f_row {
	char key[600];
	uint64_t count, ns;
};

struct d9f_facts {
	struct d9f_row *rows;
	uint32_t n, cap;
	struct tabletext index;
	uint64_t first, last; /* times of all events */
	uint64_t unfinished;  /* spans */
};

struct d9f_row *d9f_row(struct d9f_facts *f, const char *phase, const char *category, const char *name,
                        const char *track);
void d9f_free(struct d9f_facts *f);

/* By the rules of tracetool-dial9(5), from what the oracle decoded. */
void d9f_expected(struct d9f_facts *f, struct d9o *o);

/* From what `convert --to chrome` wrote; the text is changed. */
void d9f_converted(struct d9f_facts *f, char *text);

/* A field of an event; false: it has none of the name, or it is absent. */
bool d9f_number(struct d9o *o, size_t event, const char *field, uint64_t *v);
bool d9f_text(struct d9o *o, size_t event, const char *field, char *to, size_t room);

#endif

#ifndef COMPARE_BY_NAME_H
#define COMPARE_BY_NAME_H

#include "base/arena.h"
#include "base/table.h"
#include "compare/event_identity.h"

/* What two traces have of events of each name. */

#define BY_NAME_MAX 65536U
#define BY_NAME_MAX_TEXT 256U /* bytes of a name that are kept */

struct by_name_row {
	struct slice name;
	uint64_t events[2], only[2], changed; /* changed: pairs */
	unsigned __int128 dur[2];             /* ns, of spans */
};

/* Zero-initialise to start. */
struct by_name {
	struct by_name_row *rows; /* in order of arrival; the last one of too many is of all others */
	uint32_t n, cap;
	struct table64 index; /* hash of the name -> rows[] */
	struct arena texts;
	uint64_t last_key; /* of the row asked for last */
	uint32_t last;
};

/* The row of an event's name; NULL: no memory. */
struct by_name_row *by_name_row(struct by_name *t, struct slice name, const struct event_identity *id);

void by_name_free(struct by_name *t);

#endif

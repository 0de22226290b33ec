#ifndef OUT_LIFTED_H
#define OUT_LIFTED_H

#include <stdatomic.h>

#include "format/field_path.h"
#include "format/fields_json.h"
#include "format/option.h"
#include "model/batch.h"

/*
 * --column NAME[:TYPE]: fields of events, and values at paths, that become columns of a table.  A value that
 * the type of its column cannot express is null there.
 */
#define LIFTED_MAX 32   /* columns */
#define LIFTED_NAME 255 /* bytes of a name */

enum lifted_type { LIFTED_TEXT, LIFTED_JSON, LIFTED_INT, LIFTED_FLOAT, LIFTED_BOOL };

struct lifted_column {
	uint32_t size;              /* bytes of the name */
	char name[LIFTED_NAME + 1]; /* valid UTF-8 */
	enum lifted_type type;
};

/* Zero-initialised.  Threads may search at the same time. */
struct lifted {
	uint32_t n;
	struct lifted_column columns[LIFTED_MAX];
	atomic_bool searched;          /* there was an event */
	atomic_bool found[LIFTED_MAX]; /* an event has the field */
};

/* A row of the options of a format; `check` is its function for mistakes. */
#define LIFTED_OPTION(check)                                                                                 \
	{                                                                                                    \
		.name = "column", .arg = "NAME[:TYPE]", .most = LIFTED_MAX,                                  \
		.help = "argument as a column: text (default), int, float, bool, json", .mistake = (check)   \
	}

/* Returns the mistake in an argument of --column; NULL if there is none. */
const char *lifted_mistake(const char *arg);

/* Whether the argument names this column of the table; case is ignored. */
bool lifted_is(const char *arg, const char *name);

/* Stores the columns in the order of the command line.  The arguments are checked already; the last one of a
 * name counts. */
void lifted_open(struct lifted *l, const struct option_value *options);

static inline bool lifted_asked(const struct option_value *options)
{
	return option_find(options, "column") != NULL;
}

static inline struct slice lifted_name(const struct lifted_column *c)
{
	return (struct slice){ c->name, c->size, SLICE_UTF8 };
}

/* Returns the value of column i, NULL if the event has none.  *member: memory for the value at a path. */
const struct value *lifted_find(struct lifted *l, uint32_t i, const struct batch *b, const struct event *e,
                                struct path_value *member);

/* The number of columns that no event has a field for; 0 if there was no event. */
uint32_t lifted_empty(const struct lifted *l);

struct lifted_number {
	int64_t i; /* INT, BOOL */
	double f;  /* FLOAT */
	bool rounded;
};

/* Returns false if the type, which is INT, BOOL or FLOAT, cannot express the value. */
bool lifted_number(enum lifted_type type, const struct value *v, struct lifted_number *out);

/* Appends a value as JSON; for TEXT, text is unchanged, and integers have all digits. */
void lifted_text(enum lifted_type type, const struct value *v, struct text *t, struct fields_json_lost *lost);

static inline bool lifted_is_number(enum lifted_type type)
{
	return type >= LIFTED_INT;
}

#endif

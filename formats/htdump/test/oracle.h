#ifndef HTDUMP_ORACLE_H
#define HTDUMP_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A second decoder of .htdump files for tests: slow, simple, written from the specification, sharing nothing
 * with the reader.  It reads well-formed files only.
 */

enum oracle_kind {
	ORACLE_UNSIGNED,
	ORACLE_SIGNED,
	ORACLE_POINTER,
	ORACLE_FLOAT,
	ORACLE_DOUBLE,
	ORACLE_STRING
};

struct oracle_field {
	char key[264];
	enum oracle_kind kind;
	uint64_t u; /* SIGNED: two's complement */
	double d;
	const char *s; /* in the file */
};

#define ORACLE_MAX_FIELDS 64

struct oracle_event {
	bool span;
	uint64_t ts, dur, tid, id, offset;
	char name[256];
	const struct oracle_field *named_by;           /* field that is the name, or NULL */
	struct oracle_field fields[ORACLE_MAX_FIELDS]; /* all, those of bases first */
	size_t nfields;
};

struct oracle_class_count {
	char name[128];
	uint64_t count;
};

struct oracle {
	struct oracle_event *events;
	size_t n, cap;
	struct oracle_class_count counts[64];
	size_t ncounts;
	uint64_t records;
	const char *id_key; /* name of the event id in the layout */
	const char *fault;  /* why decoding ended early, or NULL */
};

/* The bytes must stay valid as long as the result. */
void oracle_decode(struct oracle *o, const unsigned char *p, size_t n);
void oracle_free(struct oracle *o);

/* Returns the field with this key, or NULL. */
const struct oracle_field *oracle_find(const struct oracle_event *e, const char *key);

#endif

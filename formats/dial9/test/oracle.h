#ifndef DIAL9_ORACLE_H
#define DIAL9_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A second decoder of dial9 traces for tests: slow, plain, written from the specification and sharing nothing
 * with the reader.  Well-formed traces only. */

struct d9o_field {
	char name[256];
	uint8_t type;
};

struct d9o_schema {
	uint32_t segment;
	uint16_t id;
	bool timed;
	char name[256];
	struct d9o_field fields[16];
	size_t nfields;
};

struct d9o_event {
	size_t offset, values; /* of the frame, of its first value */
	uint64_t ts;
	uint32_t segment, schema;
};

/* An entry of a pool; kind 3 is a string, 4 a stack, 1 a symbol (id: number in `addresses`). */
struct d9o_entry {
	size_t offset, data;
	uint64_t address, depth;
	uint32_t segment, id, n;
	uint8_t kind;
};

struct d9o {
	const unsigned char *p;
	size_t n, at;
	const char *fault; /* the reason it stopped, or NULL */
	struct d9o_schema *schemas;
	struct d9o_event *events;
	struct d9o_entry *entries;
	size_t nschemas, nevents, nentries, schemas_cap, events_cap, entries_cap;
	uint32_t segments;
	size_t frames[256]; /* by tag; a header counts as 'T' */
};

#define D9O_MANY_FIELDS "more fields than are kept" /* a limit of the decoder, not a fault of the trace */

/* Decodes; the bytes must live as long as *o. */
void d9o_decode(struct d9o *o, const unsigned char *p, size_t n);
void d9o_free(struct d9o *o);

/* The arguments of event i as a JSON object; the caller frees it. */
char *d9o_arguments(const struct d9o *o, size_t i);

/* Steps of the decoder: a number of `size` bytes, a LEB128 number. */
uint64_t d9o_number(struct d9o *o, size_t size);
uint64_t d9o_leb(struct d9o *o);

void d9o_skip_value(struct d9o *o, uint8_t type);

#endif

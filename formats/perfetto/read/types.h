#ifndef PERFETTO_READ_TYPES_H
#define PERFETTO_READ_TYPES_H

/* Types that the trace describes, and values of such types. */

#include "base/table.h"
#include "format/format.h"
#include "perfetto/schema/wire.h"

struct pf_state;

/* A field of a message, or a value of an enum. */
struct pf_type_member {
	struct slice name;
	uint32_t number, of;       /* of: message or enum; TABLE_NONE: unknown */
	uint8_t type;              /* as in descriptor.proto; 0: a value of an enum */
	bool is_repeated, is_kept; /* kept: the name is in the memory of the trace */
};

struct pf_types {
	struct tabletext names; /* full name -> number */
	uint32_t n;
	struct pf_type_member *members;
	uint32_t nmembers, members_cap;
	uint32_t annotation;  /* type of debug annotations */
	struct table64 index; /* hash of a type and the number of a member -> members[] */
};

/* Adds the messages of Chromium that Perfetto's schema has. */
void pf_types_begin(struct pf_state *st);

/* Adds the types of an ExtensionDescriptor. */
void pf_types_read(struct pf_state *st, struct slice descriptor);
void pf_types_free(struct pf_types *types);

/* Returns a field of the event whose type the trace may describe.  name: p NULL: that of the description. */
struct field pf_typed_field(struct pf_state *st, struct batch *b, const struct pf_wire *w, struct slice name);

/* Returns a message of the type with this full name, which begins with a dot; bytes if it is unknown.
 * depth: of messages around it. */
struct value pf_typed_value(struct pf_state *st, struct batch *b, struct slice type, struct slice s,
                            unsigned depth);

#endif

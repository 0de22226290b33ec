#ifndef EVENT_CLASS_FIELD_H
#define EVENT_CLASS_FIELD_H

#include "base/slice.h"

/* A field as a class declares it: for `info`, for writers that need a schema, and for plans. */
struct class_field {
	struct slice name;
	struct slice type; /* in the format's own words: "uint32_t", "string" */
	uint8_t
	    value; /* enum value_type of its values in raw events; VALUE_NONE: it differs or is not known */
	uint32_t size;    /* bytes in a record; 0: they vary */
	const char *unit; /* "ns", "us", "byte"; NULL: none, or not known */
};

#endif

#ifndef COMPARE_FIELD_DIFFERENCES_H
#define COMPARE_FIELD_DIFFERENCES_H

#include "compare/differ.h"

/* A field that differs; NULL: that side does not have it. */
typedef void field_visitor(void *ctx, struct slice name, const struct value *a, const struct value *b);

/* Of events with more fields, these are looked at. */
#define FIELD_DIFFERENCES_MAX 256U

/* Calls `visit` for the fields in which the two events of a pair differ.  false: no memory. */
bool field_differences(const struct difference *d, const struct differ_rules *rules, field_visitor *visit,
                       void *ctx);

#endif

#ifndef CMD_RULES_H
#define CMD_RULES_H

#include "cmd/options.h"
#include "output/text.h"

/*
 * Operands that name rules and kinds of loss: an id, "htdump/no-base", a
 * pattern of ids, "htdump/cut-*", a family, "htdump" or "htdump/", or the end
 * of an id, "no-base".
 */

/* Whether each operand means something; if one_each, an end of an id only one.  false after a message and
 * o->status set. */
bool rules_check_names(struct options *o, bool one_each);

/* Whether an operand means this id; without operands, all of them are meant. */
bool rules_are_meant(const struct options *o, const char *id);

/* Those that are meant, as schemas/rules.schema.json. */
void rules_list_json(struct text *t, const struct options *o);

#endif

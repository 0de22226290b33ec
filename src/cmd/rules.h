#ifndef CMD_RULES_H
#define CMD_RULES_H

#include "output/text.h"

/* All rules and kinds of loss, a line for each. */
void rules_list_text(struct text *t);

#endif

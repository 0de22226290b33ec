#ifndef CMD_COMPLETION_H
#define CMD_COMPLETION_H

#include "cmd/cmd.h"

/*
 * What shells offer when a command line of tracetool is completed, taken from
 * the tables that --help is made of.  Each shell has its own way to say it.
 */

enum complete_what {
	COMPLETE_NOTHING,
	COMPLETE_WORDS,
	COMPLETE_FILES,
	COMPLETE_RULES, /* ids of rules */
	COMPLETE_IDS,   /* ids of rules and of kinds of loss */
};

struct complete_part {
	enum complete_what what;
	struct text words; /* of COMPLETE_WORDS: with a blank between two */
};

/* The argument of an option, or an operand: FIRST, or FIRST=BEHIND. */
struct complete_value {
	struct complete_part first, behind;
};

/* What can stand at a place of the command (struct cmd_words); complete_free() afterwards. */
struct complete_value complete_place(const struct command *cmd, const char *place);

/* The argument of an option, which has one.  words: what it may be by its own table; NULL: that does not say.
 */
struct complete_value complete_argument(const struct command *cmd, const struct cmd_option *option,
                                        const char *const *words);

/* The words of COMPLETE_WORDS, with a blank between two. */
void complete_put_words(struct text *t, const struct complete_part *p);

void complete_free(struct complete_value *v);

/* Ids with a line feed behind each. */
void complete_put_rules(struct text *t);
void complete_put_losses(struct text *t);

/* The scripts. */
void completion_bash(struct text *t);
void completion_fish(struct text *t);
void completion_zsh(struct text *t);

#endif

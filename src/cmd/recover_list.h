#ifndef CMD_RECOVER_LIST_H
#define CMD_RECOVER_LIST_H

#include "cmd/report_out.h"
#include "run/write/recover_run.h"

#define RECOVER_LIST_RULES 64

/* What recover changes, as it happens: as text on stderr, and as JSON (schemas/recover.schema.json).
 * Zero-initialise to start. */
struct recover_list {
	bool json, no_text;    /* whether there is JSON; whether there is text */
	struct report_out out; /* the JSON */
	struct text text;
	const char *input, *output; /* as given; borrowed */
	const char *file;           /* of the folder, for the changes that follow; NULL: no folder */
	bool any;                   /* a change was written */
	struct {
		const struct rule *rule;
		uint64_t count;
	} shown[RECOVER_LIST_RULES]; /* as text */
	/* totals */
	uint64_t records, kept, dropped, gaps, repairs, not_repaired;
	const char *format, *dialect; /* NULL: not known */
	bool packed_damage;
};

/* Opens the JSON file ("-": standard output), if path is not NULL.  false: it was said why not. */
bool recover_list_open(struct recover_list *l, const char *path, bool force);

void recover_list_change(struct recover_list *l, const struct recover_change *c);

/* Adds what came of an input. */
void recover_list_run(struct recover_list *l, const struct recover_run *run);

/* Ends the text; `quiet`: without the sums. */
void recover_list_sums(struct recover_list *l, bool quiet);

/* Ends the JSON, which is to be published or closed then; `written`: the output is complete. */
void recover_list_end(struct recover_list *l, bool written);

#endif

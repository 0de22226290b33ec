#ifndef CMD_LISTING_H
#define CMD_LISTING_H

#include "cli/command.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "compare/compare.h"
#include "format/fields_json.h"
#include "format/format.h"
#include "model/batch.h"
#include "model/event.h"
#include "output/text.h"
#include "output/text_visible.h"
#include "run/write/recover.h"

/* ---- event json ---- */

/* Events in reports: the members have the names of the columns of all tables, see tracetool-csv(5). */

/* span, async, instant, counter, begin, end, flow_out, flow_in, flow_step, structure */
const char *event_kind(const struct event *e);

/* `"kind":...,"offset":N`, without braces: all but class, args and what a report has besides. */
void event_json(struct text *t, const struct event *e, struct fields_json_lost *lost);

/* ---- value text ---- */

/* A value for people: numbers in full, text in quotes and escaped. */
void value_text_put(struct text *t, const struct value *v);

/* Trace text as a word: in quotes when it holds anything but plain letters. */
void value_text_word(struct text *t, struct slice s);

/* ---- diff report ---- */

/* What diff reports. */
struct diff_view {
	const char *paths[DIFFER_SIDES];
	const struct differ *differ;
	uint64_t start; /* ns: the first time of both sides */
	uint64_t starts[DIFFER_SIDES];
	unsigned width; /* of text; 0: any */
	uint64_t shown; /* differences so far */
	bool complete;  /* at the end: both sides were read */
};

struct diff_form {
	void (*begin)(struct text *t, const struct diff_view *v);
	/* false: no memory. */
	bool (*difference)(struct text *t, const struct diff_view *v, const struct difference *d);
	void (*end)(struct text *t, const struct diff_view *v);
};

extern const struct diff_form diff_text, diff_json;

/* ---- loss matrix ---- */

/* What can be lost between each format that is read and each that is written, as rows of losses and what
 * readers say of their events (format/holds.h) tell. */

/* ---- recover list ---- */

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

/* ---- recover command ---- */

/* One run of the command, for its own files. */
struct recover {
	struct options options;
	const char *in, *out;
	const char *report; /* NULL: none */
	bool sort;
	unsigned json; /* of text|json */
	struct recover_list list;
	struct convert_output output;
	const char *file; /* of the output folder, that is written now; NULL: the output is no folder */
	bool found;       /* a trace in the folder that is the input */
	enum exit_status status; /* the worst so far */
};

/* ---- rules ---- */

/*
 * Operands that name rules and kinds of loss: an id, "htdump/no-base", a
 * pattern of ids, "htdump/cut-*", a family, "htdump" or "htdump/", or the end
 * of an id, "no-base".
 */

#endif

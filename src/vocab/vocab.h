#ifndef VOCAB_VOCAB_H
#define VOCAB_VOCAB_H

#include <stdatomic.h>

#include "check/findings.h"
#include "model/plan.h"
#include "output/text.h"

/*
 * Vocabularies: the meaning of a format's events, written in YAML (tracetool-vocabulary(5)).  The program has
 * a built-in vocabulary for each format; files of the user are added before it.  The first rule that matches
 * a class wins.
 */

/* Rules about mistakes in a file.  A finding has a line and a column. */
extern const struct rule vocab_rules[]; /* ends with an id of NULL */
enum vocab_rule {
#define RULE(name, id, level, text, spec, explain) VOCAB_RULE_##name,
#include "vocab/rules.def"
#undef RULE
};

/* Returns an empty vocabulary for traces of a format (NULL: of any format), or NULL on OOM.  The name is
 * borrowed.  Traces on several threads may look up classes at the same time, but not in a reduced one. */
struct vocabulary *vocab_new(const char *format);
void vocab_free(struct vocabulary *v); /* v may be NULL */

/* Parts of the meaning of events that a consumer does not read. */
enum vocab_parts {
	VOCAB_NAMES = 1,
	VOCAB_TRACKS = 2, /* ends of spans are still paired by track */
	VOCAB_PARTS = VOCAB_NAMES | VOCAB_TRACKS,
};

/* The same vocabulary for consumers that read neither these parts nor arrows and sizes: its plans lack what
 * only these need.  Part of v. */
const struct vocabulary *vocab_reduced(const struct vocabulary *v, unsigned without);

/* Sets the names of formats that a file may state.  The list ends with NULL and is borrowed.  Without a list
 * any name is accepted. */
void vocab_set_formats(struct vocabulary *v, const char *const *formats);

/* Reads a file of at most 4 MiB; the caller frees *text.  Returns false after a finding. */
bool vocab_read_file(const char *path, struct findings *findings, char **text, size_t *n);

/* Whether the text of a vocabulary is of use.  Shared by vocabularies and threads. */
struct vocab_use {
	atomic_bool added;   /* the text was added to a vocabulary of any format */
	atomic_bool fits;    /* it was added to one of the format that it states */
	atomic_bool looked;  /* a class was compared with its rules */
	atomic_bool applies; /* one of its rules is for a class */
};

/* Sets where the use of the next texts is noted; NULL: nowhere. */
void vocab_set_use(struct vocabulary *v, struct vocab_use *use);

/* Adds the rules of a file's text after the existing rules.  A file for another format adds nothing.  *rules:
 * the number of rules in the text (may be NULL).  findings->path is the file.  After findings or on OOM (see
 * vocab_no_memory()), adds nothing and returns false. */
bool vocab_add_text(struct vocabulary *v, const char *text, size_t n, struct findings *findings,
                    size_t *rules);

/* Whether the last text was not added because of OOM.  The caller reports it. */
bool vocab_no_memory(const struct vocabulary *v);

/* Returns the built-in YAML text for a format; p is NULL if there is none. */
struct slice vocab_builtin(const char *format);

/* Appends the keys and values of a vocabulary as JSON; all values are strings.  The vocabulary must have no
 * mistakes. */
void vocab_put_json(struct text *t, struct slice yaml);

/* Returns the format stated in the text of the last vocab_add_text(), or NULL. */
const char *vocab_last_format(const struct vocabulary *v);

#endif

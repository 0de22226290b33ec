#ifndef VOCAB_VOCAB_H
#define VOCAB_VOCAB_H

#include "check/findings.h"
#include "model/plan.h"
#include "output/text.h"

/*
 * Vocabularies: the meaning of a format's events, written in YAML (tracetool-vocabulary(5)).  One for each
 * format is built into the program; files of the user are added before it.  The first rule that matches a
 * class wins.
 */

/* Mistakes in a file, each with its line and column. */
extern const struct rule vocab_rules[]; /* ends with an id of NULL */
enum vocab_rule {
#define RULE(name, id, level, text, spec, explain) VOCAB_RULE_##name,
#include "vocab/rules.def"
#undef RULE
	VOCAB_RULE_COUNT
};

/* Returns an empty vocabulary for traces of one format, or of any format if it is NULL.  The name is
 * borrowed. */
struct vocabulary *vocab_new(const char *format);
void vocab_free(struct vocabulary *v); /* NULL is allowed */

/* Sets the formats that a file may state: ends with NULL, borrowed.  Without this call any is accepted. */
void vocab_set_formats(struct vocabulary *v, const char *const *formats);

/* Reads a file; the caller frees *text.  Returns false after a finding. */
bool vocab_read_file(const char *path, struct findings *findings, char **text, size_t *n);

/* Adds the rules of a file's text after the present ones; a file for another format adds nothing.  *rules:
 * the number of its rules (may be NULL).  findings->path is the file.  After findings or on OOM, see
 * vocab_no_memory(), adds nothing and returns false. */
bool vocab_add_text(struct vocabulary *v, const char *text, size_t n, struct findings *findings,
                    size_t *rules);

/* Returns true if the last text was not added because of OOM, which is not reported yet. */
bool vocab_no_memory(const struct vocabulary *v);

/* Returns the built-in YAML text of a format; p is NULL if there is none. */
struct slice vocab_builtin(const char *format);

/* Appends the keys and values of a vocabulary without mistakes as JSON; all values are strings. */
void vocab_put_json(struct text *t, struct slice yaml);

/* Returns the format that the last text states, or NULL. */
const char *vocab_last_format(const struct vocabulary *v);

#endif

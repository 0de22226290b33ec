#ifndef VOCAB_VOCAB_H
#define VOCAB_VOCAB_H

#include "check/findings.h"
#include "model/plan.h"

/*
 * Vocabularies: what the events of a format mean, written in YAML
 * (tracetool-vocabulary(5)).  One for each format is built into the program; files
 * of the user come before it, rule by rule: the first rule that matches a
 * class counts.
 */

/* Mistakes in a file, each with its line and column. */
extern const struct rule vocab_rules[]; /* ended by an id of NULL */
enum vocab_rule {
#define RULE(name, id, level, text, spec, explain) VOCAB_RULE_##name,
#include "vocab/vocab_rules.def"
#undef RULE
	VOCAB_RULE_COUNT
};

/* An empty vocabulary for traces of one format (NULL: rules for any are taken).  The name is borrowed.  NULL:
 * no memory. */
struct vocabulary *vocab_new(const char *format);
void vocab_free(struct vocabulary *v); /* NULL is fine */

/* The names of the formats that a file may be for, ended by NULL and borrowed; without them any name will do.
 */
void vocab_set_formats(struct vocabulary *v, const char *const *formats);

/* The text of a file, to be freed; false after a finding. */
bool vocab_read_file(const char *path, struct findings *findings, char **text, size_t *n);

/* Adds the rules of a file behind those that are there; one that is for another format adds nothing.
 * *rules: how many it holds (may be NULL).  false: it has mistakes, which `findings` were told, or
 * there is no memory, see vocab_no_memory(); nothing of it was taken.
 * findings->path is the file. */
bool vocab_add_file(struct vocabulary *v, const char *path, struct findings *findings, size_t *rules);

/* The same with text in memory. */
bool vocab_add_text(struct vocabulary *v, const char *text, size_t n, struct findings *findings,
                    size_t *rules);

/* Whether the last file or text was not taken for lack of memory, which nobody was told yet. */
bool vocab_no_memory(const struct vocabulary *v);

/* The YAML text that is built in for a format; p NULL: there is none. */
struct slice vocab_builtin(const char *format);

/* The format that the last file or text was for; NULL: none was read. */
const char *vocab_last_format(const struct vocabulary *v);

#endif

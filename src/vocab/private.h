#ifndef VOCAB_PRIVATE_H
#define VOCAB_PRIVATE_H

#include <stddef.h>

#include "base/memory.h"
#include "base/table.h"
#include "vocab/vocab.h"
#include "yaml/yaml.h"

/* ---- vocab state ---- */

#define VOCAB_NONE UINT32_MAX
#define VOCAB_MAX_BYTES (4U << 20) /* of a file */
#define VOCAB_MAX_RULES 16384U     /* of a vocabulary */
#define VOCAB_MAX_GLOBS 256U       /* patterns of a vocabulary: each class is compared with all of them */
#define VOCAB_MAX_STARS 16U        /* in a pattern */
#define VOCAB_MAX_NAMED 1024U      /* of them with `named` */
#define VOCAB_MAX_WORDS 65535U     /* of pairs and states: their numbers are 16 bits */
#define VOCAB_MAX_CHAINS 32768U    /* see struct vocab_chains */
#define VOCAB_MAX_LAYOUT 256U      /* fields of a layout */
#define VOCAB_MAX_READER 64U       /* words for a reader */
#define VOCAB_MAX_NONE 64U         /* fields that have values that mean nothing; such values of one */
#define VOCAB_MAX_KEYS 32          /* of a mapping */

/* A rule of a file, compiled. */
struct vocab_row {
	const struct slice *exact; /* names of classes */
	uint32_t nexact;
	const struct slice *globs;
	uint32_t nglobs;
	const struct slice *fields; /* that the class must have */
	uint32_t nfields;
	struct plan plan; /* without `otherwise` */
};

/* An exact name or a glob, of a row; those of one text are linked in the order of the rows. */
struct vocab_pattern {
	struct slice text;
	uint32_t row;
	uint32_t next; /* VOCAB_NONE: no more */
};

struct vocab_patterns {
	struct vocab_pattern *rows;
	uint32_t n, cap;
};

/* What processes, or threads, are called. */
struct vocab_names {
	const struct plan_template *all;
	const struct plan_template **single;
	uint32_t nsingle, single_cap;
	struct table64 by_id; /* -> single[] */
};

/* Meanings made of several rules: one for each rule that asks for the event's own name and what follows it,
 * one for each rule without words for the reader and the one whose words it has. */
struct vocab_chains {
	struct arena arena;
	struct plan *made[VOCAB_MAX_CHAINS];
	uint32_t n;
	struct table64 index; /* row << 32 | what follows: 0: nothing, i + 1: made[i], VOCAB_MAX_CHAINS + 1 +
	                         i: rows[i] -> made[] */
};

struct vocab {
	struct vocabulary base;
	const char *format;         /* rules for others are checked and dropped; NULL: all are taken */
	const char *const *formats; /* those there are; NULL: not known */
	struct slice last_format;   /* p NULL: none */
	bool no_memory;             /* of the last text */
	struct arena arena;
	struct vocab_row **rows;
	uint32_t nrows, rows_cap;
	uint32_t nnamed; /* rows with `named` */
	uint32_t nglobs; /* of all rows */
	struct vocab_patterns exact, globs;
	struct tabletext exact_index; /* -> exact.rows[], the first of its text */
	struct slice tables[PLAN_MAX_TABLES];
	uint32_t ntables;
	struct tabletext pairs, states; /* words -> numbers */
	uint32_t nwords;
	struct tabletext texts; /* all of them, each once: names of fields are mostly equal by place then */
	struct vocab_names processes, threads;
	struct vocab_chains *chains; /* grows when classes are looked up */
};

/* Puts the rows from `first` on into the indexes.  false: no memory. */
bool vocab_index_rows(struct vocab *v, uint32_t first);

/* ---- while a file is read ---- */

/* Values of a field that mean nothing. */
struct vocab_none {
	struct slice field;
	struct plan_none none;
	const struct vocab_none *next;
};

struct vocab_draft {
	struct vocab *v;
	struct yaml_file file;
	struct slice format;             /* p NULL: not said (yet) */
	uint8_t tables[PLAN_MAX_TABLES]; /* that this file declares */
	uint32_t ntables;
	uint32_t nrules;
	struct vocab_names processes, threads;
	const struct vocab_none *nones;
};

/* Says a mistake at a node. */
void vocab_say(struct vocab_draft *d, enum vocab_rule rule, const struct yaml_node *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Memory that lives as long as the vocabulary.  NULL: the draft says so. */
void *vocab_alloc(struct vocab_draft *d, size_t n, size_t size);
struct slice vocab_copy(struct vocab_draft *d, struct slice s);

/* ---- values; `what` is the key, for messages.  false: a mistake was said, or memory is out ---- */

bool vocab_text(struct vocab_draft *d, const struct yaml_node *node, const char *what, struct slice *out);

bool vocab_texts(struct vocab_draft *d, const struct yaml_node *node, const char *what,
                 const struct slice **out, uint32_t *n);
bool vocab_bool(struct vocab_draft *d, const struct yaml_node *node, const char *what, bool *out);

/* The index of one of several words. */
bool vocab_choice(struct vocab_draft *d, const struct yaml_node *node, const char *what,
                  const char *const *words, uint32_t *out);

/* The number of a word of pairs or states. */
bool vocab_number_word(struct vocab_draft *d, struct tabletext *words, const struct yaml_node *node,
                       const char *what, uint16_t *out, struct slice *text);

/* The number of a table that the file declares. */
bool vocab_table(struct vocab_draft *d, const struct yaml_node *at, struct slice name, uint8_t *out);

/* ---- mappings ---- */

struct vocab_key {
	const char *name;
	void (*take)(struct vocab_draft *d, const struct yaml_node *value, void *ctx);
};

/* Hands each value of a mapping to its key's function, in the order of `keys`.  Unknown and repeated keys are
 * said.  false: it is no mapping. */
bool vocab_map(struct vocab_draft *d, const struct yaml_node *node, const char *what,
               const struct vocab_key *keys, size_t nkeys, void *ctx);

/* ---- templates (vocab_template.c) ---- */

bool vocab_template(struct vocab_draft *d, const struct yaml_node *node, const char *what,
                    struct plan_template *out);

/* A field, or one reference in braces; only_one: at most one field in it. */
bool vocab_ref(struct vocab_draft *d, const struct yaml_node *node, const char *what, bool only_one,
               struct plan_ref *out);

void vocab_templates(struct vocab_draft *d, const struct yaml_node *value, const char *what,
                     const struct plan_template **out, uint32_t *n); /* one or a list, behind *n others */

/* ---- what a class is called and what means nothing (vocab_class.c) ---- */

void vocab_take_parts(struct vocab_draft *d, const struct yaml_node *value, struct plan *m);
void vocab_take_category(struct vocab_draft *d, const struct yaml_node *value, struct plan *m);
void vocab_take_none(struct vocab_draft *d, const struct yaml_node *value, void *ctx);

/* What was taken for a field. */
struct plan_none vocab_none_of(const struct vocab_draft *d, struct slice field);

/* A number in decimal digits. */
bool vocab_take_id(struct slice s, uint64_t *id);

/* ---- parts of a rule ---- */

void vocab_take_layout(struct vocab_draft *d, const struct yaml_node *value, struct plan *m);
void vocab_take_track(struct vocab_draft *d, const struct yaml_node *value, struct plan *m);
void vocab_take_define(struct vocab_draft *d, const struct yaml_node *value, struct plan *m);
void vocab_take_flow(struct vocab_draft *d, const struct yaml_node *value, struct plan *m);
void vocab_take_reader(struct vocab_draft *d, const struct yaml_node *value, struct plan *m);

/* One item of `events`. */
void vocab_take_rule(struct vocab_draft *d, const struct yaml_node *node);
void vocab_names_free(struct vocab_names *n);

/* ---- vocab builtin ---- */

/* The files schemas/FORMAT.yaml, made part of the program by embed.sh; the last has the format NULL. */
struct vocab_schema {
	const char *format;
	const unsigned char *text;
	size_t n;
};

extern const struct vocab_schema vocab_schemas[];

#endif

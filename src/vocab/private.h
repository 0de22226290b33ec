#ifndef VOCAB_PRIVATE_H
#define VOCAB_PRIVATE_H

/*
 * Private header of vocabularies.  A file of the user becomes rows of a vocabulary:
 *
 *   values.c       texts, keywords, tables and templates
 *   rule.c         a rule and its keys
 *   load.c         a file as a whole
 *   vocab.c        finds the rules and the plan of a class
 */
#include <pthread.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/table.h"
#include "vocab/vocab.h"
#include "yaml/yaml.h"

#define VOCAB_NONE UINT32_MAX      /* no row, no pattern */
#define VOCAB_MAX_BYTES (4U << 20) /* size of a file */
#define VOCAB_MAX_RULES 16384U     /* rules of a vocabulary */
#define VOCAB_MAX_GLOBS 256U       /* patterns of a vocabulary; each class is compared with all of them */
#define VOCAB_MAX_NAMED 1024U      /* rules with `named` */
#define VOCAB_MAX_WORDS 65535U     /* names of pairs and states; they have numbers of 16 bits */
#define VOCAB_MAX_CHAINS 32768U    /* combined plans, see struct vocab_chains */
#define VOCAB_MAX_LAYOUT 256U      /* fields of a layout */
#define VOCAB_MAX_READER 64U       /* entries of `reader` */
#define VOCAB_MAX_BYTES_OF 16U     /* entries of `bytes` */
#define VOCAB_MAX_NONE 64U         /* fields with null values; also null values of a field */
#define VOCAB_MAX_KEYS 32          /* keys that a mapping can have */

/* ---- the vocabulary ---- */

struct vocab_texts {
	const struct slice *list;
	uint32_t n;
};

/* A rule of a file, compiled. */
struct vocab_row {
	struct vocab_texts exact, globs; /* names of classes */
	struct vocab_texts fields;       /* fields that the class must have */
	struct vocab_use *use;           /* of its text; NULL: not asked for */
	struct plan plan;                /* plan.otherwise is unset */
};

/* An exact name or a glob of a row.  Patterns of the same text are linked in the order of the rows. */
struct vocab_pattern {
	struct slice text;
	uint32_t row;
	uint32_t next; /* index of the next pattern of this text, or VOCAB_NONE */
};

struct vocab_patterns {
	struct vocab_pattern *rows;
	uint32_t n, cap;
};

/* Names of processes, or of threads. */
struct vocab_names {
	const struct plan_template *all; /* name for all ids; NULL: none */
	const struct plan_template **single;
	uint32_t nsingle, single_cap;
	struct table64 by_id; /* id -> index of single[] */
};

/* Plans combined from several rules.  A rule with `named` is combined with the plan for other names; a rule
 * without `reader` is combined with the rule from which it inherits `reader`. */
struct vocab_chains {
	pthread_mutex_t lock; /* of look-ups */
	struct arena arena;
	struct plan *plans[VOCAB_MAX_CHAINS];
	uint32_t n;
	/* row << 32 | code of the other plan -> index of plans[].  Codes: 0: none; i + 1: plans[i];
	 * VOCAB_MAX_CHAINS + 1 + i: rows[i] */
	struct table64 index;
};

/* The vocabulary without some parts: see vocab_reduced(). */
struct vocab_reduced {
	struct vocabulary base;
	const struct vocab *of;
	unsigned without; /* enum vocab_parts */
	uint64_t tables;  /* bit of a table: what is left refers to it */
	struct arena arena;
	const struct plan **plans;
	uint32_t n, cap;
	struct table64 index; /* address of the whole plan -> index of plans[] */
};

struct vocab {
	struct vocabulary base;
	const char *format;         /* rules for other formats are checked and dropped; NULL: all are kept */
	const char *const *formats; /* formats that a file may state; NULL: any */
	struct slice last_format;   /* format of the last text; p NULL: none */
	bool no_memory;             /* OOM for the last text */
	struct arena arena;
	struct vocab_row **rows;
	uint32_t nrows, rows_cap;
	uint32_t nnamed; /* rows with `named` */
	uint32_t nglobs; /* globs of all rows */
	struct vocab_patterns exact, globs;
	struct tabletext exact_index; /* name -> index of exact.rows[], of the first pattern of this text */
	struct slice tables[PLAN_MAX_TABLES];
	uint32_t ntables;
	struct tabletext pairs, states; /* name -> number */
	uint32_t nwords;                /* names in pairs and states together */
	struct tabletext texts;         /* each text once, so equal field names mostly share a pointer */
	struct vocab_names processes, threads;
	struct vocab_chains *chains; /* grows when classes are looked up */
	struct vocab_uses {
		struct vocab_use *use;
		struct vocab_uses *next;
	} * uses;                      /* of the texts with rules */
	struct vocab_use *use;         /* of the next text */
	struct vocab_reduced *reduced; /* likewise; by what they are without */
};

/* rule.c: true if the meaning of an event depends on its fields. */
bool vocab_needs_fields(const struct plan *m);

/* rule.c: the tables that names, tracks, keys and definitions refer to, as bits. */
uint64_t vocab_tables(const struct plan *m);

/* ---- a file while it is read ---- */

/* Null values of a field. */
struct vocab_none {
	struct slice field;
	struct plan_none none;
	const struct vocab_none *next;
};

struct vocab_draft {
	struct vocab *v;
	struct yaml_file file;
	struct slice format;             /* p NULL: not read */
	uint8_t tables[PLAN_MAX_TABLES]; /* numbers of the tables that this file declares */
	uint32_t ntables;
	uint32_t nrules; /* rules with and without mistakes */
	struct vocab_names processes, threads;
	const struct vocab_none *nones; /* the last one first */
};

/* Reads a value into *to.  what: its key, for messages.  Returns false after a finding or on OOM. */
typedef bool vocab_reader(struct vocab_draft *d, const struct yaml_node *value, const char *what, void *to);

/* A key of a mapping, and the reader of its value.  at: offset of `to` in the `into` of vocab_map(). */
struct vocab_key {
	const char *name;
	vocab_reader *read;
	size_t at;
};

/* ---- values.c ---- */

/* Allocates memory that lives as long as the vocabulary.  Sets d->file.no_memory if it returns NULL. */
void *vocab_alloc(struct vocab_draft *d, size_t n, size_t size);

/* Reads a text into a struct slice. */
vocab_reader vocab_text;

/* Reads a text, or a list of texts, into a struct vocab_texts. */
vocab_reader vocab_texts;

/* Reads a name of a pair or a state.  *out: its number, from 1. */
bool vocab_name_number(struct vocab_draft *d, struct tabletext *names, const struct yaml_node *node,
                       const char *what, uint16_t *out, struct slice *text);

/* *out: the number of a table that the file declares.  Returns false after a finding. */
bool vocab_table(struct vocab_draft *d, const struct yaml_node *at, struct slice name, uint8_t *out);

/* Reads the values of the keys in a mapping, in the order of `keys`.  Reports unknown and repeated keys.
 * Returns false if the node is no mapping. */
bool vocab_map(struct vocab_draft *d, const struct yaml_node *node, const char *what,
               const struct vocab_key *keys, size_t nkeys, void *into);

#define VOCAB_MAP(d, node, what, keys, into) vocab_map(d, node, what, keys, COUNT_OF(keys), into)

bool vocab_template(struct vocab_draft *d, const struct yaml_node *node, const char *what,
                    struct plan_template *out);

/* Reads a template, or a list of templates. */
bool vocab_templates(struct vocab_draft *d, const struct yaml_node *value, const char *what,
                     const struct plan_template **out, uint32_t *n);

/* Reads a field, or one reference in braces, into a struct plan_ref. */
vocab_reader vocab_ref;

/* ---- rule.c ---- */

/* Adds one item of `events`. */
void vocab_read_rule(struct vocab_draft *d, const struct yaml_node *node);

/* ---- load.c ---- */

void vocab_names_free(struct vocab_names *n);

/* Returns the null values of a field. */
struct plan_none vocab_none_of(const struct vocab_draft *d, struct slice field);

/* ---- vocab.c ---- */

/* Adds the rows from `first` on to the indexes. */
bool vocab_index_rows(struct vocab *v, uint32_t first);

/* ---- built-in vocabularies: schemas/FORMAT.yaml, converted to C by embed.sh ---- */

struct vocab_schema {
	const char *format; /* NULL in the last entry */
	const unsigned char *text;
	size_t n;
};

extern const struct vocab_schema vocab_schemas[];

#endif

#ifndef HTDUMP_CLASS_H
#define HTDUMP_CLASS_H

#include "format/format.h"
#include "htdump/wire.h"

struct ht_plan;
struct ht_state;

/* A field as a record of class 3 describes it. */
struct ht_field {
	struct slice name, type_name; /* in the trace's arena */
	uint64_t size;
	uint8_t type; /* enum ht_type */
};

enum ht_kind {
	HT_KIND_EVENT,
	HT_KIND_ENDIANNESS,
	HT_KIND_INFO,
	HT_KIND_FIELD,
	HT_KIND_MAPPING,
	HT_KIND_SYSTEM,
	HT_KIND_STRUCTURE,
	HT_KIND_BARE /* the base of all classes: nothing but the head of a record */
};

struct ht_class {
	struct class *cls;
	struct slice name;
	uint32_t id;
	uint32_t nfields, fields_cap;
	struct ht_field *fields; /* owned (malloc) */
	uint8_t declared;        /* field_count of its class info */
	uint8_t kind;            /* enum ht_kind */
	struct slice version;    /* of HT_KIND_SYSTEM: what the version that it holds is called */
	bool used;               /* an event of it was read */
	bool unfolding;          /* on the path while a class is unfolded */
	bool rechecking;         /* described again: field infos are compared ... */
	bool renewing;           /* ... by a later stream, which may describe it otherwise */
	uint32_t recheck;        /* the next field to compare */
	uint64_t stream;         /* after how many further EndiannessInfoEvents it was described */
	struct ht_plan *plan;    /* owned; NULL until used */
};

struct ht_classes {
	struct ht_class **list; /* in order of arrival; owned */
	uint32_t n, cap;
	struct table64 by_id;               /* class id -> list[] */
	struct tabletext by_name;           /* class name -> list[] */
	struct ht_class *direct[HT_DIRECT]; /* classes of small ids, for speed */
	uint64_t stream;                    /* EndiannessInfoEvents after the first event: files appended */
	uint32_t fields, leaves;            /* of all classes together */
	uint32_t declared_fields;           /* in struct class, of all classes ever, with what a
	                                       class costs; at most HT_MAX_LEAVES */
	uint32_t described_bytes;           /* of all descriptions; at most HT_MAX_DESCRIBED */
	uint64_t visited;                   /* fields, while classes were unfolded */
	bool has_mapping;                   /* a string mapping class was described */
};

/* The built-in classes.  false: no memory. */
bool ht_classes_init(struct ht_state *st);
void ht_classes_free(struct ht_classes *all);

/* What the format calls a built-in class in the layout of the input. */
const char *ht_class_builtin_name(const struct ht_state *st, uint32_t id);
bool ht_class_is_builtin_name(uint32_t id, struct slice name); /* in any layout */

struct ht_class *ht_class_find_far(const struct ht_classes *all, uint32_t id);

static inline struct ht_class *
ht_class_find(const struct ht_classes *all, uint32_t id)
{
	return id < HT_DIRECT ? all->direct[id] : ht_class_find_far(all, id);
}

/* NULL, or false: no memory, which the state remembers. */
struct ht_class *ht_class_new(struct ht_state *st, uint32_t id, struct slice name);
bool ht_class_set_name(struct ht_state *st, struct ht_class *c, struct slice name);
bool ht_class_add_field(struct ht_state *st, struct ht_class *c, struct ht_field f);

/* Forgets the plan, or all that was described, so that the class can be described afresh. */
void ht_class_forget_plan(struct ht_classes *all, struct ht_class *c);
void ht_class_clear(struct ht_classes *all, struct ht_class *c);

/* Accounts for n more bytes of description; false: the bound is reached. */
bool ht_describe_room(struct ht_classes *all, uint64_t n);

#endif

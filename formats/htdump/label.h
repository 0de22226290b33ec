#ifndef HTDUMP_LABEL_H
#define HTDUMP_LABEL_H

#include "format/format.h"

struct ht_record;
struct ht_state;

/* Where the name of an integer label comes from; the later in this list, the better. */
enum ht_label_source {
	HT_LABEL_MAP_FILE, /* --label-map */
	HT_LABEL_AHEAD,    /* found by looking ahead */
	HT_LABEL_MET,      /* a mapping that stands before this place */
};

struct ht_label {
	struct slice text;
	uint64_t identifier;
	enum ht_label_source source;
};

/* The texts of labels.  Batches hold them, and may outlive the reader; none moves or changes. */
struct ht_texts {
	struct shared_memory shared;
	struct arena arena;
};

/* Integer labels and their names. */
struct ht_labels {
	struct table64 index; /* identifier -> list[] */
	struct ht_label *list;
	uint32_t n, cap;
	uint32_t bytes;         /* of all texts */
	struct ht_texts *texts; /* one reference; NULL: there are none yet */
	bool shared;   /* they are definitions of the trace too, for rules that the engine applies ... */
	uint8_t table; /* ... in this table */
	bool looked_ahead;
	bool one_pass;                   /* it was tried, but the input can be read only once */
	struct finding_tally unresolved; /* uses of labels without a name; now: the label */
};

void ht_labels_free(struct ht_labels *all);

/* Adds a name; rec is the mapping's record (NULL: from a file).  No memory: the state remembers. */
void ht_label_add(struct ht_state *st, uint64_t identifier, struct slice text, enum ht_label_source source,
                  const struct ht_record *rec);

/* The name, or p NULL (counted).  Looks ahead in the input when needed and possible. */
struct slice ht_label_find(struct ht_state *st, uint64_t identifier, const struct ht_record *rec);

/* From here on all names, also those that stand later in the input, are definitions of the trace. */
void ht_labels_share(struct ht_state *st, uint8_t table);

#endif

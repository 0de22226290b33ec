#ifndef FORMAT_CPU_PROFILE_H
#define FORMAT_CPU_PROFILE_H

#include "format/reader.h"
#include "json/token.h"

/*
 * CPU profiles of V8, for readers of formats that hold them as JSON.  A profile has a tree of nodes, each a
 * function with its callers above it, and samples, each a node and the time since the sample before.  Both
 * come in chunks, nodes before their samples.  A parent has a smaller index than its nodes, so a call stack
 * ends.
 */

#define CPU_PROFILE_MAX 4096u
#define CPU_PROFILE_MAX_NODES (1u << 20)   /* of all profiles */
#define CPU_PROFILE_MAX_BYTES (16u << 20)  /* of the names and URLs of their nodes, each once */
#define CPU_PROFILE_MAX_SAMPLES (1u << 22) /* of a chunk */
#define CPU_PROFILE_MAX_FRAMES 1024u       /* of a call stack, from the leaf on */
#define CPU_PROFILE_FIELDS 4u              /* of a sample, at most */
#define CPU_PROFILE_NONE UINT32_MAX

enum cpu_profile_fault {
	CPU_PROFILE_NODE,   /* an invalid node */
	CPU_PROFILE_SAMPLE, /* a sample of an unknown node */
	CPU_PROFILE_COUNT,  /* numbers of samples, times, lines and columns differ */
	CPU_PROFILE_TIME,
	CPU_PROFILE_LIMIT, /* reported once */
	CPU_PROFILE_FAULTS
};

struct cpu_profile_node {
	uint32_t parent;    /* CPU_PROFILE_NONE: a root */
	uint32_t name, url; /* in texts[]; CPU_PROFILE_NONE: none */
	bool is_defined;    /* else only its parent names it */
};

struct cpu_profile {
	const void *owner; /* of the reader */
	int64_t ns;        /* time of the last sample ... */
	uint64_t zero_ns;  /* ... from this time on */
};

struct cpu_profile_sample {
	uint64_t ts;           /* ns */
	uint32_t node;         /* in nodes[]; CPU_PROFILE_NONE: not known */
	uint32_t line, column; /* 0: not known */
};

/* All profiles of an input.  Zero-initialise, and set the first four members before the first call. */
struct cpu_profiles {
	struct arena *arena; /* of texts; outlives all events */
	bool *no_memory;     /* set on OOM */
	/* Reports a fault.  at: the place in the JSON; NULL: a limit without one. */
	void (*report)(void *ctx, enum cpu_profile_fault fault, const char *at, const char *text);
	void *ctx;

	struct table64 keys; /* of the reader -> list[] */
	struct cpu_profile *list;
	struct table64 ids; /* profile and node id -> nodes[] */
	struct cpu_profile_node *nodes;
	struct tabletext known_texts; /* -> texts[] */
	struct slice *texts;
	uint32_t n, cap, nnodes, nodes_cap, ntexts, texts_cap, bytes;
	bool full; /* nodes are missing */
	bool reported_profiles, reported_nodes, reported_samples;
	/* of the last chunk */
	struct cpu_profile_sample *samples;
	uint32_t nsamples, samples_cap;
};

/* The lists of a chunk; kind JSON_ABSENT: it has none. */
struct cpu_profile_chunk {
	struct json_token nodes, samples, times, lines, columns;
};

/* Reads microseconds, which may have a fraction; *ns: in ns.
 * Returns false if the token is something else. */
bool cpu_profile_time(const struct json_token *t, int64_t *ns);

/* Finds the lists in `data` of an event. */
struct cpu_profile_chunk cpu_profile_chunk(const struct json_token *data);

static inline bool cpu_profile_chunk_is_empty(const struct cpu_profile_chunk *c)
{
	return c->nodes.kind == JSON_ABSENT && c->samples.kind == JSON_ABSENT && c->times.kind == JSON_ABSENT;
}

/* Reads startTime.  Returns false after a finding, whose place is `at` if the token is absent. */
bool cpu_profile_start(const struct cpu_profiles *f, const struct json_token *t, const char *at, int64_t *ns);

/* Begins a profile.  Returns false after a finding if there are too many, or on OOM. */
bool cpu_profile_begin(struct cpu_profiles *f, struct cpu_profile p);

/* The same for one that later chunks name by a key; it replaces an older one. */
bool cpu_profile_begin_keyed(struct cpu_profiles *f, uint64_t key, struct cpu_profile p);

/* Returns the index of a profile, or CPU_PROFILE_NONE. */
static inline uint32_t cpu_profile_find(const struct cpu_profiles *f, uint64_t key)
{
	return table64_get(&f->keys, key);
}

/* Reads a chunk of a profile: adds its nodes, and sets f->samples. */
void cpu_profile_read(struct cpu_profiles *f, uint32_t profile, const struct cpu_profile_chunk *c);

/* The same, list by list: samples have no times before the last call. */
void cpu_profile_read_nodes(struct cpu_profiles *f, uint32_t profile, const struct json_token *t);
void cpu_profile_read_ids(struct cpu_profiles *f, uint32_t profile, const struct json_token *t);
void cpu_profile_read_times(struct cpu_profiles *f, uint32_t profile, const struct json_token *t);

/* Whether nothing ran. */
bool cpu_profile_is_idle(const struct cpu_profiles *f, const struct cpu_profile_sample *s);

/* Sets the fields of a sample: its call stack, leaf first, files of its frames, line and column.  Returns
 * their number.  Adds the bytes that they refer to to *referred. */
uint16_t cpu_profile_fields(const struct cpu_profiles *f, const struct cpu_profile_sample *s, struct batch *b,
                            struct field fields[CPU_PROFILE_FIELDS], uint64_t *referred);

/* Frees all but the texts, which are in the arena, and empties f except for its first four members. */
void cpu_profiles_free(struct cpu_profiles *f);

#endif

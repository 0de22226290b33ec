#ifndef DFTRACER_WRITE_LOOK_H
#define DFTRACER_WRITE_LOOK_H

#include "base/table.h"
#include "dftracer/keys.h"

/* A look at the bytes of a record that is copied: what kind it is, and whose. */

enum dfw_kind {
	DFW_CALL,        /* no metadata */
	DFW_HASH,        /* HH, FH, SH */
	DFW_TIME_METRIC, /* CM that says what times count */
	DFW_THREAD_NAME,
	DFW_ENTITY, /* EH, ET, ER */
	DFW_ENTITY_TYPE,
	DFW_ENTITY_RELATION,
	DFW_OF_PROCESS, /* other metadata */
};

struct dfw_look {
	bool ready;
	struct dft_keys keys;
	struct dft_record rec; /* points into the bytes */
	enum dfw_kind kind;
	bool has_pid, has_tid;
	uint64_t pid, tid;
	struct slice host;    /* as it is written; n 0: it does not say */
	struct table64 units; /* hash of pid and host, and of pid alone -> ns that times count */
};

/* false: no memory, or it is no record. */
bool dfw_look_at(struct dfw_look *x, struct slice bytes);

/* Remembers what a DFW_TIME_METRIC says.  false: no memory. */
bool dfw_look_metric(struct dfw_look *x);

/* ns that the times of the record count. */
uint64_t dfw_look_unit(const struct dfw_look *x);

void dfw_look_free(struct dfw_look *x);

#endif

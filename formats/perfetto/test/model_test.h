#ifndef PERFETTO_MODEL_TEST_H
#define PERFETTO_MODEL_TEST_H

#include "output/text.h"

/*
 * A model of Perfetto's importer, simple code that shares nothing with the writer: reads all packets, sorts
 * them by time and position in the file, and keeps a stack per track.  Content that an importer would refuse
 * fails the test: wrong lengths, unknown fields, undefined numbers, tracks without a descriptor.
 */

struct model_track {
	uint64_t uuid, parent; /* parent 0: none */
	struct slice name;
	char kind; /* p: process, t: thread, c: counter, ' ': plain */
	int64_t pid, tid;
	uint64_t unit, merge; /* merge 2: not merged with tracks of equal name */
	struct slice unit_name;
};

struct model_slice {
	uint64_t ts;
	int64_t dur; /* -1: open */
	uint32_t depth;
	int64_t parent; /* in slices; -1: none */
	uint64_t track;
	struct slice name, category;
	char *args; /* "a=u1 b=[sx,d1.5] c={k:i-1}" */
};

struct model_count {
	uint64_t ts, track;
	double value;
	char *args;
};

struct model_arrow {
	size_t from, to; /* in slices */
	struct slice category;
};

struct model_attribute {
	struct slice key, text; /* text.p NULL: a number */
	int64_t number;
};

struct model {
	struct model_track *tracks;
	struct model_slice *slices;
	struct model_count *counts;
	struct model_arrow *arrows;
	struct model_attribute *attributes;
	uint32_t ntracks, tracks_cap, nslices, slices_cap, ncounts, counts_cap, narrows, arrows_cap,
	    nattributes, attributes_cap;
	uint32_t nsamples, nstacks; /* PerfSamples; events with stacks */
	uint32_t nclocks;
	uint64_t clocks[8][2]; /* id, ns */
	struct model_events *events;
};

/* The bytes must outlive the model. */
void model_read(struct model *m, const char *p, size_t n);
void model_free(struct model *m);

const struct model_track *model_track(const struct model *m, uint64_t uuid);
const struct model_track *model_track_named(const struct model *m, const char *name);
const struct model_slice *model_slice_named(const struct model *m, const char *name);
const struct model_attribute *model_attribute(const struct model *m, const char *key);

#endif

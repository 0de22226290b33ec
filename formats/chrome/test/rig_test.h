#ifndef CHROME_CHROME_RIG_TEST_H
#define CHROME_CHROME_RIG_TEST_H

#include <cjson/cJSON.h>

#include "chrome/write/write.h"
#include "model/trace_engine.h"

/* The writer alone, with events that readers never or seldom return. */
struct chrome_rig {
	struct trace trace;
	const struct format *chrome;
	struct run_facts run;
	struct writer writer;
	struct chunk chunk;
	struct ledger total;
	struct batch batch;
	const struct class *cls, *other;
	const struct track *process;
	uint32_t tracks, classes; /* shown so far */
	cJSON *json, *events;
	int at; /* the next event of the output */
};

void chrome_rig_begin(struct chrome_rig *r);

const struct track *chrome_rig_thread(struct chrome_rig *r, uint64_t id, const char *name);

struct event *chrome_rig_event(struct chrome_rig *r, enum phase phase, const char *name,
                               const struct track *track, uint64_t ts, uint64_t dur);

/* Adds a field to the latest event. */
void chrome_rig_field(struct chrome_rig *r, const char *name, struct value v);

/* Renders new tracks, classes and events. */
void chrome_rig_render(struct chrome_rig *r);

/* Ends the output and expects strict JSON without repeated keys in an object. */
void chrome_rig_parse(struct chrome_rig *r);

void chrome_rig_finish(struct chrome_rig *r);

/* Return a member of an object; "" or -1: absent. */
const char *chrome_text_of(const cJSON *o, const char *name);
double chrome_number_of(const cJSON *o, const char *name);

/* Returns the next event of the output that is not metadata. */
const cJSON *chrome_rig_next(struct chrome_rig *r);

/* Returns the args of an event and expects that their names differ. */
const cJSON *chrome_args_of(const cJSON *e);

/* Returns the count of a loss in the parsed output. */
uint64_t chrome_rig_loss_of(const struct chrome_rig *r, const char *id);

#endif

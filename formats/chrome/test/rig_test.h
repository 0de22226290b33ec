#ifndef CHROME_CHROME_RIG_TEST_H
#define CHROME_CHROME_RIG_TEST_H

#include <cjson/cJSON.h>

#include "chrome/chrome.h"
#include "model/batch_pool.h"
#include "model/trace_engine.h"

/* The writer alone, fed by hand: what no reader gives yet, or seldom. */
struct chrome_rig {
	struct trace trace;
	const struct format *chrome;
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

/* Adds a field to the event that was made last. */
void chrome_rig_field(struct chrome_rig *r, const char *name, struct value v);

/* What is new is shown, and the first chunk joined to nothing, as the engine does. */
void chrome_rig_render(struct chrome_rig *r);

/* Ends the output, which must be strict JSON without a key that comes twice in one object. */
void chrome_rig_parse(struct chrome_rig *r);

void chrome_rig_finish(struct chrome_rig *r);

/* Members of an object: "" and -1 where there is none. */
const char *chrome_text_of(const cJSON *o, const char *name);
double chrome_number_of(const cJSON *o, const char *name);

/* The next event of the output that is no metadata. */
const cJSON *chrome_rig_next(struct chrome_rig *r);

/* The args of an event, whose names must differ. */
const cJSON *chrome_args_of(const cJSON *e);

/* How often it was lost, once parsed. */
uint64_t chrome_rig_loss_of(const struct chrome_rig *r, const char *id);

#endif

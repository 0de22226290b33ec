#ifndef CMD_EVENT_JSON_H
#define CMD_EVENT_JSON_H

#include "model/event.h"
#include "format/fields_json.h"

/* Events in reports: the members have the names of the columns of all tables, see tracetool-csv(5). */

/* span, async, instant, counter, begin, end, flow_out, flow_in, flow_step, structure */
const char *event_kind(const struct event *e);

/* `"kind":...,"offset":N`, without braces: all but class, args and what a report has besides. */
void event_json(struct text *t, const struct event *e, struct fields_json_lost *lost);

#endif

/* What a conversion to Chrome JSON says of the same facts. */
#include "dial9/test/facts_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text behind a key, up to the next `until`. */
static bool take(const char *line, const char *key, char until, char *to, size_t room)
{
	const char *const p = strstr(line, key);

	if (p == NULL)
		return false;
	const char *const from = p + strlen(key);
	const char *const end = strchr(from, until);
	snprintf(to, room, "%.*s", end != NULL ? (int)(end - from) : 0, from);
	return true;
}

/* Microseconds with three digits behind the point, as ns. */
static uint64_t nanoseconds(const char *line, const char *key)
{
	char text[64];
	uint64_t us = 0;
	unsigned ns = 0;

	cr_assert(take(line, key, ',', text, sizeof text) && sscanf(text, "%" SCNu64 ".%3u", &us, &ns) == 2,
	          "%.200s", line);
	return us * 1000 + ns;
}

struct output {
	struct d9f_facts *facts;
	char (*tracks)[64];
	uint32_t ntracks;
	struct table64 by_tid, begun; /* tid -> tracks[], id of an async span -> row */
	uint64_t *starts;             /* of async spans, by row of `begun` */
	uint32_t nstarts;
	uint32_t *rows;
};

static void take_track(struct output *o, const char *line)
{
	char tid[32];

	o->tracks = realloc(o->tracks, (o->ntracks + 1) * sizeof *o->tracks);
	cr_assert(o->tracks != NULL && take(line, "\"tid\":", ',', tid, sizeof tid));
	char *const name = o->tracks[o->ntracks];
	cr_assert(take(line, "\"args\":{\"name\":\"", '"', name, 64));
	char *const lane = strstr(name, " (");
	if (lane != NULL)
		*lane = '\0';
	cr_assert(table64_put(&o->by_tid, strtoull(tid, NULL, 10), o->ntracks++));
}

/* An async span begins, or ends. */
static void take_async(struct output *o, const char *line, struct d9f_row *row, bool begins)
{
	const uint64_t ts = nanoseconds(line, "\"ts\":");
	char id[32];

	cr_assert(take(line, "\"id\":\"", '"', id, sizeof id) ||
	              take(line, "\"local\":\"", '"', id, sizeof id),
	          "%.200s", line);
	const uint64_t key = strtoull(id, NULL, 0);
	if (begins) {
		o->starts = realloc(o->starts, (o->nstarts + 1) * sizeof *o->starts);
		o->rows = realloc(o->rows, (o->nstarts + 1) * sizeof *o->rows);
		cr_assert(o->starts != NULL && o->rows != NULL);
		o->starts[o->nstarts] = ts;
		o->rows[o->nstarts] = (uint32_t)(row - o->facts->rows);
		cr_assert(table64_put(&o->begun, key, o->nstarts++));
		row->count++;
		return;
	}
	const uint32_t at = table64_get(&o->begun, key);
	cr_assert_neq(at, TABLE_NONE);
	o->facts->rows[o->rows[at]].ns += ts - o->starts[at];
}

static void take_line(struct output *o, const char *line)
{
	char phase[8], name[300], category[200], tid[32];

	if (!take(line, "\"ph\":\"", '"', phase, sizeof phase))
		return;
	if (*phase == 'M' && strstr(line, "\"thread_name\"") != NULL)
		take_track(o, line);
	if (strchr("Xibe", *phase) == NULL)
		return;
	cr_assert(take(line, "\"name\":\"", '"', name, sizeof name) &&
	              take(line, "\"cat\":\"", '"', category, sizeof category) &&
	              take(line, "\"tid\":", ',', tid, sizeof tid),
	          "%.200s", line);
	const uint32_t track = table64_get(&o->by_tid, strtoull(tid, NULL, 10));
	cr_assert_neq(track, TABLE_NONE, "%.200s", line);
	o->facts->unfinished += strstr(line, "\"unfinished\":true") != NULL;
	if (*phase == 'e') {
		take_async(o, line, NULL, false);
		return;
	}
	struct d9f_row *const r = d9f_row(o->facts, phase, category, name, o->tracks[track]);
	if (*phase == 'b')
		take_async(o, line, r, true);
	else
		r->count++;
	if (*phase == 'X')
		r->ns += nanoseconds(line, "\"dur\":");
}

void d9f_converted(struct d9f_facts *f, char *text)
{
	struct output o = { .facts = f };
	char *next;

	*f = (struct d9f_facts){ .first = UINT64_MAX };
	for (char *line = text; line != NULL && *line != '\0'; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		take_line(&o, line);
	}
	free(o.tracks);
	free(o.starts);
	free(o.rows);
	table64_free(&o.by_tid);
	table64_free(&o.begun);
}

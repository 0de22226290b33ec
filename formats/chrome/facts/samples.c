/*
 * Samples: elements of the member `samples`, as Chrome with perf and Hermes write them beside the events.
 * Each has a time, a thread and an entry of stackFrames, but no ph, and often no pid: its thread is the one
 * that events before it name, in whatever process.
 */
#include "chrome/chrome.h"

void chrome_begin_samples(struct chrome_reading *st)
{
	st->in_samples = true;
	for (uint32_t i = 0; i < st->ntasks; i++) {
		const struct chrome_task *const w = st->tasks[i];
		if (w->is_thread && w->has_id && table64_get(&st->threads, w->id) == TABLE_NONE)
			st->r->no_memory |= !table64_put(&st->threads, w->id, i);
	}
}

struct json_token chrome_sample_pid(const struct chrome_reading *st)
{
	const struct slice tid = chrome_token_text(&st->rec.of[CHROME_TID]);
	uint64_t id;

	const uint32_t known =
	    tid.n > 0 && json_digits_any(tid.p, tid.n, &id) ? table64_get(&st->threads, id) : TABLE_NONE;
	if (known == TABLE_NONE)
		return (struct json_token){ .kind = JSON_ABSENT };
	const struct slice pid = st->tasks[known]->pid;
	return (struct json_token){ .p = pid.p, .end = pid.p + pid.n, .kind = JSON_UINT };
}

#include "paraver/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "paraver/state.h"

const struct track *
paraver_row_track(const struct track *t)
{
	while ((t->lane > 0 || t->is_child) && t->parent != NULL)
		t = t->parent;
	return t;
}

static uint32_t
task_of(struct paraver_rows *r, const struct track *process)
{
	const uint32_t known = table64_get(&r->task_by_track, process->index);

	if (known != TABLE_NONE)
		return known;
	if (!array_room(&r->tasks, r->ntasks, &r->tasks_cap, sizeof *r->tasks) ||
	    !table64_put(&r->task_by_track, process->index, r->ntasks))
		return TABLE_NONE;
	r->tasks[r->ntasks] = (struct paraver_task){ .process = process, .first = TABLE_NONE };
	return r->ntasks++;
}

uint32_t
paraver_row_of(struct paraver_rows *r, const struct track *t)
{
	const uint32_t known = table64_get(&r->by_track, t->index);

	if (known != TABLE_NONE)
		return known;
	const uint32_t number = task_of(r, track_process(t));
	if (number == TABLE_NONE || !array_room(&r->rows, r->n, &r->cap, sizeof *r->rows) ||
	    !table64_put(&r->by_track, t->index, r->n))
		return TABLE_NONE;
	struct paraver_task *const task = &r->tasks[number];
	struct paraver_row *const row = &r->rows[r->n];
	*row = (struct paraver_row){
		.track = t, .task = number + 1, .thread = ++task->nthreads, .next = TABLE_NONE
	};
	row->prefix_n = (uint32_t)snprintf(row->prefix, sizeof row->prefix, "0:1:%" PRIu32 ":%" PRIu32 ":",
	                                   row->task, row->thread);
	if (task->first == TABLE_NONE)
		task->first = r->n;
	else
		r->rows[task->last].next = r->n;
	task->last = r->n;
	return r->n++;
}

void
paraver_objects(const struct paraver_rows *r, struct text *t)
{
	text_printf(t, "1:%" PRIu32 "(", r->ntasks > 0 ? r->ntasks : 1);
	for (uint32_t i = 0; i < r->ntasks; i++)
		text_printf(t, "%s%" PRIu32 ":1", i > 0 ? "," : "", r->tasks[i].nthreads);
	if (r->ntasks == 0)
		text_str(t, "1:1");
	text_char(t, ')');
}

static void
put_label(struct chunk *chunk, const struct track *t)
{
	if (paraver_label(&chunk->text, t->name))
		paraver_lose(chunk, PARAVER_LABEL, 0);
	text_char(&chunk->text, '\n');
}

void
paraver_row_file(const struct paraver_rows *r, struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	text_printf(t, "LEVEL NODE SIZE 1\nunknown\n\nLEVEL TASK SIZE %" PRIu32 "\n", r->ntasks);
	for (uint32_t i = 0; i < r->ntasks; i++)
		put_label(chunk, r->tasks[i].process);
	text_printf(t, "\nLEVEL THREAD SIZE %" PRIu32 "\n", r->n);
	for (uint32_t i = 0; i < r->ntasks; i++)
		for (uint32_t k = r->tasks[i].first; k != TABLE_NONE; k = r->rows[k].next)
			put_label(chunk, r->rows[k].track);
}

void
paraver_rows_free(struct paraver_rows *r)
{
	free(r->rows);
	free(r->tasks);
	table64_free(&r->by_track);
	table64_free(&r->task_by_track);
}

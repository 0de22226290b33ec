#ifndef PARAVER_ROWS_H
#define PARAVER_ROWS_H

#include "base/table.h"
#include "format/format.h"

/*
 * The objects of the output.  There is one application; a process is a task
 * of it, a thread a thread of that.  What a process itself did is on a thread
 * that has the name of the process.  Both are numbered in the order of their
 * first events.
 */
struct paraver_task {
	const struct track *process;
	uint32_t nthreads;
	uint32_t first, last; /* of its rows */
};

struct paraver_row {
	const struct track *track; /* thread or process */
	uint32_t task, thread;     /* from 1 on */
	uint32_t next;             /* row of its task; TABLE_NONE: none */
	uint32_t prefix_n;
	char prefix[32]; /* of its events: cpu (0: unknown), application, task, thread */
};

/* Zero-initialise to start. */
struct paraver_rows {
	struct paraver_row *rows;
	struct paraver_task *tasks;
	uint32_t n, cap, ntasks, tasks_cap;
	struct table64 by_track, task_by_track;
};

/* The thread that a lane, or a track that shows something of a thread, is of; or a process. */
const struct track *paraver_row_track(const struct track *t);

/* Index of the row of such a track; TABLE_NONE: no memory. */
uint32_t paraver_row_of(struct paraver_rows *r, const struct track *t);

/* The object tree of the head of the .prv file: "1:2(4:1,4:1)". */
void paraver_objects(const struct paraver_rows *r, struct text *t);

/* The file .row. */
void paraver_row_file(const struct paraver_rows *r, struct chunk *chunk);

void paraver_rows_free(struct paraver_rows *r);

#endif

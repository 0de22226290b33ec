#include "ctf/state.h"

/* The context of an event: who did it.  It is the same bytes for all events of a track. */

/* The thread that a lane, or a track that shows something of a thread, is of; a process if there is none. */
static const struct track *
thread_of(const struct track *t)
{
	while ((t->lane > 0 || t->is_child) && t->parent != NULL)
		t = t->parent;
	return t;
}

bool
ctf_declare_track(struct ctf_state *st, struct track *t)
{
	const struct track *const process = track_process(t), *const thread = thread_of(t);
	const bool has_pid = process->kind == TRACK_PROCESS && process->has_id;
	const bool has_tid = thread->kind == TRACK_THREAD && thread->has_id;
	struct text *const s = &st->scratch;
	char head[4 + 8 + 8], *p = head;

	p = ctf_store(p, t->index, 4);
	p = ctf_store(p, has_pid ? process->id : 0, 8);
	(void)ctf_store(p, has_tid ? thread->id : 0, 8);
	text_clear(s);
	text_add(s, head, sizeof head);
	ctf_string(s, process->kind == TRACK_PROCESS ? process->name : SLICE_LIT(""), &st->names, 0);
	ctf_string(s, t->name, &st->names, 0);
	struct slice *const context = arena_alloc(&st->arena, sizeof *context);
	if (context == NULL || s->failed)
		return false;
	*context = arena_copy(&st->arena, slice_of(s->p, s->n));
	t->declared = context;
	return context->p != NULL;
}

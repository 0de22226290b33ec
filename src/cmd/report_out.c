#include "cmd/report_out.h"

#include "cmd/say.h"
#include "output/text_commands.h"

bool
report_out_open_file(struct report_out *r, const char *path, bool force)
{
	char why[512];

	*r = (struct report_out){ .path = strcmp(path, "-") == 0 ? "standard output" : path };
	r->out = output_open(path, force ? OUTPUT_FORCE : 0, why, sizeof why);
	if (r->out == NULL)
		say("%s", why);
	return r->out != NULL;
}

bool
report_out_open_below(struct report_out *r, const char *folder, const char *path, const char *head)
{
	char why[512];

	*r = (struct report_out){ .path = path };
	r->out = output_open_below(folder, path, head, why, sizeof why);
	if (r->out == NULL)
		say("%s", why);
	return r->out != NULL;
}

bool
report_out_open(struct report_out *r, const struct options *o)
{
	const bool file = o != NULL && o->output != NULL;

	return report_out_open_file(r, file ? o->output : "-", file && o->force);
}

void
report_out_put(struct report_out *r, struct text *t)
{
	r->no_memory |= t->failed;
	if (r->plain || !text_has_commands(t->p, t->n, r->lines)) {
		if (t->n > 0)
			output_write(r->out, t->p, t->n);
	} else {
		struct text safe = { .p = NULL };
		text_add_guarded(&safe, t->p, t->n, r->lines);
		r->no_memory |= safe.failed;
		output_write(r->out, safe.p, safe.n);
		text_free(&safe);
	}
	r->lines = (r->lines & TEXT_OWN_COMMANDS) | text_line_state(t->p, t->n, r->lines);
	text_clear(t);
}

enum exit_status
report_out_close(struct report_out *r)
{
	char why[512];

	if (!r->no_memory && output_finish(r->out)) {
		if (output_commit(r->out, why, sizeof why))
			return STATUS_CLEAN;
		say("%s", why);
		return STATUS_UNREADABLE;
	}
	struct shown_path shown;
	if (r->no_memory)
		say("%s: memory ran out while the report was made", show_path(&shown, r->path));
	const bool pipe_closed = !r->no_memory && output_pipe_closed(r->out);
	if (!r->no_memory && !pipe_closed)
		say("%s", output_error(r->out));
	output_discard(r->out);
	return pipe_closed ? STATUS_PIPE_CLOSED : STATUS_UNREADABLE;
}

#include "cmd/report_out.h"

#include "cmd/convert_output.h"
#include "cmd/say.h"
#include "cmd/side_reports.h"
#include "output/output_register.h"
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
report_out_open(struct report_out *r, struct options *o)
{
	const bool file = o != NULL && o->output != NULL;

	if (!report_out_open_file(r, file ? o->output : "-", file && o->force))
		return false;
	if (o == NULL || side_reports_open(o))
		return true;
	report_out_discard(r);
	return false;
}

void
report_out_put(struct report_out *r, struct text *t)
{
	if (t->failed) { /* it lacks a part, and the report is not to be shown at all */
		r->no_memory = true;
		return;
	}
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

void
report_out_discard(struct report_out *r)
{
	output_discard(r->out);
	r->out = NULL;
}

/* Says why it failed, and leaves nothing. */
static enum exit_status
give_up(struct report_out *r)
{
	const bool pipe_closed = !r->no_memory && output_pipe_closed(r->out);
	struct shown_path shown;

	if (r->no_memory)
		say("%s: memory ran out while the report was made", show_path(&shown, r->path));
	else if (!pipe_closed)
		say("%s", output_error(r->out));
	report_out_discard(r);
	return pipe_closed ? STATUS_PIPE_CLOSED : STATUS_UNREADABLE;
}

enum exit_status
report_out_close(struct report_out *r)
{
	struct publication p = { .n = 0 };

	publication_add(&p, r);
	(void)publication_end(&p, NULL, NULL, 0);
	return p.status;
}

enum exit_status
report_out_end(struct report_out *r, struct options *o, bool keep)
{
	const bool file = o->output != NULL && output_fd_of(o->output) < 0;
	struct publication p = { .n = 0 };

	const enum exit_status status = side_reports_end(o, &p);
	if (keep || !file)
		publication_add(&p, r);
	else
		report_out_discard(r);
	(void)publication_end(&p, NULL, NULL, 0);
	side_reports_free(o);
	return worse(status, p.status);
}

/* ---- several ---- */

void
publication_add(struct publication *p, struct report_out *r)
{
	if (r->out == NULL)
		return;
	if (!r->no_memory && output_finish(r->out) && p->n < sizeof p->list / sizeof p->list[0]) {
		p->list[p->n++] = r;
		return;
	}
	const enum exit_status status = give_up(r);
	p->status = worse(p->status, status);
	p->failed |= status == STATUS_UNREADABLE;
}

/* Gives all their names, or none.  false after a message, or *why. */
static bool
publish(struct publication *p, struct convert_output *last, char *why, size_t n)
{
	size_t done = 0;

	while (done < p->n && output_publish(p->list[done]->out))
		done++;
	if (done < p->n)
		say("%s", output_error(p->list[done]->out));
	else if (last == NULL || convert_output_commit(last, why, n))
		return true;
	while (done > 0)
		output_take_back(p->list[--done]->out);
	return false;
}

bool
publication_end(struct publication *p, struct convert_output *last, char *why, size_t n)
{
	struct output_register_hold hold;

	if (n > 0)
		why[0] = '\0';
	if (!p->failed) {
		/* no signal ends the process between two names */
		p->failed = !output_register_begin(&hold) || !publish(p, last, why, n);
		output_register_end(&hold);
	}
	if (p->failed) {
		p->status = worse(p->status, STATUS_UNREADABLE);
		if (last != NULL)
			convert_output_discard(last);
	}
	for (size_t i = 0; i < p->n; i++)
		report_out_discard(p->list[i]);
	return !p->failed;
}

#include "dftracer/hash.h"
#include "dftracer/process.h"
#include "dftracer/report.h"

/* The tracks of events: one for each process and thread. */

/* "the name (host)", or "process 12 (host)"; p NULL: no memory. */
static struct slice
process_name(struct dft_state *st, const struct dft_process *p, bool negative, char *buffer, size_t size)
{
	const struct slice title = dft_title_of(st, p->pid, p->host, NULL);
	struct slice host = p->host != 0 ? dft_host_text(&st->sh->who, p->host) : slice_of("", 0);
	const struct dft_record whole = { .p = host.p };
	struct dft_hash h;
	struct slice number;
	int n;

	/* the host is known as it is written: as a name, or as a hash */
	const enum json_kind kind =
	    host.n > 0 && host.n != DFT_HEX_DIGITS && host.p[0] >= '0' && host.p[0] <= '9' ? JSON_UINT
	                                                                                   : JSON_STRING;
	if (host.n > 0 && dft_hash_read(&whole, (struct dft_token){ 0, host.n }, kind, &h)) {
		const struct slice name = dft_name_look(st, DFT_HASH_HOST, h, p->pid);
		host = name.p != NULL ? name : host;
	}
	if (host.n > DFT_MAX_TITLE)
		host.n = DFT_MAX_TITLE;
	if (title.p != NULL)
		n = snprintf(buffer, size, "%.*s", (int)title.n, title.p);
	else if (negative)
		n = snprintf(buffer, size, "process %" PRId64, (int64_t)p->pid);
	else if ((number = trace_track_name(st->r->trace, true, "process", p->pid)).p != NULL)
		n = snprintf(buffer, size, "%.*s", (int)(number.n < DFT_MAX_TITLE ? number.n : DFT_MAX_TITLE),
		             number.p);
	else
		return number;
	if (host.n > 0)
		n += snprintf(buffer + n, size - (size_t)n, " (%.*s)", (int)host.n, host.p);
	return textscan_slice(buffer, (uint32_t)n);
}

static const struct track *
process_track(struct dft_state *st, struct dft_process *p, bool negative)
{
	char buffer[2 * DFT_MAX_TITLE + 40];

	if (p->track != NULL)
		return p->track;
	const struct slice name = process_name(st, p, negative, buffer, sizeof buffer);
	struct track *const t = name.p != NULL ? trace_add_process(st->r->trace, name) : NULL;
	if (t == NULL)
		return NULL;
	t->has_id = true;
	t->id = p->pid;
	t->global = p->host != 0; /* ranks write files of their own */
	p->track = t;
	return t;
}

static bool
is_number(struct slice name, const uint64_t *number)
{
	char digits[24];

	return number != NULL && name.n == (uint32_t)snprintf(digits, sizeof digits, "%" PRIu64, *number) &&
	       memcmp(name.p, digits, name.n) == 0;
}

static const struct track *
new_thread(struct dft_state *st, const struct dft_record *rec, struct dft_process *p, const uint64_t *tid,
           uint64_t key, bool negative)
{
	struct trace *const trace = st->r->trace;
	const struct track *const process = process_track(st, p, negative);

	if (process == NULL)
		return NULL;
	if (st->sh->processes.threads.used >= DFT_MAX_THREADS) {
		dft_report(st, DFT_RULE_THREAD_LIMIT, rec, NULL,
		           "more than 40000 threads: thread %" PRIu64 " shares a track with others",
		           tid != NULL ? *tid : 0);
		if (st->sh->processes.more == NULL)
			st->sh->processes.more =
			    trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more threads"));
		return st->sh->processes.more;
	}
	struct slice name = tid != NULL ? dft_title_of(st, p->pid, p->host, tid) : SLICE_LIT("no thread");
	if (name.p == NULL || is_number(name, tid)) /* tracers name threads by their numbers */
		name = trace_track_name(trace, false, "thread", *tid);
	struct track *const t =
	    name.p != NULL ? trace_add_thread(trace, process, tid != NULL ? *tid : 0, name) : NULL;
	if (t == NULL || !table64_put(&st->sh->processes.threads, key, t->index))
		return NULL;
	t->has_id = tid != NULL;
	return t;
}

const struct track *
dft_thread_track(struct dft_state *st, const struct dft_record *rec, struct dft_process *p, bool has_tid,
                 uint64_t tid, bool negative_pid)
{
	struct dft_thread *const recent = &st->sh->processes.recent[(tid ^ p->number) % DFT_RECENT];

	if (has_tid && recent->process == p && recent->tid == tid)
		return recent->track;
	const uint64_t key =
	    (uint64_t)p->number << 40 | (has_tid ? dft_small_number(&st->sh->who, tid) + 1 : 0);
	const uint32_t known = table64_get(&st->sh->processes.threads, key);
	const struct track *const t = known != TABLE_NONE
	                                  ? st->r->trace->tracks[known]
	                                  : new_thread(st, rec, p, has_tid ? &tid : NULL, key, negative_pid);
	if (has_tid && t != NULL)
		*recent = (struct dft_thread){ p, t, tid };
	return t;
}

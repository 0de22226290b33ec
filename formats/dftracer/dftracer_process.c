#include <stdlib.h>

#include "dftracer/dftracer_state.h"

/*
 * Who did it.  A process is known by its pid and its host; a record that does
 * not name its host (metadata of 2024) belongs to the first process of its
 * pid, and a process whose host is not known yet gets the first that comes.
 */

/* Numbers of less than 39 bits for all pids and tids: themselves where they are that small.  Past a bound all
 * large ones are one. */
#define SMALL (UINT64_C(1) << 38)

static uint64_t
small_number(struct dft_shared *sh, uint64_t v)
{
	if (v < SMALL)
		return v;
	const uint32_t known = table64_get(&sh->large, v);
	if (known != TABLE_NONE)
		return SMALL + known;
	const uint32_t n = (uint32_t)sh->large.used;
	if (n >= DFT_MAX_PROCESSES || !table64_put(&sh->large, v, n))
		return SMALL + DFT_MAX_PROCESSES;
	return SMALL + n;
}

/* ---- hosts ---- */

#define MAX_HOST 256 /* bytes of a name that count: the longest is 255 */

/* 1, 2, ...; 0: too many, or no memory (then hosts are not told apart). */
static uint32_t
host_number(struct dft_shared *sh, struct slice host)
{
	const uint32_t known = tabletext_get(&sh->hosts, host);

	if (known != TABLE_NONE)
		return known;
	if (sh->nhosts == DFT_MAX_HOSTS ||
	    !array_room(&sh->host_texts, sh->nhosts, &sh->hosts_cap, sizeof *sh->host_texts))
		return 0;
	const struct slice copy = arena_copy(sh->arena, host);
	if (copy.p == NULL || !tabletext_put(&sh->hosts, copy, sh->nhosts + 1))
		return 0;
	sh->host_texts[sh->nhosts++] = copy;
	return sh->nhosts;
}

/* ---- processes ---- */

static uint64_t
process_key(struct dft_shared *sh, uint64_t pid, uint32_t host)
{
	return small_number(sh, pid) << 24 | host;
}

static struct dft_process *
new_process(struct dft_state *st, const struct dft_record *rec, uint64_t pid, uint32_t host)
{
	if (st->sh->nprocesses == DFT_MAX_PROCESSES) {
		dft_limit(st, DFT_LIMIT_PROCESSES, rec);
		return st->sh->processes[DFT_MAX_PROCESSES - 1];
	}
	if (!array_room(&st->sh->processes, st->sh->nprocesses, &st->sh->processes_cap,
	                sizeof(struct dft_process *)))
		return NULL;
	struct dft_process *const p = arena_zalloc(st->sh->arena, 1, sizeof *p);
	if (p == NULL)
		return NULL;
	*p = (struct dft_process){ .pid = pid, .number = st->sh->nprocesses, .host = host, .unit = 1000 };
	st->sh->processes[st->sh->nprocesses] = p;
	return table64_put(&st->sh->by_pid, process_key(st->sh, pid, host), st->sh->nprocesses++) ? p : NULL;
}

static struct dft_process *
find_process(struct dft_state *st, const struct dft_record *rec, uint64_t pid, uint32_t host)
{
	const uint64_t key = process_key(st->sh, pid, host);
	uint32_t known = table64_get(&st->sh->by_pid, key);

	if (known != TABLE_NONE)
		return st->sh->processes[known];
	const uint64_t any = process_key(st->sh, pid, 0);
	known = host != 0 ? table64_get(&st->sh->by_pid, any) : TABLE_NONE;
	if (known != TABLE_NONE && st->sh->processes[known]->host == 0) {
		st->sh->processes[known]->host = host;
		return table64_put(&st->sh->by_pid, key, known) ? st->sh->processes[known] : NULL;
	}
	struct dft_process *const p = new_process(st, rec, pid, host);
	if (p != NULL && known == TABLE_NONE && host != 0 && !table64_put(&st->sh->by_pid, any, p->number))
		return NULL;
	return p;
}

/* As slice_equal(), at once for hashes of 16 digits. */
static inline bool
same_host(struct slice a, struct slice b)
{
	if (a.n != b.n)
		return false;
	if (a.n != DFT_HEX_DIGITS)
		return slice_equal(a, b);
	return ((load_u64(a.p, false) ^ load_u64(b.p, false)) |
	        (load_u64(a.p + 8, false) ^ load_u64(b.p + 8, false))) == 0;
}

struct dft_process *
dft_process_of(struct dft_state *st, const struct dft_record *rec, uint64_t pid, struct slice host)
{
	struct dft_process *const last = st->sh->last;

	host.n = host.n < MAX_HOST ? host.n : MAX_HOST;
	if (host.n == 0)
		return find_process(st, rec, pid, 0);
	if (last != NULL && last->pid == pid && same_host(st->sh->host_texts[last->host - 1], host))
		return last;
	struct dft_process *const p = find_process(st, rec, pid, host_number(st->sh, host));
	if (p != NULL && p->pid == pid && p->host != 0)
		st->sh->last = p;
	return p;
}

/* ---- titles ---- */

static uint64_t
title_key(uint64_t owner, const uint64_t *small_tid)
{
	return owner << 40 | (small_tid != NULL ? *small_tid + 1 : 0);
}

bool
dft_title_add(struct dft_state *st, uint64_t pid, struct slice host, const uint64_t *tid, struct slice text)
{
	struct dft_shared *const sh = st->names_to;
	struct dft_titles *const t = &sh->titles;
	host.n = host.n < MAX_HOST ? host.n : MAX_HOST;
	const uint64_t who = process_key(sh, pid, host.n > 0 ? host_number(sh, host) : 0);
	uint64_t small = tid != NULL ? small_number(sh, *tid) : 0;
	uint32_t owner = table64_get(&t->owners, who);

	if (t->n == DFT_MAX_TITLES) {
		dft_limit(st, DFT_LIMIT_TITLES, &st->record);
		return true;
	}
	if (owner == TABLE_NONE) {
		owner = t->nowners++;
		if (!table64_put(&t->owners, who, owner))
			return false;
	}
	if (!array_room(&t->texts, t->n, &t->cap, sizeof *t->texts))
		return false;
	if (text.n > DFT_MAX_TITLE)
		text = slice_of(text.p, DFT_MAX_TITLE);
	t->texts[t->n] = arena_copy(sh->arena, text);
	if (t->texts[t->n].p == NULL)
		return false;
	return table64_put(&t->index, title_key(owner, tid != NULL ? &small : NULL), t->n++);
}

static struct slice
title_of(struct dft_state *st, const struct dft_process *p, const uint64_t *tid)
{
	const struct dft_titles *const t = &st->sh->titles;
	uint64_t small = tid != NULL ? small_number(st->sh, *tid) : 0;

	for (int i = 0; i < 2; i++) {
		const uint32_t owner =
		    table64_get(&t->owners, process_key(st->sh, p->pid, i == 0 ? p->host : 0));
		const uint32_t known =
		    owner != TABLE_NONE
		        ? table64_get(&t->index, title_key(owner, tid != NULL ? &small : NULL))
		        : TABLE_NONE;
		if (known != TABLE_NONE)
			return textscan_slice(t->texts[known].p, t->texts[known].n);
	}
	return (struct slice){ NULL, 0, 0 };
}

/* ---- tracks ---- */

/* "the name (host)", or "process 12 (host)"; p NULL: no memory. */
static struct slice
process_name(struct dft_state *st, const struct dft_process *p, bool negative, char *buffer, size_t size)
{
	const struct slice title = title_of(st, p, NULL);
	struct slice host = p->host != 0 ? st->sh->host_texts[p->host - 1] : slice_of("", 0);
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
	p->track = t;
	return t;
}

static const struct track *
new_thread(struct dft_state *st, const struct dft_record *rec, struct dft_process *p, const uint64_t *tid,
           uint64_t key, bool negative)
{
	struct trace *const trace = st->r->trace;
	const struct track *const process = process_track(st, p, negative);

	if (process == NULL)
		return NULL;
	if (st->sh->threads.used >= DFT_MAX_THREADS) {
		dft_find(st, DFT_RULE_THREAD_LIMIT, rec, NULL,
		         "thread %" PRIu64 " and others share one track", tid != NULL ? *tid : 0);
		if (st->sh->more == NULL)
			st->sh->more =
			    trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more threads"));
		return st->sh->more;
	}
	struct slice name = tid != NULL ? title_of(st, p, tid) : SLICE_LIT("no thread");
	if (name.p == NULL)
		name = trace_track_name(trace, false, "thread", *tid);
	struct track *const t =
	    name.p != NULL ? trace_add_thread(trace, process, tid != NULL ? *tid : 0, name) : NULL;
	if (t == NULL || !table64_put(&st->sh->threads, key, t->index))
		return NULL;
	t->has_id = tid != NULL;
	return t;
}

const struct track *
dft_thread_track(struct dft_state *st, const struct dft_record *rec, struct dft_process *p, bool has_tid,
                 uint64_t tid, bool negative_pid)
{
	struct dft_thread *const recent = &st->sh->recent[(tid ^ p->number) % DFT_RECENT];

	if (has_tid && recent->process == p && recent->tid == tid)
		return recent->track;
	const uint64_t key = (uint64_t)p->number << 40 | (has_tid ? small_number(st->sh, tid) + 1 : 0);
	const uint32_t known = table64_get(&st->sh->threads, key);
	const struct track *const t = known != TABLE_NONE
	                                  ? st->r->trace->tracks[known]
	                                  : new_thread(st, rec, p, has_tid ? &tid : NULL, key, negative_pid);
	if (has_tid && t != NULL)
		*recent = (struct dft_thread){ p, t, tid };
	return t;
}

void
dft_processes_free(struct dft_shared *sh)
{
	free(sh->processes);
	table64_free(&sh->by_pid);
	table64_free(&sh->large);
	table64_free(&sh->threads);
	tabletext_free(&sh->hosts);
	free(sh->host_texts);
	table64_free(&sh->titles.owners);
	table64_free(&sh->titles.index);
	free(sh->titles.texts);
}

#include "dftracer/process.h"

#include <stdlib.h>

#include "dftracer/report.h"

static struct dft_process *
new_process(struct dft_state *st, const struct dft_record *rec, uint64_t pid, uint32_t host)
{
	struct dft_processes *const all = &st->sh->processes;

	if (all->n == DFT_MAX_PROCESSES) {
		dft_report_limit(st, DFT_LIMIT_PROCESSES, rec);
		return all->list[DFT_MAX_PROCESSES - 1];
	}
	if (!array_room(&all->list, all->n, &all->cap, sizeof(struct dft_process *)))
		return NULL;
	struct dft_process *const p = arena_zalloc(st->sh->arena, 1, sizeof *p);
	if (p == NULL)
		return NULL;
	*p = (struct dft_process){ .pid = pid, .number = all->n, .host = host, .unit = 1000 };
	all->list[all->n] = p;
	return table64_put(&all->index, dft_process_key(&st->sh->who, pid, host), all->n++) ? p : NULL;
}

static struct dft_process *
find_process(struct dft_state *st, const struct dft_record *rec, uint64_t pid, uint32_t host)
{
	struct dft_processes *const all = &st->sh->processes;
	const uint64_t key = dft_process_key(&st->sh->who, pid, host);
	uint32_t known = table64_get(&all->index, key);

	if (known != TABLE_NONE)
		return all->list[known];
	const uint64_t any = dft_process_key(&st->sh->who, pid, 0);
	known = host != 0 ? table64_get(&all->index, any) : TABLE_NONE;
	if (known != TABLE_NONE && all->list[known]->host == 0) {
		all->list[known]->host = host;
		return table64_put(&all->index, key, known) ? all->list[known] : NULL;
	}
	struct dft_process *const p = new_process(st, rec, pid, host);
	if (p != NULL && known == TABLE_NONE && host != 0 && !table64_put(&all->index, any, p->number))
		return NULL;
	return p;
}

struct dft_process *
dft_process_of(struct dft_state *st, const struct dft_record *rec, uint64_t pid, struct slice host)
{
	struct dft_shared *const sh = st->sh;
	struct dft_process *const last = sh->processes.last;

	host.n = host.n < DFT_MAX_HOST ? host.n : DFT_MAX_HOST;
	if (host.n == 0)
		return find_process(st, rec, pid, 0);
	if (last != NULL && last->pid == pid && dft_same_host(dft_host_text(&sh->who, last->host), host))
		return last;
	struct dft_process *const p = find_process(st, rec, pid, dft_host_number(&sh->who, sh->arena, host));
	if (p != NULL && p->pid == pid && p->host != 0)
		sh->processes.last = p;
	return p;
}

void
dft_processes_free(struct dft_processes *p)
{
	free(p->list);
	table64_free(&p->index);
	table64_free(&p->threads);
}

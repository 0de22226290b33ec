#include <stdlib.h>

#include "ovni/ovni_state.h"

/* What only the whole trace shows. */

void
ovni_shared_close(void *shared)
{
	struct ovni_shared *const sh = shared;

	ovni_emulate_close(sh);
	arena_free(&sh->text);
	free(sh->codes);
	free(sh->looms);
	free(sh->hosts);
	free(sh->processes);
	free(sh->cpus);
	free(sh->labels);
	tabletext_free(&sh->loom_index);
	tabletext_free(&sh->host_index);
	tabletext_free(&sh->label_index);
	table64_free(&sh->code_index);
	table64_free(&sh->process_index);
	table64_free(&sh->tids);
	table64_free(&sh->phyids);
}

static int
by_index(const void *a, const void *b)
{
	const struct ovni_cpu *const x = a, *const y = b;

	if (x->loom != y->loom)
		return x->loom < y->loom ? -1 : 1;
	return x->index != y->index ? (x->index < y->index ? -1 : 1)
	                            : (x->phyid > y->phyid) - (x->phyid < y->phyid);
}

/* "from 0 to N - 1": sorted, each CPU has its place as its index. */
static void
check_cpus(struct reader *r)
{
	struct ovni_shared *const sh = r->shared;
	struct quoted q;
	uint32_t place = 0;
	bool said = false;

	if (sh->ncpus > 0)
		qsort(sh->cpus, sh->ncpus, sizeof *sh->cpus, by_index);
	for (uint32_t i = 0; i < sh->ncpus; i++) {
		const struct ovni_cpu *const c = &sh->cpus[i];
		if (i == 0 || c->loom != c[-1].loom) {
			place = 0;
			said = false;
		}
		if (c->index != place++ && !said) {
			ovni_say(r, OVNI_RULE_CPU_INDEX,
			         "loom %s has %" PRIu32 " CPUs, and one of index %" PRIu32 " (phyid %" PRIu32
			         ") in place %" PRIu32,
			         quoted(&q, sh->looms[c->loom].name), sh->looms[c->loom].cpus, c->index,
			         c->phyid, place - 1);
			said = true;
		}
	}
	for (uint32_t i = 0; i < sh->nlooms; i++)
		if (sh->looms[i].cpus == 0)
			ovni_say(r, OVNI_RULE_NO_CPUS, "no stream of loom %s gives its CPUs",
			         quoted(&q, sh->looms[i].name));
}

/* A process whose loom some of its threads leave out is known by its pid in the looms that were named. */
static bool
has_twin(const struct ovni_shared *sh, int64_t pid)
{
	for (uint32_t i = 0; i < sh->nlooms && i < 256; i++)
		if (table64_get(&sh->process_index, (uint64_t)(i + 1) << 32 | (uint64_t)pid) != TABLE_NONE)
			return true;
	return false;
}

static void
check_processes(struct reader *r)
{
	const struct ovni_shared *const sh = r->shared;
	uint32_t ranked = 0, placed = 0;

	for (uint32_t i = 0; i < sh->nprocesses; i++) {
		const struct ovni_process *const p = &sh->processes[i];
		if (p->loom == TABLE_NONE) {
			if (!has_twin(sh, p->pid))
				ovni_say(r, OVNI_RULE_NO_LOOM,
				         "no thread of process %" PRId64 " gives ovni.loom", p->pid);
			continue;
		}
		placed++;
		ranked += p->rank >= 0;
		if (p->app_id < 0)
			ovni_say(r, OVNI_RULE_APP_ID,
			         "no thread of process %" PRId64 " gives a positive ovni.app_id", p->pid);
	}
	if (ranked > 0 && ranked < placed)
		ovni_say(r, OVNI_RULE_RANK_MIXED, "%" PRIu32 " of %" PRIu32 " processes have a rank", ranked,
		         placed);
}

void
ovni_check_trace(struct reader *r)
{
	const struct ovni_shared *const sh = r->shared;

	ovni_check_offsets(r);
	ovni_emulate_end(r);
	/* single streams are checked for themselves: the others may say what these do not */
	if (!sh->in_folder)
		return;
	check_processes(r);
	check_cpus(r);
}

/* ---- files beside streams ---- */

static bool
exists(const char *path, size_t folder, const char *name)
{
	char *const other = malloc(folder + strlen(name) + 1);
	bool found = other == NULL;

	if (other != NULL) {
		memcpy(other, path, folder);
		memcpy(other + folder, name, strlen(name) + 1);
		struct input *const in = input_open(other);
		found = in == NULL || in->fault != INPUT_MISSING;
		input_close(in);
	}
	free(other);
	return found;
}

/* stream.json wants events beside it; metadata.json is of the layouts before there were streams. */
void
ovni_check_sidecar(struct reader *r)
{
	const char *const path = r->findings->path, *const slash = strrchr(path, '/');
	const char *const name = slash != NULL ? slash + 1 : path;
	const size_t folder = (size_t)(name - path);

	if (strcmp(name, "stream.json") != 0)
		ovni_say(r, OVNI_RULE_OLD_LAYOUT, "metadata.json is of metadata version 1 or 2");
	else if (!exists(path, folder, "stream.obs") && !exists(path, folder, "stream.obs.gz") &&
	         !exists(path, folder, "stream.obs.zst"))
		ovni_say(r, OVNI_RULE_EVENTS_MISSING, "there is no stream.obs beside it");
}

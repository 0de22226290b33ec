#include <cJSON.h>
#include <errno.h>
#include <stdlib.h>

#include "ovni/ovni_state.h"

/* What the streams of one trace say together ("computed by merging all the values"). */

void
ovni_limit(struct ovni_state *st, const char *what, uint32_t most)
{
	struct ovni_shared *const sh = st->r->shared;

	if (!sh->limited)
		ovni_say(st->r, OVNI_RULE_LIMIT, "more than %" PRIu32 " %s: the rest is not compared", most,
		         what);
	sh->limited = true;
}

/* Keeps a copy; what does not fit the bound is left empty. */
bool
ovni_merge_text(struct ovni_state *st, const char *s, struct slice *kept)
{
	struct ovni_shared *const sh = st->r->shared;
	const size_t n = strlen(s);

	if (n > OVNI_MAX_TEXT - sh->text_bytes) {
		ovni_limit(st, "bytes of names", OVNI_MAX_TEXT);
		*kept = SLICE_LIT("");
		return true;
	}
	sh->text_bytes += (uint32_t)n;
	*kept = arena_copy(&sh->text, textscan_slice(s, (uint32_t)n));
	return kept->p != NULL;
}

/* ---- looms, processes, threads ---- */

static bool
find_loom(struct ovni_state *st, struct slice name, uint32_t *loom)
{
	struct ovni_shared *const sh = st->r->shared;

	*loom = name.p != NULL ? tabletext_get(&sh->loom_index, name) : TABLE_NONE;
	if (name.p == NULL || *loom != TABLE_NONE)
		return true;
	if (sh->nlooms >= OVNI_MAX_LOOMS) {
		ovni_limit(st, "looms", OVNI_MAX_LOOMS);
		return true;
	}
	if (!array_room(&sh->looms, sh->nlooms, &sh->looms_cap, sizeof *sh->looms) ||
	    !tabletext_put(&sh->loom_index, name, sh->nlooms))
		return false;
	sh->looms[sh->nlooms] = (struct ovni_loom){ .name = name };
	*loom = sh->nlooms++;
	return true;
}

static const struct track *
process_track(struct ovni_state *st, const struct ovni_thread *t)
{
	char name[200];
	int n = t->loom.p == NULL ? snprintf(name, sizeof name, "pid %" PRId64, t->pid)
	                          : snprintf(name, sizeof name, "%.*s pid %" PRId64,
	                                     (int)(t->loom.n < 64 ? t->loom.n : 64), t->loom.p, t->pid);

	if (t->rank >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, " (rank %" PRId64, t->rank);
	if (t->app_id >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, "%sapp %" PRId64, t->rank >= 0 ? ", " : " (",
		              t->app_id);
	if (t->rank >= 0 || t->app_id >= 0)
		n += snprintf(name + n, sizeof name - (size_t)n, ")");
	struct track *const k = trace_add_process(st->r->trace, textscan_slice(name, (uint32_t)n));
	if (k != NULL) {
		k->has_id = true;
		k->id = (uint64_t)t->pid;
	}
	return k;
}

static void
merge_number(struct ovni_state *st, const char *key, int64_t pid, int64_t *known, int64_t now)
{
	if (now < 0)
		return;
	if (*known >= 0 && *known != now)
		ovni_say(st->r, OVNI_RULE_PROCESS_CONFLICT,
		         "ovni.%s of process %" PRId64 " is %" PRId64 ", another thread says %" PRId64, key,
		         pid, now, *known);
	if (*known < 0)
		*known = now;
}

static bool
find_process(struct ovni_state *st, const struct ovni_thread *t, uint32_t loom, uint32_t *process)
{
	struct ovni_shared *const sh = st->r->shared;
	const uint64_t key = (uint64_t)(loom + 1) << 32 | (uint64_t)t->pid; /* TABLE_NONE + 1 is 0 */

	*process = table64_get(&sh->process_index, key);
	if (*process == TABLE_NONE && sh->nprocesses >= OVNI_MAX_PROCESSES) {
		ovni_limit(st, "processes", OVNI_MAX_PROCESSES);
		return true;
	}
	if (*process == TABLE_NONE) {
		if (!array_room(&sh->processes, sh->nprocesses, &sh->processes_cap, sizeof *sh->processes) ||
		    !table64_put(&sh->process_index, key, sh->nprocesses))
			return false;
		*process = sh->nprocesses++;
		sh->processes[*process] = (struct ovni_process){
			.loom = loom, .pid = t->pid, .app_id = -1, .rank = -1, .nranks = -1
		};
		if (st->r->trace->ntracks < TRACE_MAX_TRACKS &&
		    (sh->processes[*process].track = process_track(st, t)) == NULL)
			return false;
	}
	struct ovni_process *const p = &sh->processes[*process];
	merge_number(st, "app_id", p->pid, &p->app_id, t->app_id);
	merge_number(st, "rank", p->pid, &p->rank, t->rank);
	merge_number(st, "nranks", p->pid, &p->nranks, t->nranks);
	return true;
}

bool
ovni_merge_thread(struct ovni_state *st, const struct ovni_thread *t, uint32_t *loom)
{
	struct ovni_shared *const sh = st->r->shared;
	uint32_t process = TABLE_NONE;
	char name[40];

	if (!find_loom(st, t->loom, loom) || (t->pid > 0 && !find_process(st, t, *loom, &process)))
		return false;
	st->offset = ovni_offset_of(sh, t->loom);
	if (process == TABLE_NONE || t->tid <= 0)
		return true;
	const uint64_t key = (uint64_t)process << 32 | (uint64_t)t->tid;
	if (table64_get(&sh->tids, key) != TABLE_NONE)
		ovni_say(st->r, OVNI_RULE_TID_REPEATED,
		         "thread %" PRId64 " of process %" PRId64 " has another stream", t->tid, t->pid);
	else if (sh->ntids >= OVNI_MAX_THREADS)
		ovni_limit(st, "threads", OVNI_MAX_THREADS);
	else if (!table64_put(&sh->tids, key, sh->ntids++))
		return false;
	st->process = process;
	st->tid = (int32_t)t->tid;
	const struct track *const parent = sh->processes[process].track;
	if (parent == NULL || st->r->trace->ntracks >= TRACE_MAX_TRACKS)
		return true;
	const int n = snprintf(name, sizeof name, "thread %" PRId64, t->tid);
	st->track =
	    trace_add_thread(st->r->trace, parent, (uint64_t)t->tid, textscan_slice(name, (uint32_t)n));
	return st->track != NULL;
}

/* ---- CPUs ---- */

static bool
merge_cpu(struct ovni_state *st, uint32_t loom, uint32_t index, uint32_t phyid)
{
	struct ovni_shared *const sh = st->r->shared;
	const uint64_t key = (uint64_t)loom << 32 | phyid;
	const uint32_t known = table64_get(&sh->phyids, key);

	if (known != TABLE_NONE) {
		if (sh->cpus[known].index != index)
			ovni_say(st->r, OVNI_RULE_CPU_PHYID,
			         "phyid %" PRIu32 " has index %" PRIu32 ", another list says %" PRIu32, phyid,
			         index, sh->cpus[known].index);
		return true;
	}
	if (sh->ncpus >= OVNI_MAX_CPUS) {
		ovni_limit(st, "CPUs", OVNI_MAX_CPUS);
		return true;
	}
	if (!array_room(&sh->cpus, sh->ncpus, &sh->cpus_cap, sizeof *sh->cpus) ||
	    !table64_put(&sh->phyids, key, sh->ncpus))
		return false;
	sh->cpus[sh->ncpus++] = (struct ovni_cpu){ loom, index, phyid };
	sh->looms[loom].cpus++;
	return true;
}

static bool
cpu_number(const cJSON *cpu, const char *key, uint32_t *v)
{
	const cJSON *const n = cJSON_IsObject(cpu) ? cJSON_GetObjectItemCaseSensitive(cpu, key) : NULL;

	if (!cJSON_IsNumber(n) || !(n->valuedouble >= 0 && n->valuedouble <= INT32_MAX))
		return false;
	*v = (uint32_t)n->valuedouble;
	return (double)*v >= n->valuedouble;
}

bool
ovni_merge_cpus(struct ovni_state *st, const cJSON *list, uint32_t loom)
{
	const cJSON *cpu;
	uint32_t index, phyid, n = 0;

	if (!cJSON_IsArray(list) || list->child == NULL) {
		ovni_say(st->r, OVNI_RULE_CPU_LIST, "%s is %s",
		         st->prefix[0] != '\0' ? "ovni.loom_cpus" : "cpus",
		         cJSON_IsArray(list) ? "empty" : "no array");
		return true;
	}
	cJSON_ArrayForEach(cpu, list)
	{
		if (!cpu_number(cpu, "index", &index) || !cpu_number(cpu, "phyid", &phyid))
			ovni_say(st->r, OVNI_RULE_CPU_LIST,
			         "ovni.loom_cpus[%" PRIu32
			         "] has no index and phyid that are integers, 0 or more",
			         n);
		else if (loom != TABLE_NONE && !merge_cpu(st, loom, index, phyid))
			return false;
		n++;
	}
	return true;
}

/* ---- marks and counters ---- */

/* The text of a 64-bit integer. */
static bool
label_value(const char *s, int64_t *v)
{
	const bool negative = s[0] == '-';
	const char *const digits = s + negative;
	const size_t n = strlen(digits);
	char *end;

	if (n == 0 || n > 19 || strspn(digits, "0123456789") != n)
		return false;
	errno = 0;
	*v = strtoll(s, &end, 10);
	return errno == 0;
}

/* false: the text is too long or none. */
static bool
has_label(struct ovni_state *st, uint32_t mark, const cJSON *label, int64_t *value)
{
	const char *const s = cJSON_GetStringValue(label);
	struct quoted q;

	if (s == NULL || !label_value(label->string, value))
		ovni_say(st->r, OVNI_RULE_BAD_MARK, "mark %" PRIu32 ": label %s is no text of an integer",
		         mark, quoted(&q, slice_str(label->string)));
	else if (strlen(s) >= OVNI_MARK_TEXT)
		ovni_say(st->r, OVNI_RULE_BAD_MARK,
		         "mark %" PRIu32 ": label %" PRId64 " has %zu bytes, expected below %u", mark, *value,
		         strlen(s), OVNI_MARK_TEXT);
	else
		return true;
	return false;
}

static bool
merge_label(struct ovni_state *st, uint32_t mark, const cJSON *label)
{
	struct ovni_shared *const sh = st->r->shared;
	const char *const s = cJSON_GetStringValue(label);
	char key[64];
	struct slice kept;
	struct quoted q, q2;
	int64_t value;

	if (!has_label(st, mark, label, &value))
		return true;
	snprintf(key, sizeof key, "%" PRIu32 ":%" PRId64, mark, value);
	const uint32_t known = tabletext_get(&sh->label_index, slice_str(key));
	if (known != TABLE_NONE) {
		if (!slice_is(sh->labels[known].text, s))
			ovni_say(st->r, OVNI_RULE_MARK_CONFLICT, "mark %s is %s, another stream says %s", key,
			         quoted(&q, slice_str(s)), quoted(&q2, sh->labels[known].text));
		return true;
	}
	if (sh->nlabels >= OVNI_MAX_LABELS) {
		ovni_limit(st, "labels of marks", OVNI_MAX_LABELS);
		return true;
	}
	if (!ovni_merge_text(st, key, &kept) || !tabletext_put(&sh->label_index, kept, sh->nlabels) ||
	    !array_room(&sh->labels, sh->nlabels, &sh->labels_cap, sizeof *sh->labels))
		return false;
	struct ovni_label *const l = &sh->labels[sh->nlabels++];
	*l = (struct ovni_label){ .mark = mark, .value = value };
	return ovni_merge_text(st, s, &l->text) &&
	       trace_define(st->r->trace, "mark-label", NULL, mark, (uint64_t)value, value_string(l->text));
}

static bool
merge_mark(struct ovni_state *st, uint32_t type, const cJSON *mark)
{
	struct ovni_mark *const known = &((struct ovni_shared *)st->r->shared)->marks[type];
	const char *const title = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(mark, "title"));
	const char *const chan = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(mark, "chan_type"));
	const cJSON *const labels = cJSON_GetObjectItemCaseSensitive(mark, "labels"), *label;

	if (title == NULL || strlen(title) >= OVNI_MARK_TEXT || chan == NULL ||
	    (strcmp(chan, "single") != 0 && strcmp(chan, "stack") != 0)) {
		ovni_say(st->r, OVNI_RULE_BAD_MARK,
		         "mark %" PRIu32
		         " has no title (below 512 bytes) and chan_type \"single\" or \"stack\"",
		         type);
		return true;
	}
	if (labels != NULL && !cJSON_IsObject(labels))
		ovni_say(st->r, OVNI_RULE_BAD_MARK, "mark %" PRIu32 ": labels is no object", type);
	if (known->title.p != NULL && (!slice_is(known->title, title) || !slice_is(known->chan_type, chan)))
		ovni_say(st->r, OVNI_RULE_MARK_CONFLICT,
		         "title or chan_type of mark %" PRIu32 " differ from another stream's", type);
	else if (known->title.p == NULL &&
	         (!ovni_merge_text(st, title, &known->title) ||
	          !ovni_merge_text(st, chan, &known->chan_type) ||
	          !trace_define(st->r->trace, "mark", NULL, type, 0, value_string(known->title))))
		return false;
	if (cJSON_IsObject(labels))
		cJSON_ArrayForEach(label, labels) if (!merge_label(st, type, label)) return false;
	return true;
}

bool
ovni_merge_marks(struct ovni_state *st, const cJSON *marks)
{
	const cJSON *mark;
	struct quoted q;

	if (!cJSON_IsObject(marks)) {
		ovni_say(st->r, OVNI_RULE_BAD_MARK, "ovni.mark is no object");
		return true;
	}
	cJSON_ArrayForEach(mark, marks)
	{
		const char *const k = mark->string;
		const size_t n = strlen(k);
		if (n < 1 || n > 2 || strspn(k, "0123456789") != n || !cJSON_IsObject(mark))
			ovni_say(st->r, OVNI_RULE_BAD_MARK, "mark type %s is no object with a key of 0 to 99",
			         quoted(&q, slice_str(k)));
		else if (!merge_mark(st, (uint32_t)strtoul(k, NULL, 10), mark))
			return false;
	}
	return true;
}

bool
ovni_merge_counters(struct ovni_state *st, const cJSON *hwc)
{
	struct ovni_shared *const sh = st->r->shared;
	const int n = cJSON_IsObject(hwc) ? cJSON_GetArraySize(hwc) : -1;
	struct quoted q, q2;
	char key[16];

	if (n < 0 || n > OVNI_MAX_COUNTERS || (sh->counters_seen && (uint32_t)n != sh->ncounters)) {
		ovni_say(st->r, OVNI_RULE_BAD_COUNTER, "nosv.hwc has %d entries, expected %" PRIu32, n,
		         sh->counters_seen ? sh->ncounters : OVNI_MAX_COUNTERS);
		return true;
	}
	for (int i = 0; i < n; i++) {
		snprintf(key, sizeof key, "%d", i);
		const char *const name = cJSON_GetStringValue(
		    cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(hwc, key), "name"));
		if (name == NULL)
			ovni_say(st->r, OVNI_RULE_BAD_COUNTER, "nosv.hwc.%d has no name", i);
		else if (sh->counters[i].p != NULL && !slice_is(sh->counters[i], name))
			ovni_say(st->r, OVNI_RULE_BAD_COUNTER, "nosv.hwc.%d is %s, another stream says %s", i,
			         quoted(&q, slice_str(name)), quoted(&q2, sh->counters[i]));
		else if (sh->counters[i].p == NULL &&
		         (!ovni_merge_text(st, name, &sh->counters[i]) ||
		          !trace_define(st->r->trace, "counter", NULL, (uint64_t)i, 0,
		                        value_string(sh->counters[i]))))
			return false;
	}
	sh->counters_seen = true;
	sh->ncounters = (uint32_t)n;
	return true;
}

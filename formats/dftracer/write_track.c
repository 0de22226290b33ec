#include "base/utf8.h"
#include "dftracer/write.h"

/*
 * Processes are told apart by their pids and hosts, threads by their tids
 * within a process.  One keeps its true number where no other has it; others get
 * numbers that no operating system gives.
 */
#define FIRST_EXTRA 4194304U /* the largest pid of Linux */
#define NO_HOST 0            /* values of dfw_state.pids */
#define HAS_HOST 1

/* ---- processes ---- */

/* What the process of the event calls its host; n 0: nothing. */
static struct slice
host_of(const struct batch *b, const struct event *e)
{
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (slice_is(f->name, "hostname") && f->value.type == VALUE_STRING &&
		    f->value.count <= DFW_MOST_NAME)
			return value_text(&f->value);
	}
	return slice_of(NULL, 0);
}

static struct slice
key_of(struct text *t, uint64_t pid, struct slice host)
{
	text_clear(t);
	text_u64(t, pid);
	text_char(t, ' ');
	text_slice(t, host);
	return slice_of(t->p, t->n);
}

static bool
is_free_pid(struct dfw_state *st, uint64_t pid, struct slice host)
{
	const uint32_t used = table64_get(&st->pids, pid);

	if (used == TABLE_NONE)
		return true;
	return used == HAS_HOST && host.n > 0 &&
	       tabletext_get(&st->hosts, key_of(&st->scratch, pid, host)) == TABLE_NONE;
}

/* false: no memory. */
static bool
number_process(struct dfw_state *st, const struct track *t, struct dfw_process *p, struct chunk *chunk,
               uint64_t offset)
{
	if (t->kind == TRACK_PROCESS && t->has_id && is_free_pid(st, t->id, p->host)) {
		p->pid = t->id;
		p->shares_pid = table64_get(&st->pids, p->pid) != TABLE_NONE;
	} else {
		do
			st->next_number++;
		while (table64_get(&st->pids, FIRST_EXTRA + st->next_number) != TABLE_NONE);
		p->pid = FIRST_EXTRA + st->next_number;
		p->changed = t->has_id;
		if (t->has_id)
			dfw_lose(chunk, DFW_NEW_NUMBER, offset);
	}
	if (!table64_put(&st->pids, p->pid, p->host.n > 0 ? HAS_HOST : NO_HOST))
		return false;
	const struct slice key = arena_copy(&st->arena, key_of(&st->scratch, p->pid, p->host));
	return key.p != NULL && tabletext_put(&st->hosts, key, 1);
}

/* The name without the host that readers of this format put behind it. */
static struct slice
own_name(struct slice name, struct slice host)
{
	const size_t n = (size_t)host.n + 3;

	if (host.n > 0 && name.n > n && name.p[name.n - 1] == ')' &&
	    memcmp(name.p + name.n - 1 - host.n, host.p, host.n) == 0 &&
	    memcmp(name.p + name.n - n, " (", 2) == 0)
		name.n -= (uint32_t)n;
	return name;
}

/* A name that readers make of the number is not written. */
static bool
is_made_of(struct slice name, const char *noun, uint64_t number)
{
	char text[40];

	snprintf(text, sizeof text, "%s %" PRIu64, noun, number);
	return slice_is(name, text);
}

/* Whether readers show another name. */
static bool
is_changed(const struct dfw_state *st, struct slice name, const char *noun, uint64_t number)
{
	return !is_made_of(name, noun, number) && (name.n == 0 || st->dialect == DFW_D1 ||
	                                           name.n > DFW_MOST_NAME || !utf8_valid(name.p, name.n));
}

static void
put_name(struct dfw_state *st, struct chunk *chunk, struct dfw_who who, const char *kind, struct slice name,
         uint64_t offset)
{
	char word[32];

	const int n = snprintf(word, sizeof word, "\"%s\"", kind);
	name.n = name.n < DFW_MOST_NAME ? name.n : DFW_MOST_NAME;
	dfw_metadata(st, chunk, who, kind, name, slice_of(word, (size_t)n));
	if (st->dialect == DFW_D1)
		dfw_lose(chunk, DFW_NO_METADATA, offset);
}

static void
introduce_process(struct dfw_state *st, const struct track *t, struct dfw_process *p, struct chunk *chunk,
                  uint64_t offset)
{
	const struct dfw_who who = { p, p->pid };

	p->host_hash = dfw_hash_of(st, chunk, who, DFW_HOST, p->host);
	if (st->dialect == DFW_D5)
		dfw_metadata(st, chunk, who, "CM", SLICE_LIT("time_metric"), SLICE_LIT("\"NS\""));
	const struct slice name = own_name(t->name, p->host);
	p->changed |= t->has_id && (is_changed(st, name, "process", p->pid) ||
	                             (p->host.n > 0 && name.n == t->name.n));
	if (name.n > 0 && !is_made_of(name, "process", p->pid))
		put_name(st, chunk, who, "process_name", name, offset);
}

/* NULL: no memory. */
static struct dfw_process *
process_of(struct dfw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct track *const t = track_process(e->track);
	struct dfw_track *const to = &st->tracks[t->index];

	if (to->process != NULL)
		return to->process;
	struct dfw_process *const p = arena_zalloc(&st->arena, 1, sizeof *p);
	if (p == NULL)
		return NULL;
	*p = (struct dfw_process){ .number = st->nprocesses++, .next_id = 1 };
	p->host = arena_copy(&st->arena, host_of(b, e));
	if (p->host.p == NULL || !number_process(st, t, p, chunk, e->offset))
		return NULL;
	to->process = p;
	if (st->first == NULL)
		st->first = p;
	introduce_process(st, t, p, chunk, e->offset);
	return p;
}

/* ---- threads ---- */

static uint64_t
tid_key(const struct dfw_process *p, uint64_t tid)
{
	return hash_u64(tid, hash_u64(p->number, hash_seed()));
}

static bool
is_free_tid(const struct dfw_state *st, const struct dfw_process *p, uint64_t tid)
{
	return table64_get(&st->tids, tid_key(p, tid)) == TABLE_NONE;
}

/* false: no memory. */
static bool
number_thread(struct dfw_state *st, const struct track *t, struct dfw_track *to, struct chunk *chunk,
              uint64_t offset)
{
	const struct dfw_process *const p = to->process;
	const bool own = t->kind == TRACK_THREAD && t->has_id && t->lane == 0 && !t->is_child;
	const uint64_t wanted = own ? t->id : 0;

	if ((own || t->kind == TRACK_PROCESS) && is_free_tid(st, p, wanted)) {
		to->tid = wanted;
	} else {
		do
			st->next_number++;
		while (!is_free_tid(st, p, FIRST_EXTRA + st->next_number));
		to->tid = FIRST_EXTRA + st->next_number;
		to->changed = own;
		if (own)
			dfw_lose(chunk, DFW_NEW_NUMBER, offset);
	}
	to->changed |= t->kind == TRACK_PROCESS || p->changed || is_changed(st, t->name, "thread", to->tid);
	to->ready = true;
	return table64_put(&st->tids, tid_key(p, to->tid), 1);
}

struct dfw_who
dfw_who_of(struct dfw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct track *const t = e->track;
	struct dfw_track *const to = &st->tracks[t->index];

	if (!to->ready) {
		struct dfw_process *const p = process_of(st, b, e, chunk);
		to->process = p;
		if (p == NULL || !number_thread(st, t, to, chunk, e->offset)) {
			chunk->text.failed = true;
			return (struct dfw_who){ NULL, 0 };
		}
		if (t->name.n > 0 && !is_made_of(t->name, "thread", to->tid))
			put_name(st, chunk, (struct dfw_who){ p, to->tid }, "thread_name", t->name,
			         e->offset);
	}
	return (struct dfw_who){ to->process, to->tid };
}

#include <cJSON.h>
#include <stdlib.h>

#include "ovni/metadata.h"
#include "ovni/write.h"

/*
 * A selection of records.  What they depend on comes along: the life of their
 * thread, and the types and tasks that other threads may refer to.  A stream
 * waits until one of its records is selected; those that still wait at the end
 * are left out, unless their metadata says what others need.
 */

/* ---- what comes along ---- */

static bool
is_code(const char *p, const char *code)
{
	return memcmp(p + 1, code, 3) == 0;
}

/* Types of tasks, and tasks. */
static bool
is_definition(const char *p)
{
	return is_code(p, "6Yc") || is_code(p, "6Tc") || is_code(p, "VYc") || is_code(p, "VTc") ||
	       is_code(p, "VTC") || is_code(p, "POc") || is_code(p, "PPc");
}

static bool
is_of_task(const char *p)
{
	const char c = p[2];

	return (p[1] == '6' && c == 'T') || (p[1] == 'V' && c == 'T') ||
	       (p[1] == 'P' && (c == 'P' || c == 'Q'));
}

/* The thread's states and CPUs, and where it was not sorted. */
static bool
is_life(const char *p)
{
	return p[1] == 'O' && (p[2] == 'H' || p[2] == 'A' || is_code(p, "OU[") || is_code(p, "OU]"));
}

/* ---- what metadata declares ---- */

static uint64_t
hash_text(const char *s, uint64_t seed)
{
	return s != NULL ? hash_bytes(s, strlen(s), seed) : hash_u64(seed, 1);
}

static void
add_declaration(struct ovw_waiting *s, uint64_t scope, const cJSON *v)
{
	char *const text = v != NULL ? cJSON_PrintUnformatted(v) : NULL;

	if (text == NULL)
		return;
	s->declared[s->ndeclared++] = (struct ovw_declared){ scope, hash_text(text, scope) };
	cJSON_free(text);
}

/* Values that must stand in one stream at least: of the process, of the loom, of the trace. */
static void
take_metadata(struct ovw_waiting *s, struct slice json)
{
	size_t at;
	cJSON *const root =
	    ovni_json_fault(json.p, json.n, &at) == NULL ? cJSON_ParseWithLength(json.p, json.n) : NULL;
	const cJSON *const ovni = ovni_json_get(root, "ovni");
	const cJSON *const pid = ovni_json_get(ovni, "pid"), *const tid = ovni_json_get(ovni, "tid");
	const uint64_t seed = hash_seed();

	s->loom = hash_text(cJSON_GetStringValue(ovni_json_get(ovni, "loom")), seed);
	s->process = hash_u64(cJSON_IsNumber(pid) ? (uint64_t)(int64_t)pid->valueint : 0, seed);
	s->tid = cJSON_IsNumber(tid) ? (uint32_t)tid->valueint : 0;
	add_declaration(s, s->loom, ovni_json_get(ovni, "loom_cpus"));
	add_declaration(s, s->process, ovni_json_get(ovni, "app_id"));
	add_declaration(s, s->process, ovni_json_get(ovni, "rank"));
	add_declaration(s, s->process, ovni_json_get(ovni, "loom"));
	add_declaration(s, 0, ovni_json_get(ovni, "mark"));
	add_declaration(s, 0, ovni_json_get(ovni, "require"));
	add_declaration(s, 0, ovni_json_get(ovni_json_get(root, "nosv"), "hwc"));
	cJSON_Delete(root);
}

/* ---- streams ---- */

/* false: no memory. */
static bool
note(struct table64 *t, uint64_t key)
{
	return table64_put(t, key, 0);
}

/* Writes what waited, and whatever follows. */
static void
keep(struct ovw_state *st, struct ovw_waiting *s, struct chunk *chunk)
{
	struct ovw_selection *const x = &st->copy.selection;
	bool ok = note(&x->scopes, s->loom) && note(&x->scopes, s->process) && note(&x->scopes, 0);

	for (uint32_t i = 0; i < s->ndeclared; i++)
		ok = ok && note(&x->declared, s->declared[i].content);
	for (uint32_t i = 0; i < s->nfiles; i++) {
		chunk_file(chunk, s->files[i].file);
		text_add(&chunk->text, s->files[i].content.p, s->files[i].content.n);
		text_free(&s->files[i].content);
	}
	chunk_file(chunk, s->file);
	text_add(&chunk->text, s->records.p, s->records.n);
	x->waiting_bytes -= s->bytes;
	text_free(&s->records);
	s->kept = true;
	x->any = true;
	chunk->text.failed |= !ok;
}

static void
hold(struct ovw_state *st, struct ovw_waiting *s, size_t n, struct chunk *chunk)
{
	struct ovw_selection *const x = &st->copy.selection;

	s->bytes += n;
	x->waiting_bytes += n;
	chunk->text.failed |= s->records.failed;
	if (x->waiting_bytes > OVW_MOST_WAITING) /* no harm: a thread that does nothing */
		keep(st, s, chunk);
}

struct ovw_waiting *
ovw_waiting_of(struct ovw_state *st, uint64_t number)
{
	struct ovw_selection *const x = &st->copy.selection;

	if (number >= UINT32_MAX ||
	    !array_reach(&x->streams, &x->nstreams, (uint32_t)number, sizeof *x->streams))
		return NULL;
	if (x->streams[number] == NULL)
		x->streams[number] = calloc(1, sizeof **x->streams);
	return x->streams[number];
}

void
ovw_wait_with(struct ovw_state *st, uint64_t number, const char *file, struct slice content,
              struct chunk *chunk)
{
	struct ovw_waiting *const s = ovw_waiting_of(st, number);

	if (s == NULL || s->nfiles == OVW_MOST_SIDECARS) {
		chunk->text.failed |= s == NULL;
		return;
	}
	struct ovw_waiting_file *const f = &s->files[s->nfiles++];
	const char *const slash = strrchr(file, '/');
	f->file = file;
	text_slice(&f->content, content);
	chunk->text.failed |= f->content.failed;
	if (strcmp(slash != NULL ? slash + 1 : file, OVNI_METADATA_FILE) == 0)
		take_metadata(s, content);
	hold(st, s, content.n, chunk);
}

void
ovw_selected(struct ovw_state *st, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct ovw_selection *const x = &st->copy.selection;
	struct ovw_waiting *const s = ovw_waiting_of(st, e->dur);
	const bool structure = e->phase == PHASE_STRUCTURE,
	           wanted = !structure && (e->flags & EVENT_LEFT_OUT) == 0;
	const bool defines = !structure && is_definition(bytes.p);

	if (s == NULL) {
		chunk->text.failed = true;
		return;
	}
	if (!structure && !wanted && !defines && !is_life(bytes.p))
		return;
	s->file = st->copy.streams[e->dur];
	s->defines |= defines;
	x->uses_tasks |= wanted && is_of_task(bytes.p);
	if (wanted && !s->kept)
		keep(st, s, chunk);
	if (!structure && is_code(bytes.p, "OAr") && bytes.n >= OVNI_EVENT_SIZE + 8)
		chunk->text.failed |=
		    !note(&x->tids, load_u32(bytes.p + OVNI_EVENT_SIZE + 4, (e->flags & EVENT_BIG) != 0));
	if (s->kept)
		chunk_file(chunk, s->file);
	struct text *const to = s->kept ? &chunk->text : &s->records;
	text_slice(to, bytes);
	if (st->rebased && !structure)
		ovw_move_clock(st, e, to, bytes.n, chunk);
	if (!s->kept)
		hold(st, s, bytes.n, chunk);
}

/* ---- the end ---- */

/* Whether a stream says what those that are kept need. */
static bool
is_needed(const struct ovw_selection *x, const struct ovw_waiting *s)
{
	bool needed = s->defines && x->uses_tasks;

	needed |= s->tid != 0 && table64_get(&x->tids, s->tid) != TABLE_NONE;
	for (uint32_t i = 0; i < s->ndeclared; i++)
		needed |= table64_get(&x->scopes, s->declared[i].scope) != TABLE_NONE &&
		          table64_get(&x->declared, s->declared[i].content) == TABLE_NONE;
	return needed;
}

void
ovw_select_end(struct ovw_state *st, struct chunk *chunk)
{
	/* one that is needed may be of a loom or process of which nothing was kept so far: it brings in
	 * streams of the loom, those some of their processes, and no more follows from that */
	enum { PASSES = 5 };
	struct ovw_selection *const x = &st->copy.selection;

	for (unsigned pass = 0; pass < PASSES; pass++)
		for (uint32_t i = 0; i < x->nstreams; i++) {
			struct ovw_waiting *const s = x->streams[i];
			if (s != NULL && s->file != NULL && !s->kept && (!x->any || is_needed(x, s)))
				keep(st, s, chunk);
		}
}

void
ovw_select_free(struct ovw_selection *x)
{
	for (uint32_t i = 0; i < x->nstreams; i++) {
		struct ovw_waiting *const s = x->streams[i];
		for (uint32_t k = 0; s != NULL && k < s->nfiles; k++)
			text_free(&s->files[k].content);
		if (s != NULL)
			text_free(&s->records);
		free(s);
	}
	free(x->streams);
	table64_free(&x->scopes);
	table64_free(&x->declared);
	table64_free(&x->tids);
}

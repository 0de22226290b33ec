/*
 * Selections of records.  A selection includes, besides the selected records, states of their threads, and
 * the types and tasks that other threads may refer to.  Streams are retained until one of their records is
 * selected (at most MAX_WAITING bytes in all); those without one are left out at the end, unless their
 * metadata declares values that the others need.
 */
#include "ovni/ovni.h"

#include <cJSON.h>
#include <stdlib.h>

/* ---- dependent records ---- */

/* p, here and below: a record. */
static bool is_code(const char *p, const char *code)
{
	return memcmp(p + 1, code, 3) == 0;
}

/* Types of tasks, and tasks. */
static inline bool is_definition(const char *p)
{
	if (p[3] != 'c' && p[3] != 'C')
		return false;
	return is_code(p, "6Yc") || is_code(p, "6Tc") || is_code(p, "VYc") || is_code(p, "VTc") ||
	       is_code(p, "VTC") || is_code(p, "POc") || is_code(p, "PPc");
}

static bool is_of_task(const char *p)
{
	const char c = p[2];

	return (p[1] == '6' && c == 'T') || (p[1] == 'V' && c == 'T') ||
	       (p[1] == 'P' && (c == 'P' || c == 'Q'));
}

/* States and CPUs of the thread, its progress, and its unordered regions. */
static bool is_thread_state(const char *p)
{
	if (p[1] == '6' || p[1] == 'V') /* each has to differ from the one before */
		return p[2] == 'P';
	return p[1] == 'O' && (p[2] == 'H' || p[2] == 'A' || is_code(p, "OU[") || is_code(p, "OU]"));
}

/* ---- values that metadata declares ---- */

#define MAX_WAITING (32U << 20) /* bytes of streams without a selected record */
#define OVW_MAX_DECLARED 8U     /* values of a stream, see read_declarations() */

/* Hashes of a metadata value that one stream of its scope must declare. */
struct ovw_declared {
	uint64_t scope; /* of the process or the loom; 0: the trace */
	uint64_t content;
};

/* A stream, retained until one of its records is selected. */
struct ovw_waiting {
	bool kept;
	bool defines;                              /* it defines tasks or their types */
	bool moves;                                /* it has OAr, which moves other threads */
	uint64_t set[(OVNI_MARK_TYPES + 63) / 64]; /* bit of a type: its last OM= was written */
	const char *file;                          /* NULL: before the first record */
	struct ovw_sidecar files[OVW_MAX_SIDECARS];
	uint32_t nfiles;
	struct text records; /* retained */
	size_t bytes;        /* of files and records */
	uint64_t loom, process;
	uint32_t tid; /* 0: unknown */
	struct ovw_declared declared[OVW_MAX_DECLARED];
	uint32_t ndeclared;
};

static uint64_t hash_text(const char *s, uint64_t seed)
{
	return s != NULL ? hash_bytes(s, strlen(s), seed) : hash_u64(seed, 1);
}

static void add_content(struct ovw_waiting *s, uint64_t scope, uint64_t content)
{
	if (s->ndeclared < OVW_MAX_DECLARED)
		s->declared[s->ndeclared++] = (struct ovw_declared){ scope, content };
}

/* Adds the value of a key, if it is there.  Returns false on OOM. */
static bool add_declaration(struct ovw_waiting *s, uint64_t scope, const cJSON *object, const char *key)
{
	const cJSON *const v = ovni_json_get(object, key);
	char *const text = v != NULL ? cJSON_PrintUnformatted(v) : NULL;

	if (text == NULL)
		return v == NULL;
	add_content(s, scope, hash_text(text, hash_text(key, scope)));
	cJSON_free(text);
	return true;
}

/* Reads the values that at least one stream of the process, of the loom or of the trace must declare.
 * has_offsets: the table of clock offsets needs a loom on each host.  Returns false on OOM. */
static bool read_declarations(struct ovw_waiting *s, struct slice json, bool has_offsets)
{
	const char *fault;
	size_t at;
	cJSON *const root = ovni_json_parse(json, &fault, &at);
	bool ok = root != NULL || fault != NULL;
	const cJSON *const ovni = ovni_json_get(root, "ovni");
	const cJSON *const pid = ovni_json_get(ovni, "pid"), *const tid = ovni_json_get(ovni, "tid");
	const uint64_t seed = hash_seed();
	const char *const loom = cJSON_GetStringValue(ovni_json_get(ovni, "loom"));

	s->loom = hash_text(loom, seed);
	/* Looms of several hosts may have processes of one number.  A stream without a loom needs another
	 * one that states the loom for this number. */
	const uint64_t number = cJSON_IsNumber(pid) ? (uint64_t)(int64_t)pid->valueint : 0,
	               loomless = hash_u64(number, seed);
	s->process = loom != NULL ? hash_u64(number, s->loom) : loomless;
	s->tid = cJSON_IsNumber(tid) ? (uint32_t)tid->valueint : 0;
	ok &= add_declaration(s, s->loom, ovni, "loom_cpus");
	ok &= add_declaration(s, s->process, ovni, "app_id");
	ok &= add_declaration(s, s->process, ovni, "rank");
	ok &= add_declaration(s, loomless, ovni, "loom");
	ok &= add_declaration(s, 0, ovni, "mark");
	ok &= add_declaration(s, 0, ovni, "require");
	ok &= add_declaration(s, 0, ovni_json_get(root, "nosv"), "hwc");
	if (has_offsets && loom != NULL) {
		const struct slice host = ovni_host_of(slice_str(loom));
		add_content(s, 0, hash_bytes(host.p, host.n, seed));
	}
	cJSON_Delete(root);
	return ok;
}

/* ---- retained streams ---- */

/* Writes the retained files and records; later ones are not retained. */
static void keep_stream(struct ovw_state *st, struct ovw_waiting *s)
{
	struct ovw_selection *const x = &st->copy.selection;
	bool ok = table64_put(&x->scopes, s->loom, 0) && table64_put(&x->scopes, s->process, 0) &&
	          table64_put(&x->scopes, 0, 0);

	for (uint32_t i = 0; i < s->ndeclared; i++)
		ok = ok && table64_put(&x->declared, s->declared[i].content, 0);
	for (uint32_t i = 0; i < s->nfiles; i++) {
		chunk_file(st->chunk, s->files[i].name.p);
		text_add(&st->chunk->text, s->files[i].content.p, s->files[i].content.n);
		text_free(&s->files[i].content);
	}
	chunk_file(st->chunk, s->file);
	text_add(&st->chunk->text, s->records.p, s->records.n);
	x->waiting_bytes -= s->bytes;
	text_free(&s->records);
	s->kept = true;
	x->any = true;
	st->chunk->text.failed |= !ok;
}

static void count_waiting(struct ovw_state *st, struct ovw_waiting *s, size_t n)
{
	struct ovw_selection *const x = &st->copy.selection;

	s->bytes += n;
	x->waiting_bytes += n;
	st->chunk->text.failed |= s->records.failed;
	/* Beyond the limit, a stream without a selected record is kept: an idle thread is harmless. */
	if (x->waiting_bytes > MAX_WAITING)
		keep_stream(st, s);
}

/* Finds or adds the stream with a number; NULL: OOM (text.failed). */
static struct ovw_waiting *find_waiting(struct ovw_state *st, uint64_t number)
{
	struct ovw_selection *const x = &st->copy.selection;
	const bool reached = number < UINT32_MAX &&
	                     array_reach(&x->streams, &x->nstreams, (uint32_t)number, sizeof *x->streams);

	if (reached && x->streams[number] == NULL)
		x->streams[number] = calloc(1, sizeof **x->streams);
	if (reached && x->streams[number] != NULL)
		return x->streams[number];
	st->chunk->text.failed = true;
	return NULL;
}

void ovw_select_file(struct ovw_state *st, uint64_t number, const char *file, struct slice content)
{
	struct ovw_waiting *const s = find_waiting(st, number);

	if (s == NULL || s->nfiles == OVW_MAX_SIDECARS)
		return;
	struct ovw_sidecar *const f = &s->files[s->nfiles++];
	f->name = slice_str(file);
	text_slice(&f->content, content);
	st->chunk->text.failed |= f->content.failed;
	if (strcmp(path_name(file), OVNI_METADATA_FILE) == 0 &&
	    !read_declarations(s, content, st->copy.selection.has_offsets))
		st->chunk->text.failed = true;
	count_waiting(st, s, content.n);
}

bool ovw_select_needs(const char *p)
{
	return is_definition(p) || is_thread_state(p);
}

bool ovw_is_mark(const char *p)
{
	return is_code(p, "OM=");
}

void ovw_select_mark(struct ovw_state *st, const struct event *e, struct slice bytes)
{
	if (e->phase == PHASE_STRUCTURE || bytes.n < OVNI_EVENT_SIZE + 12 || !ovw_is_mark(bytes.p))
		return;
	struct ovw_waiting *const s = find_waiting(st, e->dur);
	if (s == NULL)
		return;
	const uint32_t type = load_u32(bytes.p + OVNI_EVENT_SIZE + 8, (e->flags & EVENT_BIG) != 0);
	if (type >= OVNI_MARK_TYPES)
		return;
	const uint64_t bit = (uint64_t)1 << type % 64;
	const bool left_out = (e->flags & EVENT_LEFT_OUT) != 0;
	if (left_out && (s->set[type / 64] & bit) != 0)
		ovw_lose(st, OVW_MARK_STAYS, e->offset);
	s->set[type / 64] = left_out ? s->set[type / 64] & ~bit : s->set[type / 64] | bit;
}

void ovw_select_event(struct ovw_state *st, const struct event *e, struct slice bytes)
{
	struct ovw_selection *const x = &st->copy.selection;
	struct ovw_waiting *const s = find_waiting(st, e->dur);
	const bool structure = e->phase == PHASE_STRUCTURE,
	           wanted = !structure && (e->flags & EVENT_LEFT_OUT) == 0;
	const bool defines = !structure && is_definition(bytes.p);

	if (s == NULL)
		return;
	s->file = st->copy.streams[e->dur];
	s->defines |= defines;
	x->uses_tasks |= wanted && is_of_task(bytes.p);
	if (wanted && !s->kept)
		keep_stream(st, s);
	const bool moves = !structure && is_code(bytes.p, "OAr") && bytes.n >= OVNI_EVENT_SIZE + 8;
	s->moves |= moves;
	if (moves)
		st->chunk->text.failed |= !table64_put(
		    &x->tids, load_u32(bytes.p + OVNI_EVENT_SIZE + 4, (e->flags & EVENT_BIG) != 0), 0);
	if (s->kept)
		chunk_file(st->chunk, s->file);
	struct text *const to = s->kept ? &st->chunk->text : &s->records;
	text_slice(to, bytes);
	if (st->rebased && !structure)
		ovw_move_clock(st, e, to, bytes.n);
	if (!s->kept)
		count_waiting(st, s, bytes.n);
}

/* Whether streams that are kept need a declaration or task of this stream. */
static bool is_needed(const struct ovw_selection *x, const struct ovw_waiting *s)
{
	bool needed = s->defines && x->uses_tasks;

	needed |= s->moves || (s->tid != 0 && table64_get(&x->tids, s->tid) != TABLE_NONE);
	for (uint32_t i = 0; i < s->ndeclared; i++)
		needed |= table64_get(&x->scopes, s->declared[i].scope) != TABLE_NONE &&
		          table64_get(&x->declared, s->declared[i].content) == TABLE_NONE;
	return needed;
}

void ovw_select_end(struct ovw_state *st)
{
	/* A needed stream may be the first one kept of its loom or process.  It then needs streams of the
	 * loom, which need streams of their processes, and these need no others. */
	enum { PASSES = 5 };
	struct ovw_selection *const x = &st->copy.selection;

	for (unsigned pass = 0; pass < PASSES; pass++)
		for (uint32_t i = 0; i < x->nstreams; i++) {
			struct ovw_waiting *const s = x->streams[i];
			if (s != NULL && s->file != NULL && !s->kept && (!x->any || is_needed(x, s)))
				keep_stream(st, s);
		}
}

void ovw_select_free(struct ovw_selection *x)
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

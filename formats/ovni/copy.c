/*
 * Copies of streams, record by record (format/reader_copy.h).  The reader hands on the files of a stream
 * before its records, and event.dur tells streams apart; the writer gives each stream a file and appends its
 * records. Adjoining records are written as one run, unless clocks are moved (--rebase).
 *
 * In a selection, records that others depend on come along: the life of their thread, and the types and tasks
 * that other threads may refer to.  A stream waits in memory (at most OVW_MOST_WAITING for all) until one of
 * its records is selected; those that still wait at the end are left out, unless their metadata declares what
 * the others need.
 */
#include "ovni/ovni.h"

#include <cJSON.h>
#include <stdlib.h>

/* ---- the reader's part: files and runs as records ---- */

#define NAME(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

/* Fields of the record of a file; that of the stream itself has only the name. */
static const struct class_field file_fields[] = {
	{ NAME("name"), NAME("string"), VALUE_STRING, 0, NULL },
	{ NAME("content"), NAME("bytes"), VALUE_BYTES, 0, NULL },
};

bool ovni_files_add(struct ovni_files *f, const char *name, const char *p, size_t n)
{
	const bool was_read = n != OVNI_NOT_READ;
	struct ovni_file file = { .n = was_read ? (uint32_t)n : 0 };

	if (f->n == OVNI_MAX_FILES)
		return true;
	file.name = strdup(name);
	if (was_read && (file.content = malloc(n + 1)) != NULL)
		memcpy(file.content, p, n);
	if (file.name == NULL || (was_read && file.content == NULL)) {
		free(file.name);
		free(file.content);
		return false;
	}
	f->list[f->n++] = file;
	return true;
}

void ovni_files_free(struct ovni_files *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		free(f->list[i].name);
		free(f->list[i].content);
	}
	*f = (struct ovni_files){ .n = 0 };
}

/* Adds a record without bytes. */
static struct event *add_record(struct reader *r, struct batch *b, const struct class *like, uint64_t offset,
                                uint32_t number)
{
	struct class *const cls = trace_plan_class(r->trace, like);

	if (cls == NULL)
		return NULL;
	struct event *const e = &b->events[b->n];
	*e = (struct event){ .name = cls->name,
		             .dur = number,
		             .cls = cls,
		             .offset = offset,
		             .first_field = b->nfields,
		             .phase = PHASE_STRUCTURE };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of("", 0);
	b->n++;
	return e;
}

bool ovni_copy_file(struct reader *r, struct batch *b, struct slice name, struct slice content,
                    uint32_t number)
{
	const struct class like = { .name = SLICE_LIT("file"), .fields = file_fields, .nfields = 2 };
	struct event *const e = add_record(r, b, &like, 0, number);
	struct field *const f = batch_fields(b, 2);

	if (e == NULL || f == NULL)
		return false;
	const struct slice own_name = arena_copy(&b->scratch, name), own = arena_copy(&b->scratch, content);
	if (own_name.p == NULL || own.p == NULL)
		return false;
	f[0] = (struct field){ file_fields[0].name, value_string(textscan_slice(own_name.p, own_name.n)) };
	f[1] = (struct field){
		file_fields[1].name,
		{ .type = content.p != NULL ? VALUE_BYTES : VALUE_NONE, .count = own.n, .p = own.p }
	};
	e->nfields = 2;
	b->nfields += 2;
	return true;
}

bool ovni_copy_run(struct reader *r, struct batch *b, struct slice bytes, uint64_t offset, uint32_t number)
{
	const struct class like = { .name = SLICE_LIT("records") };

	if (add_record(r, b, &like, offset, number) == NULL)
		return false;
	if (b->bytes != NULL)
		b->bytes[b->n - 1] = bytes;
	return true;
}

/* Returns the stream's path from the folder of the trace, without a suffix for compression. */
static struct slice stream_name(const struct reader *r)
{
	const char *const path =
	    r->in->path != NULL && strcmp(r->in->path, "-") != 0 ? r->in->path : OVNI_STREAM_FILE;
	const char *const slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	const size_t length = strlen(path);

	if (r->folder > 0 && r->folder < length)
		for (name = path + r->folder; *name == '/';)
			name++;
	size_t n = strlen(name);
	if (r->in->packing != INPUT_PLAIN) {
		const char *const dot = strrchr(name, '.');
		const bool is_suffix =
		    dot != NULL && strchr(dot, '/') == NULL && dot > name &&
		    (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0 || strcmp(dot, ".xz") == 0);
		n = is_suffix ? (size_t)(dot - name) : n;
	}
	return slice_of(name, n);
}

/* Returns the length of a path up to its last slash, which is included. */
static size_t folder_length(struct slice name)
{
	size_t n = name.n;

	while (n > 0 && name.p[n - 1] != '/')
		n--;
	return n;
}

bool ovni_files_put(struct ovni_files *f, struct reader *r, struct batch *b, uint32_t number)
{
	const struct slice stream = stream_name(r);
	const size_t folder = folder_length(stream);

	for (; f->next < f->n && b->n < b->cap; f->next++) {
		const struct ovni_file *const file = &f->list[f->next];
		const size_t n = folder + strlen(file->name);
		char *const name = arena_alloc(&b->scratch, n + 1);
		if (name == NULL)
			return false;
		memcpy(name, stream.p, folder);
		memcpy(name + folder, file->name, n - folder + 1);
		if (!ovni_copy_file(r, b, slice_of(name, n), slice_of(file->content, file->n), number))
			return false;
	}
	if (b->n == b->cap)
		return true;
	const struct class like = { .name = SLICE_LIT("file"), .fields = file_fields, .nfields = 2 };
	struct event *const e = add_record(r, b, &like, 0, number);
	struct field *const field = batch_fields(b, 1);
	const struct slice own = arena_copy(&b->scratch, stream);
	if (e == NULL || field == NULL || own.p == NULL)
		return false;
	*field = (struct field){ file_fields[0].name, value_string(textscan_slice(own.p, own.n)) };
	e->nfields = 1;
	b->nfields++;
	ovni_files_free(f);
	f->done = true;
	return true;
}

/* ---- the writer's part: records of streams ---- */

static bool is_file(const struct batch *b, const struct event *e)
{
	return e->phase == PHASE_STRUCTURE && e->nfields > 0 &&
	       slice_is(b->fields[e->first_field].name, "name");
}

static void add_file(struct ovw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct field *const f = b->fields + e->first_field;
	const struct slice name = value_text(&f[0].value);

	if (e->nfields == 1)
		ovw_place(st, e->dur, name, chunk);
	else
		ovw_sidecar(st, name,
		            f[1].value.type == VALUE_BYTES ? value_text(&f[1].value)
		                                           : (struct slice){ NULL, 0, 0 },
		            chunk);
}

/* Gives a stream a file unless the reader named one before. */
static bool ensure_file(struct ovw_state *st, uint64_t number, struct chunk *chunk)
{
	struct ovw_copy *const c = &st->copy;

	if (number >= c->nstreams || c->streams[number] == NULL)
		ovw_place(st, number, SLICE_LIT(OVNI_STREAM_FILE), chunk);
	return number < c->nstreams && c->streams[number] != NULL;
}

/* Returns whether a record lacks the data that its head announces: the reader dropped it. */
static bool lacks_data(const struct event *e, struct slice bytes)
{
	return e->phase != PHASE_STRUCTURE && bytes.n == OVNI_JUMBO_HEAD &&
	       (bytes.p[0] & OVNI_FLAG_JUMBO) != 0 && memcmp(bytes.p + OVNI_EVENT_SIZE, "\0\0\0\0", 4) != 0;
}

/* Moves the clock of the record of n bytes that was added to `to` last. */
static void move_clock(struct ovw_state *st, const struct event *e, struct text *to, uint32_t n,
                       struct chunk *chunk)
{
	const bool negative = st->signed_time && (int64_t)e->ts < 0;

	if (to->failed || e->phase == PHASE_STRUCTURE)
		return;
	ovw_store(to->p + to->n - n + 4, negative ? 0 : e->ts, 8, (e->flags & EVENT_BIG) != 0);
	if (negative)
		ovw_lose(chunk, OVW_NEGATIVE_TIME, e->offset);
}

/* ---- selections: records that come along ---- */

static bool is_code(const char *p, const char *code)
{
	return memcmp(p + 1, code, 3) == 0;
}

/* Types of tasks, and tasks. */
static bool is_definition(const char *p)
{
	return is_code(p, "6Yc") || is_code(p, "6Tc") || is_code(p, "VYc") || is_code(p, "VTc") ||
	       is_code(p, "VTC") || is_code(p, "POc") || is_code(p, "PPc");
}

static bool is_of_task(const char *p)
{
	const char c = p[2];

	return (p[1] == '6' && c == 'T') || (p[1] == 'V' && c == 'T') ||
	       (p[1] == 'P' && (c == 'P' || c == 'Q'));
}

/* States and CPUs of the thread, and its unordered regions. */
static bool is_life(const char *p)
{
	return p[1] == 'O' && (p[2] == 'H' || p[2] == 'A' || is_code(p, "OU[") || is_code(p, "OU]"));
}

/* ---- selections: values that metadata declares ---- */

static uint64_t hash_text(const char *s, uint64_t seed)
{
	return s != NULL ? hash_bytes(s, strlen(s), seed) : hash_u64(seed, 1);
}

static void add_declaration(struct ovw_waiting *s, uint64_t scope, const cJSON *v)
{
	char *const text = v != NULL ? cJSON_PrintUnformatted(v) : NULL;

	if (text == NULL)
		return;
	s->declared[s->ndeclared++] = (struct ovw_declared){ scope, hash_text(text, scope) };
	cJSON_free(text);
}

/* Reads the values that at least one stream must have: of the process, of the loom, of the trace. */
static void read_declarations(struct ovw_waiting *s, struct slice json)
{
	const char *fault;
	size_t at;
	cJSON *const root = ovni_json_parse(json, &fault, &at);
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

/* ---- selections: streams that wait ---- */

static bool add_key(struct table64 *t, uint64_t key)
{
	return table64_put(t, key, 0);
}

/* Writes what waited; later records follow directly. */
static void keep_stream(struct ovw_state *st, struct ovw_waiting *s, struct chunk *chunk)
{
	struct ovw_selection *const x = &st->copy.selection;
	bool ok = add_key(&x->scopes, s->loom) && add_key(&x->scopes, s->process) && add_key(&x->scopes, 0);

	for (uint32_t i = 0; i < s->ndeclared; i++)
		ok = ok && add_key(&x->declared, s->declared[i].content);
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

/* Counts n more bytes that wait. */
static void count_waiting(struct ovw_state *st, struct ovw_waiting *s, size_t n, struct chunk *chunk)
{
	struct ovw_selection *const x = &st->copy.selection;

	s->bytes += n;
	x->waiting_bytes += n;
	chunk->text.failed |= s->records.failed;
	/* Beyond the limit a stream is kept unselected: a thread that does nothing is harmless. */
	if (x->waiting_bytes > OVW_MOST_WAITING)
		keep_stream(st, s, chunk);
}

/* Returns the stream of a number, new if need be; NULL: OOM. */
static struct ovw_waiting *find_waiting(struct ovw_state *st, uint64_t number)
{
	struct ovw_selection *const x = &st->copy.selection;

	if (number >= UINT32_MAX ||
	    !array_reach(&x->streams, &x->nstreams, (uint32_t)number, sizeof *x->streams))
		return NULL;
	if (x->streams[number] == NULL)
		x->streams[number] = calloc(1, sizeof **x->streams);
	return x->streams[number];
}

void ovw_wait_with(struct ovw_state *st, uint64_t number, const char *file, struct slice content,
                   struct chunk *chunk)
{
	struct ovw_waiting *const s = find_waiting(st, number);

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
		read_declarations(s, content);
	count_waiting(st, s, content.n, chunk);
}

/* Writes a record of a stream with a file, holds it, or leaves it out. */
static void select_event(struct ovw_state *st, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct ovw_selection *const x = &st->copy.selection;
	struct ovw_waiting *const s = find_waiting(st, e->dur);
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
		keep_stream(st, s, chunk);
	if (!structure && is_code(bytes.p, "OAr") && bytes.n >= OVNI_EVENT_SIZE + 8)
		chunk->text.failed |=
		    !add_key(&x->tids, load_u32(bytes.p + OVNI_EVENT_SIZE + 4, (e->flags & EVENT_BIG) != 0));
	if (s->kept)
		chunk_file(chunk, s->file);
	struct text *const to = s->kept ? &chunk->text : &s->records;
	text_slice(to, bytes);
	if (st->rebased && !structure)
		move_clock(st, e, to, bytes.n, chunk);
	if (!s->kept)
		count_waiting(st, s, bytes.n, chunk);
}

/* Returns whether a stream declares what those that are kept need. */
static bool is_needed(const struct ovw_selection *x, const struct ovw_waiting *s)
{
	bool needed = s->defines && x->uses_tasks;

	needed |= s->tid != 0 && table64_get(&x->tids, s->tid) != TABLE_NONE;
	for (uint32_t i = 0; i < s->ndeclared; i++)
		needed |= table64_get(&x->scopes, s->declared[i].scope) != TABLE_NONE &&
		          table64_get(&x->declared, s->declared[i].content) == TABLE_NONE;
	return needed;
}

void ovw_select_end(struct ovw_state *st, struct chunk *chunk)
{
	/* A needed stream may be of a loom or process of which nothing was kept before: it brings in streams
	 * of the loom, those bring in some of their processes, and nothing more follows. */
	enum { PASSES = 5 };
	struct ovw_selection *const x = &st->copy.selection;

	for (unsigned pass = 0; pass < PASSES; pass++)
		for (uint32_t i = 0; i < x->nstreams; i++) {
			struct ovw_waiting *const s = x->streams[i];
			if (s != NULL && s->file != NULL && !s->kept && (!x->any || is_needed(x, s)))
				keep_stream(st, s, chunk);
		}
}

static void free_selection(struct ovw_selection *x)
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

/* ---- batches ---- */

static void select_record(struct ovw_state *st, const struct batch *b, uint32_t i, struct chunk *chunk)
{
	const struct event *const e = &b->events[i];

	if (is_file(b, e))
		add_file(st, b, e, chunk);
	else if (!ensure_file(st, e->dur, chunk))
		chunk->text.failed = true;
	else if (lacks_data(e, b->bytes[i]))
		ovw_lose(chunk, OVW_JUMBO_LEFT_OUT, e->offset);
	else
		select_event(st, e, b->bytes[i], chunk);
}

void ovw_raw(struct ovw_state *st, const struct batch *b, struct chunk *chunk)
{
	struct slice run = { NULL, 0, 0 }; /* adjoining records of one stream */
	uint64_t number = UINT64_MAX;

	for (uint32_t i = 0; st->is_selection && i < b->n && !chunk->text.failed; i++)
		select_record(st, b, i, chunk);
	for (uint32_t i = 0; !st->is_selection && i < b->n && !chunk->text.failed; i++) {
		const struct event *const e = &b->events[i];
		const struct slice bytes = b->bytes[i];
		const bool adjoins = number == e->dur && run.n > 0 && run.p + run.n == bytes.p &&
		                     bytes.n <= UINT32_MAX - run.n;
		if (!adjoins || is_file(b, e)) {
			text_slice(&chunk->text, run);
			run = slice_of(bytes.p, 0);
		}
		if (is_file(b, e)) {
			add_file(st, b, e, chunk);
			number = UINT64_MAX;
			continue;
		}
		if (number != e->dur && !ensure_file(st, e->dur, chunk)) {
			chunk->text.failed = true;
			return;
		}
		if (number != e->dur)
			chunk_file(chunk, st->copy.streams[e->dur]);
		number = e->dur;
		if (lacks_data(e, bytes)) {
			ovw_lose(chunk, OVW_JUMBO_LEFT_OUT, e->offset);
			continue;
		}
		run.n += bytes.n;
		if (!st->rebased)
			continue;
		text_slice(&chunk->text, run);
		run.n = 0;
		move_clock(st, e, &chunk->text, bytes.n, chunk);
	}
	text_slice(&chunk->text, run);
}

void ovw_raw_free(struct ovw_copy *c)
{
	for (uint32_t i = 0; i < OVW_MOST_SIDECARS; i++)
		text_free(&c->sidecars[i].content);
	free_selection(&c->selection);
	free(c->streams);
	free(c->hashes);
	tabletext_free(&c->names);
	tabletext_free(&c->folders);
	text_free(&c->scratch);
}

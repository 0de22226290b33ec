/*
 * Copies of streams, record by record (format/reader_modes.h).  The reader passes the files of a stream
 * before its records, and event.dur is the number of the stream; the writer gives each stream a file and
 * appends its records.  Adjoining records are written as one run, unless clocks are moved (--rebase).
 */
#include "ovni/ovni.h"

#include <stdlib.h>

/* ---- reader: files and runs as records ---- */

/* Fields of the record of a file; the record of the stream itself has only the name. */
static const struct class_field file_fields[] = {
	{ SLICE_LIT("name"), SLICE_LIT("string"), VALUE_STRING, 0, NULL },
	{ SLICE_LIT("content"), SLICE_LIT("bytes"), VALUE_BYTES, 0, NULL },
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

/* Returns the stream's path from the folder of the trace, without a suffix for compression. */
static struct slice stream_name(const struct reader *r)
{
	const char *const path =
	    r->in->path != NULL && strcmp(r->in->path, "-") != 0 ? r->in->path : OVNI_STREAM_FILE;
	const char *name = path_name(path);
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

uint32_t ovni_folder_length(struct slice path)
{
	while (path.n > 0 && path.p[path.n - 1] != '/')
		path.n--;
	return path.n;
}

bool ovni_files_open(struct ovni_state *st)
{
	const struct class like = { .name = SLICE_LIT("file"), .fields = file_fields, .nfields = 2 };
	struct ovni_shared *const sh = st->r->shared;
	const struct text *const offsets = &sh->offsets.copy;

	st->files.cls = trace_plan_class(st->r->trace, &like);
	if (st->files.cls == NULL)
		return false;
	if (!sh->offsets.read || sh->offsets_copied)
		return true;
	sh->offsets_copied = true;
	return ovni_files_add(&st->files, OVNI_OFFSETS_FILE, offsets->p,
	                      offsets->p != NULL ? offsets->n : OVNI_NOT_READ);
}

bool ovni_files_next(struct ovni_state *st, struct record *rec)
{
	if (st->files.cls == NULL || st->files.next > st->files.n)
		return false;
	st->files.next++;
	rec->cls = st->files.cls;
	rec->end = rec->p;
	rec->ts = 0;
	rec->role = RECORD_IS_FILE;
	return true;
}

/* Returns the path of a file of the stream, from the folder of the trace. */
static struct slice file_path(struct batch *b, struct slice stream, const char *name)
{
	const uint32_t folder = strcmp(name, OVNI_OFFSETS_FILE) != 0 ? ovni_folder_length(stream) : 0;

	return arena_printf(&b->scratch, "%.*s%s", (int)folder, stream.p, name);
}

void ovni_file_fields(const struct ovni_state *st, struct batch *b, struct event *e)
{
	const struct ovni_file *const file = &st->files.list[st->files.next - 1];
	const bool is_stream = st->files.next > st->files.n;
	const struct slice stream = stream_name(st->r);
	const struct slice path =
	    is_stream ? arena_copy(&b->scratch, stream) : file_path(b, stream, file->name);
	struct field *const f = batch_event_fields(b, e, is_stream ? 1 : 2);

	if (f == NULL || path.p == NULL)
		return;
	f[0] = (struct field){ file_fields[0].name, value_string(textscan_slice(path.p, path.n)) };
	if (is_stream)
		return;
	const struct slice content = arena_copy(&b->scratch, slice_of(file->content, file->n));
	f[1] = (struct field){ file_fields[1].name,
		               { .type = file->content != NULL ? VALUE_BYTES : VALUE_NONE,
		                 .count = content.n,
		                 .p = content.p } };
}

/* ---- writer: clocks and data of records ---- */

/* Whether a record lacks its bytes: the reader dropped its data. */
static bool lacks_data(const struct event *e, struct slice bytes)
{
	return e->phase != PHASE_STRUCTURE && bytes.n == 0;
}

void ovw_move_clock(struct ovw_state *st, const struct event *e, struct text *to, uint32_t n)
{
	const bool negative = st->signed_time && (int64_t)e->ts < 0;

	if (to->failed || e->phase == PHASE_STRUCTURE)
		return;
	store_uint(to->p + to->n - n + 4, negative ? 0 : e->ts, 8, (e->flags & EVENT_BIG) != 0);
	if (negative)
		ovw_lose(st, OVW_NEGATIVE_TIME, e->offset);
}

/* ---- writer: names of files ---- */

/*
 * Names are those of the input, relative to its folder.  A stream whose name is in use, or is impossible for
 * an output file, gets another folder: its own with a number.  Sidecars (stream.json and others) accompany
 * their stream; those with equal names and bytes are written once.
 */

static uint64_t hash_of(struct slice content)
{
	return hash_bytes(content.p, content.n, hash_seed()) | 1;
}

/* Adds a name.  Returns a copy that ends with NUL, or NULL on OOM. */
static const char *add_name(struct ovw_state *st, struct slice name, uint64_t hash)
{
	struct ovw_copy *const c = &st->copy;
	const struct slice own = arena_copy(&st->arena, name);

	if (own.p == NULL || !array_reserve(&c->hashes, c->nnames, &c->names_cap, sizeof *c->hashes) ||
	    !tabletext_put(&c->names, own, c->nnames))
		return NULL;
	c->hashes[c->nnames++] = hash;
	return own.p;
}

/* Whether a file may have the name: no file has it, or a sidecar with the same bytes does. */
static bool is_free(const struct ovw_copy *c, struct slice name, uint64_t hash)
{
	const uint32_t known = tabletext_get(&c->names, name);

	return known == TABLE_NONE || (hash != 0 && c->hashes[known] == hash);
}

/* ---- writer: sidecars ---- */

/* Retains a file until its stream has a name.  name: path in the trace; content.p NULL: it was not read. */
static void retain_sidecar(struct ovw_state *st, struct slice name, struct slice content)
{
	struct ovw_copy *const c = &st->copy;

	if (content.p == NULL || c->nsidecars == OVW_MAX_SIDECARS) {
		ovw_lose(st, OVW_FILE_LEFT_OUT, LOSS_NOWHERE);
		return;
	}
	struct ovw_sidecar *const s = &c->sidecars[c->nsidecars++];
	s->name = arena_copy(&st->arena, name);
	text_clear(&s->content);
	text_slice(&s->content, content);
	st->chunk->text.failed |= s->name.p == NULL || s->content.failed;
}

/* Whether a sidecar belongs to one stream.  Others belong to a process or to the trace. */
static bool is_of_stream(const char *file)
{
	const char *const name = path_name(file);

	return strcmp(name, OVNI_OFFSETS_FILE) != 0 && strcmp(name, "metadata.json") != 0;
}

static void write_sidecar(struct ovw_state *st, const struct ovw_sidecar *s, struct slice name,
                          uint64_t stream)
{
	const uint64_t hash = hash_of(slice_of(s->content.p, s->content.n));

	if (folder_name_wrong(name.p, name.n) != NULL || !is_free(&st->copy, name, hash)) {
		ovw_lose(st, OVW_FILE_LEFT_OUT, LOSS_NOWHERE);
		return;
	}
	if (tabletext_get(&st->copy.names, name) != TABLE_NONE)
		return; /* written before */
	const char *const file = add_name(st, name, hash);
	if (file == NULL) {
		st->chunk->text.failed = true;
	} else if (st->is_selection && is_of_stream(file)) {
		ovw_select_file(st, stream, file, slice_of(s->content.p, s->content.n));
	} else {
		st->copy.selection.has_offsets |= strcmp(path_name(file), OVNI_OFFSETS_FILE) == 0;
		chunk_file(st->chunk, file);
		text_add(&st->chunk->text, s->content.p, s->content.n);
	}
}

/* ---- writer: folders ---- */

/* Whether a sidecar is in the folder of the stream, and does not belong to the trace. */
static bool shares_folder(const struct ovw_sidecar *s, struct slice folder)
{
	return ovni_folder_length(s->name) == folder.n && memcmp(s->name.p, folder.p, folder.n) == 0 &&
	       !slice_is(slice_of(s->name.p + folder.n, s->name.n - folder.n), OVNI_OFFSETS_FILE);
}

/* Returns the name in the folder with a number, or in the same folder if the number is 0. */
static struct slice name_in(struct text *t, struct slice name, uint32_t folder, uint32_t number)
{
	text_clear(t);
	text_add(t, name.p, folder > 0 && number > 0 ? folder - 1 : folder);
	if (number > 0) {
		if (folder > 0)
			text_char(t, '.');
		text_u64(t, number);
		text_char(t, '/');
	}
	text_add(t, name.p + folder, name.n - folder);
	return slice_of(t->p, t->n);
}

/* Whether the stream and its sidecars can be in this folder. */
static bool fits(struct ovw_state *st, struct slice name, uint32_t folder, uint32_t number)
{
	struct ovw_copy *const c = &st->copy;
	const struct slice stream = name_in(&c->scratch, name, folder, number);

	if (folder_name_wrong(stream.p, stream.n) != NULL || !is_free(c, stream, 0))
		return false;
	for (uint32_t i = 0; i < c->nsidecars; i++) {
		const struct ovw_sidecar *const s = &c->sidecars[i];
		if (!shares_folder(s, slice_of(name.p, folder)))
			continue;
		const struct slice there = name_in(&c->scratch, s->name, folder, number);
		if (!is_free(c, there, hash_of(slice_of(s->content.p, s->content.n))))
			return false;
	}
	return true;
}

/* Sets a number with which the folder fits.  Each number of a folder is tried once. */
static bool find_number(struct ovw_state *st, struct slice name, uint32_t folder, uint32_t *number)
{
	struct ovw_copy *const c = &st->copy;
	const struct slice key = slice_of(name.p, folder);
	const uint32_t last = tabletext_get(&c->folders, key);
	uint32_t n = last != TABLE_NONE ? last : 1;

	do
		n++;
	while (!c->scratch.failed && !fits(st, name, folder, n));
	if (c->scratch.failed)
		return false;
	*number = n;
	const struct slice own = arena_copy(&st->arena, key);
	return own.p != NULL && tabletext_put(&c->folders, own, n);
}

static void write_sidecars(struct ovw_state *st, struct slice name, uint32_t folder, uint32_t number,
                           uint64_t stream)
{
	struct ovw_copy *const c = &st->copy;

	for (uint32_t i = 0; i < c->nsidecars; i++) {
		const struct ovw_sidecar *const s = &c->sidecars[i];
		const bool shares = shares_folder(s, slice_of(name.p, folder));
		write_sidecar(st, s, shares ? name_in(&c->scratch, s->name, folder, number) : s->name,
		              stream);
	}
	c->nsidecars = 0;
}

/* Replaces a name that no output file can have.  Returns the default name, which has no folder. */
static struct slice use_default_name(struct ovw_state *st, struct slice name)
{
	struct ovw_copy *const c = &st->copy;
	const uint32_t folder = ovni_folder_length(name);

	for (uint32_t i = 0; i < c->nsidecars; i++) {
		struct ovw_sidecar *const s = &c->sidecars[i];
		if (shares_folder(s, slice_of(name.p, folder)))
			s->name = slice_of(s->name.p + folder, s->name.n - folder);
	}
	return SLICE_LIT(OVNI_STREAM_FILE);
}

/* Whether the folder can have a number of any length. */
static bool can_have_number(struct ovw_state *st, struct slice name, uint32_t folder)
{
	const struct slice long_name = name_in(&st->copy.scratch, name, folder, UINT32_MAX);

	return folder_name_wrong(long_name.p, long_name.n) == NULL;
}

/* Assigns a file to a stream, and writes its sidecars.  name: path in the trace. */
static void name_stream(struct ovw_state *st, uint64_t number, struct slice name)
{
	struct ovw_copy *const c = &st->copy;
	const bool wrong = folder_name_wrong(name.p, name.n) != NULL;
	bool ok = number < UINT32_MAX &&
	          array_reach(&c->streams, &c->nstreams, (uint32_t)number, sizeof *c->streams);
	bool unchanged = ok && !wrong && fits(st, name, ovni_folder_length(name), 0);
	const bool is_default = wrong || (!unchanged && !can_have_number(st, name, ovni_folder_length(name)));
	const struct slice usable = is_default ? use_default_name(st, name) : name;
	const uint32_t folder = ovni_folder_length(usable);
	uint32_t new_number = 0;

	unchanged |= ok && is_default && fits(st, usable, folder, 0);
	if (ok && !unchanged)
		ok = find_number(st, usable, folder, &new_number);
	if (note_failure(&st->chunk->text.failed, !ok || c->scratch.failed))
		return;
	if (new_number > 0 || is_default)
		ovw_lose(st, OVW_FOLDER_RENAMED, LOSS_NOWHERE);
	write_sidecars(st, usable, folder, new_number, number);
	c->streams[number] = add_name(st, name_in(&c->scratch, usable, folder, new_number), 0);
	st->chunk->text.failed |= c->streams[number] == NULL;
	if (c->streams[number] != NULL && !st->is_selection)
		chunk_file(st->chunk, c->streams[number]);
}

/* ---- writer: records of streams ---- */

static bool is_file(const struct batch *b, const struct event *e)
{
	return e->phase == PHASE_STRUCTURE && e->nfields > 0 &&
	       slice_is(b->fields[e->first_field].name, "name");
}

static void add_file(struct ovw_state *st, const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;
	const struct slice name = value_text(&f[0].value);

	if (e->nfields == 1)
		name_stream(st, e->dur, name);
	else
		retain_sidecar(st, name,
		               f[1].value.type == VALUE_BYTES ? value_text(&f[1].value) : SLICE_NONE);
}

/* Gives a stream a file unless the reader named one before.  Returns false on OOM (text.failed). */
static bool ensure_file(struct ovw_state *st, uint64_t number)
{
	struct ovw_copy *const c = &st->copy;

	if (number >= c->nstreams || c->streams[number] == NULL)
		name_stream(st, number, SLICE_LIT(OVNI_STREAM_FILE));
	const bool named = number < c->nstreams && c->streams[number] != NULL;
	st->chunk->text.failed |= !named;
	return named;
}

static void select_record(struct ovw_state *st, const struct event *e, struct slice bytes)
{
	const bool left_out = e->phase != PHASE_STRUCTURE && (e->flags & EVENT_LEFT_OUT) != 0;

	ovw_select_mark(st, e, bytes);
	if (lacks_data(e, bytes))
		ovw_lose(st, OVW_JUMBO_LEFT_OUT, e->offset);
	else if ((!left_out || ovw_select_needs(bytes.p)) && ensure_file(st, e->dur))
		ovw_select_event(st, e, bytes);
}

/* ---- the copier ---- */

static bool copy_open(struct copier *c)
{
	struct ovw_state *const st = c->state;

	st->is_selection = c->selected;
	st->rebased = c->run->rebased;
	st->signed_time = c->run->signed_time;
	return true;
}

/* Directs the next records to the file of the stream with this number. */
static void begin_file(struct copier *c, uint64_t number)
{
	const struct ovw_state *const st = c->state;
	const char *const file = st->copy.streams[number];

	if (c->chunk->nparts == 0 || c->chunk->parts[c->chunk->nparts - 1].name != file) {
		(void)copier_text(c);
		chunk_file(c->chunk, file);
	}
}

static void put_record(struct ovw_state *st, struct copier *c, const struct event *e, struct slice bytes)
{
	begin_file(c, e->dur);
	if (lacks_data(e, bytes)) { /* its bytes were passed before, unless times are moved */
		if (st->rebased)
			ovw_lose(st, OVW_JUMBO_LEFT_OUT, e->offset);
	} else if (!st->rebased) {
		copier_keep(c, bytes);
	} else {
		text_slice(&c->chunk->text, bytes);
		ovw_move_clock(st, e, &c->chunk->text, bytes.n);
	}
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct ovw_state *const st = c->state;

	st->chunk = c->chunk;
	if (is_file(b, e)) {
		(void)copier_text(c);
		add_file(st, b, e);
	} else if (st->is_selection) {
		select_record(st, e, bytes);
	} else if (ensure_file(st, e->dur)) {
		put_record(st, c, e, bytes);
	}
}

static bool copy_skips(const struct copier *c, const struct event *e, struct slice bytes)
{
	return bytes.n > 0 && !ovw_select_needs(bytes.p) && !ovw_is_mark(bytes.p);
}

static bool copy_passed(struct copier *c, const struct event *e, struct slice bytes)
{
	struct ovw_state *const st = c->state;

	st->chunk = c->chunk;
	const bool named = ensure_file(st, e->dur);
	if (named)
		begin_file(c, e->dur);
	return named;
}

static void copy_end(struct copier *c)
{
	struct ovw_state *const st = c->state;

	st->chunk = c->chunk;
	if (c->selected)
		ovw_select_end(st);
}

static void copy_free(void *state)
{
	struct ovw_state *const st = state;
	struct ovw_copy *const c = &st->copy;

	for (uint32_t i = 0; i < OVW_MAX_SIDECARS; i++)
		text_free(&c->sidecars[i].content);
	ovw_select_free(&c->selection);
	free(c->streams);
	free(c->hashes);
	tabletext_free(&c->names);
	tabletext_free(&c->folders);
	text_free(&c->scratch);
	arena_free(&st->arena);
}

const struct copier_ops ovw_copier_ops = {
	.state_size = sizeof(struct ovw_state),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BARE | COPIER_FILES,
	.open = copy_open,
	.record = copy_record,
	.passed = copy_passed,
	.skips = copy_skips,
	.end = copy_end,
	.free = copy_free,
};

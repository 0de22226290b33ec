/*
 * Names of the files of copied streams.  They are those of the input, below its folder.  A stream whose name
 * is taken, or that no output file can have, gets another folder: its own with a number.  Sidecars
 * (stream.json and others) come with their stream; one with the same bytes as an earlier one of its name is
 * written once.
 */
#include <stdlib.h>

#include "output/text_visible.h"
#include "ovni/ovni.h"

/* ---- names that are taken ---- */

static uint64_t hash_of(struct slice content)
{
	return hash_bytes(content.p, content.n, hash_seed()) | 1;
}

/* Marks a name as taken.  Returns a copy that ends with NUL, or NULL on OOM. */
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

/* Whether a name is free, or that of a sidecar with the same bytes. */
static bool is_free(const struct ovw_copy *c, struct slice name, uint64_t hash)
{
	const uint32_t known = tabletext_get(&c->names, name);

	return known == TABLE_NONE || (hash != 0 && c->hashes[known] == hash);
}

/* ---- sidecars ---- */

void ovw_sidecar(struct ovw_state *st, struct slice name, struct slice content, struct chunk *chunk)
{
	struct ovw_copy *const c = &st->copy;

	if (content.p == NULL || c->nsidecars == OVW_MAX_SIDECARS) {
		ovw_lose(chunk, OVW_FILE_LEFT_OUT, 0);
		return;
	}
	struct ovw_sidecar *const s = &c->sidecars[c->nsidecars++];
	s->name = arena_copy(&st->arena, name);
	text_clear(&s->content);
	text_slice(&s->content, content);
	chunk->text.failed |= s->name.p == NULL || s->content.failed;
}

/* Whether a sidecar belongs to one stream; others belong to all streams of a process or of the trace. */
static bool is_of_stream(const char *file)
{
	const char *const slash = strrchr(file, '/'), *const name = slash != NULL ? slash + 1 : file;

	return strcmp(name, OVNI_OFFSETS_FILE) != 0 && strcmp(name, "metadata.json") != 0;
}

static void write_sidecar(struct ovw_state *st, const struct ovw_sidecar *s, struct slice name,
                          uint64_t stream, struct chunk *chunk)
{
	const uint64_t hash = hash_of(slice_of(s->content.p, s->content.n));

	if (folder_name_wrong(name.p, name.n) != NULL || !is_free(&st->copy, name, hash)) {
		ovw_lose(chunk, OVW_FILE_LEFT_OUT, 0);
		return;
	}
	if (tabletext_get(&st->copy.names, name) != TABLE_NONE)
		return; /* the same file is there */
	const char *const file = add_name(st, name, hash);
	if (file == NULL) {
		chunk->text.failed = true;
	} else if (st->is_selection && is_of_stream(file)) {
		ovw_selection_add_file(st, stream, file, slice_of(s->content.p, s->content.n), chunk);
	} else {
		chunk_file(chunk, file);
		text_add(&chunk->text, s->content.p, s->content.n);
	}
}

/* ---- folders ---- */

static uint32_t folder_length(struct slice name)
{
	uint32_t n = name.n;

	while (n > 0 && name.p[n - 1] != '/')
		n--;
	return n;
}

/* Whether a sidecar is in the folder of the stream, and does not belong to the trace. */
static bool shares_folder(const struct ovw_sidecar *s, struct slice folder)
{
	return folder_length(s->name) == folder.n && memcmp(s->name.p, folder.p, folder.n) == 0 &&
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

/* Sets a number with which the folder fits.  No number of a folder is tried twice. */
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
                           uint64_t stream, struct chunk *chunk)
{
	struct ovw_copy *const c = &st->copy;

	for (uint32_t i = 0; i < c->nsidecars; i++) {
		const struct ovw_sidecar *const s = &c->sidecars[i];
		const bool shares = shares_folder(s, slice_of(name.p, folder));
		write_sidecar(st, s, shares ? name_in(&c->scratch, s->name, folder, number) : s->name, stream,
		              chunk);
	}
	c->nsidecars = 0;
}

/* Drops a name and its folder that an output file cannot have.  Returns the usual name. */
static struct slice plain_name(struct ovw_state *st, struct slice name)
{
	struct ovw_copy *const c = &st->copy;
	const uint32_t folder = folder_length(name);

	for (uint32_t i = 0; i < c->nsidecars; i++) {
		struct ovw_sidecar *const s = &c->sidecars[i];
		if (shares_folder(s, slice_of(name.p, folder)))
			s->name = slice_of(s->name.p + folder, s->name.n - folder);
	}
	return SLICE_LIT(OVNI_STREAM_FILE);
}

/* Whether the folder can have a number of any length. */
static bool takes_number(struct ovw_state *st, struct slice name, uint32_t folder)
{
	const struct slice long_name = name_in(&st->copy.scratch, name, folder, UINT32_MAX);

	return folder_name_wrong(long_name.p, long_name.n) == NULL;
}

void ovw_name_stream(struct ovw_state *st, uint64_t number, struct slice name, struct chunk *chunk)
{
	struct ovw_copy *const c = &st->copy;
	const bool wrong = folder_name_wrong(name.p, name.n) != NULL;
	bool ok = number < UINT32_MAX &&
	          array_reach(&c->streams, &c->nstreams, (uint32_t)number, sizeof *c->streams);
	bool as_it_is = ok && !wrong && fits(st, name, folder_length(name), 0);
	const bool plain = wrong || (!as_it_is && !takes_number(st, name, folder_length(name)));
	const struct slice usable = plain ? plain_name(st, name) : name;
	const uint32_t folder = folder_length(usable);
	uint32_t again = 0;

	as_it_is |= ok && plain && fits(st, usable, folder, 0);
	if (ok && !as_it_is)
		ok = find_number(st, usable, folder, &again);
	if (!ok || c->scratch.failed) {
		chunk->text.failed = true;
		return;
	}
	if (again > 0 || plain)
		ovw_lose(chunk, OVW_FOLDER_RENAMED, 0);
	write_sidecars(st, usable, folder, again, number, chunk);
	c->streams[number] = add_name(st, name_in(&c->scratch, usable, folder, again), 0);
	chunk->text.failed |= c->streams[number] == NULL;
	if (c->streams[number] != NULL && !st->is_selection)
		chunk_file(chunk, c->streams[number]);
}

/*
 * Implementation of the words of samples, in the order of docs/samples.md: numbers, lengths, blocks,
 * definitions, samples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "test/support/assemble.h"

/* Returns the length of the next item. */
static size_t put_next(struct assembler *a)
{
	const size_t start = a->n;

	put_item(a, read_item(a));
	return a->n - start;
}

static void do_uint(struct assembler *a, unsigned size)
{
	put_number(a, read_number(a), size);
}

static void do_float(struct assembler *a, unsigned size)
{
	struct text w = read_item(a);
	const struct scope *scope = a->scope;
	char *end = NULL;
	uint64_t bits = 0;
	uint32_t half = 0;

	resolve(&w, &scope);
	const double d = strtod(w.p, &end);
	const float f = strtof(w.p, &end);
	if (end != w.end)
		fail(a, w.p, "this is no number");
	memcpy(&bits, &d, sizeof bits);
	memcpy(&half, &f, sizeof half);
	put_number(a, size == 8 ? bits : half, size);
}

static void do_varint(struct assembler *a, unsigned unused)
{
	uint64_t v = read_number(a);

	for (; v >= 0x80; v >>= 7)
		put_number(a, (v & 0x7f) | 0x80, 1);
	put_number(a, v, 1);
}

static void do_length(struct assembler *a, unsigned size)
{
	const size_t at = a->n;

	put_number(a, 0, size);
	const size_t n = put_next(a);
	store(a, a->p + at, n, size);
}

/* The length of the next item as LEB128, before it.  Marks in the item move with their bytes; offsets after a
 * packed item are those of the packed bytes, as it is a part of a record. */
static void do_length_varint(struct assembler *a, unsigned unused)
{
	struct sample *const s = a->all->n > 0 ? &a->all->list[a->all->n - 1] : NULL;
	const size_t start = a->n, unpacked = a->unpacked, marks = s != NULL ? s->nfindings : 0;
	uint64_t n = put_next(a);
	unsigned char head[10];
	size_t k = 0;

	for (; n >= 0x80; n >>= 7)
		head[k++] = (unsigned char)(n | 0x80);
	head[k++] = (unsigned char)n;
	put(a, head, k); /* for its space */
	memmove(a->p + start + k, a->p + start, a->n - k - start);
	memcpy(a->p + start, head, k);
	a->unpacked = unpacked;
	for (size_t i = 0; s != NULL && s->nfindings > marks && i < s->nfindings; i++)
		if (s->findings[i].offset >= start + unpacked)
			s->findings[i].offset += k;
}

static void do_size(struct assembler *a, unsigned size)
{
	a->size_at = a->n;
	put_number(a, 0, size);
}

static void do_byte_order(struct assembler *a, unsigned big)
{
	a->big = big;
}

enum packing { ZSTD, GZIP, GZIP_STORED, ZLIB };

static void do_packed(struct assembler *a, unsigned how)
{
	const size_t start = a->n, n = put_next(a), cap = 2 * n + 4096;
	unsigned char *const packed = malloc(cap);

	if (packed == NULL)
		abort();
	if (how == GZIP_STORED && n > UINT16_MAX)
		fail(a, a->rest.p, "a stored block has at most 65535 bytes");
	const size_t length = how == ZSTD   ? ZSTD_compress(packed, cap, a->p + start, n, 19)
	                      : how == GZIP ? gzip_fixed(packed, a->p + start, n)
	                      : how == ZLIB ? zlib_fixed(packed, a->p + start, n)
	                                    : gzip_stored(packed, a->p + start, n);
	a->n = start;
	put(a, packed, length);
	a->unpacked += n - length;
	free(packed);
}

static void do_part(struct assembler *a, unsigned first)
{
	const char *const at = a->rest.p;
	const size_t count = read_number(a), start = a->n, n = put_next(a);

	if (count > n)
		fail(a, at, "the block has only %zu bytes", n);
	if (!first)
		memmove(a->p + start, a->p + start + count, n - count);
	a->n = start + (first ? count : n - count);
}

static void do_cut(struct assembler *a, unsigned unused)
{
	const uint64_t n = read_number(a);

	if (n > a->n)
		fail(a, a->rest.p, "there are only %zu bytes", a->n);
	a->n -= n;
}

static void do_repeat(struct assembler *a, unsigned unused)
{
	const uint64_t count = read_number(a);
	struct text w = read_item(a);
	const struct text name = w;

	if (*w.p != '{')
		w = read_item(a);
	for (uint64_t i = 0; i < count; i++) {
		if (name.p != w.p)
			set_number(a, name, i);
		put_block(a, w, a->scope);
	}
}

static void do_let(struct assembler *a, unsigned unused)
{
	const struct text name = read_item(a);

	set_number(a, name, read_number(a));
}

static void do_def(struct assembler *a, unsigned unused)
{
	struct def d = { .name = read_item(a) };

	if (is_byte(d.name))
		fail(a, d.name.p, "this is a byte");
	for (d.body = read_item(a); *d.body.p != '{'; d.body = read_item(a)) {
		if (d.nargs == ARGS_MAX)
			fail(a, d.body.p, "too many arguments");
		d.args[d.nargs++] = d.body;
	}
	set_def(a, d);
}

static void do_include(struct assembler *a, unsigned unused)
{
	const struct text w = read_item(a);
	const char *const slash = strrchr(a->sources[0].path, '/');
	char path[sizeof a->sources[0].path];

	snprintf(path, sizeof path, "%.*s/%.*s", (int)(slash - a->sources[0].path), a->sources[0].path,
	         (int)size_of(w), w.p);
	assemble(a, load(a, path), NULL);
}

/* ---- samples ---- */

static struct sample *present_sample(struct assembler *a, const char *at)
{
	if (a->all->n == 0)
		fail(a, at, "no sample has begun");
	return &a->all->list[a->all->n - 1];
}

/* Moves the bytes of the current file to its sample. */
void end_file(struct assembler *a)
{
	struct sample *const s = a->all->n > 0 ? &a->all->list[a->all->n - 1] : NULL;

	if (s != NULL && s->nfiles > 0 && s->files[s->nfiles - 1].p == NULL) {
		put(a, "", 1); /* allocates memory even for an empty file */
		s->files[s->nfiles - 1].p = a->p;
		s->files[s->nfiles - 1].n = a->n - 1;
		a->p = NULL;
		a->cap = 0;
	}
	a->n = a->unpacked = 0;
}

static void begin_file(struct assembler *a, struct sample *s, const char *below)
{
	char name[SAMPLE_NAME];

	end_file(a);
	memcpy(name, s->name, sizeof name);
	if (s->nfiles == SAMPLE_FILES)
		fail(a, a->rest.p, "too many files");
	snprintf(s->files[s->nfiles++].name, SAMPLE_NAME, "%.60s%.50s", name, below);
}

static void do_file(struct assembler *a, unsigned unused)
{
	char below[50] = "/";

	copy_word(a, below + 1, sizeof below - 1, read_item(a));
	begin_file(a, present_sample(a, a->rest.p), below);
}

static void do_suffix(struct assembler *a, unsigned unused)
{
	copy_word(a, a->suffix, sizeof a->suffix, read_item(a));
}

static void do_sample(struct assembler *a, unsigned folder)
{
	const struct text after = { a->rest.p + strcspn(a->rest.p, "\n"), a->rest.end };
	char suffix[sizeof a->suffix];

	end_file(a);
	a->rest.end = after.p;
	a->all->list = realloc(a->all->list, (a->all->n + 1) * sizeof *a->all->list);
	if (a->all->list == NULL)
		abort();
	struct sample *const s = &a->all->list[a->all->n++];
	*s = (struct sample){ .folder = folder, .exit_status = -1, .records = -1 };
	copy_word(a, s->name, sizeof s->name, read_item(a));
	memcpy(suffix, a->suffix, sizeof suffix);
	for (struct text w = read_word(a); size_of(w) > 0; w = read_word(a)) {
		if (*w.p == '.')
			copy_word(a, suffix, sizeof suffix, w);
		else if (is_word(w, "exit"))
			s->exit_status = (int)read_number(a);
		else if (is_word(w, "records"))
			s->records = (int)read_number(a);
		else if (is_word(w, "dialect"))
			copy_word(a, s->dialect, sizeof s->dialect, read_item(a));
		else
			fail(a, w.p, "unknown property of a sample");
	}
	a->rest = after;
	if (!folder)
		begin_file(a, s, suffix);
	a->big = false;
	const struct def *const start = find_def(a, (struct text){ "start", &"start"[5] });
	if (start != NULL)
		use_macro(a, start);
}

void take_finding(struct assembler *a, struct text w)
{
	struct sample *const s = present_sample(a, w.p);
	const char *const colon = memchr(w.p, ':', size_of(w));
	struct text rule = { colon != NULL ? colon + 1 : w.p + 1, w.end };
	const unsigned rank =
	    colon != NULL ? (unsigned)evaluate(a, (struct text){ w.p + 1, colon }, NULL) : 0;
	size_t i = s->nfindings;

	if (size_of(rule) == 0)
		fail(a, w.p, "a rule is missing");
	if (s->nfindings++ == SAMPLE_FINDINGS)
		fail(a, w.p, "too many findings");
	for (; i > 0 && s->findings[i - 1].rank > rank; i--)
		s->findings[i] = s->findings[i - 1];
	s->findings[i].offset = a->n + a->unpacked;
	s->findings[i].rank = rank;
	snprintf(s->findings[i].rule, sizeof s->findings[i].rule, "%s%s%.*s", has(rule, '/') ? "" : a->format,
	         has(rule, '/') ? "" : "/", (int)size_of(rule), rule.p);
}

/* ---- the table ---- */

const struct word words[] = {
	{ "u8", do_uint, 1 },
	{ "u16", do_uint, 2 },
	{ "u24", do_uint, 3 },
	{ "u32", do_uint, 4 },
	{ "u64", do_uint, 8 },
	{ "f32", do_float, 4 },
	{ "f64", do_float, 8 },
	{ "varint", do_varint, 0 },
	{ "len8", do_length, 1 },
	{ "len16", do_length, 2 },
	{ "len32", do_length, 4 },
	{ "lenv", do_length_varint, 0 },
	{ "size32", do_size, 4 },
	{ "little", do_byte_order, 0 },
	{ "big", do_byte_order, 1 },
	{ "zstd", do_packed, ZSTD },
	{ "gzip", do_packed, GZIP },
	{ "gzip-stored", do_packed, GZIP_STORED },
	{ "zlib", do_packed, ZLIB },
	{ "first", do_part, 1 },
	{ "after", do_part, 0 },
	{ "cut", do_cut, 0 },
	{ "repeat", do_repeat, 0 },
	{ "let", do_let, 0 },
	{ "def", do_def, 0 },
	{ "include", do_include, 0 },
	{ "sample", do_sample, 0 },
	{ "folder", do_sample, 1 },
	{ "file", do_file, 0 },
	{ "suffix", do_suffix, 0 },
	{ 0 },
};

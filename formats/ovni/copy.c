#include "ovni/copy.h"

#include <stdlib.h>

#include "ovni/wire.h"

static const struct class_field file_fields[] = {
	{ { "name", 4, SLICE_UTF8 | SLICE_JSON },
	  { "string", 6, SLICE_UTF8 | SLICE_JSON },
	  VALUE_STRING,
	  0,
	  NULL },
	{ { "content", 7, SLICE_UTF8 | SLICE_JSON },
	  { "bytes", 5, SLICE_UTF8 | SLICE_JSON },
	  VALUE_BYTES,
	  0,
	  NULL },
};

/* ---- the files of a stream ---- */

bool
ovni_files_add(struct ovni_files *f, const char *name, const char *p, size_t n)
{
	const bool was_read = n != OVNI_NOT_READ;
	struct ovni_file file = { .n = was_read ? (uint32_t)n : 0 };

	if (f->n == OVNI_MOST_FILES)
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

void
ovni_files_free(struct ovni_files *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		free(f->list[i].name);
		free(f->list[i].content);
	}
	*f = (struct ovni_files){ .n = 0 };
}

/* ---- records ---- */

static struct event *
add_record(struct reader *r, struct batch *b, const struct class *like, uint64_t offset, uint32_t number)
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

bool
ovni_copy_file(struct reader *r, struct batch *b, struct slice name, struct slice content, uint32_t number)
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

bool
ovni_copy_run(struct reader *r, struct batch *b, struct slice bytes, uint64_t offset, uint32_t number)
{
	const struct class like = { .name = SLICE_LIT("records") };

	if (add_record(r, b, &like, offset, number) == NULL)
		return false;
	if (b->bytes != NULL)
		b->bytes[b->n - 1] = bytes;
	return true;
}

/* ---- names ---- */

/* The stream's way from the folder of the trace, without a suffix for compression. */
static struct slice
stream_name(const struct reader *r)
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

/* The folder of a file in the folder of the trace, its slash included. */
static size_t
folder_length(struct slice name)
{
	size_t n = name.n;

	while (n > 0 && name.p[n - 1] != '/')
		n--;
	return n;
}

bool
ovni_files_put(struct ovni_files *f, struct reader *r, struct batch *b, uint32_t number)
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

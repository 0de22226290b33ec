#ifndef OVNI_METADATA_H
#define OVNI_METADATA_H

#include "ovni/copy.h"
#include "ovni/system.h"

/*
 * The metadata of a stream: JSON files in the folder of its events.  Their values are checked and merged into
 * the system of the trace.  Findings about them are in the report of the stream, at offset 0, since a finding
 * has one place in one input; messages name file and key.
 */

struct cJSON;

/* The metadata of one stream while it is read. */
struct ovni_metadata {
	struct reader *r;
	struct ovni_system *system;
	struct ovni_stream *stream; /* what is found goes here ... */
	struct ovni_thread thread;  /* ... and here */
	uint32_t loom;              /* in system.looms, or TABLE_NONE */
	bool check_versions;        /* of the models in ovni.require */
	bool merged;                /* the thread was added to the system */
	double version;             /* of metadata.json; 0: not known */
	size_t folder;      /* so many bytes of the stream's path are its folder, the slash included */
	const char *file;   /* the one that is read */
	const char *prefix; /* before the names of keys in messages */
	struct ovni_files *files; /* where copies of the files go; NULL: nowhere */
};

/* ---- ovni_sidecar.c ---- */

/* Finds and reads the files of the stream m->r->in; sets m->stream->track in any case, but when
 * system->no_memory. */
void ovni_metadata_read(struct ovni_metadata *m);

/* trace_ops.check_sidecar */
void ovni_check_sidecar(struct reader *r);

/* ---- ovni_metadata.c: stream.json ---- */

void ovni_read_stream(struct ovni_metadata *m, const struct cJSON *root);
/* Parts that older files have too. */
void ovni_read_app(struct ovni_metadata *m, const struct cJSON *o);
void ovni_read_lib(struct ovni_metadata *m, const struct cJSON *ovni);

/* ---- ovni_layout.c: files of layouts 1 and 2 ---- */

void ovni_read_old(struct ovni_metadata *m);

/* ---- ovni_declarations.c, ovni_require.c: values with rules of their own ---- */

void ovni_read_cpus(struct ovni_metadata *m, const struct cJSON *list);
void ovni_read_marks(struct ovni_metadata *m, const struct cJSON *marks);
void ovni_read_counters(struct ovni_metadata *m, const struct cJSON *hwc);
void ovni_read_require(struct ovni_metadata *m, const struct cJSON *models);

/* ---- ovni_json_file.c ---- */

/* Reads a file of the stream's folder and gives its object to the sink.  Everything that is wrong is
 * reported, except that the file is missing: false then. */
typedef void ovni_json_sink(struct ovni_metadata *m, const struct cJSON *root);
bool ovni_json_read(struct ovni_metadata *m, const char *name, ovni_json_sink *sink);

/* A file in the folder of the path; NULL: no memory. */
struct input *ovni_open_beside(const struct reader *r, const char *path, const char *name);

enum ovni_load {
	OVNI_LOAD_MISSING, /* there is none */
	OVNI_LOAD_FAILED,  /* it cannot be read, which was reported; r->unreadable is set */
	OVNI_LOAD_LARGE,   /* it has more than `most` bytes */
	OVNI_LOAD_WHOLE,   /* [in->p, in->end) is all of it */
};

/* Reads a file as a whole; messages call it `name`. */
enum ovni_load ovni_load(struct reader *r, struct input *in, const char *name, size_t most);

/* NULL: o is no object, or lacks the key. */
const struct cJSON *ovni_json_get(const struct cJSON *o, const char *key);

#define OVNI_NO_INTEGER INT64_MIN

/* An integer of 32 bits; -1: absent; OVNI_NO_INTEGER: something else, which was reported. */
int64_t ovni_json_integer(struct ovni_metadata *m, const struct cJSON *o, const char *key);

/* NULL: absent, or something else, which was reported. */
const char *ovni_json_text(struct ovni_metadata *m, const struct cJSON *o, const char *key);

bool ovni_json_is(const struct cJSON *v, int number);

/* ---- ovni_json.c ---- */

/* Why the text is not strict JSON of bounded depth, and where; NULL: it is. */
const char *ovni_json_fault(const char *p, size_t n, size_t *at);

#endif

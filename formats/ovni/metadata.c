#include <cJSON.h>
#include <math.h>
#include <stdlib.h>

#include "json/token.h"
#include "ovni/ovni.h"

/* ---- json ---- */

/* Strict JSON, checked before cJSON builds a tree of it: cJSON accepts numbers such as 01, control bytes in
 * strings and text that is not UTF-8, and does not say where an error is. */
const char *ovni_json_fault(const char *p, size_t n, size_t *where)
{
	return json_document_fault(p, n, OVNI_MAX_DEPTH, where);
}

/* ---- json file ---- */

/* Files of metadata, read as strict JSON, and their values. */

/* ---- values ---- */

const cJSON *ovni_json_get(const cJSON *o, const char *key)
{
	return cJSON_IsObject(o) ? cJSON_GetObjectItemCaseSensitive(o, key) : NULL;
}

/* An integer of 32 bits; -1: absent; OVNI_NO_INTEGER: something else, which was reported. */
static int64_t ovni_json_integer(struct ovni_metadata *m, const cJSON *o, const char *key)
{
	const cJSON *const v = ovni_json_get(o, key);

	if (v == NULL)
		return -1;
	if (!cJSON_IsNumber(v)) {
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "%s%s is not a number", m->prefix, key);
		return OVNI_NO_INTEGER;
	}
	/* cJSON holds doubles: those of 32 bits are exact */
	if (!(fabs(v->valuedouble) <= INT32_MAX) || v->valuedouble != floor(v->valuedouble)) {
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "%s%s is %.17g, expected a 32-bit integer",
		            m->prefix, key, v->valuedouble);
		return OVNI_NO_INTEGER;
	}
	return (int64_t)v->valuedouble;
}

/* NULL: absent, or something else, which was reported. */
static const char *ovni_json_text(struct ovni_metadata *m, const cJSON *o, const char *key)
{
	const cJSON *const v = ovni_json_get(o, key);

	if (v != NULL && !cJSON_IsString(v))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "%s%s is not a string", m->prefix, key);
	return cJSON_GetStringValue(v);
}

bool ovni_json_is(const cJSON *v, int number)
{
	return cJSON_IsNumber(v) && v->valuedouble >= number && v->valuedouble <= number;
}

/* ---- files ---- */

/* Keys that come twice in one object; depth is bounded by ovni_json_fault(). */
static void find_duplicates(struct ovni_metadata *m, const cJSON *v)
{
	struct tabletext keys = { .slots = NULL };
	struct quoted q;

	for (const cJSON *c = v->child; c != NULL; c = c->next) {
		if (cJSON_IsObject(v) && tabletext_get(&keys, slice_str(c->string)) != TABLE_NONE)
			ovni_report(m->r, OVNI_RULE_DUPLICATE_KEY, "%s: an object has the key %s twice",
			            m->file, quoted(&q, slice_str(c->string)));
		else if (cJSON_IsObject(v) && !tabletext_put(&keys, slice_str(c->string), 0))
			m->system->no_memory = true;
		find_duplicates(m, c);
	}
	tabletext_free(&keys);
}

static void read_text(struct ovni_metadata *m, struct slice text, ovni_json_sink *sink)
{
	size_t place = 0;
	const char *const fault = ovni_json_fault(text.p, text.n, &place);
	cJSON *const root = fault == NULL ? cJSON_ParseWithLength(text.p, text.n) : NULL;

	if (fault != NULL) {
		ovni_report(m->r, OVNI_RULE_BAD_JSON, "%s, byte %zu: %s", m->file, place, fault);
	} else if (root == NULL) {
		m->system->no_memory = true;
	} else if (!cJSON_IsObject(root)) {
		ovni_report(m->r, OVNI_RULE_BAD_JSON, "%s is not a JSON object", m->file);
	} else {
		find_duplicates(m, root);
		sink(m, root);
	}
	cJSON_Delete(root);
}

struct input *ovni_open_beside(const struct reader *r, const char *path, const char *name)
{
	const char *const slash = strrchr(path, '/');
	const size_t folder = slash != NULL ? (size_t)(slash + 1 - path) : 0;
	char *const other = malloc(folder + strlen(name) + 1);

	if (other == NULL)
		return NULL;
	memcpy(other, path, folder);
	memcpy(other + folder, name, strlen(name) + 1);
	struct input *const in = reader_open_beside(r, other);
	free(other);
	return in;
}

enum ovni_load ovni_load(struct reader *r, struct input *in, const char *name, size_t most)
{
	if (in->fault == INPUT_MISSING)
		return OVNI_LOAD_MISSING;
	const bool large = input_need(in, most + 1);
	if (!reader_can_use(r, in, name))
		return OVNI_LOAD_FAILED;
	return large ? OVNI_LOAD_LARGE : OVNI_LOAD_WHOLE;
}

bool ovni_json_read(struct ovni_metadata *m, const char *name, ovni_json_sink *sink)
{
	struct input *const in = ovni_open_beside(m->r, m->r->in->path, name);

	m->system->no_memory |= in == NULL;
	if (in == NULL)
		return true;
	m->file = name;
	const enum ovni_load load = ovni_load(m->r, in, name, OVNI_MAX_JSON);
	if (load == OVNI_LOAD_LARGE)
		ovni_report(m->r, OVNI_RULE_LIMIT, "%s has more than %u bytes and was not read", name,
		            OVNI_MAX_JSON);
	if (m->files != NULL && (load == OVNI_LOAD_LARGE || load == OVNI_LOAD_WHOLE))
		m->system->no_memory |=
		    !ovni_files_add(m->files, name, in->p,
		                    load == OVNI_LOAD_WHOLE ? (size_t)(in->end - in->p) : OVNI_NOT_READ);
	if (load == OVNI_LOAD_WHOLE)
		read_text(m, slice_of(in->p, (size_t)(in->end - in->p)), sink);
	input_close(in);
	return load != OVNI_LOAD_MISSING;
}

/* ---- layout ---- */

/*
 * Layouts 1 and 2, which libovni wrote before 1.11: loom, process and thread
 * are part of the path,
 *
 *   loom.NAME/proc.PID/metadata.json     version, app_id, rank, nranks, cpus
 *   loom.NAME/proc.PID/thread.TID.obs    the events; without .obs in 1.0.0
 *   loom.NAME/proc.PID/thread.TID.json   layout 2 only: require, finished, lib, mark
 *
 * The bytes of the events are those of today.
 */

/* A positive number behind the prefix, up to `end` (excluded) or something else. */
static int64_t number_behind(const char *p, const char *end, const char *prefix)
{
	const size_t n = strlen(prefix);
	int64_t v = 0;

	if ((size_t)(end - p) <= n || memcmp(p, prefix, n) != 0)
		return -1;
	for (p += n; p < end && *p >= '0' && *p <= '9'; p++)
		if ((v = v * 10 + (*p - '0')) > INT32_MAX)
			return -1;
	return v > 0 && (p == end || *p == '.') ? v : -1;
}

/* Where the last part of a path begins; `end` is behind it. */
static const char *part_of(const char *path, const char *end)
{
	while (end > path && end[-1] != '/')
		end--;
	return end;
}

/* proc.PID, and loom.NAME above it. */
static void read_path(struct ovni_metadata *m)
{
	const char *const path = m->r->in->path, *const name = path + m->folder;
	const char *const proc_end = m->folder > 0 ? name - 1 : path, *const proc = part_of(path, proc_end);
	const char *const loom_end = proc > path ? proc - 1 : path, *const loom = part_of(path, loom_end);
	const size_t n = (size_t)(loom_end - loom);
	char text[256];

	m->thread.tid = number_behind(name, name + strlen(name), "thread.");
	m->thread.pid = number_behind(proc, proc_end, "proc.");
	if (m->thread.tid < 0 || m->thread.pid < 0)
		ovni_report(m->r, m->r->folder > 0 ? OVNI_RULE_NO_THREAD : OVNI_RULE_NO_METADATA,
		            "the path does not end in proc.PID/thread.TID");
	if (n <= 5 || memcmp(loom, "loom.", 5) != 0 || n >= sizeof text)
		return;
	snprintf(text, sizeof text, "%.*s", (int)(n - 5), loom + 5);
	m->thread.loom = ovni_system_text(m->system, m->r, text);
}

static void add_thread(struct ovni_metadata *m)
{
	m->loom = ovni_system_add_thread(m->system, m->r, &m->thread, m->stream);
	m->merged = true;
}

static void ovni_read_app(struct ovni_metadata *m, const cJSON *o);

/* metadata.json of the process. */
static void read_process(struct ovni_metadata *m, const cJSON *root)
{
	const cJSON *const version = ovni_json_get(root, "version"), *const cpus =
	                                                                 ovni_json_get(root, "cpus");

	if (cJSON_IsNumber(version) && version->valuedouble >= 1 && version->valuedouble <= 2)
		m->version = version->valuedouble;
	else
		ovni_report(m->r, OVNI_RULE_METADATA_VERSION, "the version of metadata.json is not 1 or 2");
	ovni_read_app(m, root);
	add_thread(m);
	if (cpus != NULL)
		ovni_read_cpus(m, cpus);
}

static void ovni_read_lib(struct ovni_metadata *m, const cJSON *ovni);

/* thread.TID.json; what it lacks was no error in its time. */
static void read_thread(struct ovni_metadata *m, const cJSON *root)
{
	const cJSON *const ovni = ovni_json_get(root, "ovni"), *const mark = ovni_json_get(ovni, "mark");
	const cJSON *const require = ovni_json_get(ovni, "require");

	if (!ovni_json_is(ovni_json_get(root, "version"), 2))
		ovni_report(m->r, OVNI_RULE_METADATA_VERSION, "the version of %s is not 2", m->file);
	if (!ovni_json_is(ovni_json_get(ovni, "finished"), 1))
		ovni_report(m->r, OVNI_RULE_OLD_UNFINISHED, "ovni.finished of %s is not 1", m->file);
	if (require == NULL)
		ovni_report(m->r, OVNI_RULE_OLD_UNFINISHED, "%s has no ovni.require", m->file);
	if (cJSON_IsObject(require))
		ovni_read_require(m, require);
	ovni_read_lib(m, ovni);
	if (mark != NULL)
		ovni_read_marks(m, mark);
}

void ovni_read_old(struct ovni_metadata *m)
{
	char name[40];

	read_path(m);
	if (m->r->folder == 0)
		ovni_report(m->r, OVNI_RULE_OLD_LAYOUT,
		            "a stream named thread.TID has metadata version 1 or 2");
	m->prefix = "";
	if (!ovni_json_read(m, "metadata.json", read_process))
		ovni_report(m->r, m->r->folder > 0 ? OVNI_RULE_METADATA_MISSING : OVNI_RULE_NO_METADATA,
		            "there is no metadata.json in the folder of the stream");
	if (!m->merged)
		add_thread(m);
	m->prefix = "ovni.";
	if (m->thread.tid < 0)
		return;
	snprintf(name, sizeof name, "thread.%" PRId64 ".json", m->thread.tid);
	if (!ovni_json_read(m, name, read_thread) && m->version > 1)
		ovni_report(m->r, OVNI_RULE_OLD_UNFINISHED, "there is no %s in the folder of the stream",
		            name);
	m->file = NULL; /* it was this buffer */
}

/* ---- metadata ---- */

/* stream.json ("Stream metadata"). */

/* Objects of models; their other keys are not specified. */
static void check_models(struct ovni_metadata *m, const cJSON *root)
{
	const cJSON *const nosv = ovni_json_get(root, "nosv");
	const cJSON *const breakdown = ovni_json_get(nosv, "can_breakdown");
	const cJSON *const version = ovni_json_get(nosv, "lib_version");

	if (nosv != NULL && !cJSON_IsObject(nosv))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "nosv is not an object");
	if (breakdown != NULL && !cJSON_IsBool(breakdown))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "nosv.can_breakdown is not a boolean");
	if (version != NULL && !cJSON_IsString(version))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "nosv.lib_version is not a string");
}

/* ---- the object "ovni" ---- */

static void check_version(struct ovni_metadata *m, const cJSON *version)
{
	if (!cJSON_IsNumber(version))
		ovni_report(m->r, OVNI_RULE_METADATA_VERSION,
		            version == NULL ? "the version is missing, expected 3"
		                            : "the version is not a number, expected 3");
	else if (!ovni_json_is(version, 3))
		ovni_report(m->r, OVNI_RULE_METADATA_VERSION, "version %.17g, expected 3",
		            version->valuedouble);
}

/* ovniemu refuses such a stream at its first event. */
static void report_part(struct ovni_metadata *m, const char *part)
{
	struct quoted q;

	if (input_need(m->r->in, OVNI_HEADER_SIZE + 1))
		ovni_report_refused(m->r, OVNI_RULE_UNKNOWN_PART, "ovni.part is %s",
		                    quoted(&q, slice_str(part)));
	else
		ovni_report(m->r, OVNI_RULE_UNKNOWN_PART, "ovni.part is %s, and the stream has no events",
		            quoted(&q, slice_str(part)));
}

/* Keys of every stream. */
static void check_stream(struct ovni_metadata *m, const cJSON *root, const cJSON *ovni)
{
	const cJSON *const require = ovni_json_get(ovni, "require");
	const cJSON *const finished = ovni_json_get(ovni, "finished");
	const char *const part = ovni_json_text(m, ovni, "part");

	if (ovni != NULL && !cJSON_IsObject(ovni))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "ovni is not an object");
	check_version(m, ovni_json_get(root, "version"));
	if (ovni_json_get(ovni, "part") == NULL)
		ovni_report(m->r, OVNI_RULE_NO_PART, "stream.json has no ovni.part");
	else if (part != NULL && strcmp(part, "thread") != 0)
		report_part(m, part);
	if (finished == NULL)
		ovni_report(m->r, OVNI_RULE_NOT_FINISHED, "stream.json has no ovni.finished");
	else if (!ovni_json_is(finished, 1))
		ovni_report(m->r, OVNI_RULE_NOT_FINISHED, "ovni.finished is not the number 1");
	if (require == NULL)
		ovni_report(m->r, OVNI_RULE_NO_REQUIRE, "stream.json has no ovni.require");
	else if (!cJSON_IsObject(require))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "ovni.require is not an object");
	else
		ovni_read_require(m, require);
}

static void ovni_read_lib(struct ovni_metadata *m, const cJSON *ovni)
{
	struct ovni_system *const s = m->system;
	const cJSON *const lib = ovni_json_get(ovni, "lib");
	const char *const version = cJSON_GetStringValue(ovni_json_get(lib, "version"));
	const char *const commit = cJSON_GetStringValue(ovni_json_get(lib, "commit"));
	char both[200];
	struct quoted q, q2;

	if (version == NULL || commit == NULL) {
		ovni_report_refused(m->r, OVNI_RULE_NO_LIB, "%s has no ovni.lib.%s", m->file,
		                    version == NULL ? "version" : "commit");
		return;
	}
	snprintf(both, sizeof both, "%s %s", version, commit);
	if (s->lib.p == NULL) {
		const struct slice text = textscan_slice(both, (uint32_t)strlen(both));
		s->lib = ovni_system_text(s, m->r, both);
		s->no_memory |= !trace_add_meta(m->r->trace, SLICE_LIT("libovni"), value_string(text));
	} else if (!slice_is(s->lib, both)) {
		ovni_report(m->r, OVNI_RULE_LIB_MIXED, "library %s, other streams have %s",
		            quoted(&q, slice_str(both)), quoted(&q2, s->lib));
	}
}

/* The numbers of a rank that are given, or -1 both. */
static void read_rank(struct ovni_metadata *m, const cJSON *o)
{
	struct ovni_thread *const t = &m->thread;
	const bool rank = ovni_json_get(o, "rank") != NULL, nranks = ovni_json_get(o, "nranks") != NULL;

	t->rank = ovni_json_integer(m, o, "rank");
	t->nranks = ovni_json_integer(m, o, "nranks");
	if (nranks && !rank)
		ovni_report(m->r, OVNI_RULE_NRANKS_ALONE, "%snranks without %srank", m->prefix, m->prefix);
	else if (rank && !nranks)
		ovni_report(m->r, OVNI_RULE_BAD_RANK, "%srank without %snranks", m->prefix, m->prefix);
	else if (t->rank != OVNI_NO_INTEGER && t->nranks != OVNI_NO_INTEGER && rank &&
	         (t->rank < 0 || t->rank >= t->nranks))
		ovni_report(m->r, OVNI_RULE_BAD_RANK, "rank %" PRId64 " is out of range: nranks is %" PRId64,
		            t->rank, t->nranks);
	else if (t->rank >= 0 && t->nranks >= 0)
		return;
	t->rank = t->nranks = -1;
}

/* Parts that older files have too. */
static void ovni_read_app(struct ovni_metadata *m, const cJSON *o)
{
	struct ovni_thread *const t = &m->thread;

	t->app_id = ovni_json_integer(m, o, "app_id");
	if (ovni_json_get(o, "app_id") != NULL && t->app_id <= 0) {
		if (t->app_id != OVNI_NO_INTEGER)
			ovni_report_refused(m->r, OVNI_RULE_APP_ID,
			                    "%sapp_id is %" PRId64 ", expected a positive number", m->prefix,
			                    t->app_id);
		t->app_id = -1;
	}
	read_rank(m, o);
}

static void check_id(struct ovni_metadata *m, const cJSON *ovni, const char *key, int64_t *id)
{
	if (*id != OVNI_NO_INTEGER && *id <= 0)
		ovni_report(m->r, OVNI_RULE_NO_THREAD,
		            ovni_json_get(ovni, key) == NULL ? "ovni.%s is missing"
		                                             : "ovni.%s is not a positive integer",
		            key);
	if (*id <= 0)
		*id = -1;
}

static void read_thread_metadata(struct ovni_metadata *m, const cJSON *ovni)
{
	const char *const loom = ovni_json_text(m, ovni, "loom");
	struct ovni_thread *const t = &m->thread;
	struct quoted q;

	t->tid = ovni_json_integer(m, ovni, "tid");
	t->pid = ovni_json_integer(m, ovni, "pid");
	check_id(m, ovni, "tid", &t->tid);
	check_id(m, ovni, "pid", &t->pid);
	ovni_read_app(m, ovni);
	if (loom == NULL)
		return;
	if (strchr(loom, '/') != NULL || strlen(loom) >= 4096)
		ovni_report_refused(m->r, OVNI_RULE_LOOM_NAME, "ovni.loom is %s, %zu bytes",
		                    quoted(&q, slice_str(loom)), strlen(loom));
	t->loom = ovni_system_text(m->system, m->r, loom);
}

/* tracetool names processes and threads of other formats in a model of its own. */
static struct slice read_name(const cJSON *names, const char *key)
{
	const char *const s = cJSON_GetStringValue(ovni_json_get(names, key));

	if (s == NULL || *s == '\0')
		return (struct slice){ NULL, 0, 0 };
	return textscan_slice(s, (uint32_t)strlen(s));
}

static void count_breakdown(struct ovni_metadata *m, const cJSON *can)
{
	struct ovni_threads *const t =
	    cJSON_IsBool(can) ? &m->system->breakdown_off : &m->system->breakdown_lacks;

	if (cJSON_IsTrue(can))
		return;
	if (t->n++ == 0) {
		t->pid = m->thread.pid;
		t->tid = m->thread.tid;
	}
}

void ovni_read_stream(struct ovni_metadata *m, const cJSON *root)
{
	const cJSON *const ovni = ovni_json_get(root, "ovni");
	const cJSON *const cpus = ovni_json_get(ovni, "loom_cpus");
	const cJSON *const marks = ovni_json_get(ovni, "mark");
	const cJSON *const counters = ovni_json_get(ovni_json_get(root, "nosv"), "hwc");

	check_models(m, root);
	check_stream(m, root, ovni);
	ovni_read_lib(m, ovni);
	read_thread_metadata(m, ovni);
	m->thread.process_name = read_name(ovni_json_get(root, "tracetool"), "process");
	m->thread.name = read_name(ovni_json_get(root, "tracetool"), "thread");
	m->loom = ovni_system_add_thread(m->system, m->r, &m->thread, m->stream);
	count_breakdown(m, ovni_json_get(ovni_json_get(root, "nosv"), "can_breakdown"));
	if (cpus != NULL)
		ovni_read_cpus(m, cpus);
	if (marks != NULL)
		ovni_read_marks(m, marks);
	if (counters != NULL)
		ovni_read_counters(m, counters);
}

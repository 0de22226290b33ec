#include <cJSON.h>

#include "ovni/metadata.h"

/* stream.json ("Stream metadata"). */

/* Objects of models; their other keys are not specified. */
static void
check_models(struct ovni_metadata *m, const cJSON *root)
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

static void
check_version(struct ovni_metadata *m, const cJSON *version)
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
static void
report_part(struct ovni_metadata *m, const char *part)
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
static void
check_stream(struct ovni_metadata *m, const cJSON *root, const cJSON *ovni)
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

void
ovni_read_lib(struct ovni_metadata *m, const cJSON *ovni)
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
static void
read_rank(struct ovni_metadata *m, const cJSON *o)
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

void
ovni_read_app(struct ovni_metadata *m, const cJSON *o)
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

static void
check_id(struct ovni_metadata *m, const cJSON *ovni, const char *key, int64_t *id)
{
	if (*id != OVNI_NO_INTEGER && *id <= 0)
		ovni_report(m->r, OVNI_RULE_NO_THREAD,
		            ovni_json_get(ovni, key) == NULL ? "ovni.%s is missing"
		                                             : "ovni.%s is not a positive integer",
		            key);
	if (*id <= 0)
		*id = -1;
}

static void
read_thread(struct ovni_metadata *m, const cJSON *ovni)
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
static struct slice
read_name(const cJSON *names, const char *key)
{
	const char *const s = cJSON_GetStringValue(ovni_json_get(names, key));

	if (s == NULL || *s == '\0')
		return (struct slice){ NULL, 0, 0 };
	return textscan_slice(s, (uint32_t)strlen(s));
}

static void
count_breakdown(struct ovni_metadata *m, const cJSON *can)
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

void
ovni_read_stream(struct ovni_metadata *m, const cJSON *root)
{
	const cJSON *const ovni = ovni_json_get(root, "ovni");
	const cJSON *const cpus = ovni_json_get(ovni, "loom_cpus");
	const cJSON *const marks = ovni_json_get(ovni, "mark");
	const cJSON *const counters = ovni_json_get(ovni_json_get(root, "nosv"), "hwc");

	check_models(m, root);
	check_stream(m, root, ovni);
	ovni_read_lib(m, ovni);
	read_thread(m, ovni);
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

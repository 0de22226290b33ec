/*
 * The metadata of a stream: stream.json ("Stream metadata"), or the files of layouts 1 and 2.  Values are
 * checked and merged into the system of the trace; values that differ between streams are reported in the
 * stream that is read later.  A value of the wrong type is reported and then treated as missing.
 */
#include "ovni/ovni.h"

#include <cJSON.h>
#include <errno.h>
#include <stdlib.h>

/* ---- required models ---- */

/*
 * ovni.require: the models of a stream, and the version of each.  ovniemu requires the major number that it
 * knows and a minor number that is not greater, so versions are checked in the group "state" only.
 */

/* Models of ovni 1.14. */
static const struct {
	const char *name;
	unsigned major, minor;
} models[] = {
	{ "ovni", 1, 1 },   { "nanos6", 1, 1 }, { "nosv", 2, 7 },  { "nodes", 1, 0 },
	{ "openmp", 1, 2 }, { "mpi", 1, 0 },    { "tampi", 1, 0 }, { "kernel", 1, 0 },
};

/* Reads a number of up to nine digits, and moves *s after it. */
static bool read_number(const char **s, unsigned *v)
{
	const size_t n = strspn(*s, "0123456789");

	*v = 0;
	for (size_t i = 0; i < n && n <= 9; i++)
		*v = *v * 10 + (unsigned)((*s)[i] - '0');
	*s += n;
	return n > 0 && n <= 9;
}

/* MAJOR.MINOR.PATCH, with an optional suffix -WORDS. */
static bool parse_version(const char *s, unsigned *major, unsigned *minor)
{
	unsigned patch;

	if (!read_number(&s, major) || *s++ != '.' || !read_number(&s, minor) || *s++ != '.')
		return false;
	return read_number(&s, &patch) && (*s == '\0' || *s == '-');
}

static void check_model_version(struct ovni_metadata *m, const cJSON *model)
{
	const char *const s = cJSON_GetStringValue(model);
	unsigned major, minor;
	struct quoted q;

	for (size_t i = 0; i < sizeof models / sizeof models[0] && s != NULL; i++) {
		if (strcmp(model->string, models[i].name) != 0)
			continue;
		if (!parse_version(s, &major, &minor))
			ovni_report(m->r, OVNI_RULE_REQUIRE_VERSION,
			            "model %s: version %s is not MAJOR.MINOR.PATCH", models[i].name,
			            quoted(&q, slice_str(s)));
		else if (major != models[i].major || minor > models[i].minor)
			ovni_report(m->r, OVNI_RULE_MODEL_VERSION,
			            "model %s: version %s is required, supported are %u.0 to %u.%u",
			            models[i].name, quoted(&q, slice_str(s)), models[i].major,
			            models[i].major, models[i].minor);
	}
}

static void read_require(struct ovni_metadata *m, const cJSON *require)
{
	const cJSON *model;
	struct quoted q;

	cJSON_ArrayForEach(model, require)
	{
		if (!cJSON_IsString(model))
			ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "ovni.require.%s is not a string",
			            quoted(&q, slice_str(model->string)));
		if (m->check_versions)
			check_model_version(m, model);
		ovni_system_require(m->system, m->r, model->string);
	}
}

/* ---- CPUs ---- */

static bool get_cpu_number(const cJSON *cpu, const char *key, uint32_t *v)
{
	const cJSON *const n = ovni_json_get(cpu, key);

	if (!cJSON_IsNumber(n) || !(n->valuedouble >= 0 && n->valuedouble <= INT32_MAX))
		return false;
	*v = (uint32_t)n->valuedouble;
	return (double)*v >= n->valuedouble;
}

static void read_cpus(struct ovni_metadata *m, const cJSON *list)
{
	const cJSON *cpu;
	uint32_t index, phyid, n = 0;

	if (!cJSON_IsArray(list) || list->child == NULL) {
		ovni_report(m->r, OVNI_RULE_CPU_LIST, "%s is %s",
		            m->prefix[0] != '\0' ? "ovni.loom_cpus" : "cpus",
		            cJSON_IsArray(list) ? "empty" : "not an array");
		return;
	}
	cJSON_ArrayForEach(cpu, list)
	{
		if (!get_cpu_number(cpu, "index", &index) || !get_cpu_number(cpu, "phyid", &phyid))
			ovni_report(m->r, OVNI_RULE_CPU_LIST,
			            "ovni.loom_cpus[%" PRIu32
			            "] has no index and phyid that are non-negative integers",
			            n);
		else if (m->loom != TABLE_NONE)
			ovni_system_add_cpu(m->system, m->r, m->loom, index, phyid);
		n++;
	}
}

/* ---- marks ---- */

static bool parse_label_value(const char *s, int64_t *v)
{
	const bool negative = s[0] == '-';
	const char *const digits = s + negative;
	const size_t n = strlen(digits);
	char *end;

	if (n == 0 || n > 19 || strspn(digits, "0123456789") != n)
		return false;
	errno = 0;
	*v = strtoll(s, &end, 10);
	return errno == 0;
}

/* Sets *value to the key.  Returns false after reporting a label that is too long or no text. */
static bool check_label(struct ovni_metadata *m, uint32_t mark, const cJSON *label, int64_t *value)
{
	const char *const s = cJSON_GetStringValue(label);
	struct quoted q;

	if (s == NULL || !parse_label_value(label->string, value))
		ovni_report_refused(m->r, OVNI_RULE_BAD_MARK,
		                    "mark %" PRIu32
		                    ": the key of label %s is not an integer, or its value is not a string",
		                    mark, quoted(&q, slice_str(label->string)));
	else if (strlen(s) >= OVNI_MARK_TEXT)
		ovni_report_refused(m->r, OVNI_RULE_BAD_MARK,
		                    "mark %" PRIu32 ": label %" PRId64
		                    " has %zu bytes, expected less than %u",
		                    mark, *value, strlen(s), OVNI_MARK_TEXT);
	else
		return true;
	return false;
}

/* ovniemu writes 32 bits of a value, and refuses a second label for them. */
static void check_cut_label(struct ovni_metadata *m, struct ovni_label label)
{
	struct ovni_system *const s = m->system;
	char key[64];

	snprintf(key, sizeof key, "%" PRIu32 "=%" PRId32, label.mark, (int32_t)label.value);
	const uint32_t known = tabletext_get(&s->label_index, slice_str(key));
	const struct slice copy = known == TABLE_NONE ? ovni_system_text(s, m->r, key) : SLICE_NONE;
	if (known != TABLE_NONE)
		ovni_report_refused(m->r, OVNI_RULE_MARK_CONFLICT,
		                    "mark %" PRIu32 ": labels %" PRId64 " and %" PRId64
		                    " are one in the 32 bits that ovniemu reads",
		                    label.mark, s->labels[known].value, label.value);
	else
		s->no_memory |= copy.p == NULL || !tabletext_put(&s->label_index, copy, s->nlabels);
}

static void add_label(struct ovni_metadata *m, struct ovni_label label, const char *key, const char *text)
{
	struct ovni_system *const s = m->system;
	const struct slice copy = ovni_system_text(s, m->r, key);

	label.text = ovni_system_text(s, m->r, text);
	if (note_failure(&s->no_memory,
	                 copy.p == NULL || label.text.p == NULL ||
	                     !array_reserve(&s->labels, s->nlabels, &s->labels_cap, sizeof *s->labels) ||
	                     !tabletext_put(&s->label_index, copy, s->nlabels)))
		return;
	s->labels[s->nlabels++] = label;
	trace_define(m->r->trace, "mark-label", NULL, label.mark, (uint64_t)label.value,
	             value_string(label.text));
}

static void read_label(struct ovni_metadata *m, uint32_t mark, const cJSON *label)
{
	struct ovni_system *const s = m->system;
	const char *const text = cJSON_GetStringValue(label);
	struct ovni_label l = { .mark = mark };
	struct quoted q, q2;
	char key[64];

	if (!check_label(m, mark, label, &l.value))
		return;
	snprintf(key, sizeof key, "%" PRIu32 ":%" PRId64, mark, l.value);
	const uint32_t known = tabletext_get(&s->label_index, slice_str(key));
	if (known == TABLE_NONE && s->nlabels >= OVNI_MAX_LABELS)
		ovni_system_limit(s, m->r, "labels of marks", OVNI_MAX_LABELS);
	else if (known == TABLE_NONE) {
		if (ovni_group_is_selected(m->r->options, "state"))
			check_cut_label(m, l);
		add_label(m, l, key, text);
	} else if (!slice_is(s->labels[known].text, text))
		ovni_report_refused(m->r, OVNI_RULE_MARK_CONFLICT,
		                    "mark %s (type:value) is %s, but %s in another stream", key,
		                    quoted(&q, slice_str(text)), quoted(&q2, s->labels[known].text));
}

/* The title is the definition that vocabularies refer to. */
static void add_mark(struct ovni_metadata *m, uint32_t type, const char *title, const char *chan_type)
{
	struct ovni_mark *const mark = &m->system->marks[type];

	mark->title = ovni_system_text(m->system, m->r, title);
	mark->chan_type = ovni_system_text(m->system, m->r, chan_type);
	if (mark->title.p != NULL)
		trace_define(m->r->trace, "mark", NULL, type, 0, value_string(mark->title));
}

static void read_mark(struct ovni_metadata *m, uint32_t type, const cJSON *mark)
{
	const struct ovni_mark *const known = &m->system->marks[type];
	const char *const title = cJSON_GetStringValue(ovni_json_get(mark, "title"));
	const char *const chan = cJSON_GetStringValue(ovni_json_get(mark, "chan_type"));
	const cJSON *const labels = ovni_json_get(mark, "labels"), *label;

	if (title == NULL || strlen(title) >= OVNI_MARK_TEXT || chan == NULL ||
	    (strcmp(chan, "single") != 0 && strcmp(chan, "stack") != 0)) {
		ovni_report_refused(
		    m->r, OVNI_RULE_BAD_MARK,
		    "mark %" PRIu32
		    " lacks a title (less than 512 bytes) or a chan_type \"single\" or \"stack\"",
		    type);
		return;
	}
	if (labels != NULL && !cJSON_IsObject(labels))
		ovni_report_refused(m->r, OVNI_RULE_BAD_MARK, "mark %" PRIu32 ": labels is not an object",
		                    type);
	if (known->title.p == NULL)
		add_mark(m, type, title, chan);
	else if (!slice_is(known->title, title) || !slice_is(known->chan_type, chan))
		ovni_report_refused(
		    m->r, OVNI_RULE_MARK_CONFLICT,
		    "title or chan_type of mark %" PRIu32 " differs from that of another stream", type);
	if (cJSON_IsObject(labels))
		cJSON_ArrayForEach(label, labels) read_label(m, type, label);
}

static void read_marks(struct ovni_metadata *m, const cJSON *marks)
{
	const cJSON *mark;
	struct quoted q;

	if (!cJSON_IsObject(marks)) {
		ovni_report_refused(m->r, OVNI_RULE_BAD_MARK, "ovni.mark is not an object");
		return;
	}
	cJSON_ArrayForEach(mark, marks)
	{
		const char *const k = mark->string;
		const size_t n = strlen(k);
		if (n < 1 || n > 2 || strspn(k, "0123456789") != n || !cJSON_IsObject(mark))
			ovni_report_refused(
			    m->r, OVNI_RULE_BAD_MARK,
			    "mark type %s: the key is not 0 to 99, or the value is not an object",
			    quoted(&q, slice_str(k)));
		else
			read_mark(m, (uint32_t)strtoul(k, NULL, 10), mark);
	}
}

/* ---- hardware counters ---- */

/* ovniemu checks counters only if a stream requires nOS-V, which streams with counters do. */
PRINTF(2, 3) static void report_counters(struct ovni_metadata *m, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (ovni_system_requires(m->system, SLICE_LIT("nosv")))
		ovni_report_refused(m->r, OVNI_RULE_BAD_COUNTER, "%s", text);
	else
		ovni_report(m->r, OVNI_RULE_BAD_COUNTER, "%s", text);
}

static void read_counter(struct ovni_metadata *m, uint32_t i, const char *name)
{
	struct slice *const known = &m->system->counters[i];
	struct quoted q, q2;

	if (name == NULL) {
		report_counters(m, "nosv.hwc.%" PRIu32 " has no name", i);
	} else if (known->p == NULL) {
		*known = ovni_system_text(m->system, m->r, name);
		if (known->p != NULL)
			trace_define(m->r->trace, "counter", NULL, i, 0, value_string(*known));
	} else if (!slice_is(*known, name)) {
		report_counters(m, "nosv.hwc.%" PRIu32 " is %s, but %s in another stream", i,
		                quoted(&q, slice_str(name)), quoted(&q2, *known));
	}
}

static void read_counters(struct ovni_metadata *m, const cJSON *hwc)
{
	struct ovni_system *const s = m->system;
	const uint32_t n = (uint32_t)cJSON_GetArraySize(hwc);
	char key[16];

	if (!cJSON_IsObject(hwc)) {
		report_counters(m, "nosv.hwc is not an object");
		return;
	}
	if (n > OVNI_MAX_COUNTERS || (s->counters_seen && n != s->ncounters)) {
		report_counters(m, "nosv.hwc has %" PRIu32 " entries, expected %s%" PRIu32, n,
		                s->counters_seen ? "" : "at most ",
		                s->counters_seen ? s->ncounters : OVNI_MAX_COUNTERS);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		snprintf(key, sizeof key, "%" PRIu32, i);
		read_counter(m, i, cJSON_GetStringValue(ovni_json_get(ovni_json_get(hwc, key), "name")));
	}
	s->counters_seen = true;
	s->ncounters = n;
}

/* ---- stream.json ---- */

/* Checks the objects of models; their other keys are not specified. */
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

/* ovniemu refuses a stream of an unknown part at its first event. */
static void report_unknown_part(struct ovni_metadata *m, const char *part)
{
	struct quoted q;

	if (input_need(m->r->in, OVNI_HEADER_SIZE + 1))
		ovni_report_refused(m->r, OVNI_RULE_UNKNOWN_PART, "ovni.part is %s",
		                    quoted(&q, slice_str(part)));
	else
		ovni_report(m->r, OVNI_RULE_UNKNOWN_PART, "ovni.part is %s, and the stream has no events",
		            quoted(&q, slice_str(part)));
}

static void check_stream(struct ovni_metadata *m, const cJSON *root, const cJSON *ovni)
{
	const cJSON *const require = ovni_json_get(ovni, "require");
	const cJSON *const finished = ovni_json_get(ovni, "finished");
	const char *const part = ovni_json_string(m, ovni, "part");

	if (ovni != NULL && !cJSON_IsObject(ovni))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "ovni is not an object");
	check_version(m, ovni_json_get(root, "version"));
	if (ovni_json_get(ovni, "part") == NULL)
		ovni_report(m->r, OVNI_RULE_NO_PART, "stream.json has no ovni.part");
	else if (part != NULL && strcmp(part, "thread") != 0)
		report_unknown_part(m, part);
	if (finished == NULL)
		ovni_report(m->r, OVNI_RULE_NOT_FINISHED, "stream.json has no ovni.finished");
	else if (!cJSON_IsNumber(finished))
		ovni_report(m->r, OVNI_RULE_NOT_FINISHED, "ovni.finished is not the number 1");
	else if (!ovni_json_is(finished, 1))
		ovni_report(m->r, OVNI_RULE_NOT_FINISHED, "ovni.finished is %.17g, expected 1",
		            finished->valuedouble);
	if (require == NULL)
		ovni_report(m->r, OVNI_RULE_NO_REQUIRE, "stream.json has no ovni.require");
	else if (!cJSON_IsObject(require))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "ovni.require is not an object");
	else
		read_require(m, require);
}

static void read_lib(struct ovni_metadata *m, const cJSON *ovni)
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

/* Sets rank and nranks, or both to -1. */
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

/* Keys that are also in metadata.json of older layouts. */
static void read_app(struct ovni_metadata *m, const cJSON *o)
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

/* Reports a number that is not positive, and makes it -1. */
static void check_id(struct ovni_metadata *m, const cJSON *ovni, const char *key, int64_t *id)
{
	if (ovni_json_get(ovni, key) == NULL)
		ovni_report(m->r, OVNI_RULE_NO_THREAD, "ovni.%s is missing", key);
	else if (*id != OVNI_NO_INTEGER && *id <= 0)
		ovni_report(m->r, OVNI_RULE_NO_THREAD, "ovni.%s is %" PRId64 ", expected a positive number",
		            key, *id);
	if (*id <= 0)
		*id = -1;
}

static void read_thread_ids(struct ovni_metadata *m, const cJSON *ovni)
{
	const char *const loom = ovni_json_string(m, ovni, "loom");
	struct ovni_thread *const t = &m->thread;
	struct quoted q;

	t->tid = ovni_json_integer(m, ovni, "tid");
	t->pid = ovni_json_integer(m, ovni, "pid");
	check_id(m, ovni, "tid", &t->tid);
	check_id(m, ovni, "pid", &t->pid);
	read_app(m, ovni);
	if (loom == NULL)
		return;
	if (strchr(loom, '/') != NULL || strlen(loom) >= 4096)
		ovni_report_refused(m->r, OVNI_RULE_LOOM_NAME, "ovni.loom is %s, %zu bytes",
		                    quoted(&q, slice_str(loom)), strlen(loom));
	t->loom = ovni_system_text(m->system, m->r, loom);
}

/* tracetool's own object in streams made of other formats: names of processes and threads. */
static struct slice read_name(const cJSON *names, const char *key)
{
	const char *const s = cJSON_GetStringValue(ovni_json_get(names, key));

	if (s == NULL || *s == '\0')
		return SLICE_NONE;
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

static void add_thread(struct ovni_metadata *m)
{
	m->loom = ovni_system_add_thread(m->system, m->r, &m->thread, m->stream);
	m->merged = true;
}

static void read_stream_json(struct ovni_metadata *m, const cJSON *root)
{
	const cJSON *const ovni = ovni_json_get(root, "ovni");
	const cJSON *const cpus = ovni_json_get(ovni, "loom_cpus");
	const cJSON *const marks = ovni_json_get(ovni, "mark");
	const cJSON *const counters = ovni_json_get(ovni_json_get(root, "nosv"), "hwc");

	check_models(m, root);
	check_stream(m, root, ovni);
	read_lib(m, ovni);
	read_thread_ids(m, ovni);
	m->thread.process_name = read_name(ovni_json_get(root, "tracetool"), "process");
	m->thread.name = read_name(ovni_json_get(root, "tracetool"), "thread");
	add_thread(m);
	count_breakdown(m, ovni_json_get(ovni_json_get(root, "nosv"), "can_breakdown"));
	if (cpus != NULL)
		read_cpus(m, cpus);
	if (marks != NULL)
		read_marks(m, marks);
	if (counters != NULL)
		read_counters(m, counters);
}

static void report_missing(struct ovni_metadata *m, const char *name)
{
	ovni_report(m->r, m->r->folder > 0 ? OVNI_RULE_METADATA_MISSING : OVNI_RULE_NO_METADATA,
	            "there is no %s in the directory of the stream", name);
	m->system->lacks = true;
}

/* ---- layouts 1 and 2 ---- */

/*
 * Files of libovni before 1.11; loom, process and thread are part of the path:
 *
 *   loom.NAME/proc.PID/metadata.json     version, app_id, rank, nranks, cpus
 *   loom.NAME/proc.PID/thread.TID.obs    the events; without .obs in 1.0.0
 *   loom.NAME/proc.PID/thread.TID.json   layout 2 only: require, finished, lib, mark
 *
 * The bytes of the events are the same as today.
 */

/* Returns the positive number after the prefix, up to `end` or a dot; -1: none. */
static int64_t number_after(const char *p, const char *end, const char *prefix)
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

/* Reads proc.PID, and loom.NAME above it. */
static void read_path(struct ovni_metadata *m)
{
	const char *const path = m->r->in->path, *const name = path + m->folder;
	const char *const proc_end = m->folder > 0 ? name - 1 : path;
	const char *const proc = path + ovni_folder_length(slice_of(path, (size_t)(proc_end - path)));
	const char *const loom_end = proc > path ? proc - 1 : path;
	const char *const loom = path + ovni_folder_length(slice_of(path, (size_t)(loom_end - path)));
	const size_t n = (size_t)(loom_end - loom);
	char text[256];

	m->thread.tid = number_after(name, name + strlen(name), "thread.");
	m->thread.pid = number_after(proc, proc_end, "proc.");
	if (m->thread.tid < 0 || m->thread.pid < 0)
		ovni_report(m->r, m->r->folder > 0 ? OVNI_RULE_NO_THREAD : OVNI_RULE_NO_METADATA,
		            "the path does not end in proc.PID/thread.TID");
	if (n <= 5 || memcmp(loom, "loom.", 5) != 0 || n >= sizeof text)
		return;
	snprintf(text, sizeof text, "%.*s", (int)(n - 5), loom + 5);
	m->thread.loom = ovni_system_text(m->system, m->r, text);
}

static void read_metadata_json(struct ovni_metadata *m, const cJSON *root)
{
	const cJSON *const version = ovni_json_get(root, "version");
	const cJSON *const cpus = ovni_json_get(root, "cpus");

	if (ovni_json_is(version, 1) || ovni_json_is(version, 2))
		m->version = version->valuedouble;
	else if (cJSON_IsNumber(version))
		ovni_report(m->r, OVNI_RULE_METADATA_VERSION,
		            "the version of metadata.json is %.17g, expected 1 or 2", version->valuedouble);
	else
		ovni_report(m->r, OVNI_RULE_METADATA_VERSION, "the version of metadata.json is not 1 or 2");
	read_app(m, root);
	add_thread(m);
	if (cpus != NULL)
		read_cpus(m, cpus);
}

/* Reads thread.TID.json; missing values are no errors in this layout. */
static void read_thread_json(struct ovni_metadata *m, const cJSON *root)
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
		read_require(m, require);
	read_lib(m, ovni);
	if (mark != NULL)
		read_marks(m, mark);
}

static void read_old_layout(struct ovni_metadata *m)
{
	char name[40];

	read_path(m);
	if (m->r->folder == 0)
		ovni_report(m->r, OVNI_RULE_OLD_LAYOUT,
		            "a stream named thread.TID has metadata version 1 or 2");
	m->prefix = "";
	if (!ovni_json_read(m, "metadata.json", read_metadata_json))
		report_missing(m, "metadata.json");
	if (!m->merged)
		add_thread(m);
	m->prefix = "ovni.";
	if (m->thread.tid < 0)
		return;
	snprintf(name, sizeof name, "thread.%" PRId64 ".json", m->thread.tid);
	if (!ovni_json_read(m, name, read_thread_json) && m->version > 1)
		ovni_report(m->r, OVNI_RULE_OLD_UNFINISHED, "there is no %s in the directory of the stream",
		            name);
	m->file = NULL; /* pointed to this buffer */
}

/* ---- the files of a stream ---- */

void ovni_metadata_read(struct ovni_metadata *m)
{
	const char *const path = m->r->in->path != NULL ? m->r->in->path : "-";
	const char *const name = path_name(path);

	m->system->in_folder |= m->r->folder > 0;
	m->thread = (struct ovni_thread){ .pid = -1, .tid = -1, .app_id = -1, .rank = -1, .nranks = -1 };
	m->loom = TABLE_NONE;
	m->folder = (size_t)(name - path);
	m->prefix = "ovni.";
	if (strncmp(name, "thread.", 7) == 0)
		read_old_layout(m);
	else if (strncmp(name, "stream.obs", 10) != 0)
		ovni_report(m->r, OVNI_RULE_NO_METADATA, "the stream is not named stream.obs");
	else if (!ovni_json_read(m, OVNI_METADATA_FILE, read_stream_json))
		report_missing(m, OVNI_METADATA_FILE);
	if (m->stream->track == NULL)
		ovni_system_add_unknown(m->system, m->r, m->stream);
}

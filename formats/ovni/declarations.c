#include <cJSON.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ovni/ovni.h"

/* ---- rules ---- */

const struct rule ovni_rules[OVNI_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "ovni/rules.def"
#undef RULE
	{ .id = NULL }
};

/* The same rows, as errors: for what ovniemu refuses and the specification does not. */
static const struct rule refused[OVNI_RULE_COUNT] = {
#define ERROR_ROW(name, id, level, text, spec, explain) RULE_ROW(name, id, ERROR, text, spec, explain)
#define RULE ERROR_ROW
#include "ovni/rules.def"
#undef RULE
#undef ERROR_ROW
};

bool ovni_group_selected(const struct option_value *list, const char *group)
{
	for (; list != NULL; list = list->next)
		if (strcmp(list->name, "check") == 0 && strcmp(list->value, group) == 0)
			return true;
	return false;
}

void ovni_report_refused(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
{
	const bool strict = ovni_group_selected(r->options, "state");
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(r->findings, strict ? &refused[rule] : &ovni_rules[rule], 0, 0, fmt, ap);
	va_end(ap);
}

void ovni_report(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(r->findings, &ovni_rules[rule], 0, 0, fmt, ap);
	va_end(ap);
}

/* ---- require ---- */

/*
 * ovni.require: which models a stream uses, and the version of each.  ovniemu
 * requires the major number that it knows and a minor number that is not
 * greater, so versions are checked in the group "state" only.
 */

/* What ovni 1.14 knows. */
static const struct {
	const char *name;
	unsigned major, minor;
} models[] = {
	{ "ovni", 1, 1 },   { "nanos6", 1, 1 }, { "nosv", 2, 7 },  { "nodes", 1, 0 },
	{ "openmp", 1, 2 }, { "mpi", 1, 0 },    { "tampi", 1, 0 }, { "kernel", 1, 0 },
};

/* A number of up to nine digits and what stands behind it. */
static bool take_number(const char **s, unsigned *v)
{
	const size_t n = strspn(*s, "0123456789");

	*v = 0;
	for (size_t i = 0; i < n && n <= 9; i++)
		*v = *v * 10 + (unsigned)((*s)[i] - '0');
	*s += n;
	return n > 0 && n <= 9;
}

/* MAJOR.MINOR.PATCH, and perhaps -WORDS. */
static bool take_version(const char *s, unsigned *major, unsigned *minor)
{
	unsigned patch;

	if (!take_number(&s, major) || *s++ != '.' || !take_number(&s, minor) || *s++ != '.')
		return false;
	return take_number(&s, &patch) && (*s == '\0' || *s == '-');
}

static void check_version(struct ovni_metadata *m, const cJSON *model)
{
	const char *const s = cJSON_GetStringValue(model);
	unsigned major, minor;
	struct quoted q;

	for (size_t i = 0; i < sizeof models / sizeof models[0] && s != NULL; i++) {
		if (strcmp(model->string, models[i].name) != 0)
			continue;
		if (!take_version(s, &major, &minor))
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

void ovni_read_require(struct ovni_metadata *m, const cJSON *require)
{
	const cJSON *model;
	struct quoted q;

	cJSON_ArrayForEach(model, require)
	{
		if (!cJSON_IsString(model))
			ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "ovni.require.%s is not a string",
			            quoted(&q, slice_str(model->string)));
		if (m->check_versions)
			check_version(m, model);
		ovni_system_require(m->system, m->r, model->string);
	}
}

/* ---- sidecar ---- */

/* The files of metadata that belong to a stream. */

void ovni_metadata_read(struct ovni_metadata *m)
{
	const char *const path = m->r->in->path != NULL ? m->r->in->path : "-";
	const char *const slash = strrchr(path, '/'), *const name = slash != NULL ? slash + 1 : path;

	m->system->in_folder |= m->r->folder > 0;
	m->thread = (struct ovni_thread){ .pid = -1, .tid = -1, .app_id = -1, .rank = -1, .nranks = -1 };
	m->loom = TABLE_NONE;
	m->folder = (size_t)(name - path);
	m->prefix = "ovni.";
	if (strncmp(name, "thread.", 7) == 0)
		ovni_read_old(m);
	else if (strncmp(name, "stream.obs", 10) != 0)
		ovni_report(m->r, OVNI_RULE_NO_METADATA, "the stream is not named stream.obs");
	else if (!ovni_json_read(m, "stream.json", ovni_read_stream))
		ovni_report(m->r, m->r->folder > 0 ? OVNI_RULE_METADATA_MISSING : OVNI_RULE_NO_METADATA,
		            "there is no stream.json in the folder of the stream");
	if (m->stream->track == NULL)
		ovni_system_add_unknown(m->system, m->r, m->stream);
}

static bool exists(const struct reader *r, const char *path, const char *name)
{
	struct input *const in = ovni_open_beside(r, path, name);
	const bool found = in == NULL || in->fault != INPUT_MISSING;

	input_close(in);
	return found;
}

/* Whether an object is metadata of a process as libovni before 1.11 wrote it. */
static bool is_old_metadata(const cJSON *root)
{
	static const char *const keys[] = { "app_id", "rank", "nranks", "cpus", "model_version" };
	const cJSON *const version = ovni_json_get(root, "version");
	bool own = false;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		own |= ovni_json_get(root, keys[i]) != NULL;
	return own && (ovni_json_is(version, 1) || ovni_json_is(version, 2));
}

/* The file's JSON; NULL: none, or it cannot be read, which was reported. */
static cJSON *load_sidecar(struct reader *r, const char *name)
{
	struct input *const in = ovni_open_beside(r, r->findings->path, name);
	cJSON *root = NULL;
	size_t place;

	if (in != NULL && ovni_load(r, in, name, OVNI_MAX_JSON) == OVNI_LOAD_WHOLE &&
	    ovni_json_fault(in->p, (size_t)(in->end - in->p), &place) == NULL)
		root = cJSON_ParseWithLength(in->p, (size_t)(in->end - in->p));
	input_close(in);
	return root;
}

/* stream.json needs a stream.obs; metadata.json is of the old layouts.  Both names are common, so only the
 * keys of ovni tell that a file is meant. */
void ovni_check_sidecar(struct reader *r)
{
	const char *const path = r->findings->path, *const slash = strrchr(path, '/');
	const char *const name = slash != NULL ? slash + 1 : path;
	const bool is_stream = strcmp(name, "stream.json") == 0;

	if (is_stream && (exists(r, path, "stream.obs") || exists(r, path, "stream.obs.gz") ||
	                  exists(r, path, "stream.obs.zst") || exists(r, path, "stream.obs.xz")))
		return; /* it is read with that */
	cJSON *const root = load_sidecar(r, name);
	if (is_stream && cJSON_IsObject(ovni_json_get(root, "ovni")))
		ovni_report(r, OVNI_RULE_EVENTS_MISSING, "there is no stream.obs in its folder");
	else if (!is_stream && is_old_metadata(root))
		ovni_report(r, OVNI_RULE_OLD_LAYOUT, "metadata.json has metadata version 1 or 2");
	cJSON_Delete(root);
}

/* ---- declarations ---- */

/* CPUs, marks and hardware counters that metadata declares. */

/* ---- CPUs ---- */

static bool cpu_number(const cJSON *cpu, const char *key, uint32_t *v)
{
	const cJSON *const n = ovni_json_get(cpu, key);

	if (!cJSON_IsNumber(n) || !(n->valuedouble >= 0 && n->valuedouble <= INT32_MAX))
		return false;
	*v = (uint32_t)n->valuedouble;
	return (double)*v >= n->valuedouble;
}

void ovni_read_cpus(struct ovni_metadata *m, const cJSON *list)
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
		if (!cpu_number(cpu, "index", &index) || !cpu_number(cpu, "phyid", &phyid))
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

/* The text of a 64-bit integer. */
static bool label_value(const char *s, int64_t *v)
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

/* false: the text is too long or none. */
static bool has_label(struct ovni_metadata *m, uint32_t mark, const cJSON *label, int64_t *value)
{
	const char *const s = cJSON_GetStringValue(label);
	struct quoted q;

	if (s == NULL || !label_value(label->string, value))
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

static void add_label(struct ovni_metadata *m, struct ovni_label label, const char *key, const char *text)
{
	struct ovni_system *const s = m->system;
	const struct slice copy = ovni_system_text(s, m->r, key);

	label.text = ovni_system_text(s, m->r, text);
	if (copy.p == NULL || label.text.p == NULL ||
	    !array_room(&s->labels, s->nlabels, &s->labels_cap, sizeof *s->labels) ||
	    !tabletext_put(&s->label_index, copy, s->nlabels)) {
		s->no_memory = true;
		return;
	}
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

	if (!has_label(m, mark, label, &l.value))
		return;
	snprintf(key, sizeof key, "%" PRIu32 ":%" PRId64, mark, l.value);
	const uint32_t known = tabletext_get(&s->label_index, slice_str(key));
	if (known == TABLE_NONE && s->nlabels >= OVNI_MAX_LABELS)
		ovni_system_limit(s, m->r, "labels of marks", OVNI_MAX_LABELS);
	else if (known == TABLE_NONE)
		add_label(m, l, key, text);
	else if (!slice_is(s->labels[known].text, text))
		ovni_report_refused(m->r, OVNI_RULE_MARK_CONFLICT,
		                    "mark %s (type:value) is %s, but %s in another stream", key,
		                    quoted(&q, slice_str(text)), quoted(&q2, s->labels[known].text));
}

/* The title is the definition that vocabularies look up. */
static void add_mark(struct ovni_metadata *m, uint32_t type, const char *title, const char *chan_type)
{
	struct ovni_mark *const mark = &m->system->marks[type];

	mark->title = ovni_system_text(m->system, m->r, title);
	mark->chan_type = ovni_system_text(m->system, m->r, chan_type);
	m->system->no_memory |= mark->title.p == NULL;
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

void ovni_read_marks(struct ovni_metadata *m, const cJSON *marks)
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

/* ---- counters ---- */

/* M28: ovniemu looks at them only if a stream requires nOS-V, as those that declare some do. */
__attribute__((format(printf, 2, 3))) static void report_counters(struct ovni_metadata *m, const char *fmt,
                                                                  ...)
{
	char text[400];
	bool on = false;
	va_list ap;

	for (uint32_t i = 0; i < m->system->nrequired; i++)
		on |= slice_is(m->system->required[i], "nosv");
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (on)
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
		m->system->no_memory |= known->p == NULL;
		if (known->p != NULL)
			trace_define(m->r->trace, "counter", NULL, i, 0, value_string(*known));
	} else if (!slice_is(*known, name)) {
		report_counters(m, "nosv.hwc.%" PRIu32 " is %s, but %s in another stream", i,
		                quoted(&q, slice_str(name)), quoted(&q2, *known));
	}
}

void ovni_read_counters(struct ovni_metadata *m, const cJSON *hwc)
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

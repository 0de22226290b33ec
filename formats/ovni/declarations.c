#include <cJSON.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>

#include "ovni/metadata.h"

/* CPUs, marks and hardware counters that metadata declares. */

/* ---- CPUs ---- */

static bool
cpu_number(const cJSON *cpu, const char *key, uint32_t *v)
{
	const cJSON *const n = ovni_json_get(cpu, key);

	if (!cJSON_IsNumber(n) || !(n->valuedouble >= 0 && n->valuedouble <= INT32_MAX))
		return false;
	*v = (uint32_t)n->valuedouble;
	return (double)*v >= n->valuedouble;
}

void
ovni_read_cpus(struct ovni_metadata *m, const cJSON *list)
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
static bool
label_value(const char *s, int64_t *v)
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
static bool
has_label(struct ovni_metadata *m, uint32_t mark, const cJSON *label, int64_t *value)
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

static void
add_label(struct ovni_metadata *m, struct ovni_label label, const char *key, const char *text)
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

static void
read_label(struct ovni_metadata *m, uint32_t mark, const cJSON *label)
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
static void
add_mark(struct ovni_metadata *m, uint32_t type, const char *title, const char *chan_type)
{
	struct ovni_mark *const mark = &m->system->marks[type];

	mark->title = ovni_system_text(m->system, m->r, title);
	mark->chan_type = ovni_system_text(m->system, m->r, chan_type);
	m->system->no_memory |= mark->title.p == NULL;
	if (mark->title.p != NULL)
		trace_define(m->r->trace, "mark", NULL, type, 0, value_string(mark->title));
}

static void
read_mark(struct ovni_metadata *m, uint32_t type, const cJSON *mark)
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

void
ovni_read_marks(struct ovni_metadata *m, const cJSON *marks)
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
__attribute__((format(printf, 2, 3))) static void
report_counters(struct ovni_metadata *m, const char *fmt, ...)
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

static void
read_counter(struct ovni_metadata *m, uint32_t i, const char *name)
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

void
ovni_read_counters(struct ovni_metadata *m, const cJSON *hwc)
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

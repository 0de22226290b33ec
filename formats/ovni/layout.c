#include <cJSON.h>

#include "ovni/metadata.h"

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
static int64_t
number_behind(const char *p, const char *end, const char *prefix)
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
static const char *
part_of(const char *path, const char *end)
{
	while (end > path && end[-1] != '/')
		end--;
	return end;
}

/* proc.PID, and loom.NAME above it. */
static void
read_path(struct ovni_metadata *m)
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

static void
add_thread(struct ovni_metadata *m)
{
	m->loom = ovni_system_add_thread(m->system, m->r, &m->thread, m->stream);
	m->merged = true;
}

/* metadata.json of the process. */
static void
read_process(struct ovni_metadata *m, const cJSON *root)
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

/* thread.TID.json; what it lacks was no error in its time. */
static void
read_thread(struct ovni_metadata *m, const cJSON *root)
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

void
ovni_read_old(struct ovni_metadata *m)
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

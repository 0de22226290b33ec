#include <cJSON.h>
#include <stdlib.h>

#include "ovni/ovni_state.h"

/*
 * Layouts 1 and 2, which libovni wrote before 1.11: loom, process and thread
 * are told by the path,
 *
 *   loom.NAME/proc.PID/metadata.json     version, app_id, rank, nranks, cpus
 *   loom.NAME/proc.PID/thread.TID.obs    the events; without .obs in 1.0.0
 *   loom.NAME/proc.PID/thread.TID.json   layout 2 only: require, finished, lib, mark
 *
 * The bytes of the events are those of today.
 */

struct old {
	struct ovni_thread t;
	uint32_t loom;
	bool merged;
	double version; /* 0: not known */
};

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

/* proc.PID, and loom.NAME above it.  `folder` ends in a slash. */
static bool
read_path(struct ovni_state *st, const char *path, size_t folder, struct old *o)
{
	const char *const name = path + folder, *const proc_end = folder > 0 ? name - 1 : path;
	const char *const proc = part_of(path, proc_end), *const loom_end = proc > path ? proc - 1 : path;
	const char *const loom = part_of(path, loom_end);
	char text[256];

	o->t.tid = number_behind(name, name + strlen(name), "thread.");
	o->t.pid = number_behind(proc, proc_end, "proc.");
	if (o->t.tid < 0 || o->t.pid < 0)
		ovni_say(st->r, st->r->in_folder ? OVNI_RULE_NO_THREAD : OVNI_RULE_NO_METADATA,
		         "the path does not end in proc.PID/thread.TID");
	if (loom_end - loom <= 5 || memcmp(loom, "loom.", 5) != 0 || (size_t)(loom_end - loom) >= sizeof text)
		return true;
	memcpy(text, loom + 5, (size_t)(loom_end - loom) - 5);
	text[loom_end - loom - 5] = '\0';
	return ovni_merge_text(st, text, &o->t.loom);
}

/* metadata.json of the process. */
static bool
read_process(struct ovni_state *st, const cJSON *root, void *ctx)
{
	struct old *const o = ctx;
	const cJSON *const version = ovni_get(root, "version"), *const cpus = ovni_get(root, "cpus");

	if (cJSON_IsNumber(version) && version->valuedouble >= 1 && version->valuedouble <= 2)
		o->version = version->valuedouble;
	else
		ovni_say(st->r, OVNI_RULE_METADATA_VERSION,
		         "the version of metadata.json is no number 1 or 2");
	ovni_read_app(st, &o->t, root);
	o->merged = true;
	return ovni_merge_thread(st, &o->t, &o->loom) && (cpus == NULL || ovni_merge_cpus(st, cpus, o->loom));
}

/* thread.TID.json; what it lacks was no error in its time. */
static bool
read_thread(struct ovni_state *st, const cJSON *root, void *ctx)
{
	const cJSON *const ovni = ovni_get(root, "ovni"), *const finished = ovni_get(ovni, "finished"),
	                   *const mark = ovni_get(ovni, "mark");
	const cJSON *const version = ovni_get(root, "version"), *const require = ovni_get(ovni, "require");
	const cJSON *const models = cJSON_IsObject(require) ? require : NULL, *model;

	(void)ctx;
	if (!cJSON_IsNumber(version) || version->valuedouble < 2 || version->valuedouble > 2)
		ovni_say(st->r, OVNI_RULE_METADATA_VERSION, "the version of %s is not the number 2",
		         st->json);
	if (!cJSON_IsNumber(finished) || finished->valuedouble < 1 || finished->valuedouble > 1)
		ovni_say(st->r, OVNI_RULE_OLD_UNFINISHED, "ovni.finished of %s is not 1", st->json);
	if (require == NULL)
		ovni_say(st->r, OVNI_RULE_OLD_UNFINISHED, "%s has no ovni.require", st->json);
	cJSON_ArrayForEach(model, models)
	{
		ovni_check_require(st, model);
		if (!ovni_emulate_require(st, model->string))
			return false;
	}
	return ovni_check_lib(st, ovni) && (mark == NULL || ovni_merge_marks(st, mark));
}

bool
ovni_read_old(struct ovni_state *st, const char *path, size_t folder)
{
	struct old o = { .t = { .pid = -1, .tid = -1, .app_id = -1, .rank = -1, .nranks = -1 },
		         .loom = TABLE_NONE };
	enum ovni_json json;
	char name[40];

	if (!read_path(st, path, folder, &o))
		return false;
	if (!st->r->in_folder)
		ovni_say(st->r, OVNI_RULE_OLD_LAYOUT,
		         "a stream named thread.TID is of metadata version 1 or 2");
	st->prefix = "";
	json = ovni_json_read(st, folder, "metadata.json", read_process, &o);
	if (json == OVNI_JSON_MISSING)
		ovni_say(st->r, st->r->in_folder ? OVNI_RULE_METADATA_MISSING : OVNI_RULE_NO_METADATA,
		         "there is no metadata.json beside the stream");
	if (json == OVNI_JSON_NO_MEMORY || (!o.merged && !ovni_merge_thread(st, &o.t, &o.loom)))
		return false;
	st->prefix = "ovni.";
	if (o.t.tid < 0)
		return true;
	snprintf(name, sizeof name, "thread.%" PRId64 ".json", o.t.tid);
	json = ovni_json_read(st, folder, name, read_thread, &o);
	st->json = NULL; /* it named this buffer */
	if (json == OVNI_JSON_MISSING && o.version > 1)
		ovni_say(st->r, OVNI_RULE_OLD_UNFINISHED, "there is no %s beside the stream", name);
	return json != OVNI_JSON_NO_MEMORY;
}

#include <cJSON.h>
#include <stdlib.h>

#include "ovni/metadata.h"

/* The files of metadata that belong to a stream. */

void
ovni_metadata_read(struct ovni_metadata *m)
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

static bool
exists(const struct reader *r, const char *path, const char *name)
{
	struct input *const in = ovni_open_beside(r, path, name);
	const bool found = in == NULL || in->fault != INPUT_MISSING;

	input_close(in);
	return found;
}

/* Whether an object is metadata of a process as libovni before 1.11 wrote it. */
static bool
is_old_metadata(const cJSON *root)
{
	static const char *const keys[] = { "app_id", "rank", "nranks", "cpus", "model_version" };
	const cJSON *const version = ovni_json_get(root, "version");
	bool own = false;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		own |= ovni_json_get(root, keys[i]) != NULL;
	return own && (ovni_json_is(version, 1) || ovni_json_is(version, 2));
}

/* The file's JSON; NULL: none, or it cannot be read, which was reported. */
static cJSON *
load_sidecar(struct reader *r, const char *name)
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
void
ovni_check_sidecar(struct reader *r)
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

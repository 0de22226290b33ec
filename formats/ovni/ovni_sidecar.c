#include <stdlib.h>

#include "ovni/ovni_metadata.h"

/* The files of metadata that belong to a stream. */

void
ovni_metadata_read(struct ovni_metadata *m)
{
	const char *const path = m->r->in->path != NULL ? m->r->in->path : "-";
	const char *const slash = strrchr(path, '/'), *const name = slash != NULL ? slash + 1 : path;

	m->system->in_folder |= m->r->in_folder;
	m->thread = (struct ovni_thread){ .pid = -1, .tid = -1, .app_id = -1, .rank = -1, .nranks = -1 };
	m->loom = TABLE_NONE;
	m->folder = (size_t)(name - path);
	m->prefix = "ovni.";
	if (strncmp(name, "thread.", 7) == 0)
		ovni_read_old(m);
	else if (strncmp(name, "stream.obs", 10) != 0)
		ovni_report(m->r, OVNI_RULE_NO_METADATA, "the stream is not named stream.obs");
	else if (!ovni_json_read(m, "stream.json", ovni_read_stream))
		ovni_report(m->r, m->r->in_folder ? OVNI_RULE_METADATA_MISSING : OVNI_RULE_NO_METADATA,
		            "there is no stream.json in the folder of the stream");
	if (m->stream->track == NULL)
		ovni_system_add_unknown(m->system, m->r, m->stream);
}

static bool
exists(const char *path, size_t folder, const char *name)
{
	char *const other = malloc(folder + strlen(name) + 1);
	bool found = other == NULL;

	if (other != NULL) {
		memcpy(other, path, folder);
		memcpy(other + folder, name, strlen(name) + 1);
		struct input *const in = input_open(other);
		found = in == NULL || in->fault != INPUT_MISSING;
		input_close(in);
	}
	free(other);
	return found;
}

/* stream.json needs a stream.obs; metadata.json is of the old layouts. */
void
ovni_check_sidecar(struct reader *r)
{
	const char *const path = r->findings->path, *const slash = strrchr(path, '/');
	const char *const name = slash != NULL ? slash + 1 : path;
	const size_t folder = (size_t)(name - path);

	if (strcmp(name, "stream.json") != 0)
		ovni_report(r, OVNI_RULE_OLD_LAYOUT, "metadata.json has metadata version 1 or 2");
	else if (!exists(path, folder, "stream.obs") && !exists(path, folder, "stream.obs.gz") &&
	         !exists(path, folder, "stream.obs.zst"))
		ovni_report(r, OVNI_RULE_EVENTS_MISSING, "there is no stream.obs in its folder");
}

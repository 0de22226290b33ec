#include <cJSON.h>
#include <math.h>
#include <stdlib.h>

#include "ovni/metadata.h"

/* Files of metadata, read as strict JSON, and their values. */

/* ---- values ---- */

const cJSON *
ovni_json_get(const cJSON *o, const char *key)
{
	return cJSON_IsObject(o) ? cJSON_GetObjectItemCaseSensitive(o, key) : NULL;
}

int64_t
ovni_json_integer(struct ovni_metadata *m, const cJSON *o, const char *key)
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

const char *
ovni_json_text(struct ovni_metadata *m, const cJSON *o, const char *key)
{
	const cJSON *const v = ovni_json_get(o, key);

	if (v != NULL && !cJSON_IsString(v))
		ovni_report(m->r, OVNI_RULE_METADATA_TYPE, "%s%s is not a string", m->prefix, key);
	return cJSON_GetStringValue(v);
}

bool
ovni_json_is(const cJSON *v, int number)
{
	return cJSON_IsNumber(v) && v->valuedouble >= number && v->valuedouble <= number;
}

/* ---- files ---- */

/* Keys that come twice in one object; depth is bounded by ovni_json_fault(). */
static void
find_duplicates(struct ovni_metadata *m, const cJSON *v)
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

static void
read_text(struct ovni_metadata *m, struct slice text, ovni_json_sink *sink)
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

struct input *
ovni_open_beside(const struct reader *r, const char *path, const char *name)
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

enum ovni_load
ovni_load(struct reader *r, struct input *in, const char *name, size_t most)
{
	if (in->fault == INPUT_MISSING)
		return OVNI_LOAD_MISSING;
	const bool large = input_need(in, most + 1);
	if (!reader_can_use(r, in, name))
		return OVNI_LOAD_FAILED;
	return large ? OVNI_LOAD_LARGE : OVNI_LOAD_WHOLE;
}

bool
ovni_json_read(struct ovni_metadata *m, const char *name, ovni_json_sink *sink)
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
		m->system->no_memory |= !ovni_files_add(m->files, name, in->p,
		                                        load == OVNI_LOAD_WHOLE ? (size_t)(in->end - in->p)
		                                                                : OVNI_NOT_READ);
	if (load == OVNI_LOAD_WHOLE)
		read_text(m, slice_of(in->p, (size_t)(in->end - in->p)), sink);
	input_close(in);
	return load != OVNI_LOAD_MISSING;
}

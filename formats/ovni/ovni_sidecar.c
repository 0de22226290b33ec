#include <cJSON.h>
#include <math.h>
#include <stdlib.h>

#include "ovni/ovni_state.h"

/* The files of metadata beside a stream: found, read as strict JSON, and handed on. */

void
ovni_say(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(r->findings, &ovni_rules[rule], 0, 0, fmt, ap);
	va_end(ap);
}

/* ---- values ---- */

const cJSON *
ovni_get(const cJSON *o, const char *key)
{
	return cJSON_IsObject(o) ? cJSON_GetObjectItemCaseSensitive(o, key) : NULL;
}

/* An integer of 32 bits, exact although cJSON holds doubles; -1: absent; OVNI_NO_INTEGER: (said) something
 * else. */
int64_t
ovni_integer(struct ovni_state *st, const cJSON *o, const char *key)
{
	const cJSON *const v = ovni_get(o, key);

	if (v == NULL)
		return -1;
	if (!cJSON_IsNumber(v)) {
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "%s%s is no number", st->prefix, key);
		return OVNI_NO_INTEGER;
	}
	if (!(fabs(v->valuedouble) <= INT32_MAX) || v->valuedouble != floor(v->valuedouble)) {
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "%s%s is %.17g, expected an integer of 32 bits",
		         st->prefix, key, v->valuedouble);
		return OVNI_NO_INTEGER;
	}
	return (int64_t)v->valuedouble;
}

/* Keys that come twice in one object; depth is bounded by ovni_json_fault(). */
static bool
find_duplicates(struct ovni_state *st, const cJSON *v)
{
	struct tabletext keys = { .slots = NULL };
	struct quoted q;
	bool ok = true;

	for (const cJSON *c = v->child; c != NULL && ok; c = c->next) {
		if (cJSON_IsObject(v) && tabletext_get(&keys, slice_str(c->string)) != TABLE_NONE)
			ovni_say(st->r, OVNI_RULE_DUPLICATE_KEY, "%s: key %s twice in one object", st->json,
			         quoted(&q, slice_str(c->string)));
		ok = (!cJSON_IsObject(v) || tabletext_put(&keys, slice_str(c->string), 0)) &&
		     find_duplicates(st, c);
	}
	tabletext_free(&keys);
	return ok;
}

/* ---- files ---- */

static bool
read_text(struct ovni_state *st, const char *p, size_t n, ovni_json_sink *take, void *ctx)
{
	size_t place = 0;
	const char *const fault = ovni_json_fault(p, n, &place);
	cJSON *const root = fault == NULL ? cJSON_ParseWithLength(p, n) : NULL;
	bool ok = true;

	if (fault != NULL)
		ovni_say(st->r, OVNI_RULE_BAD_JSON, "%s, byte %zu: %s", st->json, place, fault);
	else if (root == NULL)
		return false;
	else if (!cJSON_IsObject(root))
		ovni_say(st->r, OVNI_RULE_BAD_JSON, "%s is JSON, but no object", st->json);
	else
		ok = find_duplicates(st, root) && take(st, root, ctx);
	cJSON_Delete(root);
	return ok;
}

enum ovni_json
ovni_json_read(struct ovni_state *st, size_t folder, const char *name, ovni_json_sink *take, void *ctx)
{
	char *const path = malloc(folder + strlen(name) + 1);
	enum ovni_json result = OVNI_JSON_READ;

	if (path == NULL)
		return OVNI_JSON_NO_MEMORY;
	memcpy(path, st->r->in->path, folder);
	memcpy(path + folder, name, strlen(name) + 1);
	struct input *const in = input_open(path);
	free(path);
	if (in == NULL)
		return OVNI_JSON_NO_MEMORY;
	st->json = name;
	if (in->fault == INPUT_MISSING)
		result = OVNI_JSON_MISSING;
	else if (in->fault != INPUT_OK && in->fault != INPUT_EMPTY)
		ovni_say(st->r, OVNI_RULE_METADATA_MISSING, "%s: %s", name, in->fault_text);
	else if (input_need(in, OVNI_MAX_JSON + 1))
		ovni_say(st->r, OVNI_RULE_LIMIT, "%s has more than %u bytes and was not read", name,
		         OVNI_MAX_JSON);
	else if (!read_text(st, in->p, (size_t)(in->end - in->p), take, ctx))
		result = OVNI_JSON_NO_MEMORY;
	input_close(in);
	return result;
}

/* ---- the stream's own ---- */

/* The track of a stream whose metadata names no thread. */
static bool
unknown_track(struct ovni_state *st)
{
	struct ovni_shared *const sh = st->r->shared;
	struct trace *const trace = st->r->trace;
	const char *const path = strcmp(st->r->in->path, "-") == 0 ? "standard input" : st->r->in->path;
	const size_t n = strlen(path), cut = n > 200 ? n - 200 : 0;

	if (sh->unknown == NULL)
		sh->unknown = trace_add_process(trace, SLICE_LIT("unknown process"));
	if (sh->unknown == NULL)
		return false;
	if (trace->ntracks >= TRACE_MAX_TRACKS) {
		if (sh->more_threads == NULL)
			sh->more_threads =
			    trace_add_thread(trace, sh->unknown, UINT64_MAX, SLICE_LIT("more threads"));
		st->track = sh->more_threads;
	} else {
		st->track = trace_add_thread(trace, sh->unknown, trace->ntracks,
		                             textscan_slice(path + cut, (uint32_t)(n - cut)));
	}
	return st->track != NULL;
}

/* What stands beside a stream named stream.obs. */
static bool
read_present(struct ovni_state *st, size_t folder)
{
	struct ovni_thread t = { .pid = -1, .tid = -1, .app_id = -1, .rank = -1, .nranks = -1 };
	const enum ovni_json json = ovni_json_read(st, folder, "stream.json", ovni_read_stream, &t);

	if (json == OVNI_JSON_MISSING)
		ovni_say(st->r, st->r->in_folder ? OVNI_RULE_METADATA_MISSING : OVNI_RULE_NO_METADATA,
		         "there is no stream.json beside the stream");
	return json != OVNI_JSON_NO_MEMORY;
}

bool
ovni_metadata_read(struct ovni_state *st)
{
	struct ovni_shared *const sh = st->r->shared;
	const char *const path = st->r->in->path != NULL ? st->r->in->path : "-";
	const char *const slash = strrchr(path, '/'), *const name = slash != NULL ? slash + 1 : path;
	bool ok = true;

	sh->in_folder |= st->r->in_folder;
	st->prefix = "ovni.";
	if (strncmp(name, "stream.obs", 10) == 0)
		ok = read_present(st, (size_t)(name - path));
	else if (strncmp(name, "thread.", 7) == 0)
		ok = ovni_read_old(st, path, (size_t)(name - path));
	else
		ovni_say(st->r, OVNI_RULE_NO_METADATA, "the stream is not named stream.obs");
	return ok && (st->track != NULL || unknown_track(st));
}

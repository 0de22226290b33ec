#include <cJSON.h>
#include <math.h>
#include <stdlib.h>

#include "ovni/ovni_state.h"

/*
 * stream.json ("Stream metadata").  Findings about it stand in the report of its stream, at offset 0, since a
 * finding has one place in one input; the message names the key.
 */

void
ovni_say(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(r->judge, &ovni_rules[rule], 0, 0, fmt, ap);
	va_end(ap);
}

/* ---- values ---- */

static const cJSON *
get(const cJSON *o, const char *key)
{
	return cJSON_IsObject(o) ? cJSON_GetObjectItemCaseSensitive(o, key) : NULL;
}

/* An integer of 32 bits, exact although cJSON holds doubles; -1: absent, or (said) something else. */
static int64_t
integer(struct ovni_state *st, const cJSON *o, const char *key)
{
	const cJSON *const v = get(o, key);

	if (v == NULL)
		return -1;
	if (!cJSON_IsNumber(v)) {
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "ovni.%s is no number", key);
		return -1;
	}
	if (!(fabs(v->valuedouble) <= INT32_MAX) || v->valuedouble != floor(v->valuedouble)) {
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "ovni.%s is %.17g, expected an integer of 32 bits", key, v->valuedouble);
		return -1;
	}
	return (int64_t)v->valuedouble;
}

static const char *
text_of(struct ovni_state *st, const cJSON *o, const char *key)
{
	const cJSON *const v = get(o, key);

	if (v != NULL && !cJSON_IsString(v))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "ovni.%s is no string", key);
	return cJSON_GetStringValue(v);
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
			ovni_say(st->r, OVNI_RULE_DUPLICATE_KEY, "stream.json: key %s twice in one object", quoted(&q, slice_str(c->string)));
		ok = (!cJSON_IsObject(v) || tabletext_put(&keys, slice_str(c->string), 0)) && find_duplicates(st, c);
	}
	tabletext_free(&keys);
	return ok;
}

/* Objects of models; what they say beyond this is their own business. */
static void
judge_models(struct ovni_state *st, const cJSON *root)
{
	const cJSON *const nosv = get(root, "nosv");

	if (nosv != NULL && !cJSON_IsObject(nosv))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "nosv is no object");
	if (get(nosv, "can_breakdown") != NULL && !cJSON_IsBool(get(nosv, "can_breakdown")))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "nosv.can_breakdown is no boolean");
	if (get(nosv, "lib_version") != NULL && !cJSON_IsString(get(nosv, "lib_version")))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "nosv.lib_version is no string");
}

/* ---- the object "ovni" ---- */

static bool
judge_stream(struct ovni_state *st, const cJSON *root, const cJSON *ovni)
{
	const cJSON *const version = get(root, "version"), *const require = get(ovni, "require"), *model;
	const cJSON *const finished = get(ovni, "finished");
	const char *const part = text_of(st, ovni, "part");
	struct quoted q;

	if (get(root, "ovni") != NULL && !cJSON_IsObject(ovni))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "ovni is no object");
	if (!cJSON_IsNumber(version))
		ovni_say(st->r, OVNI_RULE_METADATA_VERSION, version == NULL ? "there is no version, expected 3" : "the version is no number, expected 3");
	else if (version->valuedouble < 3 || version->valuedouble > 3)
		ovni_say(st->r, OVNI_RULE_METADATA_VERSION, "version %.17g, expected 3", version->valuedouble);
	if (get(ovni, "part") == NULL)
		ovni_say(st->r, OVNI_RULE_NO_PART, "stream.json has no ovni.part");
	else if (part != NULL && strcmp(part, "thread") != 0)
		ovni_say(st->r, OVNI_RULE_UNKNOWN_PART, "ovni.part is %s", quoted(&q, slice_str(part)));
	if (finished == NULL)
		ovni_say(st->r, OVNI_RULE_NOT_FINISHED, "stream.json has no ovni.finished");
	else if (!cJSON_IsNumber(finished) || finished->valuedouble < 1 || finished->valuedouble > 1)
		ovni_say(st->r, OVNI_RULE_NOT_FINISHED, "ovni.finished is not the number 1");
	if (require == NULL)
		ovni_say(st->r, OVNI_RULE_NO_REQUIRE, "stream.json has no ovni.require");
	else if (!cJSON_IsObject(require))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "ovni.require is no object");
	else
		cJSON_ArrayForEach(model, require)
		{
			ovni_judge_require(st, model);
			if (!ovni_emulate_require(st, model->string))
				return false;
		}
	return true;
}

static bool
judge_lib(struct ovni_state *st, const cJSON *ovni)
{
	struct ovni_shared *const sh = st->r->shared;
	const char *const version = cJSON_GetStringValue(get(get(ovni, "lib"), "version"));
	const char *const commit = cJSON_GetStringValue(get(get(ovni, "lib"), "commit"));
	char both[200];
	struct quoted q, q2;

	if (version == NULL || commit == NULL) {
		ovni_say(st->r, OVNI_RULE_NO_LIB, "stream.json has no ovni.lib.%s", version == NULL ? "version" : "commit");
		return true;
	}
	snprintf(both, sizeof both, "%s %s", version, commit);
	if (sh->lib.p == NULL) {
		const struct slice text = textscan_slice(both, (uint32_t)strlen(both));
		return ovni_merge_text(st, both, &sh->lib) && trace_add_meta(st->r->trace, SLICE_LIT("libovni"), value_string(text));
	}
	if (!slice_is(sh->lib, both))
		ovni_say(st->r, OVNI_RULE_LIB_MIXED, "library %s, other streams have %s", quoted(&q, slice_str(both)), quoted(&q2, sh->lib));
	return true;
}

static void
judge_rank(struct ovni_state *st, struct ovni_thread *t, const cJSON *ovni)
{
	const bool rank = get(ovni, "rank") != NULL, nranks = get(ovni, "nranks") != NULL;

	t->rank = integer(st, ovni, "rank");
	t->nranks = integer(st, ovni, "nranks");
	if (rank != nranks)
		ovni_say(st->r, OVNI_RULE_BAD_RANK, "ovni.%s without ovni.%s", rank ? "rank" : "nranks", rank ? "nranks" : "rank");
	else if (rank && cJSON_IsNumber(get(ovni, "rank")) && cJSON_IsNumber(get(ovni, "nranks")) && (t->rank < 0 || t->rank >= t->nranks))
		ovni_say(st->r, OVNI_RULE_BAD_RANK, "rank %.17g of %.17g", get(ovni, "rank")->valuedouble, get(ovni, "nranks")->valuedouble);
	else
		return;
	t->rank = t->nranks = -1;
}

static bool
read_thread(struct ovni_state *st, const cJSON *ovni, struct ovni_thread *t)
{
	const char *const loom = text_of(st, ovni, "loom");
	struct quoted q;

	t->tid = integer(st, ovni, "tid");
	t->pid = integer(st, ovni, "pid");
	t->app_id = integer(st, ovni, "app_id");
	if (t->tid <= 0 || t->pid <= 0)
		ovni_say(st->r, OVNI_RULE_NO_THREAD, "ovni.%s is %s", t->tid <= 0 ? "tid" : "pid",
		         get(ovni, t->tid <= 0 ? "tid" : "pid") == NULL ? "missing" : "no positive integer");
	if (get(ovni, "app_id") != NULL && t->app_id <= 0) {
		ovni_say(st->r, OVNI_RULE_APP_ID, "ovni.app_id is no positive integer");
		t->app_id = -1;
	}
	judge_rank(st, t, ovni);
	if (loom != NULL && (strchr(loom, '/') != NULL || strlen(loom) >= 4096))
		ovni_say(st->r, OVNI_RULE_LOOM_NAME, "ovni.loom is %s, %zu bytes", quoted(&q, slice_str(loom)), strlen(loom));
	return loom == NULL || ovni_merge_text(st, loom, &t->loom);
}

static bool
read_root(struct ovni_state *st, const cJSON *root, struct ovni_thread *t)
{
	const cJSON *const ovni = get(root, "ovni"), *const cpus = get(ovni, "loom_cpus");
	const cJSON *const mark = get(ovni, "mark"), *const hwc = get(get(root, "nosv"), "hwc");
	uint32_t loom = TABLE_NONE;

	if (!find_duplicates(st, root))
		return false;
	judge_models(st, root);
	if (!judge_stream(st, root, ovni) || !judge_lib(st, ovni) || !read_thread(st, ovni, t) || !ovni_merge_thread(st, t, &loom))
		return false;
	if (cpus != NULL && !ovni_merge_cpus(st, cpus, loom))
		return false;
	return (mark == NULL || ovni_merge_marks(st, mark)) && (hwc == NULL || ovni_merge_counters(st, hwc));
}

static bool
read_text(struct ovni_state *st, const char *p, size_t n, struct ovni_thread *t)
{
	size_t place = 0;
	const char *const fault = ovni_json_fault(p, n, &place);
	cJSON *const root = fault == NULL ? cJSON_ParseWithLength(p, n) : NULL;
	bool ok = true;

	if (fault != NULL)
		ovni_say(st->r, OVNI_RULE_BAD_JSON, "stream.json, byte %zu: %s", place, fault);
	else if (root == NULL)
		return false;
	else if (!cJSON_IsObject(root))
		ovni_say(st->r, OVNI_RULE_BAD_JSON, "stream.json is JSON, but no object");
	else
		ok = read_root(st, root, t);
	cJSON_Delete(root);
	return ok;
}

/* ---- the file ---- */

static bool
read_file(struct ovni_state *st, const char *path, struct ovni_thread *t)
{
	struct ovni_shared *const sh = st->r->shared;
	struct input *const in = input_open(path);
	bool ok = true;

	if (in == NULL)
		return false;
	if (in->fault == INPUT_MISSING && st->r->in_folder)
		ovni_say(st->r, OVNI_RULE_METADATA_MISSING, "there is no stream.json beside the stream");
	else if (in->fault == INPUT_MISSING)
		ovni_say(st->r, OVNI_RULE_NO_METADATA, "there is no stream.json beside the stream");
	else if (in->fault != INPUT_OK && in->fault != INPUT_EMPTY)
		ovni_say(st->r, OVNI_RULE_METADATA_MISSING, "stream.json %s", in->fault_text);
	else if (input_need(in, OVNI_MAX_JSON + 1))
		ovni_say(st->r, OVNI_RULE_LIMIT, "stream.json has more than %u bytes and was not read", OVNI_MAX_JSON);
	else
		ok = read_text(st, in->p, (size_t)(in->end - in->p), t);
	sh->in_folder |= st->r->in_folder;
	input_close(in);
	return ok;
}

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
			sh->more_threads = trace_add_thread(trace, sh->unknown, UINT64_MAX, SLICE_LIT("more threads"));
		st->track = sh->more_threads;
	} else {
		st->track = trace_add_thread(trace, sh->unknown, trace->ntracks, textscan_slice(path + cut, (uint32_t)(n - cut)));
	}
	return st->track != NULL;
}

bool
ovni_metadata_read(struct ovni_state *st)
{
	struct ovni_thread t = { .pid = -1, .tid = -1, .app_id = -1, .rank = -1, .nranks = -1 };
	const char *const path = st->r->in->path != NULL ? st->r->in->path : "-";
	const char *const slash = strrchr(path, '/'), *const name = slash != NULL ? slash + 1 : path;
	const size_t folder = (size_t)(name - path);
	char *const json = malloc(folder + sizeof "stream.json");
	bool ok = true;

	if (json == NULL)
		return false;
	memcpy(json, path, folder);
	memcpy(json + folder, "stream.json", sizeof "stream.json");
	if (strncmp(name, "stream.obs", 10) == 0)
		ok = read_file(st, json, &t);
	else if (strncmp(name, "thread.", 7) == 0)
		ovni_say(st->r, OVNI_RULE_OLD_LAYOUT, "a stream named thread.TID.obs is of metadata version 1 or 2");
	else
		ovni_say(st->r, OVNI_RULE_NO_METADATA, "the stream is not named stream.obs");
	free(json);
	return ok && (st->track != NULL || unknown_track(st));
}

#include <cJSON.h>

#include "ovni/ovni_state.h"

/*
 * stream.json ("Stream metadata").  Findings about it stand in the report of its stream, at offset 0, since a
 * finding has one place in one input; the message names the key.
 */

static const char *
text_of(struct ovni_state *st, const cJSON *o, const char *key)
{
	const cJSON *const v = ovni_get(o, key);

	if (v != NULL && !cJSON_IsString(v))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "%s%s is no string", st->prefix, key);
	return cJSON_GetStringValue(v);
}

/* Objects of models; what they say beyond this is their own business. */
static void
check_models(struct ovni_state *st, const cJSON *root)
{
	const cJSON *const nosv = ovni_get(root, "nosv");

	if (nosv != NULL && !cJSON_IsObject(nosv))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "nosv is no object");
	if (ovni_get(nosv, "can_breakdown") != NULL && !cJSON_IsBool(ovni_get(nosv, "can_breakdown")))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "nosv.can_breakdown is no boolean");
	if (ovni_get(nosv, "lib_version") != NULL && !cJSON_IsString(ovni_get(nosv, "lib_version")))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "nosv.lib_version is no string");
}

/* ---- the object "ovni" ---- */

static bool
check_stream(struct ovni_state *st, const cJSON *root, const cJSON *ovni)
{
	const cJSON *const version = ovni_get(root, "version"), *const require = ovni_get(ovni, "require"),
	                   *model;
	const cJSON *const finished = ovni_get(ovni, "finished");
	const char *const part = text_of(st, ovni, "part");
	struct quoted q;

	if (ovni_get(root, "ovni") != NULL && !cJSON_IsObject(ovni))
		ovni_say(st->r, OVNI_RULE_METADATA_TYPE, "ovni is no object");
	if (!cJSON_IsNumber(version))
		ovni_say(st->r, OVNI_RULE_METADATA_VERSION,
		         version == NULL ? "there is no version, expected 3"
		                         : "the version is no number, expected 3");
	else if (version->valuedouble < 3 || version->valuedouble > 3)
		ovni_say(st->r, OVNI_RULE_METADATA_VERSION, "version %.17g, expected 3",
		         version->valuedouble);
	if (ovni_get(ovni, "part") == NULL)
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
			ovni_check_require(st, model);
			if (!ovni_emulate_require(st, model->string))
				return false;
		}
	return true;
}

bool
ovni_check_lib(struct ovni_state *st, const cJSON *ovni)
{
	struct ovni_shared *const sh = st->r->shared;
	const char *const version = cJSON_GetStringValue(ovni_get(ovni_get(ovni, "lib"), "version"));
	const char *const commit = cJSON_GetStringValue(ovni_get(ovni_get(ovni, "lib"), "commit"));
	char both[200];
	struct quoted q, q2;

	if (version == NULL || commit == NULL) {
		ovni_say(st->r, OVNI_RULE_NO_LIB, "%s has no ovni.lib.%s", st->json,
		         version == NULL ? "version" : "commit");
		return true;
	}
	snprintf(both, sizeof both, "%s %s", version, commit);
	if (sh->lib.p == NULL) {
		const struct slice text = textscan_slice(both, (uint32_t)strlen(both));
		return ovni_merge_text(st, both, &sh->lib) &&
		       trace_add_meta(st->r->trace, SLICE_LIT("libovni"), value_string(text));
	}
	if (!slice_is(sh->lib, both))
		ovni_say(st->r, OVNI_RULE_LIB_MIXED, "library %s, other streams have %s",
		         quoted(&q, slice_str(both)), quoted(&q2, sh->lib));
	return true;
}

/* The numbers of a rank that are given, or -1 both. */
static void
read_rank(struct ovni_state *st, struct ovni_thread *t, const cJSON *o)
{
	const bool rank = ovni_get(o, "rank") != NULL, nranks = ovni_get(o, "nranks") != NULL;

	t->rank = ovni_integer(st, o, "rank");
	t->nranks = ovni_integer(st, o, "nranks");
	if (rank != nranks)
		ovni_say(st->r, OVNI_RULE_BAD_RANK, "%s%s without %s%s", st->prefix, rank ? "rank" : "nranks",
		         st->prefix, rank ? "nranks" : "rank");
	else if (t->rank != OVNI_NO_INTEGER && t->nranks != OVNI_NO_INTEGER && rank &&
	         (t->rank < 0 || t->rank >= t->nranks))
		ovni_say(st->r, OVNI_RULE_BAD_RANK, "rank %" PRId64 " of %" PRId64, t->rank, t->nranks);
	else if (t->rank >= 0 && t->nranks >= 0)
		return;
	t->rank = t->nranks = -1;
}

void
ovni_read_app(struct ovni_state *st, struct ovni_thread *t, const cJSON *o)
{
	t->app_id = ovni_integer(st, o, "app_id");
	if (ovni_get(o, "app_id") != NULL && t->app_id <= 0) {
		if (t->app_id != OVNI_NO_INTEGER)
			ovni_say(st->r, OVNI_RULE_APP_ID,
			         "%sapp_id is %" PRId64 ", expected is a positive number", st->prefix,
			         t->app_id);
		t->app_id = -1;
	}
	read_rank(st, t, o);
}

static void
check_id(struct ovni_state *st, const cJSON *ovni, const char *key, int64_t *id)
{
	if (*id != OVNI_NO_INTEGER && *id <= 0)
		ovni_say(st->r, OVNI_RULE_NO_THREAD,
		         ovni_get(ovni, key) == NULL ? "ovni.%s is missing"
		                                     : "ovni.%s is no positive integer",
		         key);
	if (*id <= 0)
		*id = -1;
}

static bool
read_thread(struct ovni_state *st, const cJSON *ovni, struct ovni_thread *t)
{
	const char *const loom = text_of(st, ovni, "loom");
	struct quoted q;

	t->tid = ovni_integer(st, ovni, "tid");
	t->pid = ovni_integer(st, ovni, "pid");
	check_id(st, ovni, "tid", &t->tid);
	check_id(st, ovni, "pid", &t->pid);
	ovni_read_app(st, t, ovni);
	if (loom != NULL && (strchr(loom, '/') != NULL || strlen(loom) >= 4096))
		ovni_say(st->r, OVNI_RULE_LOOM_NAME, "ovni.loom is %s, %zu bytes",
		         quoted(&q, slice_str(loom)), strlen(loom));
	return loom == NULL || ovni_merge_text(st, loom, &t->loom);
}

bool
ovni_read_stream(struct ovni_state *st, const cJSON *root, void *thread)
{
	struct ovni_thread *const t = thread;
	const cJSON *const ovni = ovni_get(root, "ovni"), *const cpus = ovni_get(ovni, "loom_cpus");
	const cJSON *const mark = ovni_get(ovni, "mark"), *const hwc =
	                                                      ovni_get(ovni_get(root, "nosv"), "hwc");
	uint32_t loom = TABLE_NONE;

	check_models(st, root);
	if (!check_stream(st, root, ovni) || !ovni_check_lib(st, ovni) || !read_thread(st, ovni, t) ||
	    !ovni_merge_thread(st, t, &loom))
		return false;
	if (cpus != NULL && !ovni_merge_cpus(st, cpus, loom))
		return false;
	return (mark == NULL || ovni_merge_marks(st, mark)) && (hwc == NULL || ovni_merge_counters(st, hwc));
}

#include <cJSON.h>

#include "ovni/metadata.h"

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
static bool
take_number(const char **s, unsigned *v)
{
	const size_t n = strspn(*s, "0123456789");

	*v = 0;
	for (size_t i = 0; i < n && n <= 9; i++)
		*v = *v * 10 + (unsigned)((*s)[i] - '0');
	*s += n;
	return n > 0 && n <= 9;
}

/* MAJOR.MINOR.PATCH, and perhaps -WORDS. */
static bool
take_version(const char *s, unsigned *major, unsigned *minor)
{
	unsigned patch;

	if (!take_number(&s, major) || *s++ != '.' || !take_number(&s, minor) || *s++ != '.')
		return false;
	return take_number(&s, &patch) && (*s == '\0' || *s == '-');
}

static void
check_version(struct ovni_metadata *m, const cJSON *model)
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

void
ovni_read_require(struct ovni_metadata *m, const cJSON *require)
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

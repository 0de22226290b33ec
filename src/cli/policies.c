#define _XOPEN_SOURCE 700 /* realpath() */

/*
 * The policies of a run (tracetool.yaml(5)): each trace has the policy of --config, or the nearest one above
 * it.  A policy is read once, and searched folders are cached, so there is one search for each folder.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "cli/options.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "format/registry.h"
#include "policy/policy.h"
#include "report/report.h"

/* ---- options ---- */

void policy_options_init(struct policy_options *p)
{
	*p = (struct policy_options){ .choice = POLICY_CHOICE_NONE };
}

void policy_options_free(struct policy_options *p)
{
	policy_choice_free(&p->choice);
	arena_free(&p->arena);
}

/* A pattern that matches no rule is a mistake. */
static bool add_choice(struct policy_options *p, struct options *o, const char *option,
                       enum policy_choice_key key, const char *glob, enum level level)
{
	struct shown_path shown;
	bool fits;

	if (!policy_choice_add(&p->choice, key, slice_str(glob), level, &fits))
		return options_no_memory(o);
	if (fits)
		return true;
	return options_unknown(o, rule_nearest_name(glob), "tracetool rules lists them",
	                       "%s: no rule matches %s", option, show_path(&shown, glob));
}

bool policy_select(void *policy_options, struct options *o, const char *glob)
{
	return add_choice(policy_options, o, "--select-rules", CHOICE_SELECT, glob, LEVEL_NOTE);
}

bool policy_ignore(void *policy_options, struct options *o, const char *glob)
{
	return add_choice(policy_options, o, "--ignore-rules", CHOICE_IGNORE, glob, LEVEL_NOTE);
}

bool policy_level(void *policy_options, struct options *o, const char *arg)
{
	struct policy_options *const p = policy_options;
	const char *const equals = strchr(arg, '=');

	if (equals == NULL)
		return options_takes(o, "--level", "RULE=LEVEL", arg);
	const int level = options_word(o, "--level RULE=LEVEL", equals + 1, level_names);
	if (level < 0)
		return false;
	const struct slice glob = arena_copy(&p->arena, slice_of(arg, (size_t)(equals - arg)));
	if (glob.p == NULL)
		return options_no_memory(o);
	return add_choice(p, o, "--level", CHOICE_LEVEL, glob.p, (enum level)level);
}

bool policy_fail_level(void *policy_options, struct options *o, const char *arg)
{
	struct policy_options *const p = policy_options;

	p->choice.fail_level = options_word(o, "--fail-level", arg, policy_fail_levels);
	return p->choice.fail_level >= 0;
}

bool policy_exit_zero(void *policy_options, struct options *o, const char *arg)
{
	struct policy_options *const p = policy_options;

	p->choice.exit_zero = true;
	return true;
}

/* ---- reading policies ---- */

struct reading_mistakes {
	struct findings findings;
	bool no_memory;
};

static void mistakes_begin(struct reading_mistakes *m, struct options *o, const char *path)
{
	*m = (struct reading_mistakes){ .no_memory = false };
	findings_init(&m->findings, path, say_mistake, o);
}

/* Reports the remaining mistakes; returns ok: whether the file was read. */
static bool mistakes_end(struct reading_mistakes *m, struct options *o, bool ok)
{
	char space[1024];
	struct text rest = text_start(space, sizeof space);

	report_text_rest(&rest, &m->findings, o->policy, LEVEL_NOTE);
	say_text(&rest);
	text_free(&rest);
	findings_free(&m->findings);
	if (m->no_memory)
		options_no_memory(o);
	if (!ok)
		o->status = STATUS_UNREADABLE;
	return ok;
}

/* folder: that of the policy that names the baseline, or NULL. */
static struct policy_baseline *read_baseline(struct options *o, const char *folder, const char *path,
                                             const char *shown)
{
	struct reading_mistakes m;

	mistakes_begin(&m, o, shown);
	struct policy_baseline *const b = baseline_read(folder, path, &m.findings, &m.no_memory);
	mistakes_end(&m, o, b != NULL);
	return b;
}

/* A path for messages: relative if it is below the current folder. */
static const char *short_path(const struct policies *p, const char *path)
{
	const size_t n = strlen(p->here);

	if (n > 1 && strncmp(path, p->here, n) == 0 && path[n] == '/')
		return path + n + 1;
	return path;
}

/* The absolute path, to be freed.  NULL if there is no such file, or with *failed set after a message about
 * `what`. */
static char *real_path(struct options *o, const char *path, const char *what, bool *failed)
{
	errno = ENOMEM;
	char *const full = path != NULL ? realpath(path, NULL) : NULL;
	*failed = full == NULL && errno != ENOENT && errno != ENOTDIR;
	if (*failed && errno == ENOMEM)
		options_no_memory(o);
	else if (*failed)
		say_of(what, "%s", strerror(errno));
	if (*failed)
		o->status = STATUS_UNREADABLE;
	return full;
}

/* The absolute path of the folder of a file, likewise. */
static char *folder_of(struct options *o, const char *path, bool *failed)
{
	const struct slice folder = path_folder(path);
	char *const name = strndup(folder.p, folder.n);
	char *const full = real_path(o, name, path, failed);

	free(name);
	return full;
}

/* Reads the policy of a path, once.  Returns false after a message. */
static bool read_entry(struct policies *p, struct options *o, const char *path, bool found, uint32_t *entry)
{
	const char *const shown = found ? short_path(p, path) : path;
	struct reading_mistakes m;
	bool failed;
	char *const folder = folder_of(o, path, &failed);

	if (failed)
		return false;
	mistakes_begin(&m, o, shown);
	struct policy_file *const file =
	    policy_file_read(path, shown, folder != NULL ? folder : p->here, &m.findings, &m.no_memory);
	free(folder);
	if (!mistakes_end(&m, o, file != NULL))
		return false;
	if (!array_reserve(&p->entries, p->nentries, &p->entries_cap, sizeof *p->entries)) {
		policy_file_free(file);
		return options_no_memory(o);
	}
	p->entries[p->nentries++] = (struct policy_entry){ .file = file, .path = path };
	*entry = p->nentries;
	if (file->baseline == NULL || p->baseline != NULL)
		return true;
	const struct slice full = arena_printf(&p->arena, "%s/%s", file->folder, file->baseline);
	if (full.p == NULL)
		return options_no_memory(o);
	p->entries[*entry - 1].baseline_path = full.p;
	p->entries[*entry - 1].baseline =
	    read_baseline(o, file->folder, file->baseline, short_path(p, full.p));
	return p->entries[*entry - 1].baseline != NULL;
}

/* ---- the policy of a trace ---- */

/* The path of a trace on disk; for a trace in an archive, the path of the archive. */
static const char *path_on_disk(const struct trace_group *trace)
{
	const struct input_archive *const archive = trace->operand.archive;

	return archive != NULL ? input_archive_path(archive) : trace_group_path(trace);
}

/* The folder where the search for the policy of a trace begins; p is NULL on OOM. */
static struct slice search_start(struct policies *p, const struct trace_group *trace)
{
	const char *const path = path_on_disk(trace);

	if (trace->operand.folder && path == trace->operand.path && !trace->by_prefix)
		return arena_copy(&p->arena, slice_str(path));
	return arena_copy(&p->arena, path_folder(path));
}

static bool find_by_path(struct policies *p, struct options *o, const char *path, uint32_t *entry)
{
	const struct slice key = arena_copy(&p->arena, slice_str(path));

	if (key.p == NULL)
		return options_no_memory(o);
	*entry = tabletext_get(&p->paths, key);
	return *entry != TABLE_NONE || (read_entry(p, o, key.p, true, entry) &&
	                                (tabletext_put(&p->paths, key, *entry) || options_no_memory(o)));
}

static bool find_entry(struct policies *p, struct options *o, const struct trace_group *trace,
                       uint32_t *entry)
{
	const struct slice folder = search_start(p, trace);
	int error = folder.p == NULL ? ENOMEM : 0;
	bool ok = true;

	*entry = folder.p != NULL ? tabletext_get(&p->folders, folder) : TABLE_NONE;
	if (*entry != TABLE_NONE)
		return true;
	*entry = 0;
	char *const path = folder.p != NULL ? policy_find(folder.p, p->here, &error) : NULL;
	if (error == ENOMEM)
		return options_no_memory(o);
	if (error != 0) {
		o->status = STATUS_UNREADABLE;
		return say_of(trace_group_path(trace), "the search for its policy failed: %s",
		              strerror(error));
	}
	if (path != NULL)
		ok = find_by_path(p, o, path, entry);
	free(path);
	return ok && (tabletext_put(&p->folders, folder, *entry) || options_no_memory(o));
}

static bool find_overrides(struct policies *p, struct options *o, const struct trace_group *trace,
                           struct policy_of_trace *of)
{
	const struct policy_file *const file = of->entry > 0 ? p->entries[of->entry - 1].file : NULL;
	const char *const path = trace_group_path(trace), *const disk = path_on_disk(trace);

	if (file == NULL || file->noverrides == 0)
		return true;
	bool failed;
	char *const folder = folder_of(o, disk, &failed);
	if (failed)
		return false;
	const struct slice full = arena_printf(&p->arena, "%s/%s",
	                                       folder == NULL             ? ""
	                                       : strcmp(folder, "/") == 0 ? ""
	                                                                  : folder,
	                                       path + (path_name(disk) - disk));
	free(folder);
	if (full.p == NULL)
		return options_no_memory(o);
	of->overrides = policy_file_overrides(file, full.p);
	return true;
}

static bool find_all(struct policies *p, struct options *o, const struct trace_groups *traces)
{
	uint32_t entry = 0;

	if (p->line->config != NULL && !read_entry(p, o, p->line->config, false, &entry))
		return false;
	for (uint32_t i = 0; i < traces->n; i++) {
		struct policy_of_trace *const of = &p->traces[i];
		of->entry = entry;
		if (p->line->config == NULL && !p->line->no_config &&
		    !find_entry(p, o, &traces->list[i], &of->entry))
			return false;
		if (!find_overrides(p, o, &traces->list[i], of))
			return false;
	}
	return true;
}

/* ---- which findings count ---- */

void policies_of(const struct policies *p, struct policy_of_trace of, struct policy *policy)
{
	const struct policy_file *const file = of.entry > 0 ? p->entries[of.entry - 1].file : NULL;

	*policy = policy_of_rules;
	if (file != NULL)
		policy->choices[policy->n++] = &file->own.choice;
	for (uint32_t i = 0; file != NULL && i < file->noverrides; i++)
		if ((of.overrides >> i & 1) != 0)
			policy->choices[policy->n++] = &file->overrides[i].choice;
	policy->choices[policy->n++] = &p->line->choice;
}

void policies_names(const struct policies *p, struct run_names *n)
{
	for (uint32_t i = 0; i < p->nentries; i++) {
		run_names_read(n, "policy", p->entries[i].path);
		run_names_read(n, "baseline of the policy", p->entries[i].baseline_path);
	}
}

const struct policy_file *policies_first(const struct policies *p)
{
	return p->nentries > 0 ? p->entries[0].file : NULL;
}

bool policies_checks(const struct policies *p, size_t trace, struct policy_checks *c,
                     const struct policy_baseline **baseline)
{
	const struct policy_of_trace *const of = &p->traces[trace];
	const struct policy_entry *const entry = of->entry > 0 ? &p->entries[of->entry - 1] : NULL;

	*baseline = p->baseline != NULL ? p->baseline : entry != NULL ? entry->baseline : NULL;
	return policy_checks_init(c, entry != NULL ? entry->file : NULL, of->overrides, *baseline != NULL);
}

/* ---- all policies of a run ---- */

bool policies_init(struct policies *p, struct options *o, const struct policy_options *line,
                   const struct trace_groups *traces)
{
	bool failed;

	*p = (struct policies){ .line = line };
	p->here = real_path(o, ".", "the current directory", &failed);
	if (failed)
		return false;
	if (p->here == NULL)
		p->here = strdup("/"); /* the folder was removed */
	p->traces = calloc((size_t)traces->n + 1, sizeof *p->traces);
	if (p->here == NULL || p->traces == NULL)
		return options_no_memory(o);
	for (unsigned i = 0; i < line->nbaselines; i++) {
		struct policy_baseline *const b =
		    read_baseline(o, NULL, line->baselines[i], line->baselines[i]);
		if (b == NULL)
			return false;
		baseline_add(&p->baseline, b);
	}
	if (!find_all(p, o, traces))
		return false;
	const struct policy_file *const first = policies_first(p);
	const struct policy_of_trace own = { .entry = p->nentries > 0 };
	policies_of(p, own, &p->whole);
	p->whole.max = line->limit > 0 ? line->limit : first != NULL ? first->max_findings : UINT64_MAX;
	return true;
}

void policies_free(struct policies *p)
{
	for (uint32_t i = 0; i < p->nentries; i++) {
		policy_file_free(p->entries[i].file);
		baseline_free(p->entries[i].baseline);
	}
	free(p->entries);
	baseline_free(p->baseline);
	free(p->traces);
	free(p->here);
	tabletext_free(&p->folders);
	tabletext_free(&p->paths);
	arena_free(&p->arena);
}

/* Reading a policy: values, sets of events, findings that count, keys of the whole run, and overrides; and
 * finding the policy of a folder.  The keys `expect` and `budgets` are in read_expect.c.  Mistakes become
 * findings; reading continues after a mistake, so that one run reports all mistakes of a file. */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "policy/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/match.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/os.h"
#include "check/rules.h"
#include "format/registry.h"
#include "report/report.h"

/* ---- values ---- */

void *policy_alloc(struct policy_draft *d, size_t n, size_t size)
{
	void *const p = arena_zalloc(&d->file->arena, n, size);

	d->yaml.no_memory |= p == NULL;
	return p;
}

bool policy_map(struct policy_draft *d, const struct yaml_node *node, const char *what,
                const struct policy_key *keys, size_t n, void *into)
{
	const struct yaml_node *values[POLICY_MAX_KEYS];
	const uint64_t mistakes = d->yaml.mistakes;

	if (!yaml_keys(&d->yaml, node, what, &keys[0].name, sizeof keys[0], n, values))
		return false;
	for (size_t i = 0; i < n; i++)
		if (values[i] != NULL)
			keys[i].read(d, values[i], keys[i].name, (char *)into + keys[i].at);
	return d->yaml.mistakes == mistakes;
}

bool policy_text(struct policy_draft *d, const struct yaml_node *node, const char *what, struct slice *out)
{
	if (!yaml_is_text(&d->yaml, node, what))
		return false;
	*out = arena_copy(&d->file->arena, node->text);
	d->yaml.no_memory |= out->p == NULL;
	return out->p != NULL;
}

bool policy_pattern(struct policy_draft *d, const struct yaml_node *node, const char *what, void *pattern)
{
	struct slice *const out = pattern;

	if (!policy_text(d, node, what, out))
		return false;
	if (out->n > POLICY_MAX_PATTERN)
		return yaml_bad(&d->yaml, node, "%s is longer than %u bytes", what, POLICY_MAX_PATTERN);
	return yaml_is_glob(&d->yaml, node, what, *out);
}

bool policy_read_patterns(struct policy_draft *d, const struct yaml_node *node, const char *what,
                          void *patterns)
{
	struct slice *const texts = policy_alloc(d, yaml_count(node), sizeof *texts);
	uint32_t i = 0;

	if (texts == NULL)
		return false;
	if (yaml_count(node) == 0)
		return yaml_bad(&d->yaml, node, "%s is an empty list", what);
	if (yaml_count(node) > POLICY_MAX_NAMES)
		return yaml_bad(&d->yaml, node, "%s has more than %u entries", what, POLICY_MAX_NAMES);
	for (const struct yaml_node *item = yaml_first(node); item != NULL; item = yaml_after(node, item))
		if (policy_pattern(d, item, what, &texts[i]))
			i++;
	*(struct policy_patterns *)patterns = (struct policy_patterns){ texts, i };
	return i > 0;
}

bool policy_number(struct policy_draft *d, const struct yaml_node *node, const char *what,
                   bool (*units)(struct slice, uint64_t *), const char *form, uint64_t *n)
{
	struct quoted q;

	return yaml_is_text(&d->yaml, node, what) &&
	       (units(node->text, n) ||
	        yaml_bad(&d->yaml, node, "%s is %s, not %s", what, form, quoted(&q, node->text)));
}

static bool read_count(struct policy_draft *d, const struct yaml_node *node, const char *what, void *number)
{
	return policy_number(d, node, what, units_count, "a whole number such as 20", number);
}

bool policy_bounds(struct policy_draft *d, const struct yaml_node *node, const char *what,
                   policy_reader *read, void *range)
{
	const struct policy_key keys[] = {
		{ "min", read, offsetof(struct policy_range, min) },
		{ "max", read, offsetof(struct policy_range, max) },
	};
	const struct policy_range *const r = range;

	return POLICY_MAP(d, node, what, keys, range) &&
	       (r->min <= r->max || yaml_bad(&d->yaml, node, "%s: min is more than max", what));
}

bool policy_count_range(struct policy_draft *d, const struct yaml_node *node, const char *what, void *range)
{
	struct policy_range *const out = range;

	*out = (struct policy_range){ 0, UINT64_MAX };
	if (node->kind != NODE_SCALAR)
		return policy_bounds(d, node, what, read_count, out);
	if (!read_count(d, node, what, &out->min))
		return false;
	out->max = out->min;
	return true;
}

/* ---- sets of events ---- */

bool policy_read_kind(struct policy_draft *d, const struct yaml_node *node, const char *what, void *kinds)
{
	static const char *const keywords[] = { "span", "async", "instant", "counter",
		                                NULL }; /* enum policy_kind */
	uint32_t i;

	if (!yaml_word(&d->yaml, node, what, keywords, &i))
		return false;
	*(unsigned *)kinds = 1U << i;
	return true;
}

bool policy_filter_stated(const struct policy_filter *filter)
{
	return filter->name.p != NULL || filter->category.p != NULL || filter->thread.p != NULL;
}

bool policy_pattern_equal(struct slice a, struct slice b)
{
	return (a.p == NULL) == (b.p == NULL) && slice_equal(a, b);
}

bool policy_filter_equal(const struct policy_filter *a, const struct policy_filter *b)
{
	return policy_pattern_equal(a->name, b->name) && policy_pattern_equal(a->category, b->category) &&
	       policy_pattern_equal(a->thread, b->thread) && a->kinds == b->kinds;
}

/* ---- findings that count ---- */

const char *const policy_fail_levels[] = { "note", "warning", "limit", "error", "never", NULL };

static bool report_no_rule(struct policy_draft *d, const struct yaml_node *node, const char *key,
                           struct slice rules)
{
	struct quoted q;

	/* the search for the nearest rule is slow: only for a finding that is shown */
	const char *const nearest = finding_is_shown(d->yaml.findings, &policy_rules[YAML_BAD_VALUE])
	                                ? rule_nearest_name(rules.p)
	                                : NULL;
	if (nearest != NULL)
		return yaml_bad(&d->yaml, node, "%s: no rule matches %s; did you mean %s?", key,
		                quoted(&q, rules), nearest);
	return yaml_bad(&d->yaml, node, "%s: no rule matches %s; tracetool rules lists them", key,
	                quoted(&q, rules));
}

/* Charges n patterns of rules against the limit of the file. */
static bool charge_patterns(struct policy_draft *d, const struct yaml_node *node, uint32_t n)
{
	if (n > POLICY_MAX_RULES - d->file->nrules)
		return yaml_bad(&d->yaml, node, "there are more than %u patterns of rules in all",
		                POLICY_MAX_RULES);
	d->file->nrules += n;
	return true;
}

static bool read_rule_pattern(struct policy_draft *d, const struct yaml_node *node, const char *key,
                              struct policy_choice *c, enum policy_choice_key which, enum level level)
{
	struct slice rules;
	bool fits = true;

	if (!policy_pattern(d, node, which == CHOICE_LEVEL ? "a rule" : key, &rules))
		return false;
	d->yaml.no_memory |= !policy_choice_add(c, which, rules, level, &fits);
	return fits || report_no_rule(d, node, key, rules);
}

static bool read_rule_patterns(struct policy_draft *d, const struct yaml_node *node, const char *key,
                               struct policy_choice *c, enum policy_choice_key which)
{
	bool ok = charge_patterns(d, node, yaml_count(node));

	if (!ok)
		return false;
	for (const struct yaml_node *item = yaml_first(node); item != NULL; item = yaml_after(node, item))
		ok &= read_rule_pattern(d, item, key, c, which, LEVEL_NOTE);
	return ok;
}

static bool read_select(struct policy_draft *d, const struct yaml_node *node, const char *what, void *choice)
{
	return read_rule_patterns(d, node, what, choice, CHOICE_SELECT);
}

static bool read_ignore(struct policy_draft *d, const struct yaml_node *node, const char *what, void *choice)
{
	return read_rule_patterns(d, node, what, choice, CHOICE_IGNORE);
}

static bool read_level(struct policy_draft *d, const struct yaml_node *node, const char *what, void *choice)
{
	bool ok = true;
	uint32_t level;

	if (node->kind != NODE_MAP)
		return yaml_bad(&d->yaml, node, "level is a mapping of rules to levels");
	if (!charge_patterns(d, node, node->n / 2))
		return false;
	for (const struct yaml_node *key = node->child; key != NULL; key = key->next->next)
		ok &= yaml_is_first(&d->yaml, node, key) &&
		      yaml_word(&d->yaml, key->next, "a level", level_names, &level) &&
		      read_rule_pattern(d, key, what, choice, CHOICE_LEVEL, (enum level)level);
	return ok;
}

static bool read_fail_level(struct policy_draft *d, const struct yaml_node *node, const char *what, void *to)
{
	uint32_t level;

	if (!yaml_word(&d->yaml, node, what, policy_fail_levels, &level))
		return false;
	*(int *)to = (int)level;
	return true;
}

static bool read_exit_zero(struct policy_draft *d, const struct yaml_node *node, const char *what, void *to)
{
	bool yes;

	if (!yaml_bool(&d->yaml, node, what, &yes))
		return false;
	*(int *)to = yes;
	return true;
}

/* ---- keys of the whole run ---- */

/* Checks that a file that the policy names is below its folder. */
static bool check_below(struct policy_draft *d, const struct yaml_node *node, const char *what,
                        const char *path)
{
	const char *const mistake = below_mistake(path);

	return mistake == NULL ||
	       yaml_bad(&d->yaml, node, "%s must be below the directory of the policy: %s", what, mistake);
}

static bool check_report(struct policy_draft *d, const struct yaml_node *node, struct slice name)
{
	char list[200] = "auto";
	size_t n = strlen(list);
	struct quoted q;

	if (slice_is(name, "auto"))
		return true;
	for (const struct report_ops *const *r = report_kinds; *r != NULL; r++) {
		if (slice_is(name, (*r)->name))
			return true;
		if (n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, ", %s", (*r)->name);
	}
	return yaml_bad(&d->yaml, node, "a report is one of %s, not %s", list, quoted(&q, name));
}

static bool read_one_report(struct policy_draft *d, const struct yaml_node *node, struct policy_report *out)
{
	struct slice text;
	struct quoted q;

	if (!policy_text(d, node, "report", &text))
		return false;
	const char *const equals = strchr(text.p, '=');
	const struct slice format = slice_of(text.p, strcspn(text.p, "="));
	if (!check_report(d, node, format) ||
	    (equals != NULL && !check_below(d, node, "the file of a report", equals + 1)))
		return false;
	out->format = arena_copy(&d->file->arena, format).p;
	out->file = equals != NULL ? equals + 1 : NULL;
	for (const struct policy_report *r = d->file->reports; r < out; r++)
		if (r->file == out->file ||
		    (r->file != NULL && out->file != NULL && strcmp(r->file, out->file) == 0))
			return yaml_bad(&d->yaml, node, "two reports go to %s; name a file for each",
			                out->file != NULL ? quoted(&q, slice_str(out->file))
			                                  : "standard output");
	d->yaml.no_memory |= out->format == NULL;
	return out->format != NULL;
}

static bool read_report(struct policy_draft *d, const struct yaml_node *node, const char *what, void *file)
{
	struct policy_report *const reports = policy_alloc(d, yaml_count(node), sizeof *reports);

	if (reports == NULL)
		return false;
	if (node->kind == NODE_LIST && node->n > POLICY_MAX_REPORTS)
		return yaml_bad(&d->yaml, node, "report has more than %u entries", POLICY_MAX_REPORTS);
	d->file->reports = reports;
	for (const struct yaml_node *item = yaml_first(node); item != NULL; item = yaml_after(node, item))
		d->file->nreports += read_one_report(d, item, &reports[d->file->nreports]);
	return true;
}

static bool read_threads(struct policy_draft *d, const struct yaml_node *node, const char *what, void *number)
{
	return read_count(d, node, what, number) &&
	       (*(const uint64_t *)number > 0 ||
	        yaml_bad(&d->yaml, node, "threads is a number of at least 1"));
}

static bool read_baseline(struct policy_draft *d, const struct yaml_node *node, const char *what, void *path)
{
	struct slice name;

	if (!policy_text(d, node, what, &name) || !check_below(d, node, "a baseline", name.p))
		return false;
	*(const char **)path = name.p;
	return true;
}

/* ---- overrides ---- */

#define SECTION_KEYS                                                                                         \
	{ "select", read_select, offsetof(struct policy_section, choice) },                                  \
	    { "ignore", read_ignore, offsetof(struct policy_section, choice) },                              \
	    { "level", read_level, offsetof(struct policy_section, choice) },                                \
	    { "fail-level", read_fail_level, offsetof(struct policy_section, choice.fail_level) },           \
	    { "exit-zero", read_exit_zero, offsetof(struct policy_section, choice.exit_zero) },              \
	    { "expect", policy_read_expect, 0 },                                                             \
	{                                                                                                    \
		"budgets", policy_read_budgets, 0                                                            \
	}

static bool read_overrides(struct policy_draft *d, const struct yaml_node *node, const char *what,
                           void *section)
{
	static const struct policy_key keys[] = {
		{ "paths", policy_read_patterns, offsetof(struct policy_section, paths) }, SECTION_KEYS
	};
	struct policy_file *const f = d->file;

	if (node->kind != NODE_LIST || node->n > POLICY_MAX_OVERRIDES)
		return yaml_bad(&d->yaml, node, "overrides is a list of at most %u mappings",
		                POLICY_MAX_OVERRIDES);
	f->overrides = policy_alloc(d, node->n, sizeof *f->overrides);
	if (f->overrides == NULL)
		return false;
	for (const struct yaml_node *item = node->child; item != NULL; item = item->next) {
		struct policy_section *const s = &f->overrides[f->noverrides++];
		s->choice = (struct policy_choice)POLICY_CHOICE_NONE;
		if (POLICY_MAP(d, item, "an override", keys, s) && s->paths.n == 0)
			yaml_bad(&d->yaml, item, "an override has no paths");
	}
	return true;
}

uint32_t policy_file_overrides(const struct policy_file *f, const char *path)
{
	const size_t n = strlen(f->folder);
	uint32_t bits = 0;

	if (strncmp(path, f->folder, n) == 0 && path[n] == '/')
		path += n + 1;
	else if (n == 1)
		path++; /* the folder is / */
	const char *const name = path_name(path);
	for (uint32_t i = 0; i < f->noverrides; i++)
		for (uint32_t k = 0; k < f->overrides[i].paths.n; k++) {
			const struct slice glob = f->overrides[i].paths.list[k];
			const bool bare = memchr(glob.p, '/', glob.n) == NULL;
			if (glob_fits(glob, slice_str(bare ? name : path)))
				bits |= UINT32_C(1) << i;
		}
	return bits;
}

/* ---- the whole file ---- */

static const struct policy_key file_keys[] = {
	SECTION_KEYS,
	{ "report", read_report, 0 },
	{ "max-findings", read_count, offsetof(struct policy_file, max_findings) },
	{ "threads", read_threads, offsetof(struct policy_file, threads) },
	{ "baseline", read_baseline, offsetof(struct policy_file, baseline) },
	{ "overrides", read_overrides, 0 },
};

static struct policy_file *new_file(const char *name, const char *folder)
{
	struct policy_file *const f = calloc(1, sizeof *f);

	if (f == NULL)
		return NULL;
	f->own.choice = (struct policy_choice)POLICY_CHOICE_NONE;
	f->max_findings = UINT64_MAX;
	f->path = arena_copy(&f->arena, slice_str(name)).p;
	f->folder = arena_copy(&f->arena, slice_str(folder)).p;
	if (f->path != NULL && f->folder != NULL)
		return f;
	policy_file_free(f);
	return NULL;
}

void policy_file_free(struct policy_file *f)
{
	if (f == NULL)
		return;
	policy_choice_free(&f->own.choice);
	for (uint32_t i = 0; i < f->noverrides; i++)
		policy_choice_free(&f->overrides[i].choice);
	arena_free(&f->arena);
	free(f);
}

struct policy_file *policy_file_parse(struct slice text, const char *name, const char *folder,
                                      struct findings *findings, bool *no_memory)
{
	struct policy_draft d = { .yaml = { .text = text, .rules = policy_rules, .findings = findings } };
	const struct yaml_node *root;

	*no_memory = true;
	d.file = new_file(name, folder);
	if (d.file == NULL)
		return NULL;
	root = yaml_root(&d.yaml);
	if (root != NULL)
		POLICY_MAP(&d, root, "a policy", file_keys, d.file);
	arena_free(&d.yaml.nodes);
	*no_memory = d.yaml.no_memory || d.file->arena.failed;
	if (d.yaml.mistakes == 0 && !*no_memory)
		return d.file;
	policy_file_free(d.file);
	return NULL;
}

struct policy_file *policy_file_read(const char *path, const char *name, const char *folder,
                                     struct findings *findings, bool *no_memory)
{
	char *text;
	size_t n;

	*no_memory = false;
	if (!yaml_read(path, POLICY_MAX_BYTES, policy_rules, findings, &text, &n))
		return NULL;
	struct policy_file *const f = policy_file_parse(slice_of(text, n), name, folder, findings, no_memory);
	free(text);
	return f;
}

/* ---- the policy of a folder ---- */

/* Returns true if the folder of n bytes contains a file of this name, and writes its path to `path`, which
 * has space for both.  *error: errno if stat() fails otherwise. */
static bool has_file(char *path, const char *folder, size_t n, const char *name, int *error)
{
	struct stat st;

	memcpy(path, folder, n);
	sprintf(path + n, "%s%s", n > 0 && folder[n - 1] == '/' ? "" : "/", name);
	if (stat(path, &st) == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		*error = errno;
	return false;
}

/* Returns the length of the parent folder, or 0. */
static size_t parent_length(const char *folder, size_t n)
{
	if (n <= 1)
		return 0;
	while (n > 1 && folder[n - 1] != '/')
		n--;
	return n > 1 ? n - 1 : 1;
}

/* Returns the length of the folder where the search ends. */
static size_t root_length(char *path, const char *folder, const char *here, int *error)
{
	const size_t n = strlen(folder), h = strlen(here);

	for (size_t i = n; i > 0; i = parent_length(folder, i))
		if (has_file(path, folder, i, ".git", error))
			return i;
	if (strncmp(folder, here, h) == 0 && (folder[h] == '\0' || folder[h] == '/' || h == 1))
		return h;
	return n;
}

char *policy_find(const char *folder, const char *here, int *error)
{
	char *const full = realpath(folder, NULL);
	bool found = false;

	*error = full != NULL || errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
	if (full == NULL)
		return NULL;
	char *path = malloc(strlen(full) + sizeof POLICY_NAME + 8);
	if (path != NULL) {
		const size_t root = root_length(path, full, here, error);
		for (size_t n = strlen(full); n >= root && n > 0 && !found; n = parent_length(full, n))
			found = has_file(path, full, n, POLICY_NAME, error);
	} else {
		*error = ENOMEM;
	}
	free(full);
	if (!found || *error != 0) {
		free(path);
		path = NULL;
	}
	return path;
}

/* ---- patterns of rules ---- */

/* A pattern is matched against all rules once, when it is added; a choice is an array of effects, one per
 * rule. */

bool policy_choice_add(struct policy_choice *c, enum policy_choice_key key, struct slice rules,
                       enum level level, bool *fits)
{
	struct rule_walk w = { .list = 0 };
	uint32_t cap = 0;

	if (c->n == 0)
		for (const struct rule *r; (r = rule_next(&w)) != NULL;) {
			if (!array_reserve(&c->effects, (uint32_t)c->n, &cap, sizeof *c->effects))
				return false;
			c->effects[c->n++] = (struct policy_effect){ .rule = r, .level = -1 };
		}
	c->selects |= key == CHOICE_SELECT;
	*fits = false;
	for (size_t i = 0; i < c->n; i++) {
		struct policy_effect *const e = &c->effects[i];
		if (!glob_fits(rules, slice_str(e->rule->id)))
			continue;
		*fits = true;
		e->selected |= key == CHOICE_SELECT;
		e->ignored |= key == CHOICE_IGNORE;
		if (key == CHOICE_LEVEL)
			e->level = (int)level;
	}
	return true;
}

void policy_choice_free(struct policy_choice *c)
{
	free(c->effects);
	*c = (struct policy_choice)POLICY_CHOICE_NONE;
}

/*
 * Reports of any kind, and parts that several kinds share: escaped text, sums, paths of files relative to the
 * root of the repository, and fingerprints.
 */

#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "output/text_json.h"
#include "output/text_visible.h"
#include "report/parts.h"

void report_put_json(struct text *t, const char *s)
{
	const char *const end = s + strlen(s);

	text_char(t, '"');
	for (const char *at = s; (at = strstr(at, "##")) != NULL; at++)
		if (text_is_command(at, end)) {
			text_json_chars(t, slice_of(s, (size_t)(at - s)));
			text_str(t, "#\\u0023");
			s = at + 2;
		}
	text_json_chars(t, slice_str(s));
	text_char(t, '"');
}

void report_put_string(struct json_out *o, const char *key, const char *s)
{
	if (s != NULL)
		report_put_json(json_out_value(o, key), s);
	else
		json_out_null(o, key);
}

void report_put_xml(struct text *t, const char *s)
{
	const char *const end = s + strlen(s);

	for (; *s != '\0'; s++) {
		const unsigned char c = (unsigned char)*s;
		if (c == '&')
			text_str(t, "&amp;");
		else if (c == '<')
			text_str(t, "&lt;");
		else if (c == '>')
			text_str(t, "&gt;");
		else if (c == '"')
			text_str(t, "&quot;");
		else if (text_is_command(s, end))
			text_str(t, "&#35;");
		else if (c == 0xef && (unsigned char)s[1] == 0xbf && (unsigned char)s[2] >= 0xbe)
			text_str(t, "?"), s += 2; /* U+FFFE, U+FFFF */
		else if (c < 0x20 && c != '\n')
			text_printf(t, "\\x%02x", (unsigned)c);
		else
			text_char(t, (char)c);
	}
}

void report_put_guarded(struct text *t, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text_is_command(p + i, p + n)) {
			text_str(t, "#\\x23");
			i++;
		} else if (n - i >= 2 && memcmp(p + i, "::", 2) == 0) {
			text_str(t, ":\\x3a");
			i++;
		} else {
			text_char(t, p[i]);
		}
	}
}

void report_put_visible(struct text *t, const char *s, void (*escape)(struct text *t, struct slice s))
{
	struct text visible = { .p = NULL };

	text_visible_message(&visible, slice_str(s));
	escape(t, slice_of(visible.p, visible.n));
	t->failed |= visible.failed;
	text_free(&visible);
}

void report_put_sum(struct text *t, const struct report_totals *totals)
{
	uint64_t sum = 0;

	for (int level = LEVEL_COUNT - 1; level >= 0; level--) {
		if (level == LEVEL_LIMIT && totals->levels[level] == 0)
			continue;
		text_count(t, level == LEVEL_COUNT - 1 ? "" : ", ", totals->levels[level],
		           level_name((enum level)level));
		sum += totals->levels[level];
	}
	text_count(t, " in ", totals->files, "file");
	if (totals->unreadable > 0)
		text_count(t, ", of which could not be read: ", totals->unreadable, "file");
	if (sum > totals->listed)
		text_printf(t, "; %" PRIu64 " more are not listed", sum - totals->listed);
	if (totals->left_out > 0)
		text_count(t, "; ", totals->left_out, "finding");
	text_str(t, totals->left_out > 0 ? " left out by --select-rules, --ignore-rules or a policy" : "");
}

uint32_t report_rules_index(struct report_rules *r, const struct rule *rule)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->list[i] == rule)
			return i;
	if (!array_reserve(&r->list, r->n, &r->cap, sizeof(struct rule *)))
		return UINT32_MAX;
	r->list[r->n] = rule;
	return r->n++;
}

/* ---- names of files ---- */

/* Appends the parts of a path to an absolute path, resolving "." and "..". */
static void put_path_parts(struct text *t, const char *path)
{
	while (*path != '\0') {
		const size_t n = strcspn(path, "/");
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (t->n > 0 && t->p[--t->n] != '/')
				;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			text_char(t, '/');
			text_add(t, path, n);
		}
		path += n;
		path += *path == '/';
	}
}

void report_put_path(struct text *t, const struct report_context *c, const char *path)
{
	const char *const roots[] = { c->root, c->real_root };
	struct text full = { .p = NULL }, root = { .p = NULL };
	size_t from = 1;

	if (strcmp(path, "-") == 0) {
		text_str(t, "stdin");
		return;
	}
	if (path[0] != '/')
		put_path_parts(&full, c->folder);
	put_path_parts(&full, path);
	for (size_t i = 0; i < COUNT_OF(roots) && from == 1 && roots[i] != NULL; i++) {
		text_clear(&root);
		put_path_parts(&root, roots[i]);
		if (root.n > 0 && full.n > root.n && memcmp(full.p, root.p, root.n) == 0 &&
		    full.p[root.n] == '/')
			from += root.n;
	}
	if (full.n > from)
		text_add(t, full.p + from, full.n - from);
	else
		text_char(t, '.');
	t->failed |= full.failed || root.failed;
	text_free(&full);
	text_free(&root);
}

/* ---- fingerprints ---- */

#define FNV_START 0xcbf29ce484222325U
#define FNV_PRIME 0x100000001b3U

static uint64_t fnv_add(uint64_t hash, const char *s)
{
	do
		hash = (hash ^ (unsigned char)*s) * FNV_PRIME;
	while (*s++ != '\0');
	return hash;
}

bool report_put_fingerprint(struct text *t, struct table64 *seen, const char *file, const struct finding *f)
{
	uint64_t hash = fnv_add(fnv_add(FNV_START, f->rule->id), file);

	for (int i = 0; i < 64; i += 8)
		hash = (hash ^ ((f->record >> i) & 0xff)) * FNV_PRIME;
	const uint32_t before = table64_get(seen, hash), now = before == TABLE_NONE ? 1 : before + 1;
	text_printf(t, "\"%016" PRIx64 ":%" PRIu32 "\"", hash, now);
	return table64_put(seen, hash, now);
}

/* ---- a report of any kind ---- */

const struct report_ops *const report_kinds[] = {
	&report_text,   &report_gcc,      &report_json,   &report_ndjson, &report_sarif, &report_junit,
	&report_github, &report_markdown, &report_gitlab, &report_html,   NULL,
};

const char *const report_words[] = { "text",   "gcc",      "json",   "ndjson", "sarif", "junit",
	                             "github", "markdown", "gitlab", "html",   "auto",  NULL };

static bool in_actions(void)
{
	const char *const value = getenv("GITHUB_ACTIONS");

	return value != NULL && strcmp(value, "true") == 0;
}

const struct report_ops *report_kind(size_t kind)
{
	return report_kinds[kind] != NULL ? report_kinds[kind] : in_actions() ? &report_github : &report_text;
}

/* The root is the folder of the repository that a CI service states, or else the current folder. */
void report_context_place(struct report_context *c, const char *folder)
{
	static const char *const names[] = { "CI_PROJECT_DIR", "GITHUB_WORKSPACE" };

	c->in_actions = in_actions();
	c->folder = c->root = folder;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *const root = getenv(names[i]);
		if (root != NULL && root[0] == '/')
			c->root = root;
	}
}

bool report_init(struct report *r, const struct report_ops *ops, const struct report_context *context)
{
	*r = (struct report){ .ops = ops, .context = context };
	r->state = calloc(1, ops->state_size > 0 ? ops->state_size : 1);
	return r->state != NULL;
}

void report_free(struct report *r)
{
	if (r->state != NULL && r->ops->free != NULL)
		r->ops->free(r);
	free(r->state);
	text_free(&r->out);
	*r = (struct report){ .ops = NULL };
}

void report_file(struct report *r, const struct report_file *file)
{
	for (struct report_view v = { .n = 0 }; r->ops->finding != NULL && report_next(file, &v);)
		r->ops->finding(r, file, &v.finding);
	if (r->ops->file != NULL)
		r->ops->file(r, file);
}

/* ---- a file, as its policy judges it ---- */

/* The verdict on each rule of the file is computed once.  Then each report iterates over the findings of the
 * log, and skips those left out or beyond the limit. */

struct report_rule *report_rule_of(const struct report_file *file, const struct rule *rule)
{
	for (size_t i = 0; i < file->record->ncounts; i++)
		if (file->rules[i].rule == rule)
			return &file->rules[i];
	return NULL;
}

static struct verdict verdict_of(const struct report_file *file, const struct finding *f)
{
	const struct report_rule *const rule = report_rule_of(file, f->rule);

	return rule != NULL ? rule->verdict : policy_decide(file->policy, f->rule);
}

bool report_judge(struct report_file *file, const struct file_record *k, const struct policy *policy,
                  uint64_t max, struct report_totals *totals, struct arena *arena)
{
	struct report_rule *const rules = arena_zalloc(arena, k->ncounts, sizeof *rules);
	const struct finding *f = k->findings;

	*file = (struct report_file){ .record = k, .policy = policy, .rules = rules };
	for (size_t i = 0; rules != NULL && i < k->ncounts; i++) {
		const uint64_t count = k->counts[i].count;
		const struct verdict v = policy_decide(policy, k->counts[i].rule);
		rules[i] = (struct report_rule){ k->counts[i].rule, v, count, 0 };
		if (v.left_out) {
			file->left_out += count;
			continue;
		}
		totals->exits |= v.exits;
		file->levels[v.level] += count;
	}
	for (size_t i = 0; rules != NULL && i < k->nfindings && totals->listed < max; i++, f = f->next) {
		struct report_rule *const rule = report_rule_of(file, f->rule);
		if (verdict_of(file, f).left_out)
			continue;
		if (rule != NULL)
			rule->listed++;
		file->nlisted++;
		totals->listed++;
	}
	file->valid = file->levels[LEVEL_ERROR] == 0 && !k->unreadable;
	totals->files += !k->whole;
	totals->unreadable += k->unreadable;
	totals->left_out += file->left_out;
	for (int level = 0; level < LEVEL_COUNT; level++)
		totals->levels[level] += file->levels[level];
	return rules != NULL;
}

bool report_next(const struct report_file *file, struct report_view *v)
{
	struct verdict verdict;

	if (v->n == file->nlisted)
		return false;
	do {
		v->at = v->at == NULL ? file->record->findings : v->at->next;
		verdict = verdict_of(file, v->at);
	} while (verdict.left_out);
	v->finding = *v->at;
	v->finding.level = verdict.level;
	v->n++;
	return true;
}

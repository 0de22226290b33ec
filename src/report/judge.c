/*
 * A file as its policy sees it: a view of the log.  The verdict on each rule of the file is computed once; a
 * report then iterates over the findings of the log, skipping those left out or beyond the limit.
 */
#include "report/report.h"

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

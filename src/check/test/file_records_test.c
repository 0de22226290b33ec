/* Records of files: which findings belong to a check of the policy. */
#include <criterion/criterion.h>

#include "check/findings.h"

static const struct rule a = { .id = "test/a", .level = LEVEL_ERROR },
                         b = { .id = "test/b", .level = LEVEL_NOTE };

static void add(void *ctx, const struct findings *j, const struct finding *f)
{
	(void)j;
	file_records_finding(ctx, f);
}

/* Those between its begin and its end. */
Test(file_records, findings_of_a_check)
{
	const struct rule *const rules[FILE_CHECK_RULES] = { &a, &b };
	const uint64_t counts[FILE_CHECK_RULES] = { 1, 0 };
	struct file_records k = { .failed = false };
	struct findings j;

	findings_init(&j, "path", add, &k);
	finding_add(&j, &a, 0, 0, "before");
	file_records_check(&k, "budget", rules);
	finding_add(&j, &a, 0, 0, "of the check");
	file_records_checked(&k, counts);
	finding_add(&j, &b, 0, 0, "behind");
	file_records_close(&k, &(struct file_record){ .path = "path" }, &j);
	const struct file_record *const r = k.first;
	cr_assert(!k.failed && r != NULL);
	cr_assert_eq(r->nfindings, 3);
	for (uint32_t i = 0; i < 3; i++)
		cr_expect_eq(r->findings[i].check, i == 1, "%s", r->findings[i].message);
	cr_assert_eq(r->nchecks, 1);
	cr_expect_eq(r->checks[0].counts[0], 1);
	file_records_free(&k);
	findings_free(&j);
}

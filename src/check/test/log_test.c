#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "check/findings.h"

static const struct rule a = { .id = "test/a", .level = LEVEL_ERROR },
                         b = { .id = "test/b", .level = LEVEL_NOTE };

struct said {
	char text[4096];
	size_t n;
};

static void note(void *ctx, const struct findings *j, const struct finding *f)
{
	struct said *const s = ctx;

	s->n += (size_t)snprintf(s->text + s->n, sizeof s->text - s->n, "%s %s %d:%d:@%d %s\n", j->path,
	                         f->rule->id, (int)f->line, (int)f->column, (int)f->offset, f->message);
}

Test(finding_list, streams_are_passed_on_in_order)
{
	size_t space = DEFERRED_BYTES;
	struct arena arena = { .head = NULL };
	struct finding_list k = { .arena = &arena, .space = &space };
	struct said s = { .n = 0 };
	struct findings j;

	findings_init(&j, "path", note, &s);
	j.list = &k;
	finding_add(&j, &a, 7, 0, "one");
	finding_add_line(&j, &b, (struct finding_place){ 3, 5, 2, 0, false }, "two %d", 2);
	cr_expect_eq(s.n, 0);
	j.list = NULL;
	findings_pass_all(&j, &k);
	cr_expect_str_eq(s.text, "path test/a 0:0:@7 one\npath test/b 5:2:@3 two 2\n");
	cr_expect_eq(space, DEFERRED_BYTES, "what was said takes no room");
	findings_pass_all(&j, &k);
	cr_expect_eq(s.n, strlen("path test/a 0:0:@7 one\npath test/b 5:2:@3 two 2\n"), "said once");
	findings_free(&j);
	arena_free(&arena);
}

Test(finding_list, too_many_are_counted)
{
	size_t space = 150;
	struct arena arena = { .head = NULL };
	struct finding_list k = { .arena = &arena, .space = &space };
	struct said s = { .n = 0 };
	struct findings j;

	findings_init(&j, "path", note, &s);
	j.list = &k;
	for (int i = 0; i < 10; i++)
		finding_add(&j, i == 9 ? &a : &b, 0, 0, "one of ten");
	j.list = NULL;
	findings_pass_all(&j, &k);
	cr_expect_eq(j.levels[LEVEL_NOTE] + j.levels[LEVEL_ERROR], 10);
	cr_expect_not_null(strstr(s.text, "path test/b 0:0:@0 one of ten\n"));
	cr_expect_not_null(strstr(s.text, "path test/a 0:0:@0 "), "the worst is named: %s", s.text);
	cr_expect_not_null(strstr(s.text, " findings, this one and others, are counted and not shown"), "%s",
	                   s.text);
	findings_free(&j);
	arena_free(&arena);
}

/* ---- the log ---- */

/* Adds `n` findings, directly or from a stream. */
static void add(struct finding_log *k, struct findings *j, const char *what, int n, struct arena *stream)
{
	size_t space = DEFERRED_BYTES;
	struct finding_list list = { .arena = stream, .space = &space };

	findings_init(j, "path", NULL, NULL);
	j->list = stream != NULL ? &list : &k->open;
	for (int i = 0; i < n; i++)
		finding_add(j, &a, (uint64_t)i, 0, "%s %d", what, i);
	j->list = &k->open;
	if (stream != NULL)
		findings_pass_all(j, &list);
}

static void expect_file(const struct file_record *r, const char *what, size_t n)
{
	const struct finding *f = r->findings;
	char message[80];

	cr_assert_eq(r->nfindings, n);
	for (size_t i = 0; i < n; i++, f = f->next) {
		snprintf(message, sizeof message, "%s %d", what, (int)f->offset);
		cr_expect_str_eq(f->message, message);
	}
}

Test(finding_log, files_are_ranges_of_the_log)
{
	struct arena stream = { .head = NULL };
	struct finding_log k;
	struct findings j;

	finding_log_init(&k);
	add(&k, &j, "first", 3, NULL);
	finding_log_close(&k, &(struct file_record){ .path = "1" }, &j);
	findings_free(&j);
	add(&k, &j, "second", 2, &stream);
	finding_log_close(&k, &(struct file_record){ .path = "2" }, &j);
	findings_free(&j);
	add(&k, &j, "second", 2, NULL);
	finding_log_amend(&k, &j);
	findings_free(&j);
	cr_assert(!k.failed);
	expect_file(k.first, "first", 3);
	expect_file(k.last, "second", 4);
	cr_expect_eq(k.first->next, k.last);
	cr_expect_eq(k.last->ncounts, 2);
	finding_log_free(&k);
	arena_free(&stream);
}

/* With a policy, a file may still be open when the next one already has findings. */
Test(finding_log, clear_keeps_open_findings)
{
	char what[40];
	struct finding_log k;
	struct findings j;

	finding_log_init(&k);
	for (int i = 0; i < 200; i++) {
		snprintf(what, sizeof what, "findings of file %d are", i);
		add(&k, &j, what, 20, NULL);
		finding_log_clear(&k);
		finding_log_close(&k, &(struct file_record){ .path = what }, &j);
		findings_free(&j);
		cr_assert_eq(k.first, k.last);
		expect_file(k.first, what, 20);
		cr_expect_str_eq(k.first->path, what);
		cr_expect_lt(k.arenas[0].used + k.arenas[1].used, 20000,
		             "memory of reported files is used again");
	}
	finding_log_free(&k);
}

/* Findings between the begin and the end of a check belong to it. */
Test(finding_log, findings_of_a_check)
{
	const struct rule *const rules[FILE_CHECK_RULES] = { &a, &b };
	const uint64_t counts[FILE_CHECK_RULES] = { 1, 0 };
	struct finding_log k;
	struct findings j;

	finding_log_init(&k);
	findings_init(&j, "path", NULL, NULL);
	j.list = &k.open;
	finding_add(&j, &a, 0, 0, "before");
	finding_log_check(&k, "budget", rules);
	finding_add(&j, &a, 0, 0, "of the check");
	finding_log_checked(&k, counts);
	finding_add(&j, &b, 0, 0, "after");
	finding_log_close(&k, &(struct file_record){ .path = "path" }, &j);
	const struct file_record *const r = k.first;
	cr_assert(!k.failed && r != NULL);
	cr_assert_eq(r->nfindings, 3);
	const struct finding *f = r->findings;
	for (int i = 0; i < 3; i++, f = f->next)
		cr_expect_eq(f->check, i == 1, "%s", f->message);
	cr_assert_eq(r->nchecks, 1);
	cr_expect_eq(r->checks[0].counts[0], 1);
	finding_log_free(&k);
	findings_free(&j);
}

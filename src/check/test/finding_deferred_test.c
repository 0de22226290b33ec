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

Test(finding_deferred, said_later_in_order)
{
	size_t room = DEFERRED_ROOM;
	struct deferred_findings k = { .room = &room };
	struct said s = { .n = 0 };
	struct findings j;

	findings_init(&j, "path", findings_defer, &k);
	finding_add(&j, &a, 7, 0, "one");
	finding_add_line(&j, &b, 3, 5, 2, 0, "two %d", 2);
	cr_expect_eq(s.n, 0);
	findings_report(&k, &j, note, &s);
	cr_expect_str_eq(s.text, "path test/a 0:0:@7 one\npath test/b 5:2:@3 two 2\n");
	cr_expect_eq(room, DEFERRED_ROOM, "what was said takes no room");
	findings_report(&k, &j, note, &s);
	cr_expect_eq(s.n, strlen("path test/a 0:0:@7 one\npath test/b 5:2:@3 two 2\n"), "said once");
	findings_free(&j);
}

Test(finding_deferred, too_many_are_counted)
{
	size_t room = 150;
	struct deferred_findings k = { .room = &room };
	struct said s = { .n = 0 };
	struct findings j;

	findings_init(&j, "path", findings_defer, &k);
	for (int i = 0; i < 10; i++)
		finding_add(&j, i == 9 ? &a : &b, 0, 0, "one of ten");
	findings_report(&k, &j, note, &s);
	cr_expect_eq(j.levels[LEVEL_NOTE] + j.levels[LEVEL_ERROR], 10);
	cr_expect_not_null(strstr(s.text, "path test/b 0:0:@0 one of ten\n"));
	cr_expect_not_null(strstr(s.text, "path test/a 0:0:@0 "), "the worst is named: %s", s.text);
	cr_expect_not_null(strstr(s.text, " findings, this one and others, are counted and not shown"), "%s",
	                   s.text);
	findings_free(&j);
}

#include <inttypes.h>

#include "check/report_parts.h"

/*
 * JUnit XML: a suite for each file, a case for each rule.  Rules of the file's
 * format that were not broken are cases that pass, until the report is long:
 * the services take 30 MB.  Findings below the fail level are output of their
 * case.
 */
#define LONG_REPORT ((uint64_t)16 << 20)

struct junit_state {
	uint64_t bytes;
	struct text name; /* of the file, as people see it, with a NUL */
	struct text path; /* from the root on, likewise */
};

static void
put_attribute(struct text *t, const char *name, const char *value)
{
	text_printf(t, " %s=\"", name);
	report_put_xml(t, value);
	text_char(t, '"');
}

static void
open_case(struct report *r, const char *rule)
{
	struct junit_state *const s = r->state;

	text_str(&r->out, "  <testcase");
	put_attribute(&r->out, "name", rule);
	put_attribute(&r->out, "classname", s->name.p);
	put_attribute(&r->out, "file", s->path.p);
}

/* The findings of a rule, one a line, as editors know them. */
static void
put_lines(struct report *r, const struct report_file *file, const struct report_rule *rule)
{
	struct junit_state *const s = r->state;
	struct text line = { .p = NULL };

	for (size_t i = 0; i < file->nfindings; i++) {
		const struct finding *const f = &file->findings[i];
		if (f->rule != rule->rule)
			continue;
		text_printf(&line, "%s:%" PRIu64 ":%" PRIu64 ": %s: @%" PRIu64 ": %s [%s]\n", s->name.p,
		            f->line > 0 ? f->line : 1, f->line > 0 && f->column > 0 ? f->column : 1,
		            level_name(f->level), f->offset, f->message, f->rule->id);
	}
	if (rule->count > rule->listed)
		text_printf(&line, "%" PRIu64 " more are not listed\n", rule->count - rule->listed);
	struct text safe = { .p = NULL };
	report_put_guarded(&safe, line.p, line.n);
	text_char(&safe, '\0');
	r->failed |= line.failed || safe.failed;
	if (!safe.failed)
		report_put_xml(&r->out, safe.p);
	text_free(&line);
	text_free(&safe);
}

static const char *
first_message(const struct report_file *file, const struct rule *rule)
{
	for (size_t i = 0; i < file->nfindings; i++)
		if (file->findings[i].rule == rule)
			return file->findings[i].message;
	return rule->text;
}

static bool
fails(const struct report_file *file, const struct report_rule *rule)
{
	return (int)rule->level >= file->policy->fail_level;
}

static void
put_case(struct report *r, const struct report_file *file, const struct report_rule *rule)
{
	struct text *const t = &r->out;

	open_case(r, rule->rule->id);
	if (fails(file, rule)) {
		text_str(t, ">\n   <failure");
		put_attribute(t, "message", first_message(file, rule->rule));
		put_attribute(t, "type", level_name(rule->level));
		text_char(t, '>');
		put_lines(r, file, rule);
		text_str(t, "</failure>\n  </testcase>\n");
	} else {
		text_str(t, ">\n   <system-out>");
		put_lines(r, file, rule);
		text_str(t, "</system-out>\n  </testcase>\n");
	}
}

static bool
was_found(const struct report_file *file, const struct rule *rule)
{
	for (size_t i = 0; i < file->nrules; i++)
		if (file->rules[i].rule == rule)
			return true;
	return false;
}

/* Rules of its format that can be seen to hold; those that are left out are not among them. */
static uint64_t
passing(struct report *r, const struct report_file *file, bool put)
{
	uint64_t n = 0;

	for (const struct rule *rule = file->record->rules; rule != NULL && rule->id != NULL; rule++) {
		if (was_found(file, rule) || policy_of(file->policy, rule).left_out)
			continue;
		n++;
		if (put) {
			open_case(r, rule->id);
			text_str(&r->out, "/>\n");
		}
	}
	return n;
}

static void
put_suite(struct report *r, const struct report_file *file)
{
	struct junit_state *const s = r->state;
	struct text *const t = &r->out;
	const bool brief = s->bytes > LONG_REPORT || file->record->unreadable;
	uint64_t failures = 0;

	for (size_t i = 0; i < file->nrules; i++)
		failures += fails(file, &file->rules[i]);
	const uint64_t tests = file->nrules + 1 + (brief ? 0 : passing(r, file, false));
	text_str(t, " <testsuite");
	put_attribute(t, "name", s->name.p);
	text_printf(t, " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%d\" skipped=\"0\">\n",
	            tests, failures, file->record->unreadable);
	open_case(r, "readable");
	if (file->record->unreadable)
		text_str(
		    t,
		    ">\n   <error message=\"the file could not be read\" type=\"error\"/>\n  </testcase>\n");
	else
		text_str(t, "/>\n");
	for (size_t i = 0; i < file->nrules; i++)
		put_case(r, file, &file->rules[i]);
	if (!brief)
		passing(r, file, true);
	if (file->left_out > 0)
		text_printf(t, "  <system-out>%" PRIu64 " findings are left out</system-out>\n",
		            file->left_out);
	text_str(t, " </testsuite>\n");
}

static void
file_end(struct report *r, const struct report_file *file)
{
	struct junit_state *const s = r->state;
	const size_t from = r->out.n;

	text_clear(&s->name);
	text_visible(&s->name, slice_str(file->record->path), 0);
	if (file->record->whole)
		text_str(&s->name, " (as a whole)");
	text_char(&s->name, '\0');
	struct text path = { .p = NULL };
	report_put_path(&path, r->context, file->record->path);
	text_clear(&s->path);
	text_visible(&s->path, slice_of(path.p, path.n), 0);
	text_char(&s->path, '\0');
	r->failed |= s->name.failed || s->path.failed || path.failed;
	text_free(&path);
	if (!s->name.failed && !s->path.failed)
		put_suite(r, file);
	s->bytes += r->out.n - from;
}

static void
begin(struct report *r)
{
	text_str(&r->out,
	         "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tracetool validate\">\n");
}

static void
end(struct report *r, const struct report_totals *totals)
{
	text_str(&r->out, "</testsuites>\n");
}

static void
free_state(struct report *r)
{
	struct junit_state *const s = r->state;

	text_free(&s->name);
	text_free(&s->path);
}

const struct report_ops report_junit = {
	.name = "junit",
	.state_size = sizeof(struct junit_state),
	.begin = begin,
	.file = file_end,
	.end = end,
	.free = free_state,
};

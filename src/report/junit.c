/*
 * JUnit XML: a suite for each file, a case for each rule and for each budget of a policy.  Unbroken rules of
 * the file's format are cases that pass; a long report leaves them out.  Findings below the fail level are
 * output of their case.
 */
#include <inttypes.h>

#include "report/parts.h"

#define LONG_REPORT ((uint64_t)16 << 20) /* bytes; CI services accept 30 MB */

struct junit_state {
	uint64_t bytes;    /* size of the suites so far */
	struct text cases; /* of the suite, which begins with their numbers */
	struct text name;  /* visible text of the file's name, with a NUL */
	struct text path;  /* visible text of report_put_path(), with a NUL */
};

/* The case of a rule or a check. */
struct junit_case {
	const char *name;
	const struct rule *rule; /* NULL: case of a check */
	uint32_t check;          /* number from 1; 0: case of a rule */
	enum level level;
	uint64_t count, listed;
	bool fails;
};

static bool is_of(const struct junit_case *c, const struct finding *f)
{
	return c->check > 0 ? f->check == c->check : f->rule == c->rule && f->check == 0;
}

static void put_attribute(struct text *t, const char *name, const char *value)
{
	text_printf(t, " %s=\"", name);
	report_put_xml(t, value);
	text_char(t, '"');
}

static void open_case(struct junit_state *s, const char *rule)
{
	text_str(&s->cases, "  <testcase");
	put_attribute(&s->cases, "name", rule);
	put_attribute(&s->cases, "classname", s->name.p);
	put_attribute(&s->cases, "file", s->path.p);
}

/* Writes the findings of the case, one a line, in the form that editors recognise. */
static void put_lines(struct report *r, const struct report_file *file, const struct junit_case *c)
{
	struct junit_state *const s = r->state;
	struct text line = { .p = NULL };

	for (struct report_view v = { .n = 0 }; report_next(file, &v);) {
		const struct finding *const f = &v.finding;
		if (!is_of(c, f))
			continue;
		text_printf(&line, "%s:%" PRIu64 ":%" PRIu64 ": %s: @%" PRIu64 ": %s [%s]\n", s->name.p,
		            report_line(f), report_column(f), level_name(f->level), f->offset, f->message,
		            f->rule->id);
	}
	if (c->count > c->listed)
		text_printf(&line, "%" PRIu64 " more are not listed\n", c->count - c->listed);
	struct text safe = { .p = NULL };
	report_put_guarded(&safe, line.p, line.n);
	text_char(&safe, '\0');
	r->failed |= line.failed || safe.failed;
	if (!safe.failed)
		report_put_xml(&s->cases, safe.p);
	text_free(&line);
	text_free(&safe);
}

static const char *first_message(const struct report_file *file, const struct junit_case *c)
{
	for (struct report_view v = { .n = 0 }; report_next(file, &v);)
		if (is_of(c, &v.finding))
			return v.finding.message;
	return c->rule != NULL ? c->rule->text : c->name;
}

static void put_case(struct report *r, const struct report_file *file, const struct junit_case *c)
{
	struct junit_state *const s = r->state;
	struct text *const t = &s->cases;

	open_case(s, c->name);
	if (c->count == 0) {
		text_str(t, "/>\n");
	} else if (c->fails) {
		text_str(t, ">\n   <failure");
		put_attribute(t, "message", first_message(file, c));
		put_attribute(t, "type", level_name(c->level));
		text_char(t, '>');
		put_lines(r, file, c);
		text_str(t, "</failure>\n  </testcase>\n");
	} else {
		text_str(t, ">\n   <system-out>");
		put_lines(r, file, c);
		text_str(t, "</system-out>\n  </testcase>\n");
	}
}

/* Whether all findings of the rule belong to checks, which have their own cases. */
static bool is_checked(const struct report_file *file, const struct rule *rule)
{
	for (size_t i = 0; i < file->record->nchecks; i++)
		for (int k = 0; k < FILE_CHECK_RULES; k++)
			if (file->record->checks[i].rules[k] == rule)
				return true;
	return false;
}

/* Returns false if all rules of the check are left out. */
static bool check_case(const struct report_file *file, uint32_t i, struct junit_case *c)
{
	const struct file_check *const check = &file->record->checks[i];
	bool seen = false;

	*c = (struct junit_case){ .name = check->name, .check = i + 1, .level = LEVEL_NOTE };
	for (int k = 0; k < FILE_CHECK_RULES; k++) {
		const struct verdict v = policy_decide(file->policy, check->rules[k]);
		if (v.left_out)
			continue;
		seen = true;
		c->count += check->counts[k];
		if (check->counts[k] > 0 && v.level > c->level)
			c->level = v.level;
		c->fails |= check->counts[k] > 0 && v.fails;
	}
	for (struct report_view v = { .n = 0 }; report_next(file, &v);)
		c->listed += v.finding.check == c->check;
	return seen;
}

/* Writes the cases of broken rules and of checks; returns their number, and adds those that fail. */
static uint64_t put_found(struct report *r, const struct report_file *file, uint64_t *failures)
{
	struct junit_case c;
	uint64_t n = 0;

	for (size_t i = 0; i < file->record->ncounts; i++) {
		const struct report_rule *const rule = &file->rules[i];
		if (rule->verdict.left_out || is_checked(file, rule->rule))
			continue;
		c = (struct junit_case){ .name = rule->rule->id,
			                 .rule = rule->rule,
			                 .level = rule->verdict.level,
			                 .count = rule->count,
			                 .listed = rule->listed,
			                 .fails = rule->verdict.fails };
		put_case(r, file, &c);
		*failures += c.fails;
		n++;
	}
	for (uint32_t i = 0; i < file->record->nchecks; i++)
		if (check_case(file, i, &c)) {
			put_case(r, file, &c);
			*failures += c.fails;
			n++;
		}
	return n;
}

/* Writes the cases of the unbroken rules of the format, without those left out; returns their number. */
static uint64_t put_passing(struct junit_state *s, const struct report_file *file)
{
	uint64_t n = 0;

	for (const struct rule *rule = file->record->rules; rule != NULL && rule->id != NULL; rule++) {
		if (report_rule_of(file, rule) != NULL || policy_decide(file->policy, rule).left_out)
			continue;
		open_case(s, rule->id);
		text_str(&s->cases, "/>\n");
		n++;
	}
	return n;
}

static void put_suite(struct report *r, const struct report_file *file)
{
	struct junit_state *const s = r->state;
	struct text *const t = &r->out;
	const bool brief = s->bytes > LONG_REPORT || file->record->unreadable;
	uint64_t failures = 0;

	text_clear(&s->cases);
	open_case(s, "readable");
	text_str(&s->cases,
	         file->record->unreadable
	             ? ">\n   <error message=\"the file could not be read\" type=\"error\"/>\n  </testcase>\n"
	             : "/>\n");
	uint64_t tests = 1 + put_found(r, file, &failures);
	tests += brief ? 0 : put_passing(s, file);
	text_str(t, " <testsuite");
	put_attribute(t, "name", s->name.p);
	text_printf(t, " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%d\" skipped=\"0\">\n",
	            tests, failures, file->record->unreadable);
	text_add(t, s->cases.p, s->cases.n);
	t->failed |= s->cases.failed;
	if (file->left_out > 0)
		text_printf(t, "  <system-out>%" PRIu64 " findings are left out</system-out>\n",
		            file->left_out);
	text_str(t, " </testsuite>\n");
}

static void file_end(struct report *r, const struct report_file *file)
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

#define JUNIT_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tracetool "

static void begin(struct report *r)
{
	text_printf(&r->out, JUNIT_HEAD "%s\">\n", r->context->command);
}

static void end(struct report *r, const struct report_totals *totals)
{
	text_str(&r->out, "</testsuites>\n");
}

static void free_state(struct report *r)
{
	struct junit_state *const s = r->state;

	text_free(&s->name);
	text_free(&s->path);
	text_free(&s->cases);
}

const struct report_ops report_junit = {
	.name = "junit",
	.head = JUNIT_HEAD,
	.state_size = sizeof(struct junit_state),
	.begin = begin,
	.file = file_end,
	.end = end,
	.free = free_state,
};

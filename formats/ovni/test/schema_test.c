/* The vocabulary that is built in, against the table of events that an independent reading of the sources
 * gave. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "vocab/vocab.h"

#define EVENTS 365

/* The columns of the table. */
enum column {
	MODEL,
	CHARACTER,
	VERSION,
	CODE,
	JUMBO,
	ARGS,
	KIND,
	MATCH,
	LABEL,
	NESTING,
	NEEDS,
	TYPE,
	VALUE,
	SINCE,
	COLUMNS
};

struct row {
	char *columns[COLUMNS];
};

static struct row rows[EVENTS];
static char *table;

/* The table in the folder next to the traces; NULL: it is not here. */
static char *read_table(void)
{
	const char *const traces = getenv("TRACETOOL_TRACES");
	char path[1024];
	size_t n;

	snprintf(path, sizeof path, "%s/../formats/ovni-events.tsv",
	         traces != NULL ? traces : "../shared/traces");
	return read_whole(path, &n);
}

static bool load_rows(void)
{
	size_t n = 0;
	char *line = table = read_table();

	if (table == NULL)
		return false;
	line = strchr(line, '\n') + 1; /* names of columns */
	for (char *next; *line != '\0' && (next = strchr(line, '\n')) != NULL; line = next + 1, n++) {
		*next = '\0';
		cr_assert_lt(n, EVENTS);
		for (int i = 0; i < COLUMNS; i++) {
			rows[n].columns[i] = line;
			line = strchr(line, '\t');
			cr_assert(line != NULL || i == COLUMNS - 1, "row %zu has %d columns", n, i + 1);
			if (line != NULL)
				*line++ = '\0';
		}
	}
	cr_assert_eq(n, EVENTS);
	return true;
}

static struct vocabulary *load_vocabulary(void)
{
	const struct slice text = vocab_builtin("ovni");
	struct vocabulary *const v = vocab_new("ovni");
	struct findings findings;

	cr_assert_not_null(text.p);
	cr_assert_not_null(v);
	findings_init(&findings, "built in", NULL, NULL);
	cr_assert(vocab_add_text(v, text.p, text.n, &findings, NULL));
	cr_expect_eq(findings.ncounts, 0);
	findings_free(&findings);
	return v;
}

static const struct plan *find(const struct vocabulary *v, const char *code)
{
	return v->ops->find(v, slice_str(code), NULL, NULL);
}

static const char *type_name(const struct plan_layout_field *f)
{
	static const char *const names[] = {
		[VALUE_U8] = "u8",   [VALUE_U16] = "u16", [VALUE_U32] = "u32",
		[VALUE_U64] = "u64", [VALUE_I8] = "i8",   [VALUE_I16] = "i16",
		[VALUE_I32] = "i32", [VALUE_I64] = "i64", [VALUE_STRING] = "str",
	};

	return f->type < sizeof names / sizeof names[0] && names[f->type] != NULL ? names[f->type] : "?";
}

/* The layout as the table writes it: "u32:typeid,str:label". */
static void expect_layout(const struct plan *m, const struct row *row)
{
	char text[256] = "-";
	size_t n = 0;

	cr_expect(m->has_layout, "%s has no layout", row->columns[CODE]);
	for (uint32_t i = 0; i < m->nlayout; i++)
		n +=
		    (size_t)snprintf(text + n, sizeof text - n, "%s%s:%.*s", i > 0 ? "," : "",
		                     type_name(&m->layout[i]), (int)m->layout[i].name.n, m->layout[i].name.p);
	cr_expect_str_eq(text, row->columns[ARGS], "%s", row->columns[CODE]);
}

static void expect_word(const struct plan *m, const char *word, const char *value, const char *code)
{
	cr_expect(slice_is(plan_word(m, word), value), "%s: %s is not %s", code, word, value);
}

static void expect_phase(const struct plan *m, const struct row *row)
{
	const char *const kind = row->columns[KIND];

	if (strcmp(kind, "push") == 0)
		cr_expect_eq(m->phase, PLAN_BEGIN, "%s", row->columns[CODE]);
	else if (strcmp(kind, "pop") == 0)
		cr_expect_eq(m->phase, PLAN_END, "%s", row->columns[CODE]);
	else if (strcmp(kind, "create") == 0)
		cr_expect_eq(m->phase, PLAN_INSTANT, "%s", row->columns[CODE]);
}

/* All codes whose state a thread's stack holds say which; the others say nothing of a stack. */
static void expect_state(const struct plan *m, const struct row *row)
{
	const char *const nesting = row->columns[NESTING];
	const bool push = strcmp(row->columns[KIND], "push") == 0 || strcmp(row->columns[KIND], "pop") == 0;
	const bool labels =
	    strncmp(row->columns[CODE], "PP", 2) == 0 || strncmp(row->columns[CODE], "PQ", 2) == 0;
	char value[64];

	if (!push || strcmp(nesting, "ignored") == 0 || row->columns[CODE][0] == 'O') {
		cr_expect_null(plan_word(m, "stack").p, "%s", row->columns[CODE]);
		return;
	}
	snprintf(value, sizeof value, "%s.%s", row->columns[TYPE], row->columns[VALUE]);
	expect_word(m, "value", labels ? "51.label" : value, row->columns[CODE]);
	if (strcmp(nesting, "task") != 0)
		expect_word(m, "repeat", strcmp(nesting, "stack-norepeat") == 0 ? "error" : "allowed",
		            row->columns[CODE]);
}

static void expect_needs(const struct plan *m, const struct row *row)
{
	static const char *const words[][2] = {
		{ "any+oncpu", "any" },   { "active", "active" },
		{ "running", "running" }, { "active+oncpu", "active-on-cpu" },
		{ "any", "any" },
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i][0], row->columns[NEEDS]) == 0)
			expect_word(m, "needs", words[i][1], row->columns[CODE]);
}

Test(ovni_schema, has_the_table_of_events)
{
	if (!load_rows())
		cr_skip_test("the table is not here");
	struct vocabulary *const v = load_vocabulary();

	for (int i = 0; i < EVENTS; i++) {
		const char *const code = rows[i].columns[CODE];
		const struct plan *const m = find(v, code);
		cr_assert_not_null(m, "%s", code);
		expect_layout(m, &rows[i]);
		expect_phase(m, &rows[i]);
		expect_state(m, &rows[i]);
		expect_needs(m, &rows[i]);
		expect_word(m, "kind", rows[i].columns[KIND], code);
		expect_word(m, "model", rows[i].columns[MODEL], code);
		cr_expect(slice_is(m->category, rows[i].columns[MODEL]), "%s", code);
		cr_expect_eq(plan_word(m, "jumbo").p != NULL, rows[i].columns[JUMBO][0] == '1', "%s", code);
	}
	vocab_free(v);
	free(table);
}

/* What begins is ended by its partner of the table, whichever way round. */
Test(ovni_schema, partners)
{
	if (!load_rows())
		cr_skip_test("the table is not here");
	struct vocabulary *const v = load_vocabulary();
	int pairs = 0;

	for (int i = 0; i < EVENTS; i++) {
		if (strcmp(rows[i].columns[KIND], "push") != 0)
			continue;
		const struct plan *const begin = find(v, rows[i].columns[CODE]), *const end = find(
		                                                                     v,
		                                                                     rows[i].columns[MATCH]);
		cr_assert(begin != NULL && end != NULL);
		cr_expect_neq(begin->pair, 0, "%s", rows[i].columns[CODE]);
		cr_expect_eq(begin->pair, end->pair, "%s", rows[i].columns[CODE]);
		cr_expect_eq(end->phase, PLAN_END, "%s", rows[i].columns[CODE]);
		pairs++;
	}
	cr_expect_eq(pairs, 163);
	vocab_free(v);
	free(table);
}

/* The match is by state, not by letters. */
Test(ovni_schema, one_state_of_two_names)
{
	struct vocabulary *const v = load_vocabulary();

	cr_expect_eq(find(v, "VS[")->pair, find(v, "VSn")->pair);
	cr_expect_neq(find(v, "VS[")->pair, find(v, "VU]")->pair);
	vocab_free(v);
}

/* One rule for each code, and each code of the file is one that the table has, or an old one. */
Test(ovni_schema, one_rule_for_each_code)
{
	const struct slice text = vocab_builtin("ovni");
	const char *const end = text.p + text.n;
	char seen[400][4];
	int n = 0;

	for (const char *p = text.p; (p = strstr(p, "{event: \"")) != NULL && p < end; p += 9, n++) {
		cr_assert_lt(n, 400);
		memcpy(seen[n], p + 9, 3);
		seen[n][3] = '\0';
		for (int i = 0; i < n; i++)
			cr_expect_str_neq(seen[i], seen[n]);
	}
	cr_expect_eq(n, EVENTS + 2);
}

/* What is not in the table, but met: bursts and events of regions of any letter, and old ones. */
Test(ovni_schema, others)
{
	struct vocabulary *const v = load_vocabulary();

	cr_expect_not_null(find(v, "OBx"));
	cr_expect_not_null(find(v, "OUj"));
	cr_expect_not_null(find(v, "6TC"));
	cr_expect_null(find(v, "6Tz"));
	cr_expect_null(find(v, "RT["));
	vocab_free(v);
}

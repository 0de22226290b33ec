/* The plans that the keys of the language are compiled to, and the rule that wins. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/match.h"
#include "model/trace_engine.h"
#include "vocab/vocab.h"
#include "vocab/private.h"

static void show(void *ctx, const struct findings *j, const struct finding *f)
{
	cr_log_error("line %" PRIu64 ": %s [%s]", f->line, f->message, f->rule->id);
}

static void add(struct vocabulary *v, const char *text, size_t want)
{
	struct findings j;
	size_t rules;

	findings_init(&j, "test.yaml", show, NULL);
	cr_assert(vocab_add_text(v, text, strlen(text), &j, &rules));
	cr_expect_eq(rules, want, "%zu rules, not %zu", rules, want);
	findings_free(&j);
}

static struct vocabulary *make(const char *text, size_t want)
{
	struct vocabulary *const v = vocab_new("heph");

	cr_assert_not_null(v);
	add(v, text, want);
	return v;
}

static const struct plan *find(const struct vocabulary *v, const char *name)
{
	return v->ops->find(v, slice_str(name), NULL, NULL);
}

static void expect_slice(struct slice s, const char *want)
{
	cr_expect(s.p != NULL && slice_is(s, want), "\"%.*s\", not \"%s\"", (int)s.n, s.p, want);
}

Test(vocab, phases_pairs_and_states)
{
	struct vocabulary *const v = make("format: heph\n"
	                                  "events:\n"
	                                  "  - {event: a, phase: begin, pair: x, key: id, category: c}\n"
	                                  "  - {event: b, phase: end, pair: x, key: '{id}'}\n"
	                                  "  - {event: c, phase: begin, pair: y, async: true}\n"
	                                  "  - {event: d, phase: state, state: x, name: running}\n"
	                                  "  - {event: e, phase: state-end, state: x}\n"
	                                  "  - {event: f, phase: span, duration: dur}\n"
	                                  "  - {event: g, phase: instant}\n"
	                                  "  - {event: h, phase: counter, values: [p, q]}\n"
	                                  "  - {event: i, phase: structure, epoch: wall, facts: map}\n"
	                                  "  - {event: j, async: false}\n",
	                                  10);
	const struct plan *const a = find(v, "a"), *const b = find(v, "b"), *const c = find(v, "c"),
	                         *const d = find(v, "d"), *const e = find(v, "e"), *const f = find(v, "f"),
	                         *const h = find(v, "h"), *const i = find(v, "i");

	cr_expect_eq(a->phase, PLAN_BEGIN);
	cr_expect_eq(b->phase, PLAN_END);
	cr_expect(a->pair != 0 && a->pair == b->pair && c->pair != 0 && c->pair != a->pair);
	cr_expect(a->key.nfields == 1 && b->key.nfields == 1 && a->needs_fields && b->needs_fields);
	expect_slice(a->key.field[0], "id");
	expect_slice(b->key.field[0], "id");
	cr_expect(a->key.field[0].p == b->key.field[0].p, "equal texts are kept once");
	expect_slice(a->category, "c");
	cr_expect(c->async && !a->async && !c->needs_fields);
	cr_expect_null(c->category.p);
	cr_expect_eq(d->phase, PLAN_STATE);
	cr_expect_eq(e->phase, PLAN_STATE_END);
	cr_expect(d->state != 0 && d->state == e->state && d->state != a->pair && d->state != c->pair);
	expect_slice(d->state_name, "x");
	cr_expect(d->nnames == 1 && d->names[0].nparts == 1 && d->names[0].parts[0].ref.nfields == 0 &&
	          !d->needs_fields);
	expect_slice(d->names[0].parts[0].text, "running");
	cr_expect_eq(f->phase, PLAN_SPAN);
	expect_slice(f->duration, "dur");
	cr_expect(f->needs_fields);
	cr_expect_eq(find(v, "g")->phase, PLAN_INSTANT);
	cr_expect_eq(h->phase, PLAN_COUNTER);
	cr_expect(h->nvalues == 2 && h->needs_fields);
	expect_slice(h->values[0], "p");
	expect_slice(h->values[1], "q");
	cr_expect_eq(i->phase, PLAN_STRUCTURE);
	expect_slice(i->epoch, "wall");
	expect_slice(i->facts, "map");
	cr_expect(i->needs_fields);
	cr_expect_eq(find(v, "j")->phase, PLAN_AS_READ);
	cr_expect_null(find(v, "k"));
	vocab_free(v);
}

Test(vocab, templates_and_lookups)
{
	struct vocabulary *const v =
	    make("format: heph\n"
	         "events:\n"
	         "  - event: a\n"
	         "    name: ['{id|task|type|text} of {{{n}}}', '{ a , b |text} x', plain]\n"
	         "tables: {task: process, type: thread, text: trace}\n",
	         1);
	const struct plan *const m = find(v, "a");
	const struct plan_part *p;

	cr_assert_eq(m->nnames, 3);
	cr_expect(m->needs_fields);
	cr_assert_eq(m->names[0].nparts, 3);
	p = m->names[0].parts;
	cr_expect(p[0].text.n == 0 && p[0].ref.nfields == 1 && p[0].ref.ntables == 3);
	for (uint8_t i = 0; i < 3; i++)
		cr_expect_eq(p[0].ref.tables[i], i);
	expect_slice(p[0].ref.field[0], "id");
	expect_slice(p[1].text, " of {");
	expect_slice(p[1].ref.field[0], "n");
	expect_slice(p[2].text, "}");
	cr_expect_eq(p[2].ref.nfields, 0);
	cr_expect((p[2].text.flags & SLICE_JSON) != 0);
	cr_assert_eq(m->names[1].nparts, 2);
	p = m->names[1].parts;
	cr_expect(p[0].ref.nfields == 2 && p[0].ref.ntables == 1 && p[0].ref.tables[0] == 2);
	expect_slice(p[0].ref.field[0], "a");
	expect_slice(p[0].ref.field[1], "b");
	expect_slice(p[1].text, " x");
	expect_slice(m->names[2].parts[0].text, "plain");
	cr_expect_eq(v->scopes[0], PLAN_SCOPE_PROCESS);
	cr_expect_eq(v->scopes[1], PLAN_SCOPE_THREAD);
	cr_expect_eq(v->scopes[2], PLAN_SCOPE_TRACE);
	cr_expect_eq(v->ops->table(v, slice_str("type")), 1);
	cr_expect_eq(v->ops->table(v, slice_str("typo")), PLAN_NO_TABLE);
	vocab_free(v);
}

Test(vocab, layouts)
{
	struct vocabulary *const v = make(
	    "format: heph\n"
	    "events:\n"
	    "  - {event: a, layout: []}\n"
	    "  - {event: b, layout: [a: u8, b: u16, c: u32, d: u64, e: i8, f: i16, g: i32, h: i64, i: f32, "
	    "j: f64, k: address]}\n"
	    "  - {event: c, payload: data, layout: {s: string, n: u32, rest: bytes}}\n"
	    "  - {event: d, layout: [n: u16, 'all': 'i64[]']}\n",
	    4);
	static const uint8_t types[] = { VALUE_U8,  VALUE_U16, VALUE_U32, VALUE_U64, VALUE_I8,     VALUE_I16,
		                         VALUE_I32, VALUE_I64, VALUE_F32, VALUE_F64, VALUE_ADDRESS };
	const struct plan *m = find(v, "a");

	cr_expect(m->has_layout && m->nlayout == 0 && m->layout_size == 0 && !m->layout_open &&
	          !m->needs_fields);
	expect_slice(m->payload, "payload");
	m = find(v, "b");
	cr_assert_eq(m->nlayout, sizeof types);
	for (size_t i = 0; i < sizeof types; i++) {
		cr_expect_eq(m->layout[i].type, types[i]);
		cr_expect(m->layout[i].name.n == 1 && m->layout[i].name.p[0] == (char)('a' + i) &&
		          !m->layout[i].repeated);
	}
	cr_expect(m->layout_size == 15 + 15 + 4 + 8 + 8 && !m->layout_open);
	m = find(v, "c");
	expect_slice(m->payload, "data");
	cr_expect(m->nlayout == 3 && m->layout_size == 4 && m->layout_open);
	cr_expect(m->layout[0].type == VALUE_STRING && m->layout[2].type == VALUE_BYTES);
	m = find(v, "d");
	cr_expect(m->nlayout == 2 && m->layout_size == 2 && m->layout_open && m->layout[1].repeated &&
	          m->layout[1].type == VALUE_I64);
	vocab_free(v);
}

Test(vocab, tracks_defines_flows_and_words)
{
	struct vocabulary *const v =
	    make("format: heph\n"
	         "tables: {t: trace, u: trace}\n"
	         "events:\n"
	         "  - event: a\n"
	         "    track: ['worker {w}', {name: 'thread {tid}', id: tid}, {name: marks, below: true}]\n"
	         "    define: [{table: t, key: k, value: v}, {table: u, key: [k, l], value: '{v|t}'}]\n"
	         "    flow: {name: wake, out: o, in: i}\n"
	         "    reader: {needs: active, jumbo: true}\n"
	         "  - {event: b, track: other}\n"
	         "  - {event: c, reader: {x: 1}}\n",
	         3);
	const struct plan *m = find(v, "a");

	cr_assert_eq(m->ntracks, 3);
	cr_expect(m->tracks[0].number.nfields == 1 && m->tracks[0].id.nfields == 0 && !m->tracks[0].child);
	expect_slice(m->tracks[0].number.field[0], "w");
	cr_assert_eq(m->tracks[1].id.nfields, 1);
	expect_slice(m->tracks[1].id.field[0], "tid");
	cr_expect(m->tracks[2].child && m->tracks[2].number.nfields == 0);
	cr_assert_eq(m->ndefines, 2);
	cr_expect(m->defines[0].table == 0 && m->defines[0].nkeys == 1 && m->defines[0].value.ntables == 0);
	cr_expect(m->defines[1].table == 1 && m->defines[1].nkeys == 2 && m->defines[1].value.ntables == 1);
	expect_slice(m->defines[1].key[1], "l");
	expect_slice(m->flow_name, "wake");
	expect_slice(m->flow_out, "o");
	expect_slice(m->flow_in, "i");
	expect_slice(plan_word(m, "needs"), "active");
	expect_slice(plan_word(m, "jumbo"), "true");
	cr_expect_null(plan_word(m, "none").p);
	cr_expect(m->needs_fields);
	cr_expect_not(find(v, "b")->needs_fields);
	cr_expect_not(find(v, "c")->needs_fields);
	vocab_free(v);
}

/* ---- the first rule wins ---- */

static bool has_one(const void *ctx, struct slice name)
{
	const char *const *const names = ctx;

	for (size_t i = 0; names[i] != NULL; i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

static const char *category_of(const struct vocabulary *v, const char *name, const char *const *fields)
{
	const struct plan *const m =
	    v->ops->find(v, slice_str(name), fields != NULL ? has_one : NULL, fields);

	return m != NULL && m->category.p != NULL ? m->category.p : "none";
}

Test(vocab, the_first_rule_that_matches_counts)
{
	struct vocabulary *const v = make("format: heph\n"
	                                  "events:\n"
	                                  "  - {event: [ab, ac], fields: [x, y], category: 1}\n"
	                                  "  - {match: 'a?', fields: z, category: 2}\n"
	                                  "  - {event: ab, category: 3}\n"
	                                  "  - {match: ['a*', 'b*'], event: q, category: 4}\n"
	                                  "  - {event: ab, category: 5}\n"
	                                  "  - {event: 'a*', category: 6}\n",
	                                  6);
	static const char *const xy[] = { "y", "w", "x", NULL }, *const x[] = { "x", NULL },
	                         *const z[] = { "z", NULL };

	cr_expect_str_eq(category_of(v, "ab", xy), "1");
	cr_expect_str_eq(category_of(v, "ac", xy), "1");
	cr_expect_str_eq(category_of(v, "ad", xy), "4");
	cr_expect_str_eq(category_of(v, "ab", x), "3");
	cr_expect_str_eq(category_of(v, "ac", x), "4");
	cr_expect_str_eq(category_of(v, "ab", z), "2");
	cr_expect_str_eq(category_of(v, "ab", NULL), "3");
	cr_expect_str_eq(category_of(v, "a*", NULL),
	                 "4"); /* an exact name is no glob, a glob matches itself too */
	cr_expect_str_eq(category_of(v, "q", NULL), "4");
	cr_expect_str_eq(category_of(v, "b", NULL), "4");
	cr_expect_str_eq(category_of(v, "c", NULL), "none");
	cr_expect_str_eq(category_of(v, "", NULL), "none");
	vocab_free(v);
}

Test(vocab, files_that_come_first_win)
{
	struct vocabulary *const v =
	    make("format: heph\n"
	         "events: [{event: b, category: 1}, {event: a, category: 2}, {event: a, category: 3}]\n",
	         3);

	add(v, "format: heph\nevents: [{event: a, category: 4}, {event: c, category: 5}]", 2);
	add(v, "format: ovni\nevents: [{event: d, category: 6}]", 1);
	cr_expect_str_eq(vocab_last_format(v), "ovni");
	add(v,
	    "format: heph\nevents: [{event: c, category: 7}, {event: e, category: 8}, {event: b, category: "
	    "9}]",
	    3);
	cr_expect_str_eq(vocab_last_format(v), "heph");
	cr_expect_str_eq(category_of(v, "a", NULL), "2");
	cr_expect_str_eq(category_of(v, "b", NULL), "1");
	cr_expect_str_eq(category_of(v, "c", NULL), "5");
	cr_expect_str_eq(category_of(v, "d", NULL), "none");
	cr_expect_str_eq(category_of(v, "e", NULL), "8");
	vocab_free(v);
}

static const char *word_of(const struct vocabulary *v, const char *name, const char *const *fields)
{
	const struct plan *const m =
	    v->ops->find(v, slice_str(name), fields != NULL ? has_one : NULL, fields);
	const struct slice word = m != NULL ? plan_word(m, "w") : (struct slice){ NULL, 0, 0 };

	return word.p != NULL ? word.p : "none";
}

Test(vocab, words_are_those_of_the_next_rule_that_has_some)
{
	struct vocabulary *const v = make("format: heph\n"
	                                  "events:\n"
	                                  "  - {event: [a, b, n], category: 1}\n"
	                                  "  - {event: a, category: 2}\n"
	                                  "  - {match: '?', fields: x, reader: {w: 1}, layout: [f: u32]}\n"
	                                  "  - {event: c, reader: {}}\n"
	                                  "  - {event: d, layout: [f: u8]}\n"
	                                  "  - {event: e, named: y, phase: instant}\n"
	                                  "  - {event: e, category: 4}\n",
	                                  7);
	static const char *const x[] = { "x", NULL };

	add(v,
	    "format: heph\nevents: [{event: b, named: z, reader: {w: 4}}, {event: [a, b, c, d, e], layout: "
	    "[f: u16], reader: {w: 2}}]",
	    2);
	cr_expect_str_eq(category_of(v, "a", NULL), "1");
	cr_expect_str_eq(word_of(v, "a", NULL), "2");
	cr_expect_str_eq(word_of(v, "a", x), "1");
	cr_expect_str_eq(word_of(v, "b", NULL), "2", "not of a rule for certain names");
	cr_expect_str_eq(word_of(v, "c", NULL), "none", "an empty mapping are no words");
	cr_expect_str_eq(word_of(v, "n", NULL), "none");
	const struct plan *m = find(v, "a");
	cr_expect(!m->has_layout && plan_for_reader(m)->layout_size == 2,
	          "the words are about fields of their rule");
	cr_expect_eq(find(v, "a"), m, "made once");
	cr_expect_neq(find(v, "b"), NULL);
	m = find(v, "d");
	cr_expect_str_eq(word_of(v, "d", NULL), "2");
	cr_expect(plan_for_reader(m) == m && m->layout_size == 1, "a layout of its own counts");
	m = find(v, "e");
	cr_expect(m->named.p != NULL && slice_is(plan_word(m, "w"), "2") &&
	          plan_for_reader(m)->layout_size == 2);
	cr_expect(m->otherwise != NULL && slice_is(m->otherwise->category, "4") &&
	          slice_is(plan_word(m->otherwise, "w"), "2"));
	m = find(v, "n");
	cr_expect_eq(plan_for_reader(m), m);
	vocab_free(v);
}

/* Compares the index with a reference: the rules one after the other. */
Test(vocab, random_rules)
{
	static const char *const words[] = { "a", "b", "ab", "ba", "a*", "*b", "?", "*", "a?" };
	uint64_t seed = 1;

	for (int round = 0; round < 300; round++) {
		struct vocabulary *const v = vocab_new("heph");
		struct {
			const char *text;
			bool glob;
		} rules[24];
		uint32_t n = 0;
		for (int file = 0; file < 3; file++) {
			char text[2000];
			size_t len = (size_t)snprintf(text, sizeof text, "format: heph\nevents:\n");
			for (int i = 0; i < 8; i++, n++) {
				seed = seed * 6364136223846793005U + 1442695040888963407U;
				rules[n].text = words[(seed >> 33) % 9];
				rules[n].glob = (seed >> 60) % 4 == 0;
				len += (size_t)snprintf(text + len, sizeof text - len,
				                        "  - {%s: '%s', category: c%u}\n",
				                        rules[n].glob ? "match" : "event", rules[n].text, n);
			}
			add(v, text, 8);
		}
		for (size_t k = 0; k < 9; k++) {
			char want[16] = "none";
			for (uint32_t i = 0; i < n; i++)
				if (rules[i].glob ? glob_fits(slice_str(rules[i].text), slice_str(words[k]))
				                  : strcmp(rules[i].text, words[k]) == 0) {
					snprintf(want, sizeof want, "c%u", i);
					break;
				}
			cr_expect_str_eq(category_of(v, words[k], NULL), want);
		}
		vocab_free(v);
	}
}

/* ---- rules with `named` ---- */

Test(vocab, named_rules_are_chained)
{
	struct vocabulary *const v = make("format: heph\n"
	                                  "events:\n"
	                                  "  - {match: 'a*', named: 'read*', phase: span}\n"
	                                  "  - {event: ab, named: 'write*', phase: instant, name: '{f}'}\n"
	                                  "  - {event: ab, phase: counter, category: c}\n"
	                                  "  - {event: ab, named: never, phase: structure}\n"
	                                  "  - {match: 'b*', named: x}\n",
	                                  5);
	const struct plan *const m = find(v, "ab");

	cr_assert(m != NULL && m->otherwise != NULL && m->otherwise->otherwise != NULL);
	cr_expect(m->phase == PLAN_SPAN && m->otherwise->phase == PLAN_INSTANT &&
	          m->otherwise->otherwise->phase == PLAN_COUNTER);
	expect_slice(m->named, "read*");
	expect_slice(m->otherwise->named, "write*");
	cr_expect(m->otherwise->otherwise->named.p == NULL && m->otherwise->otherwise->otherwise == NULL);
	expect_slice(m->category, "c"); /* of the class */
	cr_expect(m->needs_fields, "what follows needs fields");
	cr_expect_eq(find(v, "ab"), m, "made once");
	const struct plan *const alone = find(v, "ac");
	cr_assert_not_null(alone);
	cr_expect(alone->otherwise == NULL && !alone->needs_fields && alone->category.p == NULL);
	cr_expect(find(v, "b")->otherwise == NULL);
	vocab_free(v);
}

/* ---- names of processes and threads ---- */

static void expect_name(const struct vocabulary *v, bool process, uint64_t id, const char *want)
{
	struct trace t;

	trace_init(&t);
	t.vocabulary = v;
	expect_slice(trace_track_name(&t, process, process ? "process" : "thread", id), want);
	trace_free(&t);
}

Test(vocab, names_of_tracks)
{
	struct vocabulary *const v =
	    make("format: heph\n"
	         "tracks:\n"
	         "  process: 'stream {id}'\n"
	         "  processes: {0: coordinator, 18446744073709551615: 'last {id} {{}}'}\n"
	         "  threads: {7: seven}\n",
	         0);

	expect_name(v, true, 0, "coordinator");
	expect_name(v, true, 1, "stream 1");
	expect_name(v, true, UINT64_MAX, "last 18446744073709551615 {}");
	expect_name(v, false, 7, "seven");
	expect_name(v, false, 8, "thread 8");
	add(v,
	    "format: heph\ntracks: {process: 'p {id}', processes: {1: one}, thread: 't {id}', threads: {7: "
	    "no, 9: nine}}",
	    0);
	expect_name(v, true, 0, "coordinator");
	expect_name(v, true, 1, "stream 1"); /* the first file names all processes */
	expect_name(v, false, 7, "seven");
	expect_name(v, false, 8, "t 8");
	expect_name(v, false, 9, "nine");
	vocab_free(v);
}

Test(vocab, tables_of_one_name_and_scope_are_one)
{
	struct vocabulary *const v =
	    make("format: heph\ntables: {a: trace, b: trace}\nevents: [{event: x, name: '{f|a}'}]", 1);

	add(v,
	    "format: heph\ntables: {b: process, a: trace}\nevents: [{event: y, name: '{f|a}'}, {event: z, "
	    "name: '{f|b}'}]",
	    2);
	cr_expect_eq(find(v, "y")->names[0].parts[0].ref.tables[0], 0);
	cr_expect_eq(find(v, "z")->names[0].parts[0].ref.tables[0], 2);
	cr_expect_eq(v->ops->table(v, slice_str("b")), 2);
	cr_expect_eq(v->scopes[2], PLAN_SCOPE_PROCESS);
	vocab_free(v);
}

/* ---- built-in vocabularies ---- */

Test(vocab, built_in_ones_are_the_files)
{
	size_t n = 0;

	for (const struct vocab_schema *s = vocab_schemas; s->format != NULL; s++, n++) {
		struct vocabulary *const v = vocab_new(s->format);
		struct findings j;
		char path[256], *text;
		size_t len, rules;
		snprintf(path, sizeof path, "schemas/%s.yaml", s->format);
		findings_init(&j, path, show, NULL);
		const struct slice builtin = vocab_builtin(s->format);
		if (access(path, F_OK) == 0) { /* else a folder of files */
			cr_assert(vocab_read_file(path, &j, &text, &len));
		} else {
			text = strndup(builtin.p, builtin.n);
			len = builtin.n;
		}
		cr_expect(builtin.n == len && memcmp(builtin.p, text, len) == 0, "%s", path);
		cr_expect(vocab_add_text(v, text, len, &j, &rules), "%s", path);
		cr_expect_str_eq(vocab_last_format(v), s->format);
		findings_free(&j);
		vocab_free(v);
		free(text);
	}
	cr_expect(n > 0);
	cr_expect_null(vocab_builtin("nothing").p);
}

Test(vocab, plans_without_names_place_events_as_before)
{
	struct vocabulary *const v =
	    make("format: heph\n"
	         "tables: {names: trace, thread-of: process}\n"
	         "events:\n"
	         "  - {event: a, phase: begin, pair: x, key: id, name: '{n}', flow: {name: f, in: n},\n"
	         "     track: {name: 'w {w}', id: '{w|thread-of}'},\n"
	         "     define: [{table: names, key: id, value: n}, {table: thread-of, key: w, value: t}]}\n"
	         "  - {event: b, name: '{n}'}\n"
	         "  - {event: c, phase: counter}\n",
	         3);
	const struct vocabulary *const u = vocab_reduced(v, VOCAB_NAMES);
	const struct plan *const a = u->ops->find(u, SLICE_LIT("a"), NULL, NULL);

	cr_assert_not_null(a);
	cr_expect(a->nnames == 0 && a->flow_in.p == NULL && a->flow_name.p == NULL);
	cr_expect(a->phase == PLAN_BEGIN && a->key.nfields == 1 && a->ntracks == 1 && a->needs_fields);
	cr_assert_eq(a->ndefines, 1, "%u definitions", a->ndefines);
	expect_slice(a->defines[0].key[0], "w");
	cr_expect_eq(u->ops->find(u, SLICE_LIT("a"), NULL, NULL), a, "made once");
	cr_expect_not(u->ops->find(u, SLICE_LIT("b"), NULL, NULL)->needs_fields);
	cr_expect_eq(u->ops->find(u, SLICE_LIT("c"), NULL, NULL), find(v, "c"));
	cr_expect_null(u->ops->find(u, SLICE_LIT("d"), NULL, NULL));
	cr_expect_eq(u->ops->table(u, SLICE_LIT("thread-of")), v->ops->table(v, SLICE_LIT("thread-of")));
	cr_expect_eq(find(v, "a")->nnames, 1, "the plan with names is unchanged");
	vocab_free(v);
}

Test(vocab, plans_without_tracks_pair_as_before)
{
	struct vocabulary *const v =
	    make("format: heph\n"
	         "tables: {worker-of: process, thread-of: process, lane-of: process}\n"
	         "events:\n"
	         "  - {event: a, phase: begin, pair: x, name: '{n}', flow: {name: f, in: n},\n"
	         "     track: {name: 'w {w}', id: '{w|thread-of}'}}\n"
	         "  - {event: b, phase: instant, track: {name: 'w {t|worker-of}', id: t},\n"
	         "     define: [{table: worker-of, key: t, value: w}, {table: lane-of, key: t, value: w}]}\n"
	         "  - {event: c, phase: end, pair: x, track: {name: 'w {t|lane-of}', id: t}}\n",
	         3);
	const struct vocabulary *const u = vocab_reduced(v, VOCAB_TRACKS);
	const struct plan *const a = u->ops->find(u, SLICE_LIT("a"), NULL, NULL);
	const struct plan *const b = u->ops->find(u, SLICE_LIT("b"), NULL, NULL);
	const struct plan *const c = u->ops->find(u, SLICE_LIT("c"), NULL, NULL);

	cr_expect(a->nnames == 1 && a->flow_name.p == NULL, "names are left");
	cr_expect(a->ntracks == 1 && a->tracks[0].id.nfields == 0, "its number serves for nothing");
	cr_expect(b->ntracks == 0 && b->ndefines == 1);
	cr_expect_eq(b->defines[0].table, u->ops->table(u, SLICE_LIT("lane-of")));
	cr_expect(c->ntracks == 1 && c->tracks[0].id.nfields == 1, "its number has to be present");
	vocab_free(v);
}

Test(vocab, plans_without_tracks_keep_them_for_states)
{
	struct vocabulary *const v = make("format: heph\n"
	                                  "events:\n"
	                                  "  - {event: a, phase: state, state: s, name: x}\n"
	                                  "  - {event: b, phase: instant, track: {name: 'w {w}', id: w}}\n",
	                                  2);
	const struct vocabulary *const u = vocab_reduced(v, VOCAB_PARTS);

	/* a state lasts until the last event of its track */
	cr_expect_eq(u->ops->find(u, SLICE_LIT("b"), NULL, NULL)->ntracks, 1);
	vocab_free(v);
}

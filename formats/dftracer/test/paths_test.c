/* The fast path and the slow one find the same in every line that both read, whichever scanner finds the
 * quotes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/dftracer.h"
#include "json/scan.h"
#include "test/fuzz/fuzz_check.h"
#include "test/support/strength.h"

struct paths {
	struct dft_record fast, slow;
	struct dft_keys keys;
	struct dft_paths paths;
	struct json_index *index;
	unsigned long followed, learned;
};

static void paths_init(struct paths *x)
{
	*x = (struct paths){ .index = malloc(sizeof *x->index) };
	cr_assert(x->index != NULL && dft_record_init(&x->fast) && dft_record_init(&x->slow) &&
	          dft_keys_init(&x->keys) && dft_paths_init(&x->paths));
}

static void paths_free(struct paths *x)
{
	free(x->index);
	dft_record_free(&x->fast);
	dft_record_free(&x->slow);
	dft_keys_free(&x->keys);
	dft_paths_free(&x->paths);
}

static bool same_token(struct dft_token a, struct dft_token b)
{
	return a.at == b.at && a.n == b.n;
}

static void expect_same(const struct dft_record *a, const struct dft_record *b)
{
	cr_assert_eq(a->end, b->end);
	cr_assert_eq(a->shape, b->shape);
	cr_assert_eq(a->hashes, b->hashes);
	cr_assert_eq(a->nargs, b->nargs);
	cr_assert_eq(a->nextras, b->nextras);
	cr_assert_eq(memcmp(a->special, b->special, sizeof a->special), 0);
	for (int i = 0; i < DFT_TOPS; i++)
		if (dft_top_kind(a, (enum dft_top)i) != JSON_ABSENT &&
		    !(i == DFT_ARGS && dft_top_kind(a, DFT_ARGS) == JSON_OBJECT))
			cr_assert(same_token(a->top[i], b->top[i]), "field %d", i);
	for (uint32_t i = 0; i < a->nargs; i++) {
		const struct dft_arg *const x = &a->args[i], *const y = &b->args[i];
		cr_assert(same_token(x->key, y->key) && same_token(x->value, y->value), "argument %u", i);
		cr_assert(x->number == y->number && x->kind == y->kind && x->role == y->role &&
		              x->repeats == y->repeats,
		          "argument %u", i);
	}
}

/* p: n bytes without a line end, and behind them room for one and DFT_SPARE bytes. */
static void both_paths(struct paths *x, const struct json_scanner *scanner, char *p, size_t n)
{
	const char *const e = p + n;

	p[n] = '\n';
	memset(p + n + 1, '7', DFT_SPARE);
	if (n == 0 || *p != '{' || memchr(p, '\n', n) != NULL)
		return;
	json_index_make(x->index, scanner, p, n + 1 + DFT_SPARE);
	if (n >= JSON_CHUNK || x->index->lines.at[0] != n || x->index->odd.at[0] < n)
		return;
	const uint32_t *quotes = x->index->quotes.at;
	const bool valid = dft_parse(&x->slow, &x->keys, p, e) && x->slow.end == e &&
	                   x->slow.json.nflaws == 0 && x->slow.nextras == 0 && !x->slow.too_many;
	if (dft_paths_follow(&x->paths, &x->fast, p, &quotes, p, e)) {
		cr_assert(valid, "accepted: %.*s", (int)n, p);
		expect_same(&x->fast, &x->slow);
		cr_assert_eq(*quotes, UINT32_MAX); /* all of them were used */
		x->followed++;
	} else if (valid) {
		dft_paths_learn(&x->paths, &x->slow);
		x->learned++;
	}
}

/* Another digit in one place, or what else may stand among digits: mostly the same path. */
static void change_number(struct random_text *t, char *p, size_t n)
{
	size_t at = random_below(t, (uint32_t)n);

	while (at < n && (p[at] < '0' || p[at] > '9'))
		at++;
	if (at < n)
		p[at] = "0123456789000-+.eE,}]\"a "[random_below(t, 24)];
}

/* Each record a few times with other values, so that later ones take the path of the first. */
static void try_scanner(struct paths *x, const struct json_scanner *scanner, unsigned long rounds)
{
	static struct random_text t;
	static char p[RANDOM_TEXT + DFT_SPARE + 1];

	t.state = test_seed(99);
	for (unsigned long i = 0; i < rounds; i++) {
		random_record(&t);
		if (!t.plain)
			continue;
		for (int again = 0; again < 12; again++) {
			memcpy(p, t.p, t.n);
			if (again > 0)
				change_number(&t, p, t.n);
			both_paths(x, scanner, p, t.n);
		}
		random_spoil(&t);
		memcpy(p, t.p, t.n);
		both_paths(x, scanner, p, t.n);
	}
}

Test(dftracer_paths, the_fast_path_finds_what_the_slow_one_does)
{
	for (const struct json_scanner *s = json_scanners; s->name != NULL; s++) {
		struct paths x;
		if (!s->usable())
			continue;
		paths_init(&x);
		try_scanner(&x, s, strength(3000, 20000, 400000));
		cr_expect(2 * x.followed > x.learned && x.learned > 100,
		          "%s: %lu lines took a known path, %lu did not", s->name, x.followed, x.learned);
		paths_free(&x);
	}
}

/* A record whose args are no object opens a path on which objects are no values. */
Test(dftracer_paths, args_after_a_record_without)
{
	static const char *const lines[] = { "{\"name\":\"a\",\"args\":5}", "{\"name\":\"b\",\"args\":[1]}",
		                             "{\"name\":\"c\",\"args\":{\"x\":1,\"y\":2}}",
		                             "{\"name\":\"d\",\"args\":{\"z\":1,\"z\":2}}" };
	struct paths x;
	char p[200];

	paths_init(&x);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		strcpy(p, lines[i]);
		both_paths(&x, json_scanner_best(), p, strlen(p));
	}
	cr_expect_eq(x.followed, 1);
	cr_expect_eq(x.learned, 2);
	paths_free(&x);
}

/* The same by way of the whole program: in large windows lines take the fast path, in small ones never. */
Test(dftracer_paths, many_random_lines)
{
	static struct random_text t;
	static char p[120000];
	struct fuzz_result r;

	for (unsigned round = 0; round < 4; round++) {
		size_t n = 0;
		t.state = round;
		while (n < sizeof p - RANDOM_TEXT) {
			random_record(&t);
			if (random_below(&t, 4) == 0)
				random_spoil(&t);
			memcpy(p + n, t.p, t.n);
			n += t.n;
			p[n++] = '\n';
		}
		cr_expect(
		    fuzz_check(&r, p, n, NULL, NULL, FUZZ_CHECK | FUZZ_EVENTS | FUZZ_CONVERT | FUZZ_SLOW_64),
		    "%s", r.fault);
	}
}

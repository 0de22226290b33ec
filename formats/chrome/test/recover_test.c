/*
 * Recovery of Chrome JSON.  For any damage, the output is strict JSON, it contains all events outside of the
 * damage, and recovering it again changes nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "chrome/chrome.h"
#include "cmd/test/cli_test_util.h"
#include "run/write/test/recover_rig_test.h"
#include "test/fuzz/strict_json.h"
#include "test/properties/rows_test.h"
#include "test/support/strength.h"

/* RECOVER_SAVE: a file for the first input of which an event is lost. */
#define LARGEST 20000
#define MAX_EVENTS 4096

extern const struct format chrome_format;

struct events {
	struct slice list[MAX_EVENTS];
	size_t n;
};

/* Lists the events of a whole file. */
static void list_events(struct events *to, const char *p, size_t n)
{
	struct json json = { .complete = true, .depth = JSON_MAX_DEPTH };
	const char *list = p, *const end = p + n;
	while (*p != '[' && end - list > 14 && memcmp(list, "\"traceEvents\"", 13) != 0)
		list++;
	list = memchr(list, '[', (size_t)(end - list));
	struct json_walk w = json_walk(&json, list, end);

	for (to->n = 0; to->n < MAX_EVENTS && json_walk_next(&w); to->n++)
		to->list[to->n] = slice_of(w.value.p, (size_t)(w.value.end - w.value.p));
}

static const char *find(const char *p, const char *end, struct slice s)
{
	for (; (size_t)(end - p) >= s.n && (p = memchr(p, '{', (size_t)(end - p))) != NULL; p++)
		if ((size_t)(end - p) >= s.n && memcmp(p, s.p, s.n) == 0)
			return p;
	return NULL;
}

/* Events that begin before `from` or end after `to`, offsets of the sample, are whole. */
static void expect(const struct sample *s, const struct events *events, const char *p, size_t n, size_t from,
                   size_t to, const char *how, uint64_t number)
{
	struct recovered r, again;
	size_t at;

	recover_bytes(&r, &chrome_format, true, p, n, number % 16 == 0 ? 61 : 0);
	const char *found = r.p;
	for (size_t i = 0; i < events->n; i++) {
		const struct slice e = events->list[i];
		const size_t begin = (size_t)(e.p - s->p), end = begin + e.n;
		if (!(end < from || begin > to))
			continue;
		const char *const next = found != NULL ? find(found, r.p + r.n, e) : NULL;
		if (next == NULL && getenv("RECOVER_SAVE") != NULL)
			write_whole(getenv("RECOVER_SAVE"), p, n);
		cr_assert_not_null(next, "%s, %s %llu: the event at %zu is lost:\n%.*s\n%.*s", s->path, how,
		                   (unsigned long long)number, begin, (int)n, p, (int)r.n, r.p);
		found = next + e.n;
	}
	if (r.readable && r.records > 0) {
		const char *const fault = strict_json_fault(r.p, r.n, &at);
		cr_assert_null(fault, "%s, %s %llu: at %zu of the output: %s\n%.*s\n%.*s", s->path, how,
		               (unsigned long long)number, at, fault, (int)n, p, (int)r.n, r.p);
		recover_bytes(&again, &chrome_format, true, r.p, r.n, 0);
		cr_assert(again.nchanges == 0 && again.n == r.n && memcmp(again.p, r.p, r.n) == 0,
		          "%s, %s %llu: the second time %s\n%.*s\n%.*s", s->path, how,
		          (unsigned long long)number, again.first_why, (int)n, p, (int)r.n, r.p);
		recovered_free(&again);
	}
	recovered_free(&r);
}

static void sweep(const struct sample *s)
{
	static struct events events;
	static char space[LARGEST + 100];
	const unsigned long damages = strength(100, 1000, 100000);
	size_t from, to;

	if (s->n == 0 || s->n > LARGEST || (*s->p != '[' && *s->p != '{'))
		return;
	list_events(&events, s->p, s->n);
	for (size_t n = 1; n < s->n && s->n <= strength(700, 2000, LARGEST); n++)
		expect(s, &events, s->p, n, n, s->n + 1, "prefix", n);
	for (unsigned long i = 0; i < damages; i++) {
		uint64_t seed = i * 1000003 + s->n;
		memcpy(space, s->p, s->n);
		const size_t n = recover_damage(space, s->n, &seed, &from, &to);
		expect(s, &events, space, n, from, to, "damage", i);
	}
}

Test(recover_sweep, chrome_events_outside_of_damage_are_kept)
{
	each_sample_of("chrome", SAMPLES_GOOD, sweep);
}

#define EVENT(ts) "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":" #ts ",\"dur\":1,\"name\":\"a\"}"

/* Members and events after the array are kept if an event between them is dropped. */
Test(recover_chrome, events_behind_the_array_follow_one_that_is_dropped)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "{\"traceEvents\":[" EVENT(1) "],\"x\":1,{\"ph\":\"X\",\"pid\":1}," EVENT(3) "]}",
		  "{\"traceEvents\":[" EVENT(1) "," EVENT(3) "],\"x\":1}" },
		{ "{\"traceEvents\":[" EVENT(1) "],{\"ph\":\"X\",\"ts\":x y}," EVENT(3) "]}",
		  "{\"traceEvents\":[" EVENT(1) "," EVENT(3) "]}" },
		{ "{\"traceEvents\":[" EVENT(1) "],{\"ph\":\"X\",\"pid\":1}}",
		  "{\"traceEvents\":[" EVENT(1) "]}" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct recovered r;
		recover_bytes(&r, &chrome_format, true, cases[i].in, strlen(cases[i].in), 0);
		cr_expect(r.n == strlen(cases[i].out) && memcmp(r.p, cases[i].out, r.n) == 0, "%zu: %.*s", i,
		          (int)r.n, r.p);
		recovered_free(&r);
	}
}

#include "run/write/test/recover_rig_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/trace_engine.h"
#include "input/open.h"
#include "input/test/memory_input.h"
#include "test/support/splitmix.h"

/* ---- recovering ---- */

struct rig {
	struct recovered *to;
	const struct format *format;
	size_t cap;
	uint32_t changes_cap;
};

static bool put(void *ctx, const char *p, size_t n)
{
	struct rig *const rig = ctx;
	struct recovered *const r = rig->to;

	if (r->n + n > rig->cap) {
		rig->cap = 2 * (r->n + n);
		r->p = realloc(r->p, rig->cap);
		cr_assert_not_null(r->p);
	}
	memcpy(r->p + r->n, p, n);
	r->n += n;
	return true;
}

static void list(void *ctx, const struct recover_change *c)
{
	struct rig *const rig = ctx;
	struct recovered *const r = rig->to;

	if (r->nchanges == rig->changes_cap) {
		rig->changes_cap = rig->changes_cap * 2 + 16;
		r->changes = realloc(r->changes, rig->changes_cap * sizeof *r->changes);
		cr_assert_not_null(r->changes);
	}
	if (r->nchanges == 0)
		snprintf(r->first_why, sizeof r->first_why, "%s", c->why);
	r->changes[r->nchanges] = *c;
	r->changes[r->nchanges++].why = NULL;
}

static bool opened(void *ctx, const struct source *s)
{
	const struct rig *const rig = ctx;

	return s->format == rig->format;
}

static void ignore(void *ctx, const struct findings *j, const struct finding *f)
{
	(void)ctx;
	(void)j;
	(void)f;
}

static struct input *input_of(const char *p, size_t n, size_t step)
{
	return step == 0 ? input_from_memory(p, n) : input_from_memory_slowly(p, n, step);
}

void recover_bytes(struct recovered *r, const struct format *format, bool told, const char *p, size_t n,
                   size_t step)
{
	struct rig rig = { .to = r, .format = format };
	struct recover_run run = {
		.job = { .to.sink = ignore, .in.from = told ? format : NULL },
		.location = { .path = "damaged", .operand = "damaged" },
		.put = put,
		.list = list,
		.opened = opened,
		.ctx = &rig,
	};

	*r = (struct recovered){ .n = 0 };
	const bool ok = recover_run(&run, input_of(p, n, step));
	r->records = run.recovery.records;
	r->dropped = run.recovery.dropped;
	r->gaps = run.recovery.gaps;
	r->repairs = run.recovery.repairs;
	r->readable = ok && (r->records > 0 || r->dropped == 0);
}

void recovered_free(struct recovered *r)
{
	free(r->p);
	free(r->changes);
}

/* ---- the promises ---- */

/* The output is the input without the changed bytes, plus the inserted ones. */
static const char *account(const struct recovered *r, const char *p, size_t n)
{
	uint64_t at = 0, to = 0, dropped = 0;

	for (size_t i = 0; i <= r->nchanges; i++) {
		const struct recover_change end = { .offset = n };
		const struct recover_change *const c = i < r->nchanges ? &r->changes[i] : &end;
		if (c->offset < at || c->length > n - c->offset)
			return "changes overlap, are in no order, or lie outside of the input";
		if (c->offset - at > r->n - to || memcmp(p + at, r->p + to, c->offset - at) != 0)
			return "kept bytes are not those of the input";
		to += c->offset - at + c->inserted;
		at = c->offset + c->length;
		dropped += c->repaired ? 0 : c->length;
		if (i < r->nchanges && (c->rule == NULL || c->length + c->inserted == 0))
			return "a change has no rule, or changes nothing";
	}
	return to != r->n              ? "the output has other bytes than those kept and inserted"
	       : dropped != r->dropped ? "the number of dropped bytes is not the sum of the ranges"
	                               : NULL;
}

struct judged {
	const struct format *format;
	char fault[300];
};

static void judge(void *ctx, const struct findings *j, const struct finding *f)
{
	struct judged *const to = ctx;

	(void)j;
	for (const char *const *id = to->format->recover->structure; *id != NULL; id++)
		if (strcmp(*id, f->rule->id) == 0)
			snprintf(to->fault, sizeof to->fault, "the output has %s at %" PRIu64 ": %.200s",
			         f->rule->id, f->offset, f->message);
}

/* Validates the output.  Returns NULL if it has no error of structure. */
static const char *validate(const struct recovered *r, const struct format *format)
{
	static struct judged to;
	const struct pipeline_job job = { .to.sink = judge, .to.ctx = &to, .in.from = format };
	struct trace_context context;
	struct trace trace;
	struct source s;
	struct batch b;

	to = (struct judged){ .format = format };
	trace_init(&trace);
	trace_context_init(&context, &job, &trace, NULL, WANT_FINDINGS);
	cr_assert(batch_init(&b, 64, false));
	if (source_begin(&s, &context, (struct source_location){ .path = "out", .operand = "out" },
	                 input_from_memory(r->p, r->n)) &&
	    source_start(&s))
		do {
			batch_recycle(&b);
			source_next(&s, &b);
		} while (s.status == READ_MORE);
	if (to.fault[0] == '\0' && s.status != READ_END)
		snprintf(to.fault, sizeof to.fault, "the output is not read to its end");
	source_close(&s);
	batch_free(&b);
	trace_context_free(&context);
	trace_free(&trace);
	return to.fault[0] != '\0' ? to.fault : NULL;
}

/* Recovering the output again changes nothing. */
static const char *again(const struct recovered *r, const struct format *format)
{
	struct recovered second;
	static char fault[300];

	recover_bytes(&second, format, true, r->p, r->n, 0);
	fault[0] = '\0';
	if (!second.readable)
		snprintf(fault, sizeof fault, "the output is not recognised");
	else if (second.nchanges > 0)
		snprintf(fault, sizeof fault, "the second time, a change at %" PRIu64 ": %s",
		         second.changes[0].offset, second.first_why);
	else if (second.n != r->n || memcmp(second.p, r->p, r->n) != 0)
		snprintf(fault, sizeof fault, "the second time, other bytes");
	recovered_free(&second);
	return fault[0] != '\0' ? fault : NULL;
}

const char *recover_fault(const struct format *format, const char *p, size_t n, bool *readable)
{
	struct recovered r;
	const char *fault = NULL;

	recover_bytes(&r, format, false, p, n, 0);
	*readable = r.readable;
	if (r.readable) {
		fault = account(&r, p, n);
		if (fault == NULL)
			fault = validate(&r, format);
		if (fault == NULL)
			fault = again(&r, format);
	}
	recovered_free(&r);
	return fault;
}

const char *recover_fault_slowly(const struct format *format, const char *p, size_t n, size_t step)
{
	struct recovered r;
	const char *fault = NULL;

	recover_bytes(&r, format, true, p, n, step);
	if (r.readable)
		fault = account(&r, p, n);
	recovered_free(&r);
	return fault;
}

/* ---- damage ---- */

static size_t below(uint64_t *seed, size_t n)
{
	return n > 0 ? (size_t)(splitmix_next(seed) % n) : 0;
}

size_t recover_damage(char *p, size_t n, uint64_t *seed, size_t *from, size_t *to)
{
	static const char marks[] = "\"\\{}[],:\n'\x01";
	const size_t at = below(seed, n), len = 1 + below(seed, n - at < 64 ? n - at : 64);

	*from = at;
	*to = at + len;
	switch (below(seed, 9)) {
	case 0:
		p[at] = (char)splitmix_next(seed);
		*to = at + 1;
		return n;
	case 1:
		p[at] = marks[below(seed, sizeof marks - 1)];
		*to = at + 1;
		return n;
	case 2: /* lost bytes */
		memmove(p + at, p + at + len, n - at - len);
		return n - len;
	case 3: /* bytes twice */
		memmove(p + at + len, p + at, n - at);
		return n + len;
	case 4: /* a hole */
		memset(p + at, 0, len);
		return n;
	case 5: /* other bytes */
		for (size_t i = at; i < at + len; i++)
			p[i] = (char)splitmix_next(seed);
		return n;
	case 6:
		p[at] = (char)(p[at] ^ 1 << below(seed, 8));
		*to = at + 1;
		return n;
	case 7: /* usually nothing: few inputs are cut */
		*to = n;
		return below(seed, 8) == 0 ? at : n;
	default:
		memmove(p + at + 1, p + at, n - at);
		p[at] = marks[below(seed, sizeof marks - 1)];
		*to = at;
		return n + 1;
	}
}

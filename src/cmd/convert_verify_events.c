#include "cmd/convert_verify_events.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/convert.h"
#include "cmd/event_json.h"
#include "cmd/value_text.h"
#include "compare/allowance.h"
#include "compare/field_differences.h"
#include "run/read/reading.h"

#define SHOWN 10          /* differences */
#define BATCH_EVENTS 1024 /* of those that were kept */

struct comparing {
	struct convert *c;
	struct pipeline *back; /* the output */
	struct allowance *allowance;
	bool in_step;            /* nothing is said */
	struct batch_pool pool;  /* of the events that were kept */
	struct pipeline_job job; /* of the input, once more */
	struct pipeline again;
	bool failed; /* it cannot be read once more, which was said */
	struct differ differ;
	uint64_t refused;
	struct text text;
};

/* ---- the two sides ---- */

static enum stage_status
next_kept(struct comparing *x, struct batch **out)
{
	struct sorter *const sorter = &x->c->verify.sorter;
	enum sorter_status status = SORTER_NO_RESULT;

	*out = batch_pool_take(&x->pool);
	if (*out != NULL && (status = sorter_next(sorter, *out)) == SORTER_MORE)
		return STAGE_MORE;
	if (status == SORTER_NO_RESULT)
		convert_verify_sorter_failed(x->c);
	batch_release(*out);
	return status == SORTER_END ? STAGE_END : STAGE_BAD;
}

/* What was written, and records that were not selected. */
static enum stage_status
next_written(void *ctx, struct batch **out)
{
	struct comparing *const x = ctx;

	return x->c->verify.by == VERIFY_EVENTS ? next_kept(x, out) : pipeline_next(&x->again, out);
}

static enum stage_status
next_back(void *ctx, struct batch **out)
{
	struct comparing *const x = ctx;

	return pipeline_next(x->back, out);
}

/* ---- what differs ---- */

static void
put_parts(struct text *t, unsigned parts)
{
	static const char *const words[] = { "time",   "duration", "name", "category",
		                             "fields", "track",    "phase" };
	bool any = false;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if ((parts >> i & 1) != 0) {
			text_printf(t, "%s%s", any ? ", " : ": other ", words[i]);
			any = true;
		}
}

static void
put_field(void *ctx, struct slice name, const struct value *a, const struct value *b)
{
	struct text *const t = ctx;

	text_str(t, "\n    field ");
	value_text_word(t, name);
	text_str(t, ": ");
	if (a != NULL)
		value_text_put(t, a);
	text_str(t, a == NULL ? "none, " : ", ");
	if (b != NULL)
		value_text_put(t, b);
	else
		text_str(t, "none");
}

static bool
take(void *ctx, const struct difference *d)
{
	struct comparing *const x = ctx;
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B),
	                          *const e = a != NULL ? a : b;
	struct shown_path shown;

	if (allowance_take(x->allowance, d) || x->refused++ >= SHOWN)
		return true;
	text_printf(&x->text, "%s: --verify: ", show_path(&shown, x->c->out));
	if (a != NULL)
		text_printf(&x->text, "input @%" PRIu64 ", ", a->offset);
	if (b != NULL)
		text_printf(&x->text, "output @%" PRIu64 ": ", b->offset);
	else
		text_str(&x->text, "not in the output: ");
	text_printf(&x->text, "%s%s ", a == NULL ? "not in the input: " : "", event_kind(e));
	value_text_word(&x->text, e->name);
	text_printf(&x->text, " at %" PRIu64 " ns", e->ts);
	put_parts(&x->text, d->parts);
	if ((d->parts & PART_FIELDS) != 0)
		field_differences(d, &x->differ.rules, put_field, &x->text);
	text_char(&x->text, '\n');
	return true;
}

static bool
take_allowed(void *ctx, const struct difference *d)
{
	struct comparing *const x = ctx;

	return allowance_take(x->allowance, d);
}

/* ---- running ---- */

static enum differ_status
compare(struct comparing *x)
{
	/* a record is what its bytes say; whose it is may depend on where the file lies */
	const bool raw = x->c->pipeline.context.raw;
	const struct allowance *const a = x->allowance;
	const struct differ_rules rules = {
		.tolerance = a->tolerance,
		.pair_all = true,
		.sorted = !raw,
		.in_step = x->in_step,
		.left_out = raw,
		.ignore = allowance_ignore(a) | (raw ? PART_TRACK : 0U),
		.tracks = a->tracks,
		.more = a->nmore > 0 ? a->more : NULL,
		.fields = { [DIFFER_A] = convert_verify_fields(x->c, NULL),
		            [DIFFER_B] = convert_verify_fields(x->c, a->added) },
	};
	struct pipeline *const written = x->c->verify.by == VERIFY_EVENTS ? &x->c->pipeline : &x->again;

	differ_init(
	    &x->differ, &rules,
	    (struct differ_source){ .next = next_written, .ctx = x, .trace = pipeline_trace(written) },
	    (struct differ_source){ .next = next_back, .ctx = x, .trace = &x->back->trace },
	    x->in_step ? take_allowed : take, x);
	const enum differ_status status = differ_run(&x->differ);
	if (x->differ.more > a->nmore)
		x->refused += x->differ.more - a->nmore;
	differ_free(&x->differ);
	return status;
}

/* Findings were said when it was read first. */
static void
say_new(void *ctx, const struct findings *j, const struct finding *f)
{
	struct comparing *const x = ctx;

	if (x->c->status < STATUS_UNREADABLE && !x->in_step)
		x->failed |= say_failure(&x->c->options, j, f);
}

/* The events as they were written, but in order of time unless both sides go in step. */
static bool
open_again(struct comparing *x)
{
	struct convert *const c = x->c;

	x->job = convert_job(c);
	if (c->pipeline.reading != NULL)
		x->job.operands = &c->pipeline.reading->operands;
	x->job.raw_runs = false;
	x->job.raw_fields = true;
	x->job.order = x->in_step ? c->to->writer->order : convert_verify_order(c);
	x->job.lanes = x->job.lanes_off = x->job.late = false;
	x->job.sink = say_new;
	x->job.ctx = x;
	x->job.hooks = (struct pipeline_hooks){ .progress = x->job.hooks.progress, .ctx = c };
	return pipeline_open(&x->again, &x->job);
}

static enum differ_status
compare_kept(struct comparing *x)
{
	const bool ok = batch_pool_init(&x->pool, BATCH_EVENTS, false) && sorter_end(&x->c->verify.sorter);
	const enum differ_status status = ok ? compare(x) : DIFFER_NO_MEMORY;

	batch_pool_free(&x->pool);
	return status;
}

static enum differ_status
compare_again(struct comparing *x)
{
	const enum differ_status status = open_again(x) ? compare(x) : DIFFER_BAD;

	pipeline_end(&x->again);
	progress_clear(&x->c->progress);
	pipeline_close(&x->again);
	return status;
}

bool
convert_verify_events(struct convert *c, struct pipeline *back, struct allowance *allowance,
                      uint64_t *refused)
{
	struct comparing *const x = calloc(1, sizeof *x);

	if (x == NULL) {
		pipeline_no_memory(back);
		return false;
	}
	x->c = c;
	x->back = back;
	x->allowance = allowance;
	const enum differ_status status = c->verify.by == VERIFY_EVENTS ? compare_kept(x) : compare_again(x);
	const bool compared = status == DIFFER_DONE && !x->failed;
	if (status == DIFFER_NO_MEMORY)
		pipeline_no_memory(back);
	*refused = x->refused;
	if (compared)
		say_text(&x->text);
	text_free(&x->text);
	free(x);
	return compared;
}

bool
convert_verify_in_step(struct convert *c, struct pipeline *back, const struct allowance *allowance)
{
	struct comparing *const x = calloc(1, sizeof *x);
	struct allowance left = *allowance;

	if (x == NULL)
		return false;
	x->c = c;
	x->back = back;
	x->allowance = &left;
	x->in_step = true;
	const bool same = compare_again(x) == DIFFER_DONE && x->refused == 0;
	free(x);
	return same;
}

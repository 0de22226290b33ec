#include "cmd/convert_verify.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/convert.h"
#include "cmd/diff_report.h"
#include "cmd/value_text.h"
#include "compare/allowance.h"

#define SHOWN 10          /* differences */
#define BATCH_EVENTS 1024 /* of those that were kept */

struct verify {
	struct convert *c;
	struct batch_pool pool; /* of the events that were kept */
	struct pipeline_job job;
	struct pipeline back; /* the output */
	struct allowance allowance;
	struct differ differ;
	const char *path; /* of the output before it has its name */
	uint64_t refused;
	struct text text;
	bool failed;   /* the output cannot be read */
	bool findings; /* it breaks rules */
};

bool
convert_verify_check(struct convert *c)
{
	struct options *const o = &c->options;

	if (!c->verify.wanted)
		return true;
	if (c->to->reader == NULL)
		o->status =
		    options_mistake(o, "--verify reads the output back; %s cannot be read", c->to->name);
	else if (strcmp(c->out, "-") == 0)
		o->status =
		    options_mistake(o, "--verify reads the output back; it cannot be standard output");
	return o->status == STATUS_CLEAN;
}

/* Records that are copied stay in the order of the file. */
static enum event_order
order_of(const struct convert *c)
{
	return c->pipeline.context.raw ? ORDER_FILE : ORDER_TIME;
}

bool
convert_verify_begin(struct convert *c)
{
	struct shown_path shown;
	const struct sorter_options options = {
		.order = { order_of(c), false },
		.memory = c->sort_memory > 0 ? c->sort_memory : SORTER_MEMORY,
		.beside = c->out,
	};

	c->verify.compares = c->verify.wanted;
	if (c->verify.implied && convert_output_written(&c->output) != NULL &&
	    !c->pipeline.rebase.signed_time)
		c->verify.wanted = true;
	if (!c->verify.wanted)
		return true;
	if (convert_output_written(&c->output) == NULL || c->pipeline.rebase.signed_time) {
		say(c->pipeline.rebase.signed_time
		        ? "%s: --verify with --rebase needs inputs that can be read twice"
		        : "%s: --verify reads the output back; it is no regular file",
		    show_path(&shown, c->out));
		c->status = STATUS_USAGE;
		return false;
	}
	sorter_init(&c->verify.sorter, &options);
	c->verify.begun = true;
	return true;
}

static bool
sorter_failed(const struct convert *c)
{
	char why[512];
	struct shown_path shown;

	sorter_reason(&c->verify.sorter, why, sizeof why);
	say("%s: --verify: %s", show_path(&shown, c->out), why);
	return false;
}

bool
convert_verify_add(struct convert *c, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n && c->verify.begun; i++)
		c->verify.events +=
		    event_is_compared(&b->events[i]) && (b->events[i].flags & EVENT_LEFT_OUT) == 0;
	return !c->verify.begun || sorter_add(&c->verify.sorter, b) || sorter_failed(c);
}

/* ---- the two sides ---- */

/* What was written; records that were not selected are none of it. */
static enum stage_status
next_kept(void *ctx, struct batch **out)
{
	struct verify *const v = ctx;

	*out = batch_pool_take(&v->pool);
	const enum sorter_status status =
	    *out != NULL ? sorter_next(&v->c->verify.sorter, *out) : SORTER_NO_RESULT;
	if (status == SORTER_MORE) {
		for (uint32_t i = 0; i < (*out)->n; i++)
			if (((*out)->events[i].flags & EVENT_LEFT_OUT) != 0)
				(*out)->events[i].phase = PHASE_STRUCTURE;
		return STAGE_MORE;
	}
	if (status == SORTER_NO_RESULT)
		sorter_failed(v->c);
	batch_release(*out);
	return status == SORTER_END ? STAGE_END : STAGE_BAD;
}

static enum stage_status
next_back(void *ctx, struct batch **out)
{
	struct verify *const v = ctx;

	return pipeline_next(&v->back, out);
}

/* The findings of an input may be those of its records in the output. */
static void
say_back(void *ctx, const struct findings *findings, const struct finding *f)
{
	struct verify *const v = ctx;

	if (v->c->status == STATUS_CLEAN)
		say_finding(&v->c->options, findings, f);
}

static void
closed(void *ctx, const struct source *s)
{
	struct verify *const v = ctx;

	progress_clear(&v->c->progress);
	v->failed |= s->unreadable;
	v->findings |= s->findings.levels[LEVEL_ERROR] > 0;
}

static void
set_job(struct verify *v)
{
	const struct convert *const c = v->c;
	const bool raw = c->pipeline.context.raw;

	v->job = (struct pipeline_job){
		.paths = &v->path,
		.npaths = 1,
		.from = c->to,
		.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER | (raw ? c->to->writer->want & WANT_FILES : 0U),
		.interpret = raw ? INTERPRET_NOT : INTERPRET_SPANS,
		.raw = raw && pipeline_format(&c->pipeline) == c->to,
		.order = order_of(c),
		.sort_memory = c->sort_memory,
		.sort_beside = c->out,
		.max_repeat = c->max_repeat,
		.sink = say_back,
		.ctx = v,
		.hooks = { .closed = closed, .ctx = v },
	};
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
	struct verify *const v = ctx;
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B),
	                          *const e = a != NULL ? a : b;
	struct shown_path shown;

	if (!v->c->verify.compares || allowance_take(&v->allowance, d) || v->refused++ >= SHOWN)
		return true;
	text_printf(&v->text, "%s: --verify: ", show_path(&shown, v->c->out));
	if (a != NULL)
		text_printf(&v->text, "input @%" PRIu64 ", ", a->offset);
	if (b != NULL)
		text_printf(&v->text, "output @%" PRIu64 ": ", b->offset);
	else
		text_str(&v->text, "not in the output: ");
	text_printf(&v->text, "%s%s ", a == NULL ? "not in the input: " : "", diff_phase(e));
	value_text_word(&v->text, e->name);
	text_printf(&v->text, " at %" PRIu64 " ns", e->ts);
	put_parts(&v->text, d->parts);
	if ((d->parts & PART_FIELDS) != 0)
		field_differences(d, &v->differ.rules, put_field, &v->text);
	text_char(&v->text, '\n');
	return true;
}

/* ---- running ---- */

static bool
compare(struct verify *v)
{
	/* a record is what its bytes say; whose it is may depend on where the file lies */
	const bool raw = v->c->pipeline.context.raw;
	const struct differ_rules rules = {
		.tolerance = v->allowance.tolerance,
		.pair_all = true,
		.sorted = !raw,
		.ignore = allowance_ignore(&v->allowance) | (raw ? PART_TRACK : 0U),
		.tracks = v->allowance.tracks,
		.more = v->allowance.nmore > 0 ? v->allowance.more : NULL,
		.fields = { [DIFFER_B] = { .added = v->allowance.added } },
	};

	differ_init(
	    &v->differ, &rules,
	    (struct differ_source){ .next = next_kept, .ctx = v, .trace = pipeline_trace(&v->c->pipeline) },
	    (struct differ_source){ .next = next_back, .ctx = v, .trace = &v->back.trace }, take, v);
	const enum differ_status status = differ_run(&v->differ);
	if (status == DIFFER_NO_MEMORY)
		pipeline_no_memory(&v->back);
	if (v->differ.more > v->allowance.nmore)
		v->refused += v->differ.more - v->allowance.nmore;
	return status == DIFFER_DONE;
}

static bool
run(struct verify *v)
{
	struct shown_path shown;

	set_job(v);
	const bool compared = batch_pool_init(&v->pool, BATCH_EVENTS, false) &&
	                      sorter_end(&v->c->verify.sorter) && pipeline_open(&v->back, &v->job) &&
	                      compare(v);
	pipeline_end(&v->back);
	differ_free(&v->differ);
	pipeline_close(&v->back);
	batch_pool_free(&v->pool);
	say_text(&v->text);
	text_free(&v->text);
	if (!compared || v->failed)
		say("%s: not written: it could not be read back", show_path(&shown, v->c->out));
	else if (v->refused > 0)
		say("%s: not written: %" PRIu64 " events differ in what no loss declares",
		    show_path(&shown, v->c->out), v->refused);
	return compared && !v->failed && v->refused == 0;
}

bool
convert_verify_end(struct convert *c)
{
	if (!c->verify.begun)
		return true;
	struct verify *const v = calloc(1, sizeof *v);
	if (v == NULL) {
		struct shown_path shown;
		say("%s: the system gives no more memory", show_path(&shown, c->out));
		return false;
	}
	v->c = c;
	v->path = convert_output_written(&c->output);
	v->allowance = allowance_of(&c->writing.total, c->pipeline.context.raw ? NULL : c->to->losses,
	                            c->verify.events);
	const bool ok = run(v);
	if (v->findings)
		c->status = worse(c->status, STATUS_FINDINGS);
	free(v);
	return ok;
}

void
convert_verify_free(struct convert_verify *v)
{
	if (v->begun)
		sorter_free(&v->sorter);
	v->begun = false;
}

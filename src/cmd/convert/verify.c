/*
 * convert --verify: the output is read back and compared with the events that were written, before the output
 * gets its name.  The cheapest sufficient comparison is done first: bytes of a copy, then a digest of all
 * events (constant memory), then events one by one, in the order of the file or sorted by time.  Differences
 * that counted losses declare are allowed.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "format/registry.h"
#include "cmd/convert/convert.h"
#include "cmd/events/event_text.h"
#include "compare/compare.h"
#include "input/open.h"
#include "out/kind.h"
#include "run/read/operands.h"

/* ---- events and fields to compare ---- */

/* Events are compared in order of time; copied records in the order of the file. */
static enum event_order compared_order(const struct convert *c)
{
	return pipeline_report(c->pipeline).raw ? ORDER_FILE : ORDER_TIME;
}

/* Whether the output has unchanged records of its own format. */
static bool output_is_copy(const struct convert *c)
{
	const struct run_report run = pipeline_report(c->pipeline);

	return run.raw && run.format == c->to && c->to->copier != NULL;
}

/* Whether a list has the field, or its member as "FIELD.MEMBER"; member.p is NULL for the field. */
static bool is_listed(const char *const *list, struct slice field, struct slice member)
{
	for (; list != NULL && *list != NULL; list++) {
		const size_t n = strcspn(*list, ".");
		if (slice_equal(field, slice_of(*list, (uint32_t)n)) &&
		    (member.p == NULL ? (*list)[n] == '\0'
		                      : (*list)[n] == '.' && slice_is(member, *list + n + 1)))
			return true;
	}
	return false;
}

/* Whether the copier copies this field, or this member of it, without computing it again. */
static bool is_member_copied(const void *ctx, struct slice field, struct slice member)
{
	const struct convert *const c = ctx;

	return !is_listed(c->to->recounted, field, member) &&
	       !(c->verify.joins && is_listed(c->to->copier->renumbered, field, member));
}

static bool is_copied(const void *ctx, struct slice name)
{
	return is_member_copied(ctx, name, SLICE_NONE);
}

/* The fields to compare; added: fields that the output may have in addition. */
static struct event_fields compared_fields(const struct convert *c, const char *const *added)
{
	const struct run_report run = pipeline_report(c->pipeline);
	const bool changes = run.raw && (run.job->choice.select != NULL || c->rebase || c->verify.joins) &&
	                     c->to->copier != NULL;

	return (struct event_fields){ .counts = changes ? is_copied : NULL,
		                      .members = changes ? is_member_copied : NULL,
		                      .ctx = c,
		                      .added = added };
}

/* Reports why the sorter failed; returns false. */
static bool refuse_sorter(const struct convert *c)
{
	char why[512];

	sorter_reason(&c->verify.sorter, why, sizeof why);
	return say_of(c->out, "--verify: %s", why);
}

/* The output, and the events that were written: the kept ones (VERIFY_EVENTS), or those of the input, read
 * once more. */
struct verify {
	struct convert *c;
	const char *path; /* temporary name of the output */
	struct pipeline_job job;
	struct pipeline *back;  /* reads the output */
	struct batch_pool pool; /* for the events that were kept */
	struct pipeline_job again_job;
	struct pipeline *again;           /* reads the input once more */
	struct allowance allowance, left; /* left: its remainder in the comparison so far */
	struct differ differ;
	uint64_t refused, restated; /* restated: copier_ops.restates */
	struct text text;
	bool signed_time;  /* ts is a signed number */
	bool failed;       /* the output cannot be read */
	bool again_failed; /* the input cannot be read once more (reported) */
	bool findings;     /* the output breaks rules of its format */
	bool is_quiet;     /* findings are reported already; only failures are new */
	bool in_step;      /* nothing is reported, as another comparison may follow */
	bool is_noted;     /* in_step: there was something to report */
};

/* ---- events, one by one ---- */

#define SHOWN 10          /* number of differences */
#define BATCH_EVENTS 1024 /* size of a batch of kept events */

static enum stage_status next_kept(struct verify *v, struct batch **out)
{
	struct sorter *const sorter = &v->c->verify.sorter;
	enum sorter_status status = SORTER_NO_RESULT;

	*out = batch_pool_take(&v->pool);
	if (*out != NULL && (status = sorter_next(sorter, *out)) == SORTER_MORE)
		return STAGE_MORE;
	if (status == SORTER_NO_RESULT)
		refuse_sorter(v->c);
	batch_release(*out);
	return status == SORTER_END ? STAGE_END : STAGE_BAD;
}

/* Returns events that were written, and records that were not selected. */
static enum stage_status next_written(void *ctx, struct batch **out)
{
	struct verify *const v = ctx;

	return v->c->verify.by == VERIFY_EVENTS ? next_kept(v, out) : pipeline_next(v->again, out);
}

static enum stage_status next_back(void *ctx, struct batch **out)
{
	struct verify *const v = ctx;

	return pipeline_next(v->back, out);
}

static void put_parts(struct text *t, unsigned parts)
{
	static const char *const words[] = { "time",   "duration", "name", "category",
		                             "fields", "track",    "phase" };
	bool any = false;

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if ((parts >> i & 1) != 0) {
			text_printf(t, "%s%s", any ? ", " : ": other ", words[i]);
			any = true;
		}
}

static void put_field(void *ctx, struct slice name, const struct value *a, const struct value *b)
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

static bool is_restated(struct verify *v, const struct event *e)
{
	const struct convert *const c = v->c;

	return output_is_copy(c) && pipeline_report(c->pipeline).job->choice.select != NULL &&
	       c->to->copier->restates != NULL && slice_is(e->cls->name, c->to->copier->restates) &&
	       v->restated++ == 0;
}

static bool report_difference(void *ctx, const struct difference *d)
{
	struct verify *const v = ctx;
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B),
	                          *const e = a != NULL ? a : b;
	struct shown_path shown;

	if ((a == NULL && is_restated(v, b)) || allowance_take(&v->left, d) || v->refused++ >= SHOWN)
		return true;
	text_printf(&v->text, "%s: --verify: ", show_path(&shown, v->c->out));
	if (a != NULL)
		text_printf(&v->text, "input @%" PRIu64 ", ", a->offset);
	if (b != NULL)
		text_printf(&v->text, "output @%" PRIu64 ": ", b->offset);
	else
		text_str(&v->text, "not in the output: ");
	text_printf(&v->text, "%s%s ", a == NULL ? "not in the input: " : "", event_kind_name(event_kind(e)));
	value_text_word(&v->text, e->name);
	const uint64_t bias = (uint64_t)v->signed_time << 63;
	text_str(&v->text, " at ");
	text_ns_from(&v->text, bias, e->ts ^ bias);
	text_str(&v->text, " ns");
	put_parts(&v->text, d->parts);
	if ((d->parts & PART_FIELDS) != 0)
		field_differences(d, &v->differ.rules, put_field, &v->text);
	text_char(&v->text, '\n');
	return true;
}

static bool may_differ(void *ctx, unsigned parts)
{
	const struct verify *const v = ctx;

	return allowance_has(&v->left, parts);
}

static bool check_allowed(void *ctx, const struct difference *d)
{
	struct verify *const v = ctx;

	return allowance_take(&v->left, d);
}

static enum differ_status run_differ(struct verify *v)
{
	/* a record consists of its bytes; its track may depend on the path of the file */
	const bool raw = pipeline_report(v->c->pipeline).raw;
	const struct allowance *const a = &v->left;
	const struct differ_rules rules = {
		.tolerance = a->tolerance,
		.pair_all = true,
		.sorted = !raw,
		.in_step = v->in_step,
		.referred = !output_is_copy(v->c),
		.left_out = raw,
		.ignore = allowance_ignore(a) | (raw ? PART_TRACK : 0U),
		.tracks = a->tracks,
		.extra_classes = a->extra_events > 0 ? a->extra_classes : NULL,
		.may_differ = may_differ,
		.fields = { [DIFFER_A] = compared_fields(v->c, NULL),
		            [DIFFER_B] = compared_fields(v->c, a->added) },
	};
	struct pipeline *const written = v->c->verify.by == VERIFY_EVENTS ? v->c->pipeline : v->again;
	const bool signed_time = v->signed_time = pipeline_report(written).signed_time;

	differ_init(
	    &v->differ, &rules,
	    (struct differ_source){ .next = next_written,
	                            .ctx = v,
	                            .trace = pipeline_trace(written),
	                            .signed_time = signed_time },
	    (struct differ_source){
	        .next = next_back, .ctx = v, .trace = pipeline_trace(v->back), .signed_time = signed_time },
	    v->in_step ? check_allowed : report_difference, v);
	const enum differ_status status = differ_run(&v->differ);
	if (v->differ.extra_events > a->extra_events)
		v->refused += v->differ.extra_events - a->extra_events;
	differ_free(&v->differ);
	return status;
}

/* Findings were reported when the input was first read. */
static void report_failure(void *ctx, const struct findings *j, const struct finding *f)
{
	struct verify *const v = ctx;

	if (v->c->status < STATUS_UNREADABLE && !v->in_step)
		v->again_failed |= say_failure(&v->c->options, j, f);
}

/* Opens the input once more: the events as they were written, sorted by time unless both sides are compared
 * in step. */
static bool open_again(struct verify *v)
{
	struct convert *const c = v->c;

	v->again_job = convert_job(c);
	v->again_job.in.operands = pipeline_report(c->pipeline).operands;
	if (v->again_job.read.as == READ_COPY)
		v->again_job.read.as = READ_FIELDS;
	v->again_job.arrange = (struct arrangement){
		.order = v->in_step ? c->to->writer->order : compared_order(c),
		.memory = v->again_job.arrange.memory,
		.temp_near = v->again_job.arrange.temp_near,
	};
	v->again_job.to.sink = report_failure;
	v->again_job.to.ctx = v;
	v->again_job.to.hooks =
	    (struct pipeline_hooks){ .progress = v->again_job.to.hooks.progress, .ctx = c };
	return pipeline_open(&v->again, &v->again_job);
}

static enum differ_status compare_kept(struct verify *v)
{
	const bool ok = batch_pool_init(&v->pool, BATCH_EVENTS, false) && sorter_end(&v->c->verify.sorter);
	const enum differ_status status = ok ? run_differ(v) : DIFFER_NO_MEMORY;

	batch_pool_free(&v->pool);
	return status;
}

static enum differ_status compare_again(struct verify *v)
{
	const enum differ_status status = open_again(v) ? run_differ(v) : DIFFER_BAD;

	pipeline_end(v->again);
	progress_clear(&v->c->options.progress);
	pipeline_close(v->again);
	return status;
}

/* ---- options ---- */

bool convert_verify_check(struct convert *c)
{
	struct options *const o = &c->options;

	if (!c->verify.wanted)
		return true;
	if (c->to->reader == NULL)
		return options_mistake(o, "--verify reads the output back; %s cannot be read", c->to->name);
	return strcmp(c->out, "-") != 0 ||
	       options_mistake(o, "--verify reads the output back; it cannot be standard output");
}

bool convert_verify_can_compare_bytes(const struct convert *c, const struct pipeline_job *job)
{
	return c->verify.wanted && job->read.copy_of == c->to && job->in.npaths == 1 &&
	       job->choice.select == NULL && job->adjust.join == NULL && !job->adjust.rebase &&
	       pipeline_reads_twice(job);
}

/* ---- while the output is written ---- */

/* Whether several traces are written as one.  The files of a folder are one trace in some formats. */
static bool joins_inputs(const struct convert *c)
{
	const struct operands *const o = pipeline_report(c->pipeline).operands;

	return c->nin > 1 || (c->to->trace == NULL && o != NULL && operands_count(o) > 1);
}

static enum verify_by choose_way(const struct convert *c)
{
	const struct run_report run = pipeline_report(c->pipeline);

	if (!c->verify.wanted)
		return VERIFY_RULES;
	if (run.raw && run.format == c->to && convert_verify_can_compare_bytes(c, run.job))
		return VERIFY_BYTES;
	return pipeline_reads_twice(run.job) && run.job->adjust.join == NULL ? VERIFY_DIGEST : VERIFY_EVENTS;
}

bool convert_verify_begin(struct convert *c)
{
	struct shown_path shown;
	const struct run_report run = pipeline_report(c->pipeline);
	const struct sorter_options options = {
		.order = { .order = compared_order(c), .signed_time = run.signed_time },
		.memory = sorter_memory(c->sort_memory),
		.temp_near = convert_output_target(&c->output),
	};
	/* other readers read times before 0 as 0 */
	const bool has_time = !run.signed_time || (c->to->reader != NULL && c->to->reader->zero != NULL);
	const bool can_be_read = convert_output_written(&c->output) != NULL && has_time;

	if (!c->verify.wanted && !(c->verify.implied && can_be_read))
		return true;
	if (!can_be_read) {
		say(!has_time && !c->rebase ? "%s: --verify: times before 0 cannot be read back; use --rebase"
		    : !has_time             ? "%s: --verify with --rebase needs inputs that can be read twice"
		                            : "%s: --verify reads the output back; it is not a regular file",
		    show_path(&shown, c->out));
		c->status = STATUS_USAGE;
		return false;
	}
	c->verify.by = choose_way(c);
	if (c->verify.by == VERIFY_EVENTS)
		sorter_init(&c->verify.sorter, &options);
	c->verify.joins = joins_inputs(c);
	c->verify.digest.rules.no_tracks = run.raw;
	c->verify.digest.rules.referred = !output_is_copy(c);
	c->verify.digest.rules.fields = compared_fields(c, NULL);
	c->verify.begun = true;
	return true;
}

static bool no_memory(const struct convert *c)
{
	return say_of(c->out, "out of memory");
}

static bool keep_events(struct convert *c, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		c->verify.events += event_is_compared(&b->events[i], c->verify.digest.rules.referred) &&
		                    (b->events[i].flags & EVENT_LEFT_OUT) == 0;
	return sorter_add(&c->verify.sorter, b) || refuse_sorter(c);
}

bool convert_verify_add(struct convert *c, const struct batch *b)
{
	if (!c->verify.begun)
		return true;
	if (c->verify.by == VERIFY_DIGEST)
		return digest_add(&c->verify.digest, b) || no_memory(c);
	return c->verify.by != VERIFY_EVENTS || keep_events(c, b);
}

/* ---- reading the output back ---- */

static void report_by_name(const struct verify *v, const struct findings *findings, const struct finding *f)
{
	struct findings named = *findings;
	char space[512];
	struct text path = text_start(space, sizeof space);

	text_str(&path, v->c->out);
	text_str(&path, findings->path + strlen(v->path)); /* a file of a folder */
	text_char(&path, '\0');
	named.path = path.failed ? v->c->out : path.p;
	say_finding(&v->c->options, &named, f);
	text_free(&path);
}

/* Handles findings in the output; if the input has findings, they may be the same ones. */
static void report_back(void *ctx, const struct findings *findings, const struct finding *f)
{
	struct verify *const v = ctx;

	if (v->c->status != STATUS_CLEAN)
		return;
	if (v->in_step)
		v->is_noted |= f->rule->level >= LEVEL_WARNING || v->c->options.side != NULL;
	else if (!v->is_quiet || input_rule_is_failure(f->rule))
		report_by_name(v, findings, f);
}

static void closed(void *ctx, const struct source *s)
{
	struct verify *const v = ctx;

	progress_clear(&v->c->options.progress);
	v->failed |= s->unreadable;
	v->findings |= s->findings.levels[LEVEL_ERROR] > 0;
}

static void show_progress(void *ctx, const struct input *in)
{
	struct verify *const v = ctx;

	progress_show(&v->c->options.progress, in);
}

static bool open_back(struct verify *v, enum event_order order)
{
	const struct convert *const c = v->c;
	const struct run_report run = pipeline_report(c->pipeline);
	const bool raw = run.raw;

	v->job = (struct pipeline_job){
		.in.paths = &v->path,
		.in.npaths = 1,
		.in.from = c->to,
		.read.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER |
		             (raw ? format_output_wants(c->to) & WANT_FILES : 0U),
		.read.interpret = raw ? INTERPRET_NOT : INTERPRET_SPANS,
		.read.as = output_is_copy(c) ? READ_FIELDS : READ_MEANING,
		.in.helpers = options_threads(c->threads) - 1,
		.read.ahead = options_threads(c->threads) > 1 ? READ_AHEAD : READ_ALONG,
		.arrange.order = order,
		.arrange.memory = c->sort_memory,
		.arrange.temp_near = convert_output_target(&c->output),
		.adjust.max_repeat = c->max_repeat,
		.adjust.from_zero = true,
		.to.sink = report_back,
		.to.ctx = v,
		.to.hooks = { .closed = closed, .progress = show_progress, .ctx = v },
	};
	return pipeline_open(&v->back, &v->job);
}

static void close_back(struct verify *v)
{
	pipeline_end(v->back);
	pipeline_close(v->back);
}

/* Reads the output for its digest.  Returns false if it cannot be read. */
static bool digest_back(struct verify *v, struct digest *d)
{
	struct batch *b;
	enum stage_status status = open_back(v, ORDER_FILE) ? STAGE_MORE : STAGE_BAD;

	while (status == STAGE_MORE && (status = pipeline_next(v->back, &b)) == STAGE_MORE) {
		if (!digest_add(d, b)) {
			pipeline_no_memory(v->back);
			status = STAGE_BAD;
		}
		batch_release(b);
	}
	return status == STAGE_END;
}

/* Whether both digests are equal; false on OOM. */
static bool digests_same(struct verify *v, struct digest *back)
{
	struct digest *const written = &v->c->verify.digest;
	struct wide_hash a, b;

	written->identities.without = back->identities.without = v->allowance.tracks;
	return digest_end(written, pipeline_trace(v->c->pipeline), &a) &&
	       digest_end(back, pipeline_trace(v->back), &b) && wide_hash_equal(a, b) &&
	       written->events == back->events && back->extra_events <= v->allowance.extra_events;
}

/* Reads the output in constant memory.  *same: its events are equal to those that were written.  Returns
 * false if it cannot be read. */
static bool compare_digests(struct verify *v, bool *same)
{
	struct digest back = { .rules = { .no_tracks = pipeline_report(v->c->pipeline).raw,
		                          .referred = !output_is_copy(v->c),
		                          .fields = compared_fields(v->c, v->allowance.added),
		                          .extra_classes = v->allowance.extra_events > 0
		                                               ? v->allowance.extra_classes
		                                               : NULL } };
	const bool ok = digest_back(v, &back);

	*same = ok && v->c->verify.by == VERIFY_DIGEST && digests_same(v, &back);
	digest_free(&back);
	close_back(v);
	v->is_quiet = true;
	return ok && !v->failed;
}

/* Whether events, in the order in which they were written, differ only as the losses allow.  Returns false if
 * a side cannot be read, which compare_events() reports. */
static bool compare_in_step(struct verify *v)
{
	v->in_step = true;
	v->left = v->allowance;
	const bool same = open_back(v, ORDER_FILE) && compare_again(v) == DIFFER_DONE && v->refused == 0;
	close_back(v);
	const bool ok = same && !v->failed && !v->is_noted;
	v->in_step = v->failed = v->findings = false;
	v->refused = 0;
	return ok;
}

/* Reports the first differences that the losses do not allow.  Returns false if a side could not be read. */
static bool compare_events(struct verify *v)
{
	enum differ_status status = DIFFER_BAD;

	v->left = v->allowance;
	if (open_back(v, compared_order(v->c)))
		status = v->c->verify.by == VERIFY_EVENTS ? compare_kept(v) : compare_again(v);
	if (status == DIFFER_NO_MEMORY)
		pipeline_no_memory(v->back);
	const bool compared = status == DIFFER_DONE && !v->again_failed;
	if (compared)
		say_text(&v->text);
	text_free(&v->text);
	close_back(v);
	return compared && !v->failed;
}

/* Compares the output in the cheapest sufficient way.  Returns false if it could not be compared. */
static bool compare_output(struct verify *v)
{
	struct convert *const c = v->c;
	bool same = false;

	if (c->verify.by == VERIFY_RULES)
		return compare_digests(v, &same);
	if (c->verify.by == VERIFY_DIGEST && allowance_is_none(&v->allowance) && !compare_digests(v, &same))
		return false;
	if (c->verify.by == VERIFY_DIGEST && !allowance_is_none(&v->allowance))
		same = compare_in_step(v);
	return same || compare_events(v);
}

/* Unpacks a compressed output and compares it with the bytes written.  Returns false after a message. */
static bool unpacks_to(const struct verify *v, const struct byte_sum *content)
{
	struct input *const in = input_open(v->path);
	struct byte_sum back = { .bytes = 0 };
	struct shown_path shown;

	while (in != NULL && input_need(in, 1)) {
		byte_sum_add(&back, in->p, (size_t)(in->end - in->p));
		in->p = in->end;
		input_release_read(in);
	}
	show_path(&shown, v->c->out);
	const bool whole = in != NULL && (in->fault == INPUT_OK || in->fault == INPUT_EMPTY);
	const bool same = whole && byte_sum_equal(&back, content);
	if (in == NULL)
		no_memory(v->c);
	else if (!whole)
		say("%s: not written: it could not be read back: %s", shown.s, in->fault_text);
	else if (!same)
		say("%s: not written: unpacked, " BYTE_SUM_DIFFERS, shown.s);
	input_close(in);
	return same;
}

static bool verify_output(struct verify *v)
{
	struct convert *const c = v->c;
	const struct byte_sum *const content = convert_output_packed(&c->output);
	const bool is_copy =
	    c->verify.by == VERIFY_BYTES && trace_bytes_same(c->in[0], v->path, c->to, &c->options.files);
	struct shown_path shown;

	if (is_copy && content == NULL) /* all bytes were compared */
		return true;
	if (c->verify.wanted && !convert_output_check(&c->output))
		return false; /* reported as a failure of the output */
	if (is_copy)
		return true;
	if (c->verify.wanted && content != NULL && !unpacks_to(v, content))
		return false;
	show_path(&shown, c->out);
	if (!compare_output(v))
		say("%s: not written: it could not be read back", shown.s);
	else if (v->refused > 0)
		say("%s: not written: %" PRIu64 " event%s, and no loss explains it", shown.s, v->refused,
		    v->refused == 1 ? " differs" : "s differ");
	else
		return true;
	return false;
}

bool convert_verify_end(struct convert *c)
{
	const struct convert_verify *const w = &c->verify;
	const uint64_t uncounted = UINT64_MAX;

	if (!c->verify.begun)
		return true;
	struct verify *const v = calloc(1, sizeof *v);
	if (v == NULL)
		return no_memory(c);
	v->c = c;
	v->path = convert_output_written(&c->output);
	v->allowance =
	    allowance_of(&c->writing.total, pipeline_report(c->pipeline).raw ? NULL : c->to->losses,
	                 w->by == VERIFY_DIGEST   ? w->digest.events
	                 : w->by == VERIFY_EVENTS ? w->events
	                                          : uncounted);
	const bool ok = verify_output(v);
	if (v->findings)
		c->status = worse(c->status, STATUS_FINDINGS);
	free(v);
	return ok;
}

void convert_verify_free(struct convert_verify *v)
{
	if (v->begun && v->by == VERIFY_EVENTS)
		sorter_free(&v->sorter);
	digest_free(&v->digest);
	v->begun = false;
}

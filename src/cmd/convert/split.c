/*
 * convert --split: the inputs are planned once (run/choose/split.h).  If records can be copied, one pass over
 * the inputs writes several parts, and flags in the batch select the records of each part.  Otherwise
 * run/choose/route.h routes events to the parts.  Parts of a size are measured first.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cmd/convert/convert.h"
#include "format/registry.h"
#include "input/open.h"
#include "run/adjust/adjust.h"
#include "run/choose/route.h"
#include "run/read/operands.h"

/* ---- options ---- */

static bool set_time(struct convert *c, const char *arg)
{
	uint64_t *const step = &c->split.split.step;
	const bool is_length = duration_with_unit(arg, step);

	return (is_length && *step > 0) ||
	       options_takes(&c->options,
	                     "--split time=", is_length ? "a duration above 0" : duration_option_takes(arg),
	                     arg);
}

static bool set_by(struct convert *c, const char *arg)
{
	static const char *const words[] = { "pid", "tid", "stream", NULL };
	static const enum split_by kinds[] = { SPLIT_PID, SPLIT_TID, SPLIT_STREAM };
	const int i = options_word(&c->options, "--split by=", arg, words);

	if (i >= 0)
		c->split.split.by = kinds[i];
	return i >= 0;
}

#define MIN_SIZE 1024U /* bytes of a part, of --split size= */

static bool set_size(struct convert *c, const char *arg)
{
	struct options *const o = &c->options;
	struct shown_path shown;

	if (!options_bytes(o, "--split size=", arg, &c->split.split.step))
		return false;
	return c->split.split.step >= MIN_SIZE ||
	       options_mistake(o, "--split size= takes a number of bytes, at least %u, not %s", MIN_SIZE,
	                       show_path(&shown, arg));
}

bool convert_split_option(void *run, struct options *o, const char *arg)
{
	struct convert *const c = run;
	static const struct {
		const char *name;
		enum split_by by;
		bool (*parse)(struct convert *, const char *);
	} ways[] = {
		{ "time=", SPLIT_TIME, set_time },
		{ "by=", SPLIT_PID, set_by },
		{ "size=", SPLIT_SIZE, set_size },
	};

	if (convert_splits(&c->split))
		return options_mistake(o, "the output is split in one way: give --split once");
	for (size_t i = 0; i < COUNT_OF(ways); i++)
		if (strncmp(arg, ways[i].name, strlen(ways[i].name)) == 0) {
			c->split.split.by = ways[i].by;
			return ways[i].parse(c, arg + strlen(ways[i].name));
		}
	return options_takes(o, "--split", "time=DURATION, by=pid|tid|stream or size=BYTES", arg);
}

/* ---- the folder ---- */

/* Length of the folder's name without .d, which may follow the suffix of a format: "x.htdump.d". */
static size_t length_without_d(const char *out)
{
	const size_t n = strlen(out);

	return n > 2 && strcmp(out + n - 2, ".d") == 0 ? n - 2 : n;
}

/* Sets the format that the name of the folder states; NULL: none. */
static bool format_of_folder(struct convert *c)
{
	char *const name = strndup(c->out, length_without_d(c->out));

	c->to = name != NULL ? format_by_suffix(name) : NULL;
	free(name);
	return name != NULL || options_no_memory(&c->options);
}

bool convert_split_fits(struct convert *c)
{
	/* "x.json.d" of parts that are folders, too */
	const bool has_suffix = format_by_suffix(c->out) == c->to;
	char *const name = strndup(c->out, has_suffix ? strlen(c->out) : length_without_d(c->out));

	if (name == NULL)
		return options_no_memory(&c->options);
	const bool fits = output_format_fits(&c->options, c->to, name, c->raw);
	free(name);
	return fits;
}

bool convert_split_format(struct convert *c)
{
	struct options *const o = &c->options;
	size_t n = strlen(c->out);

	while (n > 1 && c->out[n - 1] == '/')
		n--;
	if ((c->split.out = strndup(c->out, n)) == NULL)
		return options_no_memory(o);
	c->out = c->split.out;
	if (strcmp(c->out, "-") == 0)
		return options_mistake(o, "parts are files in a directory; standard output cannot hold them");
	c->to = NULL;
	if (c->to_name == NULL && !format_of_folder(c))
		return false;
	if (c->to == NULL && c->to_name == NULL) { /* that of the input */
		const struct format *const named = format_by_suffix(c->in[0]);
		const bool has_files = input_is_folder(c->in[0]) || input_is_archive(c->in[0]);
		c->to = o->from != NULL                          ? o->from
		        : has_files                              ? names_format(c->in[0])
		        : named != NULL && named->reader != NULL ? named
		                                                 : format_of_content(c->in[0]);
		if (c->to == NULL && !has_files && c->nin == 1)
			c->to = formats[0]; /* any: nothing is written, as the input cannot be read */
	}
	if (c->to == NULL)
		c->to = output_format(o, c->to_name, c->out);
	return c->to != NULL;
}

bool convert_split_check(struct convert *c)
{
	struct options *const o = &c->options;
	struct shown_path shown;

	if (c->verify.wanted || c->anonymise.keyfile != NULL)
		return options_mistake(o, "%s excludes --split: apply it first, then split its output",
		                       c->anonymise.keyfile != NULL ? "--anonymise" : "--verify");
	for (size_t i = 0; i < c->nin; i++)
		if (!input_is_named(c->in[i]))
			return options_mistake(
			    o, "--split reads the input several times; %s can be read only once: name a file",
			    strcmp(c->in[i], "-") == 0 ? "standard input" : show_path(&shown, c->in[i]));
	return true;
}

/* Each part repeats the facts and definitions of the trace, so the parts together take more than one output.
 * Each may take so many extra bytes, as an empty SQLite database has 80 KiB. */
#define FREE_BYTES_OF_PART (UINT64_C(128) << 10)

static bool put_part(void *ctx, const char *file, const char *p, size_t n)
{
	struct part_out *const out = ctx;
	struct convert *const c = out->c;
	struct convert_split *const s = &c->split;
	struct text *const name = &s->name;

	out->bytes += n;
	if (s->measures)
		return true;
	s->written += n;
	s->is_too_large |= s->written > s->allowed;
	text_clear(name);
	if (s->split.by == SPLIT_SIZE)
		text_printf(name, "part-%05" PRIu32, out->number);
	else
		text_str(name, s->split.parts[out->number]);
	text_str(name, output_suffix(c->to));
	if (file != NULL)
		text_printf(name, "/%s", file);
	text_char(name, '\0');
	if (name->failed)
		atomic_store(&out->writing.no_memory, true);
	return !name->failed && !s->is_too_large && convert_output_put(&c->output, name->p, p, n);
}

/* ---- parts of one pass ---- */

/* Returns the part of the i-th event: SPLIT_ALL of structure. */
static uint32_t part_of(const struct batch *b, const uint32_t *parts, uint32_t i)
{
	return b->events[i].phase == PHASE_STRUCTURE ? SPLIT_ALL : parts[i];
}

static bool is_of(uint32_t part, const struct part_out *out)
{
	return part == SPLIT_ALL || (part >= out->from && part < out->end);
}

static void flag_left_out(struct event *e, bool left_out)
{
	e->flags &= (uint8_t)~EVENT_LEFT_OUT;
	e->flags |= left_out ? EVENT_LEFT_OUT : 0;
}

/* Finds the records of a batch that parts without events of their own get. */
static void prepare_choice(struct convert_split *s, const struct batch *b, const uint32_t *parts,
                           bool surveys)
{
	struct split_choice *const x = s->choice;
	const struct writing *const w = &s->outs[0].writing;
	const bool has_state = w->to->copier->survey != NULL;
	bool left_out = false, is_old = false; /* is_old: a record that changes the state precedes */

	x->nbrief = x->last = 0;
	x->first = UINT32_MAX;
	for (uint32_t i = 0; i < b->n; i++) {
		const uint32_t part = part_of(b, parts, i);
		const bool is_common =
		    part == SPLIT_ALL || is_old || !writing_skips(w, surveys, &b->events[i], b->bytes[i]);
		x->common[i] = is_common;
		is_old |= is_common && has_state;
		s->common_bytes += is_common ? b->bytes[i].n : 0;
		if (is_common || !left_out)
			x->brief[x->nbrief++] = i;
		left_out = part != SPLIT_ALL;
		if (left_out && part != SPLIT_NONE) {
			x->first = part < x->first ? part : x->first;
			x->last = part > x->last ? part : x->last;
		}
	}
}

/* Returns the records of a batch that a part gets: its own, those that all parts get, and the first of
 * adjacent other ones. */
static struct batch choose_records(const struct convert_split *s, const struct batch *b,
                                   const uint32_t *parts, struct part_out *out)
{
	struct split_choice *const x = s->choice;
	const bool is_brief = x->last < out->from || x->first >= out->end;
	const uint32_t n = is_brief ? x->nbrief : b->n;
	struct batch chosen = *b;

	chosen.events = x->events;
	chosen.bytes = x->bytes;
	chosen.n = 0;
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = is_brief ? x->brief[k] : k;
		const bool left_out = !is_of(part_of(b, parts, i), out);
		if (left_out && out->omits && !x->common[i])
			continue;
		out->omits = left_out;
		x->events[chosen.n] = b->events[i];
		x->bytes[chosen.n] = b->bytes[i];
		flag_left_out(&x->events[chosen.n++], left_out);
	}
	return chosen;
}

static void give_part(struct part_out *out, const struct batch *b, bool survey)
{
	struct batch lent = *b;

	if (survey)
		writing_survey(&out->writing, b);
	else
		out->failed |= !writing_lend(&out->writing, &lent);
}

/* Gives each part the batch, with the events of all other parts flagged as left out, or without them. */
static void give_parts(struct convert *c, const struct batch *b, bool survey)
{
	const uint32_t *const parts = pipeline_parts(c->pipeline);
	struct convert_split *const s = &c->split;

	if (s->choice != NULL)
		prepare_choice(s, b, parts, survey);
	for (uint32_t k = 0; k < s->nouts; k++) {
		struct part_out *const out = &s->outs[k];
		if (s->choice != NULL) {
			const struct batch chosen = choose_records(s, b, parts, out);
			if (chosen.n > 0)
				give_part(out, &chosen, survey);
			continue;
		}
		for (uint32_t i = 0; i < b->n && !s->drops; i++)
			flag_left_out(&b->events[i], !is_of(part_of(b, parts, i), out));
		give_part(out, b, survey);
	}
}

static bool survey_parts(void *ctx, const struct batch *b)
{
	give_parts(ctx, b, true);
	return true;
}

bool convert_split_begin(struct convert *c, struct pipeline *p)
{
	struct convert_split *const s = &c->split;
	/* With more parts, starting threads for each costs more time than they save. */
	const bool has_threads = s->routes && s->split.nparts <= 64;
	const struct writing_options options = {
		.values = options_values(&c->options),
		.tool = TOOL_NAME,
		.temp_near = convert_output_target(&c->output),
		.threads = has_threads ? options_threads(c->threads) : 1,
		.surveyed = true,
	};
	bool ok = true;

	for (uint32_t k = 0; k < s->nouts && ok; k++) {
		struct part_out *const out = &s->outs[k];
		out->c = c;
		if (!s->measures && s->allowed < UINT64_MAX - FREE_BYTES_OF_PART)
			s->allowed += FREE_BYTES_OF_PART;
		ok = writing_begin(&out->writing, p, c->to, (struct writing_output){ put_part, out },
		                   &options);
	}
	ok = ok && (s->routes || !writing_needs_survey(&s->outs[0].writing) ||
	            record_marks_survey(p, survey_parts, c));
	for (uint32_t k = 0; k < s->nouts; k++)
		s->outs[k].omits = false; /* the copy begins with the first batch again */
	return ok;
}

/* Ends the parts; written: all events were written. */
static bool end_parts(struct convert *c, bool written)
{
	struct convert_split *const s = &c->split;

	for (uint32_t k = 0; k < s->nouts; k++) {
		struct writing *const w = &s->outs[k].writing;
		written = written && !s->outs[k].failed && writing_end(w);
		if (written && !s->measures) /* offsets in several inputs have no order */
			(c->nin == 1 ? ledger_merge_unordered : ledger_merge)(&s->total, &w->total);
		if (atomic_load(&w->no_memory))
			atomic_store(&c->writing.no_memory, true);
		if (w->failure != NULL)
			c->writing.failure = w->failure;
		writing_free(w);
	}
	return written && !s->total.failed;
}

/* ---- copies of records ---- */

#define MAX_OUTS 64U /* parts of one pass */

/* The number of parts of one pass, bounded by memory: a copier may keep the bytes of all records that it gets
 * and that are not of its part. */
static uint32_t parts_at_once(uint64_t bytes)
{
	const uint64_t memory = UINT64_C(1) << 30, min = 4, n = memory / (bytes + 1);

	return (uint32_t)(n > MAX_OUTS ? MAX_OUTS : n < min ? min : n);
}

/* Findings were reported in the first pass; only failures of a later pass are new. */
static void report_failure(void *ctx, const struct findings *j, const struct finding *f)
{
	struct convert *const c = ctx;

	c->split.failed |= c->status < STATUS_UNREADABLE && say_failure(&c->options, j, f);
}

static void append_part(struct convert_split *s, uint32_t number, uint32_t from, uint32_t end)
{
	s->outs[s->nouts++] = (struct part_out){ .number = number, .from = from, .end = end };
}

/* Reads the inputs and writes s->outs, which are adjacent parts. */
static bool copy_parts(struct convert *c, struct pipeline_job *job)
{
	struct convert_split *const s = &c->split;
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	bool ok = true;

	for (uint32_t k = 0; k < s->nouts; k++)
		s->outs[k].bytes = 0;
	s->common_bytes = 0;
	if (s->is_again) {
		pipeline_close(c->pipeline);
		job->to.sink = report_failure;
		job->to.ctx = c;
	}
	job->choice.part = s->outs[0].from;
	job->choice.part_end = s->outs[s->nouts - 1].end;
	if (pipeline_open(&c->pipeline, job))
		while (ok && (status = pipeline_next(c->pipeline, &b)) == STAGE_MORE) {
			if ((ok = s->outs[0].writing.begun)) /* else classes of an unreadable input */
				give_parts(c, b, false);
			for (uint32_t k = 0; k < s->nouts; k++)
				ok &= !s->outs[k].failed;
			batch_release(b);
		}
	const bool written = end_parts(c, status == STAGE_END && s->outs[0].writing.begun && !s->failed);
	pipeline_end(c->pipeline);
	s->is_again = true;
	if (s->choice != NULL)
		s->max_outs = parts_at_once(s->common_bytes);
	if (written && s->split.is_changed)
		say_of(c->in[0], "changed while it was read");
	return written && !s->split.is_changed && !s->split.no_memory;
}

static bool write_copies(struct convert *c, struct pipeline_job *job)
{
	struct convert_split *const s = &c->split;
	bool ok = true;

	for (uint32_t i = 0; i < s->split.nparts && ok;) {
		for (s->nouts = 0; i < s->split.nparts && s->nouts < s->max_outs; i++)
			append_part(s, i, i, i + 1);
		ok = copy_parts(c, job);
	}
	return ok;
}

/* ---- parts of a size ---- */

/* The number of events of units [from, to), at most 2. */
static uint32_t events_of(const struct split *s, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < to && n < 2; i++)
		n += s->units[i] < 2 ? s->units[i] : 2;
	return n;
}

static bool measure_parts(struct convert *c, struct pipeline_job *job)
{
	c->split.measures = true;
	const bool ok = copy_parts(c, job);
	c->split.measures = false;
	return ok;
}

static bool is_well_filled(const struct convert_split *s, uint64_t bytes)
{
	return bytes <= s->split.step && bytes >= s->split.step / 4 * 3;
}

/* Returns the number of units, beginning with unit `from`, that fill a part.  Secant search, starting with
 * `max`.  Returns 0 after a message. */
static uint32_t find_size(struct convert *c, struct pipeline_job *job, uint32_t from, uint32_t max)
{
	struct convert_split *const s = &c->split;
	const uint64_t step = s->split.step;
	uint32_t fits = 0, exceeds = s->split.nunits - from + 1, n = max < exceeds ? max : exceeds - 1;

	for (;;) {
		s->nouts = 0;
		append_part(s, 0, from, from + n);
		if (!measure_parts(c, job))
			return 0;
		const struct part_out *const out = &s->outs[0];
		const double next = (double)n * (double)step * 0.95 / (double)(out->bytes + 1);
		if (out->bytes <= step)
			fits = n;
		else
			exceeds = n;
		if (exceeds == 1 && events_of(&s->split, from, from + 1) > 1) {
			say_of(c->out,
			       "not written: a part of the fewest records takes %" PRIu64
			       " bytes, --split size= is %" PRIu64,
			       out->bytes, step);
			return 0;
		}
		if (fits + 1 >= exceeds || is_well_filled(s, out->bytes))
			return fits > 0 ? fits : 1;
		n = next >= (double)exceeds ? exceeds - 1 : (uint32_t)next;
		n = n <= fits ? fits + 1 : n;
	}
}

/* Measures up to `max` parts of n units each, and keeps in s->outs the leading ones of acceptable size. */
static bool find_same_size(struct convert *c, struct pipeline_job *job, uint32_t number, uint32_t from,
                           uint32_t n, uint32_t max)
{
	struct convert_split *const s = &c->split;
	const uint32_t all = s->split.nunits;
	uint32_t well = 0;

	for (s->nouts = 0; s->nouts < max && from < all && events_of(&s->split, from, all) > 0;) {
		const uint32_t end = n < all - from ? from + n : all;
		append_part(s, number + s->nouts, from, end);
		from = end;
	}
	if (!measure_parts(c, job))
		return false;
	while (well < s->nouts && (is_well_filled(s, s->outs[well].bytes) ||
	                           (s->outs[well].end == all && s->outs[well].bytes <= s->split.step)))
		well++;
	s->nouts = well;
	return true;
}

/* Writes the parts of --split size=.  Each pass measures `at_once` parts, with the number of units of the
 * last part; `at_once` grows while all parts are well filled. */
static bool write_sizes(struct convert *c, struct pipeline_job *job)
{
	struct convert_split *const s = &c->split;
	uint32_t n = SPLIT_UNITS - 2, at_once = 1, number = 0, from = 0;

	while (from < s->split.nunits && (from == 0 || events_of(&s->split, from, s->split.nunits) > 0)) {
		s->nouts = 0;
		if (at_once > 1 && !find_same_size(c, job, number, from, n, at_once))
			return false;
		if (s->nouts == 0) {
			if ((n = find_size(c, job, from, n)) == 0)
				return false;
			s->nouts = 0;
			append_part(s, number, from, from + n);
			at_once = 1;
		}
		if (number + s->nouts > SPLIT_MAX_PARTS)
			return say_of(c->out, "not written: more than %d parts of %" PRIu64 " bytes",
			              SPLIT_MAX_PARTS, s->split.step);
		number += s->nouts;
		from = s->outs[s->nouts - 1].end;
		at_once = s->nouts < at_once          ? s->nouts
		          : at_once * 8 < s->max_outs ? at_once * 8
		                                      : s->max_outs;
		if (!copy_parts(c, job))
			return false;
	}
	return true;
}

/* ---- parts routed in one pass ---- */

/* Writes one part; a failure is reported as a finding, or kept in c->writing. */
static bool write_routed_part(struct convert *c, const struct pipeline_job *job, struct split_route *r)
{
	enum stage_status status = STAGE_BAD;
	struct pipeline *p;
	struct batch *b;
	bool ok =
	    pipeline_open_part(&p, job, c->pipeline, r, c->split.outs[0].number) && convert_split_begin(c, p);

	while (ok && (status = pipeline_next(p, &b)) == STAGE_MORE)
		ok = writing_put(&c->split.outs[0].writing, b);
	ok = end_parts(c, ok && status == STAGE_END);
	c->split.split.no_memory |= p == NULL;
	pipeline_close_part(p, c->pipeline);
	return ok;
}

/* Reads the inputs once more into a temporary file for each part, then writes the parts one by one. */
static bool write_routed(struct convert *c, const struct pipeline_job *job)
{
	struct convert_split *const s = &c->split;
	struct pipeline_job all = *job, one = *job;
	struct split_route r = { .part = 0 };

	all.choice.part = SPLIT_ALL;
	all.arrange = (struct arrangement){ .order = ORDER_FILE,
		                            .memory = job->arrange.memory,
		                            .temp_near = job->arrange.temp_near };
	one.choice.split = NULL;
	one.choice.select = NULL;
	one.to.hooks = (struct pipeline_hooks){ .progress = job->to.hooks.progress, .ctx = c };
	s->routes = true;
	bool ok = pipeline_open(&c->pipeline, &all) && split_route_fill(&r, c->pipeline);
	pipeline_end(c->pipeline);
	if (ok && s->split.is_changed)
		say_of(c->in[0], "changed while it was read");
	ok = ok && !s->split.is_changed && !s->split.no_memory && s->any;
	for (uint32_t i = 0; ok && i < s->split.nparts; i++) {
		s->nouts = 0;
		append_part(s, i, i, i + 1);
		ok = write_routed_part(c, &one, &r);
	}
	if (ok)
		pipeline_losses(c->pipeline, &s->total);
	split_route_free(&r);
	return ok && !s->total.failed;
}

/* ---- all parts ---- */

/* Whether parts get only some records.  Of several inputs, those that need to know where each begins get all.
 */
static bool can_choose(const struct convert *c)
{
	const struct split *const s = &c->split.split;
	const struct copier_ops *const ops = c->to->copier;

	return s->copies && ops->skips != NULL &&
	       (operands_count(&s->operands) == 1 || (ops->input == NULL && ops->survey == NULL));
}

bool convert_split_write(struct convert *c)
{
	struct split *const s = &c->split.split;
	struct pipeline_job job = convert_job(c);

	if (!split_plan(s, &job)) {
		c->status = s->is_refused ? STATUS_USAGE : STATUS_UNREADABLE;
		return say_of(c->out, "not written: %s", s->why);
	}
	job.choice.split = s;
	job.in.operands = &s->operands;
	c->split.drops = job.choice.drops;
	c->split.allowed = repeats_allow(s->bytes, c->max_repeat);
	const bool at_once = s->copies && !job.choice.drops, chooses = at_once && can_choose(c);
	/* Before the first pass, the bytes of structure are known, but not those of events that all parts
	 * get: a copier of streams may retain these. */
	const bool retains_events = at_once && (c->to->copier->modes & COPIER_FILES) != 0;
	c->split.max_outs = at_once ? parts_at_once(retains_events ? s->bytes : s->structure) : 1;
	c->split.outs = calloc(at_once ? MAX_OUTS : 1, sizeof *c->split.outs);
	c->split.choice = chooses ? calloc(1, sizeof *c->split.choice) : NULL;
	if (c->split.outs == NULL || (chooses && c->split.choice == NULL)) {
		atomic_store(&c->writing.no_memory, true);
		return false;
	}
	const bool ok = !s->copies            ? write_routed(c, &job)
	                : s->by == SPLIT_SIZE ? write_sizes(c, &job)
	                                      : write_copies(c, &job);
	if (c->split.is_too_large)
		say_of(c->out,
		       "not written: the parts take more than %" PRIu64
		       " bytes, as each has the facts and definitions of the trace: make fewer parts, or "
		       "give a larger --max-repeat",
		       c->split.allowed);
	if (s->no_memory || c->split.total.failed)
		c->writing.no_memory = true; /* reported when the output ends */
	const char *const path = c->nin == 1 ? c->in[0] : c->out;
	if (ok && s->selects)
		c->status = worse(c->status, say_selected(&c->options, path, s->found, NULL));
	return ok;
}

void convert_split_free(struct convert_split *s)
{
	split_free(&s->split);
	free(s->out);
	free(s->outs);
	free(s->choice);
	text_free(&s->name);
	ledger_free(&s->total);
}

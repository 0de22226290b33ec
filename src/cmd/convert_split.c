#include "cmd/convert_split.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/convert.h"
#include "cmd/output_format.h"
#include "cmd/time_option.h"
#include "format/registry.h"
#include "input/input_open.h"
#include "pipeline/split_route.h"

/* ---- options ---- */

static bool
take_time(struct convert *c, const char *arg)
{
	uint64_t *const step = &c->split.split.step;
	const bool is_length = length_option(arg, step);
	struct shown_path shown;

	if (is_length && *step > 0)
		return true;
	c->options.status = options_mistake(&c->options, "--split time= takes %s, not %s",
	                                    is_length ? "a duration above 0" : duration_option_why(arg),
	                                    show_path(&shown, arg));
	return false;
}

static bool
take_by(struct convert *c, const char *arg)
{
	static const char *const words[] = { "pid", "tid", "stream", NULL };
	static const enum split_by kinds[] = { SPLIT_PID, SPLIT_TID, SPLIT_STREAM };
	const int i = options_word(&c->options, "--split by=", arg, words);

	if (i >= 0)
		c->split.split.by = kinds[i];
	return i >= 0;
}

#define SIZE_LEAST 1024U

static bool
take_size(struct convert *c, const char *arg)
{
	struct options *const o = &c->options;
	struct shown_path shown;

	if (!options_bytes(o, "--split size=", arg, &c->split.split.step))
		return false;
	if (c->split.split.step < SIZE_LEAST)
		o->status = options_mistake(o, "--split size= takes a number of bytes, at least %u, not %s",
		                            SIZE_LEAST, show_path(&shown, arg));
	return c->split.split.step >= SIZE_LEAST;
}

bool
convert_split_option(struct convert *c, const char *arg)
{
	static const struct {
		const char *word;
		enum split_by by;
		bool (*take)(struct convert *, const char *);
	} ways[] = {
		{ "time=", SPLIT_TIME, take_time },
		{ "by=", SPLIT_PID, take_by },
		{ "size=", SPLIT_SIZE, take_size },
	};
	struct options *const o = &c->options;
	struct shown_path shown;

	if (convert_splits(&c->split)) {
		o->status = options_mistake(o, "the output is split in one way: give --split once");
		return false;
	}
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strncmp(arg, ways[i].word, strlen(ways[i].word)) == 0) {
			c->split.split.by = ways[i].by;
			return ways[i].take(c, arg + strlen(ways[i].word));
		}
	o->status = options_mistake(o, "--split takes time=DURATION, by=pid|tid|stream or size=BYTES, not %s",
	                            show_path(&shown, arg));
	return false;
}

/* ---- the folder ---- */

/* The name of a folder of parts is that of a trace, or one with ".d" behind. */
static const struct format *
format_of_folder(const char *out)
{
	const size_t n = strlen(out);
	char *const name = n > 2 && strcmp(out + n - 2, ".d") == 0 ? strndup(out, n - 2) : NULL;
	const struct format *const f = format_by_suffix(name != NULL ? name : out);

	free(name);
	return f;
}

bool
convert_split_format(struct convert *c)
{
	struct options *const o = &c->options;
	const struct format *in;
	size_t n = strlen(c->out);

	while (n > 1 && c->out[n - 1] == '/')
		n--;
	if ((c->split.out = strndup(c->out, n)) == NULL) {
		options_no_memory(o);
		return false;
	}
	c->out = c->split.out;
	if (strcmp(c->out, "-") == 0) {
		o->status =
		    options_mistake(o, "parts are files in a directory; standard output cannot hold them");
		return false;
	}
	c->to = c->to_name == NULL ? format_of_folder(c->out) : NULL;
	if (c->to == NULL && c->to_name == NULL && (in = format_by_suffix(c->in[0])) != NULL &&
	    in->reader != NULL)
		c->to = in;
	if (c->to == NULL)
		c->to = output_format(o, c->to_name, c->out);
	return c->to != NULL;
}

bool
convert_split_check(struct convert *c)
{
	struct options *const o = &c->options;
	const char *with = NULL;
	struct shown_path shown;

	if (c->verify.wanted)
		with = "--verify";
	if (c->anonymise.keyfile != NULL)
		with = "--anonymise";
	if (with != NULL)
		o->status = options_mistake(o,
		                            "%s does not go with parts: give it in a run of its own, and "
		                            "split its output",
		                            with);
	for (size_t i = 0; i < c->nin && o->status == STATUS_CLEAN; i++) {
		const bool is_stdin = strcmp(c->in[i], "-") == 0;
		if (!input_is_named(c->in[i]))
			o->status = options_mistake(
			    o,
			    "a trace that is split is read several times, %s can be read once: "
			    "name a file",
			    is_stdin ? "standard input" : show_path(&shown, c->in[i]));
	}
	return o->status == STATUS_CLEAN;
}

/* That of a format written as folders is the last one, where there are others for files. */
static const char *
suffix_of(const struct format *f)
{
	const char *const *s = f->suffixes;

	while (f->writer->shape == WRITER_FOLDER && s[1] != NULL)
		s++;
	return *s;
}

bool
convert_split_put(void *ctx, const char *file, const char *p, size_t n)
{
	struct convert *const c = ctx;
	struct convert_split *const s = &c->split;
	struct text *const name = &s->name;

	s->bytes += n;
	if (s->measures)
		return true;
	text_clear(name);
	if (s->split.by == SPLIT_SIZE)
		text_printf(name, "part-%05" PRIu32, s->part);
	else
		text_str(name, s->split.parts[s->part].name);
	text_str(name, suffix_of(c->to));
	if (file != NULL)
		text_printf(name, "/%s", file);
	text_char(name, '\0');
	if (name->failed)
		atomic_store(&c->writing.no_memory, true);
	return !name->failed && convert_output_put(&c->output, name->p, p, n);
}

/* ---- parts ---- */

/* Findings were reported with the first part; what keeps a later one from being read is new. */
static void
say_new(void *ctx, const struct findings *j, const struct finding *f)
{
	struct convert *const c = ctx;

	if (c->status < STATUS_UNREADABLE && say_failure(&c->options, j, f))
		c->split.failed = true;
}

/* Runs over the records of [from, to).  false: it failed. */
static bool
run(struct convert *c, struct pipeline_job *job, uint32_t from, uint32_t to)
{
	struct convert_split *const s = &c->split;
	struct shown_path shown;

	if (s->is_again) {
		writing_free(&c->writing);
		pipeline_close(&c->pipeline);
		job->sink = say_new;
		job->ctx = c;
	}
	job->part = from;
	job->part_end = to;
	s->bytes = 0;
	const bool written =
	    convert_write(c, job) && c->writing.begun && !s->failed && writing_end(&c->writing);
	s->is_again = true;
	if (written && s->split.is_changed)
		say("%s: changed while it was read", show_path(&shown, c->in[0]));
	return written && !s->split.is_changed && !s->split.no_memory;
}

/* The same, and it is a part of the output. */
static bool
write_part(struct convert *c, struct pipeline_job *job, uint32_t from, uint32_t to)
{
	if (!run(c, job, from, to))
		return false;
	ledger_merge(&c->split.total, &c->writing.total);
	return !c->split.total.failed;
}

/* ---- parts of a size ---- */

/* Events of units [from, to), 2 standing for more. */
static uint32_t
events_of(const struct split *s, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < to && n < 2; i++)
		n += s->units[i] < 2 ? s->units[i] : 2;
	return n;
}

/* How many of the units from this one on make a part; `most` to begin with.  0: it failed, after a message.
 */
static uint32_t
find_size(struct convert *c, struct pipeline_job *job, uint32_t from, uint32_t most)
{
	const struct split *const s = &c->split.split;
	uint32_t fits = 0, exceeds = s->nunits - from + 1, n = most < exceeds ? most : exceeds - 1;
	struct shown_path shown;

	for (;;) {
		if (!run(c, job, from, from + n))
			return 0;
		const uint64_t bytes = c->split.bytes;
		const double next = (double)n * (double)s->step * 0.95 / (double)(bytes + 1);
		if (bytes <= s->step)
			fits = n;
		else
			exceeds = n;
		if (exceeds == 1 && events_of(s, from, from + 1) > 1) {
			say("%s: not written: a part of the fewest records takes %" PRIu64
			    " bytes, --split size= is %" PRIu64,
			    show_path(&shown, c->out), bytes, s->step);
			return 0;
		}
		if (fits + 1 >= exceeds || (bytes <= s->step && bytes >= s->step / 4 * 3))
			return fits > 0 ? fits : 1;
		n = next >= (double)exceeds ? exceeds - 1 : (uint32_t)next;
		n = n <= fits ? fits + 1 : n;
	}
}

static bool
write_sizes(struct convert *c, struct pipeline_job *job)
{
	struct convert_split *const s = &c->split;
	uint32_t n = SPLIT_UNITS - 2;
	struct shown_path shown;

	for (uint32_t from = 0; from < s->split.nunits; from += n, s->part++) {
		if (from > 0 && events_of(&s->split, from, s->split.nunits) == 0)
			break;
		if (s->part == SPLIT_MOST) {
			say("%s: not written: more than %d parts of %" PRIu64 " bytes",
			    show_path(&shown, c->out), SPLIT_MOST, s->split.step);
			return false;
		}
		s->measures = true;
		n = find_size(c, job, from, n);
		s->measures = false;
		if (n == 0 || !write_part(c, job, from, from + n))
			return false;
	}
	return true;
}

/* ---- parts that are read at once ---- */

/* Ends well or not; what went wrong is in c->writing, or a finding. */
static bool
write_routed_part(struct convert *c, const struct pipeline_job *job, struct split_route *r,
                  struct pipeline *p)
{
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	bool ok = pipeline_open_part(p, job, &c->pipeline, split_route_part(r, p, c->split.part)) &&
	          convert_begin_writing(c, p);

	while (ok && (status = pipeline_next(p, &b)) == STAGE_MORE)
		ok = writing_put(&c->writing, b);
	writing_settle(&c->writing);
	ok = ok && status == STAGE_END && writing_end(&c->writing);
	if (ok) {
		ledger_merge(&c->split.total, &c->writing.total);
		writing_free(&c->writing);
	}
	pipeline_close_part(p, &c->pipeline);
	return ok && !c->split.total.failed;
}

/* Reads the inputs once more, and writes part after part of what they gave. */
static bool
write_routed(struct convert *c, const struct pipeline_job *job)
{
	struct convert_split *const s = &c->split;
	struct pipeline_job all = *job, one = *job;
	struct split_route r = { .part = 0 };
	struct pipeline *const p = malloc(sizeof *p);
	struct shown_path shown;

	all.part = SPLIT_ALL;
	all.order = ORDER_FILE;
	all.lanes = all.lanes_off = all.late = false;
	one.split = NULL;
	one.select = NULL;
	one.hooks = (struct pipeline_hooks){ .ctx = c };
	s->routes = true;
	s->split.no_memory |= p == NULL;
	bool ok = p != NULL && pipeline_open(&c->pipeline, &all) && split_route_fill(&r, &c->pipeline);
	pipeline_end(&c->pipeline);
	if (ok && s->split.is_changed)
		say("%s: changed while it was read", show_path(&shown, c->in[0]));
	ok = ok && !s->split.is_changed && !s->split.no_memory && s->any;
	for (s->part = 0; ok && s->part < s->split.nparts; s->part++)
		ok = write_routed_part(c, &one, &r, p);
	if (ok)
		pipeline_losses(&c->pipeline, &s->total);
	split_route_free(&r);
	free(p);
	return ok && !s->total.failed;
}

/* ---- all of them ---- */

bool
convert_split_write(struct convert *c)
{
	struct split *const s = &c->split.split;
	struct pipeline_job job = convert_job(c);
	struct shown_path shown;
	bool ok = true;

	if (!split_plan(s, &job)) {
		say("%s: not written: %s", show_path(&shown, c->out), s->why);
		c->status = s->is_refused ? STATUS_USAGE : STATUS_UNREADABLE;
		return false;
	}
	job.split = s;
	job.operands = &s->operands;
	if (!s->copies && s->by != SPLIT_SIZE) {
		ok = write_routed(c, &job);
	} else {
		if (s->by == SPLIT_SIZE)
			ok = write_sizes(c, &job);
		for (uint32_t i = 0; i < s->nparts && ok; i++) {
			c->split.part = i;
			ok = write_part(c, &job, i, i + 1);
		}
	}
	if (s->no_memory || c->split.total.failed)
		c->writing.no_memory = true; /* which is said when the output ends */
	const char *const path = c->nin == 1 ? c->in[0] : c->out;
	if (ok && s->selects)
		c->status = worse(c->status, say_selected(&c->options, path, s->found));
	return ok;
}

void
convert_split_free(struct convert_split *s)
{
	split_free(&s->split);
	free(s->out);
	text_free(&s->name);
	ledger_free(&s->total);
}

#include "cmd/convert_split.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/input_rules.h"
#include "cmd/convert.h"
#include "cmd/output_format.h"
#include "cmd/time_option.h"
#include "format/registry.h"

/* ---- options ---- */

static bool
set_kind(struct convert *c, enum split_by by)
{
	struct split *const s = &c->split.split;

	if (s->by != SPLIT_NOT && s->by != by)
		c->options.status = options_mistake(&c->options, "the output is split in one way: give one "
		                                                 "of --split-time and --split-by");
	s->by = by;
	return c->options.status == STATUS_CLEAN;
}

bool
convert_split_time(struct convert *c, const char *arg)
{
	struct shown_path shown;

	if (duration_option(arg, &c->split.split.step) && c->split.split.step > 0)
		return set_kind(c, SPLIT_TIME);
	c->options.status = options_mistake(
	    &c->options, "--split-time takes a duration (1500, 12.5ms), not %s", show_path(&shown, arg));
	return false;
}

bool
convert_split_by(struct convert *c, const char *arg)
{
	static const char *const words[] = { "pid", "tid", "stream", NULL };
	static const enum split_by kinds[] = { SPLIT_PID, SPLIT_TID, SPLIT_STREAM };
	const int i = options_word(&c->options, "--split-by", arg, words);

	return i >= 0 && set_kind(c, kinds[i]);
}

/* ---- the folder ---- */

/* The name of a folder of parts is that of a trace with ".d" behind. */
static const struct format *
format_of_folder(const char *out)
{
	const size_t n = strlen(out);
	char *const name = n > 2 && strcmp(out + n - 2, ".d") == 0 ? strndup(out, n - 2) : NULL;
	const struct format *const f = name != NULL ? format_by_suffix(name) : NULL;

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

	if (c->verify.wanted)
		with = "--verify";
	if (c->anonymise.keyfile != NULL)
		with = "--anonymise";
	if (with != NULL)
		o->status = options_mistake(o,
		                            "%s does not go with parts: give it in a run of its own, and "
		                            "split its output",
		                            with);
	for (size_t i = 0; i < c->nin && o->status == STATUS_CLEAN; i++)
		if (strcmp(c->in[i], "-") == 0)
			o->status = options_mistake(
			    o,
			    "a trace that is split is read several times, standard input can be read once: "
			    "name a file");
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
	struct text *const name = &c->split.name;

	text_clear(name);
	text_printf(name, "%s%s", c->split.split.parts[c->split.part].name, suffix_of(c->to));
	if (file != NULL)
		text_printf(name, "/%s", file);
	text_char(name, '\0');
	if (name->failed)
		return false;
	return convert_output_put(&c->output, name->p, p, n);
}

/* ---- parts ---- */

/* Findings were reported with the first part; what keeps a later one from being read is new. */
static void
say_failure(void *ctx, const struct findings *j, const struct finding *f)
{
	struct convert *const c = ctx;
	const enum input_rule rules[] = { INPUT_RULE_MISSING, INPUT_RULE_DENIED, INPUT_RULE_SYSTEM,
		                          INPUT_RULE_SHRUNK, INPUT_RULE_NO_MEMORY };

	for (size_t i = 0; i < sizeof rules / sizeof *rules && c->status < STATUS_UNREADABLE; i++)
		if (f->rule == &input_rules[rules[i]]) {
			say_finding(&c->options, j, f);
			c->split.failed = true;
		}
}

/* false: it failed. */
static bool
write_part(struct convert *c, const struct pipeline_job *job)
{
	struct shown_path shown;

	if (!convert_write(c, job) || c->split.failed || !writing_end(&c->writing))
		return false;
	ledger_merge(&c->split.total, &c->writing.total);
	if (c->split.split.is_changed)
		say("%s: changed while it was read", show_path(&shown, c->in[0]));
	return !c->split.total.failed && !c->split.split.is_changed;
}

static void
say_left_out(const struct convert *c)
{
	const uint64_t n = c->split.split.left_out;
	struct shown_path shown;

	if (!c->options.quiet && c->split.split.selects)
		say("%s: %" PRIu64 " event%s left out as asked",
		    show_path(&shown, c->nin == 1 ? c->in[0] : c->out), n, n == 1 ? " is" : "s are");
}

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
	for (uint32_t i = 0; i < s->nparts && ok; i++) {
		if (i > 0) {
			writing_free(&c->writing);
			pipeline_close(&c->pipeline);
			job.sink = say_failure;
			job.ctx = c;
		}
		c->split.part = job.part = i;
		ok = write_part(c, &job);
	}
	if (ok)
		say_left_out(c);
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

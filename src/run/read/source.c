/* An input and its reader: detects the format, opens the reader, reads batches, reports faults of the input,
 * and applies marks of records.
 *
 * Pitfall: a file truncated while it is mapped reads as zeros, so batches read since the last check are
 * discarded. */
#include "run/read/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/match.h"
#include "base/table.h"
#include "check/rules.h"
#include "format/reader_modes.h"
#include "format/registry.h"
#include "input/open.h"
#include "model/event_traits.h"
#include "model/trace_engine.h"
#include "vocab/vocab.h"

/* ---- state of the trace ---- */

void trace_context_init(struct trace_context *c, const struct pipeline_job *job, struct trace *trace,
                        struct vocabularies *vocabularies, unsigned want)
{
	*c = (struct trace_context){
		.job = job, .trace = trace, .vocabularies = vocabularies, .want = want, .dialect = ""
	};
	c->deferred_left = DEFERRED_BYTES;
}

void trace_context_free(struct trace_context *c)
{
	if (c->shared != NULL && format_trace_ops(c->format)->close != NULL)
		format_trace_ops(c->format)->close(c->shared);
	free(c->shared);
	c->shared = NULL;
	findings_free(&c->findings);
	arena_free(&c->deferred_arena);
}

struct finding_list trace_context_list(struct trace_context *c)
{
	return (struct finding_list){ .arena = &c->deferred_arena, .space = &c->deferred_left };
}

static void begin_findings(const struct trace_context *c, struct findings *j, const char *path)
{
	if (c->quiet)
		findings_init(j, path, NULL, NULL);
	else
		job_findings(c->job, j, path);
	j->gate = c->gate;
}

struct reader source_reader(const struct source *s, struct findings *findings)
{
	const struct trace_context *const c = s->context;

	return (struct reader){
		.format = s->format,
		.trace = c->trace,
		.findings = findings,
		.want = c->want,
		.dialect = c->job->in.dialect,
		.max_record = c->job->in.max_record > 0 ? c->job->in.max_record : READER_USUAL_RECORD,
		.options = c->job->in.options,
		.shared = c->shared,
		.number = c->raw && (c->want & WANT_FILES) != 0 ? s->location.number : 0,
		.ahead_of = c->ahead_of,
		.recovers = c->recovers,
		.folder = s->location.in_folder ? strlen(s->location.operand) : 0,
		.archive = s->location.archive,
		.files = c->job->in.files,
		.range = c->job->read.range,
		.helpers = c->job->in.helpers,
	};
}

/* Opens the state shared by all inputs of the trace; its findings are reported at the end. */
static bool open_trace(struct source *s)
{
	struct trace_context *const c = s->context;
	const struct trace_ops *const ops = format_trace_ops(s->format);

	if (c->opened)
		return ops->shared_size == 0 || c->shared != NULL;
	if (ops->shared_size > 0 && (c->shared = calloc(1, ops->shared_size)) == NULL)
		return false;
	c->opened = true;
	c->format = s->format;
	c->deferred = trace_context_list(c);
	begin_findings(c, &c->findings, s->location.operand);
	c->findings.list = c->quiet ? NULL : &c->deferred;
	c->checks_order = !c->quiet && ops->check_event != NULL && ops->checks_order != NULL &&
	                  ops->checks_order(c->job->in.options);
	c->want |= c->checks_order ? WANT_TIMES | WANT_FIELDS : 0U;
	if (c->checks_order)
		c->want &= ~((unsigned)WANT_RUNS | WANT_BARE);
	if (ops->open == NULL)
		return true;
	struct reader r = source_reader(s, &c->findings);
	c->unreadable = !ops->open(&r);
	c->incomplete = r.unreadable[0] != '\0';
	snprintf(c->why, sizeof c->why, "%s", r.unreadable);
	return !c->unreadable || c->findings.levels[LEVEL_ERROR] > 0;
}

/* ---- the format ---- */

#define SURE_BITS 32 /* of a probe, to prefer the format of earlier files */

static bool is_shrunk(void *in)
{
	return input_shrunk(in);
}

void source_report_no_memory(struct findings *j, const struct input *in)
{
	finding_add(j, &input_rules[INPUT_RULE_NO_MEMORY], in != NULL ? input_offset(in, in->p) : 0, 0,
	            "out of memory");
}

void source_no_memory(struct source *s)
{
	source_report_no_memory(&s->findings, s->in);
	s->unreadable = s->context->system_failed = true;
}

/* Reports a fault of the input itself.  Returns true if the input is unusable. */
static bool report_fault(struct findings *j, const struct input *in)
{
	const struct rule *const rule = input_fault_rule(in->fault);

	if (rule == NULL)
		return false;
	j->muted = NULL; /* findings about untrusted bytes are muted, but not this one */
	finding_add(j, rule, in->fault_offset, 0, "%s%s",
	            strncmp(in->fault_text, "is ", 3) == 0 ? "the input " : "", in->fault_text);
	return rule->level == LEVEL_ERROR;
}

static bool has_option(const struct format *format, const char *name)
{
	for (const struct format_option *o = format->options; o != NULL && o->name != NULL; o++)
		if (strcmp(o->name, name) == 0 && !o->of_output)
			return true;
	return false;
}

/* Options of readers of other formats do nothing here. */
static void report_unused_options(struct source *s)
{
	for (const struct option_value *v = s->context->job->in.options; v != NULL; v = v->next)
		for (const struct format *const *other = formats;
		     *other != NULL && !has_option(s->format, v->name); other++)
			if ((*other)->reader != NULL && has_option(*other, v->name))
				finding_add(&s->findings, &input_rules[INPUT_RULE_OPTION_UNUSED], 0, 0,
				            "the input is in format %s; --%s is for %s", s->format->name,
				            v->name, (*other)->name);
}

/* The format of a stream in the folder of its trace, by its name, which is known even if its start is
 * damaged; NULL: it is none. */
static const struct format *format_of_stream(const struct source *s)
{
	const char *const slash = s->location.in_folder ? strrchr(s->location.path, '/') : NULL;
	const struct format *const format = slash != NULL ? format_of_name(slash + 1) : NULL;

	return format != NULL && format_trace_ops(format)->merges ? format : NULL;
}

bool source_is_stream(const struct source *s)
{
	return s->format != NULL ? s->location.in_folder && format_trace_ops(s->format)->merges
	                         : format_of_stream(s) != NULL;
}

/* The format by option, content, or place.  Returns NULL if none matches, or on OOM (*no_memory is set).
 * Tries the format of the trace first: one of thousands of streams may resemble another format. */
static const struct format *recognise(const struct source *s, const struct format *before, size_t looked,
                                      bool *no_memory)
{
	const struct input *const in = s->in;
	const bool complete = looked == (size_t)(in->end - in->p) && in->last;

	if (s->context->job->in.from != NULL)
		return s->context->job->in.from;
	const struct format *const first = before != NULL ? before : s->context->job->in.expected;
	if (first != NULL && first->reader->probe(slice_of(in->p, looked), complete) >= SURE_BITS)
		return first;
	const struct format *const format = format_of_input(in, no_memory);
	return format == NULL && !*no_memory ? format_of_stream(s) : format;
}

static void report_unknown(struct source *s, size_t looked)
{
	const struct rule *const rule = &input_rules[INPUT_RULE_UNKNOWN_FORMAT];
	const struct input_foreign *const foreign = input_foreign_find(s->in->p, looked);
	const char *const slash = strrchr(s->location.path, '/');
	const char *const name = slash != NULL ? slash + 1 : s->location.path;
	const struct format *const owner = format_of_sidecar(NULL, name);

	if (owner != NULL && input_is_named(s->location.path))
		finding_add(&s->findings, rule, 0, 0,
		            "the name is that of an auxiliary file of format %s, which has no events: name "
		            "its directory",
		            owner->name);
	else if (foreign != NULL)
		finding_add(&s->findings, rule, 0, 0, "the input is %s: %s", foreign->name, foreign->advice);
	else
		finding_add(&s->findings, rule, 0, 0, "none of the formats recognises the first %zu byte%s",
		            looked, looked == 1 ? "" : "s");
}

/* Parts of raw events that the reader builds.  A copier reads less of records, unless it moves times. */
static unsigned wanted_of_records(const struct pipeline_job *job, const struct record_marks *marks,
                                  const struct format *f)
{
	const unsigned modes = job->read.as == READ_COPY ? f->copier->modes : 0;
	const bool moved = job->adjust.rebase, all = job->choice.select == NULL && job->choice.marks == NULL;
	const bool chooses = marks != NULL && marks->state == MARKS_WHILE_READING;
	const bool selects = job->choice.select != NULL || chooses;
	unsigned want = WANT_RAW | WANT_TIMES | WANT_STRUCTURE;

	want |= (modes & COPIER_BYTES) != 0 ? 0U : WANT_FIELDS;
	want |= (modes & COPIER_RUNS) != 0 && !moved && all ? WANT_RUNS : 0U;
	want |= (modes & COPIER_BARE) != 0 && !moved && selects ? WANT_BARE : 0U;
	if (chooses || (marks != NULL && marks->has_stretches))
		want |= WANT_WHOLE | ((modes & COPIER_RUNS) != 0 && !moved ? (unsigned)WANT_PLAIN : 0U);
	else if (marks != NULL && marks->state == MARKS_MADE && !marks->has_parts)
		want |= (modes & COPIER_GAPS) != 0 && !moved ? WANT_PLAIN : 0U;
	return want;
}

/* Sets the format of the trace, and whether its records are read raw.  Returns false after a finding. */
static bool accept_format(struct source *s, const struct format *before)
{
	struct trace_context *const c = s->context;
	const struct reading_mode *const mode = &c->job->read;

	c->trace->format = s->format->name;
	c->format = s->format;
	if (!c->quiet && mode->as != READ_MEANING && (mode->copy_of == NULL || mode->copy_of == s->format)) {
		c->raw = true;
		c->want &= ~((unsigned)WANT_FIELDS | WANT_NAMES);
		c->want |= wanted_of_records(c->job, c->marks, s->format);
	}
	report_unused_options(s);
	if (!c->raw || c->marks == NULL || c->marks->state != MARKS_READ_ONCE)
		return true;
	c->trace->format = before != NULL ? before->name : "";
	finding_add(&s->findings, &input_rules[INPUT_RULE_SYSTEM], 0, 0,
	            "copying selected records reads the input twice, and this one can be read only once: "
	            "read it from a file");
	return false;
}

/* Returns false after a finding. */
static bool find_format(struct source *s)
{
	const struct trace_context *const c = s->context;
	const char *const dialect = c->job->in.dialect;
	const size_t head = (size_t)(s->in->end - s->in->p),
	             looked = head < FORMAT_PROBED ? head : FORMAT_PROBED;
	const struct format *const before = c->trace->format[0] != '\0' ? c->format : NULL;
	bool no_memory = false;

	s->format = recognise(s, before, looked, &no_memory);
	if (no_memory) {
		source_no_memory(s);
		return false;
	}
	if (s->format == NULL) {
		report_unknown(s, looked);
		(void)input_need(s->in, looked + 1); /* notices damage after few bytes */
		s->format = before;                  /* that of the trace, if it has one already */
	} else if (dialect != NULL && (s->format->dialects == NULL ||
	                               !slice_is_one_of(slice_str(dialect), s->format->dialects))) {
		finding_add(&s->findings, &input_rules[INPUT_RULE_WRONG_DIALECT], 0, 0,
		            "the input is in format %s, which has no dialect %s", s->format->name, dialect);
	} else if (before != NULL && s->format != before) {
		finding_add(&s->findings, &input_rules[INPUT_RULE_OTHER_FORMAT], 0, 0,
		            "the input is in format %s; the files before it are in %s", s->format->name,
		            before->name);
		s->format = before;
	} else if (accept_format(s, before)) {
		return true;
	}
	s->unreadable = true;
	report_fault(&s->findings, s->in);
	return false;
}

/* ---- one input ---- */

/* Leaves out findings of events outside of the scope of the job. */
static bool set_scope(struct source *s)
{
	struct record_marks *const m = s->context->marks;

	if (m == NULL || m->state != MARKS_SCOPE)
		return true;
	struct record_extents *const x = record_marks_extents(m, s->location.number);
	if (x == NULL)
		return false;
	s->findings.left_out = record_marks_left_out;
	s->findings.left_out_ctx = x;
	return true;
}

bool source_begin(struct source *s, struct trace_context *c, struct source_location location,
                  struct input *in)
{
	*s = (struct source){
		.context = c, .location = location, .in = in, .dialect = "", .status = READ_MORE
	};
	begin_findings(c, &s->findings, location.path);
	if (in == NULL || !set_scope(s)) {
		source_no_memory(s);
		return false;
	}
	if (in->p == in->end) {
		s->unreadable = report_fault(&s->findings, in);
		c->system_failed |= source_is_failure(in->fault);
		return false;
	}
	if (!find_format(s))
		return false;
	s->findings.muted = is_shrunk;
	s->findings.muted_ctx = in;
	return true;
}

struct source source_of_findings(struct trace_context *c, const char *path)
{
	struct source s = { .context = c, .location = { .path = path } };

	job_findings(c->job, &s.findings, path);
	return s;
}

/* Whether the name is one of "A, B and C". */
static bool has_word(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = list; (p = strstr(p, word)) != NULL; p += n)
		if ((p == list || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' ' || p[n] == ','))
			return true;
	return false;
}

/* The dialects of the inputs so far: "A and B". */
static void end_dialect(struct source *s)
{
	struct trace *const t = s->context->trace;
	const char *const before = s->context->dialect;

	s->dialect = t->dialect;
	if (s->dialect[0] == '\0' || has_word(before, s->dialect)) {
		t->dialect = before;
	} else if (before[0] != '\0') {
		const struct slice both = arena_printf(&t->arena, "%s and %s", before, s->dialect);
		t->dialect = both.p != NULL ? both.p : before;
	}
}

/* Whether inputs have clocks of their own, compared in end_clock(): those of single files do. */
static bool has_own_clocks(const struct format *format)
{
	return format->trace == NULL || format->trace->own_clocks;
}

static bool is_same_clock(const struct source_clock *a, const struct trace *t)
{
	if (strcmp(t->clock, "monotonic") == 0) /* a part of a trace may lack the wall time */
		return !a->epoch_known || !t->epoch_known || epochs_agree(a->epoch_ns, t->epoch_ns);
	return a->epoch_known == t->epoch_known && (!t->epoch_known || a->epoch_ns == t->epoch_ns);
}

static void report_other_clock(struct source *s)
{
	const struct source_clock *const first = &s->context->clock;
	const struct trace *const t = s->context->trace;
	const struct rule *const rule = &input_rules[INPUT_RULE_OTHER_CLOCK];

	if (first->epoch_known && t->epoch_known)
		finding_add(&s->findings, rule, 0, 0,
		            "the epoch is %" PRIu64 " ns after 1970, that of the inputs before %" PRIu64
		            " ns: tracetool merge aligns them",
		            t->epoch_ns, first->epoch_ns);
	else
		finding_add(&s->findings, rule, 0, 0,
		            "%s no epoch, so there is no common clock: tracetool merge --align says how to "
		            "combine them",
		            t->epoch_known ? "the inputs before have" : "this input has");
	s->unreadable = true;
}

/* All times of a trace refer to the epoch of its first input. */
static void end_clock(struct source *s)
{
	struct trace_context *const c = s->context;
	struct trace *const t = c->trace;

	if (!has_own_clocks(s->format))
		return;
	if (!c->clock.any) {
		c->clock = (struct source_clock){ true, t->epoch_known, t->epoch_ns };
		return;
	}
	if (!c->quiet && s->reader.records > 0 && !is_same_clock(&c->clock, t))
		report_other_clock(s);
	if (!c->clock.epoch_known)
		c->clock = (struct source_clock){ true, t->epoch_known, t->epoch_ns };
	t->epoch_known = c->clock.epoch_known;
	t->epoch_ns = c->clock.epoch_ns;
}

bool source_start(struct source *s)
{
	struct trace_context *const c = s->context;

	if (c->vocabulary == NULL && c->vocabularies != NULL)
		c->vocabulary = vocabularies_of(c->vocabularies, c->job, s->format);
	c->trace->vocabulary = c->vocabulary;
	const struct reading_mode *const mode = &c->job->read;
	const unsigned without = (mode->unnamed ? VOCAB_NAMES : 0U) | (mode->unplaced ? VOCAB_TRACKS : 0U);
	if (c->vocabulary != NULL && without != 0 && mode->unreported)
		c->trace->vocabulary = vocab_reduced(c->vocabulary, without);
	s->status = READ_BAD;
	if (c->vocabulary == NULL && c->vocabularies != NULL) {
		s->unreadable = c->system_failed = true; /* already reported */
		return false;
	}
	c->dialect = c->trace->dialect; /* each input shows its own */
	c->trace->dialect = "";
	if (has_own_clocks(s->format))
		c->trace->epoch_known = false;
	bool ok = open_trace(s);
	if (ok && c->unreadable) {
		s->unreadable = true; /* the findings of the trace give the reason */
		return false;
	}
	s->reader = source_reader(s, c->quiet ? NULL : &s->findings);
	s->reader.in = s->in;
	ok = ok && (s->reader.state = calloc(1, s->format->reader->state_size)) != NULL &&
	     s->format->reader->open(&s->reader);
	if (!ok && s->findings.levels[LEVEL_ERROR] == 0)
		source_no_memory(s);
	s->unreadable |= !ok;
	c->trace->dialect_known &= c->job->in.npaths == 1; /* other inputs may have another dialect */
	if (c->job->read.unreported && ok) /* those of `open` are errors, which end the pass */
		s->reader.findings = NULL;
	s->open = ok;
	s->status = ok ? READ_MORE : READ_BAD;
	return ok;
}

/* Applies or gathers marks of records. */
static void use_marks(struct source *s, struct batch *b)
{
	struct record_marks *const m = s->context->marks;
	char why[512];

	if (m == NULL || record_marks_read(m, s->location.number, b))
		return;
	record_marks_reason(m, why, sizeof why);
	finding_add(&s->findings, &input_rules[INPUT_RULE_SYSTEM], input_offset(s->in, s->in->p), 0, "%s",
	            why);
	s->unreadable = s->context->system_failed = true;
	s->status = READ_BAD;
	batch_recycle(b);
}

uint64_t source_flow_id(uint64_t number, uint64_t id)
{
	return siphash(&(struct siphash_key){ number, number }, &id, sizeof id);
}

/* Arrow ids of a file are local to it, unless the format has traces of several files. */
static void keep_arrows_apart(const struct source *s, struct batch *b)
{
	const struct trace_ops *const ops = format_trace_ops(s->format);

	if (s->location.number == 0 || s->context->raw || ops->merges || ops->common_path_length != NULL)
		return;
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		if (event_has_arrow_id(e))
			e->dur = source_flow_id(s->location.number, e->dur);
	}
}

void source_next(struct source *s, struct batch *b)
{
	struct input *const in = s->in;
	const uint64_t before = s->reader.records, from = input_offset(in, in->p);
	struct record_marks *const marks = s->context->marks;

	if (marks != NULL && marks->state != MARKS_WHILE_READING) /* the marks were made */
		s->reader.want &= ~(unsigned)(marks->surveying ? WANT_WHOLE | WANT_BARE : WANT_WHOLE);
	if (b->n == 0)
		input_unpin(&b->pins); /* nothing points there: a pass for findings fills no batch */
	input_pin(in, &b->pins);
	s->status = records_next(&s->reader, b, marks, s->location.number);
	s->context->trace->records += s->reader.records - before;
	s->context->read += input_offset(in, in->p) - from;
	if (batch_failed(b) || trace_reading_failed(s->context->trace))
		s->status = READ_NO_MEMORY;
	if (s->status == READ_NO_MEMORY) /* its events may lack parts */
		batch_recycle(b);
	if (input_shrunk(in)) { /* data of this batch may be zeros */
		s->status = READ_BAD;
		batch_recycle(b);
	}
	keep_arrows_apart(s, b);
	use_marks(s, b);
	input_pin(in, NULL); /* the next batch is another one */
	input_release_read(in);
}

void source_check_events(struct source *s, const struct batch *b)
{
	const struct trace_ops *const ops = format_trace_ops(s->format);

	if (!s->context->checks_order || s->reader.no_memory)
		return;
	for (uint32_t i = 0; i < b->n; i++)
		ops->check_event(&s->reader, b, &b->events[i]);
	if (s->reader.no_memory)
		source_no_memory(s);
}

/* Faults that are not a property of the bytes. */
static bool prevents_reading(enum input_fault fault)
{
	return fault != INPUT_OK && fault <= INPUT_CHANGED;
}

void source_end(struct source *s)
{
	struct trace_context *const c = s->context;
	struct input *const in = s->in;

	if (in == NULL)
		return;
	if (s->open) {
		end_dialect(s);
		end_clock(s);
		input_shrunk(in); /* data read since the last check may be zeros */
		s->complete = s->status == READ_END;
		if (s->status == READ_NO_MEMORY && !prevents_reading(in->fault)) {
			/* a look-ahead pass that failed for other reasons has reported them */
			if (findings_count(&s->findings, &input_rules[INPUT_RULE_SYSTEM]) == 0)
				source_no_memory(s);
			s->unreadable = c->system_failed = true;
		}
		/* a cut or damaged packed stream is like a damaged record: the data before it is valid */
		if (s->status != READ_MORE || in->fault == INPUT_SHRUNK || in->fault == INPUT_CHANGED)
			s->unreadable |= report_fault(&s->findings, in) && in->fault != INPUT_CUT &&
			                 in->fault != INPUT_CORRUPT;
		s->unreadable |= s->reader.unreadable[0] != '\0';
		c->bytes += input_offset(in, in->p);
		if (c->why[0] == '\0')
			snprintf(c->why, sizeof c->why, "%s", s->reader.unreadable);
		c->system_failed |= s->reader.unreadable[0] != '\0' || prevents_reading(in->fault);
	}
	s->findings.muted = NULL;
	if (s->reader.state != NULL && s->format->reader->close != NULL)
		s->format->reader->close(&s->reader);
	free(s->reader.state);
	s->reader.state = NULL;
	input_close(in);
	s->in = s->reader.in = NULL;
}

void source_close(struct source *s)
{
	source_end(s);
	findings_free(&s->findings);
}

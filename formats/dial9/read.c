/*
 * The dial9 reader ("dial9-trace-format Binary Specification", version 1, and what crate 0.4 added): a
 * header, then frames.  No frame has a length, so reading ends at the first one that cannot be understood.
 * A further header begins a new segment, in which schemas, pools and the time base are reset.
 *
 * Memory is bounded by the limits of dial9.h.  Frames and pool entries above D9_MAX_FRAME are walked over
 * in pieces and dropped.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "dial9/write.h"

/* ---- findings ---- */

const struct rule d9_rules[D9_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "dial9/rules.def"
#undef RULE
	{ .id = NULL }
};

void d9_find(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &d9_rules[rule], f->offset, f->ordinal, fmt, ap);
	va_end(ap);
}

void d9_find_at(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *at,
                const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &d9_rules[rule], f->at + (uint64_t)(at - f->p), f->ordinal, fmt, ap);
	va_end(ap);
}

bool d9_find_unshown(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f)
{
	if (finding_is_shown(st->r->findings, &d9_rules[rule]))
		return false;
	finding_add(st->r->findings, &d9_rules[rule], f->offset, f->ordinal, "not shown");
	return true;
}

void d9_check_text(struct d9_state *st, const struct d9_frame *f, struct slice s, const char *what,
                   struct slice whose)
{
	struct quoted q, q2;

	if ((s.flags & SLICE_UTF8) != 0 || d9_find_unshown(st, D9_RULE_INVALID_UTF8, f))
		return;
	if (whose.p != NULL)
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s of %s is %s", what, quoted(&q, whose),
		           quoted(&q2, s));
	else
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s is %s", what, quoted(&q2, s));
}

enum d9_result d9_note_lack(struct d9_state *st, const struct cursor *c)
{
	st->lack = (struct d9_lack){ .what = c->missing, .bytes = c->missing_bytes };
	return D9_MORE;
}

static const char *frame_name(uint8_t tag)
{
	switch (tag) {
	case D9_TAG_SCHEMA:
		return "schema";
	case D9_TAG_EVENT:
		return "event";
	case D9_TAG_STRINGS:
		return "string pool";
	case D9_TAG_STACKS:
		return "stack pool";
	case D9_TAG_RESET:
		return "timestamp reset";
	case D9_TAG_ANNOTATIONS:
		return "schema annotations";
	default:
		return "header";
	}
}

/* Position where the trace may be cut and is complete. */
static void describe_last_frame(const struct d9_state *st, char *to, size_t cap)
{
	if (st->r->records > 0)
		snprintf(to, cap, "the last complete frame begins at byte %" PRIu64, st->last_offset);
	else
		snprintf(to, cap, "no frame is complete");
}

/* Reports that the input ends inside a frame, by st->lack.  Returns D9_BAD. */
static enum d9_result report_cut(struct d9_state *st, const struct d9_frame *f)
{
	const struct d9_lack *const lack = &st->lack;
	char whose[700] = "", last[80];
	struct quoted q, q2;

	if (lack->field != NULL)
		snprintf(whose, sizeof whose, " of field %s of %s", quoted(&q, lack->field->in_file),
		         quoted(&q2, lack->schema->name));
	else if (lack->schema != NULL)
		snprintf(whose, sizeof whose, " of %s", quoted(&q2, lack->schema->name));
	describe_last_frame(st, last, sizeof last);
	if (lack->has_length)
		d9_find(st, D9_RULE_LENGTH_PAST_END, f,
		        "%s%s in the %s frame is %" PRIu64 ": bytes left %" PRIu64 ", missing %" PRIu64
		        "; %s",
		        lack->what, whose, frame_name(f->tag), lack->length, lack->left, lack->bytes, last);
	else
		d9_find(st, D9_RULE_CUT_FRAME, f, "%s%s in the %s frame: bytes missing %" PRIu64 "; %s",
		        lack->what, whose, frame_name(f->tag), lack->bytes, last);
	return D9_BAD;
}

static void report_tally(struct d9_state *st, enum d9_rule rule, const struct finding_tally *t,
                         const char *before, const char *after)
{
	finding_add_times(st->r->findings, &d9_rules[rule], t->offset, t->record, t->count,
	                  "%s %" PRIu64 "%s", before, t->now, after);
}

static void report_tallies(struct d9_state *st)
{
	const struct d9_tallies *const t = &st->tallies;
	const uint64_t dropped = st->ahead != NULL ? st->ahead->dropped : 0;

	report_tally(st, D9_RULE_BOOL_VALUE, &t->bools, "a Bool is", "");
	report_tally(st, D9_RULE_LATE_DEFINITION, &t->late, "id", " is defined here, after its first use");
	report_tally(st, D9_RULE_POOL_REDEFINED, &t->redefined, "id", " is defined again with other content");
	report_tally(st, D9_RULE_POOL_LIMIT, &t->pool_limit, "id", ": its content is above the limit");
	report_tally(st, D9_RULE_POOL_LIMIT, &t->names_limit, "the",
	             " frames of a stack are shown as addresses");
	if (dropped > 0)
		finding_add(st->r->findings, &d9_rules[D9_RULE_POOL_LIMIT], st->last_offset, 0,
		            "%" PRIu64 " symbols and late definitions are not retained", dropped);
	report_tally(st, D9_RULE_METADATA_LIMIT, &t->metadata, "metadata of", " bytes is not retained");
	report_tally(st, D9_RULE_TRACK_LIMIT, &t->tracks, "track", " is not distinguished");
	report_tally(st, D9_RULE_TRACK_LIMIT, &t->deep_tracks, "track",
	             " is shown higher than it lies, below so many others");
	if (st->symbols_seen)
		report_tally(st, D9_RULE_NAMES_LATE, &t->symbols_late, "the",
		             " frames of a stack are shown as addresses");
	report_tally(st, D9_RULE_NAMES_LATE, &t->unresolved, "id", " is shown as a number");
}

/* ---- dialects ---- */

const char *const d9_dialects[] = { [D9_0_3] = "0.3", [D9_0_4] = "0.4", NULL };

static void begin_dialect(struct d9_state *st)
{
	const char *const asked = st->r->dialect;
	struct trace *const trace = st->r->trace;

	st->strict = asked != NULL && strcmp(asked, d9_dialects[D9_0_3]) == 0;
	/* another input of the same trace may be newer */
	if (asked == NULL ? trace->dialect != d9_dialects[D9_0_4] : st->strict)
		trace->dialect = d9_dialects[D9_0_3];
	else
		trace->dialect = d9_dialects[D9_0_4];
}

void d9_note_newer(struct d9_state *st, const struct d9_frame *f, const char *at, const char *what)
{
	if (st->strict)
		d9_find_at(st, D9_RULE_NOT_IN_DOCUMENT, f, at, "%s is not in the document of 0.3", what);
	else
		st->r->trace->dialect = d9_dialects[D9_0_4];
}

/* ---- records ---- */

void d9_report_overflow(struct d9_state *st, const struct d9_frame *f, uint32_t delta)
{
	d9_find_at(st, D9_RULE_TIME_OVERFLOW, f, f->p + 3, "base %" PRIu64 " plus delta %" PRIu32, st->base,
	           delta);
	st->base = UINT64_MAX;
}

void d9_count_frame(struct d9_state *st, enum d9_structure which, const struct d9_frame *f)
{
	st->r->records++;
	st->structure[which]->records++;
	st->last_offset = f->offset;
}

/* Counts, if it was read, an entry of the open frame, or the frame if it has none.  Returns the result. */
static enum d9_result count_entry(struct d9_state *st, enum d9_result result)
{
	static const enum d9_structure structures[] = { [D9_TAG_STRINGS] = D9_S_STRINGS,
		                                        [D9_TAG_STACKS] = D9_S_STACKS,
		                                        [D9_TAG_ANNOTATIONS] = D9_S_ANNOTATIONS };

	if (result != D9_DONE)
		return result;
	st->r->records++;
	st->structure[structures[st->open.tag]]->records++;
	if (st->open.left > 0)
		st->open.left--;
	if (st->open.left == 0)
		st->last_offset = st->open.offset;
	return D9_DONE;
}

void d9_add_structure(struct d9_state *st, enum d9_structure which, const struct d9_frame *f, struct batch *b,
                      const struct field *fields, uint32_t n)
{
	if (!d9_wants_structure(st))
		return;
	struct event *const e = d9_add_event(st, b, f, st->structure[which]);
	if (d9_wants_fields(st)) {
		struct field *const to = batch_fields(b, n);
		if (to == NULL) {
			st->no_memory = true;
			return;
		}
		memcpy(to, fields, n * sizeof *fields);
		e->first_field = b->nfields;
		e->nfields = (uint16_t)n;
		b->nfields += n;
	}
	b->n++;
}

#define RUN_RECORDS 65536U /* of one run; then the engine gets a turn */

/* Adds the plain events and resets at the start of the window as one event without fields, at the time base
 * before them.  Returns the number of events added, 0 or 1. */
static uint32_t record_run(struct d9_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const uint64_t base = st->base;
	struct d9_frame f = { .p = in->p, .at = input_offset(in, in->p) };

	if (d9_check_run(st, RUN_RECORDS) == 0)
		return 0;
	f.end = in->p;
	d9_add_event(st, b, &f, st->structure[D9_S_RESET])->ts = base;
	b->n++;
	return 1;
}

/* ---- frames ---- */

/* Whether the first `left` bytes, as far as present, are the magic of the format before this one. */
static bool is_older_magic(const struct d9_frame *f, size_t left)
{
	const size_t n = left < D9_OLDER_MAGIC_SIZE ? left : D9_OLDER_MAGIC_SIZE;

	return memcmp(f->p, D9_OLDER_MAGIC, n) == 0;
}

/* Reports bytes that begin no frame. */
static enum d9_result report_unknown(struct d9_state *st, const struct d9_frame *f, size_t n)
{
	const size_t left = (size_t)(f->end - f->p);
	struct quoted q;

	if (!st->begun && is_older_magic(f, left) && left < D9_OLDER_MAGIC_SIZE && !st->r->in->last)
		return D9_MORE;
	if (!st->begun && is_older_magic(f, left) && left >= D9_OLDER_MAGIC_SIZE) {
		d9_find(st, D9_RULE_OLDER_FORMAT, f,
		        "the first bytes are " D9_OLDER_MAGIC ", which dial9-tokio-telemetry wrote before "
		        "release 0.2.0; record again with that release or a later one");
		return D9_BAD;
	}
	if (!st->begun) {
		d9_find(st, D9_RULE_BAD_MAGIC, f, "the first bytes are %s", quoted(&q, slice_of(f->p, n)));
		return D9_BAD;
	}
	if (st->resumes) {
		d9_find(st, D9_RULE_UNKNOWN_TAG, f, "tag 0x%02x starts no frame that is known", f->tag);
		return D9_BAD;
	}
	st->r->unread = input_drain(st->r->in);
	d9_find(st, D9_RULE_UNKNOWN_TAG, f,
	        "tag 0x%02x: a newer reader is needed, %" PRIu64 " bytes from byte %" PRIu64
	        " on are not read",
	        f->tag, st->r->unread, f->offset);
	return D9_BAD;
}

static void begin_segment(struct d9_state *st, const struct d9_frame *f)
{
	if (st->begun) {
		d9_note_newer(st, f, f->p, "a header in mid-stream");
		d9_pools_check(st);
		d9_pools_forget(st);
		d9_schemas_forget(&st->schemas);
		st->ntracks = 0;
	}
	st->begun = true;
	st->base = 0;
	st->segment++;
}

static enum d9_result read_header(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	const struct field version = { SLICE_LIT("version"), { .type = VALUE_U8, .u64 = D9_VERSION } };
	const size_t left = (size_t)(f->end - f->p);
	const size_t looked = left < D9_MAGIC_SIZE ? left : D9_MAGIC_SIZE;

	const bool differs = memcmp(f->p, D9_MAGIC, looked) != 0;
	if (differs && (looked == D9_MAGIC_SIZE || st->r->in->last))
		return report_unknown(st, f, looked);
	if (differs || left < D9_HEADER_SIZE) { /* findings show all of the magic */
		struct cursor c = cursor_on(f->p, f->end, false);
		cursor_take(&c, D9_MAGIC_SIZE, "magic");
		cursor_u8(&c, "version");
		return d9_note_lack(st, &c);
	}
	if (f->p[4] != D9_VERSION) {
		d9_find_at(st, D9_RULE_BAD_VERSION, f, f->p + 4, "version %u, known is %d", (uint8_t)f->p[4],
		           D9_VERSION);
		return D9_BAD;
	}
	f->end = f->p + D9_HEADER_SIZE;
	begin_segment(st, f);
	d9_add_structure(st, D9_S_HEADER, f, b, &version, 1);
	d9_count_frame(st, D9_S_HEADER, f);
	return D9_DONE;
}

static enum d9_result read_reset(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct cursor c = cursor_on(f->p, f->end, false);

	cursor_take(&c, 1, "tag");
	const uint64_t ts = cursor_u64(&c, "timestamp_ns");
	if (c.missing != NULL)
		return d9_note_lack(st, &c);
	const struct field field = { SLICE_LIT("timestamp_ns"), value_u64(ts) };
	f->end = c.p;
	st->base = ts;
	d9_add_structure(st, D9_S_RESET, f, b, &field, 1);
	d9_count_frame(st, D9_S_RESET, f);
	return D9_DONE;
}

static enum d9_result read_frame(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	if (!st->begun)
		return read_header(st, f, b);
	switch (f->tag) {
	case D9_TAG_EVENT:
		return d9_event_frame(st, f, b);
	case D9_TAG_SCHEMA:
		return d9_schema_frame(st, f, b);
	case D9_TAG_STRINGS:
	case D9_TAG_STACKS:
		return count_entry(st, d9_pool_head(st, f, b));
	case D9_TAG_RESET:
		return read_reset(st, f, b);
	case D9_TAG_ANNOTATIONS:
		return count_entry(st, d9_annotations_head(st, f, b));
	case D9_TAG_HEADER:
		return read_header(st, f, b);
	default:
		return report_unknown(st, f, 1);
	}
}

/* Reads the next entry of the open frame. */
static enum d9_result read_entry(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	f->tag = st->open.tag;
	f->offset = st->open.offset;
	return count_entry(st,
	                   f->tag == D9_TAG_ANNOTATIONS ? d9_annotation(st, f, b) : d9_pool_entry(st, f, b));
}

static enum d9_result skip_by_tag(struct d9_state *st, const struct d9_frame *f)
{
	switch (f->tag) {
	case D9_TAG_EVENT:
		return d9_event_skip(st, f);
	case D9_TAG_ANNOTATIONS:
		return count_entry(st, d9_annotation_skip(st));
	default:
		return count_entry(st, d9_pool_skip(st, f));
	}
}

/* Walks over a frame or entry above D9_MAX_FRAME, which is legal, reports and drops it.  Its bytes leave the
 * window, so this cannot start over. */
static enum d9_result skip_large(struct d9_state *st, const struct d9_frame *f, struct batch *b)
{
	struct input *const in = st->r->in;

	if (st->resumes ||
	    (st->open.left == 0 && (f->tag == D9_TAG_SCHEMA || f->tag == D9_TAG_ANNOTATIONS))) {
		d9_find(st, D9_RULE_LIMIT, f, "the frame is longer than %u bytes", D9_MAX_FRAME);
		return D9_BAD;
	}
	input_pin(in, NULL); /* nothing points into skipped bytes */
	const enum d9_result result = skip_by_tag(st, f);
	input_pin(in, &b->pins);
	if (result == D9_DONE)
		finding_add(st->r->findings, &d9_rules[D9_RULE_LIMIT], f->at, f->ordinal,
		            "%" PRIu64 " bytes dropped: the limit is %u", input_offset(in, in->p) - f->at,
		            D9_MAX_FRAME);
	return result;
}

enum d9_result d9_next_frame(struct d9_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const size_t window = (size_t)(in->end - in->p);
	struct d9_frame f = { .p = in->p,
		              .end = window > D9_MAX_FRAME ? in->p + D9_MAX_FRAME : in->end,
		              .tag = (uint8_t)*in->p };

	f.offset = f.at = input_offset(in, in->p);
	f.ordinal = st->r->records + 1;
	enum d9_result result = st->open.left > 0 ? read_entry(st, &f, b) : read_frame(st, &f, b);
	if (result == D9_DONE) {
		in->p = f.end;
		return result;
	}
	if (result == D9_MORE && window >= D9_MAX_FRAME) {
		result = skip_large(st, &f, b);
		if (result == D9_DONE)
			return result;
	} else if (result == D9_MORE && !in->last) {
		return D9_MORE;
	}
	if (result == D9_MORE)
		result = report_cut(st, &f);
	if (st->r->unread == 0 && !st->resumes) {
		const uint64_t gone = input_offset(in, in->p) - f.at; /* in pieces */
		st->r->unread = gone + input_drain(in);
	}
	return result;
}

/* ---- the loop ---- */

/* Checks that the input ends between frames. */
static enum d9_result check_end(struct d9_state *st)
{
	const struct d9_open_frame *const open = &st->open;
	const struct d9_frame f = { .offset = open->offset, .tag = open->tag, .ordinal = st->r->records };

	if (open->left == 0)
		return D9_DONE;
	st->lack = (struct d9_lack){ .what = "count",
		                     .bytes = (uint64_t)open->left * D9_ENTRY_HEAD,
		                     .length = open->count,
		                     .has_length = true };
	return report_cut(st, &f);
}

static enum read_status finish_input(struct d9_state *st, enum d9_result result)
{
	if (result == D9_DONE)
		d9_pools_check(st);
	if (st->tracks_made == 0)
		(void)d9_process(st);
	report_tallies(st);
	return result == D9_DONE ? READ_END : READ_BAD;
}

/* Returns whether the batch holds enough, whatever the number of its events. */
static bool is_full(const struct d9_state *st, const struct batch *b, uint64_t start)
{
	return input_offset(st->r->in, st->r->in->p) - start >= D9_NEXT_BYTES ||
	       b->nfields >= D9_NEXT_FIELDS || b->scratch.used >= D9_NEXT_BYTES ||
	       st->batch_pooled >= D9_NEXT_BYTES;
}

static void begin_batch(struct d9_state *st, struct batch *b)
{
	st->batch = b;
	st->batch_pooled = 0;
	d9_pools_hold(st, b);
	d9_ahead_hold(st, b);
}

static enum read_status read_batch(struct reader *r, struct batch *b)
{
	struct d9_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);
	const bool runs = (r->want & WANT_RUNS) != 0;
	enum d9_result result = D9_DONE;

	if (st->threads_pass && d9_threads_end(st->threads, start))
		return READ_END;
	begin_batch(st, b);
	for (uint32_t left = b->cap; left > 0 && !st->no_memory && !is_full(st, b, start);) {
		if (in->p == in->end && (in->last || !input_more(in)))
			return finish_input(st, check_end(st));
		if ((runs || r->want == WANT_FINDINGS) && st->begun && st->open.left == 0) {
			left -= runs ? record_run(st, b) : d9_check_run(st, left);
			if (left == 0 || in->p == in->end)
				continue;
		}
		result = d9_next_frame(st, b);
		if (result == D9_MORE)
			input_more(in);
		else
			left--;
		if (result == D9_BAD && !st->no_memory)
			return finish_input(st, D9_BAD);
	}
	return st->no_memory ? READ_NO_MEMORY : READ_MORE;
}

/* ---- opening ---- */

static int probe(struct slice head, bool complete)
{
	(void)complete;
	if (head.n >= D9_OLDER_MAGIC_SIZE && memcmp(head.p, D9_OLDER_MAGIC, D9_OLDER_MAGIC_SIZE) == 0)
		return 64; /* to report it */
	if (head.n < D9_MAGIC_SIZE || memcmp(head.p, D9_MAGIC, D9_MAGIC_SIZE) != 0)
		return 0;
	return head.n >= D9_HEADER_SIZE && head.p[4] == D9_VERSION ? 40 : 32;
}

static bool set_up_trace(struct d9_state *st)
{
	static const char *const names[D9_STRUCTURES] = {
		"Header", "Schema", "StringPool", "StackPool", "TimestampReset", "SchemaAnnotations"
	};
	struct trace *const trace = st->r->trace;

	trace->byte_order = "little";
	trace->clock = "monotonic";
	for (int i = 0; i < D9_STRUCTURES; i++)
		if ((st->structure[i] = trace_add_class(
		         trace, textscan_slice(names[i], (uint32_t)strlen(names[i])))) == NULL)
			return false;
	return true;
}

static bool open_reader(struct reader *r)
{
	struct d9_state *const st = r->state;
	const struct d9_state *const asking = r->ahead_of;

	st->r = r;
	st->threads = asking != NULL ? asking->threads : NULL;
	st->threads_pass = st->threads != NULL;
	st->collects = asking != NULL && !st->threads_pass ? asking->ahead : NULL;
	st->seed = hash_seed();
	begin_dialect(st);
	return set_up_trace(st);
}

static void close_reader(struct reader *r)
{
	struct d9_state *const st = r->state;

	if (r->ahead_of == NULL)
		d9_schemas_declare(st);
	d9_schemas_free(&st->schemas);
	d9_pools_free(st);
	d9_ahead_drop(st);
	free(st->tracks);
}

static const struct reader_ops d9_reader_ops = {
	.state_size = sizeof(struct d9_state),
	.probe = probe,
	.open = open_reader,
	.next = read_batch,
	.close = close_reader,
};

/* ---- the format ---- */

static const char *const suffixes[] = { ".bin", NULL };

static const struct format_option options[] = {
	{ .name = "to-dialect",
	  .arg = "NAME",
	  .help = "the dialect of the output: d1, d3 or d5; 0.3 or 0.4 (default: the last)",
	  .words = d9_dialects,
	  .of_output = true },
	{ .name = NULL },
};

extern const struct format dial9_format;

const struct format dial9_format = {
	.name = "dial9",
	.title = "dial9 trace",
	.spec = "dial9-trace-format binary specification, version 1",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "timestamp_delta_ns", NULL },
	.dialects = d9_dialects,
	.options = options,
	.reader = &d9_reader_ops,
	.writer = &d9w_ops,
	.recover = &d9_recover_ops,
	.rules = d9_rules,
	.losses = d9w_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NAN | HAS_PARTS | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS |
	            HAS_EPOCH | HAS_NUMBERS,
};

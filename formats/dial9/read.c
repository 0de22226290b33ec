/*
 * The dial9 reader ("dial9-trace-format Binary Specification", version 1, and additions of crate 0.4): a
 * header, then frames.  Frames do not state their length, so reading ends at the first unreadable one.
 * A further header begins a new segment, in which schemas, pools and the time base are reset.
 *
 * Memory is bounded by the limits of dial9.h.  Frames and entries longer than --max-record are passed over in
 * pieces.
 */
#include <stdlib.h>

#include "dial9/dial9.h"
#include "dial9/write/write.h"

/* ---- findings ---- */

const struct rule d9_rules[D9_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "dial9/rules.def"
#undef RULE
	{ .id = NULL }
};

void d9_check_text(struct d9_state *st, const struct record *f, struct slice s, const char *what,
                   struct slice whose)
{
	struct quoted q, q2;

	if ((s.flags & SLICE_UTF8) != 0)
		return;
	if (whose.p != NULL)
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s of %s is %s", what, quoted(&q, whose),
		           quoted(&q2, s));
	else
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s is %s", what, quoted(&q2, s));
}

static void report_tally(struct d9_state *st, enum d9_rule rule, const struct finding_tally *t,
                         const char *before, const char *after)
{
	finding_add_tally(st->r->findings, &d9_rules[rule], t, "%s %" PRIu64 "%s", before, t->now, after);
}

/* Reports st->tallies, at the end of an input. */
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

/*
 * The document of 0.3.2 or 0.3.6, or the output of crate 0.4, defines a dialect; all have the same version
 * byte.  The dialect does not change how frames are read.  A trace has the first dialect with all its
 * features.
 */

const char *const d9_dialects[] = {
	[D9_0_3_2] = "0.3.2", [D9_0_3_6] = "0.3.6", [D9_0_4] = "0.4", [D9_DIALECTS] = "0.3", NULL
};

enum d9_dialect d9_dialect_of(const char *name)
{
	const unsigned i = name != NULL ? option_word(d9_dialects, name) : D9_0_4;

	return i < D9_DIALECTS ? (enum d9_dialect)i : D9_0_3_2;
}

static void look_for_dialect(struct d9_state *st)
{
	struct trace *const trace = st->r->trace;
	enum d9_dialect found = D9_0_3_2;

	st->dialect = &found;
	const enum look_ahead done = reader_look_ahead(st->r);
	st->dialect = NULL;
	st->r->no_memory |= done == LOOK_AHEAD_FAILED;
	trace->dialect_known = done == LOOK_AHEAD_DONE;
	trace->dialect = d9_dialects[found];
}

/* Sets the dialect of the trace from --dialect; else, with WANT_DIALECT, tries a pass over the input. */
static void begin_dialect(struct d9_state *st)
{
	const char *const asked = st->r->dialect;
	struct trace *const trace = st->r->trace;

	st->asked_dialect = (uint8_t)d9_dialect_of(asked);
	if (asked != NULL)
		trace->dialect = d9_dialects[st->asked_dialect];
	else if (trace->dialect[0] == '\0') /* another input of the same trace may be newer */
		trace->dialect = d9_dialects[D9_0_3_2];
	trace->dialect_known = asked != NULL && reader_is_alone(st->r);
	if (st->r->ahead_of == NULL && asked == NULL && (st->r->want & WANT_DIALECT) != 0 &&
	    reader_is_alone(st->r))
		look_for_dialect(st);
}

void d9_note_newer(struct d9_state *st, const struct record *f, const char *at, const char *what,
                   enum d9_dialect since)
{
	struct trace *const trace = st->r->trace;

	if (st->dialect != NULL && since > *st->dialect)
		*st->dialect = since;
	if (since > st->asked_dialect)
		d9_find_at(st, D9_RULE_NOT_IN_DOCUMENT, f, at, "%s is not in the document of %s", what,
		           d9_dialects[st->asked_dialect]);
	else if (st->r->dialect == NULL && d9_dialect_of(trace->dialect) < since) {
		trace_change(trace);
		trace->dialect = d9_dialects[since];
	}
}

/* ---- the format ---- */

/* reader_ops.probe */
static int d9_probe(struct slice head, bool complete)
{
	if (head.n >= D9_OLDER_MAGIC_SIZE && memcmp(head.p, D9_OLDER_MAGIC, D9_OLDER_MAGIC_SIZE) == 0)
		return 64; /* to report it */
	if (head.n < D9_MAGIC_SIZE || memcmp(head.p, D9_MAGIC, D9_MAGIC_SIZE) != 0)
		return 0;
	return head.n >= D9_HEADER_SIZE && head.p[4] == D9_VERSION ? 40 : 32;
}

static const char *const suffixes[] = { ".bin", NULL };

static const struct format_option options[] = {
	{ .name = "to-dialect",
	  .arg = "NAME",
	  .help = "output dialect: dial9 0.3.2, 0.3.6, 0.4; dftracer d1, d3, d5 (default: the last)",
	  .words = d9_dialects,
	  .of_output = true },
	{ .name = NULL },
};

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
	.copier = &d9w_copier_ops,
	.recover = &d9_recover_ops,
	.rules = d9_rules,
	.losses = d9w_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NAN | HAS_PARTS | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS |
	            HAS_EPOCH | HAS_NUMBERS,
};

/* ---- records ---- */

/* By d9_frame_index(). */
static const struct {
	const char *name; /* in findings */
	const char *cls;  /* NULL: its records have other classes */
} frames[D9_FRAMES] = {
	[0] = { "header", "Header" },
	[D9_TAG_SCHEMA] = { "schema", "Schema" },
	[D9_TAG_EVENT] = { "event", NULL },
	[D9_TAG_STRINGS] = { "string pool", "StringPool" },
	[D9_TAG_STACKS] = { "stack pool", "StackPool" },
	[D9_TAG_RESET] = { "timestamp reset", "TimestampReset" },
	[D9_TAG_ANNOTATIONS] = { "schema annotations", "SchemaAnnotations" },
};

enum record_status d9_end_frame(struct d9_state *st, struct record *f)
{
	f->cls = st->frames[d9_frame_index(st->tag)];
	f->role = RECORD_IS_STRUCTURE;
	st->last_offset = f->offset;
	return RECORD_DONE;
}

/* ---- inputs that end inside a frame ---- */

/* Reports that the input ends inside a frame; st->lack describes the missing bytes.  Returns RECORD_BAD. */
static COLD enum record_status report_cut(struct d9_state *st, const struct record *f)
{
	const struct d9_lack *const lack = &st->lack;
	const char *const frame = frames[d9_frame_index(st->tag)].name;
	char whose[700] = "", last[80];
	struct quoted q, q2;

	if (lack->field != NULL)
		snprintf(whose, sizeof whose, " of field %s of %s", quoted(&q, lack->field->in_file),
		         quoted(&q2, lack->schema->name));
	else if (lack->schema != NULL)
		snprintf(whose, sizeof whose, " of %s", quoted(&q2, lack->schema->name));
	if (st->r->records > 0)
		snprintf(last, sizeof last, "the last complete frame begins at byte %" PRIu64,
		         st->last_offset);
	else
		snprintf(last, sizeof last, "no frame is complete");
	if (lack->has_length)
		d9_find(st, D9_RULE_LENGTH_PAST_END, f,
		        "%s%s in the %s frame is %" PRIu64 ": bytes left %" PRIu64 ", missing %" PRIu64
		        "; %s",
		        lack->what, whose, frame, lack->length, lack->left, lack->bytes, last);
	else
		d9_find(st, D9_RULE_CUT_FRAME, f, "%s%s in the %s frame: %" PRIu64 " %s missing; %s",
		        lack->what, whose, frame, lack->bytes, lack->bytes == 1 ? "byte is" : "bytes are",
		        last);
	return RECORD_BAD;
}

/* ---- frames ---- */

/* Reports bytes that begin no frame. */
static enum record_status report_unknown(struct d9_state *st, const struct record *f, size_t n)
{
	const size_t left = (size_t)(f->end - f->p);
	const bool whole = left >= D9_OLDER_MAGIC_SIZE;
	const bool older =
	    !st->begun && memcmp(f->p, D9_OLDER_MAGIC, whole ? D9_OLDER_MAGIC_SIZE : left) == 0;
	struct quoted q;

	if (older && !whole && !st->r->in->last)
		return RECORD_MORE;
	if (older && whole) {
		d9_find(st, D9_RULE_OLDER_FORMAT, f,
		        "the first bytes are " D9_OLDER_MAGIC ", which dial9-tokio-telemetry wrote before "
		        "release 0.2.0; record again with that release or a later one");
		return RECORD_BAD;
	}
	if (!st->begun) {
		d9_find(st, D9_RULE_BAD_MAGIC, f, "the first bytes are %s", quoted(&q, slice_of(f->p, n)));
		return RECORD_BAD;
	}
	if (st->r->recovers) {
		d9_find(st, D9_RULE_UNKNOWN_TAG, f, "tag 0x%02x starts no frame that is known", st->tag);
		return RECORD_BAD;
	}
	st->r->unread = input_drain(st->r->in);
	d9_find(
	    st, D9_RULE_UNKNOWN_TAG, f,
	    "tag 0x%02x is unknown: the bytes before it are damaged, or a newer reader is needed; %" PRIu64
	    " byte%s from byte %" PRIu64 " on %s not read",
	    st->tag, st->r->unread, st->r->unread == 1 ? "" : "s", f->offset,
	    st->r->unread == 1 ? "is" : "are");
	return RECORD_BAD;
}

static void begin_segment(struct d9_state *st, const struct record *f)
{
	if (st->begun) {
		d9_note_newer(st, f, f->p, "a header in mid-stream", D9_0_4);
		d9_pools_check(st);
		d9_pools_clear(st);
		d9_schemas_clear(&st->schemas);
		st->ntracks = 0;
	}
	st->begun = true;
	st->base = 0;
	st->segment++;
}

static enum record_status read_header(struct d9_state *st, struct record *f)
{
	const size_t left = (size_t)(f->end - f->p);
	const size_t looked = left < D9_MAGIC_SIZE ? left : D9_MAGIC_SIZE;

	const bool differs = memcmp(f->p, D9_MAGIC, looked) != 0;
	if (differs && (looked == D9_MAGIC_SIZE || st->r->in->last))
		return report_unknown(st, f, looked);
	struct d9_bytes bytes = d9_bytes_of(st, f);
	if (d9_bytes_read(&bytes, D9_MAGIC_SIZE, "magic") == NULL || /* findings show all of it */
	    d9_bytes_read(&bytes, 1, "version") == NULL)
		return RECORD_MORE;
	if (f->p[4] != D9_VERSION) {
		d9_find_at(st, D9_RULE_BAD_VERSION, f, f->p + 4, "version %u, known is %d", (uint8_t)f->p[4],
		           D9_VERSION);
		return RECORD_BAD;
	}
	f->end = f->p + D9_HEADER_SIZE;
	begin_segment(st, f);
	return d9_end_frame(st, f);
}

static enum record_status read_reset(struct d9_state *st, struct record *f)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);

	if (d9_bytes_read(&bytes, 1, "tag") == NULL || d9_bytes_read(&bytes, 8, "timestamp_ns") == NULL)
		return RECORD_MORE;
	f->end = bytes.p;
	st->base = load_u64(f->p + 1, false);
	return d9_end_frame(st, f);
}

/* Sets the class of an entry that was read, or of a frame without entries. */
static enum record_status end_entry(struct d9_state *st, struct record *f, enum record_status status)
{
	const uint64_t last = st->last_offset;

	if (status != RECORD_DONE)
		return status;
	(void)d9_end_frame(st, f);
	st->open.left -= st->open.left > 0;
	if (st->open.left > 0)
		st->last_offset = last;
	return RECORD_DONE;
}

/* Reads a frame with its first entry, or the next entry of the open one. */
static enum record_status read_entry(struct d9_state *st, struct record *f)
{
	if (st->first)
		st->open = (struct d9_open_frame){ .tag = st->tag, .offset = f->offset };
	return end_entry(st, f,
	                 st->tag == D9_TAG_ANNOTATIONS ? d9_annotation_frame(st, f) : d9_pool_frame(st, f));
}

static enum record_status read_frame(struct d9_state *st, struct record *f)
{
	if (!st->begun)
		return read_header(st, f);
	switch (st->tag) {
	case D9_TAG_SCHEMA:
		return d9_schema_frame(st, f);
	case D9_TAG_STRINGS:
	case D9_TAG_STACKS:
	case D9_TAG_ANNOTATIONS:
		return read_entry(st, f);
	case D9_TAG_RESET:
		return read_reset(st, f);
	case D9_TAG_HEADER:
		return read_header(st, f);
	default:
		return report_unknown(st, f, 1);
	}
}

/* ---- frames longer than --max-record ---- */

/* Passes over some bytes of a frame or entry.  Sets f->ts to the number of entries left, for the copier. */
static COLD enum record_status pass_piece(struct d9_state *st, struct record *f)
{
	struct reader *const r = st->r;
	struct d9_pass *const pass = &st->pass;
	enum record_status status = d9_pass(st, f);

	if (status == RECORD_MORE && r->in->last && pass->rest)
		return RECORD_END;
	if (status == RECORD_MORE && r->in->last) {
		f->offset = pass->offset;
		f->ordinal = pass->ordinal;
		status = report_cut(st, f);
	}
	if (status != RECORD_DONE)
		return status;
	const uint64_t n = (uint64_t)(f->end - f->p);
	pass->size += n;
	if (pass->rest) {
		r->unread += n;
	} else if (!pass->open) {
		reader_report_long(r, r->findings, pass->offset, pass->ordinal, pass->what, pass->size);
	}
	status = reader_pass_to(r, f, f->end);
	f->ts = st->open.left;
	return status;
}

enum record_status d9_pass_rest(struct d9_state *st, struct record *f)
{
	st->pass = (struct d9_pass){ .open = true, .rest = true, .run = UINT64_MAX, .offset = f->offset };
	return pass_piece(st, f);
}

/* Counts a long frame or entry, which is legal, and begins to pass over it.  at: offset of its first byte. */
static COLD enum record_status begin_pass(struct d9_state *st, struct record *f, uint64_t at)
{
	struct reader *const r = st->r;

	f->end = r->in->end;
	if (st->first && st->tag == D9_TAG_SCHEMA) {
		reader_report_long(r, r->findings, at, f->ordinal, "a schema, with all that follows it,", 0);
		return d9_pass_rest(st, f);
	}
	const enum record_status status = st->tag == D9_TAG_EVENT ? d9_event_pass(st, f)
	                                  : st->tag == D9_TAG_ANNOTATIONS
	                                      ? end_entry(st, f, d9_annotation_pass(st, f))
	                                      : end_entry(st, f, d9_pool_pass(st, f));
	if (status != RECORD_DONE)
		return status;
	r->records++;
	f->cls->records++;
	r->trace->events += f->role == RECORD_IS_EVENT;
	st->pass.open = true;
	st->pass.offset = at;
	st->pass.ordinal = f->ordinal;
	return pass_piece(st, f);
}

/* Checks that the input ends between frames. */
static COLD enum record_status check_end(struct d9_state *st)
{
	const struct d9_open_frame *const open = &st->open;
	const struct record f = { .offset = open->offset, .ordinal = st->r->records };

	if (open->left == 0) {
		d9_pools_check(st);
		return RECORD_END;
	}
	st->tag = open->tag;
	st->lack = (struct d9_lack){ .what = "count",
		                     .bytes = (uint64_t)open->left * D9_ENTRY_HEAD,
		                     .length = open->count,
		                     .has_length = true };
	return report_cut(st, &f);
}

/* Reads a frame that is no event, or an entry. */
static COLD enum record_status read_other(struct d9_state *st, struct record *f)
{
	const struct input *const in = st->r->in;
	enum record_status status = RECORD_DONE;

	if (st->r->recovers && st->begun && (!st->first || d9_has_entries(*f->p))) {
		f->end = in->end; /* all of a frame is in the window, so that it can be repaired */
		status = st->first ? d9_entries_status(st->r) : RECORD_DONE;
	}
	if (status != RECORD_DONE || st->first)
		return status == RECORD_DONE ? read_frame(st, f) : status;
	st->tag = st->open.tag;
	f->offset = st->open.offset;
	return read_entry(st, f);
}

/* Begins to pass over a record that is too long, or reports one that is cut. */
static COLD enum record_status read_incomplete(struct d9_state *st, struct record *f, uint64_t at)
{
	const struct input *const in = st->r->in;
	const bool can_pass = st->begun && st->tag != D9_TAG_RESET && st->tag != D9_TAG_HEADER;
	const bool large = can_pass && (uint64_t)(in->end - in->p) >= st->r->max_record;
	const enum record_status status = large ? begin_pass(st, f, at) : RECORD_MORE;

	return status == RECORD_MORE && in->last ? report_cut(st, f) : status;
}

static enum record_status read_record(struct reader *r, struct record *f)
{
	struct d9_state *const st = r->state;
	const struct input *const in = r->in;
	const size_t window = (size_t)(in->end - f->p);
	const uint64_t at = f->offset;

	if (window == 0 && !(st->pass.open && in->last))
		return in->last ? check_end(st) : RECORD_MORE;
	if (st->threads_pass && d9_threads_end(st->threads, at))
		return RECORD_END;
	if (st->pass.open)
		return pass_piece(st, f);
	if (st->dialect != NULL && *st->dialect == D9_0_4 && r->ahead_of != NULL)
		return RECORD_END;
	f->end = window > r->max_record ? f->p + r->max_record : in->end;
	st->first = st->open.left == 0;
	st->tag = (uint8_t)*f->p;
	const bool event = st->first && st->tag == D9_TAG_EVENT && st->begun;
	enum record_status status = event ? d9_event_frame(st, f) : read_other(st, f);
	if (status == RECORD_MORE)
		status = read_incomplete(st, f, at);
	else if (!st->pass.open)
		f->ts = st->base;
	f->offset = at;
	return status;
}

static void end_input(struct reader *r)
{
	struct d9_state *const st = r->state;

	if (st->tracks_made == 0)
		(void)d9_process(st);
	report_tallies(st);
}

/* ---- structure records ---- */

void d9_structure_fields(struct d9_state *st, const struct record *f, struct batch *b, struct event *e)
{
	struct field fields[5];
	uint32_t n = 1;

	switch (st->tag) {
	case D9_TAG_SCHEMA:
		n = d9_schema_fields(st, f, b, fields);
		break;
	case D9_TAG_STRINGS:
	case D9_TAG_STACKS:
		n = d9_pool_fields(st, b, fields);
		break;
	case D9_TAG_ANNOTATIONS:
		n = d9_annotation_fields(st, fields);
		break;
	case D9_TAG_RESET:
		fields[0] = (struct field){ SLICE_LIT("timestamp_ns"), value_u64(f->ts) };
		break;
	default:
		fields[0] = (struct field){ SLICE_LIT("version"), { .type = VALUE_U8, .u64 = D9_VERSION } };
	}
	struct field *const to = batch_event_fields(b, e, (uint16_t)n);
	if (to != NULL)
		memcpy(to, fields, n * sizeof *fields);
}

/* ---- opening ---- */

static bool set_up_trace(struct d9_state *st)
{
	struct trace *const trace = st->r->trace;

	trace->byte_order = "little";
	trace->clock = "monotonic";
	for (int i = 0; i < D9_FRAMES; i++) {
		const char *const name = frames[i].cls;
		if (name != NULL && (st->frames[i] = trace_add_class(
		                         trace, textscan_slice(name, (uint32_t)strlen(name)))) == NULL)
			return false;
	}
	return true;
}

static bool open_reader(struct reader *r)
{
	struct d9_state *const st = r->state;
	const struct d9_state *const asking = r->ahead_of;

	st->r = r;
	st->threads = asking != NULL ? asking->threads : NULL;
	st->threads_pass = st->threads != NULL;
	st->dialect = asking != NULL ? asking->dialect : NULL;
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

const struct reader_ops d9_reader_ops = {
	.state_size = sizeof(struct d9_state),
	.probe = d9_probe,
	.open = open_reader,
	.record = read_record,
	.event = d9_event,
	.fields = d9_fields,
	.run = d9_run,
	.end = end_input,
	.close = close_reader,
};

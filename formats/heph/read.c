/*
 * The reader.  A trace is a sequence of packets, each with a magic constant and its size, so that damage in
 * one does not affect the next.  An event packet becomes a span; a metadata packet is an option of the trace;
 * the document defines only `epoch`.  Several threads append to one file: packets of different streams
 * interleave, times are not sorted, and an option applies to the whole trace wherever it is stored.
 */
#include <stdlib.h>

#include "heph/heph.h"
#include "out/field_names.h"

/* ---- the search after damage ---- */

/* The next packet starts at a magic constant and a size, after which another magic constant follows or the
 * input ends.  Recovery keeps packets whose whole content can be read. */

#define SEARCH_BYTES (1U << 20) /* bytes skipped at once */

/* Starts a search for the next packet.  The finding about `at` is reported when the search ends; the skipped
 * bytes start at `from`. */
COLD PRINTF(6, 7) static void heph_search_begin(struct heph_state *st, enum heph_rule rule,
                                                const struct heph_packet *k, const char *at, const char *from,
                                                const char *fmt, ...)
{
	struct heph_search *const search = &st->search;
	va_list ap;

	*search = (struct heph_search){
		.open = true,
		.rule = rule,
		.offset = k->offset + (uint64_t)(at - k->p),
		.record = k->ordinal,
		.from = k->offset + (uint64_t)(from - k->p),
	};
	va_start(ap, fmt);
	vsnprintf(search->detail, sizeof search->detail, fmt, ap);
	va_end(ap);
}

/* Returns the first magic constant in [p, end), or the last 3 bytes, which may start one. */
static const char *find_magic(const char *p, const char *end)
{
	for (; end - p >= 4; p++)
		if ((*p == (char)0xC1 || *p == 0x75) && heph_packet_min(p, end) != 0)
			return p;
	return p;
}

/* Ends the search at p, and reports the finding. */
static void end_search(struct heph_state *st, const char *p, bool found)
{
	struct reader *const r = st->r;
	struct heph_search *const search = &st->search;
	const uint64_t at = input_offset(r->in, p), n = at - search->from;
	char skipped[80] = "";

	search->open = false;
	search->failed = !found;
	if (n > 0)
		snprintf(skipped, sizeof skipped, ", %" PRIu64 " byte%s from offset %" PRIu64 " on %s", n,
		         n == 1 ? "" : "s", search->from, found ? "skipped" : "not read");
	if (found) {
		finding_add(r->findings, &heph_rules[search->rule], search->offset, search->record,
		            "%s; the next packet is at offset %" PRIu64 "%s", search->detail, at, skipped);
	} else {
		finding_add(r->findings, &heph_rules[search->rule], search->offset, search->record,
		            "%s; no packet follows%s", search->detail, skipped);
		r->unread = n;
	}
}

/* Whether a packet starts in [p, end) and is followed by another one that starts there. */
static bool has_packet(const char *p, const char *end)
{
	for (p = find_magic(p, end); end - p >= HEPH_HEAD_SIZE; p = find_magic(p + 1, end))
		if (heph_is_packet(p, end, end) && load_u32(p + HEPH_AT_SIZE, true) < (size_t)(end - p))
			return true;
	return false;
}

/* Whether a complete packet starts at p, with another one or the end of the input after it: RECORD_DONE or
 * RECORD_BAD; RECORD_MORE if that depends on bytes after the window. */
static enum record_status check_packet(const struct heph_state *st, const char *p)
{
	const struct input *const in = st->r->in;
	const size_t left = (size_t)(in->end - p);
	const uint32_t size = left < HEPH_HEAD_SIZE ? HEPH_HEAD_SIZE : load_u32(p + HEPH_AT_SIZE, true);

	if (size > st->r->max_record)
		return RECORD_BAD;
	if (left < (size_t)size + 4 && !in->last)
		return RECORD_MORE;
	return heph_is_packet(p, in->end, in->end) ? RECORD_DONE : RECORD_BAD;
}

/* Skips bytes that start no packet, at most 1 MiB; clears st->search.open at a packet or the end. */
static enum record_status heph_search(struct heph_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	const size_t max = (size_t)(in->end - rec->p);
	const char *const limit = max > SEARCH_BYTES ? rec->p + SEARCH_BYTES : in->end;

	const char *p = find_magic(rec->p, limit);

	rec->role = RECORD_IS_SKIPPED;
	rec->alone = true;
	for (; limit - p >= 4 || limit == in->end; p = find_magic(p + 1, limit)) {
		const enum record_status status = check_packet(st, p);
		if (status == RECORD_MORE)
			return RECORD_MORE; /* search again: the finding must precede skipped bytes */
		if (in->end - p < HEPH_HEAD_SIZE)
			p = in->end;
		if (p == in->end || status == RECORD_DONE) {
			end_search(st, p, p < in->end);
			break;
		}
	}
	rec->end = p;
	return RECORD_DONE;
}

/* ---- recovery ---- */

static const char *const structure[] = {
	"heph/bad-magic",    "heph/packet-too-small", "heph/packet-too-large",
	"heph/cut-packet",   "heph/past-packet",      "heph/left-over",
	"heph/unknown-type", "heph/untyped-array",    NULL,
};

/* Repairs the size of a packet that reaches into the next one, and drops a damaged one. */
static void recover_packet(struct recovery *rc, const struct record *rec)
{
	const struct heph_state *const st = rc->r->state;
	const uint32_t was = load_u32(rec->p + 4, true), is = (uint32_t)(rec->end - rec->p);
	char size[4];

	store_uint(size, is, sizeof size, true);
	if (st->packet.fault != NULL) {
		rc->records--;
		recover_keep(rc, rec->p);
		recover_drop(rc, rec->end);
	} else if (was != is) {
		recover_keep(rc, rec->p + 4);
		recover_replace(
		    rc, rec->p + HEPH_HEAD_SIZE, size, sizeof size, &heph_rules[HEPH_RULE_PACKET_TOO_LARGE],
		    "size %" PRIu32 ", but the next packet starts after %" PRIu32 " bytes", was, is);
	}
}

static const struct recover_ops heph_recover_ops = {
	.structure = structure,
	.record = recover_packet,
};

/* ---- findings ---- */

void heph_report_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at,
                             const char *what, uint64_t n, uint64_t left)
{
	heph_report(st, HEPH_RULE_PAST_PACKET, k, at,
	            "%s needs %" PRIu64 " bytes, %" PRIu64 " remain in the packet of %" PRIu64, what, n, left,
	            (uint64_t)(k->end - k->p));
}

void heph_report_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s)
{
	struct quoted q;

	heph_report(st, HEPH_RULE_INVALID_UTF8, k, s.p, "%s is %s", what, quoted(&q, s));
}

/* ---- starts of packets ---- */

/* Returns the minimum size of a packet whose magic constant is cut off after 0 to 3 bytes; 0: no packet. */
uint32_t heph_packet_min_of_part(const char *p, const char *end)
{
	static const char metadata[3] = { 0x75, (char)0xD1, 0x1D },
	                  event[3] = { (char)0xC1, (char)0xFC, 0x1F };
	const size_t n = (size_t)(end - p) % 4;

	return memcmp(p, event, n) == 0      ? HEPH_EVENT_MIN
	       : memcmp(p, metadata, n) == 0 ? HEPH_METADATA_MIN
	                                     : 0;
}

/* Whether another packet starts at p, or the input ends there. */
static inline bool is_packet_end(const char *p, const char *end)
{
	return p == end || heph_packet_min(p, end) != 0;
}

bool heph_is_packet(const char *p, const char *inside, const char *end)
{
	const uint32_t min = inside - p >= HEPH_HEAD_SIZE ? heph_packet_min(p, inside) : 0;
	const uint32_t size = min != 0 ? load_u32(p + HEPH_AT_SIZE, true) : 0;

	return min != 0 && size >= min && size <= (size_t)(inside - p) && is_packet_end(p + size, end);
}

/* ---- events ---- */

static void read_event(struct heph_state *st, struct heph_packet *k, struct record *rec)
{
	const unsigned want = st->r->want;
	const uint32_t n = load_u16(k->p + HEPH_AT_DESCRIPTION, true);
	const size_t left = (size_t)(k->end - k->p) - HEPH_EVENT_MIN;

	heph_read_numbers(k);
	k->build = heph_builds_fields(st);
	heph_check_counter(st, k);
	if (n > left) {
		k->fault = k->p + HEPH_AT_DESCRIPTION;
		heph_report_past_packet(st, k, k->fault, "the description", n, left);
		return;
	}
	const struct slice text = slice_of(k->p + HEPH_EVENT_MIN, n);
	k->text = want != WANT_FINDINGS && !st->raw ? trace_event_name(st->r->trace, text)
	                                            : heph_text(text.p, n, k->build);
	if ((k->text.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "the description", text);
	heph_check_epoch(st, k);
	if (text.p + n < k->end)
		heph_read_attributes(st, k, text.p + n);
	rec->ts = k->start;
	rec->cls = st->event_class;
	rec->role = RECORD_IS_EVENT;
	if ((want & WANT_TIMES) == 0)
		return;
	rec->track = heph_track_cached(&st->tracks, k->stream, k->substream);
	if (rec->track == NULL)
		rec->track = heph_track_slow(st, k);
	st->r->no_memory |= rec->track == NULL;
}

/* Adds the counter and the attributes of an event.  If it ends before it starts, its span has no length and
 * the end is a field, too. */
static void add_fields(struct heph_state *st, const struct heph_packet *k, struct batch *b, struct event *e)
{
	const uint32_t fixed = heph_fixed_fields(k);
	struct field *const f = heph_add_attributes(st, k, fixed, b, e);

	if (f == NULL)
		return;
	f[0].name = SLICE_LIT(HEPH_COUNTER_FIELD);
	f[0].value = (struct value){ .type = VALUE_U32, .u64 = k->counter };
	if (fixed > 1) {
		f[1].name = SLICE_LIT(HEPH_END_FIELD);
		f[1].value = value_u64(k->stop);
	}
	const uint32_t kept = st->own.active ? fixed : 0; /* heph_own_event() removes the fixed fields */
	if (k->clash)
		st->r->no_memory |= !field_names_number(&b->scratch, f + kept, e->nfields - kept);
	if (st->own.active)
		heph_own_event(st, k, e, b);
}

static void set_span(const struct heph_packet *k, struct event *e)
{
	e->dur = heph_packet_end(k) - k->start;
	e->name = k->text;
	e->phase = PHASE_SPAN;
}

/* ---- options ---- */

static void report_unknown_option(struct heph_state *st, const struct heph_packet *k, size_t size)
{
	struct quoted q;

	heph_report(st, HEPH_RULE_UNKNOWN_OPTION, k, k->text.p, "option %s with a value of %zu bytes",
	            quoted(&q, k->text), size);
}

static void read_option(struct heph_state *st, struct heph_packet *k, struct record *rec)
{
	const uint32_t n = load_u16(k->p + HEPH_AT_NAME, true);
	const size_t left = (size_t)(k->end - k->p) - HEPH_METADATA_MIN;

	if (n > left) {
		k->fault = k->p + HEPH_AT_NAME;
		heph_report_past_packet(st, k, k->fault, "the option name", n, left);
		return;
	}
	k->text = textscan_slice(k->p + HEPH_METADATA_MIN, n);
	k->option = (struct value){ .type = VALUE_BYTES, .count = (uint32_t)left - n, .p = k->text.p + n };
	if ((k->text.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "the option name", k->text);
	if (slice_is(k->text, "epoch"))
		heph_set_epoch(st, k, k->option.p);
	else if (!word_is_own(k->text) || !heph_own_option(st, k, k->option.p))
		report_unknown_option(st, k, left - n);
	if (slice_is(k->text, "epoch") && k->option.count == HEPH_EPOCH_SIZE)
		k->option = value_u64(load_u64(k->option.p, true));
	rec->ts = 0;
	rec->cls = st->metadata_class;
	rec->role = RECORD_IS_STRUCTURE;
}

/* ---- packets ---- */

/* Reports an input that ends within the magic constant and the size of a packet. */
static COLD void report_cut_start(struct heph_state *st, const struct heph_packet *k)
{
	const char *const end = st->r->in->end;
	const unsigned n = (unsigned)(end - k->p);

	if (heph_packet_min(k->p, end) == 0)
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->p, k->p,
		                  "the input ends in %u byte%s that start no packet", n, n == 1 ? "" : "s");
	else
		heph_search_begin(st, HEPH_RULE_CUT_PACKET, k, k->p, k->p,
		                  "the input ends after %u of the 8 bytes of magic and size", n);
}

/* Reports an invalid magic constant or size; min: heph_packet_min() of the packet. */
static COLD void report_bad_start(struct heph_state *st, const struct heph_packet *k, uint32_t min)
{
	const uint32_t magic = load_u32(k->p, true), size = load_u32(k->p + HEPH_AT_SIZE, true);
	const char *const kind = magic == HEPH_MAGIC_EVENT ? "an event" : "a metadata";

	if (min == 0)
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->p, k->p,
		                  "0x%08" PRIX32 " where a packet should start", magic);
	else if (size < min)
		heph_search_begin(st, HEPH_RULE_PACKET_TOO_SMALL, k, k->p + 4, k->p,
		                  "%s packet of %" PRIu32 " byte%s, the minimum is %" PRIu32, kind, size,
		                  size == 1 ? "" : "s", min);
	else if (size <= (size_t)(st->r->in->end - k->p) ||
	         (uint64_t)(st->r->in->end - k->p) > st->r->max_record)
		heph_search_begin(st, HEPH_RULE_PACKET_TOO_LARGE, k, k->p + 4, k->p,
		                  "%s packet of %" PRIu32 " bytes, in which other packets are", kind, size);
	else
		heph_search_begin(st, HEPH_RULE_CUT_PACKET, k, k->p, k->p,
		                  "%s packet of %" PRIu32 " bytes, of which the input holds %" PRIu64, kind,
		                  size, (uint64_t)(st->r->in->end - k->p));
}

/* Ends a packet that none follows at a complete packet inside it: its size is wrong, or bytes of it are
 * missing.  Returns RECORD_MORE if that depends on bytes after the window, RECORD_BAD if the rest is too
 * short for a packet. */
static COLD enum record_status end_inside(struct heph_state *st, struct heph_packet *k, uint32_t min)
{
	const struct input *const in = st->r->in;
	const char *const limit = in->end - k->end > 3 ? k->end + 3 : in->end; /* for its magic constant */
	const uint64_t at = k->offset + HEPH_AT_SIZE;
	const char *p = k->p + HEPH_AT_SIZE + (st->searched > at ? st->searched - at : 0);
	enum record_status status = RECORD_BAD;

	for (p = find_magic(p, limit); p < k->end && (status = check_packet(st, p)) == RECORD_BAD;)
		p = find_magic(p + 1, limit);
	st->searched = input_offset(in, p);
	if (p >= k->end)
		return RECORD_DONE;
	if (status == RECORD_MORE)
		return RECORD_MORE;
	if ((size_t)(p - k->p) < min)
		return RECORD_BAD;
	heph_end_at_packet(st, k, p);
	return RECORD_DONE;
}

/* Reads the content of a packet that is complete in the window.  The record of a damaged packet ends at the
 * damage: the search skips the rest. */
static void read_content(struct heph_state *st, struct heph_packet *k, uint32_t min, struct record *rec)
{
	const uint32_t size = load_u32(k->p + HEPH_AT_SIZE, true);

	if (min == HEPH_EVENT_MIN)
		read_event(st, k, rec);
	else
		read_option(st, k, rec);
	rec->end = k->end;
	rec->alone = min != HEPH_EVENT_MIN || k->fault != NULL || k->end != k->p + size;
	if (k->fault != NULL && !k->followed) {
		rec->end = k->fault;
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->end, k->fault,
		                  "no packet starts where the damaged one before it should end");
	}
	if (rec->role == RECORD_IS_SKIPPED) /* the engine does not count it */
		st->r->records++;
}

/* ---- packets longer than --max-record ---- */

static COLD enum record_status pass_packet(struct heph_state *st, struct record *rec)
{
	struct heph_long *const l = &st->long_packet;
	const enum record_status status = reader_pass(st->r, rec, &l->left);

	if (status == RECORD_END) {
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_CUT_PACKET], l->offset, l->record,
		            "a packet of %" PRIu64 " bytes, of which the input holds %" PRIu64, l->size,
		            l->size - l->left);
		l->left = 0;
	}
	return status;
}

_Static_assert(HEPH_EVENT_MIN <= READER_MIN_RECORD, "the head of a packet that is longer is in the window");

/* Whether a size above --max-record is valid (RECORD_DONE) or damaged (RECORD_BAD): it is damaged if the
 * input ends, or other packets start, within --max-record bytes. */
static COLD enum record_status check_long(const struct heph_state *st, const struct heph_packet *k)
{
	const struct input *const in = st->r->in;

	if ((size_t)(in->end - k->p) <= st->r->max_record)
		return in->last ? RECORD_BAD : RECORD_MORE;
	return has_packet(k->p + HEPH_HEAD_SIZE, k->p + st->r->max_record) ? RECORD_BAD : RECORD_DONE;
}

/* Checks the counter of an event, so that it does not count as missing. */
static COLD enum record_status begin_long(struct heph_state *st, struct heph_packet *k, uint32_t size,
                                          bool event, struct record *rec)
{
	struct class *const cls = event ? st->event_class : st->metadata_class;

	reader_report_long(st->r, st->r->findings, k->offset, k->ordinal,
	                   event ? "an event packet" : "a metadata packet", size);
	if (event) {
		heph_read_numbers(k);
		heph_check_counter(st, k);
	}
	st->r->records++;
	st->r->trace->events += event;
	cls->records++;
	st->long_packet = (struct heph_long){ size, size, k->offset, k->ordinal };
	return pass_packet(st, rec);
}

/* ---- packets ---- */

/* Reads the packet at the start of the window, or skips the start of a damaged one. */
static inline enum record_status read_packet(struct heph_state *st, struct record *rec)
{
	struct heph_packet *const k = &st->packet;
	const struct input *const in = st->r->in;
	const size_t left = (size_t)(in->end - rec->p);

	rec->role = RECORD_IS_SKIPPED;
	rec->alone = true;
	k->p = rec->p;
	k->offset = rec->offset;
	k->ordinal = rec->ordinal;
	k->fault = NULL;
	k->nattributes = k->nfields = k->nelements = 0;
	k->lists = k->clash = false;
	if (left < HEPH_HEAD_SIZE) {
		rec->end = rec->p + 1;
		report_cut_start(st, k);
		return RECORD_DONE;
	}
	const uint32_t min = heph_packet_min(k->p, in->end), size = load_u32(k->p + HEPH_AT_SIZE, true);
	const bool possible = min != 0 && size >= min && size <= st->r->max_record;
	if (min != 0 && size > st->r->max_record && size >= min) {
		const enum record_status status = check_long(st, k);
		if (status == RECORD_DONE)
			return begin_long(st, k, size, min == HEPH_EVENT_MIN, rec);
		if (status == RECORD_MORE)
			return RECORD_MORE;
	}
	/* the magic constant of the next packet shows whether this one is damaged */
	if (possible && left < (size_t)size + 4 && !in->last)
		return RECORD_MORE;
	enum record_status status = RECORD_BAD;
	if (possible && left >= size) {
		k->end = k->p + size;
		k->followed = is_packet_end(k->end, in->end);
		status = k->followed ? RECORD_DONE : end_inside(st, k, min);
	}
	if (status == RECORD_MORE)
		return RECORD_MORE;
	if (status == RECORD_DONE) {
		read_content(st, k, min, rec);
	} else {
		rec->end = rec->p + (min == 0 ? 1 : 4);
		report_bad_start(st, k, min);
	}
	return RECORD_DONE;
}

static enum record_status read_record(struct reader *r, struct record *rec)
{
	struct heph_state *const st = r->state;
	const size_t left = (size_t)(r->in->end - rec->p);
	const bool ends = left == 0 && r->in->last && !st->search.open;

	if (reader_wants_gaps(r) && (st->gaps.other.missing > 0 || st->gaps.n > 0) &&
	    heph_next_gap(st, ends)) {
		rec->end = rec->p;
		rec->cls = st->event_class;
		rec->role = RECORD_IS_MISSING;
		return RECORD_DONE;
	}
	if (st->search.open)
		return heph_search(st, rec);
	if (st->long_packet.left > 0)
		return pass_packet(st, rec);
	if (left < HEPH_HEAD_SIZE && !r->in->last)
		return RECORD_MORE;
	if (left == 0)
		return st->search.failed ? RECORD_BAD : RECORD_END;
	return read_packet(st, rec);
}

static void heph_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct heph_state *const st = r->state;
	const struct heph_packet *const k = &st->packet;

	if (rec->role == RECORD_IS_MISSING) {
		heph_gap_event(st, b, e);
	} else if (rec->role == RECORD_IS_EVENT) {
		set_span(k, e);
		e->flags |= (r->want & WANT_WHOLE) != 0 && st->own.seen ? EVENT_PART : 0;
		if (k->build && !st->raw)
			add_fields(st, k, b, e);
	} else if ((r->want & WANT_FIELDS) != 0) {
		struct field *const f = batch_event_fields(b, e, 2);
		if (f == NULL)
			return;
		f[0] = (struct field){ SLICE_LIT("option"), value_string(k->text) };
		f[1] = (struct field){ SLICE_LIT("value"), k->option };
	}
}

static void heph_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct heph_state *const st = r->state;

	if (rec->role == RECORD_IS_EVENT)
		set_span(&st->packet, e);
	heph_raw_fields(st, &st->packet, rec, b, e);
}

/* ---- the reader ---- */

static bool add_classes(struct heph_state *st)
{
	struct trace *const t = st->r->trace;
	struct class event = { .name = SLICE_LIT("event") }, metadata = { .name = SLICE_LIT("metadata") };

	event.plan = trace_find_plan(t, event.name, NULL, NULL);
	if (st->raw)
		heph_raw_declare(&event, &metadata);
	st->event_class = trace_plan_class(t, &event);
	st->metadata_class = trace_plan_class(t, &metadata);
	return st->event_class != NULL && st->metadata_class != NULL;
}

static bool heph_open(struct reader *r)
{
	struct heph_state *const st = r->state;

	st->r = r;
	r->counts_lost = true;
	st->raw = (r->want & WANT_RAW) != 0;
	r->trace->dialect = "0.1.0";
	r->trace->dialect_known = reader_is_alone(r);
	r->trace->record_id = HEPH_COUNTER_FIELD;
	r->trace->byte_order = "big";
	r->trace->clock = "ns since the epoch option";
	return add_classes(st);
}

static void heph_close(struct reader *r)
{
	struct heph_state *const st = r->state;

	free(st->streams.list);
	table64_free(&st->streams.index);
	free(st->tracks.list);
	table64_free(&st->tracks.index);
	table64_free(&st->own.processes);
	free(st->fields);
}

/* Reports findings about the whole input. */
static void heph_end(struct reader *r)
{
	struct heph_state *const st = r->state;

	heph_counters_finish(st);
	finding_add_tally(r->findings, &heph_rules[HEPH_RULE_ATTRIBUTE_REPEATED], &st->repeated,
	                  "attribute %s is repeated in an event", st->repeated_name.s);
}

/* ---- detection ---- */

/* The probe counts verified bits: the magic constant of the first packet, its size, and the magic constant
 * after it. */

/* Returns the number of verified bits of a packet at p. */
static int probe_packet(const char *p, const char *end, bool complete)
{
	const uint32_t min = end - p >= 4 ? heph_packet_min(p, end) : 0;

	if (min == 0)
		return 0;
	if (end - p < HEPH_HEAD_SIZE)
		return 32;
	const uint32_t size = load_u32(p + HEPH_AT_SIZE, true);
	if (size < min)
		return 32;
	const size_t left = (size_t)(end - p);
	if (left < size)
		return complete ? 32 : 40;
	if (left == size)
		return complete ? 60 : 40;
	return heph_packet_min(p + size, end) != 0 ? 40 + 8 * (left - size < 4 ? (int)(left - size) : 4) : 36;
}

/* Uses the first packet; if it is damaged, a later one that is followed by another. */
static int probe(struct slice head, bool complete)
{
	const char *const end = head.p + head.n;
	const int first = probe_packet(head.p, end, complete);

	if (first > 0)
		return first;
	for (const char *p = head.p; end - p >= HEPH_HEAD_SIZE; p++)
		if ((*p == (char)0xC1 || *p == 0x75) && probe_packet(p, end, complete) >= 60)
			return 34;
	return 0;
}

static const struct reader_ops heph_reader_ops = {
	.state_size = sizeof(struct heph_state),
	.probe = probe,
	.open = heph_open,
	.record = read_record,
	.event = heph_event,
	.fields = heph_fields,
	.run = heph_run,
	.end = heph_end,
	.close = heph_close,
};

const struct rule heph_rules[HEPH_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "heph/rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".bin.log", NULL };
static const char *const dialects[] = { "0.1.0", NULL };

const struct format heph_format = {
	.name = "heph",
	.title = "Heph trace",
	.spec = "Heph trace format 0.1.0",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ HEPH_COUNTER_FIELD, "start", "end", NULL },
	.dialects = dialects,
	.reader = &heph_reader_ops,
	.recover = &heph_recover_ops,
	.writer = &hpw_ops,
	.copier = &hpw_copier_ops,
	.rules = heph_rules,
	.losses = hpw_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS | HAS_LISTS |
	            HAS_NAN | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS | HAS_EPOCH | HAS_NUMBERS,
};

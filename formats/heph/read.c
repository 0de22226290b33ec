#include <stdlib.h>

#include "heph/heph.h"

/* ---- finding ---- */

const struct rule heph_rules[HEPH_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "heph/rules.def"
#undef RULE
	{ .id = NULL }
};

void heph_finding_add(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k, const char *at,
                      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &heph_rules[rule], k->offset + (uint64_t)(at - k->p), k->ordinal, fmt,
	              ap);
	va_end(ap);
}

bool heph_finding_is_shown(const struct heph_state *st, enum heph_rule rule)
{
	return finding_is_shown(st->r->findings, &heph_rules[rule]);
}

void heph_report_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at,
                             const char *what, uint64_t n, uint64_t room)
{
	heph_finding_add(st, HEPH_RULE_PAST_PACKET, k, at,
	                 "%s needs %" PRIu64 " bytes, %" PRIu64 " remain in the packet of %" PRIu64, what, n,
	                 room, (uint64_t)(k->end - k->p));
}

void heph_report_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s)
{
	struct quoted q = { .s = "" };

	if (heph_finding_is_shown(st, HEPH_RULE_INVALID_UTF8))
		quoted(&q, s);
	heph_finding_add(st, HEPH_RULE_INVALID_UTF8, k, s.p, "%s is %s", what, q.s);
}

/* ---- stream ---- */

static void heph_streams_free(struct heph_streams *all)
{
	free(all->list);
	table64_free(&all->index);
}

/* The stream of a packet that is its first.  NULL: there are too many, which was reported, or no memory,
 * which the state remembers. */
static struct heph_stream *heph_stream_new(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_streams *const all = &st->streams;

	if (all->n == HEPH_MAX_STREAMS) {
		heph_finding_add(st, HEPH_RULE_STREAM_LIMIT, k, k->p + 8,
		                 "stream %" PRIu32 " and others are not distinguished", k->stream);
		return NULL;
	}
	if (!array_room(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    (k->stream >= HEPH_DIRECT && !table64_put(&all->index, k->stream, all->n))) {
		st->no_memory = true;
		return NULL;
	}
	if (k->stream < HEPH_DIRECT)
		all->direct[k->stream] = all->n + 1;
	all->list[all->n] = (struct heph_stream){ .id = k->stream };
	return &all->list[all->n++];
}

/* ---- packet ---- */

uint32_t heph_packet_min_of_part(const char *p, const char *end)
{
	static const char metadata[3] = { 0x75, (char)0xD1, 0x1D },
	                  event[3] = { (char)0xC1, (char)0xFC, 0x1F };
	const size_t n = (size_t)(end - p) % 4;

	return memcmp(p, event, n) == 0      ? HEPH_EVENT_MIN
	       : memcmp(p, metadata, n) == 0 ? HEPH_METADATA_MIN
	                                     : 0;
}

bool heph_is_packet(const char *p, const char *inside, const char *end)
{
	const uint32_t min = inside - p >= HEPH_START ? heph_packet_min(p, inside) : 0;
	const uint32_t size = min != 0 ? load_u32(p + 4, true) : 0;

	return min != 0 && size >= min && size <= (size_t)(inside - p) && heph_is_packet_end(p + size, end);
}

/* ---- epoch ---- */

/* The epoch, and the times that count from it. */

/* Reports times that came before the epoch and do not fit behind it. */
static void check_earlier(struct heph_state *st)
{
	const struct finding_tally *const t = &st->epoch.latest;

	if (t->count > 0 && t->now > UINT64_MAX - st->epoch.ns)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_TIME_OVERFLOW], t->offset, t->record,
		            "time %" PRIu64 ", the latest before the epoch %" PRIu64 " was set", t->now,
		            st->epoch.ns);
}

/* The first epoch of this input. */
static void learn_epoch(struct heph_state *st, const struct heph_packet *k, const char *value)
{
	struct trace *const trace = st->r->trace;

	st->epoch.known = true;
	st->epoch.ns = load_u64(value, true);
	check_earlier(st);
	trace->epoch_known = true;
	trace->epoch_ns = st->epoch.ns;
}

void heph_epoch_set(struct heph_state *st, const struct heph_packet *k, const char *value)
{
	const uint64_t size = (uint64_t)(k->end - value);

	if (size != HEPH_EPOCH_SIZE)
		heph_finding_add(st, HEPH_RULE_EPOCH_SIZE, k, value, "the value has %" PRIu64 " byte%s", size,
		                 size == 1 ? "" : "s");
	else if (!st->epoch.known)
		learn_epoch(st, k, value);
	else if (load_u64(value, true) != st->epoch.ns)
		heph_finding_add(st, HEPH_RULE_EPOCH_CHANGED, k, value,
		                 "%" PRIu64 " after %" PRIu64 "; the first is used", load_u64(value, true),
		                 st->epoch.ns);
}

void heph_epoch_check(struct heph_state *st, const struct heph_packet *k)
{
	const uint64_t latest = k->start > k->stop ? k->start : k->stop;

	if (k->stop < k->start)
		heph_finding_add(st, HEPH_RULE_END_BEFORE_START, k, k->p + 32,
		                 "end %" PRIu64 ", start %" PRIu64, k->stop, k->start);
	if (!st->epoch.known) {
		if (st->epoch.latest.count == 0 || latest > st->epoch.latest.now)
			st->epoch.latest = (struct finding_tally){
				.count = 1, .offset = k->offset, .record = k->ordinal, .now = latest
			};
	} else if (latest > UINT64_MAX - st->epoch.ns) {
		heph_finding_add(st, HEPH_RULE_TIME_OVERFLOW, k, k->p + (latest == k->start ? 24 : 32),
		                 "time %" PRIu64 ", epoch %" PRIu64, latest, st->epoch.ns);
	}
}

/* ---- counter ---- */

/* Counters of streams: each goes up by one with each event. */

/* ---- stream 0 ---- */

static bool is_set(const struct heph_shared *s, uint32_t n)
{
	return (s->bits[n % HEPH_SHARED_WINDOW / 64] >> n % 64 & 1) != 0;
}

/* Moves the window so that it ends with `last`. */
static void slide(struct heph_shared *s, uint32_t last)
{
	const uint32_t base = last - HEPH_SHARED_WINDOW + 1;

	if (base - s->base >= HEPH_SHARED_WINDOW)
		memset(s->bits, 0, sizeof s->bits);
	else
		for (uint32_t n = s->base; n != base; n++)
			s->bits[n % HEPH_SHARED_WINDOW / 64] &= ~((uint64_t)1 << n % 64);
	s->base = base;
}

static void begin_shared(struct heph_shared *s, const struct heph_packet *k)
{
	s->any = true;
	s->base = k->counter - HEPH_SHARED_WINDOW / 2;
	s->lowest = s->highest = k->counter;
	s->bits[k->counter % HEPH_SHARED_WINDOW / 64] |= (uint64_t)1 << k->counter % 64;
	finding_tally_add(&s->first, k->offset, k->ordinal, k->counter, 0);
}

static void heph_lost_add(struct heph_state *st, const struct heph_packet *k, uint32_t first,
                          uint32_t missing);

static void heph_lost_came(struct heph_state *st, uint32_t number);

/* Stream 0 is shared by threads, so its packets may change places: only numbers that do not come until the
 * end are missing. */
static void check_shared(struct heph_state *st, struct heph_shared *s, const struct heph_packet *k)
{
	const uint32_t c = k->counter;

	if (c - s->base > INT32_MAX)
		return; /* thousands of packets late, or another run: nothing is remembered of there */
	if (c - s->base >= HEPH_SHARED_WINDOW)
		slide(s, c);
	if (is_set(s, c))
		return;
	s->bits[c % HEPH_SHARED_WINDOW / 64] |= (uint64_t)1 << c % 64;
	if (c - s->highest <= INT32_MAX) {
		if (c - s->highest > 1) {
			finding_tally_add(&s->jump, k->offset, k->ordinal, c, s->highest);
			heph_lost_add(st, k, s->highest + 1, c - s->highest - 1);
		}
		s->missing += c - s->highest - 1;
		s->highest = c;
	} else if (s->lowest - s->base < HEPH_SHARED_WINDOW && c - s->base < s->lowest - s->base) {
		if (s->lowest - c > 1) {
			finding_tally_add(&s->jump, k->offset, k->ordinal, s->lowest, c);
			heph_lost_add(st, k, c + 1, s->lowest - c - 1);
		}
		s->missing += s->lowest - c - 1;
		s->lowest = c;
		s->first =
		    (struct finding_tally){ .count = 1, .offset = k->offset, .record = k->ordinal, .now = c };
	} else {
		s->missing--;
		heph_lost_came(st, c);
	}
	if (s->missing == 0)
		s->jump.count = 0;
}

/* ---- the other streams ---- */

static void check_own(struct heph_state *st, const struct heph_packet *k, uint32_t last)
{
	const uint32_t now = k->counter, gap = now - last - 1;

	if (now == last)
		heph_finding_add(st, HEPH_RULE_COUNTER_REPEATED, k, k->p + 12,
		                 "stream %" PRIu32 ": counter %" PRIu32 " is repeated", k->stream, now);
	else if (gap < INT32_MAX) {
		st->r->lost += gap;
		heph_lost_add(st, k, last + 1, gap);
		heph_finding_add(st, HEPH_RULE_COUNTER_GAP, k, k->p + 12,
		                 "stream %" PRIu32 ": counter %" PRIu32 " after %" PRIu32 ", %" PRIu32
		                 " missing",
		                 k->stream, now, last, gap);
	} else
		heph_finding_add(st, HEPH_RULE_COUNTER_BACK, k, k->p + 12,
		                 "stream %" PRIu32 ": counter %" PRIu32 " after %" PRIu32, k->stream, now,
		                 last);
}

/* A stream's first packet. */
static void begin_stream(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_counters *const all = &st->counters;
	struct heph_stream *const s = heph_stream_new(st, k);

	if (s == NULL)
		return;
	s->last = k->counter;
	s->end = heph_packet_end(k);
	if (k->stream == 0)
		begin_shared(&all->shared, k);
	else if (k->counter != 0)
		finding_tally_add(&all->late_start, k->offset, k->ordinal, k->counter, k->stream);
}

void heph_counter_check(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);

	if (s == NULL) {
		begin_stream(st, k);
		return;
	}
	if (k->stream == 0)
		check_shared(st, &st->counters.shared, k);
	else if (k->counter != s->last + 1)
		check_own(st, k, s->last);
	s->last = k->counter;
	s->end = heph_packet_end(k);
}

/* Stream 0 is one of those that begin late: the first of them stands for all. */
static void add_late_shared(struct heph_counters *all)
{
	const uint64_t others = all->late_start.count;

	if (others == 0 || all->shared.first.offset < all->late_start.offset)
		all->late_start = all->shared.first;
	all->late_start.count = others + 1;
}

/* Reports what is known about counters only at the end. */
static void heph_counters_finish(struct heph_state *st)
{
	const struct heph_shared *const s = &st->counters.shared;
	const struct finding_tally *const late = &st->counters.late_start;

	st->r->lost += s->missing;
	if (s->missing > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_COUNTER_GAP], s->jump.offset + 12,
		            s->jump.record,
		            "stream 0: %" PRIu64 " counter%s between %" PRIu32 " and %" PRIu32
		            " missing; the first gap is from %" PRIu64 " to %" PRIu64,
		            s->missing, s->missing == 1 ? "" : "s", s->lowest, s->highest, s->jump.before,
		            s->jump.now);
	if (s->any && s->lowest != 0)
		add_late_shared(&st->counters);
	if (late->count > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_COUNTER_START], late->offset + 12,
		            late->record,
		            "stream %" PRIu64 " begins at counter %" PRIu64 "; %" PRIu64 " stream%s in all",
		            late->before, late->now, late->count, late->count == 1 ? "" : "s");
}

/* ---- lost ---- */

static struct heph_lost *shared_at(struct heph_losts *l, uint32_t i)
{
	return &l->shared[(l->head + i) % HEPH_LOST];
}

/* Numbers are missing before the packet: from `first` on, `missing` of them. */
static void heph_lost_add(struct heph_state *st, const struct heph_packet *k, uint32_t first,
                          uint32_t missing)
{
	struct heph_losts *const l = &st->lost;
	const struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);
	const uint64_t end = heph_packet_end(k);

	if (s == NULL || !reader_wants_gaps(st->r))
		return;
	const struct heph_lost one = { k->stream, first, missing, missing, s->end, end, k->offset };
	if (k->stream != 0) {
		l->own = one;
	} else if (l->n < HEPH_LOST) {
		*shared_at(l, l->n++) = one;
	} else {
		struct heph_lost *const last = shared_at(l, HEPH_LOST - 1);
		last->span = (uint64_t)(first - last->first) + missing;
		last->missing += missing;
		last->to = end;
	}
}

/* One of stream 0 came after all. */
static void heph_lost_came(struct heph_state *st, uint32_t number)
{
	struct heph_losts *const l = &st->lost;

	for (uint32_t i = 0; i < l->n; i++) {
		struct heph_lost *const one = shared_at(l, i);
		if (number - one->first >= one->span || one->missing == 0)
			continue;
		one->missing--;
		return;
	}
}

/* Whether all numbers of the gap are too far behind to come. */
static bool is_certain(const struct heph_state *st, const struct heph_lost *one)
{
	const uint32_t behind = st->counters.shared.base - one->first;

	return st->lost.ended != READ_MORE || (behind <= INT32_MAX && behind >= one->span);
}

/* The next gap that is certain; NULL: none is. */
static const struct heph_lost *next_certain(struct heph_state *st, struct heph_lost *out)
{
	struct heph_losts *const l = &st->lost;

	if (l->own.missing > 0) {
		*out = l->own;
		l->own.missing = 0;
		return out;
	}
	while (l->n > 0 && (shared_at(l, 0)->missing == 0 || is_certain(st, shared_at(l, 0)))) {
		*out = *shared_at(l, 0);
		l->head = (l->head + 1) % HEPH_LOST;
		l->n--;
		if (out->missing > 0)
			return out;
	}
	return NULL;
}

/* Adds a gap to the batch, which has room, if one is certain.  false: none is. */
static bool heph_lost_put(struct heph_state *st, struct batch *b)
{
	struct heph_lost room;
	const struct heph_lost *const one = next_certain(st, &room);

	if (one == NULL)
		return false;
	const struct track *const track = heph_track_lost(st, one->stream);
	st->no_memory |= track == NULL || !reader_gap_put(st->r, b,
	                                                  &(struct reader_gap){ .track = track,
	                                                                        .from = one->from,
	                                                                        .to = one->to,
	                                                                        .missing = one->missing,
	                                                                        .offset = one->offset });
	return true;
}

/* ---- read ---- */

/*
 * Heph traces ("Trace Format", version 0.1.0): packets one after the other,
 * each with a magic constant and its size, so that damage in one does not
 * reach the next.  Several threads append to one file: packets of different
 * streams interleave, times are not sorted, and an option applies to all of
 * the trace wherever it comes.
 */

/* false: no memory. */
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
	st->tracks.seed = st->own.seed = hash_seed();
	r->trace->dialect = "0.1.0";
	r->trace->record_id = HEPH_COUNTER_FIELD;
	r->trace->byte_order = "big";
	r->trace->clock = "ns since the epoch option";
	return add_classes(st);
}

static void heph_close(struct reader *r)
{
	struct heph_state *const st = r->state;

	heph_streams_free(&st->streams);
	table64_free(&st->tracks.index);
	heph_own_free(&st->own);
}

/* ---- one packet ---- */

/* Less than a magic and a size at the end of the input. */
static void cut_start(struct heph_state *st, const struct heph_packet *k)
{
	const char *const end = st->r->in->end;
	const unsigned n = (unsigned)(end - k->p);

	if (heph_packet_min(k->p, end) == 0)
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->p, k->p + 1,
		                  "the input ends in %u byte%s that start no packet", n, n == 1 ? "" : "s");
	else
		heph_search_begin(st, HEPH_RULE_CUT_PACKET, k, k->p, k->p + 1,
		                  "the input ends after %u of the 8 bytes of magic and size", n);
}

/* A start that is none of a packet. */
static void bad_start(struct heph_state *st, const struct heph_packet *k, uint32_t min)
{
	const uint32_t magic = load_u32(k->p, true), size = load_u32(k->p + 4, true);
	const char *const kind = magic == HEPH_MAGIC_EVENT ? "an event" : "a metadata";

	if (min == 0)
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->p, k->p + 1,
		                  "0x%08" PRIX32 " where a packet should start", magic);
	else if (size < min)
		heph_search_begin(st, HEPH_RULE_PACKET_TOO_SMALL, k, k->p + 4, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, the minimum is %" PRIu32, kind, size, min);
	else if (size > HEPH_MAX_PACKET)
		heph_search_begin(st, HEPH_RULE_LIMIT, k, k->p + 4, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, the maximum is %u", kind, size,
		                  HEPH_MAX_PACKET);
	else
		heph_search_begin(st, HEPH_RULE_CUT_PACKET, k, k->p, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, of which the input holds %" PRIu64, kind,
		                  size, (uint64_t)(st->r->in->end - k->p));
}

/* The content of a packet that is complete in the window. */
static void read_content(struct heph_state *st, struct heph_packet *k, uint32_t min, struct batch *b)
{
	struct input *const in = st->r->in;

	k->followed = heph_is_packet_end(k->end, in->end);
	if (min == HEPH_EVENT_MIN)
		heph_event_read(st, k, b);
	else
		heph_option_read(st, k, b);
	st->r->records++;
	if (k->fault == NULL || k->followed)
		in->p = k->end;
	else
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->end, k->fault,
		                  "no packet starts where the damaged one before it should end");
}

bool heph_read_packet(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	struct input *const in = st->r->in;
	const size_t there = (size_t)(in->end - in->p);

	*k = (struct heph_packet){ .p = in->p,
		                   .offset = input_offset(in, in->p),
		                   .ordinal = st->r->records + 1 };
	if (there < HEPH_START) {
		if (!in->last)
			return false;
		cut_start(st, k);
		return true;
	}
	const uint32_t min = heph_packet_min(k->p, in->end), size = load_u32(k->p + 4, true);
	const bool possible = min != 0 && size >= min && size <= HEPH_MAX_PACKET;
	/* the magic of the next packet is looked at when this one is in doubt */
	if (possible && there < size + 4 && !in->last)
		return false;
	if (possible && there >= size) {
		k->end = k->p + size;
		read_content(st, k, min, b);
	} else {
		bad_start(st, k, min);
	}
	return true;
}

/* ---- the loop ---- */

static enum read_status finish(struct heph_state *st, enum read_status status)
{
	const struct finding_tally *const t = &st->repeated;

	heph_counters_finish(st);
	if (t->count > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_ATTRIBUTE_REPEATED], t->offset, t->record,
		            "attribute %s is repeated; %" PRIu64 " event%s in all", st->repeated_name.s,
		            t->count, t->count == 1 ? "" : "s");
	return status;
}

static enum read_status heph_next(struct reader *r, struct batch *b)
{
	struct heph_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);
	const bool runs = heph_run_wanted(st);
	struct heph_packet k;

	/* a packet gives one event at most, so counting packets and gaps bounds the batch */
	for (uint32_t room = b->cap; room > 0 && b->nfields < HEPH_NEXT_FIELDS &&
	                             input_offset(in, in->p) - start < HEPH_NEXT_BYTES;) {
		if (st->lost.ended == READ_MORE && !st->gap.open && in->p == in->end &&
		    (in->last || !input_more(in)))
			st->lost.ended = READ_END;
		if (heph_lost_any(&st->lost) && heph_lost_put(st, b)) {
			if (st->no_memory)
				return READ_NO_MEMORY;
			room--;
			continue;
		}
		if (st->lost.ended != READ_MORE)
			return finish(st, st->lost.ended);
		if (st->gap.open) {
			if (!heph_search(st)) {
				st->lost.ended = READ_BAD;
				continue;
			}
		} else if (!(runs && heph_run_read(st, b, start + HEPH_NEXT_BYTES)) &&
		           !heph_read_packet(st, &k, b)) {
			input_more(in);
			continue;
		}
		if (st->no_memory)
			return READ_NO_MEMORY;
		room--;
	}
	return READ_MORE;
}

const struct reader_ops heph_reader_ops = {
	.state_size = sizeof(struct heph_state),
	.probe = heph_probe,
	.open = heph_open,
	.next = heph_next,
	.close = heph_close,
};

/*
 * Raw packets: their fields for --raw, and copies of whole packets.
 *
 * The fields of a raw packet are all of it, in file order and with its widths.  Lengths of texts and lists
 * are those before them in the file, types of values those of attributes.  Names of attributes may be
 * repeated.
 *
 * A copy changes times and the epoch (--rebase), counters of streams of which packets are left out, the
 * number of a stream of a later input that is in use already, and the size of a damaged packet.
 */
#include "heph/heph.h"

/* ---- fields ---- */

#define EVENT_FIELDS 8
#define OPTION_FIELDS 4

#define TEXT(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

static const struct class_field event_fields[EVENT_FIELDS] = {
	{ TEXT("magic"), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT("size"), TEXT("u32"), VALUE_U32, 4, "byte" },
	{ TEXT("stream"), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT(HEPH_COUNTER_FIELD), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT("substream"), TEXT("u64"), VALUE_U64, 8, NULL },
	{ TEXT("start"), TEXT("u64"), VALUE_U64, 8, "ns" },
	{ TEXT(HEPH_END_FIELD), TEXT("u64"), VALUE_U64, 8, "ns" },
	{ TEXT("description"), TEXT("string"), VALUE_STRING, 0, NULL },
};

/* The value of the epoch is an integer of 64 bits, that of other options their bytes. */
static const struct class_field option_fields[OPTION_FIELDS] = {
	{ TEXT("magic"), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT("size"), TEXT("u32"), VALUE_U32, 4, "byte" },
	{ TEXT("option"), TEXT("string"), VALUE_STRING, 0, NULL },
	{ TEXT("value"), TEXT("bytes"), VALUE_NONE, 0, NULL },
};

void heph_raw_declare(struct class *event, struct class *metadata)
{
	event->fields = event_fields;
	event->nfields = EVENT_FIELDS;
	metadata->fields = option_fields;
	metadata->nfields = OPTION_FIELDS;
}

/* Sets the n numbers at the start of a packet. */
static void set_numbers(const struct heph_packet *k, const struct class_field *declared, uint32_t n,
                        struct field *f)
{
	const char *p = k->p;

	for (uint32_t i = 0; i < n; i++) {
		f[i].name = declared[i].name;
		f[i].value =
		    (struct value){ .type = declared[i].value,
			            .u64 = declared[i].size == 4 ? load_u32(p, true) : load_u64(p, true) };
		p += declared[i].size;
	}
}

bool heph_raw_add_event(struct heph_packet *k, struct batch *b)
{
	const uint32_t last = EVENT_FIELDS - 1;
	struct field *const f = batch_fields(b, EVENT_FIELDS);

	if (f == NULL)
		return false;
	set_numbers(k, event_fields, last, f);
	f[last] = (struct field){ event_fields[last].name, value_string(k->description) };
	k->nfields = EVENT_FIELDS;
	return true;
}

bool heph_raw_add_option(const struct heph_packet *k, struct slice name, struct value value, struct event *e,
                         struct batch *b)
{
	struct field *const f = batch_fields(b, OPTION_FIELDS);

	if (f == NULL)
		return false;
	set_numbers(k, option_fields, 2, f);
	f[2] = (struct field){ option_fields[2].name, value_string(name) };
	f[3] = (struct field){ option_fields[3].name, value };
	e->first_field = b->nfields;
	e->nfields = OPTION_FIELDS;
	b->nfields += OPTION_FIELDS;
	return true;
}

/* ---- copies ---- */

static void add_loss(struct hpw_raw *raw, enum hpw_loss loss, const struct event *e)
{
	ledger_add(&raw->chunk->ledger, &hpw_losses[loss], e->offset, 1);
}

static void flush_run(struct hpw_raw *raw)
{
	chunk_borrow(raw->chunk, raw->run);
	raw->run.n = 0;
}

/* Writes packets unchanged; those that are adjacent in the input are written together. */
static void write_unchanged(struct hpw_raw *raw, struct slice bytes)
{
	struct slice *const run = &raw->run;

	if (run->n == 0 || run->p + run->n != bytes.p || bytes.n > UINT32_MAX - run->n) {
		flush_run(raw);
		*run = slice_of(bytes.p, 0);
	}
	run->n += bytes.n;
}

/* Writes a copy of a packet, to be changed.  Its size becomes that of `bytes`. */
static char *write_copy(struct hpw_raw *raw, struct slice bytes)
{
	struct text *const t = &raw->chunk->text;

	flush_run(raw);
	char *const p = text_room(t, bytes.n);
	if (p == NULL)
		return NULL;
	memcpy(p, bytes.p, bytes.n);
	hpw_store(p + HPW_AT_SIZE, bytes.n, 4);
	t->n += bytes.n;
	return p;
}

/* ---- options ---- */

static const char epoch_packet[] = "\x75\xD1\x1D\x4D\0\0\0\x17\0\5epoch\0\0\0\0\0\0\0";

static bool is_epoch(struct slice bytes)
{
	static const char name[] = "\0\5epoch";

	return bytes.n == HEPH_METADATA_MIN + 5 + HEPH_EPOCH_SIZE && memcmp(bytes.p + 8, name, 7) == 0;
}

/* Writes a copy of an epoch packet with raw->epoch, rebased. */
static void write_epoch(struct hpw_raw *raw, struct slice bytes)
{
	char *const p = write_copy(raw, bytes);

	if (p != NULL)
		hpw_store(p + bytes.n - HEPH_EPOCH_SIZE, raw->epoch + raw->by, 8);
}

/* Writes an epoch that precedes the first event: the time of that event determines how it is rebased. */
static void write_pending_epoch(struct hpw_raw *raw)
{
	if (raw->epoch_held)
		write_epoch(raw, slice_of(epoch_packet, sizeof epoch_packet));
	raw->epoch_held = false;
}

/* Copies an epoch.  The first epoch of the first input that has one applies; a different one of the same
 * input is a fault of the input, and is copied too. */
static void copy_epoch(struct hpw_state *st, const struct event *e, struct slice bytes)
{
	struct hpw_raw *const raw = &st->raw;
	const uint64_t value = load_u64(bytes.p + bytes.n - HEPH_EPOCH_SIZE, true);

	if (!raw->epoch_known && (raw->input == 0 || !raw->any_event)) {
		raw->epoch_known = true;
		raw->epoch = value;
		raw->epoch_of = raw->input;
		raw->epoch_held = st->rebased && !raw->any_event;
		if (st->rebased && raw->any_event)
			write_epoch(raw, bytes);
		else if (!st->rebased)
			write_unchanged(raw, bytes);
	} else if (raw->input != raw->epoch_of && (!raw->epoch_known || value != raw->epoch)) {
		add_loss(raw, HPW_OTHER_EPOCH, e);
	} else if (st->rebased && value == raw->epoch) {
		write_pending_epoch(raw);
		write_epoch(raw, bytes);
	} else {
		write_unchanged(raw, bytes);
	}
}

/* Writes the options of tracks before an event of stream s, or (NULL) before another option.  They stay in
 * place unless packets are left out or streams renumbered. */
static void write_pending_tracks(struct hpw_raw *raw, const struct hpw_stream *s)
{
	if (raw->held.next.n == 0 && raw->held.used == 0)
		return;
	flush_run(raw);
	if (raw->held.bytes > HPW_MAX_HELD || (raw->input == 0 && !raw->streams.selected))
		hpw_release_in_place(&raw->held, &raw->chunk->text);
	if (s != NULL)
		hpw_release(&raw->held, &raw->chunk->text, s);
}

static void copy_option(struct hpw_raw *raw, const struct event *e, struct slice bytes)
{
	if (load_u32(bytes.p + HPW_AT_SIZE, true) != bytes.n) {
		add_loss(raw, HPW_DAMAGED_PACKET, e);
		write_copy(raw, bytes);
	} else if (hpw_is_track(bytes)) {
		flush_run(raw);
		hpw_hold(&raw->held, &raw->chunk->text, bytes);
	} else {
		write_pending_tracks(raw, NULL);
		write_unchanged(raw, bytes);
	}
}

/* ---- events ---- */

struct times {
	uint64_t start, end;
};

/* Returns rebased times: e->ts is the rebased start. */
static struct times rebase_times(struct hpw_raw *raw, const struct event *e, struct times was)
{
	raw->by = was.start - e->ts;
	if (was.start < raw->by) {
		add_loss(raw, HPW_NEGATIVE_TIME, e);
		return (struct times){ 0, was.end < was.start ? 0 : was.end - was.start };
	}
	return (struct times){ was.start - raw->by, was.end < raw->by ? 0 : was.end - raw->by };
}

/* Limits times of another input, so that they do not overflow with the epoch of the first one. */
static struct times limit_times(struct hpw_raw *raw, const struct event *e, struct times t)
{
	const uint64_t max = UINT64_MAX - (raw->epoch + raw->by);

	if (!raw->epoch_known || raw->input == raw->epoch_of || (t.start <= max && t.end <= max))
		return t;
	add_loss(raw, HPW_LATE_TIME, e);
	return (struct times){ t.start < max ? t.start : max, t.end < max ? t.end : max };
}

static struct hpw_stream *find_stream(struct hpw_raw *raw, const struct event *e, struct slice bytes)
{
	const uint32_t id = load_u32(bytes.p + HPW_AT_STREAM, true),
	               counter = load_u32(bytes.p + HPW_AT_COUNTER, true);
	bool renumbered;
	struct hpw_stream *const s = hpw_stream_of(&raw->streams, id, counter, raw->input, &renumbered);

	raw->chunk->text.failed |= s == NULL;
	if (s != NULL && renumbered)
		add_loss(raw, HPW_STREAM_NUMBER, e);
	return s;
}

static void copy_event(struct hpw_state *st, const struct event *e, struct slice bytes)
{
	struct hpw_raw *const raw = &st->raw;
	struct hpw_stream *const s = find_stream(raw, e, bytes);

	if (s == NULL)
		return;
	const uint32_t was = load_u32(bytes.p + HPW_AT_COUNTER, true);
	if ((e->flags & EVENT_LEFT_OUT) != 0) {
		s->less++;
		hpw_withhold(&raw->held, &raw->chunk->text);
		return;
	}
	write_pending_tracks(raw, s);
	const uint32_t counter = hpw_stream_counter(s, was);
	const struct times read = { load_u64(bytes.p + HPW_AT_START, true),
		                    load_u64(bytes.p + HPW_AT_END, true) };
	const struct times t = limit_times(raw, e, st->rebased ? rebase_times(raw, e, read) : read);

	write_pending_epoch(raw);
	raw->any_event = true;
	const bool damaged = load_u32(bytes.p + HPW_AT_SIZE, true) != bytes.n;
	if (damaged)
		add_loss(raw, HPW_DAMAGED_PACKET, e);
	if (!damaged && s->out == s->id && counter == was && t.start == read.start && t.end == read.end) {
		write_unchanged(raw, bytes);
		return;
	}
	char *const p = write_copy(raw, bytes);
	if (p == NULL)
		return;
	hpw_store(p + HPW_AT_STREAM, s->out, 4);
	hpw_store(p + HPW_AT_COUNTER, counter, 4);
	hpw_store(p + HPW_AT_START, t.start, 8);
	hpw_store(p + HPW_AT_END, t.end, 8);
}

/* Fast path for packets at the start of `bytes` that are not changed, while nothing is pending.  Returns
 * their size. */
static uint32_t copy_fast(struct hpw_state *st, struct slice bytes)
{
	struct hpw_raw *const raw = &st->raw;
	uint32_t n = 0, size;

	if (st->rebased || raw->input > 0 || raw->streams.selected || raw->held.next.n > 0)
		return 0;
	for (; n < bytes.n; n += size) {
		const char *const p = bytes.p + n;
		size = load_u32(p + HPW_AT_SIZE, true);
		if (size > bytes.n - n ||
		    !hpw_stream_goes_on(&raw->streams, load_u32(p + HPW_AT_STREAM, true),
		                        load_u32(p + HPW_AT_COUNTER, true)))
			break;
	}
	if (n > 0) {
		raw->any_event = true;
		write_unchanged(raw, slice_of(bytes.p, n));
	}
	return n;
}

/* Copies a run of packets, or a single one that may be damaged: its size may then exceed its bytes. */
static void copy_events(struct hpw_state *st, const struct event *e, struct slice bytes)
{
	struct event one = *e;

	while (bytes.n > 0 && !st->raw.chunk->text.failed) {
		uint32_t n = copy_fast(st, bytes);
		if (n == 0) {
			const uint32_t size = load_u32(bytes.p + HPW_AT_SIZE, true);
			n = size < bytes.n ? size : bytes.n;
			copy_event(st, &one, slice_of(bytes.p, n));
		}
		bytes = slice_of(bytes.p + n, bytes.n - n);
		one.offset += n;
	}
}

/* ---- writer ---- */

void hpw_raw(struct hpw_state *st, const struct batch *b, struct chunk *chunk)
{
	struct hpw_raw *const raw = &st->raw;

	raw->chunk = chunk;
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++) {
		const struct event *const e = &b->events[i];
		if (raw->any && e->offset <= raw->offset)
			raw->input++;
		raw->any = true;
		raw->offset = e->offset;
		if (e->phase != PHASE_STRUCTURE)
			copy_events(st, e, b->bytes[i]);
		else if (is_epoch(b->bytes[i]))
			copy_epoch(st, e, b->bytes[i]);
		else
			copy_option(raw, e, b->bytes[i]);
	}
	flush_run(raw);
}

void hpw_raw_end(struct hpw_state *st, struct chunk *chunk)
{
	struct hpw_raw *const raw = &st->raw;

	raw->chunk = chunk;
	write_pending_tracks(raw, NULL);
	if (!raw->streams.selected && hpw_waiting(&raw->held) > 0)
		ledger_add(&chunk->ledger, &hpw_losses[HPW_TRACK_UNUSED], 0, hpw_waiting(&raw->held));
	write_pending_epoch(raw);
}

void hpw_raw_free(struct hpw_raw *raw)
{
	hpw_streams_free(&raw->streams);
	hpw_held_free(&raw->held);
}

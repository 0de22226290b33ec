#include "heph/heph.h"

/* ---- raw ---- */

/*
 * Packets as the file has them: all their fields, in file order, with their
 * widths.  The lengths of texts and lists are those that the file has before
 * them, and the types of values those of attributes.  Names of attributes are
 * not changed, also where two are equal.
 */

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

/* The value of an epoch is an integer of 64 bits, other options are as they are. */
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

/* The numbers that a packet begins with. */
static void put_numbers(const struct heph_packet *k, const struct class_field *declared, uint32_t n,
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
	put_numbers(k, event_fields, last, f);
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
	put_numbers(k, option_fields, 2, f);
	f[2] = (struct field){ option_fields[2].name, value_string(name) };
	f[3] = (struct field){ option_fields[3].name, value };
	e->first_field = b->nfields;
	e->nfields = OPTION_FIELDS;
	b->nfields += OPTION_FIELDS;
	return true;
}

/* ---- write raw ---- */

/*
 * Packets of Heph traces as they are.  What is changed: times with --rebase, and
 * the epoch with them; the counters of streams of which packets are left out; the
 * number of a stream of a later input that is taken; the size of a packet that is
 * damaged.
 */

static void lose(struct hpw_raw *raw, enum hpw_loss loss, const struct event *e)
{
	ledger_add(&raw->chunk->ledger, &hpw_losses[loss], e->offset, 1);
}

static void flush(struct hpw_raw *raw)
{
	chunk_borrow(raw->chunk, raw->run);
	raw->run.n = 0;
}

/* The packet as it is; with what was added before in one go where they lie side by side. */
static void add(struct hpw_raw *raw, struct slice bytes)
{
	struct slice *const run = &raw->run;

	if (run->n == 0 || run->p + run->n != bytes.p || bytes.n > UINT32_MAX - run->n) {
		flush(raw);
		*run = slice_of(bytes.p, 0);
	}
	run->n += bytes.n;
}

/* A copy of the packet, of the size that it has.  NULL: no memory. */
static char *copy(struct hpw_raw *raw, struct slice bytes)
{
	struct text *const t = &raw->chunk->text;

	flush(raw);
	char *const p = text_room(t, bytes.n);
	if (p == NULL)
		return NULL;
	memcpy(p, bytes.p, bytes.n);
	hpw_store(p + HPW_AT_SIZE, bytes.n, 4);
	t->n += bytes.n;
	return p;
}

/* ---- metadata ---- */

static bool is_epoch(struct slice bytes)
{
	static const char name[] = "\0\5epoch";

	return bytes.n == HEPH_METADATA_MIN + 5 + HEPH_EPOCH_SIZE && memcmp(bytes.p + 8, name, 7) == 0;
}

static void put_epoch(struct hpw_raw *raw, struct slice bytes)
{
	char *const p = copy(raw, bytes);

	if (p != NULL)
		hpw_store(p + bytes.n - HEPH_EPOCH_SIZE, raw->epoch + raw->by, 8);
}

static const char epoch_packet[] = "\x75\xD1\x1D\x4D\0\0\0\x17\0\5epoch\0\0\0\0\0\0\0";

static void put_held_epoch(struct hpw_raw *raw)
{
	if (raw->epoch_held)
		put_epoch(raw, slice_of(epoch_packet, sizeof epoch_packet));
	raw->epoch_held = false;
}

/* Another epoch than the first of its input is a fault of that, which stays. */
static void option_epoch(struct hpw_state *st, const struct event *e, struct slice bytes)
{
	struct hpw_raw *const raw = &st->raw;
	const uint64_t value = load_u64(bytes.p + bytes.n - HEPH_EPOCH_SIZE, true);

	if (!raw->epoch_known && (raw->input == 0 || !raw->any_event)) {
		raw->epoch_known = true;
		raw->epoch = value;
		raw->epoch_of = raw->input;
		raw->epoch_held = st->rebased && !raw->any_event;
		if (st->rebased && raw->any_event)
			put_epoch(raw, bytes);
		else if (!st->rebased)
			add(raw, bytes);
	} else if (raw->input != raw->epoch_of && (!raw->epoch_known || value != raw->epoch)) {
		lose(raw, HPW_OTHER_EPOCH, e);
	} else if (st->rebased && value == raw->epoch) {
		put_held_epoch(raw);
		put_epoch(raw, bytes);
	} else {
		add(raw, bytes);
	}
}

/* ---- times ---- */

struct times {
	uint64_t start, end;
};

static struct times rebased(struct hpw_state *st, const struct event *e, struct times was)
{
	struct hpw_raw *const raw = &st->raw;

	raw->by = was.start - e->ts;
	if (was.start < raw->by) {
		lose(raw, HPW_NEGATIVE_TIME, e);
		return (struct times){ 0, was.end < was.start ? 0 : was.end - was.start };
	}
	return (struct times){ was.start - raw->by, was.end < raw->by ? 0 : was.end - raw->by };
}

/* Times of another input, with the epoch of the first one. */
static struct times bounded(struct hpw_raw *raw, const struct event *e, struct times t)
{
	const uint64_t most = UINT64_MAX - (raw->epoch + raw->by);

	if (!raw->epoch_known || raw->input == raw->epoch_of || (t.start <= most && t.end <= most))
		return t;
	lose(raw, HPW_LATE_TIME, e);
	return (struct times){ t.start < most ? t.start : most, t.end < most ? t.end : most };
}

/* ---- tracks ---- */

/* Options of tracks are where they were as long as nothing is left out or renumbered. */
static bool is_in_place(const struct hpw_raw *raw)
{
	return raw->held.bytes > HPW_MOST_HELD || (raw->input == 0 && !raw->streams.selected);
}

/* Those that stand before an event of this stream, or (NULL) before another option. */
static void put_held(struct hpw_raw *raw, const struct hpw_stream *s)
{
	if (raw->held.next.n == 0 && raw->held.used == 0)
		return;
	flush(raw);
	if (is_in_place(raw))
		hpw_release_in_place(&raw->held, &raw->chunk->text);
	if (s != NULL)
		hpw_release(&raw->held, &raw->chunk->text, s);
}

static void option(struct hpw_raw *raw, const struct event *e, struct slice bytes)
{
	if (load_u32(bytes.p + HPW_AT_SIZE, true) != bytes.n) {
		lose(raw, HPW_DAMAGED_PACKET, e);
		copy(raw, bytes);
	} else if (hpw_is_track(bytes)) {
		flush(raw);
		hpw_hold(&raw->held, &raw->chunk->text, bytes);
	} else {
		put_held(raw, NULL);
		add(raw, bytes);
	}
}

/* ---- events ---- */

static struct hpw_stream *stream_of(struct hpw_raw *raw, const struct event *e, struct slice bytes)
{
	const uint32_t id = load_u32(bytes.p + HPW_AT_STREAM, true),
	               counter = load_u32(bytes.p + HPW_AT_COUNTER, true);
	bool renumbered;
	struct hpw_stream *const s = hpw_stream_of(&raw->streams, id, counter, raw->input, &renumbered);

	raw->chunk->text.failed |= s == NULL;
	if (s != NULL && renumbered)
		lose(raw, HPW_STREAM_NUMBER, e);
	return s;
}

static void event(struct hpw_state *st, const struct event *e, struct slice bytes)
{
	struct hpw_raw *const raw = &st->raw;
	struct hpw_stream *const s = stream_of(raw, e, bytes);

	if (s == NULL)
		return;
	const uint32_t was = load_u32(bytes.p + HPW_AT_COUNTER, true);
	if ((e->flags & EVENT_LEFT_OUT) != 0) {
		s->less++;
		hpw_withhold(&raw->held, &raw->chunk->text);
		return;
	}
	put_held(raw, s);
	const uint32_t counter = hpw_stream_counter(s, was);
	const struct times read = { load_u64(bytes.p + HPW_AT_START, true),
		                    load_u64(bytes.p + HPW_AT_END, true) };
	const struct times t = bounded(raw, e, st->rebased ? rebased(st, e, read) : read);

	put_held_epoch(raw);
	raw->any_event = true;
	const bool damaged = load_u32(bytes.p + HPW_AT_SIZE, true) != bytes.n;
	if (damaged)
		lose(raw, HPW_DAMAGED_PACKET, e);
	if (!damaged && s->out == s->id && counter == was && t.start == read.start && t.end == read.end) {
		add(raw, bytes);
		return;
	}
	char *const p = copy(raw, bytes);
	if (p == NULL)
		return;
	hpw_store(p + HPW_AT_STREAM, s->out, 4);
	hpw_store(p + HPW_AT_COUNTER, counter, 4);
	hpw_store(p + HPW_AT_START, t.start, 8);
	hpw_store(p + HPW_AT_END, t.end, 8);
}

/* Fast path for most packets of most traces: nothing of them is changed, nothing waits.  How many of the
 * bytes are such packets. */
static uint32_t add_plain(struct hpw_state *st, struct slice bytes)
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
		add(raw, slice_of(bytes.p, n));
	}
	return n;
}

/* A run of packets, or one that may be damaged: then its size is larger than what there is of it. */
static void events(struct hpw_state *st, const struct event *e, struct slice bytes)
{
	struct event one = *e;

	while (bytes.n > 0 && !st->raw.chunk->text.failed) {
		uint32_t n = add_plain(st, bytes);
		if (n == 0) {
			const uint32_t size = load_u32(bytes.p + HPW_AT_SIZE, true);
			n = size < bytes.n ? size : bytes.n;
			event(st, &one, slice_of(bytes.p, n));
		}
		bytes = slice_of(bytes.p + n, bytes.n - n);
		one.offset += n;
	}
}

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
			events(st, e, b->bytes[i]);
		else if (is_epoch(b->bytes[i]))
			option_epoch(st, e, b->bytes[i]);
		else
			option(raw, e, b->bytes[i]);
	}
	flush(raw);
}

/* What no event follows. */
void hpw_raw_end(struct hpw_state *st, struct chunk *chunk)
{
	st->raw.chunk = chunk;
	put_held(&st->raw, NULL);
	if (!st->raw.streams.selected && hpw_waiting(&st->raw.held) > 0)
		ledger_add(&chunk->ledger, &hpw_losses[HPW_TRACK_UNUSED], 0, hpw_waiting(&st->raw.held));
	put_held_epoch(&st->raw);
}

void hpw_raw_free(struct hpw_raw *raw)
{
	hpw_streams_free(&raw->streams);
	hpw_held_free(&raw->held);
}

/*
 * Raw packets: their fields for --raw, and the copier.
 *
 * The fields of a raw packet are all its bytes, in the order and the widths of the file.  Names of attributes
 * may be repeated.
 *
 * A copy changes times and the epoch (--rebase), counters of streams with packets left out, the number of a
 * stream of a later input if it is in use already, and the size of a damaged packet.
 */
#include <stdlib.h>

#include "heph/heph.h"

/* ---- reader: fields ---- */

#define EVENT_FIELDS 8
#define OPTION_FIELDS 4

static const struct class_field event_fields[EVENT_FIELDS] = {
	{ SLICE_LIT("magic"), SLICE_LIT("u32"), VALUE_U32, 4, NULL },
	{ SLICE_LIT("size"), SLICE_LIT("u32"), VALUE_U32, 4, "byte" },
	{ SLICE_LIT("stream"), SLICE_LIT("u32"), VALUE_U32, 4, NULL },
	{ SLICE_LIT(HEPH_COUNTER_FIELD), SLICE_LIT("u32"), VALUE_U32, 4, NULL },
	{ SLICE_LIT("substream"), SLICE_LIT("u64"), VALUE_U64, 8, NULL },
	{ SLICE_LIT("start"), SLICE_LIT("u64"), VALUE_U64, 8, "ns" },
	{ SLICE_LIT(HEPH_END_FIELD), SLICE_LIT("u64"), VALUE_U64, 8, "ns" },
	{ SLICE_LIT("description"), SLICE_LIT("string"), VALUE_STRING, 0, NULL },
};

/* The value of the epoch is a 64-bit integer, the value of other options bytes. */
static const struct class_field option_fields[OPTION_FIELDS] = {
	{ SLICE_LIT("magic"), SLICE_LIT("u32"), VALUE_U32, 4, NULL },
	{ SLICE_LIT("size"), SLICE_LIT("u32"), VALUE_U32, 4, "byte" },
	{ SLICE_LIT("option"), SLICE_LIT("string"), VALUE_STRING, 0, NULL },
	{ SLICE_LIT("value"), SLICE_LIT("bytes"), VALUE_NONE, 0, NULL },
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

void heph_raw_fields(struct heph_state *st, const struct heph_packet *k, const struct record *rec,
                     struct batch *b, struct event *e)
{
	const bool option = rec->role == RECORD_IS_STRUCTURE;
	struct field *const f =
	    option ? batch_event_fields(b, e, OPTION_FIELDS) : heph_add_attributes(st, k, EVENT_FIELDS, b, e);

	if (f == NULL)
		return;
	if (option) {
		set_numbers(k, option_fields, 2, f);
		f[2] = (struct field){ option_fields[2].name, value_string(k->text) };
		f[3] = (struct field){ option_fields[3].name, k->option };
	} else {
		set_numbers(k, event_fields, EVENT_FIELDS - 1, f);
		f[EVENT_FIELDS - 1] =
		    (struct field){ event_fields[EVENT_FIELDS - 1].name, value_string(k->text) };
	}
}

/* ---- streams of copies: numbers and counters ---- */

/*
 * If packets are left out, or inputs are joined, counters are adjusted so that readers report no new gaps.  A
 * stream of a later input continues the stream with the same number only if its counter does; otherwise it is
 * renumbered.
 */

#define OF_INPUT ((uint64_t)1 << 32)

struct stream {
	uint32_t id;       /* in the input */
	uint32_t out;      /* in the output */
	uint32_t input;    /* number of the input with its last packet */
	uint32_t last;     /* counter of its last packet in the input; of stream 0: the highest */
	uint32_t left_out; /* number of packets left out, subtracted from counters */
	uint32_t next;     /* in_turn: the next counter in the output */
	bool in_turn;      /* its counters are assigned in the order of the file */
};

struct streams {
	struct stream *list;
	uint32_t n, cap;
	struct table64 index;         /* id -> list[] */
	uint32_t direct[HEPH_DIRECT]; /* of small ids: index + 1; 0: none */
	struct table64 in_use;        /* ids of the output, and OF_INPUT | ids of inputs */
	bool selected;                /* packets may be left out */
	uint32_t free;                /* the last new number given to a renumbered stream */
};

static struct stream *add_stream(struct streams *all, uint32_t id)
{
	if (!array_reserve(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    !table64_put(&all->index, id, all->n) || !table64_put(&all->in_use, OF_INPUT | id, 1))
		return NULL;
	if (id < HEPH_DIRECT)
		all->direct[id] = all->n + 1;
	all->list[all->n] = (struct stream){ .id = id };
	return &all->list[all->n++];
}

/* Starts the stream of an input, with another number if its own is in use. */
static bool start_stream(struct streams *all, struct stream *s, bool *renumbered)
{
	s->out = s->id;
	s->left_out = s->next = 0;
	*renumbered = table64_get(&all->in_use, s->id) != TABLE_NONE;
	/* Threads share stream 0, so readers accept its packets out of order.  With another number, or with
	 * packets left out, that looks like missing packets. */
	s->in_turn = s->id == 0 && (*renumbered || all->selected);
	while (*renumbered && (table64_get(&all->in_use, s->out) != TABLE_NONE ||
	                       table64_get(&all->in_use, OF_INPUT | s->out) != TABLE_NONE))
		s->out = ++all->free;
	return table64_put(&all->in_use, s->out, 1);
}

/* Returns the stream of a packet of the `input`-th input, from 0.  Sets *renumbered if the stream is new and
 * its number is in use. */
static struct stream *stream_of(struct streams *all, uint32_t id, uint32_t counter, uint32_t input,
                                bool *renumbered)
{
	const uint32_t known = id < HEPH_DIRECT ? all->direct[id] - 1 : table64_get(&all->index, id);
	struct stream *s = known != TABLE_NONE ? &all->list[known] : NULL;
	const bool is_new = s == NULL;

	*renumbered = false;
	if (is_new && (s = add_stream(all, id)) == NULL)
		return NULL;
	if ((is_new || (s->input != input && counter != s->last + 1)) && !start_stream(all, s, renumbered))
		return NULL;
	if (is_new || s->input != input || id != 0 || counter - s->last <= INT32_MAX)
		s->last = counter;
	s->input = input;
	return s;
}

/* ---- options that describe a track ---- */

/*
 * Options precede the first event of their track.  If events are left out, the options are deferred until the
 * first selected event of their stream.  Options of a renumbered stream get its new number.
 */

struct pending {
	struct text next;     /* options since the last event */
	struct text *streams; /* deferred until an event of their stream */
	uint32_t n, cap;
	struct table64 index; /* stream -> streams[] */
	uint64_t bytes;       /* total bytes of deferred options */
};

#define NAME_AT HEPH_METADATA_MIN
#define STREAM_AT (NAME_AT + sizeof HEPH_OWN_TRACK - 1)

static bool is_track_option(struct slice bytes)
{
	return bytes.n >= STREAM_AT + HEPH_OWN_TRACK_IDS &&
	       load_u16(bytes.p + HEPH_AT_NAME, true) == STREAM_AT - NAME_AT &&
	       memcmp(bytes.p + NAME_AT, HEPH_OWN_TRACK, STREAM_AT - NAME_AT) == 0;
}

/* Removes the first packet of a text and returns it. */
static struct slice next_packet(struct slice *rest)
{
	const struct slice k = slice_of(rest->p, load_u32(rest->p + HEPH_AT_SIZE, true));

	rest->p += k.n;
	rest->n -= k.n;
	return k;
}

/* Retains a packet until an event of its stream arrives. */
static bool defer_packet(struct pending *h, struct slice packet)
{
	const uint32_t i = table64_element(&h->index, load_u32(packet.p + STREAM_AT, true), &h->streams,
	                                   &h->n, &h->cap, sizeof *h->streams, TABLE_NONE);

	if (i == TABLE_FAILED)
		return false;
	text_slice(&h->streams[i], packet);
	h->bytes += packet.n;
	return !h->streams[i].failed;
}

/* Moves options from a text to the output, with the new number of their stream. */
static void write_options(struct text *to, struct text *from, uint32_t stream)
{
	struct slice rest = slice_of(from->p, from->n);

	while (rest.n > 0) {
		const struct slice packet = next_packet(&rest);
		text_slice(to, packet);
		if (!to->failed)
			store_uint(to->p + to->n - packet.n + STREAM_AT, stream, 4, true);
	}
	text_clear(from);
}

/* Defers the options since the last event until an event of their stream. */
static void defer_pending(struct pending *h, struct text *out)
{
	struct slice rest = slice_of(h->next.p, h->next.n);

	while (rest.n > 0 && !out->failed)
		out->failed |= !defer_packet(h, next_packet(&rest));
	text_clear(&h->next);
}

static uint32_t count_packets(const struct text *t)
{
	struct slice rest = slice_of(t->p, t->n);
	uint32_t n = 0;

	for (; rest.n > 0; n++)
		next_packet(&rest);
	return n;
}

/* Returns the number of options that were not written. */
static uint32_t count_pending(const struct pending *h)
{
	uint32_t n = count_packets(&h->next);

	for (uint32_t i = 0; i < h->n; i++)
		n += count_packets(&h->streams[i]);
	return n;
}

/* ---- copies ---- */

#define MAX_PENDING HEPH_OWN_MAX_TEXT /* bytes of deferred options; later ones are written in place */

/* The state of a copy. */
struct hpw_copy {
	bool rebased;
	struct streams streams;
	struct pending pending;
	struct copier *to;
	bool any, any_event; /* a packet, or an event, was read */
	uint32_t input;      /* number of the current input, from 0 */
	bool epoch_known;    /* the epoch was read ... */
	bool epoch_pending;  /* ... and is written before the next event */
	uint32_t epoch_of;   /* number of the input that has the epoch */
	uint64_t epoch;      /* ns, of the input */
	uint64_t rebased_by; /* ns subtracted from times */
};

static void add_loss(struct hpw_copy *copy, enum hpw_loss loss, const struct event *e)
{
	ledger_add(&copy->to->chunk->ledger, &hpw_losses[loss], e->offset, 1);
}

/* Writes a copy of a packet, to be changed.  Its size becomes that of `bytes`. */
static char *write_copy(struct hpw_copy *copy, struct slice bytes)
{
	struct text *const t = copier_text(copy->to);
	char *const p = text_reserve(t, bytes.n);

	if (p == NULL)
		return NULL;
	memcpy(p, bytes.p, bytes.n);
	store_uint(p + HEPH_AT_SIZE, bytes.n, 4, true);
	t->n += bytes.n;
	return p;
}

/* ---- copies: options ---- */

static const char epoch_packet[] = "\x75\xD1\x1D\x4D\0\0\0\x17\0\5epoch\0\0\0\0\0\0\0";

static bool is_epoch(struct slice bytes)
{
	static const char name[] = "\0\5epoch";

	return bytes.n == HEPH_METADATA_MIN + 5 + HEPH_EPOCH_SIZE &&
	       memcmp(bytes.p + HEPH_AT_NAME, name, 7) == 0;
}

/* Writes a copy of an epoch packet with copy->epoch, rebased. */
static void write_epoch(struct hpw_copy *copy, struct slice bytes)
{
	char *const p = write_copy(copy, bytes);

	if (p != NULL)
		store_uint(p + bytes.n - HEPH_EPOCH_SIZE, copy->epoch + copy->rebased_by, 8, true);
}

/* Writes an epoch that precedes the first event: the time of that event determines how it is rebased. */
static void write_pending_epoch(struct hpw_copy *copy)
{
	if (copy->epoch_pending)
		write_epoch(copy, slice_of(epoch_packet, sizeof epoch_packet));
	copy->epoch_pending = false;
}

/* Writes the options of tracks before an event of stream s, or (NULL) before another option.  They stay in
 * place unless packets are left out or this is a later input. */
static void write_pending_tracks(struct hpw_copy *copy, const struct stream *s)
{
	struct pending *const h = &copy->pending;

	if (h->next.n == 0 && h->n == 0)
		return;
	struct text *const t = copier_text(copy->to);
	if (h->bytes > MAX_PENDING || (copy->input == 0 && !copy->streams.selected)) {
		text_add(t, h->next.p, h->next.n);
		text_clear(&h->next);
	}
	if (s == NULL)
		return;
	defer_pending(h, t);
	const uint32_t deferred = table64_get(&h->index, s->id);
	if (deferred != TABLE_NONE)
		write_options(t, &h->streams[deferred], s->out);
}

/* Copies an epoch.  The first epoch of the first input with an epoch applies; a different one in the same
 * input is a fault of the input, and is copied, too. */
static void copy_epoch(struct hpw_copy *copy, const struct event *e, struct slice bytes)
{
	const uint64_t value = load_u64(bytes.p + bytes.n - HEPH_EPOCH_SIZE, true);

	write_pending_tracks(copy, NULL);
	if (!copy->epoch_known && (copy->input == 0 || !copy->any_event)) {
		copy->epoch_known = true;
		copy->epoch = value;
		copy->epoch_of = copy->input;
		copy->epoch_pending = copy->rebased && !copy->any_event;
		if (copy->rebased && copy->any_event)
			write_epoch(copy, bytes);
		else if (!copy->rebased)
			copier_keep(copy->to, bytes);
	} else if (copy->input != copy->epoch_of && (!copy->epoch_known || value != copy->epoch)) {
		add_loss(copy, HPW_OTHER_EPOCH, e);
	} else if (copy->rebased && value == copy->epoch) {
		write_pending_epoch(copy);
		write_epoch(copy, bytes);
	} else {
		copier_keep(copy->to, bytes);
	}
}

static void copy_option(struct hpw_copy *copy, const struct event *e, struct slice bytes)
{
	if (load_u32(bytes.p + HEPH_AT_SIZE, true) != bytes.n) {
		add_loss(copy, HPW_DAMAGED_PACKET, e);
		write_copy(copy, bytes);
	} else if (is_track_option(bytes)) {
		text_slice(&copy->pending.next, bytes);
		copy->to->chunk->text.failed |= copy->pending.next.failed;
	} else {
		write_pending_tracks(copy, NULL);
		copier_keep(copy->to, bytes);
	}
}

/* ---- copies: events ---- */

struct times {
	uint64_t start, end;
};

/* Returns rebased times: e->ts is the rebased start. */
static struct times rebase_times(struct hpw_copy *copy, const struct event *e, struct times was)
{
	copy->rebased_by = was.start - e->ts;
	if (was.start < copy->rebased_by) {
		add_loss(copy, HPW_NEGATIVE_TIME, e);
		return (struct times){ 0, was.end < was.start ? 0 : was.end - was.start };
	}
	return (struct times){ was.start - copy->rebased_by,
		               was.end < copy->rebased_by ? 0 : was.end - copy->rebased_by };
}

/* Limits times of another input, so that adding the epoch of the first one does not overflow. */
static struct times limit_times(struct hpw_copy *copy, const struct event *e, struct times t)
{
	const uint64_t max = UINT64_MAX - (copy->epoch + copy->rebased_by);

	if (!copy->epoch_known || copy->input == copy->epoch_of || (t.start <= max && t.end <= max))
		return t;
	add_loss(copy, HPW_LATE_TIME, e);
	return (struct times){ t.start < max ? t.start : max, t.end < max ? t.end : max };
}

static struct stream *find_stream(struct hpw_copy *copy, const struct event *e, struct slice bytes)
{
	const uint32_t id = load_u32(bytes.p + HEPH_AT_STREAM, true),
	               counter = load_u32(bytes.p + HEPH_AT_COUNTER, true);
	bool renumbered;
	struct stream *const s = stream_of(&copy->streams, id, counter, copy->input, &renumbered);

	copy->to->chunk->text.failed |= s == NULL;
	if (s != NULL && renumbered)
		add_loss(copy, HPW_STREAM_NUMBER, e);
	return s;
}

static void copy_event(struct hpw_copy *copy, const struct event *e, struct slice bytes)
{
	struct stream *const s = find_stream(copy, e, bytes);

	if (s == NULL)
		return;
	const uint32_t was = load_u32(bytes.p + HEPH_AT_COUNTER, true);
	if ((e->flags & EVENT_LEFT_OUT) != 0) {
		s->left_out++;
		defer_pending(&copy->pending, &copy->to->chunk->text);
		return;
	}
	write_pending_tracks(copy, s);
	const uint32_t counter = s->in_turn ? s->next++ : was - s->left_out;
	const struct times read = { load_u64(bytes.p + HEPH_AT_START, true),
		                    load_u64(bytes.p + HEPH_AT_END, true) };
	const struct times t = limit_times(copy, e, copy->rebased ? rebase_times(copy, e, read) : read);

	write_pending_epoch(copy);
	copy->any_event = true;
	const bool damaged = load_u32(bytes.p + HEPH_AT_SIZE, true) != bytes.n;
	if (damaged)
		add_loss(copy, HPW_DAMAGED_PACKET, e);
	if (!damaged && s->out == s->id && counter == was && t.start == read.start && t.end == read.end) {
		copier_keep(copy->to, bytes);
		return;
	}
	char *const p = write_copy(copy, bytes);
	if (p == NULL)
		return;
	store_uint(p + HEPH_AT_STREAM, s->out, 4, true);
	store_uint(p + HEPH_AT_COUNTER, counter, 4, true);
	store_uint(p + HEPH_AT_START, t.start, 8, true);
	store_uint(p + HEPH_AT_END, t.end, 8, true);
}

/* Counts a packet of a stream with a small id, in the first input with nothing left out.  Returns false
 * before the first packet of the stream. */
static inline bool continue_stream(struct streams *all, uint32_t id, uint32_t counter)
{
	if (id >= HEPH_DIRECT || all->direct[id] == 0)
		return false;
	struct stream *const s = &all->list[all->direct[id] - 1];
	if (id != 0 || counter - s->last <= INT32_MAX)
		s->last = counter;
	return true;
}

/* Fast path for unchanged packets at the start of `bytes`, while nothing is pending.  Returns their size. */
static uint32_t copy_fast(struct hpw_copy *copy, struct slice bytes)
{
	uint32_t n = 0, size;

	if (copy->rebased || copy->input > 0 || copy->streams.selected || copy->pending.next.n > 0)
		return 0;
	for (; n < bytes.n; n += size) {
		const char *const p = bytes.p + n;
		size = load_u32(p + HEPH_AT_SIZE, true);
		if (size > bytes.n - n || !continue_stream(&copy->streams, load_u32(p + HEPH_AT_STREAM, true),
		                                           load_u32(p + HEPH_AT_COUNTER, true)))
			break;
	}
	if (n > 0) {
		copy->any_event = true;
		copier_keep(copy->to, slice_of(bytes.p, n));
	}
	return n;
}

/* Copies a run of packets, or a single one that may be damaged: its size may then exceed its bytes. */
static void copy_events(struct hpw_copy *copy, const struct event *e, struct slice bytes)
{
	struct event one = *e;

	while (bytes.n > 0 && !copy->to->chunk->text.failed) {
		uint32_t n = copy_fast(copy, bytes);
		if (n == 0) {
			const uint32_t size = load_u32(bytes.p + HEPH_AT_SIZE, true);
			n = size < bytes.n ? size : bytes.n;
			copy_event(copy, &one, slice_of(bytes.p, n));
		}
		bytes = slice_of(bytes.p + n, bytes.n - n);
		one.offset += n;
	}
}

/* ---- the copier ---- */

static bool copy_open(struct copier *c)
{
	struct hpw_copy *const copy = c->state;

	copy->to = c;
	copy->streams.selected = c->selected;
	copy->rebased = c->run->rebased;
	return true;
}

static void copy_input(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct hpw_copy *const copy = c->state;

	copy->input += copy->any;
	copy->any = true;
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	if (load_u32(bytes.p, true) == HEPH_MAGIC_EVENT)
		copy_events(c->state, e, bytes);
	else if (is_epoch(bytes))
		copy_epoch(c->state, e, bytes);
	else
		copy_option(c->state, e, bytes);
}

static void copy_end(struct copier *c)
{
	struct hpw_copy *const copy = c->state;

	write_pending_tracks(copy, NULL);
	if (!copy->streams.selected && count_pending(&copy->pending) > 0)
		ledger_add(&c->chunk->ledger, &hpw_losses[HPW_TRACK_UNUSED], LOSS_NOWHERE,
		           count_pending(&copy->pending));
	write_pending_epoch(copy);
}

static void copy_free(void *state)
{
	struct hpw_copy *const copy = state;

	free(copy->streams.list);
	table64_free(&copy->streams.index);
	table64_free(&copy->streams.in_use);
	text_free(&copy->pending.next);
	for (uint32_t i = 0; i < copy->pending.n; i++)
		text_free(&copy->pending.streams[i]);
	free(copy->pending.streams);
	table64_free(&copy->pending.index);
}

/* An option of tracetool without a value, which gives no finding. */
#define EMPTY_OPTION "\x75\xD1\x1D\x4D\0\0\0\x18\0\x0E" HEPH_OWN_FACT

const struct copier_ops hpw_copier_ops = {
	.renumbered = (const char *const[]){ "stream", NULL },
	.state_size = sizeof(struct hpw_copy),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BYTES | COPIER_WHOLE,
	.open = copy_open,
	.input = copy_input,
	.record = copy_record,
	.end = copy_end,
	.empty = SLICE_LIT(EMPTY_OPTION),
	.free = copy_free,
};

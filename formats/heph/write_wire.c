#include <stdlib.h>

#include "base/scan.h"
#include "base/utf8.h"
#include "format/fields_json.h"
#include "heph/heph.h"
#include "output/text_units.h"
#include "output/text_json.h"

/* ---- write value ---- */

/*
 * Fields as attributes.  Heph has integers and floats of 64 bits, texts, and
 * arrays of these.  What a field is more than that, an attribute tells in words,
 * one for each field: "u8,,[bool]".
 */

/* The type of Heph that holds each; 0: none does. */
static const uint8_t held_as[VALUE_JSON + 1] = {
	[VALUE_BOOL] = HEPH_UNSIGNED, [VALUE_U8] = HEPH_UNSIGNED,  [VALUE_U16] = HEPH_UNSIGNED,
	[VALUE_U32] = HEPH_UNSIGNED,  [VALUE_U64] = HEPH_UNSIGNED, [VALUE_I8] = HEPH_SIGNED,
	[VALUE_I16] = HEPH_SIGNED,    [VALUE_I32] = HEPH_SIGNED,   [VALUE_I64] = HEPH_SIGNED,
	[VALUE_F32] = HEPH_FLOAT,     [VALUE_F64] = HEPH_FLOAT,    [VALUE_ADDRESS] = HEPH_UNSIGNED,
	[VALUE_STRING] = HEPH_STRING,
};

/* Whether an attribute says it all. */
static bool is_plain(uint8_t type)
{
	return type == VALUE_U64 || type == VALUE_I64 || type == VALUE_F64 || type == VALUE_STRING;
}

/* The word for the next field, unless it needs none. */
static void add_word(struct hpw_packet *k, uint8_t type, bool list)
{
	struct text *const t = &k->st->types;

	if (is_plain(type))
		return;
	for (; k->ntypes < k->nfields; k->ntypes++)
		text_char(t, ',');
	if (list)
		text_char(t, '[');
	text_slice(t, heph_own_types[type]);
	if (list)
		text_char(t, ']');
}

void hpw_types(struct hpw_packet *k)
{
	struct text *const t = &k->st->types;

	k->text->failed |= t->failed;
	if (t->n == 0 || t->failed)
		return;
	if (t->n > HPW_MOST_TEXT) { /* no part of a word */
		for (t->n = HPW_MOST_TEXT; t->p[t->n] != ','; t->n--)
			;
		hpw_lose(k, HPW_TYPES_CUT);
	}
	hpw_text_attribute(k, HEPH_OWN_TYPES, (struct slice){ t->p, (uint32_t)t->n, SLICE_UTF8 });
}

/* ---- names ---- */

static void put_name(struct hpw_packet *k, struct slice name)
{
	struct text *const t = &k->st->scratch;

	if (!heph_is_own(name)) {
		hpw_text(k, name);
		return;
	}
	text_clear(t);
	text_str(t, HEPH_OWN_ESCAPE);
	text_slice(t, name);
	k->text->failed |= t->failed;
	if (!t->failed)
		hpw_text(k, slice_of(t->p, t->n));
}

/* ---- values ---- */

/* A value that Heph has no type for, as text.  false: it was cut. */
static bool put_as_text(struct hpw_packet *k, const struct value *v)
{
	struct text *const t = &k->st->scratch;
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(t);
	if (v->type == VALUE_BYTES)
		text_hex(t, v->p, v->count);
	else if (v->type == VALUE_NONE)
		text_str(t, "null");
	else if (v->type == VALUE_JSON)
		text_add(t, v->p, v->count);
	else
		fields_json_value(t, v, &lost);
	k->text->failed |= t->failed;
	hpw_number(k, HEPH_STRING, 1);
	if (t->failed)
		return false;
	const bool whole = t->n <= HPW_MOST_TEXT;
	if (v->type == VALUE_BYTES && !whole) {
		t->n = HPW_MOST_TEXT - 1; /* whole bytes */
		hpw_lose(k, HPW_TEXT_CUT);
	}
	hpw_text(k, slice_of(t->p, t->n));
	if (v->type == VALUE_LIST || v->type == VALUE_MAP)
		hpw_lose(k, HPW_VALUE_AS_TEXT);
	return whole || v->type == VALUE_BYTES;
}

/* The type of an array that holds the list; 0: none does. */
static uint8_t array_type(const struct value *v)
{
	const uint8_t type = held_as[v->element];

	if (v->count == 0 && type == 0 && v->element == VALUE_NONE)
		return HEPH_ARRAY | HEPH_UNSIGNED;
	for (uint32_t i = 0; i < v->count; i++)
		if (v->values[i].type != v->element)
			return 0;
	return type != 0 ? HEPH_ARRAY | type : 0;
}

/* false: there is no room for so many values. */
static bool put_array(struct hpw_packet *k, const struct value *v, uint8_t type)
{
	const uint32_t n = v->count < HPW_MOST_TEXT ? v->count : HPW_MOST_TEXT;

	if (n > HEPH_MAX_ELEMENTS - k->nelements)
		return false;
	if (n < v->count)
		hpw_lose(k, HPW_TEXT_CUT);
	k->nelements += n;
	hpw_number(k, type, 1);
	hpw_number(k, n, 2);
	for (uint32_t i = 0; i < n && k->text->n - k->start <= HPW_MOST_ARGS; i++)
		if (v->element == VALUE_STRING)
			hpw_text(k, value_text(&v->values[i]));
		else
			hpw_number(k, v->values[i].u64, 8);
	return true;
}

/* false: there is no room. */
static bool put_value(struct hpw_packet *k, const struct value *v)
{
	const uint8_t type = held_as[v->type], array = v->type == VALUE_LIST ? array_type(v) : 0;

	if (type == HEPH_STRING) {
		hpw_number(k, type, 1);
		hpw_text(k, value_text(v));
	} else if (type != 0) {
		hpw_number(k, type, 1);
		hpw_number(k, v->u64, 8);
	} else if (array != 0) {
		return put_array(k, v, array);
	} else {
		const bool nested = v->type == VALUE_LIST || v->type == VALUE_MAP;
		add_word(k, put_as_text(k, v) ? (nested ? VALUE_JSON : v->type) : VALUE_STRING, false);
		return true;
	}
	return true;
}

void hpw_field(struct hpw_packet *k, struct slice name, const struct value *v)
{
	struct text *const t = k->text, *const types = &k->st->types;
	const size_t before = t->n, types_before = types->n;
	const uint32_t ntypes = k->ntypes;

	if (k->nfields < HPW_MOST_FIELDS) {
		put_name(k, name);
		const bool fits = put_value(k, v);
		if (fits && t->n - k->start <= HPW_MOST_ARGS) {
			if (held_as[v->type] != 0)
				add_word(k, v->type, false);
			else if (v->type == VALUE_LIST && array_type(v) != 0)
				add_word(k, v->element, true);
			k->nfields++;
			return;
		}
	}
	t->n = before;
	types->n = types_before;
	k->ntypes = ntypes;
	hpw_lose(k, HPW_FIELDS_LEFT_OUT);
}

/* ---- write packet ---- */

/* Packets that are made: numbers, texts, attributes. */

void hpw_lose(struct hpw_packet *k, enum hpw_loss loss)
{
	ledger_add(k->ledger, &hpw_losses[loss], k->offset, 1);
	k->lost = true;
}

void hpw_number(struct hpw_packet *k, uint64_t v, unsigned size)
{
	char *const p = text_room(k->text, size);

	if (p != NULL) {
		hpw_store(p, v, size);
		k->text->n += size;
	}
}

/* ---- texts ---- */

/* A text that is too long, or perhaps not UTF-8. */
static void text_checked(struct hpw_packet *k, struct slice s)
{
	struct text *const t = k->text;
	size_t n = utf8_cut(s.p, s.n, HPW_MOST_TEXT);
	bool cut = n < s.n;

	s.n = (uint32_t)n;
	hpw_number(k, 0, 2);
	const size_t start = t->n;
	if (text_utf8(t, s) > 0)
		hpw_lose(k, HPW_TEXT_REPLACED);
	if (t->failed)
		return;
	n = utf8_cut(t->p + start, t->n - start, HPW_MOST_TEXT);
	cut |= n < t->n - start;
	t->n = start + n;
	hpw_store(t->p + start - 2, n, 2);
	if (cut)
		hpw_lose(k, HPW_TEXT_CUT);
}

void hpw_text(struct hpw_packet *k, struct slice s)
{
	struct text *const t = k->text;

	if ((s.flags & SLICE_UTF8) == 0 || s.n > HPW_MOST_TEXT) {
		text_checked(k, s);
		return;
	}
	char *const p = text_room(t, (size_t)s.n + 2);
	if (p == NULL)
		return;
	hpw_store(p, s.n, 2);
	if (s.n > 0)
		memcpy(p + 2, s.p, s.n);
	t->n += (size_t)s.n + 2;
}

/* ---- attributes ---- */

static void begin_attribute(struct hpw_packet *k, const char *name, uint8_t type)
{
	hpw_text(k, (struct slice){ name, (uint32_t)strlen(name), SLICE_UTF8 });
	hpw_number(k, type, 1);
}

void hpw_text_attribute(struct hpw_packet *k, const char *name, struct slice s)
{
	begin_attribute(k, name, HEPH_STRING);
	hpw_text(k, s);
}

void hpw_number_attribute(struct hpw_packet *k, const char *name, uint64_t v)
{
	begin_attribute(k, name, HEPH_UNSIGNED);
	hpw_number(k, v, 8);
}

/* ---- packets ---- */

struct hpw_packet hpw_begin_option(struct hpw_state *st, struct chunk *chunk, const char *name,
                                   uint64_t offset)
{
	struct hpw_packet k = { .st = st,
		                .text = &chunk->text,
		                .ledger = &chunk->ledger,
		                .offset = offset,
		                .start = chunk->text.n };

	text_clear(&st->types);
	hpw_number(&k, HEPH_MAGIC_METADATA, 4);
	hpw_number(&k, 0, 4);
	hpw_text(&k, slice_str(name));
	return k;
}

void hpw_finish(struct hpw_packet *k)
{
	struct text *const t = k->text;

	if (!t->failed)
		hpw_store(t->p + k->start + HPW_AT_SIZE, t->n - k->start, 4);
}

/* ---- write options ---- */

/*
 * Options that describe a track, among packets that are written as they are.
 * They stand before the first event of the track.  Where events are left out
 * they come along with the first one of their stream that stays; where the
 * stream gets another number they get it too.
 */

#define NAME_AT HEPH_METADATA_MIN
#define STREAM_AT (NAME_AT + sizeof HEPH_OWN_TRACK - 1)

bool hpw_is_track(struct slice bytes)
{
	return bytes.n >= STREAM_AT + HEPH_OWN_TRACK_IDS &&
	       load_u16(bytes.p + 8, true) == STREAM_AT - NAME_AT &&
	       memcmp(bytes.p + NAME_AT, HEPH_OWN_TRACK, STREAM_AT - NAME_AT) == 0;
}

void hpw_held_free(struct hpw_held *h)
{
	text_free(&h->next);
	for (uint32_t i = 0; i < h->n; i++)
		text_free(&h->streams[i]);
	free(h->streams);
	table64_free(&h->index);
}

/* The first packet of a text, which is cut off it. */
static struct slice take_packet(struct slice *rest)
{
	const struct slice k = slice_of(rest->p, load_u32(rest->p + HPW_AT_SIZE, true));

	rest->p += k.n;
	rest->n -= k.n;
	return k;
}

static void put(struct text *t, struct slice packet, uint32_t stream)
{
	text_slice(t, packet);
	if (!t->failed)
		hpw_store(t->p + t->n - packet.n + STREAM_AT, stream, 4);
}

/* ---- of one stream ---- */

static struct text *withheld(struct hpw_held *h, uint32_t stream)
{
	const uint32_t i = table64_get(&h->index, stream);

	return i != TABLE_NONE ? &h->streams[i] : NULL;
}

/* Keeps a packet until an event of its stream comes.  false: no memory. */
static bool withhold(struct hpw_held *h, struct slice packet)
{
	const uint32_t stream = load_u32(packet.p + STREAM_AT, true);
	struct text *t = withheld(h, stream);

	if (t == NULL) {
		if (!array_reach(&h->streams, &h->n, h->used, sizeof *h->streams) ||
		    !table64_put(&h->index, stream, h->used))
			return false;
		t = &h->streams[h->used++];
	}
	text_slice(t, packet);
	h->bytes += packet.n;
	return !t->failed;
}

/* ---- all of them ---- */

static void put_all(struct text *to, struct text *from, uint32_t stream)
{
	struct slice rest = slice_of(from->p, from->n);

	while (rest.n > 0)
		put(to, take_packet(&rest), stream);
	text_clear(from);
}

void hpw_hold(struct hpw_held *h, struct text *out, struct slice bytes)
{
	text_slice(&h->next, bytes);
	out->failed |= h->next.failed;
}

void hpw_release_in_place(struct hpw_held *h, struct text *out)
{
	text_add(out, h->next.p, h->next.n);
	text_clear(&h->next);
}

void hpw_withhold(struct hpw_held *h, struct text *out)
{
	struct slice rest = slice_of(h->next.p, h->next.n);

	while (rest.n > 0 && !out->failed)
		out->failed |= !withhold(h, take_packet(&rest));
	text_clear(&h->next);
}

void hpw_release(struct hpw_held *h, struct text *out, const struct hpw_stream *s)
{
	hpw_withhold(h, out);
	struct text *const t = withheld(h, s->id);
	if (t != NULL)
		put_all(out, t, s->out);
}

static uint32_t packets(const struct text *t)
{
	struct slice rest = slice_of(t->p, t->n);
	uint32_t n = 0;

	for (; rest.n > 0; n++)
		take_packet(&rest);
	return n;
}

uint32_t hpw_waiting(const struct hpw_held *h)
{
	uint32_t n = packets(&h->next);

	for (uint32_t i = 0; i < h->used; i++)
		n += packets(&h->streams[i]);
	return n;
}

/* ---- write streams ---- */

/*
 * Streams of packets that are written as they are.  Where packets are left out,
 * or several inputs are joined, counters go on so that a reader misses no packet
 * that it did not miss before; a stream of a later input is another one unless
 * its counter goes on where the earlier one ended.
 */

#define OF_INPUT ((uint64_t)1 << 32)

void hpw_streams_free(struct hpw_streams *all)
{
	free(all->list);
	table64_free(&all->index);
	table64_free(&all->taken);
}

/* ---- which stream ---- */

static bool take(struct hpw_streams *all, uint64_t id)
{
	return table64_put(&all->taken, id, 1);
}

static bool is_taken(const struct hpw_streams *all, uint32_t id)
{
	return table64_get(&all->taken, id) != TABLE_NONE ||
	       table64_get(&all->taken, OF_INPUT | id) != TABLE_NONE;
}

static struct hpw_stream *add(struct hpw_streams *all, uint32_t id)
{
	if (!array_room(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    !table64_put(&all->index, id, all->n) || !take(all, OF_INPUT | id))
		return NULL;
	if (id < HPW_DIRECT)
		all->direct[id] = all->n + 1;
	all->list[all->n] = (struct hpw_stream){ .id = id };
	return &all->list[all->n++];
}

/* Begins the stream of an input.  false: no memory. */
static bool begin(struct hpw_streams *all, struct hpw_stream *s, bool *renumbered)
{
	s->out = s->id;
	s->less = s->next = 0;
	*renumbered = table64_get(&all->taken, s->id) != TABLE_NONE;
	/* the packets of stream 0, which threads share, may be out of order; not so under another number, and
	 * what is left out of them would look like packets that are missing */
	s->in_turn = s->id == 0 && (*renumbered || all->selected);
	while (*renumbered && is_taken(all, s->out))
		s->out = ++all->free;
	return take(all, s->out);
}

struct hpw_stream *hpw_stream_of(struct hpw_streams *all, uint32_t id, uint32_t counter, uint32_t input,
                                 bool *renumbered)
{
	const uint32_t known = id < HPW_DIRECT ? all->direct[id] - 1 : table64_get(&all->index, id);
	struct hpw_stream *s = known != TABLE_NONE ? &all->list[known] : NULL;
	const bool is_new = s == NULL;

	*renumbered = false;
	if (is_new && (s = add(all, id)) == NULL)
		return NULL;
	if ((is_new || (s->input != input && counter != s->last + 1)) && !begin(all, s, renumbered))
		return NULL;
	if (is_new || s->input != input || id != 0 || counter - s->last <= INT32_MAX)
		s->last = counter;
	s->input = input;
	return s;
}

/* ---- counters ---- */

uint32_t hpw_stream_counter(struct hpw_stream *s, uint32_t counter)
{
	return s->in_turn ? s->next++ : counter - s->less;
}

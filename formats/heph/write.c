/*
 * The writer of events of any format.  Each event is an event packet; an event that is no span has no length,
 * and an attribute states its kind.  Heph has integers and floats of 64 bits, texts, and arrays of these; an
 * attribute states the exact types of the fields, one item each: "u8,,[bool]".  Options describe tracks and
 * the trace.  Memory: about 100 bytes for each of at most MAX_TRACKS tracks; further tracks share a stream.
 */
#include <stdlib.h>

#include "format/fields_json.h"
#include "heph/heph.h"
#include "model/event_traits.h"
#include "model/value.h"
#include "out/field_names.h"
#include "out/facts.h"
#include "out/kind.h"
#include "out/tracks.h"
#include "output/text_json.h"

/* ---- limits, state ---- */

/* Limits of the writer keep its memory independent of the length of the trace, and its output within the
 * HEPH_MAX_* of readers. */
#define MAX_TEXT UINT16_MAX /* bytes of a text, or values of a list */
#define MAX_ARGS (7U << 18) /* bytes of a packet up to the last field of an event */
#define MAX_FIELDS 64000U   /* fields of one event */
#define MAX_TRACKS 98000U
#define MAX_DESCRIBED (60U << 20) /* bytes of the options that describe tracks */
#define SHARED_STREAM UINT32_MAX  /* stream of all tracks beyond the limits */

struct hpw_track {
	uint32_t stream;
	uint64_t substream;
	uint32_t process; /* index of its process's track */
	bool numbered, described;
	bool changed; /* readers show its events under another name or number */
};

struct hpw_tracks {
	struct hpw_track *list; /* by index of the trace's track */
	uint32_t n;
	uint32_t *counters; /* number of packets of a process, by index of its track */
	uint32_t ncounters;
	uint32_t shared; /* number of packets of SHARED_STREAM */
	struct track_numbers streams, substreams;
	uint32_t nstreams, count;
	uint64_t described_bytes; /* bytes of options that describe tracks */
};

struct hpw_state {
	bool signed_time;
	struct hpw_tracks tracks;
	uint64_t latest;         /* greatest time of an event */
	struct word_types types; /* of the current packet */
	struct text scratch;
	const struct track *last_track; /* of the latest event ... */
	const struct hpw_track *last;   /* ... and its stream and substream */
};

/* A packet being written.  After OOM (text.failed) nothing more is added. */
struct hpw_packet {
	struct hpw_state *st;
	struct text *text;
	struct ledger *ledger;
	uint64_t offset;    /* of its event in the input */
	size_t start;       /* in the text */
	uint32_t nfields;   /* fields of the event so far */
	uint32_t nelements; /* elements of lists */
	bool lost;          /* the event had a loss */
};

const struct loss hpw_losses[HPW_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "heph/losses.def"
#undef LOSS
};

/* ---- packets and texts ---- */

static void add_loss(struct hpw_packet *k, enum hpw_loss loss)
{
	ledger_add(k->ledger, &hpw_losses[loss], k->offset, 1);
	k->lost = true;
}

static void add_number(struct hpw_packet *k, uint64_t v, unsigned size)
{
	text_uint(k->text, v, size, true);
}

/* Adds a text that is too long, or that may not be UTF-8. */
static void add_checked_text(struct hpw_packet *k, struct slice s)
{
	struct text *const t = k->text;
	size_t n = utf8_cut(s.p, s.n, MAX_TEXT);
	bool cut = n < s.n;

	s.n = (uint32_t)n;
	add_number(k, 0, 2);
	const size_t start = t->n;
	if (text_utf8(t, s) > 0)
		add_loss(k, HPW_TEXT_REPLACED);
	if (t->failed)
		return;
	n = utf8_cut(t->p + start, t->n - start, MAX_TEXT);
	cut |= n < t->n - start;
	t->n = start + n;
	store_uint(t->p + start - 2, n, 2, true);
	if (cut)
		add_loss(k, HPW_TEXT_CUT);
}

static void add_text(struct hpw_packet *k, struct slice s)
{
	struct text *const t = k->text;

	if ((s.flags & SLICE_UTF8) == 0 || s.n > MAX_TEXT) {
		add_checked_text(k, s);
		return;
	}
	char *const p = text_reserve(t, (size_t)s.n + 2);
	if (p == NULL)
		return;
	store_uint(p, s.n, 2, true);
	if (s.n > 0)
		memcpy(p + 2, s.p, s.n);
	t->n += (size_t)s.n + 2;
}

static void put_attribute(struct hpw_packet *k, struct slice name, struct value v)
{
	const bool text = v.type == VALUE_STRING;

	add_text(k, name);
	add_number(k, text ? HEPH_STRING : HEPH_UNSIGNED, 1);
	if (text)
		add_text(k, value_text(&v));
	else
		add_number(k, v.u64, 8);
}

static struct hpw_packet begin_packet(struct hpw_state *st, struct chunk *chunk, uint64_t offset)
{
	text_clear(&st->types.text);
	st->types.n = 0;
	return (struct hpw_packet){ .st = st,
		                    .text = &chunk->text,
		                    .ledger = &chunk->ledger,
		                    .offset = offset,
		                    .start = chunk->text.n };
}

static struct hpw_packet begin_option(struct hpw_state *st, struct chunk *chunk, const char *name,
                                      uint64_t offset)
{
	struct hpw_packet k = begin_packet(st, chunk, offset);

	add_number(&k, HEPH_MAGIC_METADATA, 4);
	add_number(&k, 0, 4);
	add_text(&k, slice_str(name));
	return k;
}

static void finish_packet(struct hpw_packet *k)
{
	struct text *const t = k->text;

	if (!t->failed)
		store_uint(t->p + k->start + HEPH_AT_SIZE, t->n - k->start, 4, true);
}

/* ---- types and values ---- */

/* Type of Heph for a value, by enum value_type; 0: none. */
static const uint8_t stored_as[VALUE_JSON + 1] = {
	[VALUE_BOOL] = HEPH_UNSIGNED, [VALUE_U8] = HEPH_UNSIGNED,  [VALUE_U16] = HEPH_UNSIGNED,
	[VALUE_U32] = HEPH_UNSIGNED,  [VALUE_U64] = HEPH_UNSIGNED, [VALUE_I8] = HEPH_SIGNED,
	[VALUE_I16] = HEPH_SIGNED,    [VALUE_I32] = HEPH_SIGNED,   [VALUE_I64] = HEPH_SIGNED,
	[VALUE_F32] = HEPH_FLOAT,     [VALUE_F64] = HEPH_FLOAT,    [VALUE_ADDRESS] = HEPH_UNSIGNED,
	[VALUE_STRING] = HEPH_STRING,
};

/* Adds the exact type of the next field, unless its type of Heph determines it. */
static void add_type(struct hpw_packet *k, uint8_t type, bool list)
{
	if (type != VALUE_U64 && type != VALUE_I64 && type != VALUE_F64 && type != VALUE_STRING)
		words_add_type(&k->st->types, k->nfields, type, list);
}

static void put_types(struct hpw_packet *k)
{
	struct text *const t = &k->st->types.text;

	k->text->failed |= t->failed;
	if (t->n == 0 || t->failed)
		return;
	if (t->n > MAX_TEXT) { /* cut between types */
		for (t->n = MAX_TEXT; t->p[t->n] != ','; t->n--)
			;
		add_loss(k, HPW_TYPES_CUT);
	}
	put_attribute(k, word_names[WORD_TYPES],
	              value_string((struct slice){ t->p, (uint32_t)t->n, SLICE_UTF8 }));
}

static void put_name(struct hpw_packet *k, struct slice name)
{
	struct text *const t = &k->st->scratch;

	if (!word_is_own(name)) {
		add_text(k, name);
		return;
	}
	text_clear(t);
	words_escape(t, name);
	k->text->failed |= t->failed;
	if (!t->failed)
		add_text(k, slice_of(t->p, t->n));
}

/* Adds a value that Heph has no type for as text.  Returns false if it was cut. */
static bool put_as_text(struct hpw_packet *k, const struct value *v)
{
	struct text *const t = &k->st->scratch;
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(t);
	if (v->type == VALUE_BYTES)
		text_hex(t, v->p, v->count);
	else if (v->type == VALUE_JSON)
		text_add(t, v->p, v->count);
	else
		fields_json_value(t, v, &lost);
	k->text->failed |= t->failed;
	add_number(k, HEPH_STRING, 1);
	if (t->failed)
		return false;
	const bool whole = t->n <= MAX_TEXT;
	if (v->type == VALUE_BYTES && !whole) {
		t->n = MAX_TEXT - 1; /* whole bytes */
		add_loss(k, HPW_TEXT_CUT);
	}
	add_text(k, slice_of(t->p, t->n));
	if (value_is_list(v))
		add_loss(k, HPW_VALUE_AS_TEXT);
	for (uint32_t i = 0; i < lost.bad_text; i++)
		add_loss(k, HPW_TEXT_REPLACED);
	return whole || v->type == VALUE_BYTES;
}

/* Returns the type of an array for the list; 0: no array can hold it. */
static uint8_t array_type(const struct value *v)
{
	const uint8_t type = stored_as[v->element];

	if (v->count == 0 && type == 0 && v->element == VALUE_NONE)
		return HEPH_ARRAY | HEPH_UNSIGNED;
	for (uint32_t i = 0; i < v->count; i++)
		if (v->values[i].type != v->element)
			return 0;
	return type != 0 ? HEPH_ARRAY | type : 0;
}

/* Returns false if there are too many values. */
static bool put_array(struct hpw_packet *k, const struct value *v, uint8_t type)
{
	const uint32_t n = v->count < MAX_TEXT ? v->count : MAX_TEXT;

	if (n > HEPH_MAX_ELEMENTS - k->nelements)
		return false;
	if (n < v->count)
		add_loss(k, HPW_TEXT_CUT);
	k->nelements += n;
	add_number(k, type, 1);
	add_number(k, n, 2);
	for (uint32_t i = 0; i < n && k->text->n - k->start <= MAX_ARGS; i++)
		if (v->element == VALUE_STRING)
			add_text(k, value_text(&v->values[i]));
		else
			add_number(k, v->values[i].u64, 8);
	return true;
}

/* Returns false if there is no space. */
static bool put_value(struct hpw_packet *k, const struct value *v)
{
	const uint8_t type = stored_as[v->type], array = v->type == VALUE_LIST ? array_type(v) : 0;

	if (type == HEPH_STRING) {
		add_number(k, type, 1);
		add_text(k, value_text(v));
	} else if (type != 0) {
		add_number(k, type, 1);
		add_number(k, v->u64, 8);
	} else if (array != 0) {
		return put_array(k, v, array);
	} else {
		add_type(k, put_as_text(k, v) ? (value_is_list(v) ? VALUE_JSON : v->type) : VALUE_STRING,
		         false);
		return true;
	}
	return true;
}

static void put_field(struct hpw_packet *k, struct slice name, const struct value *v)
{
	struct text *const t = k->text;
	struct word_types *const types = &k->st->types;
	const size_t before = t->n, types_before = types->text.n;
	const uint32_t ntypes = types->n;

	if (k->nfields < MAX_FIELDS) {
		put_name(k, name);
		const bool fits = put_value(k, v);
		if (fits && t->n - k->start <= MAX_ARGS) {
			if (stored_as[v->type] != 0)
				add_type(k, v->type, false);
			else if (v->type == VALUE_LIST && array_type(v) != 0)
				add_type(k, v->element, true);
			k->nfields++;
			return;
		}
	}
	t->n = before;
	types->text.n = types_before;
	types->n = ntypes;
	add_loss(k, HPW_FIELDS_LEFT_OUT);
}

/* ---- facts of the trace ---- */

/* Writes the facts known at the beginning, in one option. */
static void put_first_facts(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	struct hpw_packet k = begin_option(st, chunk, HEPH_OWN_TRACE, 0);
	struct facts facts = facts_of(w->run, FACTS_TEXTS);
	struct fact f;

	put_attribute(&k, SLICE_LIT("version"), value_u64(HEPH_OWN_VERSION));
	while (facts_next(&facts, &f))
		put_attribute(&k, f.name, f.value);
	finish_packet(&k);
}

static void put_fact(struct hpw_state *st, struct chunk *chunk, const struct fact *f)
{
	struct hpw_packet k = begin_option(st, chunk, HEPH_OWN_FACT, 0);
	struct text *const name = &st->scratch;

	text_clear(name);
	fact_put_name(name, f);
	chunk->text.failed |= name->failed;
	if (!name->failed)
		put_field(&k, slice_of(name->p, name->n), &f->value);
	put_types(&k);
	finish_packet(&k);
}

/* Writes the epoch at the end, when it is certain; it applies to the whole trace in any position. */
static void put_epoch(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	const int128 epoch = w->run->trace->epoch_ns + w->run->rebased_by;

	if (!w->run->trace->epoch_known)
		return;
	if (epoch < 0 || epoch + st->latest > UINT64_MAX) {
		ledger_add(&chunk->ledger, &hpw_losses[HPW_EPOCH], LOSS_NOWHERE, 1);
		return;
	}
	struct hpw_packet k = begin_option(st, chunk, "epoch", 0);
	add_number(&k, (uint64_t)epoch, 8);
	finish_packet(&k);
}

static void put_last_facts(struct hpw_state *st, const struct writer *w, struct chunk *chunk)
{
	struct facts facts =
	    facts_of(w->run, FACTS_OF(FACT_REBASED_BY) | FACTS_OF(FACT_TRACE) | FACTS_OF(FACT_LOSS));
	struct fact f;

	facts_lose(w, (struct facts_losses){ .hosts = &hpw_losses[HPW_HOSTS] }, chunk);
	put_epoch(st, w, chunk);
	while (facts_next(&facts, &f))
		put_fact(st, chunk, &f);
}

/* ---- tracks ---- */

/* A process is a stream, its threads are the substreams.  Both keep their ids if these fit and are free (see
 * out/tracks.h); an option states the track of each number. */

static bool number_substream(struct hpw_tracks *all, const struct track *t, struct hpw_track *to)
{
	static const uint64_t of_process = 0;
	const uint64_t *const own = track_has_own_tid(t)       ? &t->id
	                            : t->kind == TRACK_PROCESS ? &of_process
	                                                       : NULL;

	return track_numbers_assign(&all->substreams, to->stream, own, &to->substream);
}

/* Tracks beyond the limits. */
static const struct hpw_track shared = {
	.stream = SHARED_STREAM, .numbered = true, .described = true, .changed = true
};

/* Numbers a process, or a track whose process is numbered. */
static bool number_track(struct hpw_packet *k, const struct track *t)
{
	struct hpw_tracks *const all = &k->st->tracks;
	const struct track *const process = track_process(t);
	struct hpw_track *const to = &all->list[t->index];
	uint64_t stream = all->list[process->index].stream;
	bool ok = true;

	if (all->count >= MAX_TRACKS || (t == process && all->nstreams >= HEPH_MAX_STREAMS - 1) ||
	    stream == shared.stream) {
		*to = shared;
		add_loss(k, HPW_TRACK_SHARED);
	} else {
		if (t == process) {
			ok = track_numbers_assign(&all->streams, 0,
			                          t->has_id && t->id < UINT32_MAX ? &t->id : NULL, &stream);
			all->nstreams++;
			all->count++;
		}
		to->stream = (uint32_t)stream;
	}
	to->process = process->index;
	if (ok && to->stream != shared.stream)
		ok = number_substream(all, t, to);
	all->count++;
	to->numbered = true;
	return ok;
}

static void describe_track(struct hpw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct hpw_tracks *const all = &st->tracks;
	struct hpw_track *const to = &all->list[t->index];
	struct hpw_packet k = begin_option(st, chunk, HEPH_OWN_TRACK, offset);

	add_number(&k, to->stream, 4);
	add_number(&k, to->substream, 8);
	put_attribute(&k, SLICE_LIT("kind"), value_string(track_kind_name(t)));
	put_attribute(&k, SLICE_LIT("name"), value_string(t->name));
	if (t->has_id)
		put_attribute(&k, SLICE_LIT("id"), value_u64(t->id));
	if (t->lane > 0)
		put_attribute(&k, SLICE_LIT("lane"), value_u64(t->lane));
	if (t->parent != NULL && t->parent->parent != NULL)
		put_attribute(&k, SLICE_LIT("parent"), value_u64(all->list[t->parent->index].substream));
	finish_packet(&k);
	to->described = true;
	if (chunk->text.failed)
		return;
	all->described_bytes += chunk->text.n - k.start;
	if (all->described_bytes > MAX_DESCRIBED) {
		chunk->text.n = k.start;
		add_loss(&k, HPW_TRACK_NAMES);
	}
	to->changed = k.lost || all->list[to->process].changed;
}

/* Numbers and describes a track, after its parents, which are at most TRACE_MAX_DEPTH. */
static bool add_track(struct hpw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset)
{
	struct hpw_packet k = { .st = st, .text = &chunk->text, .ledger = &chunk->ledger, .offset = offset };
	struct hpw_tracks *const all = &st->tracks;

	if (!array_reach(&all->list, &all->n, t->index, sizeof *all->list))
		return false;
	if (all->list[t->index].numbered)
		return true;
	if ((t->parent != NULL && !add_track(st, t->parent, chunk, offset)) || !number_track(&k, t))
		return false;
	if (!all->list[t->index].described)
		describe_track(st, t, chunk, offset);
	return true;
}

static const struct hpw_track *find_track(struct hpw_state *st, const struct track *t, struct chunk *chunk,
                                          uint64_t offset)
{
	if (t == NULL)
		return &shared;
	if (!add_track(st, t, chunk, offset)) {
		chunk->text.failed = true;
		return &shared;
	}
	return &st->tracks.list[t->index];
}

/* ---- events ---- */

/* Adds the words of an event: properties that Heph cannot store. */
static void put_words(struct hpw_packet *k, const struct event *e)
{
	struct words w;

	words_of_event(&w, e);
	for (unsigned i = 0; i < WORDS_OF_EVENT; i++)
		if (w.of[i].type != VALUE_NONE)
			put_attribute(k, word_names[i], w.of[i]);
	put_types(k);
}

static const struct hpw_track *track_of(struct hpw_state *st, const struct event *e, struct chunk *chunk)
{
	if (st->last == NULL || st->last_track != e->track) {
		st->last = find_track(st, e->track, chunk, e->offset);
		st->last_track = e->track;
	}
	return st->last;
}

/* Returns the counter of a stream. */
static uint32_t *counter_of(struct hpw_tracks *all, const struct hpw_track *to)
{
	if (to->stream == SHARED_STREAM)
		return &all->shared;
	return array_reach(&all->counters, &all->ncounters, to->process, sizeof *all->counters)
	           ? &all->counters[to->process]
	           : NULL;
}

static void put_event(struct hpw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct hpw_track *const to = track_of(st, e, chunk);
	struct hpw_packet k = begin_packet(st, chunk, e->offset);
	const struct out_times times = out_times_of(e, st->signed_time);
	const uint64_t end = times.start + times.dur;
	char *const p = text_reserve(k.text, HEPH_AT_DESCRIPTION);
	uint32_t *const counter = counter_of(&st->tracks, to);

	if (p == NULL || counter == NULL) {
		chunk->text.failed = true;
		return;
	}
	if (times.negative)
		add_loss(&k, HPW_NEGATIVE_TIME);
	if (times.late)
		add_loss(&k, HPW_LATE_TIME);
	if (to->changed)
		add_loss(&k, HPW_TRACK_CHANGED);
	store_uint(p, HEPH_MAGIC_EVENT, 4, true);
	store_uint(p + HEPH_AT_STREAM, to->stream, 4, true);
	store_uint(p + HEPH_AT_COUNTER, (*counter)++, 4, true);
	store_uint(p + HEPH_AT_SUBSTREAM, to->substream, 8, true);
	store_uint(p + HEPH_AT_START, times.start, 8, true);
	store_uint(p + HEPH_AT_END, end, 8, true);
	k.text->n += HEPH_AT_DESCRIPTION;
	st->latest = end > st->latest ? end : st->latest;
	add_text(&k, e->name);
	const struct field *const f = field_names_unique(chunk, b->fields + e->first_field, e->nfields,
	                                                 &hpw_losses[HPW_NAME_REPEATED], e->offset);
	for (uint32_t i = 0; i < e->nfields; i++)
		put_field(&k, f[i].name, &f[i].value);
	put_words(&k, e);
	finish_packet(&k);
}

/* ---- the writer ---- */

static bool hpw_open(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	put_first_facts(st, w, chunk);
	return true;
}

static void hpw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct hpw_state *const st = state;

	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		put_event(st, b, &b->events[i], chunk);
}

static bool hpw_close(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;
	const struct trace *const trace = w->run->trace;

	/* tracks without events */
	for (uint32_t i = 0; i < trace->ntracks && !chunk->text.failed; i++)
		if (!trace->tracks[i]->hidden)
			find_track(st, trace->tracks[i], chunk, 0);
	put_last_facts(st, w, chunk);
	return true;
}

static void hpw_free(void *state)
{
	struct hpw_state *const st = state;

	free(st->tracks.list);
	free(st->tracks.counters);
	track_numbers_free(&st->tracks.streams);
	track_numbers_free(&st->tracks.substreams);
	text_free(&st->types.text);
	text_free(&st->scratch);
}

const struct writer_ops hpw_ops = {
	.state_size = sizeof(struct hpw_state),
	.want = WANT_FIELDS,
	.open = hpw_open,
	.write = hpw_write,
	.close = hpw_close,
	.free = hpw_free,
};

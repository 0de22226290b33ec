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
	struct chunk *chunk; /* the output */
	uint64_t offset;     /* of the current event in the input */
	bool signed_time;
	struct hpw_tracks tracks;
	uint64_t latest; /* greatest time of an event */
	struct text scratch;
	const struct track *last_track; /* of the latest event ... */
	const struct hpw_track *last;   /* ... and its stream and substream */
	/* The packet being written.  After OOM (text.failed) nothing more is added. */
	size_t start;       /* in the text of the chunk */
	uint32_t nfields;   /* fields of the event so far */
	uint32_t nelements; /* elements of lists */
	struct word_types types;
	bool lost; /* it had a loss */
};

const struct loss hpw_losses[HPW_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "heph/losses.def"
#undef LOSS
};

/* ---- packets and texts ---- */

static void add_loss(struct hpw_state *st, enum hpw_loss loss)
{
	ledger_add(&st->chunk->ledger, &hpw_losses[loss], st->offset, 1);
	st->lost = true;
}

static void add_number(struct hpw_state *st, uint64_t v, unsigned size)
{
	text_uint(&st->chunk->text, v, size, true);
}

/* Adds a text that is too long, or that may not be UTF-8. */
static void add_checked_text(struct hpw_state *st, struct slice s)
{
	struct text *const t = &st->chunk->text;
	size_t n = utf8_cut(s.p, s.n, MAX_TEXT);
	bool cut = n < s.n;

	s.n = (uint32_t)n;
	add_number(st, 0, 2);
	const size_t start = t->n;
	if (text_utf8(t, s) > 0)
		add_loss(st, HPW_TEXT_REPLACED);
	if (t->failed)
		return;
	n = utf8_cut(t->p + start, t->n - start, MAX_TEXT);
	cut |= n < t->n - start;
	t->n = start + n;
	store_uint(t->p + start - 2, n, 2, true);
	if (cut)
		add_loss(st, HPW_TEXT_CUT);
}

static void add_text(struct hpw_state *st, struct slice s)
{
	struct text *const t = &st->chunk->text;

	if ((s.flags & SLICE_UTF8) == 0 || s.n > MAX_TEXT) {
		add_checked_text(st, s);
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

static void put_attribute(struct hpw_state *st, struct slice name, struct value v)
{
	const bool text = v.type == VALUE_STRING;

	add_text(st, name);
	add_number(st, text ? HEPH_STRING : HEPH_UNSIGNED, 1);
	if (text)
		add_text(st, value_text(&v));
	else
		add_number(st, v.u64, 8);
}

static void begin_packet(struct hpw_state *st)
{
	text_clear(&st->types.text);
	st->types.n = 0;
	st->start = st->chunk->text.n;
	st->nfields = st->nelements = 0;
	st->lost = false;
}

static void begin_option(struct hpw_state *st, const char *name)
{
	begin_packet(st);
	add_number(st, HEPH_MAGIC_METADATA, 4);
	add_number(st, 0, 4);
	add_text(st, slice_str(name));
}

static void finish_packet(struct hpw_state *st)
{
	struct text *const t = &st->chunk->text;

	if (!t->failed)
		store_uint(t->p + st->start + HEPH_AT_SIZE, t->n - st->start, 4, true);
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
static void add_type(struct hpw_state *st, uint8_t type, bool list)
{
	if (type != VALUE_U64 && type != VALUE_I64 && type != VALUE_F64 && type != VALUE_STRING)
		words_add_type(&st->types, st->nfields, type, list);
}

static void put_types(struct hpw_state *st)
{
	struct text *const t = &st->types.text;

	st->chunk->text.failed |= t->failed;
	if (t->n == 0 || t->failed)
		return;
	if (t->n > MAX_TEXT) { /* cut between types */
		for (t->n = MAX_TEXT; t->p[t->n] != ','; t->n--)
			;
		add_loss(st, HPW_TYPES_CUT);
	}
	put_attribute(st, word_names[WORD_TYPES],
	              value_string((struct slice){ t->p, (uint32_t)t->n, SLICE_UTF8 }));
}

static void put_name(struct hpw_state *st, struct slice name)
{
	struct text *const t = &st->scratch;

	if (!word_is_own(name)) {
		add_text(st, name);
		return;
	}
	text_clear(t);
	words_escape(t, name);
	st->chunk->text.failed |= t->failed;
	if (!t->failed)
		add_text(st, slice_of(t->p, t->n));
}

/* Adds a value that Heph has no type for as text.  Returns false if it was cut. */
static bool put_as_text(struct hpw_state *st, const struct value *v)
{
	struct text *const t = &st->scratch;
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(t);
	if (v->type == VALUE_BYTES)
		text_hex(t, v->p, v->count);
	else if (v->type == VALUE_JSON)
		text_add(t, v->p, v->count);
	else
		fields_json_value(t, v, &lost);
	st->chunk->text.failed |= t->failed;
	add_number(st, HEPH_STRING, 1);
	if (t->failed)
		return false;
	const bool whole = t->n <= MAX_TEXT;
	if (v->type == VALUE_BYTES && !whole) {
		t->n = MAX_TEXT - 1; /* whole bytes */
		add_loss(st, HPW_TEXT_CUT);
	}
	add_text(st, slice_of(t->p, t->n));
	if (value_is_list(v))
		add_loss(st, HPW_VALUE_AS_TEXT);
	for (uint32_t i = 0; i < lost.bad_text; i++)
		add_loss(st, HPW_TEXT_REPLACED);
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
static bool put_array(struct hpw_state *st, const struct value *v, uint8_t type)
{
	const uint32_t n = v->count < MAX_TEXT ? v->count : MAX_TEXT;

	if (n > HEPH_MAX_ELEMENTS - st->nelements)
		return false;
	if (n < v->count)
		add_loss(st, HPW_TEXT_CUT);
	st->nelements += n;
	add_number(st, type, 1);
	add_number(st, n, 2);
	for (uint32_t i = 0; i < n && st->chunk->text.n - st->start <= MAX_ARGS; i++)
		if (v->element == VALUE_STRING)
			add_text(st, value_text(&v->values[i]));
		else
			add_number(st, v->values[i].u64, 8);
	return true;
}

/* Returns false if there is no space. */
static bool put_value(struct hpw_state *st, const struct value *v)
{
	const uint8_t type = stored_as[v->type], array = v->type == VALUE_LIST ? array_type(v) : 0;

	if (type == HEPH_STRING) {
		add_number(st, type, 1);
		add_text(st, value_text(v));
	} else if (type != 0) {
		add_number(st, type, 1);
		add_number(st, v->u64, 8);
	} else if (array != 0) {
		return put_array(st, v, array);
	} else {
		add_type(st, put_as_text(st, v) ? (value_is_list(v) ? VALUE_JSON : v->type) : VALUE_STRING,
		         false);
		return true;
	}
	return true;
}

static void put_field(struct hpw_state *st, struct slice name, const struct value *v)
{
	struct text *const t = &st->chunk->text;
	struct word_types *const types = &st->types;
	const size_t before = t->n, types_before = types->text.n;
	const uint32_t ntypes = types->n;

	if (st->nfields < MAX_FIELDS) {
		put_name(st, name);
		const bool fits = put_value(st, v);
		if (fits && t->n - st->start <= MAX_ARGS) {
			if (stored_as[v->type] != 0)
				add_type(st, v->type, false);
			else if (v->type == VALUE_LIST && array_type(v) != 0)
				add_type(st, v->element, true);
			st->nfields++;
			return;
		}
	}
	t->n = before;
	types->text.n = types_before;
	types->n = ntypes;
	add_loss(st, HPW_FIELDS_LEFT_OUT);
}

/* ---- facts of the trace ---- */

/* Writes the facts known at the beginning, in one option. */
static void put_first_facts(struct hpw_state *st, const struct writer *w)
{
	struct facts facts = facts_of(w->run, FACTS_TEXTS);
	struct fact f;

	begin_option(st, HEPH_OWN_TRACE);
	put_attribute(st, SLICE_LIT("version"), value_u64(HEPH_OWN_VERSION));
	while (facts_next(&facts, &f))
		put_attribute(st, f.name, f.value);
	finish_packet(st);
}

static void put_fact(struct hpw_state *st, const struct fact *f)
{
	struct text *const name = &st->scratch;

	begin_option(st, HEPH_OWN_FACT);
	text_clear(name);
	fact_put_name(name, f);
	st->chunk->text.failed |= name->failed;
	if (!name->failed)
		put_field(st, slice_of(name->p, name->n), &f->value);
	put_types(st);
	finish_packet(st);
}

/* Writes the epoch at the end, when it is certain; it applies to the whole trace in any position. */
static void put_epoch(struct hpw_state *st, const struct writer *w)
{
	const int128 epoch = w->run->trace->epoch_ns + w->run->rebased_by;

	if (!w->run->trace->epoch_known)
		return;
	if (epoch < 0 || epoch + st->latest > UINT64_MAX) {
		ledger_add(&st->chunk->ledger, &hpw_losses[HPW_EPOCH], LOSS_NOWHERE, 1);
		return;
	}
	begin_option(st, "epoch");
	add_number(st, (uint64_t)epoch, 8);
	finish_packet(st);
}

static void put_last_facts(struct hpw_state *st, const struct writer *w)
{
	struct facts facts =
	    facts_of(w->run, FACTS_OF(FACT_REBASED_BY) | FACTS_OF(FACT_TRACE) | FACTS_OF(FACT_LOSS));
	struct fact f;

	facts_lose(w, (struct facts_losses){ .hosts = &hpw_losses[HPW_HOSTS] }, st->chunk);
	put_epoch(st, w);
	while (facts_next(&facts, &f))
		put_fact(st, &f);
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
static bool number_track(struct hpw_state *st, const struct track *t)
{
	struct hpw_tracks *const all = &st->tracks;
	const struct track *const process = track_process(t);
	struct hpw_track *const to = &all->list[t->index];
	uint64_t stream = all->list[process->index].stream;
	bool ok = true;

	if (all->count >= MAX_TRACKS || (t == process && all->nstreams >= HEPH_MAX_STREAMS - 1) ||
	    stream == shared.stream) {
		*to = shared;
		add_loss(st, HPW_TRACK_SHARED);
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

static void describe_track(struct hpw_state *st, const struct track *t)
{
	struct hpw_tracks *const all = &st->tracks;
	struct hpw_track *const to = &all->list[t->index];

	begin_option(st, HEPH_OWN_TRACK);
	add_number(st, to->stream, 4);
	add_number(st, to->substream, 8);
	put_attribute(st, SLICE_LIT("kind"), value_string(track_kind_name(t)));
	put_attribute(st, SLICE_LIT("name"), value_string(t->name));
	if (t->has_id)
		put_attribute(st, SLICE_LIT("id"), value_u64(t->id));
	if (t->lane > 0)
		put_attribute(st, SLICE_LIT("lane"), value_u64(t->lane));
	if (t->parent != NULL && t->parent->parent != NULL)
		put_attribute(st, SLICE_LIT("parent"), value_u64(all->list[t->parent->index].substream));
	finish_packet(st);
	to->described = true;
	if (st->chunk->text.failed)
		return;
	all->described_bytes += st->chunk->text.n - st->start;
	if (all->described_bytes > MAX_DESCRIBED) {
		st->chunk->text.n = st->start;
		add_loss(st, HPW_TRACK_NAMES);
	}
	to->changed = st->lost || all->list[to->process].changed;
}

/* Numbers and describes a track, after its parents, which are at most TRACE_MAX_DEPTH. */
static bool add_track(struct hpw_state *st, const struct track *t)
{
	struct hpw_tracks *const all = &st->tracks;

	if (!array_reach(&all->list, &all->n, t->index, sizeof *all->list))
		return false;
	if (all->list[t->index].numbered)
		return true;
	if ((t->parent != NULL && !add_track(st, t->parent)) || !number_track(st, t))
		return false;
	if (!all->list[t->index].described)
		describe_track(st, t);
	return true;
}

static const struct hpw_track *find_track(struct hpw_state *st, const struct track *t)
{
	if (t == NULL)
		return &shared;
	if (note_failure(&st->chunk->text.failed, !add_track(st, t)))
		return &shared;
	return &st->tracks.list[t->index];
}

/* ---- events ---- */

/* Adds the words of an event: properties that Heph cannot store. */
static void put_words(struct hpw_state *st, const struct event *e)
{
	struct words w;

	words_of_event(&w, e);
	for (unsigned i = 0; i < WORDS_OF_EVENT; i++)
		if (w.of[i].type != VALUE_NONE)
			put_attribute(st, word_names[i], w.of[i]);
	put_types(st);
}

static const struct hpw_track *track_of(struct hpw_state *st, const struct event *e)
{
	if (st->last == NULL || st->last_track != e->track) {
		st->last = find_track(st, e->track);
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

static void put_event(struct hpw_state *st, const struct batch *b, const struct event *e)
{
	st->offset = e->offset;
	const struct hpw_track *const to = track_of(st, e);
	const struct out_times times = out_times_of(e, st->signed_time);
	const uint64_t end = times.start + times.dur;
	begin_packet(st);
	char *const p = text_reserve(&st->chunk->text, HEPH_AT_DESCRIPTION);
	uint32_t *const counter = counter_of(&st->tracks, to);

	if (note_failure(&st->chunk->text.failed, p == NULL || counter == NULL))
		return;
	if (times.negative)
		add_loss(st, HPW_NEGATIVE_TIME);
	if (times.late)
		add_loss(st, HPW_LATE_TIME);
	if (to->changed)
		add_loss(st, HPW_TRACK_CHANGED);
	store_uint(p, HEPH_MAGIC_EVENT, 4, true);
	store_uint(p + HEPH_AT_STREAM, to->stream, 4, true);
	store_uint(p + HEPH_AT_COUNTER, (*counter)++, 4, true);
	store_uint(p + HEPH_AT_SUBSTREAM, to->substream, 8, true);
	store_uint(p + HEPH_AT_START, times.start, 8, true);
	store_uint(p + HEPH_AT_END, end, 8, true);
	st->chunk->text.n += HEPH_AT_DESCRIPTION;
	st->latest = end > st->latest ? end : st->latest;
	add_text(st, e->name);
	const struct field *const f = field_names_unique(st->chunk, b->fields + e->first_field, e->nfields,
	                                                 &hpw_losses[HPW_NAME_REPEATED], e->offset);
	for (uint32_t i = 0; i < e->nfields; i++)
		put_field(st, f[i].name, &f[i].value);
	put_words(st, e);
	finish_packet(st);
}

/* ---- the writer ---- */

static bool hpw_open(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;

	st->chunk = chunk;
	st->signed_time = w->run->signed_time;
	put_first_facts(st, w);
	return true;
}

static void hpw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct hpw_state *const st = state;

	st->chunk = chunk;
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		put_event(st, b, &b->events[i]);
}

static bool hpw_close(struct writer *w, struct chunk *chunk)
{
	struct hpw_state *const st = w->state;
	const struct trace *const trace = w->run->trace;

	st->chunk = chunk;
	st->offset = 0;
	/* tracks without events */
	for (uint32_t i = 0; i < trace->ntracks && !chunk->text.failed; i++)
		if (!trace->tracks[i]->hidden)
			find_track(st, trace->tracks[i]);
	put_last_facts(st, w);
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

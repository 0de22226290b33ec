/*
 * The writer of CTF: one stream of packets (section 5), and the metadata at the end.
 *
 * An event is the id of its class, its time, the context of its track, and a payload.  A class of the output
 * has a layout: class of the trace, kind of event, and names and types of the fields.  Events beyond the
 * limits of ctf.h share one class per kind, with all fields in one text.
 */
#include "ctf/ctf.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "format/fields_json.h"
#include "json/number.h"
#include "json/token.h"
#include "model/event_traits.h"
#include "out/field_names.h"
#include "out/kind.h"
#include "output/text_json.h"

#define PACKET_MAGIC 0xc1fc1fc1U /* section 5.1 */
#define PACKET_HEAD 48U          /* bytes: magic, stream_id; two times, two sizes, a number */
#define MIN_TIME (INT64_MIN / 2) /* ns; earlier events are moved to this time, see CTF_MAX_TIME */

/* ---- numbers and texts ---- */

enum text_loss { TEXT_NUL = 1, TEXT_NOT_UTF8 = 2 };

/* Adds a text, with U+FFFD for NUL bytes and for bytes that are not UTF-8.  Returns its losses. */
static unsigned put_repaired_text(struct text *t, struct slice s)
{
	const char *p = s.p, *const end = s.p + s.n;
	unsigned found = 0;

	while (p < end) {
		const char *const nul = memchr(p, '\0', (size_t)(end - p));
		const char *const stop = nul != NULL ? nul : end;
		found |= text_utf8(t, slice_of(p, (size_t)(stop - p))) > 0 ? TEXT_NOT_UTF8 : 0;
		p = stop;
		if (nul != NULL) {
			text_str(t, TEXT_REPLACEMENT);
			p++;
			found |= TEXT_NUL;
		}
	}
	return found;
}

/* Adds a text and its NUL to a packet.  Losses are counted in the chunk, unless it is NULL. */
static void put_text(struct text *t, struct slice s, struct chunk *chunk, uint64_t offset)
{
	const bool plain = (s.flags & SLICE_JSON) != 0;

	if (plain || s.n == 0 || (memchr(s.p, '\0', s.n) == NULL && utf8_valid(s.p, s.n))) {
		char *const p = text_reserve(t, (size_t)s.n + 1);
		if (p == NULL)
			return;
		*text_put(p, s.p, s.n) = '\0';
		t->n += (size_t)s.n + 1;
		return;
	}
	const unsigned found = put_repaired_text(t, s);
	if (chunk != NULL && (found & TEXT_NUL) != 0)
		ctf_lose(chunk, CTF_TEXT_NUL, offset);
	if (chunk != NULL && (found & TEXT_NOT_UTF8) != 0)
		ctf_lose(chunk, CTF_BAD_TEXT, offset);
	text_char(t, '\0');
}

/* ---- tracks ---- */

/* Renders the context of an event into st->scratch.  e NULL: of all events of the track; counts losses. */
static struct slice make_context(struct ctf_state *st, const struct event *e, const struct track *t)
{
	const struct track *const process = track_process(t), *const thread = track_thread(t);
	const bool has_pid = process->kind == TRACK_PROCESS && process->has_id;
	const bool has_tid = thread->kind == TRACK_THREAD && thread->has_id;
	struct text *const s = &st->scratch;
	char ids[4 + 8 + 8], *p = ids;

	p = store_uint(p, t->index, 4, false);
	p = store_uint(p, has_pid ? process->id : 0, 8, false);
	(void)store_uint(p, has_tid ? thread->id : 0, 8, false);
	text_clear(s);
	text_add(s, ids, sizeof ids);
	struct chunk *const chunk = e == NULL ? &st->names : NULL;
	put_text(s, process->kind == TRACK_PROCESS ? event_track_name(e, process) : SLICE_LIT(""), chunk,
	         LOSS_NOWHERE);
	put_text(s, event_track_name(e, t), chunk, LOSS_NOWHERE);
	return slice_of(s->p, s->n);
}

static bool declare_track(struct ctf_state *st, struct track *t)
{
	const struct slice s = make_context(st, NULL, t);
	struct slice *const context = arena_alloc(&st->arena, sizeof *context);

	if (context == NULL || st->scratch.failed)
		return false;
	*context = arena_copy(&st->arena, s.n <= TRACK_TEXT_KEPT ? s : slice_of("", 0));
	t->declared = context;
	return context->p != NULL;
}

/* ---- layouts ---- */

#define MAX_EXACT 0x1p53 /* larger integers lose digits in a double */

/* Parses a value of JSON.  Returns false if it is not a number, or one that stays text, as a double is not
 * exact: an integer that it may round, more digits than it has. */
static bool parse_json_number(const struct value *v, double *number)
{
	enum json_kind kind;

	return json_is_number(value_text(v), &kind) && json_double(value_text(v), number) &&
	       fabs(*number) <= (kind == JSON_NUMBER ? DBL_MAX : MAX_EXACT) &&
	       json_double_is_exact(value_text(v), *number);
}

/* Returns the type of the elements of a list that becomes a sequence; else VALUE_NONE.  Frames of call stacks
 * are texts and addresses; they become texts. */
static inline uint8_t element_type(const struct value *v)
{
	const uint8_t e = v->type == VALUE_LIST ? v->element : (uint8_t)VALUE_NONE;

	if (v->type != VALUE_LIST || e != VALUE_NONE)
		return e <= VALUE_STRING ? e : (uint8_t)VALUE_NONE;
	for (uint32_t i = 0; i < v->count; i++)
		if (v->values[i].type != VALUE_STRING && v->values[i].type != VALUE_ADDRESS)
			return VALUE_NONE;
	return v->count > 0 ? VALUE_STRING : VALUE_NONE;
}

static uint16_t shape_type_of(const void *ctx, const struct field *f, uint32_t i)
{
	const struct value *const v = &f[i].value;
	double number;

	return (uint16_t)((v->type == VALUE_JSON && parse_json_number(v, &number) ? VALUE_F64 : v->type) |
	                  element_type(v) << 8);
}

/* Returns the layout of events of this kind that have no class of their own. */
static const struct ctf_layout *other_layout(struct ctf_state *st, enum event_kind kind, struct chunk *chunk,
                                             uint64_t offset)
{
	struct ctf_layout *const l = &st->others[kind];

	if (!l->other) {
		*l = (struct ctf_layout){ .shape.kind = (uint16_t)kind,
			                  .shape.number = CTF_MAX_CLASSES + kind,
			                  .other = true };
		chunk->text.failed |= !ctf_declare_layout(st, l, chunk, offset);
	}
	return l;
}

/* Returns an upper bound for the bytes of a declaration. */
static uint64_t declaration_cost(const struct event *e, const struct field *f)
{
	uint64_t cost = 256 + 4 * ((uint64_t)e->cls->category.n + e->cls->name.n);

	for (uint32_t i = 0; i < e->nfields; i++)
		cost +=
		    64 + 4 * (uint64_t)(f[i].name.n < CTF_MAX_IDENTIFIER ? f[i].name.n : CTF_MAX_IDENTIFIER);
	return cost;
}

/* Charges a layout against the limits.  Returns false if one is reached. */
static bool charge_layout(struct ctf_state *st, const struct event *e, const struct field *f)
{
	static const struct shapes_bounds max = { CTF_MAX_CLASSES, CTF_MAX_FIELDS, CTF_MAX_DESCRIBED };

	if (st->shapes.full || e->nfields > CTF_CLASS_FIELDS)
		return false;
	st->shapes.bytes = st->declarations.n;
	return shapes_reserve(&st->shapes, &max, e->nfields, declaration_cost(e, f));
}

/* Returns the layout of an event.  Declares it if it is new. */
static const struct ctf_layout *find_layout(struct ctf_state *st, const struct batch *b,
                                            const struct event *e, struct chunk *chunk)
{
	const struct field *const f = b->fields + e->first_field;
	const struct shape_key key = { e, f, (uint16_t)event_kind(e), shape_type_of, NULL };
	uint64_t hash;
	bool addable;
	struct shape *const known = shapes_find(&st->shapes, key, &hash, &addable);

	if (known != NULL)
		return (struct ctf_layout *)known;
	if (!addable || !charge_layout(st, e, f))
		return other_layout(st, (enum event_kind)key.kind, chunk, e->offset);
	struct ctf_layout *const l = (struct ctf_layout *)shapes_add(&st->shapes, sizeof *l, key, hash);
	if (note_failure(&chunk->text.failed, l == NULL || !ctf_declare_layout(st, l, chunk, e->offset)))
		return NULL;
	return l;
}

/* ---- payload ---- */

/* Adds a value as JSON, bytes as hexadecimal digits. */
static void put_as_text(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	struct fields_json_lost lost = { 0 };
	struct text *const s = &st->scratch;

	text_clear(s);
	if (v->type == VALUE_JSON)
		text_add(s, v->p, v->count);
	else if (v->type == VALUE_BYTES)
		text_hex(s, v->p, v->count);
	else
		fields_json_value(s, v, &lost);
	if (note_failure(&chunk->text.failed, s->failed))
		return;
	put_text(&st->packet, slice_of(s->p, s->n), chunk, offset);
	ctf_lose(chunk, CTF_VALUE_AS_TEXT, offset);
	if (lost.bad_text > 0)
		ctf_lose(chunk, CTF_BAD_TEXT, offset);
}

/* put_list() and put_value() call each other. */
static void put_value(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset);

/* Adds an address as a text, for lists that also have texts. */
static void put_address_text(struct text *t, uint64_t v)
{
	char *const p = text_reserve(t, DECIMAL_HEX_MAX + 1);

	if (p == NULL)
		return;
	char *const end = decimal_hex(p, v);
	*end = '\0';
	t->n += (size_t)(end - p) + 1;
}

static void put_list(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	const uint8_t element = element_type(v);
	bool as_text = false;

	if (element == VALUE_NONE) {
		put_as_text(st, v, chunk, offset);
		return;
	}
	text_uint(&st->packet, v->count, 4, false);
	for (uint32_t i = 0; i < v->count; i++)
		if (element == VALUE_STRING && v->values[i].type == VALUE_ADDRESS) {
			put_address_text(&st->packet, v->values[i].u64);
			as_text = true;
		} else {
			put_value(st, &v->values[i], chunk, offset); /* none is a list */
		}
	if (as_text)
		ctf_lose(chunk, CTF_VALUE_AS_TEXT, offset);
}

static void put_value(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	struct value number = { .type = VALUE_F64 };
	uint64_t bits;
	const unsigned size = value_bits(v, &bits);

	if (size > 0)
		text_uint(&st->packet, bits, size, false);
	else if (v->type == VALUE_JSON && parse_json_number(v, &number.f64))
		text_uint(&st->packet, number.u64, 8, false);
	else if (v->type == VALUE_STRING)
		put_text(&st->packet, value_text(v), chunk, offset);
	else if (v->type == VALUE_LIST)
		put_list(st, v, chunk, offset);
	else if (v->type == VALUE_NONE) /* not declared */
		ctf_lose(chunk, CTF_NO_VALUE, offset);
	else
		put_as_text(st, v, chunk, offset);
}

/* Adds the class and all fields, as one text each. */
static void put_fields_as_text(struct ctf_state *st, const struct batch *b, const struct event *e,
                               struct chunk *chunk)
{
	struct fields_json_lost lost = { 0 };
	struct text *const s = &st->scratch;
	const struct field *const f = field_names_unique(chunk, b->fields + e->first_field, e->nfields,
	                                                 &ctf_losses[CTF_NAME_REPEATED], e->offset);

	put_text(&st->packet, e->cls->name, chunk, e->offset);
	text_clear(s);
	text_char(s, '{');
	fields_json(s, f, e->nfields, &lost);
	text_char(s, '}');
	if (note_failure(&chunk->text.failed, s->failed))
		return;
	put_text(&st->packet, slice_of(s->p, s->n), chunk, e->offset);
	if (e->nfields > 0)
		ctf_lose(chunk, CTF_FIELDS_AS_TEXT, e->offset);
	if (lost.bad_text > 0)
		ctf_lose(chunk, CTF_BAD_TEXT, e->offset);
	if (event_has_category(e) && !slice_equal(e->cls->category, e->cls->name))
		ctf_lose(chunk, CTF_OTHER_CATEGORY, e->offset);
}

/* Adds the payload of an event: name, fields of its kind, and members (in the order of metadata.c). */
static void put_payload(struct ctf_state *st, const struct ctf_layout *l, const struct batch *b,
                        const struct event *e, struct chunk *chunk)
{
	put_text(&st->packet, e->name, chunk, e->offset);
	if (kind_is_span((enum event_kind)l->shape.kind) || event_is_flow(e))
		text_uint(&st->packet, e->dur, 8, false);
	if (l->shape.kind == EVENT_KIND_ASYNC)
		text_uint(&st->packet, ++st->nasync, 8, false);
	if (l->other) {
		put_fields_as_text(st, b, e, chunk);
		return;
	}
	for (uint32_t i = 0; i < e->nfields; i++)
		put_value(st, &b->fields[e->first_field + i].value, chunk, e->offset);
}

/* ---- packets ---- */

static void start_packet(struct ctf_state *st, uint64_t time)
{
	char *const p = text_reserve(&st->packet, PACKET_HEAD);

	if (p != NULL)
		st->packet.n = PACKET_HEAD;
	st->packet_begin = time;
}

static void end_packet(struct ctf_state *st, struct chunk *chunk)
{
	struct text *const t = &st->packet;

	chunk->text.failed |= t->failed;
	if (t->n == 0 || t->failed)
		return;
	const uint64_t bits = (uint64_t)t->n * 8;
	char *p = t->p;
	p = store_uint(p, PACKET_MAGIC, 4, false);
	p = store_uint(p, 0, 4, false); /* stream_id */
	p = store_uint(p, st->packet_begin, 8, false);
	p = store_uint(p, st->last, 8, false);
	p = store_uint(p, bits, 8, false); /* content_size */
	p = store_uint(p, bits, 8, false); /* packet_size */
	(void)store_uint(p, st->packets++, 8, false);
	chunk_file(chunk, "events");
	text_add(&chunk->text, t->p, t->n);
	text_clear(t);
}

/* Returns the value of the clock at an event in ns.  The clock's base is the time of the first event if that
 * is negative, else 0. */
static uint64_t clock_value(struct ctf_state *st, const struct event *e, struct chunk *chunk)
{
	const int64_t ts = (int64_t)e->ts;

	if (!st->any && st->signed_time && ts < 0)
		st->base = (uint64_t)(ts < MIN_TIME ? MIN_TIME : ts);
	const bool early = st->signed_time && ts < (int64_t)st->base;
	if (!early && e->ts - st->base <= CTF_MAX_TIME)
		return e->ts - st->base;
	ctf_lose(chunk, CTF_TIME_CUT, e->offset);
	return early ? 0 : CTF_MAX_TIME;
}

static void put_event(struct ctf_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const uint64_t time = clock_value(st, e, chunk);
	const struct ctf_layout *const l = find_layout(st, b, e, chunk);

	if (l == NULL)
		return;
	const struct slice *const kept = e->track->declared;
	const bool whole = kept->n > 0 && (e->flags & EVENT_SHORT) == 0;
	const struct slice context = whole ? *kept : make_context(st, e, e->track);
	if (st->packet.n == 0)
		start_packet(st, time);
	char *p = text_reserve(&st->packet, 4 + 8 + (size_t)context.n);
	if (p != NULL) {
		p = store_uint(p, l->shape.number, 4, false);
		p = store_uint(p, time, 8, false);
		p = text_put(p, context.p, context.n);
		st->packet.n = (size_t)(p - st->packet.p);
	}
	put_payload(st, l, b, e, chunk);
	st->last = time;
	st->any = true;
	if (st->packet.n >= CTF_PACKET_SIZE)
		end_packet(st, chunk);
}

/* ---- the writer ---- */

static bool ctf_open(struct writer *w, struct chunk *chunk)
{
	struct ctf_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	return true;
}

static bool ctf_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct ctf_state *const st = w->state;
	bool ok = shapes_declare(&st->shapes, b);

	for (uint32_t i = 0; ok && i < b->ntracks; i++)
		ok = declare_track(st, b->tracks[i]);
	return ok;
}

static void ctf_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct ctf_state *const st = state;

	for (uint32_t i = 0; i < b->n && !chunk->text.failed && !st->packet.failed; i++)
		put_event(st, b, &b->events[i], chunk);
	chunk->text.failed |= st->packet.failed;
}

static bool ctf_close(struct writer *w, struct chunk *chunk)
{
	struct ctf_state *const st = w->state;

	end_packet(st, chunk);
	ledger_merge(&chunk->ledger, &st->names.ledger);
	ctf_write_metadata(st, w, chunk);
	return true;
}

static void ctf_free(void *state)
{
	struct ctf_state *const st = state;

	arena_free(&st->arena);
	shapes_free(&st->shapes);
	text_free(&st->declarations);
	text_free(&st->packet);
	ledger_free(&st->names.ledger);
	text_free(&st->scratch);
}

static const struct writer_ops ctf_writer_ops = {
	.state_size = sizeof(struct ctf_state),
	.want = WANT_FIELDS,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.open = ctf_open,
	.declare = ctf_declare,
	.write = ctf_write,
	.close = ctf_close,
	.free = ctf_free,
};

/* ---- the format ---- */

const struct loss ctf_losses[CTF_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "ctf/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".ctf", NULL };

const struct format ctf_format = {
	.name = "ctf",
	.title = "Common Trace Format",
	.spec = "Common Trace Format 1.8",
	.suffixes = suffixes,
	.writer = &ctf_writer_ops,
	.losses = ctf_losses,
};

#include <stdlib.h>

#include "base/numbers.h"
#include "base/utf8.h"
#include "ctf/ctf.h"
#include "format/fields_json.h"
#include "model/event_traits.h"
#include "output/text_units.h"
#include "output/text_json.h"

/* ---- text ---- */

/* Texts: in events they end in NUL and are UTF-8 (sections 4.2.5 and 6.1.6); in the metadata they are
 * literals as in C. */

/* A text without what no text of CTF can have; returns whether it had NUL bytes (1), or what is not UTF-8
 * (2). */
static unsigned ctf_clean(struct text *t, struct slice s)
{
	const char *p = s.p, *const end = s.p + s.n;
	unsigned found = 0;

	while (p < end) {
		const char *const nul = memchr(p, '\0', (size_t)(end - p)), *const stop =
		                                                                nul != NULL ? nul : end;
		found |= text_utf8(t, slice_of(p, (size_t)(stop - p))) > 0 ? 2 : 0;
		p = stop;
		if (nul != NULL) {
			text_str(t, TEXT_REPLACEMENT);
			p++;
			found |= 1;
		}
	}
	return found;
}

static void count(unsigned found, struct chunk *chunk, uint64_t offset)
{
	if ((found & 1) != 0)
		ctf_lose(chunk, CTF_TEXT_NUL, offset);
	if ((found & 2) != 0)
		ctf_lose(chunk, CTF_BAD_TEXT, offset);
}

void ctf_string(struct text *t, struct slice s, struct chunk *chunk, uint64_t offset)
{
	const bool plain = (s.flags & SLICE_JSON) != 0;

	if (plain || s.n == 0 || (memchr(s.p, '\0', s.n) == NULL && utf8_valid(s.p, s.n))) {
		char *const p = text_room(t, (size_t)s.n + 1);
		if (p == NULL)
			return;
		*text_put(p, s.p, s.n) = '\0';
		t->n += (size_t)s.n + 1;
		return;
	}
	count(ctf_clean(t, s), chunk, offset);
	text_char(t, '\0');
}

void ctf_literal(struct text *t, struct slice s)
{
	struct text shown = { .p = NULL };

	text_visible_message(&shown, s);
	text_char(t, '"');
	for (size_t i = 0; i < shown.n; i++) {
		if (shown.p[i] == '"' || shown.p[i] == '\\')
			text_char(t, '\\');
		text_char(t, shown.p[i]);
	}
	text_char(t, '"');
	t->failed |= shown.failed;
	text_free(&shown);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool ctf_identifier(struct text *t, const char *prefix, struct slice name)
{
	const uint32_t n = name.n < CTF_MOST_IDENTIFIER ? name.n : CTF_MOST_IDENTIFIER;
	bool same = n == name.n && n > 0;

	text_str(t, prefix);
	if (n == 0)
		text_str(t, "unnamed");
	for (uint32_t i = 0; i < n; i++) {
		same &= is_word(name.p[i]);
		text_char(t, is_word(name.p[i]) ? name.p[i] : '_');
	}
	return same;
}

/* ---- event ---- */

/* The payload of an event: its name, what its kind has, and its fields (ctf_declare.c). */

static void put_number(struct text *t, uint64_t v, unsigned size)
{
	char *const p = text_room(t, 8);

	if (p != NULL) {
		ctf_store(p, v, 8); /* one instruction; copying `size` bytes is a loop */
		t->n += size;
	}
}

/* The bits of a double, or of the float that it was made of; no arithmetic on NaN, which would make quiet
 * ones of others. */
static uint64_t float_bits(double d, bool narrow)
{
	const float f = (float)d;
	uint64_t bits;
	uint32_t half;

	memcpy(&bits, &d, sizeof bits);
	if (!narrow)
		return bits;
	memcpy(&half, &f, sizeof half);
	if (d != d) {
		const uint32_t payload = (uint32_t)(bits >> 29 & 0x7fffff);
		half = (uint32_t)(bits >> 63 << 31) | 0x7f800000U | (payload != 0 ? payload : 0x400000U);
	}
	return half;
}

bool ctf_json_number(const struct value *v, double *number)
{
	char text[64], *end;

	if (v->count == 0 || v->count >= sizeof text || (*v->p != '-' && (*v->p < '0' || *v->p > '9')))
		return false;
	memcpy(text, v->p, v->count);
	text[v->count] = '\0';
	*number = strtod(text, &end);
	return end == text + v->count && *number - *number == 0;
}

/* Text in the notation of JSON, or digits for bytes. */
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
	chunk->text.failed |= s->failed;
	if (s->failed)
		return;
	ctf_string(&st->packet, slice_of(s->p, s->n), chunk, offset);
	ctf_lose(chunk, CTF_VALUE_AS_TEXT, offset);
	if (lost.bad_text > 0)
		ctf_lose(chunk, CTF_BAD_TEXT, offset);
}

static void put_value(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset);

/* An address among texts. */
static void put_address(struct text *t, uint64_t v)
{
	char *const p = text_room(t, DECIMAL_HEX_MAX + 1);

	if (p == NULL)
		return;
	char *const end = decimal_hex(p, v);
	*end = '\0';
	t->n += (size_t)(end - p) + 1;
}

static void put_list(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	const uint8_t element = ctf_element(v);

	if (element == VALUE_NONE) {
		put_as_text(st, v, chunk, offset);
		return;
	}
	put_number(&st->packet, v->count, 4);
	for (uint32_t i = 0; i < v->count; i++)
		if (element == VALUE_STRING && v->values[i].type == VALUE_ADDRESS)
			put_address(&st->packet, v->values[i].u64);
		else
			put_value(st, &v->values[i], chunk, offset); /* none is a list */
	if (element != v->element)
		ctf_lose(chunk, CTF_VALUE_AS_TEXT, offset);
}

static void put_value(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	static const uint8_t sizes[] = {
		[VALUE_BOOL] = 1, [VALUE_U8] = 1,  [VALUE_U16] = 2, [VALUE_U32] = 4, [VALUE_U64] = 8,
		[VALUE_I8] = 1,   [VALUE_I16] = 2, [VALUE_I32] = 4, [VALUE_I64] = 8, [VALUE_ADDRESS] = 8,
	};

	double number;

	if (v->type == VALUE_JSON && ctf_json_number(v, &number))
		put_number(&st->packet, float_bits(number, false), 8);
	else if (v->type == VALUE_STRING)
		ctf_string(&st->packet, value_text(v), chunk, offset);
	else if (v->type == VALUE_F32 || v->type == VALUE_F64)
		put_number(&st->packet, float_bits(v->f64, v->type == VALUE_F32),
		           v->type == VALUE_F32 ? 4 : 8);
	else if (v->type == VALUE_LIST)
		put_list(st, v, chunk, offset);
	else if (v->type < sizeof sizes && sizes[v->type] > 0)
		put_number(&st->packet, v->type == VALUE_BOOL ? v->u64 != 0 : v->u64, sizes[v->type]);
	else if (v->type != VALUE_NONE) /* null: the class does not have the field */
		put_as_text(st, v, chunk, offset);
}

/* The class, and all fields in one text. */
static void put_other(struct ctf_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct fields_json_lost lost = { 0 };
	struct text *const s = &st->scratch;

	ctf_string(&st->packet, e->cls->name, chunk, e->offset);
	text_clear(s);
	text_char(s, '{');
	fields_json(s, b->fields + e->first_field, e->nfields, &lost);
	text_char(s, '}');
	chunk->text.failed |= s->failed;
	if (s->failed)
		return;
	ctf_string(&st->packet, slice_of(s->p, s->n), chunk, e->offset);
	if (e->nfields > 0)
		ctf_lose(chunk, CTF_FIELDS_AS_TEXT, e->offset);
	if (lost.bad_text > 0)
		ctf_lose(chunk, CTF_BAD_TEXT, e->offset);
	if (event_has_category(e) && !slice_equal(e->cls->category, e->cls->name))
		ctf_lose(chunk, CTF_OTHER_CATEGORY, e->offset);
}

/* Adds an event to the packet, without its id, time and context. */
static void ctf_payload(struct ctf_state *st, const struct ctf_layout *l, const struct batch *b,
                        const struct event *e, struct chunk *chunk)
{
	ctf_string(&st->packet, e->name, chunk, e->offset);
	if (l->shape.kind == CTF_SPAN || l->shape.kind == CTF_ASYNC || event_is_flow(e))
		put_number(&st->packet, e->dur, 8);
	if (l->shape.kind == CTF_ASYNC)
		put_number(&st->packet, e->offset, 8);
	if (l->other) {
		put_other(st, b, e, chunk);
		return;
	}
	for (uint32_t i = 0; i < e->nfields; i++)
		put_value(st, &b->fields[e->first_field + i].value, chunk, e->offset);
}

/* ---- write ---- */

/* The writer: packets of one stream (section 5), and the metadata in the end. */

static bool ctf_open(struct writer *w, struct chunk *chunk)
{
	struct ctf_state *const st = w->state;

	(void)chunk;
	st->signed_time = w->signed_time;
	return true;
}

static bool ctf_declare(struct writer *w, const struct batch *b)
{
	struct ctf_state *const st = w->state;
	bool ok = shapes_declare(&st->shapes, b);

	for (uint32_t i = 0; ok && i < b->ntracks; i++)
		ok = ctf_declare_track(st, b->tracks[i]);
	return ok;
}

/* ---- packets ---- */

static void start_packet(struct ctf_state *st, uint64_t time)
{
	char *const p = text_room(&st->packet, CTF_PACKET_HEAD);

	if (p != NULL)
		st->packet.n = CTF_PACKET_HEAD;
	st->packet_begin = time;
}

/* Sizes are in bits. */
static void end_packet(struct ctf_state *st, struct chunk *chunk)
{
	struct text *const t = &st->packet;

	chunk->text.failed |= t->failed;
	if (t->n == 0 || t->failed)
		return;
	char *p = t->p;
	p = ctf_store(p, CTF_MAGIC, 4);
	p = ctf_store(p, 0, 4); /* stream_id */
	p = ctf_store(p, st->packet_begin, 8);
	p = ctf_store(p, st->last, 8);
	p = ctf_store(p, (uint64_t)t->n * 8, 8);
	p = ctf_store(p, (uint64_t)t->n * 8, 8);
	(void)ctf_store(p, st->packets++, 8);
	chunk_file(chunk, CTF_STREAM_FILE);
	text_add(&chunk->text, t->p, t->n);
	text_clear(t);
}

/* ---- events ---- */

/* The value of the clock at an event: from the base on, which is the first time if that is negative. */
static uint64_t clock_value(struct ctf_state *st, const struct event *e, struct chunk *chunk)
{
	const int64_t ts = (int64_t)e->ts;

	if (!st->any && st->signed_time && ts < 0)
		st->base = (uint64_t)(ts < CTF_LEAST_TIME ? CTF_LEAST_TIME : ts);
	const bool early = st->signed_time && ts < (int64_t)st->base;
	if (!early && e->ts - st->base <= CTF_MOST_TIME)
		return e->ts - st->base;
	ctf_lose(chunk, CTF_TIME_CUT, e->offset);
	return early ? 0 : CTF_MOST_TIME;
}

static void put_event(struct ctf_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const uint64_t time = clock_value(st, e, chunk);
	const struct ctf_layout *const l = ctf_layout_of(st, b, e, chunk);

	if (l == NULL)
		return;
	const struct slice *const context = e->track->declared;
	if (st->packet.n == 0)
		start_packet(st, time);
	char *p = text_room(&st->packet, 4 + 8 + (size_t)context->n);
	if (p != NULL) {
		p = ctf_store(p, l->id, 4);
		p = ctf_store(p, time, 8);
		p = text_put(p, context->p, context->n);
		st->packet.n = (size_t)(p - st->packet.p);
	}
	ctf_payload(st, l, b, e, chunk);
	st->last = time;
	st->any = true;
	if (st->packet.n >= CTF_PACKET_SIZE)
		end_packet(st, chunk);
}

static void ctf_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct ctf_state *const st = state;

	for (uint32_t i = 0; i < b->n && !chunk->text.failed && !st->packet.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			put_event(st, b, &b->events[i], chunk);
	chunk->text.failed |= st->packet.failed;
}

static bool ctf_close(struct writer *w, struct chunk *chunk)
{
	struct ctf_state *const st = w->state;

	end_packet(st, chunk);
	ledger_merge(&chunk->ledger, &st->names.ledger);
	ctf_metadata(st, w, chunk);
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

const struct writer_ops ctf_writer_ops = {
	.state_size = sizeof(struct ctf_state),
	.want = WANT_FIELDS,
	.modes = WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.open = ctf_open,
	.declare = ctf_declare,
	.write = ctf_write,
	.close = ctf_close,
	.free = ctf_free,
};

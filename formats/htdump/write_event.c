#include "base/utf8.h"
#include "model/event_traits.h"
#include "htdump/write.h"
#include "output/text_utf8.h"

/* Events as records of the class that their layout is. */

struct htw_record
htw_begin(struct htw_state *st, struct chunk *chunk, uint32_t class_id, uint64_t offset)
{
	char *const p = text_room(&chunk->text, HT_HEAD_SIZE);

	if (p != NULL) {
		htw_store_head(st, p, class_id, st->last_ts);
		chunk->text.n += HT_HEAD_SIZE;
	}
	return (struct htw_record){ chunk, offset, HTW_MOST_RECORD };
}

/* ---- text ---- */

/* With U+FFFD for each NUL. */
static void
put_without_nul(struct text *t, struct slice s)
{
	const char *p = s.p, *const end = s.p + s.n;

	for (const char *nul; (nul = memchr(p, '\0', (size_t)(end - p))) != NULL; p = nul + 1) {
		text_add(t, p, (size_t)(nul - p));
		text_str(t, TEXT_REPLACEMENT);
	}
	text_add(t, p, (size_t)(end - p));
}

void
htw_text_checked(struct htw_record *r, struct slice s)
{
	struct text *const t = &r->chunk->text;
	const size_t start = t->n, most = r->left < HTW_MOST_TEXT ? r->left : HTW_MOST_TEXT;
	const size_t n = utf8_cut(s.p, s.n, most);
	bool cut = n < s.n;

	s.n = (uint32_t)n;
	if (s.n == 0 || memchr(s.p, '\0', s.n) == NULL) {
		text_add(t, s.p, s.n);
	} else {
		put_without_nul(t, s);
		htw_lose(r, HTW_TEXT_NUL);
	}
	if (t->failed)
		return;
	if (t->n - start > most) {
		t->n = start + utf8_cut(t->p + start, t->n - start, most);
		cut = true;
	}
	r->left -= (uint32_t)(t->n - start);
	text_char(t, '\0');
	if (cut)
		htw_lose(r, HTW_TEXT_CUT);
}

/* ---- fields ---- */

static void
put_as_text(struct htw_state *st, struct htw_record *r, const struct value *v)
{
	text_clear(&st->scratch);
	htw_value_text(&st->scratch, v);
	r->chunk->text.failed |= st->scratch.failed;
	if (st->scratch.failed)
		return;
	htw_text(r, slice_of(st->scratch.p, st->scratch.n));
	htw_lose(r, HTW_VALUE_AS_TEXT);
}

static void
put_field(struct htw_state *st, struct htw_record *r, const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_BOOL:
		htw_number(r, v->u64 != 0, 1);
		break;
	case VALUE_U8:
	case VALUE_I8:
		htw_number(r, v->u64, 1);
		break;
	case VALUE_U16:
	case VALUE_I16:
		htw_number(r, v->u64, 2);
		break;
	case VALUE_U32:
	case VALUE_I32:
		htw_number(r, v->u64, 4);
		break;
	case VALUE_U64:
	case VALUE_I64:
	case VALUE_F64:
	case VALUE_ADDRESS:
		htw_number(r, v->u64, 8);
		break;
	case VALUE_F32:
		htw_number(r, htw_float_bits(v->f64), 4);
		break;
	case VALUE_STRING:
		htw_text(r, value_text(v));
		break;
	case VALUE_NONE:
	case VALUE_BYTES:
	case VALUE_LIST:
	case VALUE_MAP:
	case VALUE_JSON:
		put_as_text(st, r, v);
		break;
	}
}

/* Of an event that has no class of its own: what the class would say, and all fields in one text. */
static void
put_other(struct htw_state *st, struct htw_record *r, const struct batch *b, const struct event *e)
{
	htw_text(r, e->cls->name);
	htw_text(r, e->cls->category);
	htw_text(r, htw_kind_word(htw_kind_of(e)));
	text_clear(&st->scratch);
	htw_fields_text(&st->scratch, b->fields + e->first_field, e->nfields);
	r->chunk->text.failed |= st->scratch.failed;
	if (st->scratch.failed)
		return;
	htw_text(r, slice_of(st->scratch.p, st->scratch.n));
	htw_lose(r, HTW_FIELDS_AS_TEXT);
}

/* ---- events ---- */

static uint64_t
start_of(const struct htw_state *st, const struct event *e, const struct htw_record *r)
{
	if (!st->signed_time || e->ts <= INT64_MAX)
		return e->ts;
	htw_lose(r, HTW_NEGATIVE_TIME);
	return 0;
}

static uint64_t
duration_of(const struct event *e, uint64_t start, const struct htw_record *r)
{
	if (e->dur <= UINT64_MAX - start)
		return e->dur;
	htw_lose(r, HTW_LATE_END);
	return UINT64_MAX - start;
}

/* What is said of an event although its record does not show it. */
static void
count_losses(const struct htw_record *r, enum htw_kind kind)
{
	if (kind == HTW_COUNTER)
		htw_lose(r, HTW_COUNTERS);
	else if (kind == HTW_ASYNC)
		htw_lose(r, HTW_ASYNC_SPAN);
	else if (kind == HTW_BEGIN || kind == HTW_END)
		htw_lose(r, HTW_HALF_SPAN);
	else if (kind == HTW_ARROW_OUT || kind == HTW_ARROW_IN)
		htw_lose(r, HTW_ARROW_END);
}

/* The fields of the bases: duration of a span, thread, label, the id of an arrow. */
static void
put_bases(struct htw_state *st, struct htw_record *r, const struct event *e, uint32_t class_id,
          uint32_t thread)
{
	const enum htw_kind kind = htw_kind_of(e);
	struct text *const t = &r->chunk->text;
	char *p = text_room(t, HT_HEAD_SIZE + 8 + 4);

	if (p == NULL)
		return;
	p = htw_store_head(st, p, class_id, st->last_ts);
	if (kind == HTW_SPAN || kind == HTW_ASYNC)
		p = htw_store(p, duration_of(e, st->last_ts, r), 8);
	p = htw_store(p, thread, 4);
	t->n = (size_t)(p - t->p);
	htw_text(r, e->name);
	if (kind == HTW_ARROW_OUT || kind == HTW_ARROW_IN)
		htw_number(r, e->dur, 8);
	if (kind > HTW_SPAN)
		count_losses(r, kind);
}

void
htw_event(struct htw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct htw_record r = { chunk, e->offset, HTW_MOST_RECORD };

	st->last_ts = start_of(st, e, &r);
	const struct htw_layout *const l = htw_layout_of(st, b, e, chunk);
	const uint32_t thread = htw_thread(st, e->track, chunk, e->offset);

	if (st->tracks[e->track->index].changed)
		htw_lose(&r, HTW_TRACK_CHANGED);
	if (!slice_equal(e->cls->category, e->cls->name) || l->renamed || l->id < HTW_ID_FREE)
		htw_lose(&r, HTW_CATEGORY);
	if (event_is_step(e))
		htw_lose(&r, HTW_STEP);
	if (l->fields_renamed)
		htw_lose(&r, HTW_RENAMED);
	put_bases(st, &r, e, l->id, thread);
	if (l->id < HTW_ID_FREE) {
		put_other(st, &r, b, e);
		return;
	}
	for (uint32_t i = 0; i < e->nfields; i++)
		put_field(st, &r, &b->fields[e->first_field + i].value);
}

#include "model/event_traits.h"
#include "heph/own.h"
#include "heph/packet.h"
#include "heph/state.h"

/* Events that this program wrote: their attributes tell class, kind and types. */

/* What the attributes of this program say of an event. */
struct said {
	struct slice cls, category, kind, types;
	uint64_t arrow, duration;
};

/* One attribute; false: it is one of the event itself. */
static bool
learn(const struct field *f, struct said *s)
{
	const struct {
		const char *name;
		uint8_t type;
		struct slice *text;
		uint64_t *number;
	} rows[] = {
		{ HEPH_OWN_CLASS, VALUE_STRING, &s->cls, NULL },
		{ HEPH_OWN_CATEGORY, VALUE_STRING, &s->category, NULL },
		{ HEPH_OWN_KIND, VALUE_STRING, &s->kind, NULL },
		{ HEPH_OWN_TYPES, VALUE_STRING, &s->types, NULL },
		{ HEPH_OWN_ARROW, VALUE_U64, NULL, &s->arrow },
		{ HEPH_OWN_DURATION, VALUE_U64, NULL, &s->duration },
	};

	if (!heph_is_own(f->name))
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (f->value.type == rows[i].type && slice_is(f->name, rows[i].name)) {
			if (rows[i].text != NULL)
				*rows[i].text = value_text(&f->value);
			else
				*rows[i].number = f->value.u64;
			return true;
		}
	return false;
}

/* ---- class ---- */

static struct class *
new_class(struct heph_state *st, const struct said *s)
{
	struct trace *const t = st->r->trace;
	struct heph_own *const own = &st->own;
	struct class like = { .name = s->cls, .category = s->category };
	const uint32_t before = t->nplanned;

	if (own->nclasses == HEPH_OWN_MAX_CLASSES || own->text > HEPH_OWN_MAX_TEXT)
		return NULL;
	like.plan = trace_find_plan(t, s->cls, NULL, NULL);
	struct class *const c = trace_plan_class(t, &like);
	st->no_memory |= c == NULL;
	if (t->nplanned > before) {
		own->nclasses++;
		own->text += s->cls.n + s->category.n;
	}
	return c;
}

/* NULL: no memory, or there are too many. */
static struct class *
class_of(struct heph_state *st, const struct said *s)
{
	struct class **const recent = &st->own.recent[heph_name_signature(s->cls) / 8 % HEPH_OWN_RECENT];

	if (*recent == NULL || !slice_equal((*recent)->name, s->cls) ||
	    !slice_equal((*recent)->category, s->category))
		*recent = new_class(st, s);
	return *recent;
}

/* ---- kind ---- */

static void
set_kind(struct event *e, const struct said *s)
{
	static const struct {
		uint8_t phase, flags;
	} kinds[HEPH_OWN_KINDS] = {
		[HEPH_OWN_SPAN] = { PHASE_SPAN, 0 },          [HEPH_OWN_ASYNC] = { PHASE_SPAN, EVENT_ASYNC },
		[HEPH_OWN_BEGIN] = { PHASE_BEGIN, 0 },        [HEPH_OWN_END] = { PHASE_END, 0 },
		[HEPH_OWN_INSTANT] = { PHASE_INSTANT, 0 },    [HEPH_OWN_COUNTER] = { PHASE_COUNTER, 0 },
		[HEPH_OWN_ARROW_OUT] = { PHASE_FLOW_OUT, 0 }, [HEPH_OWN_ARROW_IN] = { PHASE_FLOW_IN, 0 },
		[HEPH_OWN_ARROW_STEP] = { PHASE_FLOW_IN, EVENT_STEP },
	};

	for (size_t i = 0; i < HEPH_OWN_KINDS; i++)
		if (slice_equal(s->kind, heph_own_kinds[i])) {
			e->phase = kinds[i].phase;
			e->flags = kinds[i].flags;
		}
	if (event_is_flow(e))
		e->dur = s->arrow;
	else if (e->phase != PHASE_SPAN)
		e->dur = s->duration;
}

/* ---- fields ---- */

/* Without the prefix that the writer put there. */
static void
unescape(struct slice *name)
{
	if (name->n <= HEPH_OWN_ESCAPE_SIZE || memcmp(name->p, HEPH_OWN_ESCAPE, HEPH_OWN_ESCAPE_SIZE) != 0)
		return;
	name->p += HEPH_OWN_ESCAPE_SIZE;
	name->n -= HEPH_OWN_ESCAPE_SIZE;
}

void
heph_own_event(struct heph_state *st, const struct heph_packet *k, struct event *e, struct batch *b)
{
	const uint32_t first = k->stop < k->start ? 2 : 1; /* behind those of every event */
	struct field *const f = b->fields + e->first_field;
	struct said s = { .arrow = 0 };
	uint32_t end = e->nfields;

	while (end > first && learn(&f[end - 1], &s))
		end--;
	if (s.cls.p == NULL) { /* one that somebody else wrote */
		heph_names_settle(st, k, e->name.p + e->name.n, e->nfields - first, b, true);
		return;
	}
	if (s.category.p == NULL)
		s.category = s.cls;
	struct class *const cls = class_of(st, &s);
	if (cls == NULL)
		return;
	st->event_class->records--;
	cls->records++;
	e->cls = cls;
	set_kind(e, &s);
	heph_own_types_apply(s.types, f + first, end - first, b);
	for (uint32_t i = first; i < end; i++) {
		unescape(&f[i].name);
		f[i - first] = f[i];
	}
	e->nfields = (uint16_t)(end - first);
}

/* The plan of a class as steps for its events (interpret.h), compiled at the first event of the class.  If
 * nobody wants fields, references have the offsets of their fields in a payload of fixed size, which is not
 * decoded.  A rule for tracks remembers tracks by the value that names them.  For other work, such as
 * composing a text, a step decodes the payload and calls the functions of fields.c. */
#include "run/engine_losses.h"

#include <inttypes.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "check/rules.h"
#include "run/meaning/interpret.h"

/* ---- tracks ---- */

/* Tracks that events name: found by their process and name, or added.  Their number and the bytes of their
 * names are limited. */

#define NAME_BYTES 256U      /* max bytes of a name; longer names are cut */
#define ALL_BYTES (4U << 20) /* max bytes of all names */

/* Named tracks are added up to this number of tracks; the rest of TRACE_MAX_TRACKS is for readers. */
#define ALL_TRACKS 65536U

/* Adds a track with this name. */
static const struct track *add_track(struct interpret *in, const struct batch *b, const struct event *e,
                                     const struct track *base, bool child, struct slice name,
                                     const struct plan_ref *id)
{
	if (child)
		return trace_child_track(in->trace, base, name);
	const struct value v =
	    id != NULL ? interpret_ref(in, b, e, id) : (struct value){ .type = VALUE_NONE };
	struct track *const k = trace_add_thread(in->trace, base, 0, name);
	if (k == NULL)
		return NULL;
	/* A text is not a number of the system, and its hash differs from run to run. */
	k->has_id = v.type != VALUE_STRING && v.type != VALUE_BYTES && interpret_number(&v, &k->id);
	return k;
}

/* Reports the limit, once per trace. */
static void report_limit(struct interpret *in, const struct batch *b, const struct event *e,
                         struct slice name)
{
	struct quoted q;

	if (!in->tracks_full)
		finding_add(interpret_findings(b, e), &input_rules[INPUT_RULE_LINE_LIMIT], e->offset, 0,
		            "%s and others share one track", quoted(&q, name));
	in->tracks_full = true;
}

/* Returns the key "t17:NAME", in memory of the batch. */
static struct slice track_key(struct batch *b, char kind, uint32_t base, struct slice name)
{
	char *const p = arena_alloc(&b->scratch, (size_t)name.n + DECIMAL_U64_MAX + 2);

	if (p == NULL)
		return SLICE_NONE;
	p[0] = kind;
	char *end = decimal_u64(p + 1, base);
	*end++ = ':';
	array_copy(end, name.p, name.n);
	return slice_of(p, (size_t)(end - p) + name.n);
}

/* Finds or adds the track that an event names; NULL: a field is missing. */
static const struct track *find_named_track(struct interpret *in, struct batch *b, const struct event *e,
                                            const struct plan_track *how)
{
	const struct track *base = how->child ? e->track : track_process(e->track);
	const struct plan_ref *id = &how->id;
	bool child = how->child, lasting;
	struct slice name;

	if (!interpret_template(in, b, e, &how->name, &name, &lasting))
		return NULL;
	if (name.n > NAME_BYTES)
		name = slice_of(name.p, NAME_BYTES);
	struct slice key = track_key(b, child ? 'b' : 't', base->index, name);
	uint32_t known = key.p != NULL ? tabletext_get(&in->tracks, key) : TABLE_NONE;
	if (key.p == NULL)
		return base;
	if (known == TABLE_NONE && (in->trace->ntracks >= ALL_TRACKS || in->track_bytes > ALL_BYTES)) {
		report_limit(in, b, e, name);
		base = track_process(base);
		child = false;
		name = SLICE_LIT("more tracks");
		id = NULL;
		key = arena_printf(&b->scratch, "m%" PRIu32, base->index);
		known = key.p != NULL ? tabletext_get(&in->tracks, key) : TABLE_NONE;
	}
	if (known != TABLE_NONE)
		return in->trace->tracks[known];
	const struct track *const k = add_track(in, b, e, base, child, name, id);
	/* the name of a child begins with that of its parent */
	in->track_bytes += 2 * key.n + (child && base->name.n > NAME_BYTES ? base->name.n : 0);
	key = key.p != NULL ? arena_copy(&in->trace->arena, key) : key;
	in->failed |= k == NULL || key.p == NULL || !tabletext_put(&in->tracks, key, k->index);
	return k != NULL ? k : base;
}

/* ---- compiled plans ---- */

/* A reference of a plan.  Offsets and types are those in the payload. */
struct step_ref {
	const struct plan_ref *plan;
	uint8_t type[2]; /* VALUE_NONE: not in the payload */
	uint32_t offset[2];
	struct known_value *known; /* found in its tables, by hash of the keys; NULL: it has none */
};

#define VALUES_LOG 4U /* log2 of the values that a reference remembers */

struct known_value {
	uint64_t key1, key2, version; /* version: the sum of those of the tables, + 1; 0: empty */
	const struct track *track;    /* of the event: the scope */
	struct value value;
};

/* Log2 of the tracks that a rule remembers: at first, and at most after many conflicts. */
#define TRACKS_LOG 3U
#define TRACKS_MAX_LOG 13U

struct step_track {
	const struct plan_track *plan;
	struct step_ref number, id;
	bool needs_id;
	uint8_t log;       /* log2 of the tracks in `known` */
	uint32_t replaced; /* tracks replaced in it since it has this size */
	struct known_track {
		const struct track *base, *track; /* track NULL: empty */
		struct value value;               /* a number, or a text that stays */
	} * known;                                /* by hash of base and value */
};

struct step_define {
	const struct plan_define *plan;
	struct plan_ref keys;
	struct step_ref key, value;
	struct known_value *known; /* put last, by hash of the first key */
};

struct steps {
	const struct plan *plan;
	struct slice name;         /* of all events; p NULL: none */
	bool has_layout;           /* to decode payloads */
	bool by_payload;           /* fields are read from the payload, if it has the size of the layout */
	struct step_ref *names;    /* for templates that are one reference; else the plan is NULL */
	struct step_track *tracks; /* rules; the first whose fields are present applies */
	uint32_t ntracks;
	struct step_define *defines;
	struct step_ref key;
};

static struct step_ref compile_ref(struct arena *a, const struct steps *s, const struct plan_ref *plan)
{
	struct step_ref r = { .plan = plan };

	if (plan->ntables > 0)
		r.known = arena_zalloc(a, 1U << VALUES_LOG, sizeof *r.known);
	for (uint32_t i = 0; s->by_payload && i < plan->nfields; i++) {
		const struct plan *const m = s->plan;
		uint32_t at = 0, offset = 0;
		while (at < m->nlayout && !slice_equal(m->layout[at].name, plan->field[i]))
			offset += plan_width(m->layout[at++].type);
		r.type[i] = at < m->nlayout ? m->layout[at].type : VALUE_NONE;
		r.offset[i] = offset;
	}
	return r;
}

static void compile_track(struct arena *a, const struct steps *s, struct step_track *to,
                          const struct plan_track *plan)
{
	to->plan = plan;
	to->number = compile_ref(a, s, &plan->number);
	to->needs_id = plan->id.nfields > 0 && plan->id.ntables == 0;
	if (to->needs_id)
		to->id = compile_ref(a, s, &plan->id);
	to->log = TRACKS_LOG;
	to->known = arena_zalloc(a, 1U << TRACKS_LOG, sizeof *to->known);
}

/* The rule for states without one: a child of the track, of their name. */
static const struct plan_track *state_track(struct arena *a, const struct plan *m)
{
	struct plan_track *const rule = arena_zalloc(a, 1, sizeof *rule);
	struct plan_part *const name = arena_zalloc(a, 1, sizeof *name);

	if (rule == NULL || name == NULL)
		return m->tracks;
	name->text = m->state_name;
	*rule = (struct plan_track){ .name = { name, 1 }, .child = true };
	return rule;
}

static void compile_define(struct arena *a, const struct steps *s, struct step_define *to,
                           const struct plan_define *plan)
{
	to->plan = plan;
	to->keys = (struct plan_ref){ .field = { plan->key[0], plan->key[1] }, .nfields = plan->nkeys };
	to->key = compile_ref(a, s, &to->keys);
	to->value = compile_ref(a, s, &plan->value);
	to->known = arena_zalloc(a, 1U << VALUES_LOG, sizeof *to->known);
}

struct steps *steps_compile(struct arena *a, const struct plan *m, struct slice name, bool has_fields,
                            bool wanted)
{
	const bool is_state = m->phase == PLAN_STATE || m->phase == PLAN_STATE_END;
	struct steps *const s = arena_zalloc(a, 1, sizeof *s);

	if (s == NULL)
		return NULL;
	s->plan = m;
	s->name = name;
	s->has_layout = m->has_layout && has_fields;
	s->by_payload = s->has_layout && !wanted && !m->layout_open && m->phase != PLAN_SPAN &&
	                m->phase != PLAN_COUNTER && m->epoch.p == NULL && m->facts.p == NULL;
	s->names = arena_zalloc(a, m->nnames, sizeof *s->names);
	s->ntracks = is_state && m->ntracks == 0 ? 1 : m->ntracks;
	s->tracks = arena_zalloc(a, s->ntracks, sizeof *s->tracks);
	s->defines = arena_zalloc(a, m->ndefines, sizeof *s->defines);
	if (a->failed)
		return NULL;
	for (uint32_t i = 0; i < m->nnames; i++) {
		const struct plan_template *const t = &m->names[i];
		if (t->nparts == 1 && t->parts[0].text.n == 0 && t->parts[0].ref.nfields > 0)
			s->names[i] = compile_ref(a, s, &t->parts[0].ref);
	}
	for (uint32_t i = 0; i < s->ntracks; i++)
		compile_track(a, s, &s->tracks[i], m->ntracks > 0 ? &m->tracks[i] : state_track(a, m));
	for (uint32_t i = 0; i < m->ndefines; i++)
		compile_define(a, s, &s->defines[i], &m->defines[i]);
	s->key = compile_ref(a, s, &m->key);
	return a->failed ? NULL : s;
}

/* ---- fields ---- */

/* An event and its plan.  While `payload` is not NULL, its fields are not decoded. */
struct stepping {
	struct interpret *in;
	struct batch *b;
	struct event *e;
	const struct steps *steps;
	const char *payload;
};

/* The payload that steps read instead of fields; NULL: none. */
static inline const char *payload_of(const struct batch *b, const struct event *e, const struct steps *s)
{
	const struct field *const f = b->fields + e->first_field;

	if (!s->by_payload || e->nfields != 1 || f->value.type != VALUE_BYTES ||
	    f->value.count != s->plan->layout_size || !slice_equal(f->name, s->plan->payload))
		return NULL;
	return f->value.p;
}

static void decode(struct stepping *g)
{
	if (g->payload != NULL)
		interpret_layout(g->in, g->b, g->e, g->steps->plan);
	g->payload = NULL;
}

/* Returns the i-th field of a reference, or NULL if it is missing.  `space` is for its value. */
INLINE const struct value *load(const struct stepping *g, const struct step_ref *r, unsigned i,
                                struct value *space)
{
	const struct value *v = space;

	if (g->payload == NULL)
		v = interpret_own_field(g->b, g->e, r->plan->field[i]);
	else if (r->type[i] == VALUE_NONE)
		v = NULL;
	else
		*space =
		    interpret_value_at(g->payload + r->offset[i], r->type[i], (g->e->flags & EVENT_BIG) != 0);
	if (v != NULL || g->e->cls->nparts == 0)
		return v;
	const struct field *const part = field_find(g->e->cls->parts, g->e->cls->nparts, r->plan->field[i]);
	return part != NULL ? &part->value : NULL;
}

/* ---- references ---- */

/* Whether the value of the i-th field means "absent". */
static inline bool is_absent(const struct step_ref *r, unsigned i, const struct value *v)
{
	return r->plan->none[i].n > 0 && interpret_is_none(&r->plan->none[i], v);
}

/* Looks the value of a reference up in its tables; VALUE_NONE: a definition is missing. */
static NOINLINE struct value look_up(const struct stepping *g, const struct step_ref *r,
                                     const struct value *first)
{
	const struct plan_ref *const plan = r->plan;
	struct definitions *const d = &g->in->trace->definitions;
	const struct value none = { .type = VALUE_NONE };
	uint64_t key1, key2 = 0, version = 1;

	if (plan->nfields > 1) {
		struct value space;
		const struct value *const second = load(g, r, 1, &space);
		if (second == NULL || is_absent(r, 1, second) || !interpret_number(second, &key2))
			return none;
	}
	if (!interpret_number(first, &key1))
		return none;
	for (uint32_t i = 0; i < plan->ntables; i++)
		version += definitions_version(d, plan->tables[i]);
	const uint64_t track = g->e->track != NULL ? g->e->track->index : 0;
	const uint64_t h = (key1 + key2 * 3 + track * 5) * UINT64_C(0x9e3779b97f4a7c15);
	struct known_value *const k = &r->known[h >> (64 - VALUES_LOG)];
	if (k->version == version && k->key1 == key1 && k->key2 == key2 && k->track == g->e->track)
		return k->value;
	*k = (struct known_value){ key1, key2, version, g->e->track, *first };
	return k->value = interpret_look_up(g->in, g->e, plan, *first, key2);
}

/* The first field of a reference; NULL: it is missing, or means "absent". */
INLINE const struct value *present(const struct stepping *g, const struct step_ref *r, struct value *space)
{
	const struct value *const v = load(g, r, 0, space);

	return v != NULL && !is_absent(r, 0, v) ? v : NULL;
}

/* The value of a reference with a field; NULL: a field or definition is missing. */
INLINE const struct value *value_of(const struct stepping *g, const struct step_ref *r, struct value *space)
{
	const struct value *const v = present(g, r, space);

	if (v == NULL || r->plan->ntables == 0)
		return v;
	*space = look_up(g, r, v);
	return space->type != VALUE_NONE ? space : NULL;
}

/* The key by the plan; 0: it has none, or a field or definition is missing. */
INLINE uint64_t key_of(const struct stepping *g)
{
	const struct step_ref *const r = &g->steps->key;
	struct value space;
	const struct value *const v = g->steps->plan->key.nfields > 0 ? value_of(g, r, &space) : NULL;
	uint64_t key;

	return v != NULL && interpret_number(v, &key) ? key : 0;
}

/* ---- definitions ---- */

static void define(const struct stepping *g, const struct step_define *d)
{
	struct value space, key_space;
	const struct value *const v = d->value.plan->nfields > 0 ? value_of(g, &d->value, &space) : NULL;
	uint64_t key[2] = { 0, 0 };

	if (v == NULL || v->type == VALUE_NONE || v->type >= VALUE_BYTES)
		return;
	for (uint32_t i = 0; i < d->keys.nfields; i++) {
		const struct value *const k = load(g, &d->key, i, &key_space);
		if (k == NULL || !interpret_number(k, &key[i]))
			return;
	}
	/* A definition that the table has already is put once in each era only, which renews its age. */
	struct definitions *const to = &g->in->trace->definitions;
	const uint8_t table = d->plan->table;
	const uint64_t version = definitions_version(to, table) + to->numbers.era + 1;
	struct known_value *const k = &d->known[key[0] * UINT64_C(0x9e3779b97f4a7c15) >> (64 - VALUES_LOG)];
	if (k->version == version && k->key1 == key[0] && k->key2 == key[1] && k->track == g->e->track &&
	    k->value.type == v->type && k->value.u64 == v->u64 && v->type < VALUE_STRING)
		return;
	definitions_put(to, table, interpret_scope(g->in, g->e, table), key[0], key[1], *v);
	*k = (struct known_value){ key[0], key[1], definitions_version(to, table) + to->numbers.era + 1,
		                   g->e->track, *v };
}

/* ---- names ---- */

/* Sets *text by the i-th template.  Returns false if a field or definition is missing. */
static inline bool try_name(struct stepping *g, uint32_t i, struct slice *text, bool *lasting)
{
	const struct plan_template *const t = &g->steps->plan->names[i];

	if (g->steps->names[i].plan != NULL) {
		struct value space;
		const struct value *const v = value_of(g, &g->steps->names[i], &space);
		if (v == NULL || v->type == VALUE_NONE)
			return false;
		if (v->type == VALUE_STRING) {
			*text = value_text(v);
			*lasting = (v->flags & SLICE_STAYS) != 0;
			return text->p != NULL;
		}
	}
	decode(g);
	return interpret_template(g->in, g->b, g->e, t, text, lasting);
}

/* Sets the name.  Returns true if it outlives the batch. */
static bool set_name(struct stepping *g)
{
	const struct plan *const m = g->steps->plan;
	struct event *const e = g->e;
	struct slice name;
	bool lasting;

	if (g->steps->name.p != NULL) {
		e->name = g->steps->name;
		return true;
	}
	for (uint32_t i = 0; i < m->nnames; i++) {
		if (try_name(g, i, &name, &lasting)) {
			e->name = name;
			return lasting;
		}
		if (i == 0 && definitions_forgotten(&g->in->trace->definitions) > 0)
			ledger_add(&g->in->pairing.ledger, &engine_losses[ENGINE_LOSS_NAMES_FORGOTTEN],
			           e->offset, 1);
	}
	return e->name.p == e->cls->name.p;
}

/* ---- tracks ---- */

/* The place of a value's track in the cache of a rule; NULL: the value does not last. */
static inline struct known_track *known_track(const struct step_track *rule, const struct track *base,
                                              const struct value *v)
{
	if (v->type >= VALUE_STRING && (v->type != VALUE_STRING || (v->flags & SLICE_STAYS) == 0))
		return NULL;
	const uint64_t h = (v->u64 + base->index) * UINT64_C(0x9e3779b97f4a7c15);
	return &rule->known[h >> (64 - rule->log)];
}

static inline bool is_known(const struct known_track *k, const struct track *base, const struct value *v)
{
	return k->track != NULL && k->base == base && k->value.u64 == v->u64 && k->value.type == v->type &&
	       k->value.count == v->count;
}

/* Remembers a track.  After as many conflicts as the table has places, its size is doubled; on OOM the arena
 * has failed. */
static void remember_track(struct interpret *in, struct step_track *rule, struct known_track track)
{
	struct known_track *const k = known_track(rule, track.base, &track.value);

	if (k == NULL)
		return;
	rule->replaced += k->track != NULL;
	*k = track;
	if (rule->replaced < 1U << rule->log || rule->log == TRACKS_MAX_LOG)
		return;
	struct known_track *const old = rule->known;
	struct known_track *const more = arena_zalloc(&in->arena, 2U << rule->log, sizeof *more);
	if (more == NULL)
		return;
	rule->known = more;
	rule->replaced = 0;
	rule->log++;
	for (uint32_t i = 0; i < 1U << (rule->log - 1); i++)
		if (old[i].track != NULL)
			*known_track(rule, old[i].base, &old[i].value) = old[i];
}

/* Finds or adds the track, and remembers it.  NULL: a field is missing. */
static NOINLINE const struct track *new_track(struct stepping *g, struct step_track *rule,
                                              const struct track *base, struct value v)
{
	decode(g);
	g->in->track_misses++;
	const struct track *const found = find_named_track(g->in, g->b, g->e, rule->plan);
	if (found != NULL)
		remember_track(g->in, rule, (struct known_track){ base, found, v });
	PREFETCH(found); /* later stages read it */
	return found;
}

/* The track by a rule; NULL: a field is missing.  A value that means "absent" counts as missing. */
INLINE const struct track *track_by(struct stepping *g, struct step_track *rule)
{
	static const struct value constant;
	const struct track *const base = rule->plan->child ? g->e->track : track_process(g->e->track);
	const struct value *v = &constant;
	struct value space, id;

	if (rule->needs_id && value_of(g, &rule->id, &id) == NULL)
		return NULL;
	if (rule->plan->number.nfields > 0)
		v = load(g, &rule->number, 0, &space);
	if (v != NULL && rule->plan->number.ntables > 0) {
		space = is_absent(&rule->number, 0, v) ? constant : look_up(g, &rule->number, v);
		v = space.type != VALUE_NONE ? &space : NULL;
	}
	if (v == NULL)
		return NULL;
	const struct known_track *const known = known_track(rule, base, v);
	return known != NULL && is_known(known, base, v) ? known->track : new_track(g, rule, base, *v);
}

static inline const struct track *find_track(struct stepping *g)
{
	const struct track *found = NULL;

	for (uint32_t i = 0; i < g->steps->ntracks && found == NULL; i++)
		found = track_by(g, &g->steps->tracks[i]);
	return found != NULL ? found : g->e->track;
}

/* ---- an event ---- */

void steps_define(struct interpret *in, struct batch *b, struct event *e, const struct steps *s)
{
	const struct stepping g = { in, b, e, s, NULL };

	if (s->has_layout)
		interpret_layout(in, b, e, s->plan);
	for (uint32_t i = 0; i < s->plan->ndefines; i++)
		define(&g, &s->defines[i]);
}

void steps_apply(struct interpret *in, struct batch *b, struct event *e, const struct steps *s, bool named,
                 struct stepped *to)
{
	struct stepping g = { in, b, e, s, payload_of(b, e, s) };

	to->track = e->track;
	to->lasting = false;
	if (s->has_layout && g.payload == NULL)
		interpret_layout(in, b, e, s->plan);
	for (uint32_t i = 0; i < s->plan->ndefines; i++)
		define(&g, &s->defines[i]);
	if (named)
		to->lasting = set_name(&g);
	to->key = key_of(&g);
	if (s->ntracks > 0)
		to->track = find_track(&g);
	to->payload = g.payload;
}

bool steps_are_direct(const struct steps *s)
{
	const struct plan *const m = s->plan;
	const struct step_ref *const name = m->nnames > 0 ? &s->names[0] : NULL;
	bool direct = !s->has_layout && m->key.ntables == 0 &&
	              (s->name.p != NULL || (name != NULL && name->plan != NULL && name->plan->ntables == 0));

	for (uint32_t i = 0; i < s->ntracks; i++)
		direct &= s->tracks[i].number.plan->ntables == 0;
	return direct;
}

bool steps_direct(struct interpret *in, struct batch *b, struct event *e, const struct steps *s,
                  struct slice *name, struct stepped *to)
{
	static const struct value constant;
	const struct stepping g = { in, b, e, s, NULL }; /* in registers: nothing is looked up */
	struct value space;
	const struct value *v;

	if (name != NULL)
		*name = s->name;
	if (name != NULL && s->name.p == NULL) {
		v = present(&g, &s->names[0], &space);
		if (v == NULL || v->type != VALUE_STRING || (v->flags & SLICE_STAYS) == 0 || v->p == NULL)
			return false;
		*name = value_text(v);
	}
	v = s->plan->key.nfields > 0 ? present(&g, &s->key, &space) : NULL;
	to->track = e->track;
	if (v == NULL || !interpret_number(v, &to->key))
		to->key = 0;
	for (uint32_t i = 0; i < s->ntracks; i++) {
		const struct step_track *const rule = &s->tracks[i];
		const struct track *const base = rule->plan->child ? e->track : track_process(e->track);
		v = &constant;
		if ((rule->needs_id && present(&g, &rule->id, &space) == NULL) ||
		    (rule->plan->number.nfields > 0 && (v = load(&g, &rule->number, 0, &space)) == NULL))
			continue; /* the rule does not apply */
		const struct known_track *const known = known_track(rule, base, v);
		if (known == NULL || !is_known(known, base, v))
			return false;
		to->track = known->track;
		break;
	}
	if (s->plan->ndefines > 0)
		steps_define(in, b, e, s);
	return true;
}

void steps_name(struct interpret *in, struct batch *b, struct event *e, const struct steps *s,
                const struct stepped *of)
{
	struct stepping g = { in, b, e, s, of->payload };

	set_name(&g);
}

/* Pseudonyms of texts, and rebinding of events to another trace.  A pseudonym is a keyed hash (SipHash) of
 * the name alone, so it is the same in all traces with the same key.  Rebinding copies tracks and classes on
 * demand and rewrites texts of events in place; cost is proportional to the texts of events. */
#include "run/adjust/adjust.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "json/token.h"
#include "model/event_traits.h"
#include "model/trace_origin.h"
#include "model/value.h"
#include "run/engine_losses.h"
#include "run/read/source.h"

/* ---- pseudonyms ---- */

#define WORD 13       /* letters of a pseudonym: `w` and 60 bits */
#define SUFFIX_MAX 8  /* letters and digits of a suffix, without its dot */
#define MAX_DEPTH 256 /* of lists; formats have lower limits */

void anonymise_set_key(struct anonymise *a, const void *p, size_t n)
{
	static const struct siphash_key first = { 1, 2 }, second = { 3, 4 };

	a->key.k0 = siphash(&first, p, n);
	a->key.k1 = siphash(&second, p, n);
}

void anonymise_set_shift(struct anonymise *a)
{
	a->shift = siphash(&a->key, "the shift of times", 18) >> 9; /* up to 417 days */
}

/* ---- texts ---- */

static char *put_pseudonym(const struct anonymise *a, char *to, const char *p, size_t n)
{
	static const char letters[32] = "abcdefghijkmnpqrstuvwxyz23456789";
	uint64_t h = siphash(&a->key, p, n);

	*to++ = 'w';
	for (int i = 1; i < WORD; i++, h >>= 5)
		*to++ = letters[h & 31];
	return to;
}

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the bytes of the suffix at the end of [p, p + n), with its dot; 0: none. */
static size_t suffix_of(const char *p, size_t n)
{
	size_t k = 0;

	while (k < n && k <= SUFFIX_MAX && is_alphanumeric(p[n - 1 - k]))
		k++;
	return k > 0 && k < n - 1 && k <= SUFFIX_MAX && p[n - 1 - k] == '.' ? k + 1 : 0;
}

/* Adds the pseudonym of a component of a path, or of a whole text.  Only the last component has a suffix. */
static char *put_part(const struct anonymise *a, char *to, const char *p, size_t n, bool last)
{
	const size_t suffix = a->keep_suffixes && last ? suffix_of(p, n) : 0;

	if (n > suffix)
		to = put_pseudonym(a, to, p, n - suffix);
	memcpy(to, p + n - suffix, suffix);
	return to + suffix;
}

/* Returns the pseudonym of a text, in the arena; of an empty text the empty text. */
static struct slice anonymise_text(const struct anonymise *a, struct slice s, struct arena *into)
{
	const char *p = s.p, *const end = s.p + s.n;
	size_t parts = 1;

	if (s.n == 0)
		return SLICE_LIT("");
	for (const char *q = p; a->keep_paths && q < end; q++)
		parts += *q == '/';
	char *const text = arena_alloc(into, parts * (WORD + 1) + SUFFIX_MAX + 1), *to = text;
	if (text == NULL)
		return SLICE_NONE;
	while (true) {
		const char *const slash = a->keep_paths ? memchr(p, '/', (size_t)(end - p)) : NULL;
		const char *const stop = slash != NULL ? slash : end;
		to = put_part(a, to, p, (size_t)(stop - p), slash == NULL);
		if (slash == NULL)
			break;
		*to++ = '/';
		p = slash + 1;
	}
	return (struct slice){ text, (uint32_t)(to - text), SLICE_UTF8 | SLICE_JSON };
}

/* ---- values ---- */

/* Returns the pseudonym of a number, of `bits` bits. */
static uint64_t anonymise_number(const struct anonymise *a, uint64_t v, unsigned bits)
{
	unsigned char p[9] = { 'n' };

	for (int i = 0; i < 8; i++)
		p[1 + i] = (unsigned char)(v >> 8 * i);
	return siphash(&a->key, p, sizeof p) >> (64 - bits);
}

/* Replaces a number; its type stays. */
static void hide_number(const struct anonymise *a, struct value *v)
{
	static const uint8_t bits[] = {
		[VALUE_U8] = 8,   [VALUE_U16] = 16, [VALUE_U32] = 32, [VALUE_U64] = 64,    [VALUE_I8] = 7,
		[VALUE_I16] = 15, [VALUE_I32] = 31, [VALUE_I64] = 63, [VALUE_ADDRESS] = 64
	};

	if (v->type == VALUE_F32 || v->type == VALUE_F64) /* 24 bits: exact in both */
		v->f64 = (double)anonymise_number(a, v->u64, 24) / 16777216.0;
	else if (v->type < sizeof bits && bits[v->type] > 0)
		v->u64 = anonymise_number(a, v->u64, bits[v->type]);
}

/* Replaces bytes by a keyed hash of the same length, at most 32. */
static bool hide_bytes(const struct anonymise *a, struct value *v, struct arena *into)
{
	const uint32_t n = v->count < 32 ? v->count : 32;
	char *const p = arena_alloc(into, n);
	uint64_t h = siphash(&a->key, v->p, v->count);

	if (p == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		p[i] = (char)(h >> 8 * (i % 8));
		if (i % 8 == 7)
			h = siphash(&a->key, &h, sizeof h);
	}
	v->p = p;
	v->count = n;
	return true;
}

/* Replaces the JSON token at p: a text, a number, or one other byte.  Returns its end, or NULL on OOM. */
static const char *put_token(const struct anonymise *a, struct text *t, const char *p, const char *end,
                             struct arena *into)
{
	struct json x = { .lenient = true, .complete = true, .depth = 1 };
	enum json_kind kind;
	const char *next = p + 1;

	if (*p == '"' && (next = json_string(&x, p, end, &kind)) != NULL) {
		struct slice s = json_text(p, next, kind);
		if (kind != JSON_STRING)
			s = json_unescape(into, s);
		const struct slice word = s.p != NULL ? anonymise_text(a, s, into) : s;
		if (word.p == NULL)
			return NULL;
		text_char(t, '"');
		text_slice(t, word);
		text_char(t, '"');
		return next;
	}
	if (a->hide_numbers && ((*p >= '0' && *p <= '9') || *p == '-') &&
	    (next = json_number(p, end, &kind)) != NULL) {
		text_u64(t, siphash(&a->key, p, (size_t)(next - p)) >> 32);
		return next;
	}
	if (*p != '"')
		text_char(t, *p);
	return p + 1;
}

static bool hide_json(const struct anonymise *a, struct value *v, struct arena *into)
{
	const char *p = v->p, *const end = v->p + v->count;
	struct text t = { .p = NULL };

	while (p != NULL && p < end && !t.failed)
		p = put_token(a, &t, p, end, into);
	const struct slice s =
	    p != NULL && !t.failed ? arena_copy(into, slice_of(t.p != NULL ? t.p : "", t.n)) : SLICE_NONE;
	text_free(&t);
	v->p = s.p;
	v->count = s.n;
	return s.p != NULL;
}

static bool hide_value(const struct anonymise *a, struct value *v, struct arena *into, unsigned depth);

static bool hide_entries(const struct anonymise *a, struct value *v, struct arena *into, unsigned depth)
{
	const size_t n = value_entries(v);
	struct value *const copy = arena_alloc(into, n * sizeof *copy);

	if (copy == NULL)
		return false;
	if (depth == MAX_DEPTH) {
		*v = (struct value){ .type = VALUE_NONE };
		return true;
	}
	array_copy(copy, v->values, n * sizeof *copy);
	for (size_t i = 0; i < n; i++)
		if (!hide_value(a, &copy[i], into, depth + 1))
			return false;
	v->values = copy;
	return true;
}

/* Replaces all texts of a value, and with hide_numbers its numbers. */
static bool hide_value(const struct anonymise *a, struct value *v, struct arena *into, unsigned depth)
{
	if (v->type == VALUE_STRING) {
		*v = value_string(anonymise_text(a, value_text(v), into));
		return v->p != NULL;
	}
	if (v->type == VALUE_BYTES)
		return hide_bytes(a, v, into);
	if (v->type == VALUE_JSON)
		return hide_json(a, v, into);
	if (value_is_list(v))
		return hide_entries(a, v, into, depth);
	if (a->hide_numbers)
		hide_number(a, v);
	return true;
}

/* ---- rebinding to another trace ---- */

void rebind_init(struct rebind *r, struct trace *to)
{
	*r = (struct rebind){ .to = to, .max_ts = UINT64_MAX };
}

void rebind_free(struct rebind *r)
{
	free(r->tracks);
	free(r->classes);
	tabletext_free(&r->readable);
	arena_free(&r->names);
	ledger_free(&r->ledger);
	*r = (struct rebind){ .to = NULL };
}

/* Copies a text to the arena of the second trace, as a pseudonym if wanted. */
static struct slice text_of(const struct rebind *r, struct slice s)
{
	return r->anonymise != NULL ? anonymise_text(r->anonymise, s, &r->to->arena)
	                            : arena_copy(&r->to->arena, s);
}

/* ---- tracks ---- */

/* Adds a track to the second trace; parent: in that trace. */
static struct track *add_track(struct rebind *r, const struct track *t, const struct track *parent)
{
	struct track *const known = r->same_track != NULL ? r->same_track(r->ctx, t, parent) : NULL;

	if (known != NULL)
		return known;
	const struct slice name = t->kind == TRACK_PROCESS && r->process_name != NULL
	                              ? r->process_name(r->ctx, t, &r->to->arena)
	                              : text_of(r, t->name);
	if (name.p == NULL)
		return NULL;
	struct track *const k = t->kind == TRACK_PROCESS ? trace_add_process(r->to, name)
	                                                 : trace_add_thread(r->to, parent, 0, name);
	if (k == NULL || !trace_set_host(r->to, k, t->host.n > 0 ? text_of(r, t->host) : t->host))
		return NULL;
	k->has_id = t->has_id;
	k->id = r->anonymise != NULL && r->anonymise->hide_numbers ? anonymise_number(r->anonymise, t->id, 31)
	                                                           : t->id;
	k->is_child = t->is_child;
	k->global = t->global;
	k->lane = t->lane;
	return k;
}

/* Returns the track in the second trace.  Recursion is bounded by TRACE_MAX_DEPTH. */
static struct track *track_of(struct rebind *r, const struct track *t)
{
	const struct track *parent = NULL;

	if (t->index < r->ntracks && r->tracks[t->index] != NULL)
		return r->tracks[t->index];
	if (!array_reach(&r->tracks, &r->ntracks, t->index, sizeof *r->tracks) ||
	    (t->parent != NULL && (parent = track_of(r, t->parent)) == NULL))
		return NULL;
	return r->tracks[t->index] = add_track(r, t, parent);
}

/* ---- classes ---- */

/* Returns the plan without `bytes`: its patterns of names match no pseudonym, and could be read in an output.
 * NULL on OOM. */
static const struct plan *without_bytes(struct rebind *r, const struct plan *m)
{
	struct plan *const to = arena_alloc(&r->to->arena, sizeof *to);

	if (to == NULL)
		return NULL;
	*to = *m;
	to->nbytes = 0;
	return to;
}

/* Returns the class in the second trace. */
static struct class *class_of(struct rebind *r, const struct class *c)
{
	if (c->index < r->nclasses && r->classes[c->index] != NULL)
		return r->classes[c->index];
	if (!array_reach(&r->classes, &r->nclasses, c->index, sizeof *r->classes))
		return NULL;
	if (r->anonymise == NULL)
		return r->classes[c->index] = trace_plan_class(r->to, c);
	struct class like = *c;
	like.name = text_of(r, c->name);
	like.category = text_of(r, c->category);
	if (c->plan != NULL && c->plan->nbytes > 0 && (like.plan = without_bytes(r, c->plan)) == NULL)
		return NULL;
	if (like.name.p == NULL || like.category.p == NULL)
		return NULL;
	return r->classes[c->index] = trace_copy_class(r->to, &like);
}

/* ---- events ---- */

static void move_time(struct rebind *r, struct event *e)
{
	const int128 to = (int128)(e->ts ^ r->bias) + r->zero_change + r->offset_ns +
	                  (r->anonymise != NULL ? r->anonymise->shift : 0);
	const uint64_t ts = to < 0 ? 0 : to > r->max_ts ? r->max_ts : (uint64_t)to;
	bool cut = ts != to;

	e->ts = ts ^ r->bias;
	if (e->phase == PHASE_SPAN && e->dur > r->max_ts - ts) {
		e->dur = r->max_ts - ts;
		cut = true;
	}
	if (cut)
		ledger_add(&r->ledger, &engine_losses[ENGINE_LOSS_TIME_CUT], e->offset, 1);
}

/* Names of fields remain readable: collects them for the message to the user. */
static bool collect_name(struct rebind *r, struct slice name)
{
	if (r->nnames == REBIND_MAX_NAMES || tabletext_get(&r->readable, name) != TABLE_NONE)
		return true;
	name = arena_copy(&r->names, name);
	return name.p != NULL && tabletext_put(&r->readable, name, r->nnames++);
}

static bool hide_texts(struct rebind *r, struct batch *b, struct event *e)
{
	e->name = anonymise_text(r->anonymise, e->name, &b->scratch);
	if (e->name.p == NULL)
		return false;
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field *const f = &b->fields[e->first_field + i];
		if (!hide_value(r->anonymise, &f->value, &b->scratch, 0) || !collect_name(r, f->name))
			return false;
	}
	return true;
}

bool rebind_batch(struct rebind *r, struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		const struct track *const track = e->track;

		if ((e->cls = class_of(r, e->cls)) == NULL ||
		    (track != NULL && (e->track = track_of(r, track)) == NULL))
			return false;
		if (r->offset_ns != 0 || r->zero_change != 0 || r->anonymise != NULL)
			move_time(r, e);
		if (r->flows != 0 && event_has_arrow_id(e))
			e->dur = source_flow_id(r->flows, e->dur);
		if (r->anonymise != NULL && !hide_texts(r, b, e))
			return false;
	}
	return true;
}

/* ---- facts of the trace ---- */

void rebind_facts(struct rebind *r, const struct trace *from)
{
	const bool shifted = r->anonymise != NULL && r->anonymise->shift != 0;

	r->to->format = from->format;
	r->to->dialect = from->dialect;
	r->to->byte_order = from->byte_order;
	r->to->record_id = from->record_id;
	r->to->clock = shifted ? "unknown" : from->clock;
	r->to->epoch_known = from->epoch_known && !shifted;
	r->to->epoch_ns = r->to->epoch_known ? from->epoch_ns : 0;
	r->to->records = from->records;
	r->to->events = from->events;
}

bool rebind_rest(struct rebind *r, const struct trace *from)
{
	for (uint32_t i = 0; i < from->ntracks; i++)
		if (!from->tracks[i]->hidden && track_of(r, from->tracks[i]) == NULL)
			return false;
	for (uint32_t i = 0; i < from->nmeta; i++) {
		struct value v = from->meta[i].value;
		if ((r->anonymise != NULL && (!hide_value(r->anonymise, &v, &r->to->arena, 0) ||
		                              !collect_name(r, from->meta[i].name))) ||
		    !trace_add_meta(r->to, from->meta[i].name, v))
			return false;
	}
	return true;
}

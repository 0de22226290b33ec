#ifndef RUN_MEANING_INTERPRET_H
#define RUN_MEANING_INTERPRET_H

#include "base/table.h"
#include "format/format.h"
#include "format/ledger.h"
#include "model/event_traits.h"
#include "model/plan.h"
#include "model/trace_engine.h"
#include "run/job.h"

/* ---- arrows ---- */

/*
 * Arrows between events: from "task K is woken" to "task K runs".  An arrow starts at an `out` and ends at
 * the first `in` of the same name and key that is not earlier.  Several arrows may end at one `in`; unpaired
 * ends are ignored.
 *
 * Traces store threads in blocks, so file order is not time order: ends wait in a window.  When it is full,
 * its older half is resolved; at the end of the trace all of it.  The same trace gives the same arrows on
 * every run.
 *
 *     for each batch:
 *             for each event with a flow: arrows_out, arrows_in
 *             while (arrows_give(a, some_batch_with_room, false)) ...
 *     at the end:
 *             while (arrows_give(a, some_batch_with_room, true)) ...
 */
#define ARROWS_WINDOW 262144 /* waiting ends of 64 bytes: 16 MiB */

struct arrow_end;
struct arrow_key;

struct arrows {
	struct arrow_end *ends; /* in order of arrival */
	struct arrow_key *keys; /* as long as ends, like to[] */
	struct timed *order;    /* ends by time; twice as long, for the sort */
	uint32_t *to;           /* for an out: its in, or UINT32_MAX; for an in: the next in of its bucket */
	uint32_t *buckets;      /* by hash of name and key */
	uint64_t seed;          /* of the hash */
	uint32_t n, cap;
	uint32_t at, resolved;  /* ends [at, resolved) are being emitted; later ones arrived since */
	uint32_t old;           /* ends [0, old) leave the window after that */
	struct tabletext names; /* name -> its number */
	struct slice *list;     /* of the names, by number */
	uint32_t nnames;
	uint64_t id;             /* of the last out */
	uint64_t dropped;        /* outs that left the window before their in was found: missing arrows */
	uint64_t endless, alone; /* outs without an in; alone: those that outputs show (EVENT_ARROW) */
	uint64_t dropped_at, endless_at, alone_at; /* offset of the first one */
	bool failed;                               /* OOM: ends are missing */
};

/* Allocates nothing yet. */
void arrows_init(struct arrows *a);
void arrows_free(struct arrows *a);

/* Adds the start or end of an arrow at the event.  The bytes of the name, the track and the class must
 * outlive `a`.  Call arrows_give() at least once for each ARROWS_WINDOW ends; ends beyond twice the window
 * count as dropped.  After arrows_out() the id of the arrow is a->id: 1, 2, 3 ...  Sets a->failed on OOM. */
void arrows_out(struct arrows *a, struct slice name, uint64_t key, const struct event *e);
void arrows_in(struct arrows *a, struct slice name, uint64_t key, const struct event *e);

/* Adds resolved arrows to the batch, up to b->cap (at least 2): pairs of FLOW_OUT and FLOW_IN with dur = the
 * arrow's id, its name, no fields, class, track, ts and offset of its ends, and EVENT_ARROW of the out; in
 * order of the outs.  `end`: resolve all.  Returns true if there are more: call again with another batch. */
bool arrows_give(struct arrows *a, struct batch *b, bool end);

/* ---- retained ---- */

/* A deep copy of the name and fields of an event, for an open span. */
struct retained {
	struct batch_block block; /* for batch_own() */
	uint32_t bytes;           /* size, as if names that the class declares were copied */
	uint16_t nfields;
	bool own;          /* has texts or lists that a batch may point into */
	struct slice name; /* p NULL: not copied */
	struct field fields[];
};

enum retained_made {
	RETAINED_MADE,
	RETAINED_TOO_MUCH, /* more than `limit` bytes, or nested too deep */
	RETAINED_NO_MEMORY,
};

/* Unused copies for later use, by their number of fields: only those without texts or lists of their own, as
 * no batch points into them. */
#define RETAINED_SPARE_FIELDS 16U

struct retained_spare {
	struct batch_block *blocks[RETAINED_SPARE_FIELDS];
};

void retained_spare_free(struct retained_spare *spare);

/* name: p NULL if it outlives the batch.  cls: of the event.  spare: NULL, or copies to use again. */
enum retained_made retained_new(struct retained **made, struct slice name, const struct class *cls,
                                const struct field *fields, uint32_t n, uint32_t limit,
                                struct retained_spare *spare);
void retained_free(struct retained *k); /* accepts NULL */

/* After the fields of a copy were joined: passes it to the batch, which may point into it, or to `spare`. */
void retained_done(struct retained *k, struct batch *b, struct retained_spare *spare);

/* The fields of a span: those of its BEGIN, then additional ones of the END; one of the same name with
 * another value is named "end.NAME".  `to` has space for all; returns their number.  Sets the failure flag of
 * the batch on OOM. */
uint32_t retained_join(struct batch *b, const struct field *begin, uint32_t nbegin, const struct field *end,
                       uint32_t nend, struct field *to);

/* ---- pending end ---- */

/*
 * Ends of async spans that precede their begin in the file: a trace made of buffers of several threads may
 * have the end of a task in one block and its begin in a later one.  They wait for the begin, or the end of
 * the trace.  Memory is bounded: at most PENDING_END_MAX ends, whose fields count like those of open spans;
 * further ends become instants.
 */
#define PENDING_END_MAX 32768U /* 80 bytes each */

struct pairing;
struct pending_end;

/* How a begin or end is paired. */
struct pairing_how {
	uint16_t pair; /* 0: this END ends a span of any pair; for a state: its number */
	uint8_t flags; /* enum pairing_flags */
	bool lasting;  /* the name of the event outlives its batch */
	bool fields;   /* fields are wanted */
	uint64_t key;  /* 0: none */
	/* Required name and class of the BEGIN, with by_time_put(); name.p NULL, cls NULL: any. */
	struct slice name;
	const struct class *cls;
	struct retained *kept; /* a copy of the texts of a BEGIN, passed on; NULL: pairing_begin() copies */
};

struct pending_ends {
	struct pending_end *ends;
	uint32_t n, cap;   /* slots, used or free */
	uint32_t free;     /* slot + 1 of the first free one */
	uint32_t *buckets; /* by hash: slot + 1 */
	uint32_t at;       /* finish_ends(): next slot */
	uint64_t ended_by; /* offset of the record that ended the event interpreted last, or of the event */
};

/* ---- pairing ---- */

/*
 * Pairs of begin and end become spans.
 *
 * Each track has a stack of open spans.  An END closes the innermost one of the same pair (and key), also
 * from the middle of the stack: it scans PAIRING_LOOK entries at most, like other lists here.  States of a
 * track are outside of the stack, one per state name.  Async spans (such as the life of a task) may end on
 * another track: they are found by process, pair and key.
 *
 * A span is emitted at the position of its END, with time, name, class, track, offset and fields of its
 * BEGIN, and additional or different fields of the END.
 *
 * Memory is bounded: PAIRING_TRACK open spans of a track, PAIRING_ALL in total, PAIRING_BYTES of copied
 * fields.  Beyond the first two, spans are only counted, and their END closes no other; beyond the last,
 * fields are omitted.  On OOM `failed` of the pairing or the batch is set, which the caller checks once per
 * batch.
 */
#define PAIRING_LOOK 64
#define PAIRING_TRACK 4096
#define PAIRING_ALL (1U << 17) /* 72 bytes each */
#define PAIRING_BYTES (8U << 20)

#define PAIRING_BEYOND_ROOM (1U << 16) /* pairs of track and pair with counted spans */

enum pairing_flags {
	PAIRING_ASYNC = 1,
	PAIRING_STATE = 2,
	PAIRING_ANYWHERE = 4, /* async: the key is of the whole trace, but the same process is preferred */
	PAIRING_ENDLESS = 8,  /* of a BEGIN: no END belongs to it */
};

struct open_span {
	uint64_t ts, offset, key;
	struct slice name;
	const struct class *cls; /* NULL: the slot is free */
	const struct track *track;
	struct retained *retained; /* NULL: nothing was copied */
	uint32_t below;            /* slot + 1 of the next in its list */
	uint16_t pair;             /* or state */
	uint8_t flags;             /* enum pairing_flags */
};

struct open_track {
	uint64_t last; /* latest time on it */
	uint32_t top;  /* slot + 1 of the innermost span; 0: none */
	uint32_t depth;
	uint32_t states; /* slot + 1 of its first state */
	uint32_t beyond; /* open spans that are only counted, except async ones */
};

struct pairing {
	struct trace *trace;
	struct open_span *spans;
	uint32_t n;                /* slots, used or free */
	uint32_t free;             /* slot + 1 of the first free one */
	struct open_track *tracks; /* by index */
	uint32_t ntracks;
	uint32_t *buckets; /* async spans by hash: slot + 1; allocated on demand */
	uint64_t seed;
	struct table64 beyond; /* track and pair -> number of counted open spans */
	uint32_t nbeyond;      /* their sum */
	uint32_t retained_bytes;
	struct retained_spare spare;
	struct pending_ends pending; /* ends before their begin */
	uint32_t at;                 /* pairing_finish: next slot */
	uint64_t last;               /* latest time of other tracks; in pairing_finish: of all */
	bool stateless;              /* no track has states: their latest times are not needed one by one */
	uint64_t unpaired;           /* unpaired or only counted begins and ends */
	struct ledger ledger;
	bool failed; /* OOM: later output is invalid */
};

void pairing_init(struct pairing *p, struct trace *trace);
void pairing_free(struct pairing *p);

enum pairing_result {
	PAIRING_SPAN,    /* the event was replaced by the complete span */
	PAIRING_OPEN,    /* retained until its other end; drop the event */
	PAIRING_ALONE,   /* no open span; the event is unchanged */
	PAIRING_DROPPED, /* closes a span that was only counted; drop the event */
};

/* A BEGIN, or a STATE that opens: returns OPEN, or SPAN if its end preceded it. */
enum pairing_result pairing_begin(struct pairing *p, struct batch *b, struct event *e,
                                  const struct pairing_how *how);

/* An END; returns OPEN if it is async and its begin may follow. */
enum pairing_result pairing_end(struct pairing *p, struct batch *b, struct event *e,
                                const struct pairing_how *how);

/* Copies the name and the fields of an event to *kept, unless they outlive the batch (NULL: nothing is
 * copied).  Fields beyond `limit` bytes are a loss.  spare: as retained_new().  Returns the name, which
 * outlives the batch. */
struct slice pairing_retain(struct pairing *p, const struct batch *b, const struct event *e,
                            const struct pairing_how *how, uint32_t limit, struct retained_spare *spare,
                            struct retained **kept);

/* Counts an unpaired event. */
void pairing_alone(struct pairing *p, const struct event *e);

/* At the end of the trace: adds open spans to the batch, up to the last time of the trace and with the field
 * "unfinished"; states end at the last time of their track.
 * Returns true if the batch is full: call again. */
bool pairing_finish(struct pairing *p, struct batch *b, bool fields);

/* Updates the latest time of a track.  Without states it does not read the track, which is rarely in the CPU
 * cache if there are many. */
static inline void pairing_see(struct pairing *p, const struct track *track, uint64_t ts)
{
	uint64_t *const last =
	    !p->stateless && track->index < p->ntracks ? &p->tracks[track->index].last : &p->last;

	if (ts > *last)
		*last = ts;
}

/* Updates the latest time by the end of an event. */
static inline void pairing_see_span(struct pairing *p, const struct event *e)
{
	pairing_see(p, e->track, event_end(e));
}

/*
 * Inline fast paths if nothing is copied or counted: `name` outlives the batch, no fields are wanted.
 * Return false without effect in other cases: call the functions above.
 */
static inline bool pairing_begin_fast(struct pairing *p, const struct event *e, struct slice name,
                                      uint16_t pair, uint64_t key)
{
	const uint32_t slot = p->free, track = e->track->index;

	if (slot == 0 || track >= p->ntracks)
		return false;
	struct open_track *const t = &p->tracks[track];
	struct open_span *const s = &p->spans[slot - 1];
	if (t->depth >= PAIRING_TRACK || t->beyond > 0)
		return false;
	p->free = s->below;
	s->ts = e->ts;
	s->offset = e->offset;
	s->key = key;
	s->name = name;
	s->cls = e->cls;
	s->track = e->track;
	s->retained = NULL;
	s->below = t->top;
	s->pair = pair;
	s->flags = 0;
	t->top = slot;
	t->depth++;
	if (e->ts > t->last)
		t->last = e->ts;
	return true;
}

/* Writes the span to `to`, which may be e itself. */
static inline bool pairing_end_fast(struct pairing *p, const struct event *e, uint16_t pair, uint64_t key,
                                    struct event *to)
{
	const uint64_t end = e->ts;
	const uint32_t track = e->track->index;

	if (track >= p->ntracks)
		return false;
	struct open_track *const t = &p->tracks[track];
	const uint32_t slot = t->top;
	if (slot == 0 || t->beyond > 0)
		return false;
	struct open_span *const s = &p->spans[slot - 1];
	if (s->pair != pair || s->key != key || s->retained != NULL || end < s->ts)
		return false;
	*to = (struct event){ .ts = s->ts, /* all members, which spares clearing them */
		              .dur = end - s->ts,
		              .name = s->name,
		              .cls = s->cls,
		              .track = s->track,
		              .offset = s->offset,
		              .first_field = 0,
		              .nfields = 0,
		              .phase = PHASE_SPAN,
		              .flags = 0 };
	t->top = s->below;
	t->depth--;
	if (end > t->last)
		t->last = end;
	s->cls = NULL;
	s->below = p->free;
	p->free = slot;
	return true;
}

/* ---- begins and ends in order of time ---- */

/*
 * In formats whose file order is arbitrary, begins and ends pair by time (trace.free_order).  They wait in a
 * window with copies of their texts.  When it is full, the earlier half is paired, in order of time; equal
 * times are in file order.  An end with a name or class ends the innermost begin with the same one.
 */
#define BY_TIME_WINDOW 65536U     /* begins and ends */
#define BY_TIME_BYTES (12U << 20) /* of their texts; one batch may add as many */

struct by_time_end;

struct by_time {
	struct by_time_end *ends; /* in order of arrival */
	struct timed *order;      /* [at, due) are paired next; 2 * cap elements */
	uint32_t n, cap, at, due;
	uint64_t bytes;
};

/* ---- interpret ---- */

/*
 * The stage that interprets events (model/plan.h): payloads become fields, definitions are stored and looked
 * up, names and tracks are set, pairs of begin and end become spans, and wakes become arrows.  One pass
 * over each batch, in place, directly after the reader.
 */

struct known_class;

struct interpret {
	struct trace *trace;
	unsigned want;
	bool spans, fields; /* build spans; fields are wanted */
	bool unnamed;       /* events have the names of their classes */
	bool no_arrows;
	bool checks_payloads;        /* the reader checks payloads */
	struct known_class *classes; /* cache by index of the class */
	uint32_t nclasses;
	struct arena arena;
	struct tabletext tracks; /* named by events: "scope:name" -> index */
	uint64_t track_misses;   /* look-ups of tracks that steps did not remember */
	uint32_t track_bytes;    /* size of their names */
	bool tracks_full;        /* reported already */
	uint32_t facts_bytes;
	struct pairing pairing;
	struct by_time by_time;
	struct arrows arrows;
	/* For each event of a batch, the offset of the other record that it needs: store_other().  NULL: not
	 * stored. */
	uint64_t *others;
	uint64_t ended_by, begun_by; /* offsets of the records of the last span; 0: none */
	bool open_given;             /* interpret_finish: open spans were added */
	bool failed;                 /* OOM */
};

/* `trace` is borrowed.  Allocates nothing yet. */
void interpret_init(struct interpret *in, struct trace *trace, enum interpret_mode mode, unsigned want);
void interpret_free(struct interpret *in);

/* Interprets a batch of the reader of format `of`, in place; it may get shorter. */
bool interpret_batch(struct interpret *in, const struct format *of, struct batch *b);

/* Adds arrows that did not fit into that batch to an empty one.  Returns false if there are none. */
bool interpret_more(struct interpret *in, struct batch *b);

/* After the last batch: adds open spans and the last arrows.  *more: call again with an empty batch. */
bool interpret_finish(struct interpret *in, struct batch *b, bool *more);

/* ---- interpret parts ---- */

/* Parts of interpret.c that evaluate a plan for one event.  On OOM they omit something and set the failure
 * flag of the batch, the trace or `in`, which interpret_batch() checks. */

/* Returns the findings for an event of the batch; may be NULL. */
static inline struct findings *interpret_findings(const struct batch *b, const struct event *e)
{
	return b->engine.inputs != NULL ? b->engine.input_findings[b->engine.inputs[e - b->events]]
	                                : b->engine.findings;
}

/* ---- by_time.c ---- */

/* Keeps a BEGIN or END in the window; its batch can be released. */
void by_time_put(struct interpret *in, struct batch *b, const struct event *e, const struct pairing_how *how);

/* Pairs the ends that are due and adds spans, and ends without a begin as instants, to the batch; `end`: all.
 * Returns true if the batch is full: call again. */
bool by_time_give(struct interpret *in, struct batch *b, bool end);
void by_time_free(struct by_time *w);

/* ---- fields.c ---- */

static inline bool interpret_is_named(const struct field *f, struct slice name)
{
	return f->name.n == name.n && (f->name.p == name.p || (name.n > 0 && f->name.p[0] == name.p[0] &&
	                                                       memcmp(f->name.p, name.p, name.n) == 0));
}

/* A field of the event that is not a part of the name of its class, or NULL. */
static inline const struct value *interpret_own_field(const struct batch *b, const struct event *e,
                                                      struct slice name)
{
	const struct field *f = b->fields + e->first_field, *const end = f + e->nfields;

	while (f < end && !interpret_is_named(f, name))
		f++;
	return f < end ? &f->value : NULL;
}

/* A field of the event, or NULL. */
const struct value *interpret_field(const struct batch *b, const struct event *e, struct slice name);

/* The key of a value: the number itself, or a hash of the text.  Returns false for other values. */
static inline bool interpret_number(const struct value *v, uint64_t *number)
{
	const bool text = v->type == VALUE_STRING || v->type == VALUE_BYTES;

	*number = text ? hash_bytes(v->p, v->count, hash_seed()) : v->u64;
	return text || (v->type >= VALUE_BOOL && v->type <= VALUE_I64) || v->type == VALUE_ADDRESS;
}

/* Looks the value of a reference's field up in its tables, in the first one with key2; VALUE_NONE: a
 * definition is missing. */
struct value interpret_look_up(const struct interpret *in, const struct event *e, const struct plan_ref *r,
                               struct value v, uint64_t key2);

/* The value of a reference; VALUE_NONE: a field or definition is missing. */
struct value interpret_ref(const struct interpret *in, const struct batch *b, const struct event *e,
                           const struct plan_ref *r);

/* The scope of a table for an event. */
static inline uint32_t interpret_scope(const struct interpret *in, const struct event *e, uint8_t table)
{
	const uint8_t scope =
	    in->trace->vocabulary != NULL ? in->trace->vocabulary->scopes[table] : PLAN_SCOPE_TRACE;

	if (scope == PLAN_SCOPE_TRACE || e->track == NULL)
		return DEFINITIONS_WHOLE_TRACE;
	return scope == PLAN_SCOPE_THREAD ? e->track->index : track_process(e->track)->index;
}

/* Whether the value means "absent". */
static inline bool interpret_is_none(const struct plan_none *none, const struct value *v)
{
	const bool number = (v->type >= VALUE_U8 && v->type <= VALUE_I64) || v->type == VALUE_ADDRESS;

	for (uint32_t i = 0; number && i < none->n; i++)
		if (v->u64 == none->values[i])
			return true;
	return false;
}

/* Loads a value of a type of fixed size. */
static inline struct value interpret_value_at(const char *p, uint8_t type, bool big)
{
	struct value v = { .type = type };
	uint32_t raw;
	float f;

	switch ((enum value_type)type) {
	case VALUE_U8:
		v.u64 = (uint8_t)*p;
		break;
	case VALUE_U16:
		v.u64 = load_u16(p, big);
		break;
	case VALUE_U32:
		v.u64 = load_u32(p, big);
		break;
	case VALUE_I8:
		v.i64 = (int8_t)*p;
		break;
	case VALUE_I16:
		v.i64 = (int16_t)load_u16(p, big);
		break;
	case VALUE_I32:
		v.i64 = (int32_t)load_u32(p, big);
		break;
	case VALUE_F32:
		raw = load_u32(p, big);
		memcpy(&f, &raw, sizeof f);
		v.f64 = f;
		break;
	default: /* U64, I64, F64, ADDRESS */
		v.u64 = load_u64(p, big);
		break;
	}
	return v;
}

/* The text of a template.  *lasting: it outlives the batch.  Returns false if a field or definition is
 * missing. */
bool interpret_template(const struct interpret *in, struct batch *b, const struct event *e,
                        const struct plan_template *t, struct slice *text, bool *lasting);

/* Decodes the bytes of the payload into fields. */
void interpret_layout(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m);

/* Appends the parts of the class name to the fields; of a span when it is complete, so that they are not
 * copied. */
void interpret_class_parts(struct interpret *in, struct batch *b, struct event *e);

/* Makes the event a counter with only numbers: numbers of a list become series named by m->series, or "NAME
 * 1", "NAME 2" ... */
void interpret_series(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m);

/* ---- steps.c ---- */

/* A plan compiled for the events of a class. */
struct steps;

/* name: that of all events of the class; p NULL: given by the plan.  has_fields: the events have fields;
 * wanted: the consumer reads them.  Allocates in the arena; NULL on OOM. */
struct steps *steps_compile(struct arena *a, const struct plan *m, struct slice name, bool has_fields,
                            bool wanted);

/* Decodes the payload and adds the definitions that an event states. */
void steps_define(struct interpret *in, struct batch *b, struct event *e, const struct steps *s);

/* Results of the steps. */
struct stepped {
	const struct track *track; /* by the plan, or its own */
	uint64_t key;              /* of the plan; 0: none */
	const char *payload;       /* not NULL: it was not decoded */
	bool lasting;              /* the name outlives the batch */
};

/* Like steps_define(); also finds the track and the key and, if `named`, sets the name. */
void steps_apply(struct interpret *in, struct batch *b, struct event *e, const struct steps *s, bool named,
                 struct stepped *to);

/* Whether steps_direct() serves the plan: the events have no payload and define nothing, and one rule at most
 * gives their track, by a field. */
bool steps_are_direct(const struct steps *s);

/* Finds the track, the key and, if `name` is not NULL, the name of an event, if the track is remembered and
 * the name is the text of a field, or fixed, and outlives the batch.  Else returns false, and
 * steps_apply() finds them.  The event is unchanged. */
bool steps_direct(struct interpret *in, struct batch *b, struct event *e, const struct steps *s,
                  struct slice *name, struct stepped *to);

/* Sets the name of an event.  Its track, the scope of tables, must be set. */
void steps_name(struct interpret *in, struct batch *b, struct event *e, const struct steps *s,
                const struct stepped *of);

#endif

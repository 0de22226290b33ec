#ifndef RUN_MEANING_INTERPRET_H
#define RUN_MEANING_INTERPRET_H

#include "base/table.h"
#include "format/format.h"
#include "format/ledger.h"
#include "model/batch_pool.h"
#include "model/plan.h"
#include "model/trace_engine.h"
#include "run/job.h"

/* ---- arrows ---- */

/*
 * Arrows between events: from one that says "the task K is woken" to the one
 * that says "the task K runs now".  An arrow leaves where an `out` is and
 * arrives at the first `in` of the same name and key that is not before it in
 * time.  Several may arrive at one place; an in without outs and, at the end
 * of the trace, an out without an in are nothing special.
 *
 * Traces hold their threads in blocks, so order in the file is not order in
 * time: ends wait in a window.  When it is full, the older half of what it
 * holds is resolved and leaves it; at the end of the trace all of it.  The
 * same trace gives the same arrows on every run.
 *
 *     for each batch:
 *             for each event with a flow: arrows_out, arrows_in
 *             while (arrows_give(a, some_batch_with_room, false)) ...
 *     at the end:
 *             while (arrows_give(a, some_batch_with_room, true)) ...
 */
#define ARROWS_WINDOW 262144 /* ends that wait; 56 bytes each, so 14 MiB */

struct arrow_end;

struct arrows {
	struct arrow_end *ends; /* as they came */
	uint32_t *order, *to;   /* as long as ends; see arrows.c */
	uint32_t *buckets;
	uint32_t n, cap;
	uint32_t at, resolved;  /* [at, resolved) are being handed out; later ones came meanwhile */
	uint32_t old;           /* those before it leave the window then */
	struct tabletext names; /* name -> its number */
	struct slice *list;     /* of the names, by number */
	uint32_t nnames;
	uint64_t id; /* of the last out */
	uint64_t
	    dropped; /* outs that had to leave the window before their in was met: their arrows are missing */
	bool failed; /* memory ran out some time: ends are missing */
};

/* Allocates nothing yet. */
void arrows_init(struct arrows *a);
void arrows_free(struct arrows *a);

/* An arrow leaves at the event, or arrives there.  The bytes of the name, the track and the class must
 * outlive `a`.  The caller takes what is resolved (arrows_give) at least once for each ARROWS_WINDOW ends;
 * what comes beyond twice the window counts as dropped.  The id of an arrow is a->id behind arrows_out():
 * 1, 2, 3 ...  Without memory a->failed is set. */
void arrows_out(struct arrows *a, struct slice name, uint64_t key, const struct event *e);
void arrows_in(struct arrows *a, struct slice name, uint64_t key, const struct event *e);

/* Adds what is resolved to the batch, as far as b->cap goes: pairs of events FLOW_OUT and FLOW_IN with dur =
 * the arrow's id, the arrow's name, no fields, and class, track, ts, offset of its two ends, EVENT_ARROW as
 * the out has it; in the order in which the outs came.  `end`: nothing more will come.  A batch needs room
 * for two events at least.  true: there is more, call again with another batch. */
bool arrows_give(struct arrows *a, struct batch *b, bool end);

/* ---- retained ---- */

/* A name and fields of an event, copied with all they point to, for as long as a span is open. */
struct retained {
	struct batch_block block; /* for the batch that it is given to */
	uint32_t bytes;           /* what it takes */
	uint32_t nfields;
	struct slice name; /* p NULL: it needed no copy */
	struct field fields[];
};

enum retained_made {
	RETAINED_MADE,
	RETAINED_TOO_MUCH, /* more than `limit` bytes, or lists in lists without end */
	RETAINED_NO_MEMORY,
};

/* name: p NULL if it outlives the batch anyway. */
enum retained_made retained_new(struct retained **made, struct slice name, const struct field *fields,
                                uint32_t n, uint32_t limit);
void retained_free(struct retained *k); /* NULL is fine */

/* Same type, same content. */
bool retained_equal(const struct value *a, const struct value *b);

/* The fields of a span: those of its BEGIN, then what the END adds; one of the same name and another value is
 * "end.NAME".  `to` has room for all; returns how many there are.  Without memory the batch has failed. */
uint32_t retained_join(struct batch *b, const struct field *begin, uint32_t nbegin, const struct field *end,
                       uint32_t nend, struct field *to);

/* ---- pending end ---- */

/*
 * Ends of async spans that stand before their beginnings: a trace that is made
 * of the buffers of several threads tells the end of a task in one block and
 * its beginning in a later one.  They wait here until the beginning comes, or
 * the trace ends.  Memory is bounded: EARLY_MAX of them, and their fields count
 * as those of open spans; what is beyond becomes an instant at once.
 */
#define PENDING_END_MAX 32768U /* 80 bytes each */

struct pairing;
struct pending_end;

/* One end of a span. */
struct pairing_end_of {
	uint16_t pair; /* 0 at the END: whatever it is; of a state: its number */
	uint8_t flags; /* enum pairing_flags */
	bool lasting;  /* the name of the event outlives its batch */
	bool fields;   /* somebody wants the fields */
	uint64_t key;  /* 0 if there is none */
};

struct pending_ends {
	struct pending_end *ends;
	uint32_t n, cap;   /* places, free or not */
	uint32_t free;     /* place + 1 of the first free one */
	uint32_t *buckets; /* by hash: place + 1 */
	uint32_t at;       /* pending_end_finish: what is next */
	uint64_t met;      /* offset of the END that pending_end_meet() found last */
};

/* ---- pairing ---- */

/*
 * Beginnings and ends become spans.
 *
 * Each track has a stack of what is open.  An END closes the innermost one of
 * the same pair (and key), also from the middle of the stack: a scan from the
 * top down, PAIRING_LOOK places at most.  A track's states stand beside the
 * stack, one for each word.  What is async (the life of a task, say) may end on
 * another track than it began on: it is found by process, pair and key.
 *
 * A span comes out where its END came, with time, name, class, track, offset and fields
 * of its BEGIN, and those fields of the END that say something else.
 *
 * Memory is bounded: PAIRING_TRACK open ones of a track, PAIRING_ALL in all,
 * PAIRING_BYTES of copied fields.  What is beyond the first two is counted,
 * and its END does not close another; beyond the last the fields are left out.
 * If the system has no memory, `failed` of the pairing or the batch is set; who calls asks once a batch.
 */
#define PAIRING_LOOK 64
#define PAIRING_TRACK 4096
#define PAIRING_ALL (1U << 17) /* 72 bytes each */
#define PAIRING_BYTES (8U << 20)

#define PAIRING_BEYOND_ROOM                                                                                  \
	(1U << 16) /* tracks and pairs of which spans are not retained that are told apart */

enum pairing_flags {
	PAIRING_ASYNC = 1,
	PAIRING_STATE = 2,
};

struct open_span {
	uint64_t ts, offset, key;
	struct slice name;
	const struct class *cls; /* NULL: the place is free */
	const struct track *track;
	struct retained *retained; /* NULL: nothing had to be copied */
	uint32_t below;            /* place + 1 of the next in its list */
	uint16_t pair;             /* or state */
	uint8_t flags;             /* enum pairing_flags */
};

struct open_track {
	uint64_t last; /* the latest time met on it */
	uint32_t top;  /* place + 1 of the innermost span; 0: none */
	uint32_t depth;
	uint32_t states; /* place + 1 of the first of its states */
};

struct pairing {
	struct trace *trace;
	struct open_span *spans;
	uint32_t n;                /* places, free or not */
	uint32_t free;             /* place + 1 of the first free one */
	struct open_track *tracks; /* by index */
	uint32_t ntracks;
	uint32_t *buckets; /* async ones by hash: place + 1; made for the first */
	uint64_t seed;
	struct table64 beyond; /* track and pair -> open ones that are not retained */
	uint32_t nbeyond;      /* sum of these */
	uint32_t retained_bytes;
	struct pending_ends pending; /* ends that came before their beginnings */
	uint32_t at;                 /* pairing_finish: what is next */
	uint64_t last;               /* the latest time of other tracks; pairing_finish: of all */
	uint64_t unpaired;           /* begins and ends without a partner, or not retained */
	struct ledger ledger;
	bool failed; /* memory ran out some time: what came out since then is of no use */
};

void pairing_init(struct pairing *p, struct trace *trace);
void pairing_free(struct pairing *p);

enum pairing_result {
	PAIRING_SPAN,    /* the event is now the span that it completes */
	PAIRING_OPEN,    /* it is retained until its other end comes; the event itself is no longer needed */
	PAIRING_ALONE,   /* nothing was open; the event is as it was */
	PAIRING_DROPPED, /* what it closes was not retained; the event says nothing */
};

/* A BEGIN, or a STATE that opens: OPEN, or SPAN if its end came before it. */
enum pairing_result pairing_begin(struct pairing *p, struct batch *b, struct event *e,
                                  struct pairing_end_of how);

/* An END; OPEN if it is async and its beginning may still come. */
enum pairing_result pairing_end(struct pairing *p, struct batch *b, struct event *e,
                                struct pairing_end_of how);

/* An event that nothing was open for is counted as such. */
void pairing_alone(struct pairing *p, const struct event *e);

/* At the end of the trace: adds what is still open to the batch, as spans that last to the last time of the
 * trace, with the field "unfinished"; states end when their track was last heard of.  true: there was no
 * room for all. */
bool pairing_finish(struct pairing *p, struct batch *b, bool fields);

/* A time was met on a track. */
static inline void pairing_see(struct pairing *p, const struct track *track, uint64_t ts)
{
	uint64_t *const last = track->index < p->ntracks ? &p->tracks[track->index].last : &p->last;

	if (ts > *last)
		*last = ts;
}

/* The time at which an event is over. */
static inline void pairing_see_span(struct pairing *p, const struct event *e)
{
	const uint64_t dur = e->phase == PHASE_SPAN ? e->dur : 0;

	pairing_see(p, e->track, dur > UINT64_MAX - e->ts ? UINT64_MAX : e->ts + dur);
}

/*
 * The common cases, where nothing has to be copied or counted, without a call.  false: not that simple,
 * nothing was done; the functions above do it.  `name` outlives the batch; nobody wants fields; no key.
 */
static inline bool pairing_begin_fast(struct pairing *p, const struct event *e, struct slice name,
                                      uint16_t pair)
{
	const uint32_t place = p->free, track = e->track->index;

	if (place == 0 || p->nbeyond > 0 || track >= p->ntracks)
		return false;
	struct open_track *const t = &p->tracks[track];
	struct open_span *const s = &p->spans[place - 1];
	if (t->depth >= PAIRING_TRACK)
		return false;
	p->free = s->below;
	s->ts = e->ts;
	s->offset = e->offset;
	s->key = 0;
	s->name = name;
	s->cls = e->cls;
	s->track = e->track;
	s->retained = NULL;
	s->below = t->top;
	s->pair = pair;
	s->flags = 0;
	t->top = place;
	t->depth++;
	if (e->ts > t->last)
		t->last = e->ts;
	return true;
}

/* Writes the span to `to`, which may be e itself. */
static inline bool pairing_end_fast(struct pairing *p, const struct event *e, uint16_t pair, struct event *to)
{
	const uint64_t end = e->ts;
	const uint32_t track = e->track->index;

	if (p->nbeyond > 0 || track >= p->ntracks)
		return false;
	struct open_track *const t = &p->tracks[track];
	const uint32_t place = t->top;
	if (place == 0)
		return false;
	struct open_span *const s = &p->spans[place - 1];
	if (s->pair != pair || s->key != 0 || s->retained != NULL || end < s->ts)
		return false;
	*to = (struct event){ .ts = s->ts,
		              .dur = end - s->ts,
		              .name = s->name,
		              .cls = s->cls,
		              .track = s->track,
		              .offset = s->offset,
		              .phase = PHASE_SPAN };
	t->top = s->below;
	t->depth--;
	if (end > t->last)
		t->last = end;
	s->cls = NULL;
	s->below = p->free;
	p->free = place;
	return true;
}

/* ---- interpret ---- */

/*
 * The stage that gives events their meaning (model/plan.h): payloads become
 * fields, definitions are kept and looked up, names and time lines are found,
 * beginnings and ends become spans, wakes find what they woke.  It goes over
 * each batch once, in place, after the reader and before everybody else.
 */

struct known_class;
struct line_cached;

struct interpret {
	struct trace *trace;
	unsigned want;
	bool spans, fields;          /* spans are made; fields are wanted */
	bool checks_payloads;        /* the reader does */
	struct known_class *classes; /* what is known of each class, by its index */
	uint32_t nclasses;
	struct arena arena;
	struct tabletext lines;     /* time lines that events named: "scope:name" -> index of the track */
	struct line_cached *cached; /* the recent ones */
	uint32_t line_bytes;        /* of their names */
	bool lines_full;            /* which was said */
	uint32_t facts_bytes;
	struct pairing pairing;
	struct arrows arrows;
	/* For each event of a batch, if not NULL: the offset of the record that ended it, or its own. */
	uint64_t *others;
	bool open_given; /* interpret_finish: all that was open is out */
	bool failed;     /* memory ran out some time */
};

/* `trace` is borrowed.  Nothing is allocated before it is needed. */
void interpret_init(struct interpret *in, struct trace *trace, enum interpret_mode mode, unsigned want);
void interpret_free(struct interpret *in);

/* The next batch of the reader, which `of` is of; it may be shorter afterwards.  false: no memory. */
bool interpret_batch(struct interpret *in, const struct format *of, struct batch *b);

/* Arrows that had no room in that batch: adds them to an empty one.  false: there are none. */
bool interpret_more(struct interpret *in, struct batch *b);

/* After the last batch: adds what is still open, and the last arrows.  *more: call again with an empty batch.
 * false: no memory. */
bool interpret_finish(struct interpret *in, struct batch *b, bool *more);

/* What became of spans and arrows that could not be had, so far. */
const struct ledger *interpret_ledger(const struct interpret *in);

/* Begins and ends of spans without a partner, so far. */
uint64_t interpret_unpaired(const struct interpret *in);

/* ---- interpret parts ---- */

/* The parts of run/meaning/interpret.c: what a meaning says, found in the fields of one event.  What has no
 * memory leaves something out and sets `failed` of the batch, the trace or `in`:
 * interpret_batch() asks. */

/* What is found in an event of the batch is reported here; may be NULL. */
static inline struct findings *interpret_findings(const struct batch *b, const struct event *e)
{
	return b->engine.inputs != NULL ? b->engine.input_findings[b->engine.inputs[e - b->events]]
	                                : b->engine.findings;
}

/* ---- interpret_text.c ---- */

/* A field of the event, or NULL. */
const struct value *interpret_field(const struct batch *b, const struct event *e, struct slice name);

/* The number that stands for a value in keys: numbers themselves, of texts a hash.  false: it has none. */
bool interpret_number(const struct value *v, uint64_t *number);

/* A reference, looked up in the tables it names; VALUE_NONE: a field or a definition is not there. */
struct value interpret_ref(const struct interpret *in, const struct batch *b, const struct event *e,
                           const struct plan_ref *r);

/* Whose definitions stand in a table, seen from an event. */
uint32_t interpret_scope(const struct interpret *in, const struct event *e, uint8_t table);

/* The text of a template.  *lasting: it outlives the batch.  false: a field or a definition is not there. */
bool interpret_template(const struct interpret *in, struct batch *b, const struct event *e,
                        const struct plan_template *t, struct slice *text, bool *lasting);

/* ---- interpret_learn.c ---- */

/* ---- interpret_layout.c ---- */

/* The payload's bytes become fields. */
void interpret_layout(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m);

/* ---- interpret_class_parts.c ---- */

/* What the name of the class says becomes fields, behind the event's own; of a span when it is complete, so
 * that they need not be kept. */
void interpret_class_parts(struct interpret *in, struct batch *b, struct event *e);

/* ---- interpret_line.c ---- */

/* The time line of an event, as m->tracks say. */
const struct track *interpret_line(struct interpret *in, struct batch *b, const struct event *e,
                                   const struct plan *m);

/* The line below a track that shows its states of this name. */
const struct track *interpret_state_line(struct interpret *in, struct batch *b, const struct event *e,
                                         const struct plan *m);
void interpret_lines_free(struct interpret *in);

/* Makes the event a counter, which has nothing but numbers: a list of them is one series each, named by
 * m->series or "NAME 1", "NAME 2" ... */
void interpret_series(const struct interpret *in, struct batch *b, struct event *e, const struct plan *m);

#endif

#ifndef CTF_CTF_H
#define CTF_CTF_H

#include "base/memory.h"
#include "base/table.h"
#include "format/format.h"
#include "model/event_traits.h"
#include "out/shape.h"
#include "out/tracks.h"
#include "output/text_json.h"

/*
 * The writer of CTF 1.8.  All events are in one stream, in order of time, so
 * that a reader opens one file however many threads there are; who did it
 * stands in the context of each event.  A span is one event with a duration:
 * pairs of events would have to be sorted by the ends of spans, of which any
 * number may be open.
 *
 * There is no uuid: babeltrace2 takes traces with the same one for parts of one
 * trace, and the same input must give the same bytes.  There is no count of
 * discarded events either: what an input lost is not known to a writer.
 */

#define CTF_STREAM_FILE "events"
#define CTF_METADATA_FILE "metadata" /* section 3: its name is fixed */
#define CTF_MAGIC 0xc1fc1fc1U        /* section 5.1 */
#define CTF_PACKET_HEAD 48U          /* magic, stream_id; two times, two sizes, a number */
#define CTF_PACKET_SIZE (256U << 10) /* a packet ends with the event that reaches this */

/* Bounds, so that neither memory nor what readers load at once grows with the trace. */
#define CTF_MOST_CLASSES 32768U
#define CTF_MOST_FIELDS 131072U       /* of all classes together */
#define CTF_MOST_DESCRIBED (8U << 20) /* bytes of their declarations */
#define CTF_CLASS_FIELDS 250U         /* of one class */
#define CTF_MOST_IDENTIFIER 200U
#define CTF_MOST_FACTS 500U

/* Readers hold times, with and without the clock's offset, in signed 64-bit numbers; babeltrace2 refuses
 * INT64_MAX itself. */
#define CTF_MOST_TIME ((uint64_t)INT64_MAX - 1)
#define CTF_LEAST_TIME (INT64_MIN / 2)

enum ctf_loss {
#define LOSS(row, ...) CTF_##row,
#include "ctf/losses.def"
#undef LOSS
	CTF_LOSSES
};

extern const struct loss ctf_losses[CTF_LOSSES + 1];
extern const struct writer_ops ctf_writer_ops;

/* What an event is besides its class: each has classes of its own in the output. */
enum ctf_kind {
	CTF_SPAN,
	CTF_ASYNC,
	CTF_INSTANT,
	CTF_COUNTER,
	CTF_FLOW_OUT,
	CTF_FLOW_IN,
	CTF_FLOW_STEP,
	CTF_BEGIN,
	CTF_END,
	CTF_KINDS
};

/* A class of the output: events of one class, of one kind, with the same fields of the same types. */
struct ctf_layout {
	/* kind: enum ctf_kind; types of members: ctf_type(), and ctf_element() << 8 */
	struct shape shape;
	uint32_t id;
	bool other; /* for those without a class of their own: all fields are one text */
};

struct ctf_state {
	bool signed_time;
	bool any;      /* there was an event */
	uint64_t base; /* the clock's value 0 on the clock of the events; negative, or 0 */
	uint64_t last; /* value of the clock at the last event */
	struct arena arena;
	struct shapes shapes; /* struct ctf_layout */
	struct ctf_layout others[CTF_KINDS];
	struct text declarations; /* of the layouts, in TSDL */
	struct text packet;       /* what is not written yet, with room for its head */
	uint64_t packet_begin, packets;
	struct chunk names; /* losses of the names of tracks; no text */
	struct text scratch;
};

static inline void ctf_lose(struct chunk *chunk, enum ctf_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &ctf_losses[kind], offset, 1);
}

static inline enum ctf_kind ctf_kind_of(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = CTF_SPAN,       [PHASE_BEGIN] = CTF_BEGIN,     [PHASE_END] = CTF_END,
		[PHASE_INSTANT] = CTF_INSTANT, [PHASE_COUNTER] = CTF_COUNTER, [PHASE_FLOW_OUT] = CTF_FLOW_OUT,
		[PHASE_FLOW_IN] = CTF_FLOW_IN,
	};

	if (event_is_step(e))
		return CTF_FLOW_STEP;
	return event_is_async(e) ? CTF_ASYNC : (enum ctf_kind)kinds[e->phase];
}

/* The type that the elements of a list have in a sequence; VALUE_NONE: it is no sequence.  Frames of call
 * stacks are texts and addresses: those are texts, too. */
static inline uint8_t ctf_element(const struct value *v)
{
	const uint8_t e = v->type == VALUE_LIST ? v->element : (uint8_t)VALUE_NONE;

	if (v->type != VALUE_LIST || e != VALUE_NONE)
		return e <= VALUE_STRING ? e : (uint8_t)VALUE_NONE;
	for (uint32_t i = 0; i < v->count; i++)
		if (v->values[i].type != VALUE_STRING && v->values[i].type != VALUE_ADDRESS)
			return VALUE_NONE;
	return v->count > 0 ? VALUE_STRING : VALUE_NONE;
}

/* Whether a value is JSON text of a number that a double can hold. */
bool ctf_json_number(const struct value *v, double *number);

/* The enum value_type that it has in the output. */
static inline uint8_t ctf_type(const struct value *v)
{
	double number;

	return v->type == VALUE_JSON && ctf_json_number(v, &number) ? (uint8_t)VALUE_F64 : v->type;
}

/* Little endian; size: 1, 2, 4 or 8. */
static inline char *ctf_store(char *p, uint64_t v, unsigned size)
{
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		v = __builtin_bswap64(v);
	memcpy(p, &v, size);
	return p + size;
}

/* ---- ctf_text.c ---- */

/* A text and its NUL, into a packet or wherever its losses are counted. */
void ctf_string(struct text *t, struct slice s, struct chunk *chunk, uint64_t offset);

/* A literal of TSDL with its quotes.  Readers print it as it is: what steers a terminal and what is not UTF-8
 * becomes \xNN. */
void ctf_literal(struct text *t, struct slice s);

/* A name as identifier behind `prefix`; false: it had to be changed. */
bool ctf_identifier(struct text *t, const char *prefix, struct slice name);

/* ---- ctf_declare.c ---- */

/* ---- ctf_layout.c ---- */

/* The layout of an event, declared if it is new. */
const struct ctf_layout *ctf_layout_of(struct ctf_state *st, const struct batch *b, const struct event *e,
                                       struct chunk *chunk);

/* ---- ctf_track.c ---- */

/* What events of a track have in their context.  false: no memory. */
bool ctf_declare_track(struct ctf_state *st, struct track *t);

/* ---- ctf_event.c ---- */

/* ---- ctf_metadata.c ---- */

void ctf_metadata(struct ctf_state *st, const struct writer *w, struct chunk *chunk);

#endif

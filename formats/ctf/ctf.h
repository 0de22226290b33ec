#ifndef CTF_CTF_H
#define CTF_CTF_H

/*
 * Private header of the writer of CTF 1.8 (Common Trace Format): a folder with the files "events", a stream
 * of packets, and "metadata", which declares the classes of events in TSDL.
 *
 *   write.c     events, packets, the writer
 *   metadata.c  classes, facts and clock in TSDL
 *
 * All events are in one stream in order of time, so that a reader opens one file, whatever the number of
 * threads; the context of each event names its track.  A span is one event with a duration: pairs of events
 * would have to be sorted by the ends of spans, and any number of spans may be open.
 *
 * There is no uuid: babeltrace2 joins traces with the same uuid as parts of one trace, and equal inputs must
 * give equal bytes.  There is no count of discarded events: a writer cannot determine the losses of an input.
 */

#include "base/table.h"
#include "format/format.h"
#include "out/kind.h"
#include "out/shape.h"
#include "out/tracks.h"

/* ---- limits ---- */

#define CTF_PACKET_SIZE (256U << 10) /* bytes; a packet ends with the event that reaches this size */

/* Limits, so that memory, and the data that readers load at once, do not grow with the trace. */
#define CTF_MAX_CLASSES 32768U
#define CTF_MAX_FIELDS 131072U       /* of all classes */
#define CTF_MAX_DESCRIBED (8U << 20) /* bytes of all declarations */
#define CTF_CLASS_FIELDS 250U        /* of one class */
#define CTF_MAX_IDENTIFIER 200U      /* bytes */
#define CTF_MAX_FACTS 500U

/* Max value of the clock in ns.  Readers store times, with and without the clock's offset, in signed 64-bit
 * numbers; babeltrace2 refuses INT64_MAX. */
#define CTF_MAX_TIME ((uint64_t)INT64_MAX - 1)

enum ctf_loss {
#define LOSS(row, ...) CTF_##row,
#include "ctf/losses.def"
#undef LOSS
	CTF_LOSSES
};

extern const struct loss ctf_losses[CTF_LOSSES + 1];

static inline void ctf_lose(struct chunk *chunk, enum ctf_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &ctf_losses[kind], offset, 1);
}

/* ---- classes of the output ---- */

/* A class of the output: events of one class and kind, with the same fields of the same types. */
struct ctf_layout {
	/* kind: enum event_kind; number: the id; type of a member: enum value_type | element type of a
	 * sequence << 8 */
	struct shape shape;
	bool other; /* declared, and shared by events without their own class: all fields are one text */
};

struct ctf_state {
	bool signed_time;
	bool any;      /* an event was written */
	uint64_t base; /* time of the clock's value 0, in ns of the trace's clock: 0 or negative */
	uint64_t last; /* value of the clock at the last event, ns */
	struct arena arena;
	struct shapes shapes; /* struct ctf_layout */
	struct ctf_layout others[EVENT_KINDS];
	struct text declarations; /* declarations of the layouts in TSDL */
	struct text packet;       /* current packet, with space for its head */
	uint64_t packet_begin;    /* value of the clock at the packet's first event, ns */
	uint64_t packets;         /* number of written packets */
	uint64_t nasync;          /* number of async spans; offsets of several inputs can be equal */
	struct chunk names;       /* losses of the names of tracks, which have no offset; no text */
	struct text scratch;      /* a text that is being made */
};

/* ---- metadata.c ---- */

/* Declares the class of a layout.  Counts a loss at the offset if names change.  Returns false on OOM. */
bool ctf_declare_layout(struct ctf_state *st, const struct ctf_layout *l, struct chunk *chunk,
                        uint64_t offset);

/* Writes the file "metadata". */
void ctf_write_metadata(struct ctf_state *st, const struct writer *w, struct chunk *chunk);

#endif

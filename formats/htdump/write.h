#ifndef HTDUMP_WRITE_H
#define HTDUMP_WRITE_H

#include "model/event_traits.h"
#include "format/format.h"
#include "htdump/wire.h"
#include "htdump/write_select.h"

/*
 * The writer.  Records of a .htdump are written as they are; what other formats
 * hold becomes classes of HawkTracer: wire layout, little endian.
 */

/* Class ids of the output.  0 to 8 are those of HawkTracer 0.11, the others this program's. */
enum htw_class_id {
	HTW_ID_ENDIANNESS,
	HTW_ID_EVENT,
	HTW_ID_CLASS_INFO,
	HTW_ID_FIELD_INFO,
	HTW_ID_SPAN_BASE,
	HTW_ID_SPAN_INT,
	HTW_ID_SPAN, /* HT_CallstackStringEvent: what all spans are */
	HTW_ID_MAPPING,
	HTW_ID_SYSTEM,
	HTW_ID_INSTANT, /* tracetool_Event: what all other events are */
	HTW_ID_ARROW,   /* tracetool_Arrow: what both ends of an arrow are */
	HTW_ID_TRACK,
	HTW_ID_CLASS,
	HTW_ID_FACT,
	HTW_ID_OTHER_SPAN, /* all fields in one text; one for each of the three above */
	HTW_ID_OTHER_INSTANT,
	HTW_ID_OTHER_ARROW,
	HTW_ID_FREE /* the first one for classes of the trace */
};

/* What an event is besides its class: each has layouts of its own. */
enum htw_kind {
	HTW_SPAN,
	HTW_ASYNC,
	HTW_INSTANT,
	HTW_COUNTER,
	HTW_ARROW_OUT,
	HTW_ARROW_IN,
	HTW_BEGIN,
	HTW_END
};

static inline enum htw_kind
htw_kind_of(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = HTW_SPAN,        [PHASE_BEGIN] = HTW_BEGIN,
		[PHASE_END] = HTW_END,          [PHASE_INSTANT] = HTW_INSTANT,
		[PHASE_COUNTER] = HTW_COUNTER,  [PHASE_FLOW_OUT] = HTW_ARROW_OUT,
		[PHASE_FLOW_IN] = HTW_ARROW_IN,
	};

	return event_is_async(e) ? HTW_ASYNC
	                                                               : (enum htw_kind)kinds[e->phase];
}

/* Bounds, so that memory does not grow with the trace and readers with bounds of their own (htdump_wire.h)
 * read the output.  An event beyond them has its fields in one text. */
#define HTW_MOST_CLASSES 32768U
#define HTW_MOST_FIELDS 131072U        /* of all classes together */
#define HTW_MOST_DESCRIBED (12U << 20) /* bytes that all descriptions cost a reader */
#define HTW_CLASS_FIELDS 250U          /* of one class: field_count has 8 bits */
#define HTW_MOST_TEXT (HT_MAX_STRING - 1)
#define HTW_MOST_RECORD (HT_MAX_RECORD - 8192U) /* bytes of all texts of one event; numbers come on top */

struct htw_member {
	struct slice name; /* as the trace has it */
	uint8_t type;      /* enum value_type */
};

/* A class of the output: events of one class, of one kind, with the same fields of the same types. */
struct htw_layout {
	const struct class *cls;
	const struct htw_member *members;
	uint32_t id;
	uint32_t nmembers;
	enum htw_kind kind;
	bool renamed;        /* its name in the output is another */
	bool fields_renamed; /* those of some members are */
};

#define HTW_RECENT 6

/* Of a class of the trace: the layouts that its events had last, the latest first. */
struct htw_class {
	const struct htw_layout *recent[HTW_RECENT];
};

struct htw_track {
	uint32_t number; /* thread_id */
	bool numbered;
	bool reported; /* a record says what it is */
	bool changed;  /* readers show another number */
};

/* Where records of a .htdump stand that are written as they are. */
struct htw_raw {
	bool any; /* something was written */
	bool wire;
	bool big; /* byte order at this place */
	bool skipping;
};

struct htw_state {
	bool is_raw, selected, rebased, signed_time;
	struct htw_raw raw;
	struct htw_select select;
	struct arena arena;
	struct htw_class *classes; /* by index of the trace's class */
	uint32_t nclasses;
	struct htw_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	const struct htw_layout **layouts;
	uint32_t nlayouts, layouts_cap;
	struct table64 signatures;  /* hash of class, kind and fields -> layouts[] */
	uint32_t fields, described; /* counted up to the bounds above */
	bool full;                  /* one of them was reached */
	struct table64 numbers;     /* thread_ids in use */
	uint32_t next_number;
	uint64_t next_id; /* of a record */
	uint64_t last_ts;
	struct text scratch;
};

enum htw_loss {
#define LOSS(row, ...) HTW_##row,
#include "htdump/losses.def"
#undef LOSS
	HTW_LOSSES
};

extern const struct loss htw_losses[HTW_LOSSES + 1];

/* ---- records ---- */

/* A record that is written.  Once memory is out (text.failed) nothing more is added. */
struct htw_record {
	struct chunk *chunk;
	uint64_t offset; /* in the input, of what it is made of */
	uint32_t left;   /* bytes that its texts may still take */
};

static inline void
htw_lose(const struct htw_record *r, enum htw_loss kind)
{
	ledger_add(&r->chunk->ledger, &htw_losses[kind], r->offset, 1);
}

/* Little endian. */
static inline char *
htw_store(char *p, uint64_t v, unsigned size)
{
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		v = __builtin_bswap64(v);
	memcpy(p, &v, size);
	return p + size;
}

#define HTW_HEAD_SIZE HT_HEAD_SIZE

static inline char *
htw_store_head(struct htw_state *st, char *p, uint32_t class_id, uint64_t ts)
{
	p = htw_store(p, class_id, 4);
	p = htw_store(p, ts, 8);
	return htw_store(p, st->next_id++, 8);
}

/* size: 1, 2, 4 or 8. */
static inline void
htw_number(const struct htw_record *r, uint64_t v, unsigned size)
{
	struct text *const t = &r->chunk->text;
	char *const p = text_room(t, 8);

	if (p != NULL) {
		htw_store(p, v, size);
		t->n += size;
	}
}

/* The part of htw_text that looks at the bytes; use that one. */
void htw_text_checked(struct htw_record *r, struct slice s);

/* A text and its NUL, as much of it as fits. */
static inline void
htw_text(struct htw_record *r, struct slice s)
{
	struct text *const t = &r->chunk->text;
	char *p;

	if ((s.flags & SLICE_JSON) == 0 || s.n > HTW_MOST_TEXT || s.n > r->left) {
		htw_text_checked(r, s);
		return;
	}
	p = text_room(t, (size_t)s.n + 1);
	if (p == NULL)
		return;
	p = text_put(p, s.p, s.n);
	*p = '\0';
	t->n += (size_t)s.n + 1;
	r->left -= s.n;
}

/* A record up to its head; its fields follow. */
struct htw_record htw_begin(struct htw_state *st, struct chunk *chunk, uint32_t class_id, uint64_t offset);

/* ---- htdump_write_describe.c ---- */

/* What every output begins with: the byte order, and the classes up to HTW_ID_FREE. */
void htw_prologue(struct htw_state *st, struct chunk *chunk);

/* Describes the class of a layout, and says whose it is.  names: of its members, as they are there. */
void htw_describe(struct htw_state *st, const struct htw_layout *l, const struct slice *names,
                  struct chunk *chunk, uint64_t offset);

/* What the class of a layout of this kind is derived from. */
enum htw_class_id htw_base(enum htw_kind kind);

/* "span", "instant", ... */
struct slice htw_kind_word(enum htw_kind kind);

/* Bytes that a class of this layout costs a reader. */
uint64_t htw_description_cost(const struct htw_layout *l);

/* A name that is taken, with a number behind it: "name (2)".  It lies in the arena; p NULL: no memory. */
struct slice htw_numbered(struct arena *a, struct slice name, uint32_t number);

/* Whether a class or a field of this name would be taken for something else. */
bool htw_is_class_name(struct slice name);
bool htw_is_field_name(struct slice name);

/* ---- htdump_write_layout.c ---- */

/* The layout of an event, described if it is new. */
const struct htw_layout *htw_layout_of(struct htw_state *st, const struct batch *b, const struct event *e,
                                       struct chunk *chunk);

/* ---- htdump_write_track.c ---- */

/* The thread_id of a track; a record tells what it is before its first event. */
uint32_t htw_thread(struct htw_state *st, const struct track *t, struct chunk *chunk, uint64_t offset);

/* At the end: the tracks without events. */
void htw_remaining_tracks(struct htw_state *st, const struct trace *trace, struct chunk *chunk);

/* ---- htdump_write_value.c ---- */

/* A value that has no type in HawkTracer, as text; the outermost one without quotes. */
void htw_value_text(struct text *t, const struct value *v);

/* All fields of an event as a JSON object. */
void htw_fields_text(struct text *t, const struct field *f, uint32_t n);

/* The bits of the float that a double was made of; no arithmetic, which would make quiet NaNs of others. */
uint32_t htw_float_bits(double d);

/* ---- htdump_write_event.c ---- */

void htw_event(struct htw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk);

/* ---- htdump_write_raw.c ---- */

void htw_raw(struct htw_state *st, const struct batch *b, struct chunk *chunk);

/* writer_ops.survey: which structure a selection needs. */
void htw_survey(void *state, const struct batch *b);

/* ---- htdump_write.c ---- */

extern const struct writer_ops htw_ops;

#endif

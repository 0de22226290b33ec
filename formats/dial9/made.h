#ifndef DIAL9_MADE_H
#define DIAL9_MADE_H

#include "dial9/state.h"

/*
 * Events and tracks that this program wrote into a dial9 trace.  The vocabulary
 * names their schemas (`made: event`, `made: track`); the rest the schemas say:
 *
 *     tracetool:KIND:CATEGORY:CLASS     KIND: enum d9_made_kind; % and : of CATEGORY are %25 and %3a
 *         tracetool.track     Varint, the number of a track
 *         tracetool.duration  Varint, ns; of spans
 *         tracetool.arrow     Varint; of arrows
 *         tracetool.name      PooledString, String; Bytes if it is not UTF-8
 *         FIELD[:WORD]        the arguments; WORD: enum d9_made_word
 *     tracetool:track
 *         track Varint (0, 1, 2, ... in a segment), parent optional Varint, kind String,
 *         id optional Varint, name String or Bytes
 */
#define D9_MADE_PREFIX "tracetool:"
#define D9_MADE_TRACK "tracetool:track"
#define D9_MADE_JSON_DEPTH 100U
#define D9_MADE_FIELDS 4 /* before the arguments, at most */

enum d9_made_kind {
	D9_MADE_SPAN,
	D9_MADE_ASYNC,
	D9_MADE_INSTANT,
	D9_MADE_COUNTER,
	D9_MADE_ARROW_OUT,
	D9_MADE_ARROW_IN,
	D9_MADE_BEGIN,
	D9_MADE_END,
	D9_MADE_ARROW_STEP, /* it arrives and goes on */
	D9_MADE_KINDS
};

extern const char *const d9_made_kinds[D9_MADE_KINDS + 1];

static inline bool
d9_made_is_arrow(enum d9_made_kind kind)
{
	return kind == D9_MADE_ARROW_OUT || kind == D9_MADE_ARROW_IN || kind == D9_MADE_ARROW_STEP;
}
extern const char *const d9_made_hidden[D9_MADE_FIELDS];

/* What a value is where dial9 has no type for it. */
enum d9_made_word {
	D9_MADE_PLAIN, /* as it is: said only where the name ends in one of the other words */
	D9_MADE_I8,
	D9_MADE_I16,
	D9_MADE_I32,
	D9_MADE_F32,
	D9_MADE_ADDRESS,
	D9_MADE_TEXT,  /* Bytes that are text, but not UTF-8 */
	D9_MADE_JSON,  /* String */
	D9_MADE_STACK, /* numbers in a list are addresses */
	D9_MADE_WORDS
};

extern const char *const d9_made_words[D9_MADE_WORDS + 1];

/* The word that a name of a field ends in, or D9_MADE_WORDS; *n: bytes of the name before it. */
enum d9_made_word d9_made_word_of(struct slice name, uint32_t *n);

/* What is known of a schema of such events. */
struct d9_made {
	uint8_t kind;    /* enum d9_made_kind */
	uint8_t nhidden; /* fields before the arguments */
	struct slice cls, category;
	uint8_t *words; /* of each argument: enum d9_made_word */
};

/* Takes the schema apart.  false: it is none of these, or there is no memory, which the state remembers. */
bool d9_made_event_schema(struct d9_state *st, struct d9_schema *s);
bool d9_made_track_schema(const struct d9_schema *s);

/* A track record. */
void d9_made_track(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);

/* Makes the event of its hidden fields; *args: where the others begin in the frame. */
void d9_made_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b,
                   struct event *e, const char **args);

/* Gives an argument the type that it had. */
void d9_made_restore(struct d9_state *st, enum d9_made_word word, struct batch *b, struct value *v);

/* The process of events that no such track is for, which is named by the file.  NULL: no memory, which the
 * state remembers. */
const struct track *d9_process(struct d9_state *st);

#endif

#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include "model/batch.h"
#include "model/class.h"
#include "model/event.h"
#include "model/track.h"
#include "format/ledger.h"
#include "format/writer_modes.h"
#include "output/text.h"

/* A run of output, and what it cannot hold.  Failures of both stick: writers need not check. */
struct chunk {
	struct text text;
	struct ledger ledger;
	struct chunk_files files; /* for WRITER_FOLDER: see chunk_file(), chunk_borrow() */
	struct chunk_end end;     /* for temporary files: see format/writer_end.h */
};

struct writer {
	void *state;               /* state_size bytes, zeroed and freed by the engine */
	const struct trace *trace; /* for open and close: facts of the trace, see model/trace.h */
	const struct option_value *options;
	const char *tool, *beside;  /* name and version of this program; for spill_open() */
	bool raw, selected, any;    /* see writer_modes.h; in close: something was rendered */
	bool rebased, signed_time;  /* rebased_by was subtracted from ts; signed_time: read ts as int64_t */
	uint64_t rebased_by;        /* ns; in close */
	const struct ledger *total; /* in close: all losses of the run; format/ledger.h */
};

struct writer_ops {
	size_t state_size;
	unsigned want;           /* WANT_FIELDS, WANT_STRUCTURE, WANT_BYTES: what it looks at besides times */
	unsigned modes;          /* WRITER_INTERPRETED; or raw events: format/writer_modes.h */
	enum event_order order;  /* ORDER_FILE: as they come; ORDER_TIME; ORDER_TRACK_TIME */
	enum writer_shape shape; /* WRITER_FILE; or a folder: format/writer_folder.h */
	bool nested;             /* spans of one track must nest: the engine moves others to extra lanes */
	uint32_t joint;          /* bytes that begin all that is rendered, left out of the first: a comma */
	/* Writes the head of the output.  false, here and below: no memory. */
	bool (*open)(struct writer *w, struct chunk *chunk);
	/* In order, before the batch is rendered: sets `declared` of the tracks and classes new in it. */
	bool (*declare)(struct writer *w, const struct batch *b);
	/* One of these turns a batch into bytes, the other is NULL.  render runs on many threads: it looks at
	 * nothing but the batch, what its tracks and classes were declared as, and what `open` put into the
	 * state; it gives the same bytes wherever batches end.  write runs in order and may keep state. */
	void (*render)(const void *state, const struct batch *b, struct chunk *chunk);
	void (*write)(void *state, const struct batch *b, struct chunk *chunk);
	void (*survey)(void *state, const struct batch *b);   /* NULL, or see format/writer_modes.h */
	bool (*close)(struct writer *w, struct chunk *chunk); /* writes the end of the output */
	void (*free)(void *state);                            /* NULL: the state owns nothing */
};

#endif

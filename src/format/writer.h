#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include "model/batch.h"
#include "model/class.h"
#include "model/event.h"
#include "model/track.h"
#include "format/ledger.h"
#include "format/writer_modes.h"
#include "output/text.h"

/* A run of output, and its losses.  Failures of both are sticky: writers need not check. */
struct chunk {
	struct text text;
	struct ledger ledger;
	struct chunk_files files; /* for WRITER_FOLDER: see chunk_file(), chunk_borrow() */
	struct chunk_end end;     /* for temporary files: format/writer_modes.h */
};

struct writer {
	void *state;               /* state_size bytes, zeroed and freed by the engine */
	const struct trace *trace; /* for open and close: facts (model/trace.h) */
	const struct option_value *options;
	const char *tool, *beside;  /* name and version of this program; for spill_open() */
	bool raw, selected, any;    /* writer_modes.h; any, in close: events were rendered */
	bool rebased, signed_time;  /* rebased_by was subtracted from ts; signed_time: read ts as int64_t */
	uint64_t rebased_by;        /* ns; in close */
	const struct ledger *total; /* in close: all losses of the run; format/ledger.h */
};

struct writer_ops {
	size_t state_size;
	unsigned want;           /* what it reads besides times: WANT_FIELDS, WANT_STRUCTURE, WANT_BYTES */
	unsigned modes;          /* WRITER_INTERPRETED, or raw events: format/writer_modes.h */
	enum event_order order;  /* ORDER_FILE: any; ORDER_TIME; ORDER_TRACK_TIME */
	enum writer_shape shape; /* WRITER_FILE, or a folder: format/writer_modes.h */
	bool nested;             /* spans of one track must nest: the engine moves others to extra lanes */
	uint32_t joint; /* length of a separator: each chunk starts with it, and the first one drops it */
	/* Writes the head of the output. */
	bool (*open)(struct writer *w, struct chunk *chunk);
	/* In order, before the batch is rendered: sets `declared` of its new tracks and classes. */
	bool (*declare)(struct writer *w, const struct batch *b);
	/* One of these renders a batch, the other is NULL.  render runs on many threads: it reads only the
	 * batch, `declared` of its tracks and classes, and the state as `open` left it; its bytes do not
	 * depend on where batches end.  write runs in order and may change the state. */
	void (*render)(const void *state, const struct batch *b, struct chunk *chunk);
	void (*write)(void *state, const struct batch *b, struct chunk *chunk);
	void (*survey)(void *state, const struct batch *b);   /* format/writer_modes.h; NULL: none */
	bool (*close)(struct writer *w, struct chunk *chunk); /* writes the end of the output */
	void (*free)(void *state);                            /* NULL: the state owns nothing */
};

#endif

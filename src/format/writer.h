#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include "base/compiler.h"
#include "format/ledger.h"
#include "model/batch.h"
#include "model/event.h"
#include "output/output.h"
#include "output/text.h"

/* For a folder: bytes of the text from `at` on are for this file. */
struct chunk_part {
	const char *name; /* borrowed */
	size_t at;
};

/* Bytes to insert at `at` of the text, written without a copy. */
struct chunk_borrowed {
	size_t at;
	struct slice bytes;
};

/* A run of output, and its losses.  Failures of both are sticky: writers need not check. */
struct chunk {
	struct text text;
	struct ledger ledger;
	struct arena arena; /* for what is made of the batch */
	/* Set by any function of the writer: a system call failed; one line with path and reason, owned by
	 * the writer and valid until `free`.  The output is discarded. */
	const char *failed;
	struct chunk_part *parts; /* this and the rest: for the engine, and the functions below */
	struct chunk_borrowed *borrowed;
	uint32_t nparts, parts_cap, nborrowed, borrowed_cap;
	bool (*flush)(void *ctx, struct chunk *c); /* NULL: chunk_flush() does nothing */
	void *flush_ctx;
};

/* For a folder (WRITER_FOLDER): text added from now on belongs to the file of this name, which is created
 * even if it is empty.  Call it before adding text.  Names are constants of the writer, or those of the
 * input's files if folder_name_wrong() accepts them, never other text of a trace; they may have sub-folders
 * ("a/b"), see output_folder_put().  The name is borrowed until `free`. */
void chunk_file(struct chunk *c, const char *name);

/* For writer_ops.close, if it writes much: outputs the content of the chunk.  For a folder, text added later
 * belongs to the same file.  Returns false if no more text is needed. */
bool chunk_flush(struct chunk *c);

/* For outputs of one file: appends bytes of the batch, without a copy if they are many; the chunk's text does
 * not contain them then. */
void chunk_borrow(struct chunk *c, struct slice s);

/* For the engine. */
void chunk_clear(struct chunk *c);
void chunk_free(struct chunk *c);

/* The run as a writer sees it. */
struct run_facts {
	const struct trace *trace;  /* for open and close: facts of the input (model/trace.h) */
	const char *tool;           /* name and version of this program */
	bool raw;                   /* WRITER_RAW: events are unmodified records (reader_ops.fields) */
	bool rebased, signed_time;  /* rebased_by was subtracted from ts; signed_time: read ts as int64_t */
	int128 rebased_by;          /* ns, 0 unless rebased; below 0: the input begins before 0; in close */
	const struct ledger *total; /* in close: all losses of the run */
};

struct writer {
	void *state; /* state_size bytes, zeroed and freed by the engine */
	const struct run_facts *run;
	const struct option_value *options;
	const char *temp_near; /* for spill_open() */
};

enum writer_modes {
	WRITER_RAW = 1,         /* with --raw it gets unmodified records of any format */
	WRITER_COVERS = 2,      /* also gets EVENT_LEFT_OUT: unselected events, which cover others */
	WRITER_TEXT = 4,        /* the output is text: useful under the suffix of another text format */
	WRITER_SEEKS = 8,       /* its programs read it at random offsets: useless if compressed */
	WRITER_FEW_FIELDS = 16, /* reads fields of counters and call stacks; of other events only nfields */
};

enum writer_shape { WRITER_FILE, WRITER_FOLDER }; /* the output: one file, or files named by chunk_file() */

/* Writes the meaning of events.  Records of the format itself are copied instead: format/copier.h. */
struct writer_ops {
	size_t state_size;
	unsigned want;          /* needs besides times: WANT_FIELDS, WANT_GAPS */
	unsigned modes;         /* enum writer_modes */
	enum event_order order; /* ORDER_FILE: any */
	enum writer_shape shape;
	bool nested; /* spans of one track must nest: the engine moves others to extra lanes */
	/* Writes the head of the output. */
	bool (*open)(struct writer *w, struct chunk *chunk);
	/* Called in order, before the batch is rendered: sets `declared` of its new tracks and classes.  Text
	 * that it adds to the chunk precedes the events.  NULL: there is nothing to declare. */
	bool (*declare)(struct writer *w, const struct batch *b, struct chunk *chunk);
	/* One of these renders a batch, the other is NULL.  render runs on many threads: it reads only the
	 * batch, `declared` of its tracks and classes, and the state as `open` left it; its bytes do not
	 * depend on the ends of batches.  write runs in order and may change the state. */
	void (*render)(const void *state, const struct batch *b, struct chunk *chunk);
	void (*write)(void *state, const struct batch *b, struct chunk *chunk);
	bool (*close)(struct writer *w, struct chunk *chunk); /* writes the end of the output */
	void (*free)(void *state);                            /* NULL: the state owns nothing */
};

#endif

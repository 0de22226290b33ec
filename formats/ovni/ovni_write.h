#ifndef OVNI_WRITE_H
#define OVNI_WRITE_H

#include "format/format.h"
#include "ovni/ovni_wire.h"

/* The writer: a folder of streams with their metadata.  Records of ovni are copied; see ovni_write_raw.c. */

enum ovw_loss {
#define LOSS(name, id, text, explain) OVW_##name,
#include "ovni/ovni_losses.def"
#undef LOSS
	OVW_LOSSES
};

extern const struct loss ovw_losses[OVW_LOSSES + 1];
extern const struct writer_ops ovw_ops;

/* A file that comes with a stream, until the stream's folder has a name. */
struct ovw_sidecar {
	struct slice name;
	struct text content;
};

#define OVW_MOST_SIDECARS 4

/* Where copied streams go. */
struct ovw_copy {
	const char **streams; /* the file of each, by its number; NULL: none yet */
	uint32_t nstreams;
	struct tabletext names; /* of files that are there -> hashes[] */
	uint64_t *hashes;       /* of the content of sidecars; 0: a stream */
	uint32_t nnames, names_cap;
	struct tabletext folders; /* of which there were several -> the number that the last one got */
	struct ovw_sidecar sidecars[OVW_MOST_SIDECARS];
	uint32_t nsidecars;
	struct text scratch;
};

struct ovw_state {
	bool is_raw, rebased, signed_time;
	struct arena arena;
	struct ovw_copy copy;
};

static inline void
ovw_lose(struct chunk *chunk, enum ovw_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &ovw_losses[kind], offset, 1);
}

/* In the byte order of the stream. */
static inline void
ovw_store(char *p, uint64_t v, unsigned size, bool big)
{
	for (unsigned i = 0; i < size; i++)
		p[i] = (char)(v >> 8 * (big ? size - 1 - i : i));
}

/* ---- ovni_write_raw.c ---- */

void ovw_raw(struct ovw_state *st, const struct batch *b, struct chunk *chunk);
void ovw_raw_free(struct ovw_copy *c);

/* ---- ovni_write_names.c ---- */

/* Keeps a file until its stream has a place.  name: its way in the trace; content.p NULL: it was not read. */
void ovw_sidecar(struct ovw_state *st, struct slice name, struct slice content, struct chunk *chunk);

/* Gives a stream a file, and writes what belongs to it.  name: its way in the trace. */
void ovw_place(struct ovw_state *st, uint64_t number, struct slice name, struct chunk *chunk);

#endif

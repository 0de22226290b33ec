#ifndef DFTRACER_PATHS_H
#define DFTRACER_PATHS_H

#include "dftracer/record.h"

/*
 * The same few shapes of records come again and again: what stands between
 * their values is byte for byte the same.  So the bytes between values are
 * remembered as a tree of literals, and a record that follows a path known
 * from an earlier one needs no parsing: each literal is compared, each value
 * is checked.  Where values begin and strings end is known from the positions of
 * the quotes, so no field has to wait for the one before it.
 */
#define DFT_MAX_NODES 4096
#define DFT_MAX_SHAPES 512
#define DFT_MAX_DEPTH_OF_PATH 200
#define DFT_LITERAL 24   /* bytes of a literal */
#define DFT_SIBLINGS 12  /* that are tried */
#define DFT_PATH_END 255 /* instead of a value: the line ends */
#define DFT_PATH_ARG 254 /* the value is an argument, else a field of the record */

/* What a complete path says of its records, unless a number turns out to be of another kind. */
struct dft_shape {
	uint64_t shape, hashes;
	uint32_t nargs;
	uint16_t special[DFT_ROLES];
};

struct dft_node {
	uint64_t literal[DFT_LITERAL / 8], mask[DFT_LITERAL / 8];
	struct dft_node *sibling, *child;
	const struct dft_shape *shape; /* at the end of a path */
	struct dft_arg arg;            /* all but its place, if the value is an argument */
	uint8_t n;                     /* bytes of the literal */
	uint8_t quotes;                /* in it */
	uint8_t after;                 /* from the last quote to the value */
	uint8_t what;                  /* enum dft_top, DFT_PATH_ARG or DFT_PATH_END */
	uint8_t kind;     /* of the value: JSON_STRING, or any other, which is looked at each time */
	uint8_t key_back; /* how far before the value the key begins */
};

struct dft_paths {
	struct dft_node *nodes; /* the first is the root, and no literal */
	struct dft_shape *shapes;
	uint32_t n, nshapes;
};

bool dft_paths_init(struct dft_paths *x);
void dft_paths_free(struct dft_paths *x);

/* Bytes behind a line that can be read. */
#define DFT_SPARE 32

/* The record that fills the line [p, e) of clean bytes, if it takes a known path.  *quotes: the positions,
 * counted from `base`, of the quotes from p on; moves behind those of the line.  False: it does not. */
bool dft_paths_follow(const struct dft_paths *x, struct dft_record *rec, const char *base,
                      const uint32_t **quotes, const char *p, const char *e);

/* Adds the path of a record that the parser found to be valid and that fills its clean line. */
void dft_paths_learn(struct dft_paths *x, const struct dft_record *rec);

#endif

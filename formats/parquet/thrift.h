#ifndef PARQUET_PARQUET_THRIFT_H
#define PARQUET_PARQUET_THRIFT_H

#include "output/text.h"

/*
 * Writes structures in Thrift's compact protocol, in which Parquet has its
 * headers and its footer (thrift-compact-protocol.md).  Fields of a structure
 * come in the order of their ids.
 */
#define THRIFT_DEPTH 8

/* clang-format off */
enum thrift_type { THRIFT_TRUE = 1, THRIFT_FALSE, THRIFT_BYTE, THRIFT_I16, THRIFT_I32, THRIFT_I64,
	THRIFT_DOUBLE, THRIFT_BINARY, THRIFT_LIST, THRIFT_SET, THRIFT_MAP, THRIFT_STRUCT };
/* clang-format on */

/* Begins as a structure of the top level: { .to = text }, ended by thrift_end(). */
struct thrift {
	struct text *to;
	int last[THRIFT_DEPTH]; /* field id */
	unsigned depth;         /* of structures that are open, below the first */
};

void thrift_i32(struct thrift *t, int id, int32_t v);
void thrift_i64(struct thrift *t, int id, int64_t v);
void thrift_bool(struct thrift *t, int id, bool v);
void thrift_text(struct thrift *t, int id, struct slice s);

/* Opens a structure; thrift_end() ends it. */
void thrift_struct(struct thrift *t, int id);
void thrift_end(struct thrift *t);

/* The head of a list of n things; each is then added by one of the functions below. */
void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t n);
void thrift_add_i32(struct thrift *t, int32_t v);
void thrift_add_text(struct thrift *t, struct slice s);
void thrift_add_struct(struct thrift *t); /* opens it */

/* Seven bits a byte, the lowest first (ULEB128). */
void thrift_varint(struct text *t, uint64_t v);

#endif

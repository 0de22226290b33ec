#ifndef PARQUET_PARQUET_ORACLE_TEST_H
#define PARQUET_PARQUET_ORACLE_TEST_H

#include "base/memory.h"

/*
 * Reads a Parquet file, from the specification alone (parquet.thrift,
 * Encodings.md): a second way, to compare the writer with.  It checks what a
 * file promises of itself: sizes, offsets, counts, statistics, order.
 */

/* A value in the compact protocol of Thrift. */
struct node {
	int id; /* of a field */
	int type;
	int64_t number; /* bool, integers */
	struct slice text;
	struct node *first, *next; /* fields of a structure, things of a list */
	uint32_t n;                /* of these */
};

/* NULL: it is none, or goes beyond `end`. */
struct node *node_read(struct arena *a, const char **p, const char *end);

/* A field; NULL: there is none. */
const struct node *node_get(const struct node *of, int id);
int64_t node_number(const struct node *of, int id, int64_t otherwise);

enum pq_type { PQ_BOOL = 0, PQ_I32 = 1, PQ_I64 = 2, PQ_F64 = 5, PQ_TEXT = 6 };

struct pq_cell {
	bool null;
	int64_t i;
	double f;
	struct slice text;
};

struct pq_column {
	struct slice name;
	enum pq_type type;
	int converted; /* -1: none */
	bool optional;
	struct pq_cell *cells;  /* of all rows */
	bool all_by_dictionary; /* its pages */
};

struct pq_file {
	struct arena arena;
	const char *p;
	size_t n;
	const struct node *footer;
	struct pq_column *columns;
	uint32_t ncolumns;
	uint64_t rows;
	uint32_t groups;
	uint64_t largest_group; /* rows */
	char error[300];
};

/* `p` stays the caller's.  false: see `error`; in any case end with pq_free(). */
bool pq_read(struct pq_file *f, const char *p, size_t n);
void pq_free(struct pq_file *f);

/* Fails the test if there is no such column. */
const struct pq_column *pq_column(const struct pq_file *f, const char *name);

/* Key-value metadata; p NULL: none. */
struct slice pq_about(const struct pq_file *f, const char *key);

/* ---- parquet_pages_test.c ---- */

/* The cells of a column chunk (ColumnMetaData), `rows` from `cells` on. */
bool pq_chunk(struct pq_file *f, struct pq_column *c, const struct node *meta, struct pq_cell *cells,
              uint64_t rows);

bool pq_fault(struct pq_file *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

#ifndef PARQUET_PARQUET_ORACLE_TEST_H
#define PARQUET_PARQUET_ORACLE_TEST_H

#include "base/compiler.h"
#include "base/memory.h"

/*
 * The oracle: a reader of Parquet files, written from the specification alone (parquet.thrift, Encodings.md),
 * to check the writer.  It also checks the metadata against the data: sizes, offsets, counts, statistics,
 * order.
 */

/* A value in the compact protocol of Thrift. */
struct node {
	int id; /* of a field */
	int type;
	int64_t number; /* bool, integers */
	struct slice text;
	struct node *first, *next; /* fields of a structure, elements of a list */
	uint32_t n;                /* number of these */
};

/* Returns NULL if it is invalid or continues after `end`. */
struct node *node_read(struct arena *a, const char **p, const char *end);

/* Returns a field; NULL if there is none. */
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

/* Borrows `p`.  Returns false after setting `error`; call pq_free() in any case. */
bool pq_read(struct pq_file *f, const char *p, size_t n);
void pq_free(struct pq_file *f);

/* Fails the test if there is no such column. */
const struct pq_column *pq_column(const struct pq_file *f, const char *name);

/* Returns key-value metadata; p is NULL if there is none. */
struct slice pq_about(const struct pq_file *f, const char *key);

/* ---- pages_test.c ---- */

/* Reads the `rows` cells of a column chunk (ColumnMetaData). */
bool pq_chunk(struct pq_file *f, struct pq_column *c, const struct node *meta, struct pq_cell *cells,
              uint64_t rows);

bool pq_fault(struct pq_file *f, const char *fmt, ...) PRINTF(2, 3);

#endif

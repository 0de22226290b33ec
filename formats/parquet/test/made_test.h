#ifndef PARQUET_PARQUET_MADE_TEST_H
#define PARQUET_PARQUET_MADE_TEST_H

#include "parquet/test/oracle_test.h"
#include "run/write/test/writer_rig_test.h"

extern const struct format parquet_format, parquet_dir_format;

struct parquet_made {
	void (*fill)(struct trace *t, struct batch *b, uint32_t number);
	uint32_t batches;
	const struct option_value *options;
	bool one_thread; /* not also with 2 and 7 */
	bool in_parts;
	uint64_t sort_memory;
};

struct parquet_run {
	struct writer_rig rig;
	struct pq_file file; /* unless in_parts */
};

/* Runs the writer and reads its output; fails the test if either fails. */
void parquet_run(struct parquet_run *run, const struct parquet_made *made);
void parquet_run_free(struct parquet_run *run);

#endif

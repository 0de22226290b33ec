#ifndef DFTRACER_TALLY_H
#define DFTRACER_TALLY_H

#include "format/format.h"

/* Findings that are reported once, at the end, with a count. */

/* A place in the trace that findings name. */
struct dft_place {
	uint64_t offset, line, column, record;
};

struct dft_tally {
	struct finding_tally met;
	char text[40]; /* of the first time; "": none */
};

enum dft_tallied {
	DFT_LEADING_BLANKS,
	DFT_BLANK_LINES,
	DFT_CR_LF,
	DFT_TRAILING_COMMAS,
	DFT_QUOTED_NUMBERS,
	DFT_PHASE_FORMS,
	DFT_LATER_PHASES,
	DFT_NO_IDS,
	DFT_NO_ARGS,
	DFT_TYPE_FIELDS, /* type, which is usual in d5 */
	DFT_EXTRA_FIELDS,
	DFT_SPARSE_METADATA,
	DFT_NAMES_AS_TEXT,
	DFT_HASHES_AS_TEXT,
	DFT_TEXT_IDS,
	DFT_IDS_REPEATED,
	DFT_HASHES_LATE,
	DFT_TALLIES
};

#endif

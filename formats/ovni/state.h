#ifndef OVNI_STATE_H
#define OVNI_STATE_H

#include "ovni/anomalies.h"
#include "ovni/code.h"
#include "ovni/copy.h"
#include "ovni/metadata.h"
#include "ovni/offsets.h"
#include "ovni/system.h"
#include "ovni/state/check.h"

/* The state of the reader: reader.shared of a trace, and reader.state of a stream. */

struct ovni_shared {
	struct ovni_codes codes;
	struct ovni_system system;
	struct ovni_offsets offsets;
	bool check_state;              /* --check state */
	struct state_checker *checker; /* NULL: no event was checked by the rules of the group state */
	uint32_t nstreams;
	bool offsets_copied; /* that file was handed on, for WANT_FILES */
};

struct ovni_state {
	struct reader *r;
	struct ovni_stream stream;
	bool started;   /* the header was read */
	bool in_region; /* between OU[ and OU] */
	bool ended;     /* OHe was met */
	uint64_t last;  /* clock of the event before */
	int64_t offset; /* ns that the clock of this host is to be moved */
	size_t checked; /* bytes of events that took the fast path in this next */
	uint64_t region_offset, region_record;
	struct finding_tally unsorted, large, below_zero;
	struct ovni_anomalies *anomalies;
	struct ovni_files files; /* for WANT_FILES */

	/* a jumbo event that is too large to be retained: its head, and how much is still to be skipped */
	char jumbo[OVNI_JUMBO_HEAD];
	uint64_t skip, skip_offset;
};

/* What `dur` of a raw record is: by this a writer that copies streams tells them apart. */
static inline uint64_t
ovni_copy_number(const struct ovni_state *st)
{
	return ovni_copies_files(st->r) ? st->stream.number : 0;
}

#endif

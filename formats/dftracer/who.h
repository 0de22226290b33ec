#ifndef DFTRACER_WHO_H
#define DFTRACER_WHO_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/table.h"

/* Numbers for hosts, pids and tids, small enough for keys of tables.  Zero-initialise to start. */
struct dft_who {
	struct table64 large;   /* pids and tids of more than 38 bits -> 0, 1, ... */
	struct tabletext hosts; /* as written -> 1, 2, ... */
	struct slice *texts;    /* of host 1, 2, ... */
	uint32_t nhosts, hosts_cap;
};

#define DFT_MAX_HOST 256 /* bytes of a host that count: the longest name is 255 */

void dft_who_free(struct dft_who *w);

#define DFT_SMALL (UINT64_C(1) << 38)

/* 0, 1, ... for a number of more bits. */
uint32_t dft_large_number(struct dft_who *w, uint64_t v);

/* A number of less than 39 bits for any pid or tid: itself where it is that small.  Past a bound all large
 * ones are one. */
static inline uint64_t
dft_small_number(struct dft_who *w, uint64_t v)
{
	return v < DFT_SMALL ? v : DFT_SMALL + dft_large_number(w, v);
}

/* 1, 2, ... for a host as it is written, whose text is copied into the arena; 0: too many, or no memory (then
 * hosts are not distinguished). */
uint32_t dft_host_number(struct dft_who *w, struct arena *a, struct slice host);

/* As written; host is not 0. */
static inline struct slice
dft_host_text(const struct dft_who *w, uint32_t host)
{
	return w->texts[host - 1];
}

/* As slice_equal(), at once for hashes of 16 digits. */
static inline bool
dft_same_host(struct slice a, struct slice b)
{
	if (a.n != b.n)
		return false;
	if (a.n != 16)
		return slice_equal(a, b);
	return ((load_u64(a.p, false) ^ load_u64(b.p, false)) |
	        (load_u64(a.p + 8, false) ^ load_u64(b.p + 8, false))) == 0;
}

/* A process by its pid and the number of its host (0: not known). */
static inline uint64_t
dft_process_key(struct dft_who *w, uint64_t pid, uint32_t host)
{
	return dft_small_number(w, pid) << 24 | host;
}

#endif

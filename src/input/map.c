/*
 * Mapped files.  A page after the end of a file that became shorter raises SIGBUS.  The handler maps a page
 * of zeros there and counts it.  The reader continues with zeros, and learns afterwards that they are not
 * bytes of the file.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/private.h"

/* ---- SIGBUS ---- */

enum {
	MAX_MAPPINGS = 32768,
	STAT_STEP = 256 << 10, /* bytes read between two checks of the size of a file */
};

/* Static, as a signal handler has no argument of its own.  Atomic, as any thread may map, unmap and fault at
 * any time.  start 0: the slot is free, 1: it is being filled. */
static struct watched {
	_Atomic uintptr_t start;
	_Atomic uintptr_t end;
	atomic_uint faults;
} slots[MAX_MAPPINGS];

/* Slot where the search for a free slot starts. */
static atomic_size_t next_slot;

/* Returns MAX_MAPPINGS if all slots are in use. */
static size_t watch(const void *start, size_t size)
{
	const size_t first = atomic_load(&next_slot);

	for (size_t k = 0; k < MAX_MAPPINGS; k++) {
		const size_t i = (first + k) % MAX_MAPPINGS;
		uintptr_t free_slot = 0;

		if (atomic_load_explicit(&slots[i].start, memory_order_relaxed) != 0 ||
		    !atomic_compare_exchange_strong(&slots[i].start, &free_slot, 1))
			continue;
		atomic_store(&slots[i].faults, 0);
		atomic_store(&slots[i].end, (uintptr_t)start + size);
		atomic_store(&slots[i].start, (uintptr_t)start);
		atomic_store(&next_slot, i + 1);
		return i;
	}
	return MAX_MAPPINGS;
}

static void unwatch(size_t slot)
{
	atomic_store(&slots[slot].end, 0); /* cleared first: no address is below 0 */
	atomic_store(&slots[slot].start, 0);
	if (slot < atomic_load(&next_slot))
		atomic_store(&next_slot, slot);
}

static bool replace_page(uintptr_t at)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < MAX_MAPPINGS; i++) {
		const uintptr_t start = atomic_load(&slots[i].start);
		const uintptr_t end = atomic_load(&slots[i].end);

		if (start <= 1 || at < start || at >= end)
			continue;
		atomic_fetch_add(&slots[i].faults, 1);
		return mmap((void *)(at / page * page), page, PROT_READ,
		            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
	}
	return false;
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	const int saved = errno;

	/* Positive codes are faults of the machine; a process sent the others. */
	if (info->si_code <= 0 || !replace_page((uintptr_t)info->si_addr)) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
	errno = saved;
}

void input_handle_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO;
	sigemptyset(&action.sa_mask);
	(void)sigaction(SIGBUS, &action, NULL);
}

/* ---- mappings ---- */

/* A mapping is a buffer like others: it is unmapped with the last reference. */
static void mapping_destroy(struct input_buffer *b)
{
	struct input_mapping *m = (struct input_mapping *)b; /* the buffer is its first member */

	unwatch(m->slot);
	(void)munmap(b->bytes - m->skew, b->cap + m->skew);
	free(m);
}

static struct input_mapping *map_range(int fd, uint64_t offset, size_t size, const struct stat *st,
                                       int watched)
{
	const size_t skew = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));
	struct input_mapping *m = calloc(1, sizeof *m);
	void *at;

	if (m == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	at = mmap(NULL, size + skew, PROT_READ, MAP_PRIVATE, fd, (off_t)(offset - skew));
	if (at == MAP_FAILED) {
		free(m);
		return NULL;
	}
	m->slot = watch(at, size + skew);
	if (m->slot == MAX_MAPPINGS) {
		(void)munmap(at, size + skew);
		free(m);
		errno = 0;
		return NULL;
	}
	(void)madvise(at, size + skew, MADV_SEQUENTIAL);
	m->skew = skew;
	m->buffer = (struct input_buffer){
		.bytes = (char *)at + skew, .cap = size, .mapped = true, .destroy = mapping_destroy
	};
	atomic_init(&m->buffer.refs, 1);
	m->id = input_id_of(st);
	m->watched = watched;
	return m;
}

struct input_mapping *input_map(int fd, const struct stat *st)
{
	return map_range(fd, 0, (size_t)st->st_size, st, -1);
}

struct input_mapping *input_map_part(int fd, uint64_t offset, size_t size, const struct stat *st)
{
	return map_range(fd, offset, size, st, fd);
}

static unsigned missing_pages(const struct input_mapping *m)
{
	return atomic_load(&slots[m->slot].faults);
}

void input_map_forget(const struct input_mapping *m, size_t from, size_t to)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	from = (from + m->skew + page - 1) / page * page;
	to = (to + m->skew) / page * page;
	if (from < to)
		(void)madvise(m->buffer.bytes - m->skew + from, to - from, MADV_DONTNEED);
}

enum input_fault input_map_look(const struct input_mapping *m, const struct input *in)
{
	const int fd = m->watched >= 0 ? m->watched : input_fd_of(in->path);
	struct stat st;

	if (missing_pages(m) > 0)
		return INPUT_SHRUNK;
	if ((fd >= 0 ? fstat(fd, &st) : stat(in->path, &st)) != 0)
		return INPUT_OK;
	return input_id_compare(&m->id, &st, in->again);
}

/* A file that is cut within a page, or within the last pages, reads as zeros without a signal, so its size is
 * checked too. */
bool input_map_changed(const struct input_mapping *m, struct input *in, size_t at, size_t *looked)
{
	if (missing_pages(m) > 0)
		return input_fail_compared(in, INPUT_SHRUNK);
	if (at != m->buffer.cap && at - *looked < STAT_STEP)
		return false;
	*looked = at;
	return input_fail_compared(in, input_map_look(m, in));
}

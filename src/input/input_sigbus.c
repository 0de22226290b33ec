#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "input/input_source.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A page of a mapping that lies behind the end of a file that became shorter
 * raises SIGBUS.  The handler puts a page of zeros there and notes it; the
 * reader goes on over zeros and is told afterwards that they mean nothing.
 *
 * State outside of functions, because a signal handler gets no argument of
 * ours.  Any thread may map, unmap and fault at any time, so it is atomic:
 * a slot is free at start 0, being filled in at start 1.
 */
static struct watched {
	_Atomic uintptr_t start;
	_Atomic uintptr_t end;
	atomic_uint faults;
} slots[INPUT_NO_SLOT];

/* Where to look for a free slot first. */
static atomic_size_t next_slot;

size_t
input_sigbus_watch(const void *start, size_t size)
{
	const size_t first = atomic_load(&next_slot);

	for (size_t k = 0; k < INPUT_NO_SLOT; k++) {
		const size_t i = (first + k) % INPUT_NO_SLOT;
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
	return INPUT_NO_SLOT;
}

void
input_sigbus_unwatch(size_t slot)
{
	atomic_store(&slots[slot].end, 0); /* first: no address is below 0 */
	atomic_store(&slots[slot].start, 0);
	if (slot < atomic_load(&next_slot))
		atomic_store(&next_slot, slot);
}

unsigned
input_sigbus_faults(size_t slot)
{
	return atomic_load(&slots[slot].faults);
}

static bool
replace_page(uintptr_t at)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < INPUT_NO_SLOT; i++) {
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

static void
on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	const int saved = errno;

	/* Positive codes are faults of the machine; others were sent by somebody. */
	if (info->si_code <= 0 || !replace_page((uintptr_t)info->si_addr)) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
	errno = saved;
}

void
input_handle_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO;
	sigemptyset(&action.sa_mask);
	(void)sigaction(SIGBUS, &action, NULL);
}

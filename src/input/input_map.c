#define _GNU_SOURCE /* madvise */
#include "input/input_source.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_STEP = 256 << 10 }; /* bytes read between two looks at the size of a file */

/* A mapping is a buffer like others: it goes when the last input and the last holder are gone. */
static void
mapping_destroy(struct input_buffer *b)
{
	struct input_mapping *m = (struct input_mapping *)b; /* its first member */

	input_sigbus_unwatch(m->slot);
	(void)munmap(b->bytes - m->skew, b->cap + m->skew);
	free(m);
}

static struct input_mapping *
map(int fd, uint64_t offset, size_t size, const struct stat *st, int watched)
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
	m->slot = input_sigbus_watch(at, size + skew);
	if (m->slot == INPUT_NO_SLOT) {
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

struct input_mapping *
input_map(int fd, const struct stat *st)
{
	return map(fd, 0, (size_t)st->st_size, st, -1);
}

struct input_mapping *
input_map_part(int fd, uint64_t offset, size_t size, const struct stat *st)
{
	return map(fd, offset, size, st, fd);
}

unsigned
input_map_faults(const struct input_mapping *m)
{
	return input_sigbus_faults(m->slot);
}

void
input_map_forget(const struct input_mapping *m, size_t from, size_t to)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	from = (from + m->skew + page - 1) / page * page;
	to = (to + m->skew) / page * page;
	if (from < to)
		(void)madvise(m->buffer.bytes - m->skew + from, to - from, MADV_DONTNEED);
}

enum input_fault
input_map_look(const struct input_mapping *m, const struct input *in)
{
	const int fd = m->watched >= 0 ? m->watched : input_fd_of(in->path);
	struct stat st;

	if (input_map_faults(m) > 0)
		return INPUT_SHRUNK;
	if ((fd >= 0 ? fstat(fd, &st) : stat(in->path, &st)) != 0)
		return INPUT_OK;
	return input_id_compare(&m->id, &st, in->again);
}

/* A file cut inside of a page, or inside of the last pages, reads as zeros without a signal: so its size is
 * looked at too, now and then and at the end. */
bool
input_map_changed(const struct input_mapping *m, struct input *in, size_t at, size_t *looked)
{
	if (input_map_faults(m) > 0)
		return input_fail_compared(in, INPUT_SHRUNK);
	if (at != m->buffer.cap && at - *looked < STAT_STEP)
		return false;
	*looked = at;
	return input_fail_compared(in, input_map_look(m, in));
}

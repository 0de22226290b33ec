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
	(void)munmap(b->bytes, b->cap);
	free(m);
}

struct input_mapping *
input_map(int fd, size_t size, dev_t device, ino_t inode)
{
	struct input_mapping *m = calloc(1, sizeof *m);
	void *at;

	if (m == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED) {
		free(m);
		return NULL;
	}
	m->slot = input_sigbus_watch(at, size);
	if (m->slot == INPUT_NO_SLOT) {
		(void)munmap(at, size);
		free(m);
		errno = 0;
		return NULL;
	}
	(void)madvise(at, size, MADV_SEQUENTIAL);
	m->buffer =
	    (struct input_buffer){ .bytes = at, .cap = size, .mapped = true, .destroy = mapping_destroy };
	atomic_init(&m->buffer.refs, 1);
	m->device = device;
	m->inode = inode;
	return m;
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

	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (from < to)
		(void)madvise(m->buffer.bytes + from, to - from, MADV_DONTNEED);
}

/* A file cut inside of a page, or inside of the last pages, reads as zeros without a signal: so its size is
 * looked at too, now and then and at the end. */
bool
input_map_shrank(const struct input_mapping *m, const char *path, size_t at, size_t *looked)
{
	if (input_map_faults(m) > 0)
		return true;
	if (at != m->buffer.cap && at - *looked < STAT_STEP)
		return false;
	*looked = at;
	return input_map_is_longer(m, path);
}

bool
input_map_is_longer(const struct input_mapping *m, const char *path)
{
	struct stat st;

	if ((path[0] == '-' && path[1] == '\0' ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0)
		return false;
	return st.st_dev == m->device && st.st_ino == m->inode && (uint64_t)st.st_size < m->buffer.cap;
}

#include "output/byte_sum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 256 << 10 };

static int
read_all(struct byte_sum *s, int fd, char *room)
{
	for (;;) {
		const ssize_t did = read(fd, room, READ_STEP);
		if (did == 0)
			return 0;
		if (did > 0)
			byte_sum_add(s, room, (size_t)did);
		else if (errno != EINTR)
			return errno;
	}
}

int
byte_sum_read(struct byte_sum *s, const char *path)
{
	char *const room = malloc(READ_STEP);
	struct stat st;
	int fd, why = 0;

	*s = (struct byte_sum){ .bytes = 0 };
	if (room == NULL)
		return ENOMEM;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	while (fd < 0 && errno == EINTR);
	if (fd < 0 || fstat(fd, &st) != 0)
		why = errno;
	else
		why = S_ISREG(st.st_mode) ? read_all(s, fd, room) : EINVAL;
	if (fd >= 0)
		(void)close(fd);
	free(room);
	return why;
}

#define _GNU_SOURCE /* TIOCGWINSZ */
#include "base/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MOST 10000

unsigned
terminal_columns(int fd)
{
	const char *const set = getenv("COLUMNS");
	struct winsize size;

	const long columns = set != NULL ? strtol(set, NULL, 10) : 0;
	if (columns > 0 && columns <= MOST)
		return (unsigned)columns;
	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

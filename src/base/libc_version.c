#include "base/libc_version.h"

#include <stdio.h>
#include <unistd.h>

const char *
libc_version(char *room, size_t n)
{
	snprintf(room, n, "libc");
#ifdef _CS_GNU_LIBC_VERSION
	char name[64];
	const size_t length = confstr(_CS_GNU_LIBC_VERSION, name, sizeof name);
	if (length > 0 && length <= sizeof name)
		snprintf(room, n, "%s", name);
#endif
	return room;
}

#ifndef BASE_LIBC_VERSION_H
#define BASE_LIBC_VERSION_H

#include <stddef.h>

/* Name and version of the C library that runs, such as "glibc 2.36"; "libc" if it does not say.  Written to
 * `room` of n bytes, which is returned. */
const char *libc_version(char *room, size_t n);

#endif

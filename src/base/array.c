#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 16U

/* The caller's pointer is of another type than void *: it is copied, not looked at through one. */
static void *
resized(void *list, uint64_t count, size_t size)
{
	void *p;

	memcpy(&p, list, sizeof p);
	if (count > UINT32_MAX || count > SIZE_MAX / size)
		return NULL;
	p = realloc(p, (size_t)count * size);
	if (p != NULL)
		memcpy(list, &p, sizeof p);
	return p;
}

bool
array_room(void *list, uint32_t n, uint32_t *cap, size_t size)
{
	if (n < *cap)
		return true;
	const uint64_t want = *cap == 0 ? FIRST_CAP : (uint64_t)*cap * 2;
	if (resized(list, want, size) == NULL)
		return false;
	*cap = (uint32_t)want;
	return true;
}

bool
array_reach(void *list, uint32_t *n, uint32_t index, size_t size)
{
	uint64_t want = *n < FIRST_CAP ? FIRST_CAP : *n;

	if (index < *n)
		return true;
	while (want <= index)
		want *= 2;
	char *const p = resized(list, want, size);
	if (p == NULL)
		return false;
	memset(p + *n * size, 0, ((size_t)want - *n) * size);
	*n = (uint32_t)want;
	return true;
}

#include "input/input_tar.h"

#include <string.h>

/* Places in a header. */
enum {
	NAME = 0,
	NAME_N = 100,
	SIZE = 124,
	NUMBER_N = 12,
	CHECKSUM = 148,
	CHECKSUM_N = 8,
	TYPE = 156,
	MAGIC = 257,
	PREFIX = 345,
	PREFIX_N = 155,
};

/* Octal digits between blanks and NULs, or with the highest bit set a number in base 256.  false: neither, or
 * more than 63 bits. */
static bool
read_number(const char *p, unsigned n, uint64_t *v)
{
	const unsigned char *const u = (const unsigned char *)p;
	unsigned i = 0;

	*v = 0;
	if ((u[0] & 0x80) != 0) {
		for (i = 0; i < n; i++) {
			const unsigned byte = i == 0 ? u[0] & 0x7f : u[i];
			if (*v >> 55 != 0)
				return false;
			*v = *v << 8 | byte;
		}
		return *v >> 63 == 0;
	}
	while (i < n && p[i] == ' ')
		i++;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		*v = *v << 3 | (uint64_t)(p[i] - '0');
	return i == n || p[i] == ' ' || p[i] == '\0';
}

/* Some old programs added the bytes up as signed ones. */
static bool
checksum_fits(const char *block)
{
	uint64_t want, sum = 0;
	int64_t with_signs = 0;

	for (unsigned i = 0; i < TAR_BLOCK; i++) {
		const char c = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_N ? ' ' : block[i];
		sum += (unsigned char)c;
		with_signs += (signed char)c;
	}
	return read_number(block + CHECKSUM, CHECKSUM_N, &want) &&
	       (want == sum || (int64_t)want == with_signs);
}

static void
set_name(struct tar_entry *e, const char *p, uint64_t n)
{
	while (n > 0 && (*p == '/' || (n > 1 && p[0] == '.' && p[1] == '/'))) {
		const unsigned skip = *p == '/' ? 1 : 2;
		p += skip;
		n -= skip;
	}
	e->name[0] = '\0';
	if (n >= TAR_NAME_MAX)
		return;
	memcpy(e->name, p, (size_t)n);
	e->name[n] = '\0';
}

/* prefix/name; the prefix of GNU headers is something else. */
static void
read_name(struct tar_entry *e, const char *block)
{
	char whole[NAME_N + PREFIX_N + 1];
	size_t n = 0;

	if (memcmp(block + MAGIC, "ustar\0", 6) == 0 && block[PREFIX] != '\0') {
		n = strnlen(block + PREFIX, PREFIX_N);
		memcpy(whole, block + PREFIX, n);
		whole[n++] = '/';
	}
	const size_t own = strnlen(block + NAME, NAME_N);
	memcpy(whole + n, block + NAME, own);
	set_name(e, whole, n + own);
}

static enum tar_kind
kind_of(const struct tar_entry *e, char type)
{
	const size_t n = strlen(e->name);

	switch (type) {
	case '\0':
	case '0':
	case '7':
		return n > 0 && e->name[n - 1] == '/' ? TAR_OTHER : TAR_FILE;
	case '1':
	case '2':
	case 'S':
		return TAR_LINK;
	case 'L':
		return TAR_LONG_NAME;
	case 'x':
		return TAR_PAX;
	case 'g':
	case 'K':
	case 'V':
		return TAR_EXTENSION;
	default:
		return TAR_OTHER;
	}
}

static bool
is_extension(enum tar_kind kind)
{
	return kind == TAR_LONG_NAME || kind == TAR_PAX || kind == TAR_EXTENSION;
}

void
tar_read_header(struct tar_entry *e, const char *block)
{
	static const char zeros[TAR_BLOCK];
	const char type = block[TYPE];
	uint64_t size;

	if (memcmp(block, zeros, TAR_BLOCK) == 0) {
		e->kind = TAR_END;
		return;
	}
	if (!checksum_fits(block) || !read_number(block + SIZE, NUMBER_N, &size)) {
		e->kind = TAR_BAD;
		return;
	}
	e->kind = kind_of(e, type);
	if (is_extension(e->kind)) {
		e->size = size;
		return;
	}
	if (!e->has_size)
		e->size = size;
	if (!e->has_name)
		read_name(e, block);
	e->kind = kind_of(e, type);
	if (type == '1' || type == '2' || type == '5') /* no data follows, whatever is said */
		e->size = 0;
}

void
tar_read_long_name(struct tar_entry *e, const char *p, uint64_t n)
{
	set_name(e, p, strnlen(p, (size_t)n));
	e->has_name = true;
}

/* "LENGTH KEY=VALUE\n", one behind the other. */
void
tar_read_pax(struct tar_entry *e, const char *p, uint64_t n)
{
	const char *const end = p + n;

	while (p < end) {
		const char *const record = p;
		uint64_t length = 0;
		for (; p < end && *p >= '0' && *p <= '9' && length < TAR_EXTENSION_MAX; p++)
			length = length * 10 + (uint64_t)(*p - '0');
		if (p == end || *p != ' ' || length > (uint64_t)(end - record) ||
		    length < (uint64_t)(p - record) + 2)
			return;
		const char *const key = p + 1, *const stop = record + length - 1;
		const char *const equals = memchr(key, '=', (size_t)(stop - key));
		p = stop + 1;
		if (equals == NULL)
			continue;
		if (equals - key == 4 && memcmp(key, "path", 4) == 0) {
			set_name(e, equals + 1, (uint64_t)(stop - equals - 1));
			e->has_name = true;
		} else if (equals - key == 4 && memcmp(key, "size", 4) == 0) {
			uint64_t size = 0;
			for (const char *q = equals + 1;
			     q < stop && *q >= '0' && *q <= '9' && size >> 58 == 0; q++)
				size = size * 10 + (uint64_t)(*q - '0');
			e->size = size;
			e->has_size = true;
		}
	}
}

/* Headers of tar archives.  V7, ustar, pax, GNU and Solaris differ in the precedence of names, and in the
 * data that follow a header.  Unknown types are regular files. */
#include <string.h>

#include "input/private.h"

/* Offsets in a header, and lengths (_N). */
enum {
	NAME = 0,
	NAME_N = 100,
	SIZE = 124,
	NUMBER_N = 12,
	CHECKSUM = 148,
	CHECKSUM_N = 8,
	TYPE = 156,
	TARGET = 157,
	MAGIC = 257,
	PREFIX = 345,
	PREFIX_N = 155,
	MAP_MORE = 482,    /* in the header of a GNU sparse file */
	MAP_MORE_AT = 504, /* in a block of its map */
};

/* Reads octal digits between blanks and NULs, or, with the highest bit set, a number in base 256.  Returns
 * false for others, and for more than 63 bits. */
static bool read_number(const char *p, unsigned n, uint64_t *v)
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

/* Old programs add bytes as signed. */
static bool checksum_fits(const char *block)
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

void tar_set_name(char *to, const char *p, uint64_t n)
{
	to[0] = '\0';
	if (n >= TAR_NAME_MAX)
		return;
	while (n > 0 && (*p == '/' || (n > 1 && p[0] == '.' && p[1] == '/'))) {
		const unsigned skip = *p == '/' ? 1 : 2;
		p += skip;
		n -= skip;
	}
	memcpy(to, p, (size_t)n);
	to[n] = '\0';
}

/* Reads the name "prefix/name"; GNU headers have other data in place of the prefix. */
static void read_name(struct tar_entry *e, const char *block)
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
	tar_set_name(e->name, whole, n + own);
}

/* Unknown types are regular files (POSIX).  So are access rights of Solaris (A): they are before the file and
 * have its name, so that the file replaces them. */
static enum tar_kind kind_of(char type, uint64_t size)
{
	switch (type) {
	case '1':
		return TAR_HARD_LINK;
	case '2':
		return TAR_SYMBOLIC_LINK;
	case '3':
	case '4':
	case '6':
		return TAR_SPECIAL;
	case '5':
	case 'D': /* GNU: with a list of its files */
		return TAR_FOLDER;
	case 'S':
		return TAR_SPARSE;
	case 'M':
		return TAR_CONTINUED;
	case 'L':
		return TAR_LONG_NAME;
	case 'K':
		return TAR_LONG_LINK;
	case 'x':
	case 'X': /* Solaris, before pax */
		return TAR_PAX;
	case 'g':
		return TAR_GLOBAL;
	case 'V': /* GNU: name of the volume */
		return size == 0 ? TAR_EXTENSION : TAR_FILE;
	default:
		return TAR_FILE;
	}
}

/* Reads the header of a file; attributes of earlier headers have priority. */
static void read_file(struct tar_entry *e, const char *block, uint64_t size)
{
	const char type = block[TYPE];

	if (!e->has.size)
		e->size = size;
	if (!e->has.name)
		read_name(e, block);
	if (!e->has.target)
		tar_set_name(e->target, block + TARGET, strnlen(block + TARGET, NAME_N));
	size_t n = strlen(e->name);
	e->more_map = e->kind == TAR_SPARSE && block[MAP_MORE] != 0;
	if (type >= '1' && type <= '6') /* no data follows, even if there is a size */
		e->size = 0;
	else if (e->kind == TAR_FILE && e->size == 0 && (n > 0 ? e->name[n - 1] == '/' : !e->has.name))
		e->kind = TAR_FOLDER; /* V7 had no types; "./" is stored as no name */
	else if (e->kind == TAR_FILE)
		while (n > 0 && e->name[n - 1] == '/') /* it has data, so it is not a folder */
			e->name[--n] = '\0';
	if (e->kind == TAR_FILE && e->has.continued)
		e->kind = TAR_CONTINUED;
	else if (e->kind == TAR_FILE && e->has.sparse)
		e->kind = TAR_SPARSE;
}

void tar_read_header(struct tar_entry *e, const char *block)
{
	static const char zeros[TAR_BLOCK];
	uint64_t size;

	if (memcmp(block, zeros, TAR_BLOCK) == 0) {
		e->kind = TAR_END;
		return;
	}
	if (!checksum_fits(block) || !read_number(block + SIZE, NUMBER_N, &size)) {
		e->kind = TAR_BAD;
		return;
	}
	e->kind = kind_of(block[TYPE], size);
	if (e->kind >= TAR_LONG_NAME)
		e->extension = size;
	else
		read_file(e, block, size);
}

bool tar_map_goes_on(const char *block)
{
	return block[MAP_MORE_AT] != 0;
}

/* ---- pax ---- */

static bool is_key(const char *key, size_t n, const char *name)
{
	return n == strlen(name) && memcmp(key, name, n) == 0;
}

static bool begins_with(const char *key, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(key, with, strlen(with)) == 0;
}

bool tar_pax_wants(const char *key, size_t n)
{
	return is_key(key, n, "path") || is_key(key, n, "linkpath") || is_key(key, n, "size") ||
	       is_key(key, n, "GNU.sparse.name") || is_key(key, n, "GNU.volume.offset");
}

static bool read_decimal(const char *p, uint64_t n, uint64_t *v)
{
	*v = 0;
	if (n == 0 || n > 19)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		*v = *v * 10 + (uint64_t)(p[i] - '0');
	}
	return true;
}

bool tar_pax_set(struct tar_entry *e, const char *key, size_t n, const char *value, uint64_t nvalue)
{
	uint64_t number;

	if (begins_with(key, n, "GNU.sparse."))
		e->has.sparse = true;
	if (!tar_pax_wants(key, n))
		return true;
	if (is_key(key, n, "size") || is_key(key, n, "GNU.volume.offset")) {
		if (!read_decimal(value, nvalue, &number))
			return false;
		if (is_key(key, n, "size")) {
			e->size = number;
			e->has.size = true;
		} else {
			e->has.continued = number > 0;
		}
		return true;
	}
	if (nvalue < TAR_NAME_MAX && memchr(value, '\0', (size_t)nvalue) != NULL)
		return false;
	if (is_key(key, n, "linkpath")) {
		tar_set_name(e->target, value, nvalue);
		e->has.target = true;
		return true;
	}
	const bool real = key[0] == 'G';
	if (real || !e->has.real_name)
		tar_set_name(e->name, value, nvalue);
	e->has.real_name |= real;
	e->has.name = true;
	return true;
}

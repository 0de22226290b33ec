#ifndef INPUT_INPUT_TAR_H
#define INPUT_INPUT_TAR_H

#include <stdbool.h>
#include <stdint.h>

/* Headers of tar archives: blocks of 512 bytes (POSIX.1-2001 pax, "ustar Interchange Format"; GNU tar, "Basic
 * Tar Format"). */
enum { TAR_BLOCK = 512, TAR_NAME_MAX = 4096, TAR_EXTENSION_MAX = 65536 };

enum tar_kind {
	TAR_END, /* a block of zeros */
	TAR_BAD, /* no header: the checksum is wrong */
	TAR_FILE,
	TAR_OTHER,     /* a folder, a device */
	TAR_LINK,      /* a link, or a file with holes */
	TAR_LONG_NAME, /* GNU: what follows is the name of the next file */
	TAR_PAX,       /* what follows are attributes of the next file */
	TAR_EXTENSION, /* of no use here */
};

/* What headers say of a file; name and size may have been said by earlier ones. */
struct tar_entry {
	enum tar_kind kind;
	char name[TAR_NAME_MAX]; /* NUL-terminated, without "./" and "/" before it; empty: too long */
	uint64_t size;
	bool has_name, has_size; /* from a header before */
};

/* Reads a block.  e: zeroed, or what the extensions before this block said. */
void tar_read_header(struct tar_entry *e, const char *block);

/* Reads the n bytes behind a TAR_LONG_NAME or TAR_PAX. */
void tar_read_long_name(struct tar_entry *e, const char *p, uint64_t n);
void tar_read_pax(struct tar_entry *e, const char *p, uint64_t n);

/* How many bytes of padding follow data of this size. */
static inline uint64_t
tar_padding(uint64_t size)
{
	return -size % TAR_BLOCK;
}

#endif

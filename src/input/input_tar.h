#ifndef INPUT_INPUT_TAR_H
#define INPUT_INPUT_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Headers of tar archives: blocks of 512 bytes (POSIX.1-2001 pax, "ustar Interchange Format"; GNU tar, "Basic
 * Tar Format"). */
enum { TAR_BLOCK = 512, TAR_NAME_MAX = 4096 };

enum tar_kind {
	TAR_END, /* a block of zeros */
	TAR_BAD, /* no header: the checksum is wrong */
	TAR_FILE,
	TAR_FOLDER,
	TAR_HARD_LINK, /* to a file that came before */
	TAR_SYMBOLIC_LINK,
	TAR_SPECIAL,   /* a device or a FIFO */
	TAR_SPARSE,    /* a file with holes: its data are not as they are in the file */
	TAR_CONTINUED, /* the rest of a file that began in another volume */
	TAR_LONG_NAME, /* GNU: what follows is the name of the next file */
	TAR_LONG_LINK, /* GNU: what follows is what the next link leads to */
	TAR_PAX,       /* what follows are attributes of the next file */
	TAR_GLOBAL,    /* what follows are attributes of all files from here on */
	TAR_EXTENSION, /* of no use here */
};

/* What headers say of a file; some may have been said by earlier ones, see `has`. */
struct tar_entry {
	enum tar_kind kind;
	char name[TAR_NAME_MAX];   /* NUL-terminated, without "./" and "/" before it; empty: too long */
	char target[TAR_NAME_MAX]; /* the same of what a hard link leads to; empty: too long */
	uint64_t size;             /* of the data of a file, which follow its header */
	uint64_t extension;        /* the same of what is no file, TAR_LONG_NAME and behind */
	bool more_map;             /* TAR_SPARSE: further blocks of its map are between header and data */
	struct tar_said {
		bool name, target, size; /* by a header before */
		bool sparse;             /* a pax header says that the file has holes */
		bool continued;          /* or that it began in another volume */
		bool real_name;          /* the name is that of the file with holes */
	} has;
};

/* Reads a block.  e: zeroed, or what the extensions before this block said. */
void tar_read_header(struct tar_entry *e, const char *block);

/* Whether a block of the map of a file with holes, behind the header, has a further one behind it. */
bool tar_map_goes_on(const char *block);

/* Sets a name or target, of n bytes; too long: it is empty. */
void tar_set_name(char *to, const char *p, uint64_t n);

/* A record of a pax header, without its length and line end: KEY=VALUE.  tar_pax_wants() says whether a key
 * is of use here; others need not be read. */
enum { TAR_KEY_MAX = 64 };
bool tar_pax_wants(const char *key, size_t n);
/* value: may be not all there if it has TAR_NAME_MAX bytes or more.  false: it makes no sense. */
bool tar_pax_set(struct tar_entry *e, const char *key, size_t n, const char *value, uint64_t nvalue);

/* How many bytes of padding follow data of this size. */
static inline uint64_t
tar_padding(uint64_t size)
{
	return -size % TAR_BLOCK;
}

#endif

#ifndef HEPH_ORACLE_H
#define HEPH_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An independent decoder of Heph traces for tests: slow, simple, written from the specification, and sharing
 * nothing with the reader.  Accepts well-formed files only.
 */

struct heph_oracle_value {
	uint64_t bits; /* of a number */
	const char *s; /* of a string, in the file */
	size_t n;
};

struct heph_oracle_attribute {
	const char *name;
	size_t name_n;
	unsigned type;                    /* as in the file */
	struct heph_oracle_value *values; /* one, or those of an array */
	size_t n;
};

struct heph_oracle_event {
	uint32_t stream, counter;
	uint64_t substream, start, end, offset;
	const char *name;
	size_t name_n;
	struct heph_oracle_attribute *attributes;
	size_t n;
};

struct heph_oracle {
	struct heph_oracle_event *events;
	size_t n, packets;
	bool epoch_known;
	uint64_t epoch;
	size_t types[256]; /* occurrences of each type byte */
	size_t tracks;     /* distinct pairs of stream and substream */
	const char *fault; /* the reason of a failure, or NULL */
};

/* The result borrows the bytes. */
void heph_oracle_decode(struct heph_oracle *o, const unsigned char *p, size_t n);
void heph_oracle_free(struct heph_oracle *o);

/* Returns the bits of a number as a double. */
double heph_oracle_double(uint64_t bits);

#endif

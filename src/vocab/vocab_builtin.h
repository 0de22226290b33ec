#ifndef VOCAB_BUILTIN_H
#define VOCAB_BUILTIN_H

#include <stddef.h>

/* The files schemas/FORMAT.yaml, made part of the program by embed.sh; the last has the format NULL. */
struct vocab_schema {
	const char *format;
	const unsigned char *text;
	size_t n;
};

extern const struct vocab_schema vocab_schemas[];

#endif

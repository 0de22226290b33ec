#ifndef OUTPUT_OUTPUT_PACK_H
#define OUTPUT_OUTPUT_PACK_H

#include <stdbool.h>
#include <stddef.h>

enum output_packing { OUTPUT_PLAIN, OUTPUT_GZIP, OUTPUT_ZSTD };

/* One compressed stream under way. */
struct output_pack;

/* Takes packed bytes; false: they could not be written. */
typedef bool output_pack_sink(void *to, const char *p, size_t n);

/* What the name asks for: .gz, .zst, or neither. */
enum output_packing output_packing_of(const char *path);

/* NULL: no memory. */
struct output_pack *output_pack_open(enum output_packing packing);

/* Packs n bytes; `last` also writes the end of the stream, once.  The packed bytes depend on how the input is
 * cut into calls, so equal output needs equal pieces.  NULL, or why the library failed (a constant text); a
 * sink that returns false ends the call early with NULL, the sink knows why. */
const char *output_pack_feed(struct output_pack *k, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to);

void output_pack_close(struct output_pack *k); /* NULL is fine */

#endif

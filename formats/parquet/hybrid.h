#ifndef PARQUET_PARQUET_HYBRID_H
#define PARQUET_PARQUET_HYBRID_H

#include "output/text.h"

/* Small numbers, in runs of one value and groups of eight packed ones, whichever is shorter (Parquet,
 * Encodings.md: "RLE / Bit-Packing Hybrid").  width: bits a number, 1 to 16. */
void hybrid_put(struct text *to, const uint16_t *v, uint32_t n, unsigned width);

/* The bits alone, the lowest first; the last byte is filled with zeros. */
void hybrid_pack(struct text *to, const uint16_t *v, uint32_t n, unsigned width);

/* Bits for numbers up to `most`; at least 1, as some readers expect. */
unsigned hybrid_width(uint32_t most);

#endif

#ifndef BASE_RADIX_H
#define BASE_RADIX_H

#include <stdint.h>

#define RADIX_BITS 8U /* of a digit */

/* Distributes n numbers by the digit that begins at bit `shift`, from `from` to `to`; those of one digit keep
 * their order. */
void radix_pass(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift);

#endif

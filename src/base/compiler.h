#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <stdint.h>

/*
 * Extensions of GNU C, which GCC and Clang have: attributes, 128-bit integers, and operations that are one
 * instruction.
 */

/* ---- attributes ---- */

/* For hot loops, often with constant arguments. */
#define INLINE static inline __attribute__((always_inline))

/* Rare code in a hot loop: the variables of its caller stay in registers. */
#define NOINLINE __attribute__((noinline))

/* Rare paths of hot functions, such as reports of faults: inlined, their buffers and arguments would cost
 * time for every record (9 % of the instructions in one reader). */
#define COLD __attribute__((cold, noinline))

/* Arguments are checked as those of printf.  fmt, first: numbers of parameters, from 1; first 0: a va_list.
 */
#define PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* Instructions that a function may use, if CPU_HAS() each: "avx2,bmi". */
#define TARGET(names) __attribute__((target(names)))
#define CPU_HAS(name) __builtin_cpu_supports(name)

/* The number of elements of an array. */
#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- numbers ---- */

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* As in C23: *r gets the result in two's complement.  Return true if it is not the exact one. */
#define ckd_add(r, a, b) __builtin_add_overflow(a, b, r)
#define ckd_sub(r, a, b) __builtin_sub_overflow(a, b, r)
#define ckd_mul(r, a, b) __builtin_mul_overflow(a, b, r)

/* The sum, at most UINT64_MAX. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return ckd_add(&sum, a, b) ? UINT64_MAX : sum;
}

/* ---- bits ---- */

/* Index of the lowest bit that is set, from 0.  v > 0. */
static inline unsigned low_bit(uint64_t v)
{
	return (unsigned)__builtin_ctzll(v);
}

/* Index of the highest bit that is set.  v > 0. */
static inline unsigned high_bit(uint64_t v)
{
	return 63 - (unsigned)__builtin_clzll(v);
}

static inline unsigned bit_count(uint64_t v)
{
	return (unsigned)__builtin_popcountll(v);
}

/* ---- caches ---- */

#define PREFETCH(p) __builtin_prefetch(p)
#define PREFETCH_WRITE(p) __builtin_prefetch(p, 1)

#endif

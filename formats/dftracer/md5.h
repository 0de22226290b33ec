#ifndef DFTRACER_MD5_H
#define DFTRACER_MD5_H

#include "base/slice.h"

#define DFT_MD5_SIZE 16

/* MD5 of RFC 1321, from which tracers cut the hashes of names. */
void dft_md5(struct slice s, unsigned char digest[DFT_MD5_SIZE]);

#endif

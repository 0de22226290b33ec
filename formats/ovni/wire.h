#ifndef OVNI_WIRE_H
#define OVNI_WIRE_H

/*
 * Bytes of stream.obs ("Binary stream"): a header of 8 bytes, then events
 * without padding, each 12 bytes and its payload, in the byte order of the
 * machine that wrote them.
 *
 *   0  flags: high nibble flags, low nibble payload size (0: none, v: v + 1 bytes)
 *   1  model, category, value (MCV)
 *   4  u64 clock, ns
 *  12  payload; of a jumbo event: u32 size of the data, then the data
 */
#define OVNI_STREAM_FILE "stream.obs"
#define OVNI_METADATA_FILE "stream.json"
#define OVNI_OFFSETS_FILE "clock-offsets.txt"

#define OVNI_MAGIC "ovni"
#define OVNI_HEADER_SIZE 8
#define OVNI_VERSION 1U
#define OVNI_VERSION_SWAPPED 0x01000000U /* version 1 in the other byte order */

#define OVNI_EVENT_SIZE 12
#define OVNI_JUMBO_HEAD 16 /* with the size of the data */
#define OVNI_FLAG_JUMBO 0x10
#define OVNI_FLAGS_RESERVED 0xe0
#define OVNI_JUMBO_NIBBLE 3

/* The largest data that libovni writes: an event fits its buffer of 2 MiB. */
#define OVNI_WRITER_JUMBO 2097135U

/* ---- what hostile input may cost ---- */

#define OVNI_MAX_JUMBO (4U << 20) /* bytes of data that are retained */
#define OVNI_MAX_CODES 4096U      /* different MCVs that have classes of their own */
#define OVNI_MAX_JSON (512U << 10)
#define OVNI_MAX_OFFSETS (1U << 20) /* of clock-offsets.txt */
#define OVNI_MAX_DEPTH 64           /* of stream.json */
#define OVNI_MAX_LOOMS 16384U
#define OVNI_MAX_PROCESSES 65536U
#define OVNI_MAX_THREADS 98304U
#define OVNI_MAX_CPUS 65536U
#define OVNI_MAX_LABELS 16384U
#define OVNI_MAX_TEXT (8U << 20) /* of names in all stream.json together */
#define OVNI_MARK_TYPES 100
#define OVNI_MARK_TEXT 512 /* titles and labels are shorter */
#define OVNI_MAX_COUNTERS 100
#define OVNI_MAX_REQUIRED 64 /* models in all ovni.require together */

#endif

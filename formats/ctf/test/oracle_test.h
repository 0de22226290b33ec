#ifndef CTF_ORACLE_TEST_H
#define CTF_ORACLE_TEST_H

#include "output/text.h"

/*
 * A simple reader of CTF 1.8 for tests.  It shares nothing with the writer, reads types from the metadata,
 * and shows each event as a line.  For outputs of a few MiB.
 */

/* ---- TSDL ---- */

enum ctf_tsdl_kind { TSDL_INTEGER, TSDL_FLOAT, TSDL_STRING, TSDL_STRUCT };

struct ctf_tsdl_field {
	char name[256];
	char length[256]; /* of a sequence: name of its length field; else "" */
	uint32_t type;    /* in types */
};

struct ctf_tsdl_type {
	enum ctf_tsdl_kind kind;
	uint32_t size; /* bytes */
	bool is_signed, hexadecimal, is_time;
	struct ctf_tsdl_field *fields; /* of a struct */
	uint32_t nfields, cap;
};

struct ctf_tsdl_event {
	char name[256];
	uint32_t id, fields; /* fields: in types */
};

struct ctf_tsdl {
	struct ctf_tsdl_type *types;
	uint32_t ntypes, types_cap;
	struct {
		char name[64];
		uint32_t type;
	} aliases[32];
	uint32_t naliases;
	struct ctf_tsdl_event *events;
	uint32_t nevents, events_cap;
	uint32_t packet_header, packet_context, event_header, event_context; /* in types */
	int64_t offset_s, offset;
	bool absolute;
	struct text env; /* lines of NAME=VALUE */
	const char *at;
	char error[200]; /* the first one; "": none */
};

/* Parses metadata, which ends with NUL.  Returns false and sets t->error on failure. */
bool ctf_tsdl_parse(struct ctf_tsdl *t, const char *metadata);
void ctf_tsdl_free(struct ctf_tsdl *t);

/* ---- streams ---- */

struct ctf_oracle {
	struct ctf_tsdl tsdl;
	struct text lines; /* of "TIME EVENT: NAME=VALUE ... | NAME=VALUE ...", then NUL; TIME in ns */
	uint64_t events, packets;
	uint64_t spans, dur; /* spans and async spans; sum of their dur, ns */
	char error[200];
};

/* Reads metadata and a stream of n bytes, or NULL.  Returns false and sets o->error on failure. */
bool ctf_oracle_read(struct ctf_oracle *o, const char *metadata, const char *stream, size_t n);
void ctf_oracle_free(struct ctf_oracle *o);

#endif

/*
 * Packets and their events (sections 5 and 6 of CTF 1.8), little endian, with everything aligned to bytes.
 */
#include "ctf/test/oracle_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct cursor {
	struct ctf_oracle *o;
	const char *p, *end;
	uint64_t time, id, dur;                          /* of the last event */
	uint64_t content_size, packet_size, begin, last; /* of the last packet */
};

static void fail(struct cursor *a, const char *what)
{
	struct ctf_oracle *const o = a->o;

	if (o->error[0] == '\0')
		(void)snprintf(o->error, sizeof o->error, "packet %" PRIu64 ", event %" PRIu64 ": %s",
		               o->packets, o->events, what);
}

static uint64_t read_number(struct cursor *a, uint32_t size)
{
	uint64_t v = 0;

	if ((size_t)(a->end - a->p) < size) {
		fail(a, "bytes are missing");
		a->p = a->end;
		return 0;
	}
	for (uint32_t i = 0; i < size; i++)
		v |= (uint64_t)(unsigned char)a->p[i] << 8 * i;
	a->p += size;
	return v;
}

static void show_float(struct text *t, uint64_t bits, uint32_t size)
{
	const uint32_t half = (uint32_t)bits;
	double d;
	float f;

	memcpy(&d, &bits, sizeof d);
	memcpy(&f, &half, sizeof f);
	text_printf(t, "%.17g", size == 4 ? (double)f : d);
}

/* Reads a value and adds it to the text.  Returns its number, or 0 for a string. */
static uint64_t read_scalar(struct cursor *a, const struct ctf_tsdl_type *type, struct text *t)
{
	if (type->kind == TSDL_STRING) {
		const char *const nul = memchr(a->p, '\0', (size_t)(a->end - a->p));
		if (nul == NULL) {
			fail(a, "a string does not end");
			return 0;
		}
		text_char(t, '"');
		text_str(t, a->p);
		text_char(t, '"');
		a->p = nul + 1;
		return 0;
	}
	const uint64_t v = read_number(a, type->size);
	if (type->kind == TSDL_FLOAT)
		show_float(t, v, type->size);
	else if (type->is_signed)
		text_i64(t, (int64_t)(v << (64 - 8 * type->size)) >> (64 - 8 * type->size));
	else
		text_printf(t, type->hexadecimal ? "0x%" PRIx64 : "%" PRIu64, v);
	return v;
}

/* Stores and checks the fields that the reader needs. */
static void set_known_field(struct cursor *a, const char *name, uint64_t v)
{
	struct ctf_oracle *const o = a->o;

	if (strcmp(name, "id") == 0)
		a->id = v;
	else if (strcmp(name, "timestamp") == 0)
		a->time = v;
	else if (strcmp(name, "timestamp_begin") == 0)
		a->begin = v;
	else if (strcmp(name, "timestamp_end") == 0)
		a->last = v;
	else if (strcmp(name, "content_size") == 0)
		a->content_size = v;
	else if (strcmp(name, "packet_size") == 0)
		a->packet_size = v;
	else if (strcmp(name, "_dur") == 0)
		a->dur = v;
	else if (strcmp(name, "magic") == 0 && v != 0xc1fc1fc1)
		fail(a, "no magic number");
	else if (strcmp(name, "packet_seq_num") == 0 && v != o->packets)
		fail(a, "a packet is missing");
}

static void read_struct(struct cursor *a, uint32_t index, struct text *t)
{
	const struct ctf_tsdl_type *const types = a->o->tsdl.types, *const s = &types[index];
	uint64_t values[600];

	for (uint32_t i = 0; i < s->nfields && a->o->error[0] == '\0'; i++) {
		const struct ctf_tsdl_field *const f = &s->fields[i];
		uint64_t n = 0;
		text_printf(t, " %s=", f->name + (f->name[0] == '_'));
		if (f->length[0] == '\0') {
			values[i] = read_scalar(a, &types[f->type], t);
			set_known_field(a, f->name, values[i]);
			continue;
		}
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(s->fields[k].name, f->length) == 0)
				n = values[k];
		text_char(t, '[');
		for (uint64_t k = 0; k < n && a->o->error[0] == '\0'; k++) {
			text_str(t, k > 0 ? "," : "");
			(void)read_scalar(a, &types[f->type], t);
		}
		text_char(t, ']');
	}
}

static void read_event(struct cursor *a)
{
	struct ctf_oracle *const o = a->o;
	const uint64_t before = a->time;
	struct text unused = { .p = NULL };
	const struct ctf_tsdl_event *e = NULL;

	read_struct(a, o->tsdl.event_header, &unused);
	text_free(&unused);
	if (a->time < before || a->time < a->begin || a->time > a->last)
		fail(a, "a time that goes back or is not in the packet");
	for (uint32_t i = 0; i < o->tsdl.nevents; i++)
		if (o->tsdl.events[i].id == a->id)
			e = &o->tsdl.events[i];
	if (e == NULL) {
		fail(a, "an unknown id");
		return;
	}
	text_i64(&o->lines, (int64_t)a->time + o->tsdl.offset + o->tsdl.offset_s * 1000000000);
	text_printf(&o->lines, " %s:", e->name);
	read_struct(a, o->tsdl.event_context, &o->lines);
	text_str(&o->lines, " |");
	read_struct(a, e->fields, &o->lines);
	text_char(&o->lines, '\n');
	o->events++;
	if (strstr(e->name, ":span") != NULL || strstr(e->name, ":async") != NULL) {
		o->spans++;
		o->dur += a->dur;
	}
}

static void read_packet(struct cursor *a)
{
	const char *const start = a->p, *const end = a->end;
	struct text unused = { .p = NULL };

	read_struct(a, a->o->tsdl.packet_header, &unused);
	read_struct(a, a->o->tsdl.packet_context, &unused);
	text_free(&unused);
	if (a->packet_size != a->content_size || a->content_size / 8 > (uint64_t)(end - start))
		fail(a, "sizes that cannot be");
	if (a->begin < a->time)
		fail(a, "packets overlap");
	if (a->o->error[0] != '\0')
		return;
	a->end = start + a->content_size / 8;
	while (a->p < a->end && a->o->error[0] == '\0')
		read_event(a);
	if (a->time != a->last)
		fail(a, "the packet ends at another time");
	a->end = end;
	a->o->packets++;
}

bool ctf_oracle_read(struct ctf_oracle *o, const char *metadata, const char *stream, size_t n)
{
	*o = (struct ctf_oracle){ .events = 0 };
	struct cursor a = { .o = o, .p = stream, .end = stream != NULL ? stream + n : NULL };

	if (!ctf_tsdl_parse(&o->tsdl, metadata))
		(void)snprintf(o->error, sizeof o->error, "metadata: %.180s", o->tsdl.error);
	while (a.p != a.end && o->error[0] == '\0')
		read_packet(&a);
	text_char(&o->lines, '\0');
	return o->error[0] == '\0';
}

void ctf_oracle_free(struct ctf_oracle *o)
{
	ctf_tsdl_free(&o->tsdl);
	text_free(&o->lines);
}

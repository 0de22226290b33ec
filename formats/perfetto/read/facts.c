/*
 * Facts of the whole trace: its uuid and attributes, and the numbers of sequences and of packets of each
 * kind.  In a trace of tracetool, attributes are facts of the trace that it was converted from.
 */
#include "base/scan.h"
#include "out/facts.h"
#include "perfetto/read/read.h"

static void add_fact(struct pf_state *st, struct slice name, struct value v)
{
	st->r->no_memory |= !trace_add_meta(st->r->trace, name, v);
}

void pf_attributes(struct pf_state *st, struct slice bytes)
{
	struct pf_wire w = pf_wire_on(bytes);

	while (pf_wire_next(&w)) {
		struct slice key = SLICE_NONE;
		struct value v = { .type = VALUE_NONE };
		if (w.tag != PF_TAG(PF_attributes_attribute, PF_BYTES))
			continue;
		struct pf_wire one = pf_wire_on(pf_wire_slice(&w));
		while (pf_wire_next(&one)) {
			if (one.tag == PF_TAG(PF_attribute_key, PF_BYTES))
				key = textscan_slice(one.bytes, (uint32_t)one.v);
			else if (one.tag == PF_TAG(PF_attribute_long_value, PF_VARINT))
				v = (struct value){ .type = VALUE_I64, .u64 = one.v };
			else if (one.tag == PF_TAG(PF_attribute_string_value, PF_BYTES))
				v = value_string(textscan_slice(one.bytes, (uint32_t)one.v));
		}
		if (key.p == NULL || v.type == VALUE_NONE)
			continue;
		if (v.type == VALUE_I64 && v.i64 >= 0)
			v.type = VALUE_U64;
		if (st->is_own && slice_is(key, "clock") && v.type == VALUE_STRING &&
		    utf8_valid(v.p, v.count))
			st->own_clock = arena_copy(&st->arena, value_text(&v));
		if (!st->ahead_pass && (!st->is_own || fact_is_of_trace(&key)))
			add_fact(st, key, v);
	}
}

void pf_trace_uuid(struct pf_state *st, struct slice bytes)
{
	const uint64_t msb = pf_number(bytes, PF_uuid_msb), lsb = pf_number(bytes, PF_uuid_lsb);
	char text[40];

	snprintf(text, sizeof text, "%08" PRIx32 "-%04x-%04x-%04x-%012" PRIx64, (uint32_t)(msb >> 32),
	         (unsigned)(msb >> 16 & 0xffff), (unsigned)(msb & 0xffff), (unsigned)(lsb >> 48),
	         lsb & UINT64_C(0xffffffffffff));
	if (!st->ahead_pass)
		add_fact(st, SLICE_LIT("trace_uuid"), value_string(slice_str(text)));
}

/* Whether packets of this kind are read, or are of the tracing service and not about events. */
static bool is_read(const struct pf_field *f)
{
	return f->type != PF_TYPE_OPAQUE || f->number == PF_packet_trace_config ||
	       f->number == PF_packet_trace_stats || f->number == PF_packet_service_event ||
	       f->number == PF_packet_range_of_interest;
}

void pf_facts(struct pf_state *st)
{
	char text[400] = "";
	size_t n = 0;

	for (uint32_t kind = 0; kind < PF_DIRECT; kind++) {
		const struct pf_field *const f = pf_schema_field(&st->schema, PF_MESSAGE_packet, kind);
		if (st->packets_by_kind[kind] == 0 || f == NULL || is_read(f))
			continue;
		if (n < sizeof text - 80)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu64 " %s",
			                      n > 0 ? ", " : "", st->packets_by_kind[kind], f->name.p);
		if ((st->r->want & WANT_TIMES) == 0)
			continue;
		const struct slice name = arena_printf(&st->r->trace->arena, "packets.%s", f->name.p);
		if (name.p != NULL)
			add_fact(st, name, value_u64(st->packets_by_kind[kind]));
	}
	if (n > 0)
		finding_add(st->findings, &perfetto_rules[PF_RULE_NOT_READ], 0, 0,
		            "packets that are counted only: %s", text);
	if ((st->r->want & WANT_TIMES) == 0 || st->is_own)
		return;
	if (st->nsequences > 0)
		add_fact(st, SLICE_LIT("sequences"), value_u64(st->nsequences));
	if (st->losses > 0)
		add_fact(st, SLICE_LIT("losses"), value_u64(st->losses));
	if (st->clocks.total > 0)
		add_fact(st, SLICE_LIT("clock_snapshots"), value_u64(st->clocks.total));
	if (st->ninner_packets > 0)
		add_fact(st, SLICE_LIT("compressed_packets"), value_u64(st->ninner_packets));
}

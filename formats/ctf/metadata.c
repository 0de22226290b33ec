#include <inttypes.h>

#include "ctf/state.h"
#include "format/fields_json.h"

/* The file "metadata": TSDL as plain text (section 7.1), which begins with a comment of fixed form. */

static const char head[] =
    "/* CTF 1.8 */\n"
    "\n"
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 8; align = 8; signed = true; } := int8_t;\n"
    "typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := address_t;\n"
    "typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := float32_t;\n"
    "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := float64_t;\n"
    "\n"
    "trace {\n"
    "\tmajor = 1;\n"
    "\tminor = 8;\n"
    "\tbyte_order = le;\n"
    "\tpacket.header := struct {\n"
    "\t\tuint32_t magic;\n"
    "\t\tuint32_t stream_id;\n"
    "\t};\n"
    "};\n";

static const char stream[] =
    "\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.trace_clock.value; } := "
    "time_t;\n"
    "\n"
    "stream {\n"
    "\tid = 0;\n"
    "\tpacket.context := struct {\n"
    "\t\ttime_t timestamp_begin;\n"
    "\t\ttime_t timestamp_end;\n"
    "\t\tuint64_t content_size;\n"
    "\t\tuint64_t packet_size;\n"
    "\t\tuint64_t packet_seq_num;\n"
    "\t};\n"
    "\tevent.header := struct {\n"
    "\t\tuint32_t id;\n"
    "\t\ttime_t timestamp;\n"
    "\t};\n"
    "\tevent.context := struct {\n"
    "\t\tuint32_t _track;\n"
    "\t\tuint64_t _vpid;\n"
    "\t\tuint64_t _vtid;\n"
    "\t\tstring { encoding = UTF8; } _procname;\n"
    "\t\tstring { encoding = UTF8; } _thread;\n"
    "\t};\n"
    "};\n";

/* ---- env ---- */

static void
put_word(struct text *t, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	text_printf(t, "\t%s = ", name);
	ctf_literal(t, slice_str(value));
	text_str(t, ";\n");
}

static void
put_fact(struct ctf_state *st, struct text *t, uint32_t i, const struct field *f)
{
	struct fields_json_lost lost = { 0 };
	struct text *const s = &st->scratch;

	/* numbered: so no two are the same */
	text_printf(t, "\tfact_%" PRIu32 " = ", i + 1);
	text_clear(s);
	text_slice(s, f->name);
	text_str(s, " = ");
	if (f->value.type == VALUE_STRING)
		text_slice(s, value_text(&f->value));
	else
		fields_json_value(s, &f->value, &lost);
	t->failed |= s->failed;
	if (!s->failed)
		ctf_literal(t, slice_of(s->p, s->n));
	text_str(t, ";\n");
}

static void
put_env(struct ctf_state *st, const struct writer *w, struct chunk *chunk)
{
	const struct trace *const trace = w->trace;
	struct text *const t = &chunk->text;
	const uint32_t n = trace->nmeta < CTF_MOST_FACTS ? trace->nmeta : CTF_MOST_FACTS;

	text_str(t, "\nenv {\n");
	put_word(t, "tracer_name", w->tool);
	put_word(t, "format", trace->format);
	put_word(t, "dialect", trace->dialect);
	put_word(t, "source_byte_order", trace->byte_order);
	put_word(t, "source_clock", trace->clock);
	if (w->rebased)
		text_printf(t, "\trebased_by_ns = \"%" PRIu64 "\";\n", w->rebased_by);
	for (uint32_t i = 0; i < n; i++)
		put_fact(st, t, i, &trace->meta[i]);
	if (n < trace->nmeta)
		ledger_add(&chunk->ledger, &ctf_losses[CTF_FACTS], 0, trace->nmeta - n);
	for (size_t i = 0; i < w->total->n; i++) {
		text_printf(t, "\tlosses_%zu = ", i + 1);
		text_printf(t, "\"%s: %" PRIu64 "\";\n", w->total->rows[i].loss->id, w->total->rows[i].count);
	}
	text_str(t, "};\n");
}

/* ---- the clock ---- */

/* The time of the clock's value 0: from 1970 if the epoch is known, else from the trace's own 0. */
static __int128
offset_of(const struct ctf_state *st, const struct writer *w, bool with_epoch)
{
	__int128 offset = (int64_t)st->base;

	if (with_epoch)
		offset += (__int128)w->trace->epoch_ns + (w->rebased ? w->rebased_by : 0);
	return offset;
}

static void
put_clock(const struct ctf_state *st, const struct writer *w, struct chunk *chunk)
{
	bool absolute = w->trace->epoch_known;
	__int128 offset = offset_of(st, w, absolute);

	if (absolute && offset + st->last > (__int128)CTF_MOST_TIME) {
		ctf_lose(chunk, CTF_EPOCH, 0);
		absolute = false;
		offset = offset_of(st, w, false);
	}
	int64_t seconds = (int64_t)(offset / 1000000000), rest = (int64_t)(offset % 1000000000);
	if (rest < 0) {
		rest += 1000000000;
		seconds--;
	}
	text_str(&chunk->text, "\nclock {\n\tname = \"trace_clock\";\n");
	text_printf(&chunk->text, "\tdescription = \"%s\";\n",
	            absolute ? "nanoseconds since 1970" : "nanoseconds of the trace's own clock");
	text_printf(&chunk->text,
	            "\tfreq = 1000000000;\n\tprecision = 1;\n\toffset_s = %" PRId64 ";\n\toffset = %" PRId64
	            ";\n\tabsolute = %s;\n};\n",
	            seconds, rest, absolute ? "true" : "false");
}

void
ctf_metadata(struct ctf_state *st, const struct writer *w, struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	chunk_file(chunk, CTF_METADATA_FILE);
	text_str(t, head);
	put_env(st, w, chunk);
	put_clock(st, w, chunk);
	text_str(t, stream);
	text_add(t, st->declarations.p, st->declarations.n);
	t->failed |= st->declarations.failed | st->scratch.failed;
}

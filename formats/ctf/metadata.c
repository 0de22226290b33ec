/*
 * Metadata in TSDL (section 7 and appendix C of the specification): declarations of the classes of events,
 * facts of the trace, and its clock.
 *
 * Names of fields get a leading underscore, which readers remove: so none is a keyword, and a name that
 * starts with an underscore keeps it.
 */
#include "ctf/ctf.h"

#include <inttypes.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/scan.h"
#include "format/fields_json.h"
#include "out/facts.h"
#include "output/text_json.h"

/* ---- literals and identifiers ---- */

/* Adds a string literal.  Readers print it unchanged, so control characters and bytes that are not UTF-8 are
 * written as \xNN. */
static void put_literal(struct text *t, struct slice s)
{
	struct text shown = { .p = NULL };

	text_visible_message(&shown, s);
	text_char(t, '"');
	for (size_t i = 0; i < shown.n; i++) {
		if (shown.p[i] == '"' || shown.p[i] == '\\')
			text_char(t, '\\');
		text_char(t, shown.p[i]);
	}
	text_char(t, '"');
	t->failed |= shown.failed;
	text_free(&shown);
}

/* Adds a prefix and a name as an identifier.  Returns false if the name was changed. */
static bool put_identifier(struct text *t, const char *prefix, struct slice name)
{
	const uint32_t n = name.n < CTF_MAX_IDENTIFIER ? name.n : CTF_MAX_IDENTIFIER;
	bool same = n == name.n && n > 0;

	text_str(t, prefix);
	if (n == 0)
		text_str(t, "unnamed");
	for (uint32_t i = 0; i < n; i++) {
		same &= is_identifier_byte(name.p[i]);
		text_char(t, is_identifier_byte(name.p[i]) ? name.p[i] : '_');
	}
	return same;
}

/* ---- classes of events ---- */

static const char *type_of(unsigned value_type)
{
	static const char *const types[] = {
		[VALUE_BOOL] = "uint8_t",  [VALUE_U8] = "uint8_t",    [VALUE_U16] = "uint16_t",
		[VALUE_U32] = "uint32_t",  [VALUE_U64] = "uint64_t",  [VALUE_I8] = "int8_t",
		[VALUE_I16] = "int16_t",   [VALUE_I32] = "int32_t",   [VALUE_I64] = "int64_t",
		[VALUE_F32] = "float32_t", [VALUE_F64] = "float64_t", [VALUE_ADDRESS] = "address_t",
	};

	return value_type < sizeof types / sizeof *types && types[value_type] != NULL
	           ? types[value_type]
	           : "string { encoding = UTF8; }";
}

/* Identifiers of a class; texts are in the arena. */
struct names {
	struct arena *arena;
	struct slice list[2 * CTF_CLASS_FIELDS + 8];
	uint32_t n;
	struct text *scratch;
	bool changed; /* an identifier is not the name of its field */
};

/* For babeltrace2, names that differ only by a leading underscore are equal. */
static bool is_taken(const struct names *names, struct slice name)
{
	const struct slice bare = slice_of(name.p + 1, name.n - 1);

	for (uint32_t i = 0; i < names->n; i++) {
		const struct slice s = names->list[i];
		if (slice_equal(s, name) || slice_equal(s, bare) ||
		    slice_equal(slice_of(s.p + 1, s.n - 1), name))
			return true;
	}
	return false;
}

/* Returns a new identifier: prefix, name and suffix, then _2, _3, ... if it is taken.  p is NULL on OOM. */
static struct slice add_identifier(struct names *names, const char *prefix, struct slice name,
                                   const char *suffix)
{
	struct text *const t = names->scratch;

	text_clear(t);
	names->changed |= !put_identifier(t, prefix, name);
	text_str(t, suffix);
	const size_t n = t->n;
	for (uint32_t k = 2; !t->failed && is_taken(names, slice_of(t->p, t->n)); k++) {
		t->n = n;
		text_printf(t, "_%" PRIu32, k);
		names->changed = true;
	}
	if (t->failed)
		return SLICE_NONE;
	return names->list[names->n++] = arena_copy(names->arena, slice_of(t->p, t->n));
}

static bool put_field(struct text *t, struct names *names, const char *type, struct slice name)
{
	const struct slice s = add_identifier(names, "_", name, "");

	if (s.p == NULL)
		return false;
	text_printf(t, "\t\t%s %s;\n", type, s.p);
	return true;
}

static bool put_sequence(struct text *t, struct names *names, const struct shape_member *m)
{
	const struct slice length = add_identifier(names, "__", m->name, "_length");
	const struct slice s = length.p != NULL ? add_identifier(names, "_", m->name, "") : length;

	if (s.p == NULL)
		return false;
	text_printf(t, "\t\tuint32_t %s;\n\t\t%s %s[%s];\n", length.p, type_of(m->type >> 8), s.p, length.p);
	return true;
}

static bool put_members(struct text *t, struct names *names, const struct ctf_layout *l)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < l->shape.nmembers; i++) {
		const struct shape_member *const m = &l->shape.members[i];
		if (m->type >> 8 != VALUE_NONE)
			ok = put_sequence(t, names, m);
		else if (m->type != VALUE_NONE) /* null has no bytes */
			ok = put_field(t, names, type_of(m->type), m->name);
	}
	return ok;
}

/* Adds the fields that all events of the kind have; they precede the members. */
static bool put_fixed_fields(struct text *t, struct names *names, const struct ctf_layout *l)
{
	const enum event_kind kind = (enum event_kind)l->shape.kind;
	const char *const text = type_of(VALUE_STRING);

	return put_field(t, names, text, SLICE_LIT("name")) &&
	       (!kind_is_span(kind) || put_field(t, names, "uint64_t", SLICE_LIT("dur"))) &&
	       (!kind_is_arrow(kind) || put_field(t, names, "uint64_t", SLICE_LIT("id"))) &&
	       (kind != EVENT_KIND_ASYNC || put_field(t, names, "uint64_t", SLICE_LIT("async_id"))) &&
	       (!l->other || (put_field(t, names, text, SLICE_LIT("class")) &&
	                      put_field(t, names, text, SLICE_LIT("fields"))));
}

static void put_class_name(struct ctf_state *st, struct text *t, const struct ctf_layout *l)
{
	struct slice title = l->other ? SLICE_LIT("other") : l->shape.cls->category;
	struct text *const name = &st->scratch;

	if (title.n == 0)
		title = l->shape.cls->name;
	text_clear(name);
	text_slice(name, title);
	text_char(name, ':');
	text_str(name, event_kind_name((enum event_kind)l->shape.kind));
	t->failed |= name->failed;
	if (!name->failed)
		put_literal(t, slice_of(name->p, name->n));
}

bool ctf_declare_layout(struct ctf_state *st, const struct ctf_layout *l, struct chunk *chunk,
                        uint64_t offset)
{
	struct text *const t = &st->declarations;
	struct names names = { .arena = &st->arena, .scratch = &st->scratch };

	text_str(t, "\nevent {\n\tname = ");
	put_class_name(st, t, l);
	text_printf(t, ";\n\tid = %" PRIu32 ";\n\tstream_id = 0;\n\tfields := struct {\n", l->shape.number);
	if (!put_fixed_fields(t, &names, l) || !put_members(t, &names, l))
		return false;
	text_str(t, "\t};\n};\n");
	if (names.changed)
		ctf_lose(chunk, CTF_FIELD_NAME, offset);
	return !t->failed && !st->scratch.failed;
}

/* ---- facts ---- */

static void put_fact(struct ctf_state *st, struct chunk *chunk, const struct fact *f)
{
	static const char *const names[] = {
		[FACT_TOOL] = "tracer_name",   [FACT_FORMAT] = "format",
		[FACT_DIALECT] = "dialect",    [FACT_BYTE_ORDER] = "source_byte_order",
		[FACT_CLOCK] = "source_clock", [FACT_REBASED_BY] = "rebased_by_ns",
	};
	struct fields_json_lost lost = { 0 };
	struct text *const t = &chunk->text, *const s = &st->scratch;

	/* Numbers keep names of facts apart. */
	if (f->kind >= FACT_TRACE)
		text_printf(t, "\t%s_%" PRIu32 " = ", f->kind == FACT_TRACE ? "fact" : "losses",
		            f->index + 1);
	else
		text_printf(t, "\t%s = ", names[f->kind]);
	text_clear(s);
	if (f->kind >= FACT_TRACE) {
		text_slice(s, f->name);
		text_str(s, f->kind == FACT_TRACE ? " = " : ": ");
	}
	if (!fact_put_text(s, f))
		fields_json_value(s, &f->value, &lost);
	t->failed |= s->failed;
	if (!s->failed)
		put_literal(t, slice_of(s->p, s->n));
	if (lost.bad_text > 0 || !utf8_valid(s->p, s->n))
		ctf_lose(chunk, CTF_BAD_TEXT, LOSS_NOWHERE);
	text_str(t, ";\n");
}

static void put_env(struct ctf_state *st, const struct writer *w, struct chunk *chunk)
{
	struct facts facts = facts_of(w->run, FACTS_TEXTS | FACTS_OF(FACT_REBASED_BY) | FACTS_OF(FACT_TRACE));
	struct text *const t = &chunk->text;
	const uint32_t n = w->run->trace->nmeta;
	struct run_facts with_these = *w->run;
	struct ledger all = { .n = 0 };
	struct fact f;

	text_str(t, "\nenv {\n");
	while (facts_next(&facts, &f))
		if (f.kind != FACT_TRACE || f.index < CTF_MAX_FACTS)
			put_fact(st, chunk, &f);
	if (n > CTF_MAX_FACTS)
		ledger_add(&chunk->ledger, &ctf_losses[CTF_FACTS], LOSS_NOWHERE, n - CTF_MAX_FACTS);
	facts_lose(w, (struct facts_losses){ .hosts = &ctf_losses[CTF_HOSTS] }, chunk);
	ledger_merge(&all, w->run->total);
	ledger_merge(&all, &chunk->ledger);
	t->failed |= all.failed;
	with_these.total = &all;
	facts = facts_of(&with_these, FACTS_OF(FACT_LOSS));
	while (facts_next(&facts, &f))
		put_fact(st, chunk, &f);
	ledger_free(&all);
	text_str(t, "};\n");
}

/* ---- clock ---- */

static void put_clock(const struct ctf_state *st, const struct writer *w, struct chunk *chunk)
{
	const bool known = w->run->trace->epoch_known;
	/* times of the clock's value 0 in ns: on the trace's clock, and since 1970 */
	const int128 own = (int64_t)st->base, wall = own + w->run->trace->epoch_ns + w->run->rebased_by;
	const bool absolute = known && wall + st->last <= (int128)CTF_MAX_TIME;
	const int128 offset = absolute ? wall : own;

	if (known && !absolute)
		ctf_lose(chunk, CTF_EPOCH, LOSS_NOWHERE);
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

/* ---- the file ---- */

/* The file starts with a comment of fixed form (section 7.1). */
static const char head_text[] =
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

static const char stream_text[] =
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

void ctf_write_metadata(struct ctf_state *st, const struct writer *w, struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	chunk_file(chunk, "metadata");
	text_str(t, head_text);
	put_env(st, w, chunk);
	put_clock(st, w, chunk);
	text_str(t, stream_text);
	text_add(t, st->declarations.p, st->declarations.n);
	t->failed |= st->declarations.failed | st->scratch.failed;
}

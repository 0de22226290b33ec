#include <inttypes.h>

#include "ctf/ctf.h"
#include "format/fields_json.h"

/* ---- track ---- */

/* The context of an event: who did it.  It is the same bytes for all events of a track. */

bool ctf_declare_track(struct ctf_state *st, struct track *t)
{
	const struct track *const process = track_process(t), *const thread = track_thread(t);
	const bool has_pid = process->kind == TRACK_PROCESS && process->has_id;
	const bool has_tid = thread->kind == TRACK_THREAD && thread->has_id;
	struct text *const s = &st->scratch;
	char head[4 + 8 + 8], *p = head;

	p = ctf_store(p, t->index, 4);
	p = ctf_store(p, has_pid ? process->id : 0, 8);
	(void)ctf_store(p, has_tid ? thread->id : 0, 8);
	text_clear(s);
	text_add(s, head, sizeof head);
	ctf_string(s, process->kind == TRACK_PROCESS ? process->name : SLICE_LIT(""), &st->names, 0);
	ctf_string(s, t->name, &st->names, 0);
	struct slice *const context = arena_alloc(&st->arena, sizeof *context);
	if (context == NULL || s->failed)
		return false;
	*context = arena_copy(&st->arena, slice_of(s->p, s->n));
	t->declared = context;
	return context->p != NULL;
}

/* ---- layout ---- */

/* The class of the output that an event belongs to. */

static uint16_t shape_type_of(const void *ctx, const struct field *f, uint32_t i)
{
	return (uint16_t)(ctf_type(&f[i].value) | ctf_element(&f[i].value) << 8);
}

/* ---- without a class of its own ---- */

static bool ctf_declare_layout(struct ctf_state *st, const struct ctf_layout *l, struct chunk *chunk,
                               uint64_t offset);

static const struct ctf_layout *other(struct ctf_state *st, enum ctf_kind kind, struct chunk *chunk,
                                      uint64_t offset)
{
	struct ctf_layout *const l = &st->others[kind];

	if (!l->other) {
		*l = (struct ctf_layout){ .shape.kind = kind, .id = CTF_MOST_CLASSES + kind, .other = true };
		chunk->text.failed |= !ctf_declare_layout(st, l, chunk, offset);
	}
	return l;
}

/* ---- a new one ---- */

/* Bytes of identifiers and types that a layout costs at most. */
static uint64_t declaration_cost(const struct event *e, const struct field *f)
{
	uint64_t cost = 256 + 4 * ((uint64_t)e->cls->category.n + e->cls->name.n);

	for (uint32_t i = 0; i < e->nfields; i++)
		cost += 64 +
		        4 * (uint64_t)(f[i].name.n < CTF_MOST_IDENTIFIER ? f[i].name.n : CTF_MOST_IDENTIFIER);
	return cost;
}

/* Accounts for a layout.  false: there is no room. */
static bool reserve(struct ctf_state *st, const struct event *e, const struct field *f)
{
	static const struct shapes_bounds max = { CTF_MOST_CLASSES, CTF_MOST_FIELDS, CTF_MOST_DESCRIBED };

	if (st->shapes.full || e->nfields > CTF_CLASS_FIELDS)
		return false;
	st->shapes.bytes = st->declarations.n;
	return shapes_reserve(&st->shapes, &max, e->nfields, declaration_cost(e, f));
}

const struct ctf_layout *ctf_layout_of(struct ctf_state *st, const struct batch *b, const struct event *e,
                                       struct chunk *chunk)
{
	const struct field *const f = b->fields + e->first_field;
	const struct shape_key key = { e, f, (uint16_t)ctf_kind_of(e), shape_type_of, NULL };
	uint64_t hash;
	bool addable;
	struct shape *const known = shapes_find(&st->shapes, key, &hash, &addable);

	if (known != NULL)
		return (struct ctf_layout *)known;
	if (!addable || !reserve(st, e, f))
		return other(st, (enum ctf_kind)key.kind, chunk, e->offset);
	struct ctf_layout *const l = (struct ctf_layout *)shapes_add(&st->shapes, sizeof *l, key, hash);
	if (l != NULL)
		l->id = l->shape.number;
	if (l == NULL || !ctf_declare_layout(st, l, chunk, e->offset)) {
		chunk->text.failed = true;
		return NULL;
	}
	return l;
}

/* ---- metadata ---- */

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

static void put_word(struct text *t, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	text_printf(t, "\t%s = ", name);
	ctf_literal(t, slice_str(value));
	text_str(t, ";\n");
}

static void put_fact(struct ctf_state *st, struct text *t, uint32_t i, const struct field *f)
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

static void put_env(struct ctf_state *st, const struct writer *w, struct chunk *chunk)
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
static __int128 offset_of(const struct ctf_state *st, const struct writer *w, bool with_epoch)
{
	__int128 offset = (int64_t)st->base;

	if (with_epoch)
		offset += (__int128)w->trace->epoch_ns + (w->rebased ? w->rebased_by : 0);
	return offset;
}

static void put_clock(const struct ctf_state *st, const struct writer *w, struct chunk *chunk)
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

void ctf_metadata(struct ctf_state *st, const struct writer *w, struct chunk *chunk)
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

/* ---- declare ---- */

/*
 * The declaration of a class of the output, in TSDL (section 7.3.2.1 and
 * appendix C).  Names of fields have an underscore before them, which readers take
 * off: so none is a keyword, and none is taken for another.
 */

/* Names of what an event has by itself. */
static const struct {
	const char *word;
	const char *number; /* the field behind its name; NULL: none */
} kinds[CTF_KINDS] = {
	[CTF_SPAN] = { "span", "dur" },
	[CTF_ASYNC] = { "async", "dur" },
	[CTF_INSTANT] = { "instant", NULL },
	[CTF_COUNTER] = { "counter", NULL },
	[CTF_FLOW_OUT] = { "flow_out", "id" },
	[CTF_FLOW_IN] = { "flow_in", "id" },
	[CTF_FLOW_STEP] = { "flow_step", "id" },
	[CTF_BEGIN] = { "begin", NULL },
	[CTF_END] = { "end", NULL },
};

/* The names of the types are declared in ctf_metadata.c. */
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

/* ---- names ---- */

/* The identifiers of a class so far.  They point into the arena. */
struct names {
	struct arena *arena;
	struct slice list[2 * CTF_CLASS_FIELDS + 8];
	uint32_t n;
	struct text *scratch;
	bool changed;
};

/* Names that differ by one underscore at the beginning are the same to babeltrace2. */
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

/* A new identifier; p NULL: no memory. */
static struct slice name_of(struct names *names, const char *prefix, struct slice name, const char *suffix)
{
	struct text *const t = names->scratch;

	text_clear(t);
	names->changed |= !ctf_identifier(t, prefix, name);
	text_str(t, suffix);
	const size_t n = t->n;
	for (uint32_t k = 2; !t->failed && is_taken(names, slice_of(t->p, t->n)); k++) {
		t->n = n;
		text_printf(t, "_%" PRIu32, k);
		names->changed = true;
	}
	if (t->failed)
		return (struct slice){ NULL, 0, 0 };
	return names->list[names->n++] = arena_copy(names->arena, slice_of(t->p, t->n));
}

/* ---- fields ---- */

static bool add_field(struct text *t, struct names *names, const char *type, struct slice name)
{
	const struct slice s = name_of(names, "_", name, "");

	if (s.p == NULL)
		return false;
	text_printf(t, "\t\t%s %s;\n", type, s.p);
	return true;
}

static bool add_sequence(struct text *t, struct names *names, const struct shape_member *m)
{
	const struct slice length = name_of(names, "__", m->name, "_length");
	const struct slice s = length.p != NULL ? name_of(names, "_", m->name, "") : length;

	if (s.p == NULL)
		return false;
	text_printf(t, "\t\tuint32_t %s;\n\t\t%s %s[%s];\n", length.p, type_of(m->type >> 8), s.p, length.p);
	return true;
}

static bool add_members(struct text *t, struct names *names, const struct ctf_layout *l)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < l->shape.nmembers; i++) {
		const struct shape_member *const m = &l->shape.members[i];
		if (m->type >> 8 != VALUE_NONE)
			ok = add_sequence(t, names, m);
		else if (m->type != VALUE_NONE) /* null: there is nothing to hold */
			ok = add_field(t, names, type_of(m->type), m->name);
	}
	return ok;
}

/* What every event of the kind has, before its fields. */
static bool add_own(struct text *t, struct names *names, const struct ctf_layout *l)
{
	const char *const number = kinds[l->shape.kind].number, *const text = type_of(VALUE_STRING);

	return add_field(t, names, text, SLICE_LIT("name")) &&
	       (number == NULL || add_field(t, names, "uint64_t", slice_str(number))) &&
	       (l->shape.kind != CTF_ASYNC || add_field(t, names, "uint64_t", SLICE_LIT("async_id"))) &&
	       (!l->other || (add_field(t, names, text, SLICE_LIT("class")) &&
	                      add_field(t, names, text, SLICE_LIT("fields"))));
}

static void add_title(struct ctf_state *st, struct text *t, const struct ctf_layout *l)
{
	struct slice title = l->other ? SLICE_LIT("other") : l->shape.cls->category;
	struct text *const whole = &st->scratch;

	if (title.n == 0)
		title = l->shape.cls->name;
	text_clear(whole);
	text_slice(whole, title);
	text_char(whole, ':');
	text_str(whole, kinds[l->shape.kind].word);
	t->failed |= whole->failed;
	if (!whole->failed)
		ctf_literal(t, slice_of(whole->p, whole->n));
}

/* Declares the class of a layout; its loss is counted at the offset.  false: no memory. */
static bool ctf_declare_layout(struct ctf_state *st, const struct ctf_layout *l, struct chunk *chunk,
                               uint64_t offset)
{
	struct text *const t = &st->declarations;
	struct names names = { .arena = &st->arena, .scratch = &st->scratch };

	text_str(t, "\nevent {\n\tname = ");
	add_title(st, t, l);
	text_printf(t, ";\n\tid = %" PRIu32 ";\n\tstream_id = 0;\n\tfields := struct {\n", l->id);
	if (!add_own(t, &names, l) || !add_members(t, &names, l))
		return false;
	text_str(t, "\t};\n};\n");
	if (names.changed)
		ctf_lose(chunk, CTF_FIELD_NAME, offset);
	return !t->failed && !st->scratch.failed;
}

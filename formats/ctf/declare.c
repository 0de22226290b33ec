#include <inttypes.h>

#include "ctf/state.h"

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
static const char *
type_of(unsigned value_type)
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
static bool
is_taken(const struct names *names, struct slice name)
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
static struct slice
name_of(struct names *names, const char *prefix, struct slice name, const char *suffix)
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

static bool
add_field(struct text *t, struct names *names, const char *type, struct slice name)
{
	const struct slice s = name_of(names, "_", name, "");

	if (s.p == NULL)
		return false;
	text_printf(t, "\t\t%s %s;\n", type, s.p);
	return true;
}

static bool
add_sequence(struct text *t, struct names *names, const struct ctf_member *m)
{
	const struct slice length = name_of(names, "__", m->name, "_length");
	const struct slice s = length.p != NULL ? name_of(names, "_", m->name, "") : length;

	if (s.p == NULL)
		return false;
	text_printf(t, "\t\tuint32_t %s;\n\t\t%s %s[%s];\n", length.p, type_of(m->element), s.p, length.p);
	return true;
}

static bool
add_members(struct text *t, struct names *names, const struct ctf_layout *l)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < l->nmembers; i++) {
		const struct ctf_member *const m = &l->members[i];
		if (m->element != VALUE_NONE)
			ok = add_sequence(t, names, m);
		else if (m->type != VALUE_NONE) /* null: there is nothing to hold */
			ok = add_field(t, names, type_of(m->type), m->name);
	}
	return ok;
}

/* What every event of the kind has, before its fields. */
static bool
add_own(struct text *t, struct names *names, const struct ctf_layout *l)
{
	const char *const number = kinds[l->kind].number, *const text = type_of(VALUE_STRING);

	return add_field(t, names, text, SLICE_LIT("name")) &&
	       (number == NULL || add_field(t, names, "uint64_t", slice_str(number))) &&
	       (l->kind != CTF_ASYNC || add_field(t, names, "uint64_t", SLICE_LIT("async_id"))) &&
	       (!l->other || (add_field(t, names, text, SLICE_LIT("class")) &&
	                      add_field(t, names, text, SLICE_LIT("fields"))));
}

static void
add_title(struct ctf_state *st, struct text *t, const struct ctf_layout *l)
{
	struct slice title = l->other ? SLICE_LIT("other") : l->cls->category;
	struct text *const whole = &st->scratch;

	if (title.n == 0)
		title = l->cls->name;
	text_clear(whole);
	text_slice(whole, title);
	text_char(whole, ':');
	text_str(whole, kinds[l->kind].word);
	t->failed |= whole->failed;
	if (!whole->failed)
		ctf_literal(t, slice_of(whole->p, whole->n));
}

bool
ctf_declare_layout(struct ctf_state *st, const struct ctf_layout *l, struct chunk *chunk, uint64_t offset)
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

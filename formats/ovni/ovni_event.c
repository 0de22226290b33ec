#include "ovni/ovni_state.h"

/* Events as the engine sees them: instants named by their code.  What a code means is a vocabulary's matter. */

static struct slice
model_name(char model, const char *code)
{
	switch (model) {
	case 'O':
		return SLICE_LIT("ovni");
	case '6':
		return SLICE_LIT("nanos6");
	case 'V':
		return SLICE_LIT("nosv");
	case 'D':
		return SLICE_LIT("nodes");
	case 'P':
		return SLICE_LIT("openmp");
	case 'M':
		return SLICE_LIT("mpi");
	case 'T':
		return SLICE_LIT("tampi");
	case 'K':
		return SLICE_LIT("kernel");
	default:
		return textscan_slice(code, (uint32_t)strlen(code));
	}
}

/* The three bytes as text; those that are not printable as \xNN. */
static size_t
code_text(char *to, size_t cap, const char mcv[3])
{
	size_t n = 0;

	for (int i = 0; i < 3; i++) {
		const unsigned char c = (unsigned char)mcv[i];
		n += (size_t)snprintf(to + n, cap - n, c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
	}
	return n;
}

/* Codes beyond the bound share one class. */
static struct class *
more_codes(struct ovni_state *st, const char *text, uint64_t offset, uint64_t record)
{
	struct quoted q;

	if (st->more_codes == NULL) {
		finding_add(st->r->judge, &ovni_rules[OVNI_RULE_LIMIT], offset, record,
		            "event code %s is one too many: after %u different ones all others are counted together",
		            quoted(&q, slice_str(text)), OVNI_MAX_CODES);
		st->more_codes = trace_add_class(st->r->trace, SLICE_LIT("other codes"));
	}
	return st->more_codes;
}

struct class *
ovni_class(struct ovni_state *st, uint32_t word, uint64_t offset, uint64_t record)
{
	struct trace *const trace = st->r->trace;
	const uint32_t code = word & 0xffffff00U;
	const uint32_t slot = (code * 0x9e3779b1U) >> 24;
	const char mcv[3] = { (char)(word >> 8), (char)(word >> 16), (char)(word >> 24) };
	char text[16], model[8];

	if (st->cache[slot].cls != NULL && st->cache[slot].code == code)
		return st->cache[slot].cls;
	const size_t n = code_text(text, sizeof text, mcv);
	const struct slice name = textscan_slice(text, (uint32_t)n);
	const uint32_t known = tabletext_get(&trace->class_names, name);
	if (known == TABLE_NONE && trace->nclasses >= OVNI_MAX_CODES)
		return more_codes(st, text, offset, record);
	struct class *const cls = trace_add_class(trace, name);
	if (cls == NULL)
		return NULL;
	if (known == TABLE_NONE) {
		snprintf(model, sizeof model, mcv[0] >= 0x20 && mcv[0] < 0x7f ? "%c" : "\\x%02x", (unsigned char)mcv[0]);
		struct slice category = model_name(mcv[0], model);
		const struct slice kept = arena_copy(&trace->arena, category);
		if (kept.p == NULL)
			return NULL;
		cls->category = kept;
		trace_mean(trace, cls, NULL, NULL);
	}
	st->cache[slot].code = code;
	st->cache[slot].cls = cls;
	return cls;
}

static bool
add_fields(struct batch *b, struct event *e, uint8_t flags, struct slice payload)
{
	struct field *const f = batch_fields(b, 2);

	if (f == NULL)
		return false;
	f[0] = (struct field){ SLICE_LIT("flags"), { .type = VALUE_U8, .u64 = flags } };
	e->first_field = b->nfields;
	e->nfields = 1;
	if (payload.p != NULL) {
		f[1] = (struct field){ SLICE_LIT("payload"), { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
		e->nfields = 2;
	}
	b->nfields += e->nfields;
	return true;
}

bool
ovni_event_add(struct ovni_state *st, struct batch *b, struct slice record, struct slice payload, uint64_t offset, struct class *cls)
{
	struct event *const e = &b->events[b->n];

	e->ts = load_u64(record.p + 4, st->big);
	e->dur = 0;
	e->name = cls->name;
	e->cls = cls;
	e->track = st->track;
	e->offset = offset;
	e->phase = PHASE_INSTANT;
	e->flags = st->big ? EVENT_BIG : 0;
	e->first_field = b->nfields;
	e->nfields = 0;
	if (((st->r->want & WANT_FIELDS) != 0 || class_needs_fields(cls)) && !add_fields(b, e, (uint8_t)record.p[0], payload))
		return false;
	if (b->bytes != NULL)
		b->bytes[b->n] = record;
	b->n++;
	return true;
}

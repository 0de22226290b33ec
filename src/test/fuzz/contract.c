#include "test/fuzz/contract.h"

#include <inttypes.h>

#include "base/scan.h"
#include "format/format.h"
#include "format/ledger.h"
#include "model/value.h"
#include "test/fuzz/strict_json.h"

#define SEED UINT64_C(0x5eed)
#define MAX_DEPTH 64    /* of nested lists */
#define UNIQUE_UP_TO 64 /* first fields of an event, whose names are compared with each other */

#define MUST(condition, ...)                                                                                 \
	do                                                                                                   \
		if (!(condition))                                                                            \
			return fuzz_broken(c->result, __VA_ARGS__);                                          \
	while (0)

static void mix(struct contract *c, uint64_t v)
{
	c->hash = hash_u64(v ^ c->hash, SEED);
}

static void mix_text(struct contract *c, struct slice s)
{
	mix(c, s.n);
	if (s.n > 0)
		mix(c, hash_bytes(s.p, s.n, SEED));
}

/* Reads a text, and checks that its flags are true. */
static bool text_holds(struct contract *c, struct slice s, const char *what)
{
	bool utf8 = true, plain = true;

	MUST(s.p != NULL || s.n == 0, "%s: no bytes but a length of %" PRIu32, what, s.n);
	for (const char *p = s.p, *const end = s.n > 0 ? s.p + s.n : s.p; p < end;) {
		const size_t n = strict_utf8_length(p, end);
		utf8 &= n > 0;
		plain &= (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\' &&
		         (n == 0 || !utf8_is_hidden(utf8_point(p, n)));
		p += n > 0 ? n : 1;
	}
	MUST(utf8 || (s.flags & SLICE_UTF8) == 0, "%s: flagged as UTF-8 and is not", what);
	MUST((utf8 && plain) || (s.flags & SLICE_JSON) == 0, "%s: flagged as plain JSON text and is not",
	     what);
	MUST((s.flags & ~(uint32_t)(SLICE_UTF8 | SLICE_JSON | SLICE_RAW_JSON | SLICE_STAYS)) == 0,
	     "%s: flags %#" PRIx32, what, s.flags);
	mix_text(c, s);
	return true;
}

static bool json_holds(struct contract *c, struct slice s)
{
	size_t at;
	const char *const why = strict_json_fault(s.p, s.n, &at);

	MUST(why == NULL, "a JSON value is not JSON: %s at byte %zu", why, at);
	mix_text(c, s);
	return true;
}

/* Checks that a number fits its width. */
static bool number_holds(struct contract *c, const struct value *v)
{
	static const uint8_t bits[] = {
		[VALUE_BOOL] = 1, [VALUE_U8] = 8,   [VALUE_U16] = 16, [VALUE_U32] = 32, [VALUE_U64] = 64,
		[VALUE_I8] = 8,   [VALUE_I16] = 16, [VALUE_I32] = 32, [VALUE_I64] = 64
	};

	if (v->type <= VALUE_U64)
		MUST(bits[v->type] == 64 || v->u64 >> bits[v->type] == 0, "a value of type %u is %#" PRIx64,
		     v->type, v->u64);
	else if (v->type <= VALUE_I32)
		MUST(v->i64 >= -(INT64_C(1) << (bits[v->type] - 1)) && v->i64 < INT64_C(1)
		                                                                    << (bits[v->type] - 1),
		     "a value of type %u is %" PRId64, v->type, v->i64);
	mix(c, v->u64);
	return true;
}

static bool value_holds(struct contract *c, const struct value *v, int depth)
{
	MUST(v->type <= VALUE_JSON, "a value of type %u", v->type);
	MUST(depth < MAX_DEPTH, "lists nest without end");
	mix(c, v->type);
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		return true;
	case VALUE_STRING:
		return text_holds(c, value_text(v), "a string value");
	case VALUE_BYTES:
		mix_text(c, value_text(v));
		return true;
	case VALUE_JSON:
		return json_holds(c, value_text(v));
	case VALUE_LIST:
	case VALUE_MAP:
		mix(c, v->count);
		for (uint64_t i = 0; i < value_entries(v); i++)
			if (!value_holds(c, &v->values[i], depth + 1))
				return false;
		return true;
	default:
		return number_holds(c, v);
	}
}

static bool fields_hold(struct contract *c, const struct batch *b, const struct event *e)
{
	MUST(e->first_field <= b->nfields && e->nfields <= b->nfields - e->first_field,
	     "event at %" PRIu64 ": fields %" PRIu32 " + %u of %" PRIu32, e->offset, e->first_field,
	     e->nfields, b->nfields);
	const struct field *const f = b->fields + e->first_field;
	for (uint32_t i = 0; i < e->nfields; i++) {
		if (!text_holds(c, f[i].name, "the name of a field") || !value_holds(c, &f[i].value, 0))
			return false;
		for (uint32_t k = 0; k < i && i < UNIQUE_UP_TO && !c->repeats; k++)
			MUST(!slice_equal(f[i].name, f[k].name),
			     "event at %" PRIu64 ": fields %" PRIu32 " and %" PRIu32 " have one name",
			     e->offset, k, i);
	}
	return true;
}

static bool owner_holds(struct contract *c, const struct trace *t, const struct event *e)
{
	MUST(e->cls != NULL && e->cls->index < c->classes && t->planned[e->cls->index] == e->cls,
	     "event at %" PRIu64 ": its class is none of the trace's", e->offset);
	mix(c, e->cls->index);
	MUST(e->phase <= PHASE_STRUCTURE, "event at %" PRIu64 ": phase %u", e->offset, e->phase);
	if (e->track == NULL) {
		MUST(e->phase == PHASE_STRUCTURE, "event at %" PRIu64 ": no track", e->offset);
		return true;
	}
	MUST(e->track->index < c->tracks && t->tracks[e->track->index] == e->track,
	     "event at %" PRIu64 ": its track is none of the trace's", e->offset);
	mix(c, e->track->index);
	return true;
}

static bool offset_holds(struct contract *c, const struct event *e, struct slice record)
{
	if (record.n == 0) { /* a further event of an earlier record */
		MUST(e->offset < c->n, "event at %" PRIu64 " of an input of %zu bytes", e->offset, c->n);
		return true;
	}
	/* a record may have several events */
	MUST(e->offset >= c->end || (c->shown > 0 && e->offset == c->at),
	     "event at %" PRIu64 ": the one before ends at %" PRIu64, e->offset, c->end);
	MUST(e->offset < c->n && record.n > 0 && record.n <= c->n - e->offset,
	     "event at %" PRIu64 ", %" PRIu32 " bytes long, of an input of %zu", e->offset, record.n, c->n);
	MUST(memcmp(record.p, c->p + e->offset, record.n) == 0,
	     "event at %" PRIu64 ": its bytes are not those of the input", e->offset);
	c->at = e->offset;
	c->end = e->offset + record.n;
	return true;
}

static bool event_holds(struct contract *c, const struct trace *t, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];
	const bool more = b->bytes[i].n == 0;                    /* RECORD_IS_MORE */
	const bool further = c->shown > 0 && e->offset == c->at; /* of the same record */

	if (!offset_holds(c, e, b->bytes[i]) || !owner_holds(c, t, e) ||
	    !text_holds(c, e->name, "the name of an event") || !fields_hold(c, b, e))
		return false;
	MUST(e->phase != PHASE_SPAN || e->dur <= UINT64_MAX - e->ts,
	     "span at %" PRIu64 ": %" PRIu64 " + %" PRIu64, e->offset, e->ts, e->dur);
	mix(c, e->ts);
	mix(c, e->dur);
	mix(c, e->offset);
	mix(c, (uint64_t)e->phase << 8 | e->flags);
	c->shown += !more;
	c->events += e->phase != PHASE_STRUCTURE && (more || !further);
	return true;
}

/* Checks that tracks and classes are announced once, in order. */
static bool announcements_hold(struct contract *c, const struct trace *t, const struct batch *b)
{
	for (uint32_t i = 0; i < b->ntracks; i++, c->tracks++)
		MUST(c->tracks < t->ntracks && b->tracks[i] == t->tracks[c->tracks],
		     "new track %" PRIu32 " is not number %" PRIu32 " of the trace", i, c->tracks);
	for (uint32_t i = 0; i < b->nclasses; i++, c->classes++)
		MUST(c->classes < t->nplanned && b->classes[i] == t->planned[c->classes],
		     "new class %" PRIu32 " is not number %" PRIu32 " of those planned", i, c->classes);
	return true;
}

static bool batch_holds(struct contract *c, const struct trace *t, const struct batch *b)
{
	MUST(b->n <= b->cap && b->nfields <= b->fields_cap, "a batch holds more than it has room for");
	if (!announcements_hold(c, t, b))
		return false;
	for (uint32_t i = 0; i < b->n; i++)
		if (!event_holds(c, t, b, i))
			return false;
	return true;
}

bool contract_begin(void *ctx, struct pipeline *f)
{
	((struct contract *)ctx)->dialect = pipeline_trace(f)->dialect;
	return true;
}

bool contract_take(void *ctx, struct pipeline *f, struct batch *b)
{
	struct contract *const c = ctx;

	c->repeats = (pipeline_report(f).format->features & HAS_REPEATED) != 0;
	const bool ok = batch_holds(c, pipeline_trace(f), b);
	batch_release(b);
	return ok;
}

static bool classes_hold(struct contract *c, const struct trace *t)
{
	uint64_t records = 0;

	for (uint32_t i = 0; i < t->nplanned; i++) {
		const struct class *const k = t->planned[i];
		MUST(k->planned, "class %" PRIu32 " is not planned", i);
		MUST(k->index == i, "class %" PRIu32 " says it is number %" PRIu32, i, k->index);
		if (!text_holds(c, k->name, "the name of a class") ||
		    !text_holds(c, k->category, "the category of a class"))
			return false;
		for (uint32_t m = 0; m < k->nfields; m++)
			if (!text_holds(c, k->fields[m].name, "the name of a declared field") ||
			    !text_holds(c, k->fields[m].type, "the type of a declared field"))
				return false;
		records += k->records;
	}
	MUST(records <= t->records, "%" PRIu64 " records of classes, %" PRIu64 " in all", records,
	     t->records);
	return true;
}

static bool tracks_hold(struct contract *c, const struct trace *t)
{
	for (uint32_t i = 0; i < t->ntracks; i++) {
		const struct track *const k = t->tracks[i];
		MUST(k->index == i && k->kind <= TRACK_THREAD, "track %" PRIu32 " says it is number %" PRIu32,
		     i, k->index);
		MUST(k->parent == NULL ? k->kind == TRACK_PROCESS : k->parent->index < i,
		     "track %" PRIu32 " has a wrong parent", i);
		if (!text_holds(c, k->name, "the name of a track"))
			return false;
	}
	return true;
}

bool contract_end(void *ctx, struct pipeline *f)
{
	struct contract *const c = ctx;
	const struct trace *const t = pipeline_trace(f);

	MUST(c->tracks == t->ntracks && c->classes == t->nclasses && c->classes == t->nplanned,
	     "tracks or classes were never new");
	if (!classes_hold(c, t) || !tracks_hold(c, t))
		return false;
	for (uint32_t i = 0; i < t->nmeta; i++)
		if (!text_holds(c, t->meta[i].name, "the name of a fact") ||
		    !value_holds(c, &t->meta[i].value, 0))
			return false;
	MUST(c->events == t->events, "%" PRIu64 " events came, the trace counts %" PRIu64, c->events,
	     t->events);
	const struct format *const of = pipeline_report(f).format; /* NULL: no input was recognised */
	const uint64_t each = 1 + (of != NULL ? of->reader->extra : 0);
	MUST(c->shown <= t->records * each, "%" PRIu64 " records came, the trace counts %" PRIu64, c->shown,
	     t->records);
	MUST(c->end <= c->n, "records end at %" PRIu64 " of %zu", c->end, c->n);
	return true;
}

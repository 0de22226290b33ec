/*
 * Raw records: their fields for --raw, and the copier.
 *
 * The fields of a raw event are those of the head, then those of the class, with the order, names, widths and
 * numbers of the file.  With the byte order, which records of class 0 set, they are enough to write the file
 * again.
 */
#include "htdump/htdump.h"

/* ---- raw events ---- */

const struct class_field ht_head_fields[2][HT_HEAD_FIELDS] = {
	{ { SLICE_LIT("timestamp"), SLICE_LIT("u64"), VALUE_U64, 8, "ns" },
	  { SLICE_LIT("event_id"), SLICE_LIT("u64"), VALUE_U64, 8, NULL },
	  { SLICE_LIT("klass_id"), SLICE_LIT("u32"), VALUE_U32, 4, NULL } },
	{ { SLICE_LIT("klass_id"), SLICE_LIT("u32"), VALUE_U32, 4, NULL },
	  { SLICE_LIT("timestamp"), SLICE_LIT("u64"), VALUE_U64, 8, "ns" },
	  { SLICE_LIT("id"), SLICE_LIT("u64"), VALUE_U64, 8, NULL } },
};

/* Indexes of fields: of class info and field info records, and of the head. */
enum { F_ID = HT_HEAD_FIELDS, F_NAME = 4, F_TYPE_NAME = 4, F_DATA_TYPE = 7 };

static inline uint32_t f_class_id(bool wire)
{
	return wire ? 0 : 2;
}

void ht_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	const struct ht_state *const st = r->state;
	const struct ht_plan *const plan = st->c->plan;
	const struct class_field *const head = ht_head_fields[st->wire];
	const struct value id = { .type = VALUE_U32, .u64 = st->c->id };
	const uint32_t n = HT_HEAD_FIELDS + plan->nleaves;
	struct field *const f = batch_event_fields(b, e, (uint16_t)n);

	if (f == NULL)
		return;
	f[0] = (struct field){ head[0].name, st->wire ? id : value_u64(rec->ts) };
	f[1] = (struct field){ head[1].name, value_u64(st->wire ? rec->ts : st->id) };
	f[2] = (struct field){ head[2].name, st->wire ? value_u64(st->id) : id };
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		const struct ht_leaf *const l = &plan->leaves[i];
		f[HT_HEAD_FIELDS + i] = (struct field){ plan->paths[i], ht_leaf_value(st, l) };
		f[HT_HEAD_FIELDS + i].value.type = ht_leaf_raw_type(l);
	}
}

/* ---- reading fields of raw events ---- */

static bool is_wire(const struct batch *b, const struct event *e)
{
	return slice_is(b->fields[e->first_field].name, "klass_id");
}

static struct slice text_at(const struct batch *b, const struct event *e, uint32_t i)
{
	return i < e->nfields ? value_text(&b->fields[e->first_field + i].value) : (struct slice){ "", 0, 0 };
}

static uint64_t number_at(const struct batch *b, const struct event *e, uint32_t i)
{
	return i < e->nfields ? b->fields[e->first_field + i].value.u64 : 0;
}

static bool is_number(const struct field *f)
{
	return f->value.type != VALUE_NONE && f->value.type <= VALUE_ADDRESS;
}

/* Gets the number in the field of this name.  Returns false if there is none. */
static bool number_named(const struct batch *b, const struct event *e, struct slice name, uint64_t *number)
{
	for (uint32_t i = HT_HEAD_FIELDS; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (!slice_equal(f->name, name))
			continue;
		*number = f->value.u64;
		return is_number(f);
	}
	return false;
}

/* The byte order that an EndiannessInfoEvent states. */
static bool is_big(const struct batch *b, const struct event *e)
{
	return number_at(b, e, HT_HEAD_FIELDS) == 1;
}

/* ---- the state of a copy ---- */

struct htw_copy {
	bool any; /* something was written */
	bool wire;
	bool big;                 /* byte order of the current record */
	bool skipping;            /* the current input has the other layout */
	bool events;              /* events of the current input were written */
	uint32_t number;          /* number of the current input, from 1 */
	struct table64 mapped;    /* hash of a label -> hash of its name */
	struct table64 mapped_by; /* ... -> number of the input that named it last */
	/* of the survey, which also uses `wire` and `big` for its records */
	uint32_t input, stream; /* numbers of inputs, and of EndiannessInfoEvents, which start streams */
	uint64_t noted;         /* class id and flags of the last event; 0: structure followed it */
	struct table64 classes; /* class id -> stream of its latest description, and flags */
	struct table64 names;   /* hash of a class name -> the same */
};

/* Finds the byte order of a record from its time.  A new input, or an invalid EndiannessInfoEvent, changes
 * it. */
static void find_order(struct htw_copy *copy, struct slice bytes, uint64_t ts)
{
	if (load_u64(bytes.p + ht_time_at(copy->wire), copy->big) != ts)
		copy->big = !copy->big;
}

/* ---- selection ---- */

/*
 * A copy of selected events also needs the byte order of each stream, descriptions of the classes of these
 * events and of their bases and structs, names of their labels, and all facts.
 */

#define USED 1U   /* the class has events: readers ignore further descriptions in this stream */
#define NEEDED 2U /* one of these events is copied */
#define FLAG_BITS 2

enum key_kind { KEY_CLASS, KEY_NAME, KEY_LABEL };

static uint64_t make_key(enum key_kind kind, uint64_t scope, uint64_t id)
{
	return hash_u64(id, hash_u64(scope << 2 | kind, hash_seed()));
}

/* Returns the key of a class or name by its number, in the stream that described it last. */
static uint64_t described_key(const struct htw_copy *copy, const struct table64 *in, enum key_kind kind,
                              uint64_t number)
{
	const uint32_t known = table64_get(in, number);

	return make_key(kind, known != TABLE_NONE ? known >> FLAG_BITS : copy->stream, number);
}

static uint64_t class_key(const struct htw_copy *copy, uint64_t id)
{
	return described_key(copy, &copy->classes, KEY_CLASS, id);
}

static uint64_t name_key(const struct htw_copy *copy, struct slice name)
{
	return described_key(copy, &copy->names, KEY_NAME, hash_bytes(name.p, name.n, hash_seed()));
}

static void survey_class(struct copier *c, const struct batch *b, const struct event *e)
{
	struct htw_copy *const copy = c->state;
	const uint64_t id = number_at(b, e, F_ID);
	const uint32_t known = table64_get(&copy->classes, id);
	const struct slice name = text_at(b, e, F_NAME);

	if (known != TABLE_NONE && known >> FLAG_BITS == copy->stream && (known & USED) != 0)
		return;
	c->chunk->text.failed |=
	    !table64_put(&copy->classes, id, copy->stream << FLAG_BITS) ||
	    !table64_put(&copy->names, hash_bytes(name.p, name.n, hash_seed()), copy->stream << FLAG_BITS);
	copier_defines(c, class_key(copy, id));
	copier_defines(c, name_key(copy, name));
	copier_uses(c, class_key(copy, id));              /* a use of the name also needs the fields */
	for (uint32_t i = 0; i < HT_BUILTIN_CLASSES; i++) /* classes of the descriptions */
		copier_uses(c, class_key(copy, i));
}

static void survey_field(struct copier *c, const struct batch *b, const struct event *e, bool wire)
{
	struct htw_copy *const copy = c->state;
	const uint64_t id = number_at(b, e, F_ID);

	if (table64_get(&copy->classes, id) != copy->stream << FLAG_BITS)
		return;
	copier_defines(c, class_key(copy, id));
	if (ht_type_of((uint8_t)number_at(b, e, F_DATA_TYPE), wire) == HT_STRUCT) {
		const struct slice name = text_at(b, e, F_TYPE_NAME);
		copier_uses(c, name_key(copy, name));
		/* This stream may describe the class later, before the first event. */
		copier_uses(c, make_key(KEY_NAME, copy->stream, hash_bytes(name.p, name.n, hash_seed())));
	}
}

/* Notes the labels of an event.  If a base has a field of this name too, it comes first, and is not the
 * label. */
static void use_labels(struct copier *c, const struct batch *b, const struct event *e, struct slice name)
{
	const struct htw_copy *const copy = c->state;

	for (uint32_t i = HT_HEAD_FIELDS; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (slice_equal(f->name, name) && is_number(f))
			copier_uses(c, make_key(KEY_LABEL, copy->input, f->value.u64));
	}
}

/* Returns true if e maps a label to its name, and sets *label. */
static bool read_mapping(const struct batch *b, const struct event *e, uint64_t *label)
{
	const struct plan_define *const d = e->cls->plan != NULL ? e->cls->plan->defines : NULL;

	return d != NULL && e->cls->plan->ndefines == 1 && d->nkeys == 1 &&
	       number_named(b, e, d->key[0], label);
}

/* Notes the class of an event, and the labels that may name it.  An event without fields has no labels. */
static void survey_event(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct htw_copy *const copy = c->state;
	const bool kept = (e->flags & EVENT_LEFT_OUT) == 0;

	find_order(copy, bytes, e->ts);
	const uint32_t id = load_u32(bytes.p + ht_class_id_at(copy->wire), copy->big);
	const uint64_t noted = (uint64_t)id << FLAG_BITS | (kept ? NEEDED : 0U);
	if (noted != copy->noted) {
		const uint32_t known = table64_get(&copy->classes, id), flags = USED | (kept ? NEEDED : 0U);
		if (known != TABLE_NONE && (known | flags) != known) {
			c->chunk->text.failed |= !table64_put(&copy->classes, id, known | flags);
			if (kept)
				copier_uses(c, class_key(copy, id));
		}
		copy->noted = noted;
	}
	if (!kept || e->nfields == 0)
		return;
	for (const struct plan *m = e->cls->plan; m != NULL; m = m->otherwise)
		for (uint32_t i = 0; i < m->nnames; i++)
			for (uint32_t p = 0; p < m->names[i].nparts; p++) {
				const struct plan_ref *const ref = &m->names[i].parts[p].ref;
				if (ref->nfields == 1 && ref->ntables > 0)
					use_labels(c, b, e, ref->field[0]);
			}
}

/* The first events of each class are not skipped: readers ignore later descriptions of the class. */
static bool copy_skips(const struct copier *c, const struct event *e, struct slice bytes)
{
	const struct htw_copy *const copy = c->state;

	if (c->closure == NULL)
		return true;
	const bool is_known_order = load_u64(bytes.p + ht_time_at(copy->wire), copy->big) == e->ts;
	const uint32_t known =
	    table64_get(&copy->classes, load_u32(bytes.p + ht_class_id_at(copy->wire), copy->big));
	return is_known_order && known != TABLE_NONE && (known & USED) != 0;
}

static void copy_survey(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct htw_copy *const copy = c->state;
	uint64_t label;

	if (e->offset == 0) { /* labels belong to one input */
		copy->input++;
		copy->stream++;
		copy->wire = is_wire(b, e);
		copy->big = load_u32(bytes.p + ht_class_id_at(copy->wire), false) !=
		            number_at(b, e, f_class_id(copy->wire));
	}
	if (e->phase != PHASE_STRUCTURE) {
		survey_event(c, b, e, bytes);
		return;
	}
	const uint32_t id = (uint32_t)number_at(b, e, f_class_id(copy->wire));
	copy->noted = 0;
	if (id == HT_CLASS_INFO) {
		survey_class(c, b, e);
	} else if (id == HT_CLASS_FIELD) {
		survey_field(c, b, e, copy->wire);
	} else if (id == HT_CLASS_ENDIANNESS) {
		copy->stream += e->offset != 0;
		copy->big = is_big(b, e);
		copier_needs(c);
	} else {
		if (read_mapping(b, e, &label))
			copier_redefines(c, make_key(KEY_LABEL, copy->input, label));
		else
			copier_needs(c);
		copier_uses(c, class_key(copy, id));
	}
}

/* ---- copying ---- */

/*
 * Concatenated dumps are a valid dump if their layouts agree and each states its byte order: descriptions
 * apply from their record on.
 */

/* Begins an input, which is skipped if it has another layout than the output. */
static void copy_input(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	static const char little[HT_ENDIANNESS_SIZE];
	struct htw_copy *const copy = c->state;
	const bool wire = is_wire(b, e);

	copy->number++;
	copy->events = false;
	copy->skipping = copy->any && wire != copy->wire;
	if (!copy->any) {
		copy->wire = wire;
		copy->big = false;
	} else if (!copy->skipping &&
	           load_u32(bytes.p + ht_class_id_at(wire), false) != HT_CLASS_ENDIANNESS) {
		text_add(copier_text(c), little, sizeof little); /* the input was read as little endian */
	}
}

/* Readers name an event by the last mapping before it: if an earlier input gave the label another name,
 * events of this input before its mapping get that name. */
static void note_mapping(struct copier *c, const struct batch *b, const struct event *e)
{
	struct htw_copy *const copy = c->state;
	struct slice name = SLICE_NONE;
	uint64_t label;

	if (!read_mapping(b, e, &label))
		return;
	for (uint32_t i = HT_HEAD_FIELDS; i < e->nfields; i++)
		if (b->fields[e->first_field + i].value.type == VALUE_STRING)
			name = text_at(b, e, i);
	const uint64_t key = hash_u64(label, hash_seed());
	const uint32_t now = (uint32_t)hash_bytes(name.p, name.n, hash_seed()) & INT32_MAX;
	const uint32_t before = table64_get(&copy->mapped, key);
	if (before != TABLE_NONE && before != now && copy->events &&
	    table64_get(&copy->mapped_by, key) != copy->number)
		ledger_add(&c->chunk->ledger, &htw_losses[HTW_LABEL_TAKEN], e->offset, 1);
	if (before != TABLE_NONE || copy->mapped.used < HT_MAX_MAPPINGS)
		c->chunk->text.failed |= !table64_put(&copy->mapped, key, now) ||
		                         !table64_put(&copy->mapped_by, key, copy->number);
}

/* Writes a record with the time of its event. */
static void put_moved(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct htw_copy *const copy = c->state;
	struct text *const t = copier_text(c);
	const uint64_t before = number_at(b, e, copy->wire ? 1 : 0);
	const bool negative = e->ts > before;
	const uint64_t ts = negative ? 0 : e->ts;

	text_slice(t, bytes);
	if (t->failed)
		return;
	find_order(copy, bytes, before);
	store_uint(t->p + t->n - bytes.n + ht_time_at(copy->wire), ts, 8, copy->big);
	if (negative && e->phase != PHASE_STRUCTURE)
		ledger_add(&c->chunk->ledger, &htw_losses[HTW_NEGATIVE_TIME], e->offset, 1);
	if (e->nfields == 4 && number_at(b, e, f_class_id(copy->wire)) == HT_CLASS_ENDIANNESS)
		copy->big = is_big(b, e);
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct htw_copy *const copy = c->state;

	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return;
	if (copy->skipping) { /* a run of records has no fields; its ts is their number */
		ledger_add(&c->chunk->ledger, &htw_losses[HTW_OTHER_LAYOUT], e->offset,
		           e->nfields == 0 ? e->ts : 1);
		return;
	}
	copy->any = true;
	if (e->phase != PHASE_STRUCTURE || e->nfields == 0) /* or a run of records */
		copy->events = true;
	else if (c->joins)
		note_mapping(c, b, e);
	if (c->run->rebased)
		put_moved(c, b, e, bytes);
	else
		copier_keep(c, bytes);
}

static void copy_free(void *state)
{
	struct htw_copy *const copy = state;

	table64_free(&copy->mapped);
	table64_free(&copy->mapped_by);
	table64_free(&copy->classes);
	table64_free(&copy->names);
}

const struct copier_ops htw_copier_ops = {
	.state_size = sizeof(struct htw_copy),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BARE | COPIER_REFERS | COPIER_WHOLE,
	.input = copy_input,
	.record = copy_record,
	.survey = copy_survey,
	.skips = copy_skips,
	.free = copy_free,
};

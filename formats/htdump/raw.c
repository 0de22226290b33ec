/*
 * Records as the file has them: raw events (--raw), and copies of records into a dump.
 *
 * The fields of a raw event are those of the head, then those of the class, in file order and with the file's
 * names, widths and numbers.  Together with the byte order, which records of class 0 set, they suffice to
 * write the file again.
 */
#include "htdump/htdump.h"

#include <stdlib.h>

/* ---- raw events ---- */

#define TEXT(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

const struct class_field ht_head_fields[2][HT_HEAD_FIELDS] = {
	{ { TEXT("timestamp"), TEXT("u64"), VALUE_U64, 8, "ns" },
	  { TEXT("event_id"), TEXT("u64"), VALUE_U64, 8, NULL },
	  { TEXT("klass_id"), TEXT("u32"), VALUE_U32, 4, NULL } },
	{ { TEXT("klass_id"), TEXT("u32"), VALUE_U32, 4, NULL },
	  { TEXT("timestamp"), TEXT("u64"), VALUE_U64, 8, "ns" },
	  { TEXT("id"), TEXT("u64"), VALUE_U64, 8, NULL } },
};

/* Indexes of fields: of class info and field info records, and of the head. */
enum { F_ID = HT_HEAD_FIELDS, F_NAME = 4, F_TYPE_NAME = 4, F_DATA_TYPE = 7 };

static inline uint32_t f_class_id(bool wire)
{
	return wire ? 0 : 2;
}

static inline uint32_t f_time(bool wire)
{
	return wire ? 1 : 0;
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

/* Gets the number in the field of this name.  Returns false if there is none. */
static bool number_named(const struct batch *b, const struct event *e, struct slice name, uint64_t *number)
{
	for (uint32_t i = HT_HEAD_FIELDS; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (!slice_equal(f->name, name))
			continue;
		*number = f->value.u64;
		return f->value.type != VALUE_NONE && f->value.type <= VALUE_ADDRESS;
	}
	return false;
}

/* ---- selection ---- */

/*
 * A copy of selected events also needs the byte order of each stream, descriptions of the classes of these
 * events and of their bases and structs, names of their labels, and all facts.  A survey of the whole input
 * finds these records, so that the output keeps the order of the input.
 *
 * Memory: at most MAX_DESCRIPTIONS, MAX_LABELS, and twice as many marks.  Beyond that all structure is
 * written.
 */
#define MAX_DESCRIPTIONS (1U << 19)
#define MAX_LABELS (1U << 19)

#define INPUT_SHIFT 48 /* position of a record: its offset, and the number of the input in the high bits */

/* A class info or field info record. */
struct htw_description {
	uint64_t position;
	uint32_t next; /* number + 1 of the next one of the class; 0: none */
};

struct htw_source_class {
	uint32_t first, last; /* descriptions that are not marked yet: number + 1 */
	uint32_t nparts, parts_cap;
	struct slice *parts; /* names of its base and structs */
	uint32_t stream;     /* in which it was described */
	uint32_t closed;     /* htw_select.changes when it and its parts were last marked */
	uint32_t visit;      /* htw_select.visit when it was last queued */
	bool used;
};

struct htw_source_label {
	uint64_t position; /* of its mapping record, if `pending` */
	uint32_t class_id; /* of that record */
	bool pending;      /* named, but not used yet */
	bool used;
};

/* Structure records that a selection needs. */
struct htw_select {
	struct arena arena;
	uint32_t input;   /* current input, from 1 */
	uint32_t stream;  /* EndiannessInfoEvents and inputs so far */
	uint32_t changes; /* descriptions so far */
	uint32_t visit;   /* calls of need_class() that queued classes */
	struct htw_description *descriptions;
	uint32_t ndescriptions, descriptions_cap;
	struct htw_source_class **classes;
	uint32_t nclasses, classes_cap;
	struct htw_source_class *last; /* class of the last event, whose id is last_id; NULL: none */
	uint32_t last_id;
	struct table64 by_id;     /* class id -> classes[] */
	struct tabletext by_name; /* class name -> classes[] */
	uint32_t *queue;          /* of need_class(): indexes of classes[] */
	uint32_t queue_cap;
	struct htw_source_label *labels;
	uint32_t nlabels, labels_cap;
	struct table64 by_label; /* label -> labels[] */
	struct table64 needed;   /* position of a record -> 1 */
	bool done;               /* the survey is over */
	bool keep_all;           /* a limit was reached: all structure is written */
	bool failed;             /* OOM */
};

static void select_free(struct htw_select *s)
{
	for (uint32_t i = 0; i < s->nclasses; i++) {
		free(s->classes[i]->parts);
		free(s->classes[i]);
	}
	arena_free(&s->arena);
	free(s->descriptions);
	free(s->classes);
	free(s->queue);
	free(s->labels);
	table64_free(&s->by_id);
	tabletext_free(&s->by_name);
	table64_free(&s->by_label);
	table64_free(&s->needed);
	*s = (struct htw_select){ .input = 0 };
}

static uint64_t position_of(const struct htw_select *s, const struct event *e)
{
	return (uint64_t)s->input << INPUT_SHIFT ^ e->offset;
}

static void mark_needed(struct htw_select *s, uint64_t position)
{
	s->failed |= !table64_put(&s->needed, position, 1);
}

static struct htw_source_class *find_class(const struct htw_select *s, uint32_t id)
{
	const uint32_t i = table64_get(&s->by_id, id);

	return i != TABLE_NONE ? s->classes[i] : NULL;
}

/* Returns the class of this id, a new one if needed; NULL on OOM. */
static struct htw_source_class *get_class(struct htw_select *s, uint32_t id)
{
	struct htw_source_class *c = find_class(s, id);

	if (c != NULL)
		return c;
	if (array_reserve(&s->classes, s->nclasses, &s->classes_cap, sizeof(struct htw_source_class *)))
		c = calloc(1, sizeof *c);
	if (c == NULL || !table64_put(&s->by_id, id, s->nclasses)) {
		free(c);
		s->failed = true;
		return NULL;
	}
	s->classes[s->nclasses++] = c;
	return c;
}

static void add_description(struct htw_select *s, struct htw_source_class *c, const struct event *e)
{
	if (s->ndescriptions == MAX_DESCRIPTIONS) {
		s->keep_all = true;
		return;
	}
	if (!array_reserve(&s->descriptions, s->ndescriptions, &s->descriptions_cap,
	                   sizeof *s->descriptions)) {
		s->failed = true;
		return;
	}
	s->descriptions[s->ndescriptions++] = (struct htw_description){ position_of(s, e), 0 };
	if (c->first == 0)
		c->first = s->ndescriptions;
	else
		s->descriptions[c->last - 1].next = s->ndescriptions;
	c->last = s->ndescriptions;
	s->changes++;
}

static void scan_class_info(struct htw_select *s, const struct batch *b, const struct event *e)
{
	const uint32_t id = (uint32_t)number_at(b, e, F_ID);
	struct htw_source_class *const c = get_class(s, id);

	/* Readers ignore descriptions of a class in use. */
	if (c == NULL || (c->used && c->stream == s->stream))
		return;
	if (c->stream != s->stream) {
		c->first = c->nparts = 0;
		c->used = false;
	}
	c->stream = s->stream;
	struct slice name = text_at(b, e, F_NAME);
	if (tabletext_get(&s->by_name, name) == TABLE_NONE)
		name = arena_copy(&s->arena, name);
	s->failed |= name.p == NULL || !tabletext_put(&s->by_name, name, table64_get(&s->by_id, id));
	add_description(s, c, e);
}

static void scan_field_info(struct htw_select *s, const struct batch *b, const struct event *e, bool wire)
{
	struct htw_source_class *const c = find_class(s, (uint32_t)number_at(b, e, F_ID));

	if (c == NULL || c->stream != s->stream || c->used || s->keep_all)
		return;
	add_description(s, c, e);
	if (ht_type_of((uint8_t)number_at(b, e, F_DATA_TYPE), wire) != HT_STRUCT)
		return;
	const struct slice part = arena_copy(&s->arena, text_at(b, e, F_TYPE_NAME));
	if (part.p != NULL && array_reserve(&c->parts, c->nparts, &c->parts_cap, sizeof *c->parts))
		c->parts[c->nparts++] = part;
	else
		s->failed = true;
}

/* Queues a class unless it was queued by this visit or is marked already. */
static void queue_class(struct htw_select *s, uint32_t i, uint32_t *n)
{
	struct htw_source_class *const c = i != TABLE_NONE ? s->classes[i] : NULL;

	if (c == NULL || c->visit == s->visit || c->closed == s->changes)
		return;
	c->visit = s->visit;
	if (array_reserve(&s->queue, *n, &s->queue_cap, sizeof *s->queue))
		s->queue[(*n)++] = i;
	else
		s->failed = true;
}

/* Marks the descriptions of a class, of its parts, and of the built-in classes: descriptions are records of
 * these. */
static void need_class(struct htw_select *s, uint32_t id)
{
	const struct htw_source_class *const c = find_class(s, id);
	uint32_t n = 0;

	if (c == NULL || c->closed == s->changes)
		return;
	s->visit++;
	queue_class(s, table64_get(&s->by_id, id), &n);
	for (uint32_t i = 0; i < HT_BUILTIN_CLASSES; i++)
		queue_class(s, table64_get(&s->by_id, i), &n);
	for (uint32_t i = 0; i < n; i++) {
		struct htw_source_class *const k = s->classes[s->queue[i]];
		for (uint32_t p = 0; p < k->nparts; p++)
			queue_class(s, tabletext_get(&s->by_name, k->parts[p]), &n);
		for (uint32_t d = k->first; d != 0; d = s->descriptions[d - 1].next)
			mark_needed(s, s->descriptions[d - 1].position);
		k->first = 0;
		k->closed = s->changes;
	}
}

/* Returns a label, a new one if needed; NULL on OOM or at the limit. */
static struct htw_source_label *get_label(struct htw_select *s, uint64_t number)
{
	const uint32_t i = table64_get(&s->by_label, number);

	if (i != TABLE_NONE)
		return &s->labels[i];
	if (s->nlabels == MAX_LABELS) {
		s->keep_all = true;
		return NULL;
	}
	if (!array_reserve(&s->labels, s->nlabels, &s->labels_cap, sizeof *s->labels) ||
	    !table64_put(&s->by_label, number, s->nlabels)) {
		s->failed = true;
		return NULL;
	}
	s->labels[s->nlabels] = (struct htw_source_label){ .position = 0 };
	return &s->labels[s->nlabels++];
}

/* Returns true if e is a mapping record whose label was not used yet; then it is marked at the first use. */
static bool defer_mapping(struct htw_select *s, const struct batch *b, const struct event *e,
                          uint32_t class_id)
{
	const struct plan_define *const d = e->cls->plan != NULL ? e->cls->plan->defines : NULL;
	uint64_t number;

	if (d == NULL || e->cls->plan->ndefines != 1 || d->nkeys != 1 ||
	    !number_named(b, e, d->key[0], &number))
		return false;
	struct htw_source_label *const l = get_label(s, number);
	if (l == NULL || l->used)
		return false;
	l->position = position_of(s, e);
	l->class_id = class_id;
	l->pending = true;
	return true;
}

static void use_label(struct htw_select *s, uint64_t number)
{
	struct htw_source_label *const l = get_label(s, number);

	if (l == NULL)
		return;
	if (l->pending) {
		need_class(s, l->class_id);
		mark_needed(s, l->position);
	}
	l->pending = false;
	l->used = true;
}

static void scan_event(struct htw_select *s, const struct batch *b, const struct event *e, uint32_t id)
{
	struct htw_source_class *const c = s->last != NULL && s->last_id == id ? s->last : find_class(s, id);
	uint64_t number;

	s->last = c;
	s->last_id = id;
	if (c != NULL)
		c->used = true;
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return;
	if (c != NULL && c->closed != s->changes)
		need_class(s, id);
	/* Labels that may name the event. */
	for (const struct plan *m = e->cls->plan; m != NULL; m = m->otherwise)
		for (uint32_t i = 0; i < m->nnames; i++)
			for (uint32_t p = 0; p < m->names[i].nparts; p++) {
				const struct plan_ref *const ref = &m->names[i].parts[p].ref;
				if (ref->nfields == 1 && ref->ntables > 0 &&
				    number_named(b, e, ref->field[0], &number))
					use_label(s, number);
			}
}

static void scan_record(struct htw_select *s, const struct batch *b, const struct event *e)
{
	const bool wire = is_wire(b, e);
	const uint32_t id = (uint32_t)number_at(b, e, f_class_id(wire));

	if (e->offset == 0) { /* a new input: labels of the previous one do not count */
		table64_free(&s->by_label);
		s->nlabels = 0;
		s->stream++;
		s->input++;
	}
	if (e->offset >> INPUT_SHIFT != 0)
		s->keep_all = true;
	if (s->keep_all || s->failed)
		return;
	if (e->phase != PHASE_STRUCTURE) {
		scan_event(s, b, e, id);
	} else if (id == HT_CLASS_INFO) {
		scan_class_info(s, b, e);
	} else if (id == HT_CLASS_FIELD) {
		scan_field_info(s, b, e, wire);
	} else if (id == HT_CLASS_ENDIANNESS) {
		s->stream += e->offset != 0;
		mark_needed(s, position_of(s, e));
	} else if (!defer_mapping(s, b, e, id)) {
		need_class(s, id);
		mark_needed(s, position_of(s, e));
	}
}

/* Ends the survey: keeps the marks and frees the rest.  From here on the same events come again. */
static void end_survey(struct htw_select *s)
{
	const struct htw_select kept = {
		.done = true, .needed = s->needed, .keep_all = s->keep_all, .failed = s->failed
	};

	if (s->done)
		return;
	s->needed = (struct table64){ .slots = NULL };
	select_free(s);
	*s = kept;
}

/* Returns true if the selection needs the next record. */
static bool is_needed(struct htw_select *s, const struct event *e)
{
	s->input += e->offset == 0;
	if (e->phase != PHASE_STRUCTURE)
		return (e->flags & EVENT_LEFT_OUT) == 0;
	return s->keep_all || table64_get(&s->needed, position_of(s, e)) != TABLE_NONE;
}

/* ---- copying ---- */

/*
 * Concatenated dumps are a dump if their layouts agree and each states its byte order: descriptions apply
 * from their record on.
 */

struct htw_copy {
	bool any; /* something was written */
	bool wire;
	bool big;      /* byte order of the current record */
	bool skipping; /* the current input has the other layout */
	struct htw_select select;
};

/* Whether the input can follow what was written. */
static void copy_input(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	static const char little[HT_ENDIANNESS_SIZE];
	struct htw_copy *const copy = c->state;
	const bool wire = is_wire(b, e);

	copy->skipping = copy->any && wire != copy->wire;
	if (!copy->any)
		copy->wire = wire;
	else if (!copy->skipping && load_u32(bytes.p + ht_class_id_at(wire), false) != HT_CLASS_ENDIANNESS)
		text_add(copier_text(c), little, sizeof little); /* it was read as little endian */
	end_survey(&copy->select);
	c->chunk->text.failed |= copy->select.failed;
}

/* Writes a record with the time of its event. */
static void put_moved(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct htw_copy *const copy = c->state;
	struct text *const t = copier_text(c);
	const uint64_t before = number_at(b, e, f_time(copy->wire));
	const bool negative = e->ts > before;
	const uint64_t ts = negative ? 0 : e->ts;

	text_slice(t, bytes);
	if (t->failed)
		return;
	char *const at = t->p + t->n - bytes.n + ht_time_at(copy->wire);
	if (load_u64(at, copy->big) != before)
		copy->big =
		    !copy->big; /* a new input, or an invalid EndiannessInfoEvent, changed the order */
	const uint64_t stored =
	    copy->big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? ts : __builtin_bswap64(ts);
	memcpy(at, &stored, sizeof stored);
	if (negative && e->phase != PHASE_STRUCTURE)
		ledger_add(&c->chunk->ledger, &htw_losses[HTW_NEGATIVE_TIME], e->offset, 1);
	if (e->nfields == 4 && number_at(b, e, f_class_id(copy->wire)) == HT_CLASS_ENDIANNESS)
		copy->big = number_at(b, e, 3) == 1;
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct htw_copy *const copy = c->state;

	if (c->selected && !is_needed(&copy->select, e))
		return;
	if (copy->skipping) { /* a run of records has no fields; its ts is their number */
		ledger_add(&c->chunk->ledger, &htw_losses[HTW_OTHER_LAYOUT], e->offset,
		           e->nfields == 0 ? e->ts : 1);
		return;
	}
	copy->any = true;
	if (c->run->rebased)
		put_moved(c, b, e, bytes);
	else
		copier_keep(c, bytes);
}

static void copy_survey(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct htw_copy *const copy = c->state;

	(void)bytes;
	scan_record(&copy->select, b, e);
}

static void copy_free(void *state)
{
	struct htw_copy *const copy = state;

	select_free(&copy->select);
}

const struct copier_ops htw_copier_ops = {
	.state_size = sizeof(struct htw_copy),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BARE,
	.input = copy_input,
	.record = copy_record,
	.survey = copy_survey,
	.free = copy_free,
};

#include <stdlib.h>

#include "htdump/htdump.h"

/* ---- raw ---- */

/*
 * Records as the file has them: the three fields of the head, then those of the
 * class, in file order and with the file's names, widths and numbers.  With the
 * byte order, which records of class 0 set, they are enough to write the file
 * again.
 */

static void put_head(const struct ht_state *st, const struct ht_record *rec, struct field *f)
{
	const struct class_field *const head = ht_head_fields[st->wire];
	const struct value id = { .type = VALUE_U32, .u64 = rec->c->id };

	f[0] = (struct field){ head[0].name, st->wire ? id : value_u64(rec->ts) };
	f[1] = (struct field){ head[1].name, value_u64(st->wire ? rec->ts : rec->id) };
	f[2] = (struct field){ head[2].name, st->wire ? value_u64(rec->id) : id };
}

/* false: no memory. */
static bool add_fields(const struct ht_state *st, const struct ht_record *rec, struct batch *b,
                       struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;
	const uint32_t n = HT_HEAD_FIELDS + plan->nleaves;
	struct field *const f = batch_fields(b, n);

	if (f == NULL)
		return false;
	put_head(st, rec, f);
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		const struct ht_leaf *const l = &plan->leaves[i];
		f[HT_HEAD_FIELDS + i] = (struct field){ plan->paths[i], ht_leaf_value(st, l) };
		f[HT_HEAD_FIELDS + i].value.type = ht_leaf_raw_type(l);
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)n;
	b->nfields += n;
	return true;
}

void ht_raw_add(struct ht_state *st, const struct ht_record *rec, struct batch *b)
{
	const bool structure = rec->c->kind != HT_KIND_EVENT;
	struct event *const e = &b->events[b->n];

	*e = (struct event){
		.ts = rec->ts,
		.name = rec->c->name,
		.cls = rec->c->cls,
		.track = structure ? NULL : st->tracks.process, /* its thread is known to vocabularies only */
		.offset = rec->offset,
		.phase = structure ? PHASE_STRUCTURE : PHASE_INSTANT,
	};
	const bool bare = (st->r->want & WANT_BARE) != 0 && !structure && rec->offset > 0;
	if (!bare && !add_fields(st, rec, b, e)) {
		st->no_memory = true;
		return;
	}
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	b->n++;
}

void ht_raw_add_run(struct ht_state *st, struct slice bytes, uint64_t offset, uint64_t records,
                    struct batch *b)
{
	const struct class *const any = ht_class_find(&st->classes, HT_CLASS_ENDIANNESS)->cls;

	b->events[b->n] = (struct event){
		.ts = records, .name = any->name, .cls = any, .offset = offset, .phase = PHASE_STRUCTURE
	};
	if (b->bytes != NULL)
		b->bytes[b->n] = bytes;
	b->n++;
}

/* ---- write select ---- */

/* Where the fields of a raw record stand: its head, then its own. */
enum { HEAD_FIELDS = 3, F_ID = 3, F_NAME = 4, F_TYPE_NAME = 4, F_DATA_TYPE = 7 };

#define INPUT_SHIFT 48 /* a place is an offset, and the number of the input above it */

void htw_select_free(struct htw_select *s)
{
	for (uint32_t i = 0; i < s->nknown; i++) {
		free(s->known[i]->parts);
		free(s->known[i]);
	}
	arena_free(&s->arena);
	free(s->descriptions);
	free(s->known);
	free(s->path);
	free(s->labels);
	table64_free(&s->by_id);
	tabletext_free(&s->by_name);
	table64_free(&s->by_label);
	table64_free(&s->needed);
	*s = (struct htw_select){ .input = 0 };
}

static uint64_t place_of(const struct htw_select *s, const struct event *e)
{
	return (uint64_t)s->input << INPUT_SHIFT ^ e->offset;
}

static void need(struct htw_select *s, uint64_t place)
{
	s->failed |= !table64_put(&s->needed, place, 1);
}

static struct slice text_at(const struct batch *b, const struct event *e, uint32_t i)
{
	return i < e->nfields ? value_text(&b->fields[e->first_field + i].value) : (struct slice){ "", 0, 0 };
}

static uint64_t number_at(const struct batch *b, const struct event *e, uint32_t i)
{
	return i < e->nfields ? b->fields[e->first_field + i].value.u64 : 0;
}

/* Labels count for their input. */
static void begin_input(struct htw_select *s)
{
	table64_free(&s->by_label);
	s->nlabels = 0;
	s->stream++;
	s->input++;
}

/* ---- classes ---- */

static struct htw_known *find(const struct htw_select *s, uint32_t id)
{
	const uint32_t i = table64_get(&s->by_id, id);

	return i != TABLE_NONE ? s->known[i] : NULL;
}

/* The class of this id; it is made if need be.  NULL: no memory. */
static struct htw_known *class_of(struct htw_select *s, uint32_t id)
{
	struct htw_known *k = find(s, id);

	if (k != NULL)
		return k;
	if (array_room(&s->known, s->nknown, &s->known_cap, sizeof(struct htw_known *)))
		k = calloc(1, sizeof *k);
	if (k == NULL || !table64_put(&s->by_id, id, s->nknown)) {
		free(k);
		s->failed = true;
		return NULL;
	}
	s->known[s->nknown++] = k;
	return k;
}

static void add_description(struct htw_select *s, struct htw_known *k, const struct event *e)
{
	if (s->ndescriptions == HTW_MOST_DESCRIPTIONS) {
		s->everything = true;
		return;
	}
	if (!array_room(&s->descriptions, s->ndescriptions, &s->descriptions_cap, sizeof *s->descriptions)) {
		s->failed = true;
		return;
	}
	s->descriptions[s->ndescriptions++] = (struct htw_description){ place_of(s, e), 0 };
	if (k->first == 0)
		k->first = s->ndescriptions;
	else
		s->descriptions[k->last - 1].next = s->ndescriptions;
	k->last = s->ndescriptions;
	s->changes++;
}

static void name_class(struct htw_select *s, uint32_t id, struct slice name)
{
	if (tabletext_get(&s->by_name, name) == TABLE_NONE)
		name = arena_copy(&s->arena, name);
	s->failed |= name.p == NULL || !tabletext_put(&s->by_name, name, table64_get(&s->by_id, id));
}

/* Of a class that is described again once its events were read, readers keep what they had. */
static void look_at_class(struct htw_select *s, const struct batch *b, const struct event *e)
{
	const uint32_t id = (uint32_t)number_at(b, e, F_ID);
	struct htw_known *const k = class_of(s, id);

	if (k == NULL || (k->used && k->stream == s->stream))
		return;
	if (k->stream != s->stream) {
		k->first = k->nparts = 0;
		k->used = false;
	}
	k->stream = s->stream;
	name_class(s, id, text_at(b, e, F_NAME));
	add_description(s, k, e);
}

static void look_at_field(struct htw_select *s, const struct batch *b, const struct event *e, bool wire)
{
	struct htw_known *const k = find(s, (uint32_t)number_at(b, e, F_ID));

	if (k == NULL || k->stream != s->stream || k->used || s->everything)
		return;
	add_description(s, k, e);
	if (ht_type_of((uint8_t)number_at(b, e, F_DATA_TYPE), wire) != HT_STRUCT)
		return;
	const struct slice part = arena_copy(&s->arena, text_at(b, e, F_TYPE_NAME));
	if (part.p != NULL && array_room(&k->parts, k->nparts, &k->parts_cap, sizeof *k->parts))
		k->parts[k->nparts++] = part;
	else
		s->failed = true;
}

/* Puts a class on the path, unless it is there, or was. */
static void reach(struct htw_select *s, uint32_t i, uint32_t *n)
{
	struct htw_known *const k = i != TABLE_NONE ? s->known[i] : NULL;

	if (k == NULL || k->visit == s->visit || k->settled == s->changes)
		return;
	k->visit = s->visit;
	if (array_room(&s->path, *n, &s->path_cap, sizeof *s->path))
		s->path[(*n)++] = i;
	else
		s->failed = true;
}

/* A class is needed, and all that it is made of; and the built-in ones, as descriptions are records of these.
 */
static void need_class(struct htw_select *s, uint32_t id)
{
	const struct htw_known *const k = find(s, id);
	uint32_t n = 0;

	if (k == NULL || k->settled == s->changes)
		return;
	s->visit++;
	reach(s, table64_get(&s->by_id, id), &n);
	for (uint32_t i = 0; i < HT_BUILTIN_CLASSES; i++)
		reach(s, table64_get(&s->by_id, i), &n);
	for (uint32_t i = 0; i < n; i++) {
		struct htw_known *const c = s->known[s->path[i]];
		for (uint32_t p = 0; p < c->nparts; p++)
			reach(s, tabletext_get(&s->by_name, c->parts[p]), &n);
		for (uint32_t d = c->first; d != 0; d = s->descriptions[d - 1].next)
			need(s, s->descriptions[d - 1].place);
		c->first = 0;
		c->settled = s->changes;
	}
}

/* ---- labels ---- */

/* NULL: they are too many, or no memory. */
static struct htw_label *label_of(struct htw_select *s, uint64_t number)
{
	const uint32_t i = table64_get(&s->by_label, number);

	if (i != TABLE_NONE)
		return &s->labels[i];
	if (s->nlabels == HTW_MOST_LABELS) {
		s->everything = true;
		return NULL;
	}
	if (!array_room(&s->labels, s->nlabels, &s->labels_cap, sizeof *s->labels) ||
	    !table64_put(&s->by_label, number, s->nlabels)) {
		s->failed = true;
		return NULL;
	}
	s->labels[s->nlabels] = (struct htw_label){ .place = 0 };
	return &s->labels[s->nlabels++];
}

/* The number in the field of this name; false: there is none. */
static bool number_of(const struct batch *b, const struct event *e, struct slice name, uint64_t *number)
{
	for (uint32_t i = HEAD_FIELDS; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (!slice_equal(f->name, name))
			continue;
		*number = f->value.u64;
		return f->value.type != VALUE_NONE && f->value.type <= VALUE_ADDRESS;
	}
	return false;
}

/* A record that says what a number stands for.  It is needed if the number was used already, or will be. */
static bool waits(struct htw_select *s, const struct batch *b, const struct event *e, uint32_t class_id)
{
	const struct plan_define *const d = e->cls->plan != NULL ? e->cls->plan->defines : NULL;
	uint64_t number;

	if (d == NULL || e->cls->plan->ndefines != 1 || d->nkeys != 1 || !number_of(b, e, d->key[0], &number))
		return false;
	struct htw_label *const l = label_of(s, number);
	if (l == NULL || l->used)
		return false;
	l->place = place_of(s, e);
	l->class_id = class_id;
	l->waits = true;
	return true;
}

static void use_label(struct htw_select *s, uint64_t number)
{
	struct htw_label *const l = label_of(s, number);

	if (l == NULL)
		return;
	if (l->waits) {
		need_class(s, l->class_id);
		need(s, l->place);
	}
	l->waits = false;
	l->used = true;
}

/* The numbers that an event may be named by. */
static void use_labels(struct htw_select *s, const struct batch *b, const struct event *e,
                       const struct plan *m)
{
	uint64_t number;

	for (uint32_t i = 0; i < m->nnames; i++)
		for (uint32_t p = 0; p < m->names[i].nparts; p++) {
			const struct plan_ref *const ref = &m->names[i].parts[p].ref;
			if (ref->nfields == 1 && ref->ntables > 0 && number_of(b, e, ref->field[0], &number))
				use_label(s, number);
		}
}

/* ---- records ---- */

static void look_at_event(struct htw_select *s, const struct batch *b, const struct event *e, uint32_t id)
{
	struct htw_known *const k = s->last != NULL && s->last_id == id ? s->last : find(s, id);

	s->last = k;
	s->last_id = id;
	if (k != NULL)
		k->used = true;
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return;
	if (k != NULL && k->settled != s->changes)
		need_class(s, id);
	for (const struct plan *m = e->cls->plan; m != NULL; m = m->otherwise)
		use_labels(s, b, e, m);
}

/* The next raw event of the survey. */
static void htw_select_look(struct htw_select *s, const struct batch *b, const struct event *e)
{
	const bool wire = slice_is(b->fields[e->first_field].name, "klass_id");
	const uint32_t id = (uint32_t)number_at(b, e, wire ? 0 : 2);

	if (e->offset == 0)
		begin_input(s);
	if (e->offset >> INPUT_SHIFT != 0)
		s->everything = true;
	if (s->everything || s->failed)
		return;
	if (e->phase != PHASE_STRUCTURE) {
		look_at_event(s, b, e, id);
	} else if (id == HT_CLASS_INFO) {
		look_at_class(s, b, e);
	} else if (id == HT_CLASS_FIELD) {
		look_at_field(s, b, e, wire);
	} else if (id == HT_CLASS_ENDIANNESS) {
		s->stream += e->offset != 0;
		need(s, place_of(s, e));
	} else if (!waits(s, b, e, id)) {
		need_class(s, id);
		need(s, place_of(s, e));
	}
}

/* The survey is over: from here on the same events come again.  Harmless twice. */
static void htw_select_end(struct htw_select *s)
{
	const struct table64 needed = s->needed;

	if (s->over)
		return;
	const bool everything = s->everything, failed = s->failed;

	s->needed = (struct table64){ .slots = NULL };
	htw_select_free(s);
	s->over = true;
	s->needed = needed;
	s->everything = everything;
	s->failed = failed;
}

/* Whether the next event's record is to be written. */
static bool htw_select_takes(struct htw_select *s, const struct event *e)
{
	s->input += e->offset == 0;
	if (e->phase != PHASE_STRUCTURE)
		return (e->flags & EVENT_LEFT_OUT) == 0;
	return s->everything || table64_get(&s->needed, place_of(s, e)) != TABLE_NONE;
}

/* ---- write raw ---- */

/*
 * Records of a .htdump as they are.  One file behind another is a .htdump too
 * if both have the same layout and the second says its byte order; what it
 * describes counts from there on.
 */

static bool is_wire(const struct batch *b, const struct event *e)
{
	return slice_is(b->fields[e->first_field].name, "klass_id");
}

/* The first record of an input: whether it can stand behind what was written. */
static void begin_input_write_raw(struct htw_raw *raw, const struct batch *b, const struct event *e,
                                  struct slice bytes, struct chunk *chunk)
{
	static const char little[HT_ENDIANNESS_SIZE];
	const bool wire = is_wire(b, e);

	raw->skipping = raw->any && wire != raw->wire;
	if (!raw->any)
		raw->wire = wire;
	else if (!raw->skipping && load_u32(bytes.p + (wire ? 0 : 16), false) != HT_CLASS_ENDIANNESS)
		text_add(&chunk->text, little, sizeof little); /* it was read as little endian */
}

/* Moves the time of the record that was added last. */
static void move_time(struct htw_raw *raw, const struct batch *b, const struct event *e, uint32_t size,
                      struct chunk *chunk)
{
	const uint64_t was = b->fields[e->first_field + raw->wire].value.u64;
	char *const at = chunk->text.p + chunk->text.n - size + (raw->wire ? 4 : 0);
	const bool negative = e->ts > was;

	if (chunk->text.failed)
		return;
	if (load_u64(at, raw->big) != was)
		raw->big = !raw->big; /* an EndiannessInfoEvent came */
	htw_store(at, negative ? 0 : e->ts, 8);
	if (raw->big)
		htw_store(at, __builtin_bswap64(negative ? 0 : e->ts), 8);
	if (negative && e->phase != PHASE_STRUCTURE)
		ledger_add(&chunk->ledger, &htw_losses[HTW_NEGATIVE_TIME], e->offset, 1);
}

static void note_byte_order(struct htw_raw *raw, const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	if (e->nfields == 4 && f[raw->wire ? 0 : 2].value.u64 == HT_CLASS_ENDIANNESS)
		raw->big = f[3].value.u64 == 1;
}

void htw_survey(void *state, const struct batch *b)
{
	struct htw_state *const st = state;

	for (uint32_t i = 0; i < b->n; i++)
		htw_select_look(&st->select, b, &b->events[i]);
}

/* Whether a record is to be written, and can stand in the output. */
static bool takes(struct htw_state *st, const struct event *e, struct chunk *chunk)
{
	if (st->selected && !htw_select_takes(&st->select, e))
		return false;
	if (st->raw.skipping) /* a run of records has no fields, and their number as its time */
		ledger_add(&chunk->ledger, &htw_losses[HTW_OTHER_LAYOUT], e->offset,
		           e->nfields == 0 ? e->ts : 1);
	return !st->raw.skipping;
}

void htw_raw(struct htw_state *st, const struct batch *b, struct chunk *chunk)
{
	struct htw_raw *const raw = &st->raw;
	struct slice run = { NULL, 0, 0 }; /* records that lie side by side */

	if (st->selected)
		htw_select_end(&st->select);
	chunk->text.failed |= st->select.failed;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const struct slice bytes = b->bytes[i];
		const bool adjoins = run.n > 0 && run.p + run.n == bytes.p && bytes.n <= UINT32_MAX - run.n;
		if (!adjoins || e->offset == 0) {
			chunk_borrow(chunk, run);
			run = slice_of(bytes.p, 0);
		}
		if (e->offset == 0)
			begin_input_write_raw(raw, b, e, bytes, chunk);
		if (!takes(st, e, chunk))
			continue;
		raw->any = true;
		run.n += bytes.n;
		if (!st->rebased)
			continue;
		text_slice(&chunk->text, run);
		run.n = 0;
		move_time(raw, b, e, bytes.n, chunk);
		note_byte_order(raw, b, e);
	}
	chunk_borrow(chunk, run);
}

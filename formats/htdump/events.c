/*
 * Makes events of records: roles of fields, names of labels, tracks of threads.
 *
 * The vocabulary states the meaning of the events of a class.  The reader applies it if it only states fields
 * for duration, name and thread: the reader has the offsets of fields, and names of labels from later in the
 * input.  The engine applies any other plan, and gets all fields unchanged.
 */
#include "htdump/htdump.h"

#include <stdlib.h>

/* ---- roles of fields ---- */

#define THREAD_PREFIX "thread" /* name of the track of a thread, before its number */

/* Returns the leaf of this name, or HT_NO_LEAF.  Members of structs have no role.  The last match wins:
 * inherited fields precede those of the class. */
static uint32_t find_leaf(const void *ctx, struct slice name)
{
	const struct ht_plan *const plan = ctx;

	for (uint32_t i = plan->nleaves; name.p != NULL && i > 0; i--)
		if (!plan->leaves[i - 1].member && slice_equal(plan->paths[i - 1], name))
			return i - 1;
	return HT_NO_LEAF;
}

static bool has_leaf(const void *ctx, struct slice name)
{
	return find_leaf(ctx, name) != HT_NO_LEAF;
}

static bool has_any_leaf(const void *ctx, struct slice name)
{
	return true;
}

static uint8_t leaf_type(const void *ctx, uint32_t leaf)
{
	const struct ht_plan *const plan = ctx;

	return plan->leaves[leaf].value;
}

static uint8_t label_table(const struct trace *trace)
{
	const struct vocabulary *const v = trace->vocabulary;

	return v != NULL ? v->ops->table(v, SLICE_LIT("label")) : PLAN_NO_TABLE;
}

/* Whether records of the class put a text into the table of labels. */
static bool defines_labels(const struct trace *trace, const struct class_plan *p)
{
	return p->plan != NULL && p->plan->phase == PLAN_STRUCTURE &&
	       (p->says & CLASS_PLAN_DEFINITION) != 0 && p->table != PLAN_NO_TABLE &&
	       p->table == label_table(trace);
}

bool ht_may_map_labels(const struct ht_state *st, struct slice name)
{
	const struct vocabulary *const v = st->r->trace->vocabulary;
	struct class_plan p;

	class_plan_compile(&p, v != NULL ? v->ops->find(v, name, has_any_leaf, NULL) : NULL, NULL);
	return defines_labels(st->r->trace, &p);
}

/* Whether the reader can apply the whole plan of a class. */
static bool reader_can_apply(const struct class_plan *p, uint8_t labels)
{
	const unsigned supported = CLASS_PLAN_DURATION | CLASS_PLAN_NAME | CLASS_PLAN_THREAD;

	return (p->says & ~supported) == 0 && (p->name_table == PLAN_NO_TABLE || p->name_table == labels) &&
	       ((p->says & CLASS_PLAN_THREAD) == 0 || slice_is(p->thread_prefix, THREAD_PREFIX " "));
}

static bool uses_table(const struct plan_ref *ref, uint8_t table)
{
	for (uint32_t i = 0; i < ref->ntables; i++)
		if (ref->tables[i] == table)
			return true;
	return false;
}

/* Whether the engine needs labels for names, tracks or keys. */
static bool plan_uses_labels(const struct plan *m, uint8_t labels)
{
	bool uses = uses_table(&m->key, labels);

	for (uint32_t i = 0; i < m->nnames; i++)
		for (uint32_t k = 0; k < m->names[i].nparts; k++)
			uses |= uses_table(&m->names[i].parts[k].ref, labels);
	for (uint32_t i = 0; i < m->ntracks; i++)
		uses |= uses_table(&m->tracks[i].number, labels);
	return uses;
}

/* Defined with the labels, which follow the roles in this file. */
static void share_labels(struct ht_state *st, uint8_t table);

static void apply_event_plan(struct ht_state *st, struct ht_class *c, struct ht_plan *plan,
                             const struct class_plan *p, struct class *spec)
{
	const struct plan *const m = p->plan;
	const uint8_t labels = label_table(st->r->trace);
	const bool applies = reader_can_apply(p, labels);

	spec->reader_applies = applies && (!st->raw || (st->r->want & WANT_WHOLE) != 0);
	if (applies) {
		plan->duration = p->duration;
		plan->name = p->name;
		plan->label = p->label;
		plan->thread = p->thread;
	} else if (labels != PLAN_NO_TABLE && st->ahead_of == NULL && !st->raw &&
	           plan_uses_labels(m, labels)) {
		share_labels(st, labels);
	}
	if (m->phase != PLAN_STRUCTURE)
		return;
	c->version = plan_word(m, "version");
	c->kind = c->version.p != NULL ? HT_KIND_SYSTEM : HT_KIND_STRUCTURE;
}

/* Sets the roles of leaves and the kind of the class.  Leaves and paths must be complete.  spec: gets the
 * plan, and whether the reader applies it. */
static void apply_vocabulary(struct ht_state *st, struct ht_class *c, struct ht_plan *plan,
                             struct class *spec)
{
	const struct class_plan_fields fields = { plan, find_leaf, leaf_type };
	const struct plan *m = NULL;
	struct class_plan p;

	plan->duration = plan->thread = plan->label = plan->name = plan->identifier = HT_NO_LEAF;
	if (c->id >= HT_BUILTIN_CLASSES) {
		m = spec->plan = trace_find_plan(st->r->trace, c->name, has_leaf, plan);
		c->kind = HT_KIND_EVENT;
		c->version = SLICE_NONE;
	}
	class_plan_compile(&p, m, &fields);
	if (defines_labels(st->r->trace, &p)) {
		spec->reader_applies = !st->raw;
		/* A mapping without one of the fields is an ordinary event. */
		if (p.key != HT_NO_LEAF && p.value != HT_NO_LEAF &&
		    plan->leaves[p.value].value == VALUE_STRING) {
			plan->identifier = p.key;
			plan->name = p.value;
			c->kind = HT_KIND_MAPPING;
		}
	} else if (m != NULL) {
		apply_event_plan(st, c, plan, &p, spec);
	}
}

/* ---- the plan of a class ---- */

#define MAX_DECLARED 256U /* fields of a class that is declared to the trace */
#define DECLARED_COST 16U /* fields charged for each declared class, besides its fields */

/* Declares the class and its fields to the trace; fields of raw events start with the head.  Large classes
 * are declared without fields: nothing needs these. */
static bool declare_class(struct ht_state *st, struct ht_class *c, const struct ht_plan *plan,
                          struct class *spec)
{
	/* Names of types: the input only has numbers, or names of C types. */
	static const char *const type_names[] = {
		[VALUE_U8] = "u8",       [VALUE_U16] = "u16",         [VALUE_U32] = "u32",
		[VALUE_U64] = "u64",     [VALUE_I8] = "i8",           [VALUE_I16] = "i16",
		[VALUE_I32] = "i32",     [VALUE_I64] = "i64",         [VALUE_F32] = "float",
		[VALUE_F64] = "double",  [VALUE_ADDRESS] = "pointer", [VALUE_STRING] = "string",
		[VALUE_BYTES] = "bytes",
	};
	const uint32_t head = st->raw ? HT_HEAD_FIELDS : 0, n = head + plan->nleaves;
	struct class_field f[HT_HEAD_FIELDS + MAX_DECLARED];
	struct ht_classes *const all = &st->classes;
	const uint32_t before = st->r->trace->nplanned;

	if (n > 0 && plan->nleaves <= MAX_DECLARED &&
	    n + DECLARED_COST <= HT_MAX_LEAVES - all->declared_fields) {
		memcpy(f, ht_head_fields[st->wire], head * sizeof *f);
		for (uint32_t i = 0; i < plan->nleaves; i++) {
			const struct ht_leaf *const l = &plan->leaves[i];
			const bool is_size = c->kind == HT_KIND_FIELD && slice_is(l->name, "size");
			f[head + i] = (struct class_field){ .name = st->raw ? plan->paths[i] : l->name,
				                            .type = slice_str(type_names[l->value]),
				                            .value = ht_leaf_raw_type(l),
				                            .size = l->size,
				                            .unit = i == plan->duration ? "ns"
				                                    : is_size           ? "byte"
				                                                        : NULL };
		}
		spec->fields = f;
		spec->nfields = n;
	}
	c->cls = trace_plan_class(st->r->trace, spec);
	if (c->cls != NULL && spec->nfields > 0 && st->r->trace->nplanned > before)
		all->declared_fields += n + DECLARED_COST;
	return c->cls != NULL;
}

static bool make_plan(struct ht_state *st, const struct record *rec, struct ht_plan *plan)
{
	struct class spec = { .name = st->c->name };

	if (!ht_unfold(st, rec, plan))
		return false;
	if (note_failure(&st->r->no_memory, !ht_state_reserve(st, plan->nblocks)))
		return false;
	apply_vocabulary(st, st->c, plan, &spec);
	/* A label stays a field, because its number is more than its name. */
	for (uint32_t i = 0; i < plan->nleaves; i++)
		if (st->c->kind != HT_KIND_EVENT ||
		    (i != plan->duration && i != plan->thread && i != plan->name))
			plan->args[plan->nargs++] = i;
	st->r->no_memory |= !declare_class(st, st->c, plan, &spec);
	return !st->r->no_memory;
}

bool ht_class_prepare(struct ht_state *st, const struct record *rec)
{
	struct ht_class *const c = st->c;
	struct ht_plan *const plan = calloc(1, sizeof *plan);

	if (note_failure(&st->r->no_memory, plan == NULL))
		return false;
	ht_describe_end(st, c);
	if (!make_plan(st, rec, plan)) {
		ht_plan_free(plan);
		return false;
	}
	st->classes.leaves += plan->nleaves;
	if (!st->raw)
		plan->paths = NULL; /* scratch of ht_unfold() */
	c->plan = plan;
	return true;
}

/* ---- labels ---- */

/*
 * Names of labels come from HT_StringMappingEvent, which may follow the first use, and from a label map file.
 * At the first label without a name, one look-ahead pass over the input collects the later names, if the
 * input can be read twice.
 */

static void free_texts(struct shared_memory *m)
{
	struct ht_label_texts *const texts = (struct ht_label_texts *)m; /* `shared` is the first member */

	arena_free(&texts->arena);
	free(texts);
}

void ht_labels_free(struct ht_labels *all)
{
	table64_free(&all->index);
	free(all->list);
	shared_memory_drop(all->texts != NULL ? &all->texts->shared : NULL);
}

static struct slice copy_text(struct ht_labels *all, struct slice text)
{
	if (all->texts == NULL) {
		all->texts = calloc(1, sizeof *all->texts);
		if (all->texts == NULL)
			return SLICE_NONE;
		shared_memory_init(&all->texts->shared, free_texts);
	}
	return arena_copy(&all->texts->arena, text);
}

static void define_label(struct ht_state *st, const struct ht_label *label)
{
	trace_change(st->r->trace);
	definitions_put(&st->r->trace->definitions, st->labels.table, DEFINITIONS_WHOLE_TRACE,
	                label->identifier, 0, value_string(label->text));
}

/* Adds a label, or replaces `old`. */
static bool put_label(struct ht_state *st, struct ht_label *old, struct ht_label label)
{
	struct ht_labels *const all = &st->labels;

	label.text = copy_text(all, label.text);
	if (label.text.p == NULL)
		return false;
	if (all->shared)
		define_label(st, &label);
	if (old != NULL) {
		*old = label;
		return true;
	}
	if (!array_reserve(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    !table64_put(&all->index, label.identifier, all->n))
		return false;
	all->list[all->n++] = label;
	return true;
}

void ht_label_add(struct ht_state *st, uint64_t identifier, struct slice text, enum ht_label_source source,
                  const struct record *rec)
{
	struct ht_labels *const all = &st->labels;
	const uint32_t i = table64_get(&all->index, identifier);
	struct ht_label *const old = i != TABLE_NONE ? &all->list[i] : NULL;
	struct quoted q, q2;

	if (old != NULL && source <= old->source && source != HT_LABEL_RECORD)
		return;
	if (old != NULL && slice_equal(old->text, text)) {
		old->source = source;
		return;
	}
	if (old != NULL && old->source == HT_LABEL_RECORD)
		ht_report(st, HT_RULE_MAPPING_CHANGED, rec, "label %" PRIu64 " was %s, from here on it is %s",
		          old->identifier, quoted(&q, old->text), quoted(&q2, text));
	/* Beyond the limits a label stays a number. */
	const bool fits =
	    all->n < HT_MAX_MAPPINGS && reader_charge(&all->bytes, text.n + HT_TEXT_COST, HT_MAX_LABEL_BYTES,
	                                              HT_MAX_LABEL_BYTES + st->r->max_record);
	if (!fits && !all->full)
		finding_add(st->r->findings, &ht_rules[HT_RULE_LIMIT], rec != NULL ? rec->offset : 0,
		            rec != NULL ? rec->ordinal : 0,
		            "%" PRIu32 " labels of %" PRIu64 " bytes are retained: others stay numbers",
		            all->n, all->bytes.used + all->bytes.used_long);
	all->full |= !fits;
	if (fits && !put_label(st, old, (struct ht_label){ text, identifier, source }))
		st->r->no_memory = true;
}

/* Collects all mappings of the input in a separate pass, at most once. */
static void look_ahead(struct ht_state *st)
{
	struct ht_labels *const all = &st->labels;

	if (all->looked_ahead || st->ahead_of != NULL)
		return;
	all->looked_ahead = true;
	const enum look_ahead done = reader_look_ahead(st->r);
	all->one_pass = done == LOOK_AHEAD_ONE_PASS;
	st->r->no_memory |= done == LOOK_AHEAD_FAILED;
}

/* Makes all labels, later ones included, definitions of the trace. */
static void share_labels(struct ht_state *st, uint8_t table)
{
	struct ht_labels *const all = &st->labels;

	if (all->shared)
		return;
	look_ahead(st);
	all->shared = true;
	all->table = table;
	for (uint32_t i = 0; i < all->n && !st->r->no_memory; i++)
		define_label(st, &all->list[i]);
}

struct slice ht_label_find(struct ht_state *st, uint64_t identifier, const struct record *rec)
{
	struct ht_labels *const all = &st->labels;
	uint32_t i = table64_get(&all->index, identifier);

	if (i == TABLE_NONE && !all->looked_ahead) {
		look_ahead(st);
		i = table64_get(&all->index, identifier);
	}
	if (i != TABLE_NONE)
		return all->list[i].text;
	finding_tally_add(&all->unresolved, rec->offset, rec->ordinal, identifier, 0);
	return SLICE_NONE;
}

/* ---- label map files ---- */

static bool report_line(struct ht_state *st, const char *path, uint64_t line, const char *why)
{
	struct quoted q;

	finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_LABEL_MAP], 0, 0,
	            "label map %s, line %" PRIu64 ": %s", quoted(&q, slice_str(path)), line, why);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Parses "category label number".  The label may contain blanks: it is the text between the first and the
 * last word. */
static bool parse_line(struct ht_state *st, struct slice line, const char *path, uint64_t number)
{
	uint32_t start = 0, end = line.n;
	uint64_t identifier;

	while (end > 0 && is_blank(line.p[end - 1]))
		end--;
	while (start < end && is_blank(line.p[start]))
		start++;
	if (start == end)
		return true;
	uint32_t last = end; /* start of the last word, then end of the label */
	while (last > start && !is_blank(line.p[last - 1]))
		last--;
	if (!units_count(slice_of(line.p + last, end - last), &identifier))
		return report_line(st, path, number, "the last word is not a 64-bit number");
	while (start < last && !is_blank(line.p[start]))
		start++;
	while (start < last && is_blank(line.p[start]))
		start++;
	while (last > start && is_blank(line.p[last - 1]))
		last--;
	if (start >= last)
		return report_line(st, path, number, "expected a category, a label and a number");
	ht_label_add(st, identifier, textscan_slice(line.p + start, last - start), HT_LABEL_MAP_FILE, NULL);
	return !st->r->no_memory;
}

bool ht_label_map_read(struct ht_state *st, const char *path)
{
	struct input *const in = input_open_in(st->r->files, NULL, path);
	struct quoted q;
	uint64_t number = 0;
	bool ok = in != NULL;

	while (ok && (in->p < in->end || input_more(in))) {
		const char *nl = memchr(in->p, '\n', (size_t)(in->end - in->p));
		while (nl == NULL && in->end - in->p < HT_MAX_LINE && input_more(in))
			nl = memchr(in->p, '\n', (size_t)(in->end - in->p));
		const size_t n = (size_t)((nl != NULL ? nl : in->end) - in->p);
		number++;
		if (n > HT_MAX_LINE)
			ok = report_line(st, path, number, "longer than 4 MiB");
		else
			ok = parse_line(st, slice_of(in->p, n), path, number);
		in->p += nl != NULL ? n + 1 : n;
	}
	if (ok && in->fault != INPUT_OK && in->fault != INPUT_EMPTY) {
		finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_LABEL_MAP], 0, 0, "label map %s: %s",
		            quoted(&q, slice_str(path)), in->fault_text);
		ok = false;
	}
	input_close(in);
	return ok;
}

/* ---- tracks ---- */

static const struct track *add_thread(struct ht_state *st, uint64_t id, const struct record *rec)
{
	struct trace *const trace = st->r->trace;
	struct ht_tracks *const all = &st->tracks;

	if (trace->ntracks >= TRACE_MAX_TRACKS) {
		ht_report(st, HT_RULE_THREAD_LIMIT, rec, "thread %" PRIu64 " and others share one track", id);
		if (all->overflow == NULL)
			all->overflow =
			    trace_add_thread(trace, all->process, UINT64_MAX, SLICE_LIT("more threads"));
		return all->overflow;
	}
	const struct slice name = trace_track_name(trace, false, THREAD_PREFIX, id);
	struct track *const t = name.p != NULL ? trace_add_thread(trace, all->process, id, name) : NULL;
	return t != NULL && table64_put(&all->threads, id, t->index) ? t : NULL;
}

const struct track *ht_track_find(struct ht_state *st, uint64_t id, const struct record *rec)
{
	struct ht_tracks *const all = &st->tracks;
	const uint32_t i = table64_get(&all->threads, id);

	all->last = i != TABLE_NONE ? st->r->trace->tracks[i] : add_thread(st, id, rec);
	all->last_id = id;
	return all->last;
}

/* ---- events ---- */

double ht_double_of_f32(uint32_t bits)
{
	const uint64_t sign = (uint64_t)(bits >> 31) << 63, mantissa = bits & 0x7fffff;
	const uint64_t nan = sign | UINT64_C(0x7ff) << 52 | mantissa << 29;
	double d;
	float f;

	if ((bits >> 23 & 0xff) == 0xff) {
		memcpy(&d, &nan, sizeof d);
		return d;
	}
	memcpy(&f, &bits, sizeof f);
	return (double)f;
}

static bool set_event_name(struct ht_state *st, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = st->c->plan;

	if (plan->name != HT_NO_LEAF) {
		e->name = ht_leaf_string(st, &plan->leaves[plan->name]);
	} else if (plan->label != HT_NO_LEAF && st->label_name.p != NULL) {
		e->name = st->label_name;
		return batch_hold(b, &st->labels.texts->shared);
	} else if (plan->label != HT_NO_LEAF) {
		const struct ht_leaf *const l = &plan->leaves[plan->label];
		const uint64_t label = ht_leaf_integer(st, l);
		e->name = ht_leaf_is_signed(l) ? arena_printf(&b->scratch, "%" PRId64, (int64_t)label)
		                               : arena_printf(&b->scratch, "%" PRIu64, label);
		e->name.flags = SLICE_UTF8 | SLICE_JSON;
	}
	return e->name.p != NULL;
}

static bool add_event_fields(struct ht_state *st, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = st->c->plan;
	const bool cut = e->phase == PHASE_SPAN && e->dur != st->dur;
	struct field *f = batch_event_fields(b, e, (uint16_t)(plan->nargs + 1 + cut));

	if (f == NULL)
		return false;
	f->name = st->wire ? SLICE_LIT("id") : SLICE_LIT("event_id");
	f->value = value_u64(st->id);
	f++;
	for (uint32_t i = 0; i < plan->nargs; i++, f++) {
		const struct ht_leaf *const l = &plan->leaves[plan->args[i]];
		f->name = l->name;
		f->value = ht_leaf_value(st, l);
	}
	if (cut) { /* the true duration as a field */
		f->name = plan->leaves[plan->duration].name;
		f->value = ht_leaf_value(st, &plan->leaves[plan->duration]);
	}
	return true;
}

void ht_make_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct ht_state *const st = r->state;
	const struct ht_plan *const plan = st->c->plan;
	bool ok = true;

	if (rec->role == RECORD_IS_EVENT) {
		const bool has_thread = plan->thread != HT_NO_LEAF;
		e->track =
		    ht_track_of(st, has_thread ? ht_leaf_integer(st, &plan->leaves[plan->thread]) : 0, rec);
		e->phase = plan->duration != HT_NO_LEAF ? PHASE_SPAN : PHASE_INSTANT;
		if (plan->duration != HT_NO_LEAF)
			e->dur = ht_span_duration(&plan->leaves[plan->duration], st->dur, e->ts);
		ok = e->track != NULL && set_event_name(st, b, e);
	}
	if (ok && reader_wants_fields(r, e))
		ok = add_event_fields(st, b, e);
	r->no_memory |= !ok;
}

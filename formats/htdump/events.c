#include <stdlib.h>

#include "htdump/htdump.h"

/* ---- vocabulary ---- */

/*
 * How events of a class are interpreted is a vocabulary's matter.  Where it names
 * no more than the fields that are the duration, the name and the thread, the
 * reader applies it: it knows the places of fields in advance, and labels that
 * come later.  All else the engine does, and gets all fields as they are.
 */

/* The leaf of this name, or HT_NO_LEAF; members of structs have no role.  A field of the class itself goes
 * before an inherited one, so the last wins. */
static uint32_t leaf_named(const void *ctx, struct slice name)
{
	const struct ht_plan *const plan = ctx;

	for (uint32_t i = plan->nleaves; name.p != NULL && i > 0; i--)
		if (!plan->leaves[i - 1].member && slice_equal(plan->paths[i - 1], name))
			return i - 1;
	return HT_NO_LEAF;
}

static bool has_leaf(const void *ctx, struct slice name)
{
	return leaf_named(ctx, name) != HT_NO_LEAF;
}

static bool has_any(const void *ctx, struct slice name)
{
	(void)ctx;
	(void)name;
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

/* ---- mappings ---- */

/* It puts the text of one field under the number of another into the table of labels. */
static bool defines_labels(const struct trace *trace, const struct class_plan *p)
{
	return p->plan != NULL && p->plan->phase == PLAN_STRUCTURE &&
	       (p->says & CLASS_PLAN_DEFINITION) != 0 && p->table != PLAN_NO_TABLE &&
	       p->table == label_table(trace);
}

bool ht_vocabulary_may_map(const struct ht_state *st, struct slice name)
{
	const struct vocabulary *const v = st->r->trace->vocabulary;
	struct class_plan p;

	class_plan_compile(&p, v != NULL ? v->ops->find(v, name, has_any, NULL) : NULL, NULL);
	return defines_labels(st->r->trace, &p);
}

/* A mapping that lacks what it needs is an event like any other. */
static void apply_mapping(struct ht_class *c, struct ht_plan *plan, const struct class_plan *p)
{
	if (p->key == HT_NO_LEAF || p->value == HT_NO_LEAF || plan->leaves[p->value].value != VALUE_STRING)
		return;
	plan->identifier = p->key;
	plan->name = p->value;
	c->kind = HT_KIND_MAPPING;
}

/* ---- events ---- */

/* Whether the reader can apply all of it: labels and threads it knows by their numbers. */
static bool is_applied(const struct class_plan *p, uint8_t labels)
{
	const unsigned mine = CLASS_PLAN_DURATION | CLASS_PLAN_NAME | CLASS_PLAN_THREAD;

	return (p->says & ~mine) == 0 && (p->name_table == PLAN_NO_TABLE || p->name_table == labels) &&
	       ((p->says & CLASS_PLAN_THREAD) == 0 || slice_is(p->thread_prefix, HT_THREAD " "));
}

static bool looks_up(const struct plan_ref *ref, uint8_t table)
{
	for (uint32_t i = 0; i < ref->ntables; i++)
		if (ref->tables[i] == table)
			return true;
	return false;
}

/* Whether names, time lines or keys are made of labels. */
static bool asks_for_labels(const struct plan *m, uint8_t labels)
{
	bool asks = looks_up(&m->key, labels);

	for (uint32_t i = 0; i < m->nnames; i++)
		for (uint32_t k = 0; k < m->names[i].nparts; k++)
			asks |= looks_up(&m->names[i].parts[k].ref, labels);
	for (uint32_t i = 0; i < m->ntracks; i++)
		asks |= looks_up(&m->tracks[i].number, labels);
	return asks;
}

static void forget_roles(struct ht_plan *plan)
{
	plan->duration = plan->thread = plan->label = plan->name = plan->identifier = HT_NO_LEAF;
}

static void ht_labels_share(struct ht_state *st, uint8_t table);

static void apply_event(struct ht_state *st, struct ht_class *c, struct ht_plan *plan,
                        const struct class_plan *p, struct class *like)
{
	const struct plan *const m = p->plan;
	const uint8_t labels = label_table(st->r->trace);
	const bool applies = is_applied(p, labels);

	like->reader_applies = applies && !st->raw;
	if (applies) {
		plan->duration = p->duration;
		plan->name = p->name;
		plan->label = p->label;
		plan->thread = p->thread;
	} else if (labels != PLAN_NO_TABLE && st->ahead_of == NULL && !st->raw &&
	           asks_for_labels(m, labels)) {
		ht_labels_share(st, labels);
	}
	if (m->phase != PLAN_STRUCTURE)
		return;
	c->version = plan_word(m, "version");
	c->kind = c->version.p != NULL ? HT_KIND_SYSTEM : HT_KIND_STRUCTURE;
}

void ht_vocabulary_apply(struct ht_state *st, struct ht_class *c, struct ht_plan *plan, struct class *like)
{
	const struct class_plan_fields fields = { plan, leaf_named, leaf_type };
	const struct plan *m = NULL;
	struct class_plan p;

	forget_roles(plan);
	if (c->id >= HT_BUILTIN_CLASSES) {
		m = like->plan = trace_find_plan(st->r->trace, c->name, has_leaf, plan);
		c->kind = HT_KIND_EVENT;
		c->version = (struct slice){ NULL, 0, 0 };
	}
	class_plan_compile(&p, m, &fields);
	if (defines_labels(st->r->trace, &p)) {
		like->reader_applies = !st->raw;
		apply_mapping(c, plan, &p);
	} else if (m != NULL) {
		apply_event(st, c, plan, &p, like);
	}
	plan->always_fields = class_needs_fields(like);
	plan->want =
	    c->kind == HT_KIND_EVENT ? WANT_TIMES : WANT_STRUCTURE | (plan->always_fields ? WANT_TIMES : 0);
}

/* ---- track ---- */

static const struct track *new_thread(struct ht_state *st, uint64_t id, const struct ht_record *rec)
{
	struct trace *const trace = st->r->trace;
	struct ht_tracks *const all = &st->tracks;

	if (trace->ntracks >= TRACE_MAX_TRACKS) {
		ht_finding_add(st, HT_RULE_THREAD_LIMIT, rec, "thread %" PRIu64 " and others share one track",
		               id);
		if (all->more == NULL)
			all->more =
			    trace_add_thread(trace, all->process, UINT64_MAX, SLICE_LIT("more threads"));
		return all->more;
	}
	const struct slice name = trace_track_name(trace, false, HT_THREAD, id);
	struct track *const t = name.p != NULL ? trace_add_thread(trace, all->process, id, name) : NULL;
	return t != NULL && table64_put(&all->threads, id, t->index) ? t : NULL;
}

const struct track *ht_track_far(struct ht_state *st, uint64_t id, const struct ht_record *rec)
{
	struct ht_tracks *const all = &st->tracks;
	const uint32_t known = table64_get(&all->threads, id);

	all->last = known != TABLE_NONE ? st->r->trace->tracks[known] : new_thread(st, id, rec);
	all->last_id = id;
	return all->last;
}

/* ---- value ---- */

double ht_widened(uint32_t bits)
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

/* ---- label ---- */

/*
 * Names of integer labels.  They come from HT_StringMappingEvent, which may
 * stand after the first use, and from a label map file.  When a label has no
 * name yet and the input can be read twice, one quiet pass over all of
 * the input collects the names that come later.
 */

static void destroy_texts(struct shared_memory *m)
{
	struct ht_texts *const texts = (struct ht_texts *)m; /* its first member */

	arena_free(&texts->arena);
	free(texts);
}

void ht_labels_free(struct ht_labels *all)
{
	table64_free(&all->index);
	free(all->list);
	shared_memory_drop(all->texts != NULL ? &all->texts->shared : NULL);
}

/* ---- adding ---- */

/* Room for one more label of n bytes; false when the bounds are reached (then it stays a number, and is
 * counted).  Names that were replaced take room too, and an empty one is not for nothing. */
static bool room_for(const struct ht_labels *all, uint32_t n)
{
	return all->n < HT_MAX_MAPPINGS && all->bytes <= HT_MAX_LABEL_BYTES &&
	       n + HT_TEXT_COST <= HT_MAX_LABEL_BYTES - all->bytes;
}

/* p is NULL: no memory. */
static struct slice copy_text(struct ht_labels *all, struct slice text)
{
	if (all->texts == NULL) {
		all->texts = calloc(1, sizeof *all->texts);
		if (all->texts == NULL)
			return (struct slice){ NULL, 0, 0 };
		shared_memory_init(&all->texts->shared, destroy_texts);
	}
	return arena_copy(&all->texts->arena, text);
}

static void define(struct ht_state *st, const struct ht_label *label)
{
	definitions_put(&st->r->trace->definitions, st->labels.table, DEFINITIONS_WHOLE_TRACE,
	                label->identifier, 0, value_string(label->text));
}

/* Puts a label in the place of `old`, or of none.  false: no memory. */
static bool put(struct ht_state *st, struct ht_label *old, struct ht_label label)
{
	struct ht_labels *const all = &st->labels;

	label.text = copy_text(all, label.text);
	if (label.text.p == NULL)
		return false;
	if (all->shared)
		define(st, &label);
	all->bytes += label.text.n + HT_TEXT_COST;
	if (old != NULL) {
		*old = label;
		return true;
	}
	if (!array_room(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    !table64_put(&all->index, label.identifier, all->n))
		return false;
	all->list[all->n++] = label;
	return true;
}

static void report_changed(struct ht_state *st, const struct ht_label *old, struct slice text,
                           const struct ht_record *rec)
{
	struct quoted q, q2;

	if (ht_finding_is_shown(st, HT_RULE_MAPPING_CHANGED))
		ht_finding_add(st, HT_RULE_MAPPING_CHANGED, rec,
		               "label %" PRIu64 " was %s, from here on it is %s", old->identifier,
		               quoted(&q, old->text), quoted(&q2, text));
	else
		ht_finding_add(st, HT_RULE_MAPPING_CHANGED, rec, "not shown");
}

void ht_label_add(struct ht_state *st, uint64_t identifier, struct slice text, enum ht_label_source source,
                  const struct ht_record *rec)
{
	struct ht_labels *const all = &st->labels;
	const uint32_t known = table64_get(&all->index, identifier);
	struct ht_label *const old = known != TABLE_NONE ? &all->list[known] : NULL;

	if (old != NULL && source <= old->source && source != HT_LABEL_MET)
		return;
	if (old != NULL && slice_equal(old->text, text)) {
		old->source = source;
		return;
	}
	if (old != NULL && old->source == HT_LABEL_MET)
		report_changed(st, old, text, rec);
	if (room_for(all, text.n) && !put(st, old, (struct ht_label){ text, identifier, source }))
		st->no_memory = true;
}

/* ---- looking up ---- */

/* Collects all mappings of the input by a pass of its own, at most once. */
static void look_ahead(struct ht_state *st)
{
	struct ht_labels *const all = &st->labels;

	if (all->looked_ahead || st->ahead_of != NULL)
		return;
	all->looked_ahead = true;
	switch (reader_look_ahead(st->r)) {
	case LOOK_AHEAD_DONE:
		break;
	case LOOK_AHEAD_ONE_PASS:
		all->one_pass = true; /* labels that are named later stay numbers, and are counted */
		break;
	case LOOK_AHEAD_FAILED:
		st->no_memory = true;
		break;
	}
}

/* From here on all names, also those that stand later in the input, are definitions of the trace. */
static void ht_labels_share(struct ht_state *st, uint8_t table)
{
	struct ht_labels *const all = &st->labels;

	if (all->shared)
		return;
	look_ahead(st);
	all->shared = true;
	all->table = table;
	for (uint32_t i = 0; i < all->n && !st->no_memory; i++)
		define(st, &all->list[i]);
}

struct slice ht_label_find(struct ht_state *st, uint64_t identifier, const struct ht_record *rec)
{
	struct ht_labels *const all = &st->labels;
	uint32_t known = table64_get(&all->index, identifier);

	if (known == TABLE_NONE && !all->looked_ahead) {
		look_ahead(st);
		known = table64_get(&all->index, identifier);
	}
	if (known != TABLE_NONE)
		return all->list[known].text;
	finding_tally_add(&all->unresolved, rec->offset, rec->ordinal, identifier, 0);
	return (struct slice){ NULL, 0, 0 };
}

/* ---- label map ---- */

/* Label map files: lines of category, label, number. */

static bool bad_line(struct ht_state *st, const char *path, uint64_t line, const char *why)
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

/* A decimal number that is all of the text. */
static bool parse_number(struct slice s, uint64_t *v)
{
	*v = 0;
	for (uint32_t i = 0; i < s.n; i++) {
		const unsigned digit = (unsigned)(s.p[i] - '0');
		if (digit > 9 || *v > (UINT64_MAX - digit) / 10)
			return false;
		*v = *v * 10 + digit;
	}
	return s.n > 0;
}

/* category, label, number: the label may hold blanks, so it is what stands between the first word and the
 * last. */
static bool map_line(struct ht_state *st, struct slice line, const char *path, uint64_t number)
{
	uint32_t a = 0, b = line.n;
	uint64_t identifier;

	while (b > 0 && is_blank(line.p[b - 1]))
		b--;
	while (a < b && is_blank(line.p[a]))
		a++;
	if (a == b)
		return true;
	uint32_t last = b;
	while (last > a && !is_blank(line.p[last - 1]))
		last--;
	if (!parse_number(slice_of(line.p + last, b - last), &identifier))
		return bad_line(st, path, number, "the last word is not a 64-bit number");
	while (a < last && !is_blank(line.p[a]))
		a++;
	while (a < last && is_blank(line.p[a]))
		a++;
	while (last > a && is_blank(line.p[last - 1]))
		last--;
	if (a >= last)
		return bad_line(st, path, number, "expected a category, a label and a number");
	const struct slice label = textscan_slice(line.p + a, last - a);
	ht_label_add(st, identifier, label, HT_LABEL_MAP_FILE, NULL);
	return !st->no_memory;
}

bool ht_label_map_read(struct ht_state *st, const char *path)
{
	struct input *const in = input_open_in(st->r->files, NULL, path);
	struct quoted q;
	uint64_t number = 0;
	bool ok = in != NULL;

	while (ok && (in->p < in->end || input_more(in))) {
		const char *nl = memchr(in->p, '\n', (size_t)(in->end - in->p));
		while (nl == NULL && in->end - in->p < HT_MAX_STRING && input_more(in))
			nl = memchr(in->p, '\n', (size_t)(in->end - in->p));
		const size_t n = (size_t)((nl != NULL ? nl : in->end) - in->p);
		number++;
		if (n > HT_MAX_STRING)
			ok = bad_line(st, path, number, "longer than 4 MiB");
		else
			ok = map_line(st, slice_of(in->p, n), path, number);
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

/* ---- event ---- */

/* Records as events: which span, on whose track, with which fields. */

/* The decimal text of a label that nothing names. */
static struct slice label_number(struct batch *b, uint64_t label)
{
	struct slice s = arena_printf(&b->scratch, "%" PRIu64, label);

	s.flags = SLICE_UTF8 | SLICE_JSON;
	return s;
}

/* false: no memory. */
static bool name_event(struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;

	if (plan->name != HT_NO_LEAF) {
		e->name = ht_leaf_string(st, &plan->leaves[plan->name]);
	} else if (plan->label != HT_NO_LEAF && st->label_name.p != NULL) {
		e->name = st->label_name;
		return batch_hold(b, &st->labels.texts->shared);
	} else if (plan->label != HT_NO_LEAF) {
		e->name = label_number(b, ht_leaf_integer(st, &plan->leaves[plan->label]));
	}
	return e->name.p != NULL;
}

/* false: no memory. */
static bool add_fields(struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;
	const bool cut = e->phase == PHASE_SPAN && e->dur != rec->dur;
	struct field *const first = batch_fields(b, plan->nargs + 2);
	struct field *f = first;

	if (f == NULL)
		return false;
	f->name = st->wire ? SLICE_LIT("id") : SLICE_LIT("event_id");
	f->value = value_u64(rec->id);
	f++;
	for (uint32_t i = 0; i < plan->nargs; i++, f++) {
		const struct ht_leaf *const l = &plan->leaves[plan->args[i]];
		f->name = l->name;
		f->value = ht_leaf_value(st, l);
	}
	if (cut) { /* the true duration, which does not fit behind its start */
		f->name = plan->leaves[plan->duration].name;
		f->value = ht_leaf_value(st, &plan->leaves[plan->duration]);
		f++;
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)(f - first);
	b->nfields += e->nfields;
	return true;
}

/* Phase, track, length and name of what is no structure.  false: no memory. */
static bool place_event(struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;

	e->track = ht_track(
	    st, plan->thread == HT_NO_LEAF ? 0 : ht_leaf_integer(st, &plan->leaves[plan->thread]), rec);
	e->phase = plan->duration != HT_NO_LEAF ? PHASE_SPAN : PHASE_INSTANT;
	/* a span that ends past 2^64, which was reported where the record was checked, is cut there */
	e->dur = rec->dur > UINT64_MAX - e->ts ? UINT64_MAX - e->ts : rec->dur;
	return e->track != NULL && name_event(st, rec, b, e);
}

void ht_event_add(struct ht_state *st, const struct ht_record *rec, struct batch *b)
{
	struct event *const e = &b->events[b->n];
	bool ok = true;

	e->ts = rec->ts;
	e->dur = 0;
	e->name = rec->c->name;
	e->cls = rec->c->cls;
	e->track = NULL;
	e->offset = rec->offset;
	e->nfields = 0;
	e->flags = 0;
	e->phase = PHASE_STRUCTURE;
	if (rec->c->kind == HT_KIND_EVENT)
		ok = place_event(st, rec, b, e);
	if (ok && ((st->r->want & WANT_FIELDS) != 0 || rec->c->plan->always_fields))
		ok = add_fields(st, rec, b, e);
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	b->n += ok;
	st->no_memory |= !ok;
}

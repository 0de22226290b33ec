/*
 * Makes events of the model: classes from categories, names, and fields from debug annotations.  Annotations
 * are typed trees of bounded depth; if one has several values, the one that Perfetto uses counts.
 */
#include "json/token.h"
#include "model/event_traits.h"
#include "model/value.h"
#include "out/field_names.h"
#include "perfetto/read/read.h"

/* ---- classes ---- */

#define MAX_JOINED 4096U /* bytes of several categories: each event can refer to long ones */

/* Events of one category are a class; counters with a unit have a class for each unit. */
static struct class *find_class(struct pf_state *st, struct slice category, struct slice unit)
{
	struct trace *const trace = st->r->trace;
	const struct slice name = category.n > 0 ? category : SLICE_LIT("no category");
	struct text key = { .n = 0 };

	text_add(&key, name.p, name.n);
	text_char(&key, '\0');
	text_add(&key, unit.p, unit.n);
	const struct slice s = slice_of(key.p, key.n);
	const uint32_t known = !key.failed ? tabletext_get(&st->class_names, s) : 0;
	struct class *c = known != TABLE_NONE && !key.failed ? trace->planned[known] : NULL;
	if (c == NULL && !key.failed && st->class_names.used >= PF_MAX_CLASSES) {
		pf_report_limit(st, PF_FULL_CLASSES, "more than %u categories: the others are shown as one",
		                PF_MAX_CLASSES);
		c = st->overflow_class != NULL ? st->overflow_class
		                               : trace_add_class(trace, SLICE_LIT("more categories"));
		st->overflow_class = c;
	} else if (c == NULL && !key.failed) {
		const struct slice copy = arena_copy(&trace->arena, s);
		const struct slice text = copy.p != NULL ? textscan_slice(copy.p, name.n) : copy;
		struct class like = { .name = text };
		const struct slice unit_text = arena_copy(&trace->arena, unit);
		const struct class_field value = { .name = SLICE_LIT("value"),
			                           .type = SLICE_LIT("double"),
			                           .unit = unit_text.p };
		like.plan = trace_find_plan(trace, text, NULL, NULL);
		if (unit.n > 0) {
			like.fields = &value;
			like.nfields = 1;
		}
		c = copy.p != NULL && unit_text.p != NULL ? trace_plan_class(trace, &like) : NULL;
		if (c != NULL && !tabletext_put(&st->class_names, copy, c->index))
			c = NULL;
	}
	st->r->no_memory |= c == NULL;
	text_free(&key);
	return c;
}

/* The text or bytes of an entry of interned data; p NULL: not defined. */
static struct slice interned(const struct pf_state *st, enum pf_table_id table, uint64_t iid)
{
	const struct pf_entry *const e = pf_entry_find(st->sequence, table, iid);

	return e != NULL ? e->text : SLICE_NONE;
}

/* The text of an entry as a value; VALUE_NONE: not defined. */
static struct value interned_value(const struct pf_state *st, enum pf_table_id table, uint64_t iid)
{
	const struct slice s = interned(st, table, iid);

	return s.p != NULL ? value_string(s) : (struct value){ .type = VALUE_NONE };
}

static void join(struct pf_state *st, struct text *all, struct slice one)
{
	if (one.p == NULL)
		return;
	if (all->n + one.n >= MAX_JOINED) {
		pf_report_limit(st, PF_FULL_CATEGORIES,
		                "more than %u bytes of categories of an event: some are left out",
		                MAX_JOINED);
		return;
	}
	if (all->n > 0)
		text_char(all, ',');
	text_add(all, one.p, one.n);
}

/* The class of the categories of the event, joined by commas as in Perfetto: those by number come first. */
static struct class *joined_class(struct pf_state *st, struct slice unit)
{
	struct pf_wire w = pf_wire_on(st->te.s);
	struct text all = { .n = 0 };

	if (st->te.ncategories == 1 && st->te.category.p != NULL)
		return find_class(st, st->te.category, unit);
	while (pf_wire_find(&w, PF_TAG(PF_event_category_iids, PF_VARINT)))
		join(st, &all, interned(st, PF_CATEGORIES, w.v));
	w = pf_wire_on(st->te.s);
	while (pf_wire_find(&w, PF_TAG(PF_event_categories, PF_BYTES)))
		join(st, &all, pf_wire_slice(&w));
	struct class *const c = find_class(st, slice_of(all.p, all.n), unit);
	st->r->no_memory |= all.failed;
	text_free(&all);
	return c;
}

static struct class *event_class(struct pf_state *st)
{
	const struct pf_event_fields *const te = &st->te;
	const struct slice none = slice_of("", 0);
	struct arena a = { .head = NULL };
	struct class *c;

	if (te->ncategories == 0) {
		if (st->plain_class == NULL)
			st->plain_class = find_class(st, none, none);
		return st->plain_class;
	}
	if (te->ncategories == 1 && te->category_iid != 0) {
		struct pf_entry *const e = pf_entry_find(st->sequence, PF_CATEGORIES, te->category_iid);
		if (e != NULL) {
			if (e->cls == NULL)
				e->cls = find_class(st, e->text, none);
			return e->cls;
		}
		const struct slice unknown = arena_printf(&a, "unknown(%" PRIu64 ")", te->category_iid);
		c = find_class(st, unknown.p != NULL ? unknown : none, none);
	} else {
		if (st->last_class != NULL && st->event.category_hash == st->last_category)
			return st->last_class;
		c = joined_class(st, none);
		st->last_category = st->event.category_hash;
		st->last_class = c;
	}
	arena_free(&a);
	return c;
}

/* ---- names ---- */

struct slice pf_event_name(const struct pf_state *st)
{
	const struct pf_event_fields *const te = &st->te;
	const uint64_t iid = pf_name_iid(st);

	if (iid != 0)
		return interned(st, PF_NAMES, iid);
	return te->name.p != NULL ? textscan_slice(te->name.p, te->name.n) : te->name;
}

/* ---- annotations ---- */

static struct value make_value(struct pf_state *st, struct batch *b, struct slice annotation, unsigned depth);

static struct slice annotation_name(const struct pf_state *st, struct slice annotation)
{
	struct pf_wire w = pf_wire_on(annotation);
	struct slice name = SLICE_NONE;

	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_annotation_name_iid, PF_VARINT) && w.v != 0)
			return interned(st, PF_KEYS, w.v);
		if (w.tag == PF_TAG(PF_annotation_name, PF_BYTES))
			name = textscan_slice(w.bytes, (uint32_t)w.v);
	}
	return name;
}

uint32_t pf_count(struct slice s, uint32_t tag)
{
	struct pf_wire w = pf_wire_on(s);
	uint32_t n = 0;

	while (pf_wire_find(&w, tag))
		n++;
	return n;
}

/* A dictionary ends at the first entry without a name, as in Perfetto. */
static struct value make_map(struct pf_state *st, struct batch *b, struct slice s, unsigned depth)
{
	const uint32_t tag = PF_TAG(PF_annotation_dict_entries, PF_BYTES), n = pf_count(s, tag);
	struct value *const v = arena_alloc(&b->scratch, 2 * (size_t)n * sizeof *v);
	struct pf_wire w = pf_wire_on(s);
	uint32_t k = 0;

	while (v != NULL && pf_wire_find(&w, tag)) {
		const struct field one = pf_annotation(st, b, pf_wire_slice(&w), depth + 1);
		if (one.name.p == NULL)
			break;
		if (one.value.type == VALUE_NONE)
			continue;
		v[2 * (size_t)k] = value_string(one.name);
		v[2 * (size_t)k++ + 1] = one.value;
	}
	return (struct value){ .type = v != NULL && k > 0 ? VALUE_MAP : VALUE_NONE, .count = k, .values = v };
}

struct value pf_list(const struct value *v, uint32_t n)
{
	struct value list = {
		.type = VALUE_LIST, .element = n > 0 ? v[0].type : VALUE_NONE, .count = n, .values = v
	};

	for (uint32_t i = 1; i < n; i++)
		if (v[i].type != v[0].type)
			list.element = VALUE_NONE;
	return list;
}

static struct value make_list(struct pf_state *st, struct batch *b, struct slice s, unsigned depth)
{
	const uint32_t tag = PF_TAG(PF_annotation_array_values, PF_BYTES), n = pf_count(s, tag);
	struct value *const v = arena_alloc(&b->scratch, (size_t)n * sizeof *v);
	struct pf_wire w = pf_wire_on(s);
	uint32_t k = 0;

	while (v != NULL && pf_wire_find(&w, tag)) {
		v[k] = make_value(st, b, pf_wire_slice(&w), depth + 1);
		k += v[k].type != VALUE_NONE;
	}
	return k > 0 ? pf_list(v, k) : (struct value){ .type = VALUE_NONE };
}

static struct value make_nested(struct batch *b, struct slice s, unsigned depth)
{
	struct arena *const a = &b->scratch;
	const uint32_t keys = pf_count(s, PF_TAG(PF_nested_dict_keys, PF_BYTES));
	const uint32_t entries = pf_count(s, PF_TAG(PF_nested_dict_values, PF_BYTES));
	const uint32_t values = pf_count(s, PF_TAG(PF_nested_array_values, PF_BYTES));
	const uint32_t n = keys < entries ? keys : entries;
	struct value *const map = arena_alloc(a, 2 * (size_t)n * sizeof *map);
	struct value *const list = arena_alloc(a, (size_t)values * sizeof *list);
	struct value scalar = { .type = VALUE_NONE };
	struct pf_wire w = pf_wire_on(s);
	uint32_t type = 0, k = 0, e = 0, i = 0;

	while (map != NULL && list != NULL && depth < PF_MAX_NESTED && pf_wire_next(&w)) {
		switch (w.tag) {
		case PF_TAG(PF_nested_nested_type, PF_VARINT):
			type = (uint32_t)w.v;
			break;
		case PF_TAG(PF_nested_dict_keys, PF_BYTES):
			if (k < n)
				map[2 * (size_t)k++] = value_string(textscan_slice(w.bytes, (uint32_t)w.v));
			break;
		case PF_TAG(PF_nested_dict_values, PF_BYTES):
			if (e < n)
				map[2 * (size_t)e++ + 1] = make_nested(b, pf_wire_slice(&w), depth + 1);
			break;
		case PF_TAG(PF_nested_array_values, PF_BYTES):
			list[i++] = make_nested(b, pf_wire_slice(&w), depth + 1);
			break;
		case PF_TAG(PF_nested_int_value, PF_VARINT):
			scalar = (struct value){ .type = VALUE_I64, .u64 = w.v };
			break;
		case PF_TAG(PF_nested_double_value, PF_FIXED64):
			scalar = (struct value){ .type = VALUE_F64, .f64 = pf_wire_double(&w) };
			break;
		case PF_TAG(PF_nested_bool_value, PF_VARINT):
			scalar = (struct value){ .type = VALUE_BOOL, .u64 = w.v != 0 };
			break;
		case PF_TAG(PF_nested_string_value, PF_BYTES):
			scalar = value_string(textscan_slice(w.bytes, (uint32_t)w.v));
			break;
		default:
			break;
		}
	}
	const uint32_t pairs = k < e ? k : e;
	if (type == 1 && pairs > 0)
		return (struct value){ .type = VALUE_MAP, .count = pairs, .values = map };
	if (type == 2 && i > 0)
		return pf_list(list, i);
	return type == 0 ? scalar : (struct value){ .type = VALUE_NONE };
}

enum { VALUES_OF_ANNOTATION = 12 };

/* Order in which Perfetto looks for the value of an annotation. */
static unsigned value_priority(uint32_t tag)
{
	static const uint32_t tags[VALUES_OF_ANNOTATION] = {
		PF_TAG(PF_annotation_dict_entries, PF_BYTES),
		PF_TAG(PF_annotation_array_values, PF_BYTES),
		PF_TAG(PF_annotation_bool_value, PF_VARINT),
		PF_TAG(PF_annotation_uint_value, PF_VARINT),
		PF_TAG(PF_annotation_int_value, PF_VARINT),
		PF_TAG(PF_annotation_double_value, PF_FIXED64),
		PF_TAG(PF_annotation_string_value, PF_BYTES),
		PF_TAG(PF_annotation_string_value_iid, PF_VARINT),
		PF_TAG(PF_annotation_pointer_value, PF_VARINT),
		PF_TAG(PF_annotation_legacy_json_value, PF_BYTES),
		PF_TAG(PF_annotation_proto_value, PF_BYTES),
		PF_TAG(PF_annotation_nested_value, PF_BYTES)
	};
	unsigned i = 0;

	while (i < VALUES_OF_ANNOTATION && tags[i] != tag)
		i++;
	return i;
}

/* The full name of the type of proto_value. */
static struct slice proto_type(const struct pf_state *st, struct slice annotation)
{
	const struct slice name = pf_content(annotation, PF_annotation_proto_type_name);

	return name.p != NULL
	           ? name
	           : interned(st, PF_TYPE_NAMES, pf_number(annotation, PF_annotation_proto_type_name_iid));
}

static struct value make_value(struct pf_state *st, struct batch *b, struct slice annotation, unsigned depth)
{
	const struct value none = { .type = VALUE_NONE };
	struct pf_wire w = pf_wire_on(annotation), best = w;
	unsigned least = VALUES_OF_ANNOTATION;
	size_t at;

	if (depth >= PF_MAX_NESTED)
		return none;
	while (pf_wire_next(&w)) {
		const unsigned i = value_priority(w.tag);
		if (i < VALUES_OF_ANNOTATION && i <= least) {
			least = i;
			best = w;
		}
	}
	switch (best.tag) {
	case PF_TAG(PF_annotation_dict_entries, PF_BYTES):
		return make_map(st, b, annotation, depth);
	case PF_TAG(PF_annotation_array_values, PF_BYTES):
		return make_list(st, b, annotation, depth);
	case PF_TAG(PF_annotation_bool_value, PF_VARINT):
		return (struct value){ .type = VALUE_BOOL, .u64 = best.v != 0 };
	case PF_TAG(PF_annotation_uint_value, PF_VARINT):
		return value_u64(best.v);
	case PF_TAG(PF_annotation_int_value, PF_VARINT):
		return (struct value){ .type = VALUE_I64, .u64 = best.v };
	case PF_TAG(PF_annotation_double_value, PF_FIXED64):
		return (struct value){ .type = VALUE_F64, .f64 = pf_wire_double(&best) };
	case PF_TAG(PF_annotation_string_value, PF_BYTES):
		return value_string(textscan_slice(best.bytes, (uint32_t)best.v));
	case PF_TAG(PF_annotation_string_value_iid, PF_VARINT):
		return interned_value(st, PF_STRINGS, best.v);
	case PF_TAG(PF_annotation_pointer_value, PF_VARINT):
		return (struct value){ .type = VALUE_ADDRESS, .u64 = best.v };
	case PF_TAG(PF_annotation_legacy_json_value, PF_BYTES):
		return json_document_fault(best.bytes, best.v, JSON_MAX_DEPTH, &at) == NULL
		           ? (struct value){ .type = VALUE_JSON,
			                     .flags = SLICE_UTF8,
			                     .count = (uint32_t)best.v,
			                     .p = best.bytes }
		           : none;
	case PF_TAG(PF_annotation_proto_value, PF_BYTES):
		return pf_typed_value(st, b, proto_type(st, annotation), pf_wire_slice(&best), depth);
	case PF_TAG(PF_annotation_nested_value, PF_BYTES):
		return make_nested(b, pf_wire_slice(&best), depth);
	default:
		return none;
	}
}

struct field pf_annotation(struct pf_state *st, struct batch *b, struct slice annotation, unsigned depth)
{
	const struct slice name = annotation_name(st, annotation);

	return (struct field){ name, name.p != NULL ? make_value(st, b, annotation, depth)
		                                    : (struct value){ .type = VALUE_NONE } };
}

/* ---- checks ---- */

static void check_annotation(struct pf_state *st, struct slice s, bool is_named, unsigned depth)
{
	const struct slice prefix = SLICE_LIT(".perfetto.protos.");
	struct pf_wire w = pf_wire_on(s);
	bool has_name = !is_named, has_value = false, is_proto = false, has_type = false;

	if (depth >= PF_MAX_NESTED) {
		pf_report(st, PF_RULE_DA_DEEP, "an argument of more than %d levels", PF_MAX_NESTED);
		return;
	}
	while (pf_wire_next(&w)) {
		switch (w.tag) {
		case PF_TAG(PF_annotation_name_iid, PF_VARINT):
			if (w.v != 0)
				(void)pf_entry_use(st, PF_KEYS, w.v);
			has_name |= w.v != 0;
			break;
		case PF_TAG(PF_annotation_name, PF_BYTES):
			has_name = true;
			break;
		case PF_TAG(PF_annotation_string_value_iid, PF_VARINT):
			if (w.v != 0)
				(void)pf_entry_use(st, PF_STRINGS, w.v);
			has_value = true;
			break;
		case PF_TAG(PF_annotation_dict_entries, PF_BYTES):
			check_annotation(st, pf_wire_slice(&w), true, depth + 1);
			has_value = true;
			break;
		case PF_TAG(PF_annotation_array_values, PF_BYTES):
			check_annotation(st, pf_wire_slice(&w), false, depth + 1);
			has_value = true;
			break;
		case PF_TAG(PF_annotation_proto_value, PF_BYTES):
			is_proto = has_value = true;
			break;
		case PF_TAG(PF_annotation_proto_type_name, PF_BYTES):
			has_type = w.v >= prefix.n && memcmp(w.bytes, prefix.p, prefix.n) == 0;
			break;
		case PF_TAG(PF_annotation_proto_type_name_iid, PF_VARINT):
			has_type |= pf_entry_use(st, PF_TYPE_NAMES, w.v) != NULL;
			break;
		default:
			has_value |= pf_wire_number(&w) != PF_annotation_name;
		}
	}
	if (w.bad)
		return; /* reported */
	if (!has_name)
		pf_report(st, PF_RULE_DA_NAME, "%s has no name",
		          depth > 0 ? "an entry of a dictionary" : "an annotation");
	else if (!has_value)
		pf_report(st, PF_RULE_DA_VALUE, "an annotation has no value");
	if (is_proto && !has_type)
		pf_report(st, PF_RULE_DA_PROTO, "proto_value has a type outside perfetto.protos");
}

void pf_annotations_check(struct pf_state *st)
{
	struct pf_wire w = pf_wire_on(st->te.contents);

	while (pf_wire_find(&w, PF_TAG(PF_event_debug_annotations, PF_BYTES)))
		check_annotation(st, pf_wire_slice(&w), true, 0);
}

/* ---- other fields of an event ---- */

#define MAX_MORE 16U

static void put(struct field *f, uint32_t *n, struct slice name, struct value v)
{
	if (v.type != VALUE_NONE && *n < MAX_MORE)
		f[(*n)++] = (struct field){ name, v };
}

static struct value text_value(struct slice s)
{
	return value_string(textscan_slice(s.p, s.n));
}

static struct value number_value(int64_t v)
{
	return (struct value){ .type = VALUE_I64, .i64 = v };
}

/* Names of the fields of a source location. */
#define LOCATION(prefix)                                                                                     \
	{                                                                                                    \
		SLICE_LIT(prefix ".file_name"), SLICE_LIT(prefix ".function_name"),                          \
		    SLICE_LIT(prefix ".line_number")                                                         \
	}

static void put_location(struct field *f, uint32_t *n, struct slice location, const struct slice names[3])
{
	struct pf_wire w = pf_wire_on(location);

	while (location.p != NULL && pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_location_file_name, PF_BYTES))
			put(f, n, names[0], text_value(pf_wire_slice(&w)));
		else if (w.tag == PF_TAG(PF_location_function_name, PF_BYTES))
			put(f, n, names[1], text_value(pf_wire_slice(&w)));
		else if (w.tag == PF_TAG(PF_location_line_number, PF_VARINT))
			put(f, n, names[2], (struct value){ .type = VALUE_U32, .u64 = (uint32_t)w.v });
	}
}

static void put_log(struct pf_state *st, struct field *f, uint32_t *n, struct slice log)
{
	static const struct slice names[3] = LOCATION("log_message.source_location");
	struct pf_wire w = pf_wire_on(log);

	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_log_body_iid, PF_VARINT))
			put(f, n, SLICE_LIT("log_message.message"), interned_value(st, PF_LOG_BODIES, w.v));
		else if (w.tag == PF_TAG(PF_log_prio, PF_VARINT))
			put(f, n, SLICE_LIT("log_message.priority"),
			    (struct value){ .type = VALUE_I32, .i64 = (int32_t)w.v });
		else if (w.tag == PF_TAG(PF_log_source_location_iid, PF_VARINT))
			put_location(f, n, interned(st, PF_LOCATIONS, w.v), names);
	}
}

/* Reads the fields that are not annotations. */
static uint32_t read_more(struct pf_state *st, struct batch *b, struct field *f)
{
	static const struct slice source[3] = LOCATION("source"), inlined[3] = LOCATION("source_location"),
	                          task[3] = LOCATION("task.posted_from");
	struct pf_wire w = pf_wire_on(st->te.s);
	uint64_t iid;
	uint32_t n = 0;

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		switch (w.tag) {
		case PF_TAG(PF_event_source_location_iid, PF_VARINT):
			put_location(f, &n, interned(st, PF_LOCATIONS, w.v), source);
			break;
		case PF_TAG(PF_event_source_location, PF_BYTES):
			put_location(f, &n, pf_wire_slice(&w), inlined);
			break;
		case PF_TAG(PF_event_task_execution, PF_BYTES):
			iid = pf_number(pf_wire_slice(&w), PF_task_posted_from_iid);
			put_location(f, &n, interned(st, PF_LOCATIONS, iid), task);
			break;
		case PF_TAG(PF_event_legacy_event, PF_BYTES):
			if (st->legacy.has_thread_dur)
				put(f, &n, SLICE_LIT("tdur"), number_value(st->legacy.thread_dur_us));
			if (st->legacy.has_instructions)
				put(f, &n, SLICE_LIT("thread_instruction_delta"),
				    number_value(st->legacy.instructions));
			break;
		case PF_TAG(PF_event_log_message, PF_BYTES):
			put_log(st, f, &n, pf_wire_slice(&w));
			break;
		case PF_TAG(PF_event_correlation_id, PF_VARINT):
			put(f, &n, SLICE_LIT("correlation_id"), value_u64(w.v));
			break;
		case PF_TAG(PF_event_correlation_id_str, PF_BYTES):
			put(f, &n, SLICE_LIT("correlation_id"), text_value(pf_wire_slice(&w)));
			break;
		case PF_TAG(PF_event_correlation_id_str_iid, PF_VARINT):
			put(f, &n, SLICE_LIT("correlation_id"), interned_value(st, PF_CORRELATIONS, w.v));
			break;
		case PF_TAG(PF_event_callstack_iid, PF_VARINT):
			if (!st->is_own && n < MAX_MORE) {
				struct field stack[PF_STACK_FIELDS];
				const uint32_t nstack = pf_stack(st, st->sequence, b, w.v, stack);
				for (uint32_t i = 0; i < nstack; i++)
					put(f, &n, stack[i].name, stack[i].value);
			}
			break;
		case PF_TAG(PF_event_callstack, PF_BYTES):
			put(f, &n, SLICE_LIT("callstack"), pf_inline_stack(b, pf_wire_slice(&w)));
			break;
		case PF_TAG(PF_event_callstack_weight, PF_FIXED64):
			put(f, &n, SLICE_LIT("callstack_weight"),
			    (struct value){ .type = VALUE_F64, .f64 = pf_wire_double(&w) });
			break;
		default: {
			const struct pf_field *const known =
			    pf_schema_field(&st->schema, PF_MESSAGE_event, number);
			const bool is_unread = known == NULL
			                           ? pf_schema_is_extension(PF_MESSAGE_event, number)
			                           : known->type == PF_TYPE_OPAQUE && (w.tag & 7) == PF_BYTES;
			if (is_unread && n < MAX_MORE) {
				const struct slice name = known != NULL ? known->name : SLICE_NONE;
				const struct field x = pf_typed_field(st, b, &w, name);
				put(f, &n, x.name, x.value);
			}
		}
		}
	}
	return n;
}

/* ---- fields ---- */

#define MAX_FIELDS 65000U

static void make_fields(struct pf_state *st, struct batch *b, struct event *e)
{
	const struct pf_event_fields *const te = &st->te;
	const uint32_t max =
	    (te->nannotations < MAX_FIELDS ? te->nannotations : MAX_FIELDS) + (te->has_more ? MAX_MORE : 0);
	struct field *const f = batch_fields(b, max);
	struct pf_wire w = pf_wire_on(te->s);
	uint32_t n = 0;

	if (f == NULL)
		return;
	while (te->nannotations > 0 && n < MAX_FIELDS &&
	       pf_wire_find(&w, PF_TAG(PF_event_debug_annotations, PF_BYTES))) {
		f[n] = pf_annotation(st, b, pf_wire_slice(&w), 0);
		n += f[n].value.type != VALUE_NONE;
	}
	if (te->has_more)
		n += read_more(st, b, f + n);
	if (field_names_may_repeat(f, n) && !field_names_number(&b->scratch, f, n))
		b->scratch.failed = true;
	e->first_field = b->nfields;
	e->nfields = (uint16_t)n;
	b->nfields += n;
}

/* ---- events ---- */

/* The value of a counter.  tracetool's writer adds an annotation "exact" to a number that a double rounds. */
static void put_value(struct pf_state *st, struct batch *b, struct event *e, const struct pf_event *x)
{
	struct field *const f = batch_event_fields(b, e, 1);
	struct pf_wire w = pf_wire_on(st->te.s);
	struct value v = x->is_integer ? (struct value){ .type = VALUE_I64, .i64 = x->number }
	                               : (struct value){ .type = VALUE_F64, .f64 = x->value };

	if (st->is_own && v.type == VALUE_I64 && v.i64 >= 0)
		v.type = VALUE_U64;
	while (st->is_own && st->te.nannotations > 0 && pf_wire_next(&w))
		if (w.tag == PF_TAG(PF_event_debug_annotations, PF_BYTES) &&
		    slice_is(annotation_name(st, pf_wire_slice(&w)), "exact"))
			v = make_value(st, b, pf_wire_slice(&w), 0);
	if (f != NULL)
		*f = (struct field){ SLICE_LIT("value"), v };
}

/* The class of a value, by the unit of its counter and the category that tracetool wrote. */
static struct class *counter_class(struct pf_state *st, const struct pf_event *x)
{
	static const struct slice units[] = { SLICE_LIT(""), SLICE_LIT("ns"), SLICE_LIT("count"),
		                              SLICE_LIT("byte") };
	const struct pf_description *const d = x->track->final;

	if (x->name.p != NULL)
		return find_class(st, slice_of("", 0),
		                  slice_is(x->name, "thread_time") ? units[1] : units[2]);
	if (x->track->cls == NULL || (st->is_own && x->track->category != x->category_hash)) {
		const struct slice unit = d->unit > 0 && d->unit < 4 ? units[d->unit]
		                          : d->builtin == 1          ? units[1]
		                          : d->builtin == 2          ? units[2]
		                          : d->unit_name.p != NULL   ? d->unit_name
		                                                     : units[0];
		/* in other traces, the category is that of the span or instant with the value */
		x->track->category = x->category_hash;
		x->track->cls = st->is_own ? joined_class(st, unit) : find_class(st, units[0], unit);
	}
	return x->track->cls;
}

/* tracetool's writer gives each counter a name, which can be empty. */
static struct slice name_of_counter(const struct pf_state *st, const struct pf_event *x)
{
	const struct slice name = x->track->final->name;
	const bool named = name.n > 0 || (st->is_own && name.p != NULL);

	return x->name.p != NULL               ? x->name
	       : named                         ? name
	       : x->track->final->builtin == 1 ? SLICE_LIT("thread_time")
	       : x->track->final->builtin == 2 ? SLICE_LIT("thread_instruction_count")
	                                       : SLICE_LIT("counter");
}

/* Returns the name in the memory of the trace: the event may live longer than the track, which lives as long
 * as the reader.  p NULL: no space. */
static struct slice counter_name(struct pf_state *st, const struct pf_event *x)
{
	struct slice *const kept = &x->track->desc.first_name;

	if (x->name.p != NULL)
		return pf_trace_text(st, x->name);
	if (kept->p == NULL)
		*kept = pf_trace_text(st, name_of_counter(st, x));
	return *kept;
}

/* The id of an async span that tracetool wrote is the uuid of its track, which has no other span. */
static void set_async(const struct pf_event *x, struct event *e)
{
	if (!x->track->is_async || (x->kind != PF_BEGIN && x->kind != PF_END))
		return;
	e->flags |= EVENT_ASYNC;
	e->dur = x->track->uuid;
}

void pf_make_further(struct pf_state *st, struct batch *b, const struct pf_event *x, struct event *e)
{
	const struct slice none = slice_of("", 0);

	if (st->plain_class == NULL)
		st->plain_class = find_class(st, none, none);
	e->ts = x->ts;
	e->cls = st->plain_class;
	e->track = x->model != NULL ? x->model : pf_model(st, x->track, none);
	e->name = none;
	switch (x->kind) {
	case PF_VALUE:
		e->phase = PHASE_COUNTER;
		e->cls = counter_class(st, x);
		e->name = counter_name(st, x);
		if (e->name.p == NULL)
			e->name = arena_copy(&b->scratch, pf_short_name(st, name_of_counter(st, x)));
		put_value(st, b, e, x);
		break;
	case PF_ARROW:
		e->phase = x->step == PF_ARROW_OUT ? PHASE_FLOW_OUT : PHASE_FLOW_IN;
		e->flags |= x->step == PF_ARROW_STEP ? EVENT_STEP : x->is_next ? EVENT_NEXT : 0;
		e->dur = x->flow;
		e->name = x->name;
		break;
	case PF_SAMPLE:
		pf_sample_fields(st, b, x, e);
		break;
	default:
		e->phase = PHASE_END;
		set_async(x, e);
		break;
	}
	st->r->no_memory |= e->cls == NULL || e->track == NULL;
}

void pf_make_event(struct pf_state *st, struct batch *b, struct event *e)
{
	const struct pf_event *const x = &st->event;
	const bool wants = (st->r->want & WANT_FIELDS) != 0;

	if (x->kind == PF_VALUE || x->kind == PF_ARROW) {
		pf_make_further(st, b, x, e);
		return;
	}
	e->ts = x->ts;
	e->track = x->model != NULL ? x->model : pf_model(st, x->track, pf_event_name(st));
	if (x->kind == PF_SAMPLE) {
		pf_sample_fields(st, b, x, e);
		return;
	}
	e->cls = event_class(st);
	e->name = pf_event_name(st);
	if (e->name.p == NULL)
		e->name = slice_of("", 0);
	e->phase = x->kind == PF_BEGIN  ? PHASE_BEGIN
	           : x->kind == PF_END  ? PHASE_END
	           : x->kind == PF_SPAN ? PHASE_SPAN
	                                : PHASE_INSTANT;
	e->dur = x->kind == PF_SPAN ? x->dur : 0;
	set_async(x, e);
	if (e->cls == NULL || e->track == NULL)
		st->r->no_memory = true;
	else if ((wants || class_needs_fields(e->cls)) && (st->te.nannotations > 0 || st->te.has_more))
		make_fields(st, b, e);
}

/* ---- copies of names and values ---- */

static void copy_value(struct batch *b, struct value *v, unsigned depth)
{
	if (value_is_text(v) && (v->type != VALUE_STRING || (v->flags & SLICE_STAYS) == 0)) {
		v->p = arena_copy(&b->scratch, value_text(v)).p;
	} else if (value_is_list(v) && depth < PF_MAX_NESTED + 2) {
		const uint64_t n = value_entries(v);
		struct value *const copy = arena_alloc(&b->scratch, n * sizeof *copy);
		if (copy == NULL) { /* the event is dropped */
			v->count = 0;
			return;
		}
		memcpy(copy, v->values, n * sizeof *copy);
		for (uint64_t i = 0; i < n; i++)
			copy_value(b, &copy[i], depth + 1);
		v->values = copy;
	}
}

void pf_copy_values(struct batch *b, struct event *e)
{
	struct field *const f = e->nfields > 0 ? b->fields + e->first_field : NULL;

	if ((e->name.flags & SLICE_STAYS) == 0 && e->name.n > 0)
		e->name = arena_copy(&b->scratch, e->name);
	for (uint32_t i = 0; i < e->nfields; i++) {
		if ((f[i].name.flags & SLICE_STAYS) == 0)
			f[i].name = arena_copy(&b->scratch, f[i].name);
		copy_value(b, &f[i].value, 0);
	}
}

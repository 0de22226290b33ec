/*
 * Types that the trace describes: messages and enums of its extension descriptors (FileDescriptorSet of
 * protocol buffers), and values of messages of such a type.  Chromium describes the extensions of TrackEvent
 * that its events have.
 *
 * A message becomes a map, in the order of its field numbers.  A field of no type has its number as its name.
 * Debug annotations in a message are members with the names that they state, as in Perfetto.  A message that
 * cannot be read, or has too many values, is bytes.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "output/text.h"
#include "perfetto/read/read.h"

#define MAX_TYPE_DEPTH 16   /* of types within types */
#define MAX_TYPE_NAME 1024U /* bytes of a full name, which each type in a type and each value repeats */

/* Field numbers of descriptor.proto. */
enum { SET_FILE = 1, FILE_PACKAGE = 2, FILE_MESSAGE = 4, FILE_ENUM = 5, FILE_EXTENSION = 7 };
enum { MESSAGE_NAME = 1, MESSAGE_FIELD, MESSAGE_NESTED, MESSAGE_ENUM, MESSAGE_EXTENSION = 6 };
enum { FIELD_NAME = 1, FIELD_EXTENDEE, FIELD_NUMBER, FIELD_LABEL, FIELD_TYPE, FIELD_TYPE_NAME };
enum { ENUM_NAME = 1, ENUM_VALUE = 2, VALUE_NAME = 1, VALUE_NUMBER = 2 };
enum { DESCRIPTOR_SET = 1 }; /* of ExtensionDescriptor */

#define REPEATED 3 /* label */

/* Types of fields in descriptor.proto; 0 is that of the values of an enum. */
/* clang-format off */
enum {
	TYPE_DOUBLE = 1, TYPE_FLOAT, TYPE_INT64, TYPE_UINT64, TYPE_INT32, TYPE_FIXED64, TYPE_FIXED32,
	TYPE_BOOL, TYPE_STRING, TYPE_MESSAGE = 11, TYPE_BYTES, TYPE_UINT32, TYPE_ENUM, TYPE_SFIXED32,
	TYPE_SFIXED64, TYPE_SINT32, TYPE_SINT64, TYPES,
};
/* clang-format on */

static const struct {
	uint8_t wire, value;
} forms[TYPES] = {
	[TYPE_DOUBLE] = { PF_FIXED64, VALUE_F64 },   [TYPE_FLOAT] = { PF_FIXED32, VALUE_F64 },
	[TYPE_INT64] = { PF_VARINT, VALUE_I64 },     [TYPE_UINT64] = { PF_VARINT, VALUE_U64 },
	[TYPE_INT32] = { PF_VARINT, VALUE_I32 },     [TYPE_FIXED64] = { PF_FIXED64, VALUE_U64 },
	[TYPE_FIXED32] = { PF_FIXED32, VALUE_U32 },  [TYPE_BOOL] = { PF_VARINT, VALUE_BOOL },
	[TYPE_STRING] = { PF_BYTES, VALUE_STRING },  [TYPE_MESSAGE] = { PF_BYTES, VALUE_MAP },
	[TYPE_BYTES] = { PF_BYTES, VALUE_BYTES },    [TYPE_UINT32] = { PF_VARINT, VALUE_U32 },
	[TYPE_ENUM] = { PF_VARINT, VALUE_STRING },   [TYPE_SFIXED32] = { PF_FIXED32, VALUE_I32 },
	[TYPE_SFIXED64] = { PF_FIXED64, VALUE_I64 }, [TYPE_SINT32] = { PF_VARINT, VALUE_I32 },
	[TYPE_SINT64] = { PF_VARINT, VALUE_I64 },
};

/* ---- descriptors ---- */

/* Returns the number of the type with this full name; TABLE_NONE: out of memory, or the limit. */
static uint32_t type_of(struct pf_state *st, struct slice name)
{
	struct pf_types *const types = &st->types;

	if (name.n > MAX_TYPE_NAME) {
		pf_report_limit(st, PF_FULL_TYPES,
		                "a type has a name of more than %u bytes: values of it are bytes",
		                MAX_TYPE_NAME);
		return TABLE_NONE;
	}
	const uint32_t known = tabletext_get(&types->names, name);
	const uint32_t n = (uint32_t)types->names.used;
	if (known != TABLE_NONE || n + types->nmembers >= PF_MAX_TYPES)
		return known;
	const struct slice copy = arena_copy(&st->arena, name);
	if (note_failure(&st->r->no_memory, copy.p == NULL || !tabletext_put(&types->names, copy, n)))
		return TABLE_NONE;
	return n;
}

static uint64_t member_key(const struct pf_state *st, uint32_t type, uint32_t number)
{
	return hash_u64((uint64_t)type << 32 | number, st->seed);
}

/* The first definition of a number counts. */
static void add_member(struct pf_state *st, uint32_t owner, struct pf_type_member m)
{
	struct pf_types *const types = &st->types;
	const uint32_t before = types->nmembers;

	if (owner == TABLE_NONE)
		return;
	const uint32_t i = table64_element(&types->index, member_key(st, owner, m.number), &types->members,
	                                   &types->nmembers, &types->members_cap, sizeof *types->members,
	                                   PF_MAX_TYPES - (uint32_t)types->names.used);
	if (i == TABLE_NONE)
		pf_report_limit(st, PF_FULL_TYPES,
		                "more than %u types in descriptors: values of others are bytes",
		                PF_MAX_TYPES);
	st->r->no_memory |= i == TABLE_FAILED;
	if (types->nmembers == before)
		return;
	m.name = arena_copy(&st->arena, m.name);
	st->r->no_memory |= m.name.p == NULL;
	types->members[i] = m;
}

/* extends: its owner is the extendee. */
static void read_field(struct pf_state *st, uint32_t owner, struct slice field, bool extends)
{
	const struct slice of = pf_content(field, FIELD_TYPE_NAME);
	const uint64_t type = pf_number(field, FIELD_TYPE);

	if (type == 0 || type >= TYPES || forms[type].value == VALUE_NONE)
		return;
	add_member(st, extends ? type_of(st, pf_content(field, FIELD_EXTENDEE)) : owner,
	           (struct pf_type_member){ .name = pf_content(field, FIELD_NAME),
	                                    .number = (uint32_t)pf_number(field, FIELD_NUMBER),
	                                    .of = of.p != NULL ? type_of(st, of) : TABLE_NONE,
	                                    .type = (uint8_t)type,
	                                    .is_repeated = pf_number(field, FIELD_LABEL) == REPEATED });
}

static void add_name(struct text *prefix, struct slice name)
{
	text_char(prefix, '.');
	text_slice(prefix, name);
}

/* prefix: full name of the package or message around it. */
static void read_enum(struct pf_state *st, struct text *prefix, struct slice s)
{
	const size_t n = prefix->n;
	struct pf_wire w = pf_wire_on(s);

	add_name(prefix, pf_content(s, ENUM_NAME));
	const uint32_t type = prefix->failed ? TABLE_NONE : type_of(st, slice_of(prefix->p, prefix->n));
	while (pf_wire_find(&w, PF_TAG(ENUM_VALUE, PF_BYTES))) {
		const struct slice value = pf_wire_slice(&w);
		add_member(st, type,
		           (struct pf_type_member){ .name = pf_content(value, VALUE_NAME),
		                                    .number = (uint32_t)pf_number(value, VALUE_NUMBER) });
	}
	prefix->n = n;
}

static void read_message(struct pf_state *st, struct text *prefix, struct slice s, unsigned depth)
{
	const size_t n = prefix->n;
	struct pf_wire w = pf_wire_on(s);

	if (depth == MAX_TYPE_DEPTH)
		return;
	add_name(prefix, pf_content(s, MESSAGE_NAME));
	const uint32_t type = prefix->failed ? TABLE_NONE : type_of(st, slice_of(prefix->p, prefix->n));
	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(MESSAGE_FIELD, PF_BYTES))
			read_field(st, type, pf_wire_slice(&w), false);
		else if (w.tag == PF_TAG(MESSAGE_EXTENSION, PF_BYTES))
			read_field(st, type, pf_wire_slice(&w), true);
		else if (w.tag == PF_TAG(MESSAGE_NESTED, PF_BYTES))
			read_message(st, prefix, pf_wire_slice(&w), depth + 1);
		else if (w.tag == PF_TAG(MESSAGE_ENUM, PF_BYTES))
			read_enum(st, prefix, pf_wire_slice(&w));
	}
	prefix->n = n;
}

static void read_file(struct pf_state *st, struct slice s)
{
	const struct slice package = pf_content(s, FILE_PACKAGE);
	struct text prefix = { .n = 0 };
	struct pf_wire w = pf_wire_on(s);

	if (package.n > 0)
		add_name(&prefix, package);
	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(FILE_MESSAGE, PF_BYTES))
			read_message(st, &prefix, pf_wire_slice(&w), 0);
		else if (w.tag == PF_TAG(FILE_ENUM, PF_BYTES))
			read_enum(st, &prefix, pf_wire_slice(&w));
		else if (w.tag == PF_TAG(FILE_EXTENSION, PF_BYTES))
			read_field(st, TABLE_NONE, pf_wire_slice(&w), true);
	}
	st->r->no_memory |= prefix.failed;
	text_free(&prefix);
}

#define PREFIX ".perfetto.protos."

/* Messages of Chromium in TrackEvent that its descriptors do not contain, as Perfetto has them; values of
 * enums are members of theirs. */
static const struct {
	const char *owner, *name;
	uint8_t number, type;
	bool is_repeated;
	const char *of;
} own_members[] = {
	{ "TrackEvent", "chrome_user_event", 25, TYPE_MESSAGE, false, "ChromeUserEvent" },
	{ "ChromeUserEvent", "action", 1, TYPE_STRING, false, NULL },
	{ "ChromeUserEvent", "action_hash", 2, TYPE_UINT64, false, NULL },
	{ "TrackEvent", "chrome_keyed_service", 26, TYPE_MESSAGE, false, "ChromeKeyedService" },
	{ "ChromeKeyedService", "name", 1, TYPE_STRING, false, NULL },
	{ "TrackEvent", "chrome_histogram_sample", 28, TYPE_MESSAGE, false, "ChromeHistogramSample" },
	{ "ChromeHistogramSample", "name_hash", 1, TYPE_UINT64, false, NULL },
	{ "ChromeHistogramSample", "name", 2, TYPE_STRING, false, NULL },
	{ "ChromeHistogramSample", "sample", 3, TYPE_INT64, false, NULL },
	{ "ChromeHistogramSample", "name_iid", 4, TYPE_UINT64, false, NULL },
	{ "TrackEvent", "chrome_frame_reporter", 32, TYPE_MESSAGE, false, "ChromeFrameReporter" },
	{ "ChromeFrameReporter", "state", 1, TYPE_ENUM, false, "ChromeFrameReporter.State" },
	{ "ChromeFrameReporter", "reason", 2, TYPE_ENUM, false, "ChromeFrameReporter.FrameDropReason" },
	{ "ChromeFrameReporter", "frame_source", 3, TYPE_UINT64, false, NULL },
	{ "ChromeFrameReporter", "frame_sequence", 4, TYPE_UINT64, false, NULL },
	{ "ChromeFrameReporter", "affects_smoothness", 5, TYPE_BOOL, false, NULL },
	{ "ChromeFrameReporter", "scroll_state", 6, TYPE_ENUM, false, "ChromeFrameReporter.ScrollState" },
	{ "ChromeFrameReporter", "has_main_animation", 7, TYPE_BOOL, false, NULL },
	{ "ChromeFrameReporter", "has_compositor_animation", 8, TYPE_BOOL, false, NULL },
	{ "ChromeFrameReporter", "has_smooth_input_main", 9, TYPE_BOOL, false, NULL },
	{ "ChromeFrameReporter", "has_missing_content", 10, TYPE_BOOL, false, NULL },
	{ "ChromeFrameReporter", "layer_tree_host_id", 11, TYPE_UINT64, false, NULL },
	{ "ChromeFrameReporter", "has_high_latency", 12, TYPE_BOOL, false, NULL },
	{ "ChromeFrameReporter", "frame_type", 13, TYPE_ENUM, false, "ChromeFrameReporter.FrameType" },
	{ "ChromeFrameReporter", "high_latency_contribution_stage", 14, TYPE_STRING, true, NULL },
	{ "ChromeFrameReporter", "checkerboarded_needs_raster", 15, TYPE_BOOL, false, NULL },
	{ "ChromeFrameReporter", "checkerboarded_needs_record", 16, TYPE_BOOL, false, NULL },
	{ "ChromeFrameReporter.State", "STATE_NO_UPDATE_DESIRED", 0, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.State", "STATE_PRESENTED_ALL", 1, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.State", "STATE_PRESENTED_PARTIAL", 2, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.State", "STATE_DROPPED", 3, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.FrameDropReason", "REASON_UNSPECIFIED", 0, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.FrameDropReason", "REASON_DISPLAY_COMPOSITOR", 1, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.FrameDropReason", "REASON_MAIN_THREAD", 2, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.FrameDropReason", "REASON_CLIENT_COMPOSITOR", 3, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.ScrollState", "SCROLL_NONE", 0, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.ScrollState", "SCROLL_MAIN_THREAD", 1, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.ScrollState", "SCROLL_COMPOSITOR_THREAD", 2, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.ScrollState", "SCROLL_UNKNOWN", 3, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.FrameType", "FORKED", 0, TYPE_ENUM, false, NULL },
	{ "ChromeFrameReporter.FrameType", "BACKFILL", 1, TYPE_ENUM, false, NULL },
	{ "TrackEvent", "chrome_mojo_event_info", 38, TYPE_MESSAGE, false, "ChromeMojoEventInfo" },
	{ "ChromeMojoEventInfo", "watcher_notify_interface_tag", 1, TYPE_STRING, false, NULL },
	{ "ChromeMojoEventInfo", "ipc_hash", 2, TYPE_UINT32, false, NULL },
	{ "ChromeMojoEventInfo", "mojo_interface_tag", 3, TYPE_STRING, false, NULL },
	{ "ChromeMojoEventInfo", "mojo_interface_method_iid", 4, TYPE_UINT64, false, NULL },
	{ "ChromeMojoEventInfo", "is_reply", 5, TYPE_BOOL, false, NULL },
	{ "ChromeMojoEventInfo", "payload_size", 6, TYPE_UINT64, false, NULL },
	{ "ChromeMojoEventInfo", "data_num_bytes", 7, TYPE_UINT64, false, NULL },
	{ "TrackEvent", "chrome_content_settings_event_info", 43, TYPE_MESSAGE, false,
	  "ChromeContentSettingsEventInfo" },
	{ "ChromeContentSettingsEventInfo", "number_of_exceptions", 1, TYPE_UINT32, false, NULL },
	{ "TrackEvent", "chrome_active_processes", 49, TYPE_MESSAGE, false, "ChromeActiveProcesses" },
	{ "ChromeActiveProcesses", "pid", 1, TYPE_INT32, true, NULL },
};

static uint32_t own_type(struct pf_state *st, const char *name)
{
	char text[80];

	snprintf(text, sizeof text, PREFIX "%s", name);
	return type_of(st, slice_str(text));
}

void pf_types_begin(struct pf_state *st)
{
	st->types.annotation = own_type(st, "DebugAnnotation");
	for (size_t i = 0; i < sizeof own_members / sizeof *own_members; i++)
		add_member(st, own_type(st, own_members[i].owner),
		           (struct pf_type_member){
		               .name = slice_str(own_members[i].name),
		               .number = own_members[i].number,
		               .of = own_members[i].of != NULL ? own_type(st, own_members[i].of) : TABLE_NONE,
		               .type = own_members[i].type,
		               .is_repeated = own_members[i].is_repeated });
}

void pf_types_read(struct pf_state *st, struct slice descriptor)
{
	struct pf_wire set = pf_wire_on(descriptor);

	if (st->ahead != NULL) /* has them */
		return;
	while (pf_wire_find(&set, PF_TAG(DESCRIPTOR_SET, PF_BYTES))) {
		struct pf_wire w = pf_wire_on(pf_wire_slice(&set));
		while (pf_wire_find(&w, PF_TAG(SET_FILE, PF_BYTES)))
			read_file(st, pf_wire_slice(&w));
	}
}

void pf_types_free(struct pf_types *types)
{
	tabletext_free(&types->names);
	table64_free(&types->index);
	free(types->members);
}

/* ---- values ---- */

/* A message whose values are made. */
struct making {
	struct pf_state *st;
	struct batch *batch;
	uint32_t left; /* values that it may still have */
};

static struct pf_types *types_of(struct pf_state *st)
{
	return st->ahead != NULL ? &st->ahead->types : &st->types;
}

static struct pf_type_member *find_member(struct pf_state *st, uint32_t type, uint32_t number)
{
	struct pf_types *const types = types_of(st);
	const uint32_t i =
	    type != TABLE_NONE
	        ? table64_get(&types->index, member_key(st->ahead != NULL ? st->ahead : st, type, number))
	        : TABLE_NONE;

	return i != TABLE_NONE ? &types->members[i] : NULL;
}

/* Returns the name, in the memory of the trace. */
static struct slice member_name(const struct making *m, struct pf_type_member *member)
{
	const bool is_kept = (member->name.flags & SLICE_STAYS) != 0;
	const struct slice name = is_kept ? member->name : pf_trace_text(m->st, member->name);

	if (name.p == NULL)
		return arena_copy(&m->batch->scratch, pf_short_name(m->st, member->name));
	return member->name = name;
}

static struct value bytes_value(struct slice s)
{
	return (struct value){ .type = VALUE_BYTES, .count = s.n, .p = s.p };
}

/* The value of a field of unknown type. */
static struct value raw_value(const struct pf_wire *w)
{
	return (w->tag & 7) == PF_BYTES ? bytes_value(pf_wire_slice(w)) : value_u64(w->v);
}

static bool make_message(struct making *m, uint32_t type, struct slice s, unsigned depth, struct value *v);

/* Makes one value.  Returns false if there are too many. */
static bool make_one(struct making *m, const struct pf_type_member *member, const struct pf_wire *w,
                     unsigned depth, struct value *v)
{
	const uint64_t zigzag = w->v >> 1 ^ (0 - (w->v & 1));
	struct pf_type_member *name;
	float f;

	if (m->left-- == 0)
		return false;
	if (member == NULL || forms[member->type].wire != (w->tag & 7)) {
		*v = raw_value(w);
		return true;
	}
	*v = (struct value){ .type = forms[member->type].value, .u64 = w->v };
	switch (member->type) {
	case TYPE_FLOAT:
		memcpy(&f, &(uint32_t){ (uint32_t)w->v }, sizeof f);
		v->f64 = f;
		break;
	case TYPE_INT32:
	case TYPE_SFIXED32:
		v->i64 = (int32_t)w->v;
		break;
	case TYPE_UINT32:
		v->u64 = (uint32_t)w->v;
		break;
	case TYPE_SINT32:
		v->i64 = (int32_t)zigzag;
		break;
	case TYPE_SINT64:
		v->u64 = zigzag;
		break;
	case TYPE_BOOL:
		v->u64 = w->v != 0;
		break;
	case TYPE_STRING:
		*v = value_string(textscan_slice(w->bytes, (uint32_t)w->v));
		break;
	case TYPE_BYTES:
		*v = raw_value(w);
		break;
	case TYPE_ENUM:
		name = find_member(m->st, member->of, (uint32_t)w->v);
		*v = name != NULL ? value_string(member_name(m, name))
		                  : (struct value){ .type = VALUE_I32, .i64 = (int32_t)w->v };
		break;
	case TYPE_MESSAGE:
		return make_message(m, member->of, pf_wire_slice(w), depth + 1, v);
	default:
		break;
	}
	return true;
}

/* The numbers of a packed field; none for any other field. */
static struct slice packed_of(const struct pf_type_member *member, const struct pf_wire *w)
{
	const bool is_packed = member != NULL && member->is_repeated && (w->tag & 7) == PF_BYTES &&
	                       forms[member->type].wire != PF_BYTES;

	return is_packed ? pf_wire_slice(w) : SLICE_NONE;
}

/* Reads the next number of a packed field.  Returns false at the end, or sets w->bad. */
static bool next_packed(struct slice *s, const struct pf_type_member *member, struct pf_wire *w)
{
	if (s->n == 0)
		return false;
	const char *const end = s->p + s->n;
	const unsigned wire = forms[member->type].wire;
	const char *p;

	if (wire == PF_VARINT) {
		p = pf_varint(s->p, end, &w->v);
	} else {
		const uint32_t size = wire == PF_FIXED64 ? 8 : 4;
		p = s->n < size ? NULL : s->p + size;
		w->v = p == NULL ? 0 : wire == PF_FIXED64 ? load_u64(s->p, false) : load_u32(s->p, false);
	}
	w->tag = wire;
	w->bad = p == NULL;
	*s = slice_of(p, p != NULL ? (size_t)(end - p) : 0);
	return p != NULL;
}

/* Makes the value of n occurrences of a field: of a list all, else the last one.  Returns false if they
 * cannot be read.  A list is a level of depth, too. */
static bool make_field(struct making *m, const struct pf_type_member *member, const struct pf_wire *fields,
                       const struct timed *at, uint32_t n, unsigned depth, struct value *v)
{
	struct pf_wire w = { .bad = false };
	uint32_t count = 0, k = 0;

	if (member == NULL ? n == 1 : !member->is_repeated)
		return make_one(m, member, &fields[at[n - 1].at], depth, v);
	for (uint32_t i = 0; i < n && count <= m->left; i++) {
		struct slice s = packed_of(member, &fields[at[i].at]);
		count += s.p == NULL;
		while (count <= m->left && next_packed(&s, member, &w))
			count++;
		if (w.bad)
			return false;
	}
	struct value *const list =
	    count <= m->left ? arena_alloc(&m->batch->scratch, (size_t)count * sizeof *list) : NULL;
	if (list == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct slice s = packed_of(member, &fields[at[i].at]);
		if (s.p == NULL && !make_one(m, member, &fields[at[i].at], depth + 1, &list[k]))
			return false;
		k += s.p == NULL && list[k].type != VALUE_NONE;
		for (; next_packed(&s, member, &w); k++)
			if (!make_one(m, member, &w, depth, &list[k]))
				return false;
	}
	*v = k > 0 ? pf_list(list, k) : (struct value){ .type = VALUE_NONE };
	return true;
}

static bool is_annotation(struct pf_state *st, const struct pf_type_member *member)
{
	return member != NULL && member->type == TYPE_MESSAGE && member->of == types_of(st)->annotation;
}

/* An annotation without a name or value is bytes. */
static struct field annotation_field(struct making *m, struct pf_type_member *member, const struct pf_wire *w,
                                     unsigned depth)
{
	const struct field f = (w->tag & 7) == PF_BYTES
	                           ? pf_annotation(m->st, m->batch, pf_wire_slice(w), depth)
	                           : (struct field){ .value = { .type = VALUE_NONE } };

	return f.value.type != VALUE_NONE ? f : (struct field){ member_name(m, member), raw_value(w) };
}

/* Joins members of one name, as Chromium writes a field and after it an annotation, whose value counts, as in
 * Perfetto.  Returns how many are left of n. */
static uint32_t join_members(struct making *m, struct value *map, uint32_t n)
{
	struct tabletext names = { .used = 0 };
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct value name = map[2 * (size_t)i], one = map[2 * (size_t)i + 1];
		const uint32_t known = tabletext_get(&names, value_text(&name));
		m->st->r->no_memory |= known == TABLE_NONE && !tabletext_put(&names, value_text(&name), k);
		const uint32_t to = known != TABLE_NONE ? known : k++;
		map[2 * (size_t)to] = name;
		map[2 * (size_t)to + 1] = one;
	}
	tabletext_free(&names);
	return k;
}

/* Returns false if the message cannot be read. */
static bool make_message(struct making *m, uint32_t type, struct slice s, unsigned depth, struct value *v)
{
	struct arena *const a = &m->batch->scratch;
	struct pf_wire w = pf_wire_on(s);
	uint32_t n = 0, k = 0;
	bool is_annotated = false;

	while (n <= m->left && pf_wire_next(&w))
		n++;
	if (w.bad || n > m->left || depth >= PF_MAX_NESTED)
		return false;
	struct pf_wire *const fields = arena_alloc(a, (size_t)n * sizeof *fields);
	struct timed *const order = arena_alloc(a, 2 * (size_t)n * sizeof *order);
	struct value *const map = arena_alloc(a, 2 * (size_t)n * sizeof *map);
	if (fields == NULL || order == NULL || map == NULL)
		return false;
	w = pf_wire_on(s);
	for (uint32_t i = 0; i < n && pf_wire_next(&w); i++) {
		fields[i] = w;
		order[i] = (struct timed){ pf_wire_number(&w), i };
	}
	timed_sort(order, n, order + n);
	for (uint32_t i = 0, end; i < n; i = end) {
		const uint32_t number = (uint32_t)order[i].ts;
		struct pf_type_member *const member = find_member(m->st, type, number);
		if (is_annotation(m->st, member)) {
			const struct field f = annotation_field(m, member, &fields[order[i].at], depth + 1);
			if (m->left-- == 0)
				return false;
			map[2 * (size_t)k] = value_string(f.name);
			map[2 * (size_t)k++ + 1] = f.value;
			end = i + 1;
			is_annotated = true;
			continue;
		}
		for (end = i + 1; end < n && order[end].ts == number;)
			end++;
		if (!make_field(m, member, fields, &order[i], end - i, depth, &map[2 * (size_t)k + 1]))
			return false;
		map[2 * (size_t)k] = value_string(member != NULL ? member_name(m, member)
		                                                 : arena_printf(a, "%" PRIu32, number));
		k += map[2 * (size_t)k + 1].type != VALUE_NONE;
	}
	if (is_annotated)
		k = join_members(m, map, k);
	*v = (struct value){ .type = k > 0 ? VALUE_MAP : VALUE_NONE, .count = k, .values = map };
	return true;
}

struct field pf_typed_field(struct pf_state *st, struct batch *b, const struct pf_wire *w, struct slice name)
{
	struct making m = { .st = st, .batch = b, .left = PF_MAX_TYPED };
	const uint32_t event = tabletext_get(&types_of(st)->names, SLICE_LIT(PREFIX "TrackEvent"));
	struct pf_type_member *const member = find_member(st, event, pf_wire_number(w));
	struct field f = { .name = name, .value = raw_value(w) };
	struct value v;

	if (is_annotation(st, member))
		return annotation_field(&m, member, w, 0);
	if (name.p == NULL)
		f.name = member != NULL ? member_name(&m, member)
		                        : arena_printf(&b->scratch, "extension_%" PRIu32, pf_wire_number(w));
	if (member != NULL && make_one(&m, member, w, 0, &v))
		f.value = v;
	return f;
}

struct value pf_typed_value(struct pf_state *st, struct batch *b, struct slice type, struct slice s,
                            unsigned depth)
{
	struct making m = { .st = st, .batch = b, .left = PF_MAX_TYPED };
	const uint32_t known =
	    type.n <= MAX_TYPE_NAME ? tabletext_get(&types_of(st)->names, type) : TABLE_NONE;
	struct value v;

	return known != TABLE_NONE && make_message(&m, known, s, depth, &v) ? v : bytes_value(s);
}

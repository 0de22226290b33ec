/*
 * The reader: frames and checks one record at a time, and applies structure records.  A class must be
 * described before its first record, because only its fields give the length of the record.
 */
#include "htdump/htdump.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---- findings ---- */

const struct rule ht_rules[HT_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "htdump/rules.def"
#undef RULE
	{ .id = NULL }
};

/* ---- detection ----
 *
 * The first record of a dump, an EndiannessInfoEvent (class 0), shows the layout: the class id is first in
 * the wire layout and last in the document layout.  The second record, a class info, confirms it. */

/* Matches the start of a class name or type name: not empty, printable, and ended by a NUL or a space or by
 * the end of the input.  With `ascii`, other letters do not match: they are rare in real names and common in
 * other files. */
static bool looks_like_name(const char *p, const char *end, bool ascii)
{
	const char *const start = p;

	while (p < end && p - start < HT_PROBE_NAME &&
	       ((*p > ' ' && *p < 0x7f) || (!ascii && (*p & 0x80) != 0)))
		p++;
	return p > start && (p == end || *p == '\0' || *p == ' ');
}

/* Whether the class id of the record at p is that of a class info or field info. */
static bool is_description(const char *p, bool wire, bool big)
{
	const uint32_t id = load_u32(p + ht_class_id_at(wire), big);

	return id == HT_CLASS_INFO || id == HT_CLASS_FIELD;
}

/* Matches a class info or field info at p, or its start at the end of the input.  The name of a class may be
 * empty, if the next record describes, too. */
static bool looks_like_description(const char *p, const char *end, bool wire, bool big, bool ascii)
{
	if (end - p < HT_HEAD_SIZE || !is_description(p, wire, big))
		return false;
	const char *const name = p + HT_HEAD_SIZE + 4, *const next = name + 2;
	if (end - p <= HT_HEAD_SIZE + 4 || looks_like_name(name, end, ascii))
		return true;
	return !ascii && *name == '\0' && end - name >= 2 + HT_HEAD_SIZE && is_description(next, wire, big);
}

/* Returns the number of bits that match one layout: 0, 20 if only the first record can be seen, more if the
 * second record fits. */
static int match_layout(const char *p, const char *end, bool complete, bool wire, bool *big)
{
	const char *const start = p;

	*big = false;
	if (looks_like_description(p, end, wire, false, true))
		return 30; /* readable, but a finding: no EndiannessInfoEvent */
	/* Several EndiannessInfoEvents in a row: concatenated dumps without events. */
	while (end - p >= HT_ENDIANNESS_SIZE &&
	       load_u32(p + ht_class_id_at(wire), false) == HT_CLASS_ENDIANNESS &&
	       p - start < HT_PROBE_ORDERS) {
		const uint8_t order = (uint8_t)p[HT_HEAD_SIZE];
		p += HT_ENDIANNESS_SIZE;
		*big = order == 1;
		if (order <= 1 && looks_like_description(p, end, wire, *big, false))
			return p - start == HT_ENDIANNESS_SIZE ? 72 : 71;
		for (int o = 0; order > 1 && o < 2; o++)
			if (looks_like_description(p, end, wire, o == 1, true)) {
				*big = o == 1;
				return 64;
			}
	}
	if (p == start || !complete || end - p >= HT_HEAD_SIZE + 4)
		return 0;
	/* The input ends within or after its first record. */
	if (p[-1] != 0 && p[-1] != 1)
		return 0;
	*big = p[-1] == 1;
	return 20 + (wire ? 4 : 0);
}

int ht_probe_layout(struct slice head, bool complete, bool *wire, bool *big)
{
	bool big_wire, big_document;
	const int w = match_layout(head.p, head.p + head.n, complete, true, &big_wire);
	const int d = match_layout(head.p, head.p + head.n, complete, false, &big_document);

	/* If a class id is in both places, the time in the document layout is 2 or 3 ns.  In the wire layout,
	 * the event id would be above 2^33. */
	*wire = w > d || (w == d && w < 72);
	*big = *wire ? big_wire : big_document;
	return *wire ? w : d;
}

static int ht_probe(struct slice head, bool complete)
{
	bool wire, big;

	return ht_probe_layout(head, complete, &wire, &big);
}

#define FIRST_BLOCKS 8U /* more than the built-in classes have */

/* ---- opening ---- */

bool ht_state_reserve(struct ht_state *st, uint32_t n)
{
	if (n <= st->blocks_cap)
		return true;
	if (!array_resize(&st->starts, n, sizeof *st->starts) ||
	    !array_resize(&st->strings, n, sizeof *st->strings))
		return false;
	st->blocks_cap = n;
	return true;
}

static bool set_up_trace(struct ht_state *st)
{
	struct trace *const trace = st->r->trace;

	trace->record_id = st->wire ? "id" : "event_id";
	trace->dialect = st->wire ? "wire" : "document";
	trace->dialect_known = reader_is_alone(st->r);
	trace->byte_order = st->big ? "big" : "little";
	st->tracks.process = trace_add_process(trace, input_name(st->r->in));
	return st->tracks.process != NULL;
}

static void find_layout(struct ht_state *st)
{
	const struct reader *const r = st->r;

	/* The format may have been detected from fewer bytes; the layout must not depend on the arrival of
	 * the bytes. */
	(void)input_need(r->in, HT_PROBE_BYTES);
	const size_t n = (size_t)(r->in->end - r->in->p);
	ht_probe_layout(slice_of(r->in->p, n < HT_PROBE_BYTES ? n : HT_PROBE_BYTES),
	                n < HT_PROBE_BYTES && r->in->last, &st->wire, &st->guess_big);
	if (r->dialect != NULL)
		st->wire = strcmp(r->dialect, "wire") == 0;
}

static bool ht_open(struct reader *r)
{
	const struct ht_state *const ahead_of = r->ahead_of;
	struct ht_state *const st = r->state;
	const char *const map = option_find(r->options, "label-map");

	st->r = r;
	st->raw = (r->want & WANT_RAW) != 0;
	if (ahead_of != NULL) {
		/* The layout of the first pass, even if the first window of this pass shows another one. */
		st->ahead_of = ahead_of->r->state;
		st->wire = ahead_of->wire;
		st->guess_big = ahead_of->guess_big;
	} else {
		find_layout(st);
	}
	st->classes.max_name = HT_MAX_DESCRIBED + r->max_record;
	if (!set_up_trace(st) || !ht_classes_init(st) || !ht_state_reserve(st, FIRST_BLOCKS))
		return false;
	return map == NULL || ahead_of != NULL || ht_label_map_read(st, map);
}

static void ht_close(struct reader *r)
{
	struct ht_state *const st = r->state;

	ht_classes_free(&st->classes);
	ht_labels_free(&st->labels);
	table64_free(&st->tracks.threads);
	idset_free(&st->ids);
	free(st->starts);
	free(st->strings);
}

/* ---- framing ---- */

/* Reads the head of the record at rec->p.  Returns false after a finding: the class is unknown. */
static inline bool read_head(struct ht_state *st, struct record *rec)
{
	const uint32_t id = load_u32(rec->p + ht_class_id_at(st->wire), st->big);

	st->c = ht_class_find(&st->classes, id);
	st->bad_text = false;
	st->dur = 0;
	if (st->c == NULL) {
		ht_report(st, HT_RULE_UNKNOWN_CLASS, rec, "class %u was not described", id);
		return false;
	}
	rec->ts = load_u64(rec->p + ht_time_at(st->wire), st->big);
	st->id = load_u64(rec->p + ht_event_id_at(st->wire), st->big);
	return true;
}

/* Finds the blocks of a record and its end, at most `end`. */
static inline enum record_status measure_record(struct ht_state *st, struct record *rec,
                                                const struct ht_plan *plan, const char *end)
{
	const char *p = rec->p + HT_HEAD_SIZE;

	for (uint32_t i = 0; i < plan->nblocks; i++) {
		const struct ht_block block = plan->blocks[i];
		if (block.fixed > (size_t)(end - p))
			return RECORD_MORE;
		st->starts[i] = p;
		p += block.fixed;
		if (block.string == 0)
			continue;
		if (!textscan_cstring(p, end, &st->strings[i]))
			return RECORD_MORE;
		if ((st->strings[i].flags & SLICE_UTF8) == 0)
			st->bad_text = true;
		p += st->strings[i].n + 1;
	}
	rec->end = p;
	return RECORD_DONE;
}

/* Moves the cursor past a string of the record.  Returns false after a finding: the string has no end. */
static bool skip_string(struct ht_state *st, const struct record *rec, struct cursor *c, const char *name)
{
	struct slice s;
	struct quoted q;

	if (textscan_cstring(c->p, c->end, &s)) {
		cursor_take(c, s.n + 1, name);
		return true;
	}
	ht_report(st, HT_RULE_STRING_UNTERMINATED, rec,
	          "%s of class %s has no NUL in the remaining %zu byte%s", name, quoted(&q, st->c->name),
	          cursor_left(c), cursor_left(c) == 1 ? "" : "s");
	return false;
}

/* Reports the field in which the input ends, or the string that has no end. */
static COLD enum record_status report_cut(struct ht_state *st, const struct record *rec)
{
	const struct class_field *const head = ht_head_fields[st->wire];
	struct cursor c = cursor_on(rec->p, st->r->in->end, false);
	struct quoted name, class_name = { .s = "" };

	for (int i = 0; i < HT_HEAD_FIELDS; i++)
		cursor_take(&c, head[i].size, head[i].name.p);
	for (uint32_t i = 0; c.missing == NULL && i < st->c->plan->nleaves; i++) {
		const struct ht_leaf *const l = &st->c->plan->leaves[i];
		quoted(&name, l->name);
		if (l->value != VALUE_STRING)
			cursor_take(&c, l->size, name.s);
		else if (!skip_string(st, rec, &c, name.s))
			return RECORD_BAD;
	}
	if (st->c != NULL)
		quoted(&class_name, st->c->name);
	ht_report(st, HT_RULE_CUT_RECORD, rec,
	          "field %s%s%s ends %" PRIu64 " byte%s short: %zu of the event's bytes are there",
	          c.missing != NULL ? c.missing : "?", st->c != NULL ? " of class " : "", class_name.s,
	          c.missing_bytes, c.missing_bytes == 1 ? "" : "s", (size_t)(c.end - rec->p));
	return RECORD_BAD;
}

/* ---- records longer than --max-record ---- */

/* Skips blocks of the record, from p up to its end or `end`. */
static const char *pass_blocks(const struct ht_plan *plan, struct ht_long *l, const char *p, const char *end)
{
	while (p < end && l->open) {
		const size_t left = (size_t)(end - p);
		if (l->in_string) {
			const char *const nul = memchr(p, '\0', left);
			l->in_string = nul == NULL;
			p = nul != NULL ? nul + 1 : end;
		} else {
			const size_t n = l->fixed < left ? (size_t)l->fixed : left;
			p += n;
			l->fixed -= n;
			if (l->fixed > 0)
				break;
			l->in_string = l->block < plan->nblocks && plan->blocks[l->block].string != 0;
		}
		if (l->in_string || l->fixed > 0)
			continue;
		l->open = ++l->block < plan->nblocks;
		l->fixed = l->open ? plan->blocks[l->block].fixed : 0;
	}
	return p;
}

/* Skips some bytes of the record, or of the rest of the input. */
static COLD enum record_status pass_piece(struct ht_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	struct ht_long *const l = &st->long_record;
	const size_t left = (size_t)(in->end - rec->p);
	const char *const end = rec->p + (left < READER_PIECE ? left : READER_PIECE);

	if (left < READER_PIECE && !in->last)
		return RECORD_MORE;
	if (left == 0 && l->rest)
		return RECORD_END;
	if (left == 0) {
		ht_report(st, l->in_string ? HT_RULE_STRING_UNTERMINATED : HT_RULE_CUT_RECORD, l,
		          "the input ends after %" PRIu64 " bytes of the event", l->size);
		return RECORD_BAD;
	}
	const char *const to = l->rest ? end : pass_blocks(st->c->plan, l, rec->p, end);
	l->size += (uint64_t)(to - rec->p);
	if (l->rest)
		st->r->unread += (uint64_t)(to - rec->p);
	else if (!l->open)
		reader_report_long(st->r, st->r->findings, l->offset, l->ordinal, "an event", l->size);
	return reader_pass_to(st->r, rec, to);
}

static COLD enum record_status begin_long(struct ht_state *st, struct record *rec)
{
	const bool describes = st->c->kind == HT_KIND_INFO || st->c->kind == HT_KIND_FIELD;
	const struct ht_plan *const plan = st->c->plan;

	st->long_record = (struct ht_long){ .open = true,
		                            .rest = describes,
		                            .fixed = HT_HEAD_SIZE + plan->blocks[0].fixed,
		                            .offset = rec->offset,
		                            .ordinal = rec->ordinal };
	if (describes)
		reader_report_long(st->r, st->r->findings, rec->offset, rec->ordinal,
		                   "a description of a class, with all that follows it,", 0);
	st->r->records++;
	st->c->cls->records++;
	st->r->trace->events += st->c->kind == HT_KIND_EVENT;
	return pass_piece(st, rec);
}

/* ---- zero bytes ----
 *
 * A file whose data was not written before the machine stopped has its length, with zeros at its end or in
 * blocks.  A record of zeros is an EndiannessInfoEvent, which begins a dump. */

static bool are_zeros(const char *p, size_t n)
{
	while (n > 0 && *p == '\0')
		p++, n--;
	return n == 0;
}

/* Whether EndiannessInfoEvents of zeros are none: no description of a class follows, or only zeros up to the
 * end of the input. */
static COLD bool are_lost(const struct ht_state *st, const struct record *rec)
{
	const char *const p = rec->p, *const end = st->r->in->end;
	const size_t left = (size_t)(end - p);
	size_t n = HT_ENDIANNESS_SIZE;

	if (left < n || !are_zeros(p, HT_HEAD_SIZE) || p[HT_HEAD_SIZE] == 1)
		return false;
	while (n < HT_PROBE_ORDERS && left >= n + HT_HEAD_SIZE && are_zeros(p + n, HT_HEAD_SIZE))
		n += HT_ENDIANNESS_SIZE;
	if (n < left && looks_like_description(p + n, end, st->wire, false, false))
		return false;
	return n > HT_ENDIANNESS_SIZE || (n < left && left < n + HT_HEAD_SIZE && are_zeros(p + n, left - n));
}

/* ---- checks ---- */

static COLD void report_text(struct ht_state *st, const struct record *rec)
{
	const struct ht_plan *const plan = st->c->plan;
	struct quoted q, q2, q3;

	for (uint32_t i = 0; i < plan->nleaves; i++) {
		if (plan->leaves[i].value != VALUE_STRING)
			continue;
		const struct slice s = ht_leaf_string(st, &plan->leaves[i]);
		if ((s.flags & SLICE_UTF8) != 0)
			continue;
		ht_report(st, HT_RULE_INVALID_UTF8, rec, "%s of class %s is %s",
		          quoted(&q, plan->leaves[i].name), quoted(&q2, st->c->name), quoted(&q3, s));
	}
}

static void check_id(struct ht_state *st, const struct record *rec)
{
	/* Producers do not number these two kinds: their id is always 0. */
	if (st->c->kind == HT_KIND_ENDIANNESS || (st->c->kind == HT_KIND_SYSTEM && st->id == 0))
		return;
	if (idset_add(&st->ids, st->id))
		finding_tally_add(&st->id_repeated, rec->offset, rec->ordinal, st->id, 0);
	st->r->no_memory |= st->ids.failed;
}

static void check_record(struct ht_state *st, const struct record *rec)
{
	if (st->bad_text)
		report_text(st, rec);
	if (st->ahead_of == NULL)
		check_id(st, rec);
	if (st->r->records == 0 && st->c->kind != HT_KIND_ENDIANNESS)
		ht_report(st, HT_RULE_NO_BYTE_ORDER, rec,
		          "the first event is of class %u; the file is read as little endian", st->c->id);
}

/* ---- structure ---- */

/* Returns the byte order after an EndiannessInfoEvent that states none: the one in which a description
 * follows, else the one before. */
static COLD bool guess_order(const struct ht_state *st, const struct record *rec)
{
	if (st->r->records == 0)
		return st->guess_big;
	return st->big != looks_like_description(rec->end, st->r->in->end, st->wire, !st->big, true);
}

/* Applies an EndiannessInfoEvent, which sets the byte order of the following records. */
static void set_byte_order(struct ht_state *st, const struct record *rec)
{
	struct trace *const trace = st->r->trace;
	const uint8_t order = (uint8_t)st->starts[0][0];
	const bool before = st->big, fallback = order > 1 && guess_order(st, rec);

	if (order > 1)
		finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_BYTE_ORDER], rec->offset + HT_HEAD_SIZE,
		            rec->ordinal, "endianness is %u; the file is read as %s endian", order,
		            fallback ? "big" : "little");
	st->big = order <= 1 ? order == 1 : fallback;
	trace_change(trace);
	if (st->r->records == 0)
		trace->byte_order = st->big ? "big" : "little";
	else if (before != st->big)
		trace->byte_order = "mixed";
	if (st->r->records > 0) {
		/* A concatenated dump, which may describe classes again.  Counting streams is O(1); marking
		 * all classes is not, and hostile input has many classes and many of these records. */
		st->classes.stream++;
		idset_free(&st->ids);
	}
}

/* Adds a component and its version, "1.2.3", to the facts of the trace.  The first one wins. */
static void add_version(struct ht_state *st, const struct record *rec)
{
	const struct ht_plan *const plan = st->c->plan;
	struct trace *const trace = st->r->trace;
	char text[80];
	size_t n = 0;

	if (trace_meta(trace, st->c->version) != NULL)
		return;
	for (uint32_t i = 0; i < plan->nleaves && i < 3; i++) {
		const struct ht_leaf *const l = &plan->leaves[i];
		if (l->value < VALUE_U8 || l->value > VALUE_I64)
			break;
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu64, i > 0 ? "." : "",
		                      ht_leaf_integer(st, l));
	}
	const struct slice version = { text, (uint32_t)n, SLICE_UTF8 | SLICE_JSON };
	st->r->no_memory |= !trace_add_meta(trace, st->c->version, value_string(version));
}

static void add_mapping(struct ht_state *st, const struct record *rec)
{
	const struct ht_plan *const plan = st->c->plan;
	struct ht_state *const to = st->ahead_of != NULL ? st->ahead_of : st;

	ht_label_add(to, ht_leaf_integer(st, &plan->leaves[plan->identifier]),
	             ht_leaf_string(st, &plan->leaves[plan->name]),
	             st->ahead_of != NULL ? HT_LABEL_AHEAD : HT_LABEL_RECORD, rec);
	st->r->no_memory |= to->r->no_memory;
}

static COLD void apply_structure(struct ht_state *st, const struct record *rec)
{
	static void (*const functions[HT_KIND_BASE + 1])(struct ht_state *, const struct record *) = {
		[HT_KIND_ENDIANNESS] = set_byte_order, [HT_KIND_INFO] = ht_describe_class,
		[HT_KIND_FIELD] = ht_describe_field,   [HT_KIND_MAPPING] = add_mapping,
		[HT_KIND_SYSTEM] = add_version,
	};

	if (functions[st->c->kind] != NULL)
		functions[st->c->kind](st, rec);
}

static COLD void report_duration(struct ht_state *st, const struct record *rec, bool negative)
{
	ht_report(st, HT_RULE_DURATION_OVERFLOW, rec, "timestamp %" PRIu64 " plus duration %s%" PRIu64,
	          rec->ts, negative ? "-" : "", negative ? -st->dur : st->dur);
}

/* Sets the duration and the label of an event. */
static inline void apply_event(struct ht_state *st, const struct ht_plan *plan, const struct record *rec)
{
	if (plan->duration != HT_NO_LEAF) {
		const struct ht_leaf *const l = &plan->leaves[plan->duration];
		st->dur = ht_leaf_integer(st, l);
		const uint64_t dur = ht_span_duration(l, st->dur, rec->ts);
		if (dur != st->dur)
			report_duration(st, rec, dur == 0);
	}
	if (plan->label != HT_NO_LEAF && st->ahead_of == NULL)
		st->label_name = ht_label_find(st, ht_leaf_integer(st, &plan->leaves[plan->label]), rec);
}

/* ---- the reader ---- */

/* Begins to skip a record that is too long, or reports a cut record. */
static COLD enum record_status read_incomplete(struct ht_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;

	if ((uint64_t)(in->end - rec->p) >= st->r->max_record)
		return begin_long(st, rec);
	return in->last ? report_cut(st, rec) : RECORD_MORE;
}

static enum record_status read_record(struct reader *r, struct record *rec)
{
	struct ht_state *const st = r->state;
	const struct input *const in = r->in;
	const size_t window = (size_t)(in->end - in->p);

	if (st->long_record.open)
		return pass_piece(st, rec);
	st->c = NULL;
	if (window < HT_HEAD_SIZE) {
		if (!in->last)
			return RECORD_MORE;
		return in->p == in->end ? RECORD_END : report_cut(st, rec);
	}
	if (!read_head(st, rec))
		return RECORD_BAD;
	if (st->c->plan == NULL && !ht_class_prepare(st, rec))
		return st->long_record.open ? pass_piece(st, rec) : RECORD_BAD;
	const struct ht_class *const c = st->c;
	if (c->kind == HT_KIND_ENDIANNESS && r->records > 0) {
		if (window < HT_PROBE_ORDERS + HT_HEAD_SIZE + 4 + HT_PROBE_NAME && !in->last)
			return RECORD_MORE;
		if (are_lost(st, rec)) {
			ht_report(st, HT_RULE_ZERO_BYTES, rec, "zero bytes where an event should start");
			return RECORD_BAD;
		}
	}
	const char *const end = window > r->max_record ? in->p + r->max_record : in->end;
	if (measure_record(st, rec, c->plan, end) != RECORD_DONE)
		return read_incomplete(st, rec);
	check_record(st, rec);
	rec->cls = c->cls;
	rec->track = st->tracks.process; /* only vocabularies state the thread */
	rec->role = c->kind == HT_KIND_EVENT ? RECORD_IS_EVENT : RECORD_IS_STRUCTURE;
	if (rec->role == RECORD_IS_EVENT)
		apply_event(st, c->plan, rec);
	else
		apply_structure(st, rec);
	return RECORD_DONE;
}

/* Reports the findings that are about the whole input, or counted over it. */
static void ht_end(struct reader *r)
{
	struct ht_state *const st = r->state;
	const struct finding_tally *t = &st->id_repeated;

	/* After a fault, descriptions may be incomplete. */
	if (r->in->p == r->in->end && r->in->last && !st->long_record.rest)
		ht_check_unused(st);

	finding_add_tally(r->findings, &ht_rules[HT_RULE_ID_REPEATED], t, "event id %" PRIu64 " is repeated",
	                  t->now);
	t = &st->labels.unresolved;
	if (st->classes.has_mapping && !st->labels.full)
		finding_add_tally(r->findings, &ht_rules[HT_RULE_LABEL_UNRESOLVED], t,
		                  "label %" PRIu64 " has no name%s", t->now,
		                  st->labels.one_pass ? " yet, and the input cannot be read twice" : "");
}

static const struct reader_ops ht_reader_ops = {
	.state_size = sizeof(struct ht_state),
	.probe = ht_probe,
	.open = ht_open,
	.record = read_record,
	.event = ht_make_event,
	.fields = ht_fields,
	.run = ht_run,
	.end = ht_end,
	.close = ht_close,
};

/* ---- the format ---- */

static const char *const suffixes[] = { ".htdump", NULL };
static const char *const dialects[] = { "wire", "document", NULL };

static const struct format_option options[] = {
	{ .name = "label-map",
	  .arg = "FILE",
	  .help = "names of integer labels: lines of category, label, number" },
	{ .name = NULL },
};

const struct format htdump_format = {
	.name = "htdump",
	.title = "HawkTracer dump",
	.spec = "HTDUMP format design (HawkTracer)",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "timestamp", NULL },
	.dialects = dialects,
	.options = options,
	.reader = &ht_reader_ops,
	.writer = &htw_ops,
	.copier = &htw_copier_ops,
	.recover = &ht_recover_ops,
	.rules = ht_rules,
	.losses = htw_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_LISTS | HAS_NAN | HAS_NOT_UTF8 | HAS_FACTS | HAS_NUMBERS,
};

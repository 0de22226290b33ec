/*
 * The reader: one line at a time, first as tokens, then by its type.  A line is read when all of it is in the
 * window, so the result does not depend on window boundaries; an unreadable line is left out and reading
 * continues with the next one.  Members may be in any order; required and optional ones are sets of bits.
 */
#include "base/pieces.h"
#include "ndjson/ndjson.h"

#include <stdarg.h>
#include <stdlib.h>

/* Adds an error to the list of recovery. */
static void add_fault(struct ndjson_reading *st, enum ndjson_rule rule, const char *at, const char *text)
{
	struct ndjson_faults *const to = st->faults;

	to->limit |= ndjson_rules[rule].level == LEVEL_LIMIT;
	if (ndjson_rules[rule].level != LEVEL_ERROR)
		return;
	if (!reader_reserve(st->r, &to->list, to->n, &to->cap, sizeof *to->list))
		return;
	if (to->n == 0)
		snprintf(to->why, sizeof to->why, "%s", text);
	to->list[to->n++] = (struct ndjson_fault){ at, rule };
}

bool ndjson_report(struct ndjson_reading *st, enum ndjson_rule rule, const char *at, const char *fmt, ...)
{
	const struct input *const in = st->r->in;
	char text[NDJSON_MESSAGE] = "";
	va_list ap;

	if (st->r->findings == NULL && st->faults == NULL)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (st->is_plain && at >= st->plain->text.p && at <= st->plain->text.p + st->plain->text.n)
		at = json_repair_origin(st->plain, at);
	if (st->faults != NULL)
		add_fault(st, rule, at, text);
	else
		finding_add_line(st->r->findings, &ndjson_rules[rule],
		                 (struct finding_place){ .offset = input_offset(in, at),
		                                         .line = st->number,
		                                         .column = (uint64_t)(at - in->p) + st->before + 1,
		                                         .record = st->r->records + 1 },
		                 "%s", text);
	return false;
}

const char *ndjson_quoted(struct quoted *q, const struct json_token *t)
{
	const struct slice s = json_token_text(t);

	return quoted(q, slice_of(s.p, s.n < 40 ? s.n : 40));
}

/* ---- members and types ---- */

#define BIT(m) (UINT64_C(1) << NDJSON_M_##m)
#define KIND(k) (1u << JSON_##k)
#define COUNT KIND(UINT)
#define INTEGER (KIND(UINT) | KIND(INT))
#define TEXT (KIND(STRING) | KIND(ESCAPED))
#define TRUE_KIND KIND(TRUE)
#define TRUTH (KIND(TRUE) | KIND(FALSE))
#define ARRAY KIND(ARRAY)
#define OBJECT KIND(OBJECT)

const char *const ndjson_member_names[NDJSON_MEMBERS] = {
#define MEMBER(name, text, kinds) text,
#include "ndjson/members.def"
};

static const uint8_t name_lengths[NDJSON_MEMBERS] = {
#define MEMBER(name, text, kinds) sizeof(text) - 1,
#include "ndjson/members.def"
};

static const uint16_t member_kinds[NDJSON_MEMBERS] = {
#define TRUE TRUE_KIND
#define MEMBER(name, text, kinds) kinds,
#include "ndjson/members.def"
#undef TRUE
};

const char *const ndjson_type_names[NDJSON_TYPES] = {
	[NDJSON_SPAN] = "span",       [NDJSON_BEGIN] = "begin",         [NDJSON_END] = "end",
	[NDJSON_INSTANT] = "instant", [NDJSON_COUNTER] = "counter",     [NDJSON_FLOW_OUT] = "flow_out",
	[NDJSON_FLOW_IN] = "flow_in", [NDJSON_STRUCTURE] = "structure", [NDJSON_TRACE] = "trace",
	[NDJSON_TRACK] = "track",     [NDJSON_CLASS] = "class",         [NDJSON_TRACE_END] = "trace_end",
};

#define RECORD (BIT(KIND) | BIT(TS) | BIT(NAME) | BIT(CLASS) | BIT(OFFSET))
#define WITH_ARGS (BIT(ARGS) | BIT(TYPES) | BIT(PAIRS))
#define EVENT (BIT(CATEGORY) | BIT(PID) | BIT(TID) | BIT(ASYNC) | BIT(BIG_ENDIAN) | BIT(ESCAPED) | WITH_ARGS)
#define FACTS (BIT(FORMAT) | BIT(CLOCK))

bool ndjson_fits_member(enum ndjson_member m, enum json_kind kind)
{
	return (member_kinds[m] >> kind & 1) != 0;
}

static const struct {
	uint64_t must, may;
} type_members[NDJSON_TYPES] = {
	[NDJSON_SPAN] = { RECORD | BIT(DUR) | BIT(TRACK), EVENT | BIT(INNER) },
	[NDJSON_BEGIN] = { RECORD | BIT(TRACK), EVENT | BIT(DUR) },
	[NDJSON_END] = { RECORD | BIT(TRACK), EVENT | BIT(DUR) },
	[NDJSON_INSTANT] = { RECORD | BIT(TRACK), EVENT | BIT(DUR) },
	[NDJSON_COUNTER] = { RECORD | BIT(TRACK), EVENT | BIT(DUR) },
	[NDJSON_FLOW_OUT] = { RECORD | BIT(ID) | BIT(TRACK), EVENT },
	[NDJSON_FLOW_IN] = { RECORD | BIT(ID) | BIT(TRACK), EVENT },
	[NDJSON_STRUCTURE] = { RECORD, EVENT | BIT(DUR) | BIT(TRACK) },
	[NDJSON_TRACE] = { BIT(TYPE) | BIT(VERSION) | BIT(TOOL) | BIT(MODE) | BIT(REBASED) | FACTS,
	                   BIT(SIGNED) | BIT(DIALECT) | BIT(BYTE_ORDER) | BIT(RECORD_ID) },
	[NDJSON_TRACK] = { BIT(TYPE) | BIT(INDEX) | BIT(KIND) | BIT(NAME),
	                   BIT(ID) | BIT(HOST) | BIT(PARENT) | BIT(LANE) | BIT(CHILD) | BIT(ESCAPED) },
	[NDJSON_CLASS] = { BIT(TYPE) | BIT(INDEX) | BIT(NAME) | BIT(CATEGORY),
	                   BIT(ESCAPED) | BIT(FIELDS) | BIT(WAITING) | BIT(BYTES) | BIT(STACK) |
	                       BIT(STACK_OF) },
	[NDJSON_TRACE_END] = { BIT(TYPE) | BIT(RECORDS) | BIT(EVENTS) | BIT(LOSSES) | FACTS,
	                       BIT(DIALECT) | BIT(BYTE_ORDER) | BIT(RECORD_ID) | BIT(EPOCH_NS) |
	                           BIT(REBASED_BY_NS) | WITH_ARGS },
};

/* ---- tokens ---- */

enum ndjson_member ndjson_find_member(struct slice key)
{
	for (unsigned m = 0; m < NDJSON_MEMBERS && name_lengths[m] <= key.n; m++)
		if (name_lengths[m] == key.n && *key.p == *ndjson_member_names[m] &&
		    memcmp(key.p, ndjson_member_names[m], key.n) == 0)
			return m;
	return NDJSON_MEMBERS;
}

/* Reads a key; fast for names of a-z and _ directly before a colon, as nearly all are. */
static inline const char *read_key(struct json *x, const char *p, const char *e, struct slice *key,
                                   enum json_kind *kind)
{
	const char *q = p + 1;

	while (q < e && *q >= 'a' && *q <= 'z')
		q++;
	while (q < e && *q == '_')
		for (q++; q < e && *q >= 'a' && *q <= 'z';)
			q++;
	if (*p != '"' || e - q < 2 || q[0] != '"' || q[1] != ':')
		return json_key(x, p, e, key, kind);
	*key = slice_of(p + 1, (size_t)(q - p) - 1);
	*kind = JSON_STRING;
	return json_skip_blanks(q + 2, e);
}

/* Returns the value of the member at p; NULL: its key is another one, or not in the usual form.  Compares
 * two words, with the quotes and the colon: the longest name has 13 bytes. */
static inline const char *pass_key(enum ndjson_member m, const char *p, const char *e)
{
	static const char keys[NDJSON_MEMBERS][16] = {
#define MEMBER(name, text, kinds) "\"" text "\":",
#include "ndjson/members.def"
	};
	const unsigned n = name_lengths[m] + 3U;

	if (e - p < 16)
		return NULL;
	const uint64_t low = load_u64(p, false) ^ load_u64(keys[m], false),
	               high = load_u64(p + 8, false) ^ load_u64(keys[m] + 8, false);
	if (n <= 8 ? low << (64 - 8 * n) != 0 : (low | high << (128 - 8 * n)) != 0)
		return NULL;
	return json_skip_blanks(p + n, e);
}

/* Reads the key after the member *m, mostly that of an earlier line, which becomes *m.  NDJSON_MEMBERS: the
 * key is unknown, or none. */
static inline const char *read_next_key(struct ndjson_line *line, enum ndjson_member *m, const char *p,
                                        const char *e)
{
	uint8_t *const after = &line->after[*m];
	const char *v = pass_key(*after, p, e);
	enum json_kind kind;
	struct slice key;

	*m = *after;
	if (v != NULL)
		return v;
	v = read_key(&line->json, p, e, &key, &kind);
	*m = v != NULL ? ndjson_find_member(key) : NDJSON_MEMBERS;
	if (*m != NDJSON_MEMBERS)
		*after = (uint8_t)*m;
	return v;
}

/* Reads a value; fast for digits with a comma or brace after them. */
static inline const char *read_scalar(struct json *x, const char *p, const char *e, enum json_kind *kind)
{
	if (p < e && *p >= '1' && *p <= '9') {
		const char *const q = json_skip_eights(p + 1, e);
		if (q != NULL && (*q == ',' || *q == '}')) {
			*kind = JSON_UINT;
			return q;
		}
	}
	return json_value(x, p, e, kind);
}

/* Reads the members of the object at p. */
static const char *read_pairs(struct ndjson_line *line, const char *p, const char *e, struct ndjson_pairs *to)
{
	struct json *const x = &line->json;
	bool more;

	to->n = 0;
	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, '}', &more)) {
		if (to->n == to->cap &&
		    note_failure(&line->no_memory,
		                 !array_reserve(&to->list, to->n, &to->cap, sizeof *to->list)))
			return NULL;
		struct ndjson_pair *const pair = &to->list[to->n++];
		p = read_key(x, p, e, &pair->name, &pair->name_kind);
		if (p == NULL)
			return NULL;
		pair->value.p = p;
		p = read_scalar(x, p, e, &pair->value.kind);
		if (p == NULL)
			return NULL;
		pair->value.end = p;
	}
	return p;
}

/* Reads the value of a member; of the first args and types, also their members. */
static const char *read_member(struct ndjson_line *line, enum ndjson_member m, const char *p, const char *e,
                               bool repeated, enum json_kind *kind)
{
	struct ndjson_pairs *const to = m == NDJSON_M_ARGS ? &line->args : &line->types;

	if (repeated || p == e || *p != '{' || (m != NDJSON_M_ARGS && m != NDJSON_M_TYPES))
		return read_scalar(&line->json, p, e, kind);
	*kind = JSON_OBJECT;
	return read_pairs(line, p, e, to);
}

const char *ndjson_read_tokens(struct ndjson_line *line, const char *p, const char *e)
{
	struct json *const x = &line->json;
	enum ndjson_member m = NDJSON_MEMBERS;
	enum json_kind kind;
	bool more;

	for (p = json_first(x, p, e, &more); p != NULL && more; p = json_next(x, p, e, '}', &more)) {
		const char *const at = p;
		const char *const v = read_next_key(line, &m, p, e);
		const bool known = m != NDJSON_MEMBERS, repeated = known && ndjson_has(line, m);
		p = v == NULL ? NULL
		    : known   ? read_member(line, m, v, e, repeated, &kind)
		              : json_value(x, v, e, &kind);
		if (p == NULL)
			return NULL;
		if (!known && line->unknown == NULL)
			line->unknown = at;
		else if (repeated && line->duplicate == NULL)
			line->duplicate = at;
		if (!known || repeated)
			continue;
		line->seen |= UINT64_C(1) << m;
		line->of[m] = (struct json_token){ v, p, kind };
		if (!ndjson_fits_member(m, kind) && line->mistyped == NULL) {
			line->mistyped = v;
			line->mistyped_member = m;
		}
	}
	return p;
}

void ndjson_line_clear(struct ndjson_line *line)
{
	line->seen = 0;
	line->args.n = line->types.n = 0;
	line->duplicate = line->unknown = line->mistyped = NULL;
	json_clear(&line->json);
	line->json.spare = NULL;
}

/* Reads the line [p, end) again, from a copy without the spare escapes that it has, so that all readers of
 * its tokens compare what they mean.  Returns false on OOM. */
static bool read_plain(struct ndjson_reading *st, const char *p, const char *end)
{
	if (st->plain == NULL)
		st->plain = calloc(1, sizeof *st->plain);
	if (st->plain != NULL)
		json_repair_escapes(st->plain, p, end);
	st->is_plain = st->plain != NULL && !st->plain->text.failed;
	st->r->no_memory |= !st->is_plain;
	ndjson_line_clear(&st->line);
	return st->is_plain && ndjson_read_tokens(&st->line, st->plain->text.p,
	                                          st->plain->text.p + st->plain->text.n) != NULL;
}

/* ---- checks ---- */

static bool report_not_json(struct ndjson_reading *st)
{
	const struct json_error *const error = &st->line.json.error;
	struct quoted q;

	if (st->r->no_memory)
		return false;
	st->ends_in_line = st->cut > 0 && error->cut;
	if (st->ends_in_line)
		ndjson_report(st, NDJSON_RULE_CUT_LINE, st->line.p,
		              "the input ends %zu bytes into the line: %s",
		              (size_t)(st->line.end - st->line.p), error->why);
	else if (error->at < st->line.end)
		ndjson_report(st, NDJSON_RULE_NOT_JSON, error->at, "%s, found %s", error->why,
		              quoted(&q, slice_of(error->at, 1)));
	else
		ndjson_report(st, NDJSON_RULE_NOT_JSON, error->at, "%s, found the end of the line",
		              error->why);
	return false;
}

/* Reports a flaw.  The line is left out anyway: lenient reading only gives a better message. */
static bool report_flaw(struct ndjson_reading *st)
{
	static const char *const texts[JSON_FLAW_KINDS] = {
		[JSON_FLAW_CONTROL_BYTE] = "control byte in a text",
		[JSON_FLAW_NUL] = "NUL byte in a text",
		[JSON_FLAW_UTF8] = "text is not UTF-8",
		[JSON_FLAW_ESCAPE] = "invalid escape",
		[JSON_FLAW_NOT_FINITE] = "nan and inf are not JSON numbers",
		[JSON_FLAW_WORD] = "not a JSON value",
		[JSON_FLAW_COMMA] = "trailing comma",
	};
	const struct json_flaw_at *const f = &st->line.json.flaws[0];

	return ndjson_report(st, f->kind == JSON_FLAW_UTF8 ? NDJSON_RULE_INVALID_UTF8 : NDJSON_RULE_NOT_JSON,
	                     f->at, "%s", texts[f->kind]);
}

enum ndjson_type ndjson_find_type(struct slice name, bool of_event)
{
	const unsigned from = of_event ? 0 : NDJSON_TRACE, end = of_event ? NDJSON_TRACE : NDJSON_TYPES;

	for (unsigned i = from; i < end; i++)
		if (name.n > 0 && *name.p == *ndjson_type_names[i] && slice_is(name, ndjson_type_names[i]))
			return i;
	return of_event && slice_is(name, "async")       ? NDJSON_SPAN
	       : of_event && slice_is(name, "flow_step") ? NDJSON_FLOW_IN
	                                                 : NDJSON_TYPES;
}

/* Lines of events have a kind, all others a type; a track has both. */
static bool find_type(struct ndjson_reading *st)
{
	struct ndjson_line *const line = &st->line;
	const bool is_event = !ndjson_has(line, NDJSON_M_TYPE);
	const struct json_token *const t = &line->of[is_event ? NDJSON_M_KIND : NDJSON_M_TYPE];
	struct quoted q;

	if (is_event && !ndjson_has(line, NDJSON_M_KIND))
		return ndjson_report(st, NDJSON_RULE_MISSING_MEMBER, line->p, "kind or type is missing");
	if (!json_is_string(t->kind))
		return true; /* line->mistyped is reported by the caller */
	const struct slice name = json_token_text(t);
	line->type = ndjson_find_type(name, is_event);
	line->async = line->type == NDJSON_SPAN && slice_is(name, "async");
	line->step = line->type == NDJSON_FLOW_IN && slice_is(name, "flow_step");
	if (line->type != NDJSON_TYPES)
		return true;
	return ndjson_report(st, NDJSON_RULE_UNKNOWN_TYPE, t->p, "%s is %s", is_event ? "kind" : "type",
	                     quoted(&q, name));
}

static bool check_members(struct ndjson_reading *st)
{
	const struct ndjson_line *const line = &st->line;
	const uint64_t must = type_members[line->type].must,
	               extra = line->seen & ~(must | type_members[line->type].may);

	for (unsigned m = 0; m < NDJSON_MEMBERS && (must & ~line->seen) != 0; m++)
		if ((must >> m & 1) != 0 && !ndjson_has(line, m))
			return ndjson_report(st, NDJSON_RULE_MISSING_MEMBER, line->p, "a line of %s lacks %s",
			                     ndjson_type_names[line->type], ndjson_member_names[m]);
	for (unsigned m = 0; m < NDJSON_MEMBERS && extra != 0; m++)
		if ((extra >> m & 1) != 0) {
			ndjson_report(st, NDJSON_RULE_UNKNOWN_MEMBER, line->of[m].p, "a line of %s has %s",
			              ndjson_type_names[line->type], ndjson_member_names[m]);
			break;
		}
	if (line->unknown != NULL)
		ndjson_report(st, NDJSON_RULE_UNKNOWN_MEMBER, line->unknown, "an unknown name");
	return true;
}

const char *ndjson_read_object(struct ndjson_reading *st, const char *p, const char *end)
{
	struct ndjson_line *const line = &st->line;

	line->p = p;
	line->end = end;
	line->type = NDJSON_TYPES;
	line->async = line->step = st->is_plain = false;
	ndjson_line_clear(line);
	line->json.complete = true;
	const char *const from = json_skip_blanks(p, end);
	if (from == end || *from != '{')
		p = from == end ? json_cut(&line->json, from, "expected an object")
		                : json_fail(&line->json, from, "expected an object");
	else if (st->pieces == NULL || (p = ndjson_line_read(st, from)) == NULL)
		p = ndjson_read_tokens(line, from, end);
	if (p != NULL && line->json.spare != NULL && !read_plain(st, from, p))
		p = NULL;
	st->r->no_memory |= line->no_memory;
	if (p == NULL && !st->r->no_memory)
		report_not_json(st);
	return p;
}

bool ndjson_check_object(struct ndjson_reading *st)
{
	struct ndjson_line *const line = &st->line;
	struct quoted q;

	if (st->line.json.nflaws > 0)
		return report_flaw(st);
	if (line->duplicate != NULL)
		ndjson_report(st, NDJSON_RULE_DUPLICATE_MEMBER, line->duplicate,
		              "the name is in the line twice");
	if (!find_type(st))
		return false;
	if (line->mistyped != NULL) {
		const struct json_token *const t = &line->of[line->mistyped_member];
		return ndjson_report(st, NDJSON_RULE_WRONG_TYPE, line->mistyped, "%s is %s, of another type",
		                     ndjson_member_names[line->mistyped_member], ndjson_quoted(&q, t));
	}
	return check_members(st);
}

bool ndjson_parse_line(struct ndjson_reading *st, const char *p, const char *end)
{
	p = ndjson_read_object(st, p, end);
	if (p == NULL)
		return false;
	p = json_skip_blanks(p, end);
	if (p == end)
		return ndjson_check_object(st);
	json_fail(&st->line.json, p, "expected the end of the line");
	return report_not_json(st);
}

/* ---- lines ---- */

/* Finds the end of the line at in->p: after its line feed, or the end of the input.  RECORD_BAD: too long. */
static enum record_status find_line(struct ndjson_reading *st, const char **end)
{
	const struct input *const in = st->r->in;
	const size_t n = (size_t)(in->end - in->p);
	const char *const from = in->p + st->scanned;
	const char *const feed = n > st->scanned ? memchr(from, '\n', n - st->scanned) : NULL;

	*end = feed != NULL ? feed + 1 : in->end;
	if ((uint64_t)(*end - in->p) > st->r->max_record)
		return RECORD_BAD;
	st->scanned = feed == NULL && !in->last ? n : 0;
	if (st->scanned > 0 || (n == 0 && !in->last))
		return RECORD_MORE;
	return n > 0 ? RECORD_DONE : RECORD_END;
}

/* Skips a part of a line that is longer than --max-record. */
static enum record_status pass_long_line(struct ndjson_reading *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	const size_t present = (size_t)(in->end - in->p), n = present < READER_PIECE ? present : READER_PIECE;
	const char *const feed = memchr(in->p, '\n', n);

	if (feed == NULL && present < READER_PIECE && !in->last)
		return RECORD_MORE;
	const char *const end = feed != NULL ? feed + 1 : in->p + n;
	st->long_bytes += (uint64_t)(end - in->p);
	st->scanned = 0;
	st->too_long = feed == NULL && !(end == in->end && in->last);
	st->lines += feed != NULL;
	if (!st->too_long)
		finding_add_line(st->r->findings, &input_rules[INPUT_RULE_RECORD_LIMIT],
		                 (struct finding_place){
		                     .offset = st->long_at, .line = st->number, .record = st->r->records },
		                 "a line of %" PRIu64 " bytes was not checked: --max-record is %" PRIu64,
		                 st->long_bytes, st->r->max_record);
	return reader_pass_to(st->r, rec, end);
}

const char *ndjson_text_end(const char *p, const char *end)
{
	if (end > p && end[-1] == '\n')
		end--;
	return end > p && end[-1] == '\r' ? end - 1 : end;
}

/* Returns the size of a line that lacks its line feed, else 0. */
static uint64_t without_feed(const char *p, const char *end)
{
	return end[-1] != '\n' ? (uint64_t)(end - p) : 0;
}

bool ndjson_read_by_type(struct ndjson_reading *st)
{
	if (st->has_end || (st->line.type == NDJSON_TRACE && (st->has_trace || st->number > 1)))
		return ndjson_report(st, NDJSON_RULE_UNEXPECTED_LINE, st->line.p,
		                     st->has_end ? "a line of type %s after the last one"
		                                 : "a second line of type %s",
		                     ndjson_type_names[st->line.type]);
	switch (st->line.type) {
	case NDJSON_TRACE:
		return ndjson_read_trace(st);
	case NDJSON_TRACK:
		return ndjson_read_track(st);
	case NDJSON_CLASS:
		return ndjson_read_class(st);
	case NDJSON_TRACE_END:
		return ndjson_read_end(st);
	default:
		return ndjson_read_event(st);
	}
}

/* Parses a line again, because it may have moved, without repeating its findings. */
static bool parse_quietly(struct ndjson_reading *st, const char *end)
{
	struct findings *const findings = st->r->findings;

	st->r->findings = NULL;
	const bool parsed = ndjson_parse_line(st, st->r->in->p, ndjson_text_end(st->r->in->p, end));
	st->r->findings = findings;
	return parsed;
}

/* Sets class, time and role of the line; only events, and raw lines, have a class of the trace. */
static void set_record(struct ndjson_reading *st, struct record *rec)
{
	const struct ndjson_line *const line = &st->line;
	const bool of_class = st->readable && line->type <= NDJSON_STRUCTURE;
	const bool is_event = of_class && line->type != NDJSON_STRUCTURE;

	rec->ts = is_event ? st->event.ts : 0;
	rec->track = is_event ? st->event.track : NULL;
	rec->role = is_event ? RECORD_IS_EVENT : of_class ? RECORD_IS_STRUCTURE : RECORD_IS_OTHER;
	rec->cls = of_class ? st->entry->cls : &st->no_class;
	if ((st->r->want & WANT_RAW) == 0)
		return;
	rec->cls = ndjson_raw_class(st);
	if (rec->cls == NULL) {
		st->r->no_memory = true;
		rec->cls = &st->no_class;
	}
}

/* Only finds the line: recover.c reads it. */
static enum record_status frame_line(struct ndjson_reading *st, struct record *rec)
{
	rec->cls = &st->no_class;
	rec->role = RECORD_IS_OTHER;
	st->cut = without_feed(rec->p, rec->end);
	st->lines++;
	return RECORD_DONE;
}

static enum record_status read_line_at(struct ndjson_reading *st, struct record *rec)
{
	const bool was_read = st->has_trace && st->r->records == 0; /* by read_first() */
	const bool deferred = st->deferred;

	arena_reset(&st->scratch);
	st->number = st->lines + 1;
	st->cut = without_feed(rec->p, rec->end);
	st->readable = was_read || deferred
	                   ? parse_quietly(st, rec->end)
	                   : ndjson_parse_line(st, rec->p, ndjson_text_end(rec->p, rec->end));
	/* writers put the tracks and classes of a batch before its events: a new batch keeps the order */
	st->deferred = !deferred && !was_read && st->readable &&
	               (st->line.type == NDJSON_TRACK || st->line.type == NDJSON_CLASS) &&
	               (st->r->want & (WANT_RAW | WANT_TIMES)) == WANT_TIMES;
	if (st->deferred)
		return RECORD_BREAK;
	st->readable = was_read || (st->readable && ndjson_read_by_type(st));
	st->lines++;
	set_record(st, rec);
	return RECORD_DONE;
}

/* ---- the reader ---- */

/* Reads the first line, so that the trace is known before its events. */
static bool read_first(struct ndjson_reading *st)
{
	struct reader *const r = st->r;
	enum record_status status;
	const char *end;

	while ((status = find_line(st, &end)) == RECORD_MORE)
		input_more(r->in);
	if (status != RECORD_DONE)
		return true;
	st->cut = without_feed(r->in->p, end);
	/* Any other line is reported when it is read again. */
	const bool parsed = parse_quietly(st, end);
	const bool is_trace = st->line.type == NDJSON_TRACE;
	if (r->recovers)
		return !is_trace || !parsed || ndjson_check_version(st);
	if (!is_trace)
		ndjson_report(st, NDJSON_RULE_NO_TRACE, r->in->p, "the first line is %s",
		              st->line.type < NDJSON_TYPES ? ndjson_type_names[st->line.type]
		                                           : "something else");
	if (!is_trace || !parsed)
		return true;
	ndjson_parse_line(st, r->in->p, ndjson_text_end(st->r->in->p, end)); /* with its findings */
	st->has_trace = ndjson_read_trace(st);
	return st->has_trace || r->findings == NULL;
}

static bool open_reader(struct reader *r)
{
	struct ndjson_reading *const st = r->state;

	st->r = r;
	st->line.json = (struct json){ .lenient = true, .depth = JSON_MAX_DEPTH };
	st->number = 1;
	r->trace->dialect = "";
	r->trace->clock = "unknown";
	if (r->trace->zero_ns == 0)
		r->trace->zero_ns = ndjson_zero(r->in);
	ndjson_pieces_begin(st);
	return read_first(st) && !r->no_memory;
}

static enum record_status read_record(struct reader *r, struct record *rec)
{
	struct ndjson_reading *const st = r->state;

	if (st->too_long)
		return pass_long_line(st, rec);
	const enum record_status status = find_line(st, &rec->end);
	if (status == RECORD_DONE)
		return r->recovers ? frame_line(st, rec) : read_line_at(st, rec);
	if (status != RECORD_BAD)
		return status;
	st->number = st->lines + 1;
	st->too_long = true;
	st->long_bytes = 0;
	st->long_at = rec->offset;
	r->records++;
	return pass_long_line(st, rec);
}

static void end_reader(struct reader *r)
{
	struct ndjson_reading *const st = r->state;

	st->number = st->lines + (st->cut == 0);
	st->before = st->cut;
	if (!st->has_end && !st->ends_in_line)
		ndjson_report(st, NDJSON_RULE_NO_END, r->in->p, "the input ends after %" PRIu64 " lines",
		              r->records);
	ndjson_finish_events(st);
}

static void close_reader(struct reader *r)
{
	struct ndjson_reading *const st = r->state;

	ndjson_indexes_free(st);
	pieces_free(st->pieces);
	free(st->line.args.list);
	free(st->line.types.list);
	free(st->stack);
	free(st->no_batch.fields);
	if (st->plain != NULL)
		text_free(&st->plain->text);
	free(st->plain);
	arena_free(&st->scratch);
}

static const char *const common[] = { NULL };

const struct reader_ops ndjson_reader_ops = {
	.state_size = sizeof(struct ndjson_reading),
	.common = common,
	.probe = ndjson_probe,
	.zero = ndjson_zero,
	.open = open_reader,
	.record = read_record,
	.event = ndjson_event,
	.fields = ndjson_raw_fields,
	.end = end_reader,
	.close = close_reader,
};

/*
 * Texts of lines that differ from the input: without parts that the reader leaves out, with the members that
 * a line of type trace or trace_end must have, and in place of lost lines.
 */
#include "ndjson/recover/recover.h"

#include <stdlib.h>

#include "base/numbers.h"

/* ---- faults ---- */

static int by_position(const void *a, const void *b)
{
	const struct ndjson_fault *const x = a, *const y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Returns the first fault at or after p; the faults are sorted. */
static const struct ndjson_fault *fault_from(const struct ndjson_faults *f, const char *p)
{
	uint32_t low = 0, high = f->n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		if (f->list[mid].at < p)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->n ? &f->list[low] : NULL;
}

static bool has_fault(const struct ndjson_faults *f, const char *p, const char *end)
{
	const struct ndjson_fault *const found = fault_from(f, p);

	return found != NULL && found->at < end;
}

/* ---- a line without its faults ---- */

static bool is_mendable(const struct ndjson_faults *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		switch (f->list[i].rule) {
		case NDJSON_RULE_DUPLICATE_MEMBER:
		case NDJSON_RULE_WRONG_TYPE:
		case NDJSON_RULE_OUT_OF_RANGE:
		case NDJSON_RULE_BAD_VALUE:
			break;
		default:
			return false;
		}
	return f->n > 0;
}

static void put_comma(struct text *to, size_t start)
{
	if (to->n > start)
		text_char(to, ',');
}

/* Copies the members or elements that have no fault.  kept: for `types`, the remaining names; NULL: any. */
static void put_faultless(struct text *to, const struct ndjson_faults *f, const struct json_token *t,
                          struct tabletext *kept)
{
	struct json_walk w = json_walk_again(t);
	const bool object = t->kind == JSON_OBJECT;

	text_char(to, *t->p);
	const size_t start = to->n;
	while (json_walk_next(&w)) {
		const char *const p = object ? w.key.p : w.value.p;
		if (has_fault(f, p, w.value.end))
			continue;
		if (kept != NULL) {
			const struct slice name = json_token_text(&w.key);
			if (tabletext_get(kept, name) != 1)
				continue;
			(void)tabletext_put(kept, name, 2); /* the key exists: nothing is allocated */
		}
		put_comma(to, start);
		text_add(to, p, (size_t)(w.value.end - p));
	}
	text_char(to, t->end[-1]);
}

/* Adds the names of the remaining args.  Returns false on OOM. */
static bool add_names(const struct ndjson_line *line, const struct ndjson_faults *f, struct tabletext *to)
{
	for (uint32_t i = 0; i < line->args.n; i++) {
		const struct ndjson_pair *const pair = &line->args.list[i];
		if (!has_fault(f, pair->name.p - 1, pair->value.end) && !tabletext_put(to, pair->name, 1))
			return false;
	}
	return true;
}

/* Whether the fault of dur_ns is that the span ends too late: the reader shortens such a span. */
static bool is_late_end(const struct ndjson_line *line)
{
	uint64_t v;

	return line->type == NDJSON_SPAN && ndjson_get_number(line, NDJSON_M_DUR, UINT64_MAX, &v);
}

/* Writes a member without its faults, or nothing. */
static void put_member(struct ndjson_reading *st, struct text *to, enum ndjson_member m,
                       const struct json_walk *w, struct tabletext *names)
{
	const struct ndjson_faults *const f = st->faults;
	const struct json_token *const t = &w->value;
	const struct ndjson_fault *const first = fault_from(f, t->p);
	const bool faulty = first != NULL && first->at < t->end;
	const bool parts =
	    m == NDJSON_M_ARGS || m == NDJSON_M_PAIRS || m == NDJSON_M_FIELDS || m == NDJSON_M_LOSSES;
	const bool late = m == NDJSON_M_DUR && is_late_end(&st->line);

	if (faulty && m != NDJSON_M_TYPES && !(first->at > t->p && parts) && !(first->at == t->p && late))
		return;
	put_comma(to, 1);
	text_add(to, w->key.p, (size_t)((!faulty && m != NDJSON_M_TYPES ? t->end : t->p) - w->key.p));
	if (m == NDJSON_M_TYPES)
		put_faultless(to, f, t, names);
	else if (faulty && parts)
		put_faultless(to, f, t, NULL);
	else if (faulty)
		text_u64(to, ndjson_last_time(st) - st->event.ts);
}

bool ndjson_mend(struct ndjson_reading *st, struct text *to)
{
	struct ndjson_faults *const f = st->faults;
	const struct ndjson_line *const line = &st->line;
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	struct tabletext names = { .slots = NULL };
	uint64_t seen = 0;

	if (!is_mendable(f))
		return false;
	qsort(f->list, f->n, sizeof *f->list, by_position);
	bool ok = add_names(line, f, &names);
	text_clear(to);
	text_char(to, '{');
	struct json_walk w = json_walk(&x, json_skip_blanks(line->p, line->end), line->end);
	while (ok && json_walk_next(&w)) {
		const enum ndjson_member m = ndjson_find_member(json_token_text(&w.key));
		/* the faults contain only the first repeated member and the first mistyped one */
		if (m != NDJSON_MEMBERS && ((seen >> m & 1) != 0 || !ndjson_fits_member(m, w.value.kind)))
			continue;
		put_member(st, to, m, &w, &names);
		seen |= UINT64_C(1) << m;
	}
	text_char(to, '}');
	tabletext_free(&names);
	st->r->no_memory |= !ok || to->failed;
	return ok && !to->failed;
}

/* ---- lines of type trace and trace_end ---- */

#define BIT(m) (UINT64_C(1) << NDJSON_M_##m)

/* Writes a member that the damaged line has, else `otherwise`; NULL: nothing. */
static void put_or(struct text *to, const struct ndjson_line *line, enum ndjson_member m,
                   const char *otherwise)
{
	const struct json_token *const t = &line->of[m];
	uint64_t v;

	const bool has = ndjson_has(line, m) && ndjson_fits_member(m, t->kind) &&
	                 (t->kind != JSON_UINT || ndjson_get_number(line, m, UINT64_MAX, &v));
	if (!has && otherwise == NULL)
		return;
	text_printf(to, ",\"%s\":", ndjson_member_names[m]);
	if (has)
		text_add(to, t->p, (size_t)(t->end - t->p));
	else
		text_str(to, otherwise);
}

static void put_number_or(struct text *to, const struct ndjson_line *line, enum ndjson_member m,
                          uint64_t otherwise)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, otherwise);
	put_or(to, line, m, digits);
}

/* Writes a fact of the damaged line, else the text; NULL: nothing. */
static void put_fact_or(struct text *to, const struct ndjson_line *line, enum ndjson_member m,
                        const char *otherwise)
{
	struct text value = { .p = NULL };

	ndjson_string(&value, slice_str(otherwise != NULL ? otherwise : ""));
	text_char(&value, '\0');
	to->failed |= value.failed;
	put_or(to, line, m, value.failed || otherwise == NULL ? NULL : value.p);
	text_free(&value);
}

/* Writes the facts of the damaged line, else those of the first line. */
static void put_facts(struct text *to, const struct ndjson_line *line, const struct trace_origin *origin)
{
	static const struct trace_facts unknown = { .format = "unknown", .dialect = "", .clock = "unknown" };
	const struct trace_facts *const facts = origin != NULL ? &origin->first : &unknown;

	put_fact_or(to, line, NDJSON_M_FORMAT, facts->format);
	put_fact_or(to, line, NDJSON_M_DIALECT, *facts->dialect != '\0' ? facts->dialect : NULL);
	put_fact_or(to, line, NDJSON_M_BYTE_ORDER, facts->byte_order);
	put_fact_or(to, line, NDJSON_M_CLOCK, facts->clock);
	put_fact_or(to, line, NDJSON_M_RECORD_ID, facts->record_id);
}

static void put_head(struct text *to, const struct ndjson_line *line, const struct ndjson_reading *st)
{
	text_str(to, "{\"type\":\"trace\"");
	put_number_or(to, line, NDJSON_M_VERSION, NDJSON_VERSION);
	put_or(to, line, NDJSON_M_TOOL, "\"tracetool\"");
	put_or(to, line, NDJSON_M_MODE, "\"interpreted\"");
	put_or(to, line, NDJSON_M_REBASED, "false");
	put_or(to, line, NDJSON_M_SIGNED, st->r->trace->zero_ns > 0 ? "true" : NULL);
	put_facts(to, line, st->origin);
	text_char(to, '}');
}

static void put_end(struct text *to, const struct ndjson_line *line, const struct trace_origin *origin,
                    const struct ndjson_recovery *s)
{
	text_str(to, "{\"type\":\"trace_end\"");
	put_number_or(to, line, NDJSON_M_RECORDS, s->records);
	put_number_or(to, line, NDJSON_M_EVENTS, s->events);
	put_facts(to, line, origin);
	put_or(to, line, NDJSON_M_EPOCH_NS, NULL);
	put_or(to, line, NDJSON_M_REBASED_BY_NS, NULL);
	put_or(to, line, NDJSON_M_LOSSES, "{}");
	put_or(to, line, NDJSON_M_ARGS, NULL);
	put_or(to, line, NDJSON_M_TYPES, NULL);
	put_or(to, line, NDJSON_M_PAIRS, NULL);
	text_char(to, '}');
}

/* Whether the line is of a version that this reader refuses. */
static bool has_other_version(const struct ndjson_line *line)
{
	const struct json_token *const t = &line->of[NDJSON_M_VERSION];
	uint64_t v;

	return ndjson_has(line, NDJSON_M_VERSION) && t->kind == JSON_UINT &&
	       !(ndjson_get_number(line, NDJSON_M_VERSION, UINT64_MAX, &v) && v == NDJSON_VERSION);
}

enum ndjson_type ndjson_restorable(const struct ndjson_reading *st, const struct ndjson_recovery *s)
{
	static const uint64_t of_head = BIT(VERSION) | BIT(TOOL) | BIT(MODE) | BIT(REBASED),
	                      of_end = BIT(RECORDS) | BIT(EVENTS) | BIT(LOSSES);
	const struct ndjson_line *const line = &st->line;
	const bool typeless = line->type == NDJSON_TYPES;

	if (!s->head && (line->type == NDJSON_TRACE || (typeless && (line->seen & of_head) != 0)))
		return has_other_version(line) ? NDJSON_TYPES : NDJSON_TRACE;
	if (!s->ended && !s->over &&
	    (line->type == NDJSON_TRACE_END || (typeless && (line->seen & of_end) != 0)))
		return NDJSON_TRACE_END;
	return NDJSON_TYPES;
}

bool ndjson_restore(struct ndjson_reading *st, const struct ndjson_recovery *s, enum ndjson_type type,
                    bool lost, struct text *to)
{
	static const struct ndjson_line nothing = { .seen = 0 };
	const struct ndjson_line *const line = lost ? &nothing : &st->line;

	text_clear(to);
	if (type == NDJSON_TRACE)
		put_head(to, line, st);
	else
		put_end(to, line, st->origin, s);
	st->r->no_memory |= to->failed;
	return !to->failed;
}

/* ---- lost lines ---- */

/* An event states the category of its class, perhaps escaped. */
void ndjson_put_class(struct text *to, const struct ndjson_reading *st, uint64_t index)
{
	const struct json_token *const t = &st->line.of[NDJSON_M_CATEGORY];
	const bool escaped = ndjson_has(&st->line, NDJSON_M_ESCAPED) &&
	                     ndjson_array_has(&st->line.of[NDJSON_M_ESCAPED], "category");
	struct slice category = slice_of(t->p, (size_t)(t->end - t->p));

	if (escaped || !ndjson_has(&st->line, NDJSON_M_CATEGORY))
		category = SLICE_LIT("\"unknown\"");
	text_printf(to, "{\"type\":\"class\",\"index\":%" PRIu64 ",\"name\":", index);
	text_slice(to, category);
	text_str(to, ",\"category\":");
	text_slice(to, category);
	text_char(to, '}');
}

/* An event states pid and tid.  A thread without a known process is written as a process. */
void ndjson_put_track(struct text *to, const struct ndjson_reading *st, const struct ndjson_recovery *s,
                      enum ndjson_member m, uint64_t index)
{
	const bool of_event = m == NDJSON_M_TRACK;
	uint64_t pid = 0, tid = 0;
	const bool has_pid = of_event && ndjson_get_number(&st->line, NDJSON_M_PID, UINT64_MAX, &pid);
	const bool has_tid = of_event && ndjson_get_number(&st->line, NDJSON_M_TID, UINT64_MAX, &tid);
	const uint32_t process = has_pid ? table64_get(&s->processes, pid) : TABLE_NONE;

	text_printf(to, "{\"type\":\"track\",\"index\":%" PRIu64 ",\"kind\":", index);
	if (has_tid && (process != TABLE_NONE || (!has_pid && s->has_unnumbered)))
		text_printf(to,
		            "\"thread\",\"name\":\"thread %" PRIu64 "\",\"id\":%" PRIu64
		            ",\"parent\":%" PRIu64 "}",
		            tid, tid, has_pid ? process : s->unnumbered);
	else if (has_tid)
		text_printf(to, "\"process\",\"name\":\"thread %" PRIu64 "\"}", tid);
	else if (has_pid && process == TABLE_NONE)
		text_printf(to, "\"process\",\"name\":\"process %" PRIu64 "\",\"id\":%" PRIu64 "}", pid, pid);
	else
		text_printf(to, "\"process\",\"name\":\"track %" PRIu64 "\"}", index);
}

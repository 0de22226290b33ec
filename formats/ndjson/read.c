#include "ndjson/read.h"

#include <stdarg.h>
#include <stdlib.h>

/*
 * One line at a time.  A line is looked at when all of it is in the window, so
 * nothing depends on where windows end; a line that cannot be read is left out,
 * and reading goes on with the next one.
 */

#define NEXT_BYTES (4u << 20) /* of input, until the engine looks around */

void
ndjson_report(struct ndjson_reading *st, enum ndjson_rule rule, const char *at, const char *fmt, ...)
{
	const struct input *const in = st->r->in;
	char text[600] = "";
	va_list ap;

	if (st->r->findings == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	finding_add_line(st->r->findings, &ndjson_rules[rule], input_offset(in, at), st->number,
	                 (uint64_t)(at - in->p) + 1, st->r->records + 1, "%s", text);
}

/* ---- lines ---- */

enum found { FOUND_LINE, FOUND_END, FOUND_TOO_LONG };

/* The end of the line at in->p, which is in the window then: behind its line feed, or that of the input. */
static enum found
find_line(struct ndjson_reading *st, const char **end)
{
	struct input *const in = st->r->in;

	for (;;) {
		const size_t n = (size_t)(in->end - in->p);
		const char *const from = in->p + st->scanned;
		const char *const feed = n > st->scanned ? memchr(from, '\n', n - st->scanned) : NULL;
		*end = feed != NULL ? feed + 1 : in->end;
		if ((size_t)(*end - in->p) > NDJSON_MAX_LINE)
			return FOUND_TOO_LONG;
		if (feed != NULL)
			return FOUND_LINE;
		st->scanned = n;
		if (!in->last && input_more(in))
			continue;
		*end = in->end;
		return n > 0 ? FOUND_LINE : FOUND_END;
	}
}

/* Drops what is in the window of a line that is too long. */
static void
drop(struct ndjson_reading *st)
{
	struct input *const in = st->r->in;
	const size_t n = (size_t)(in->end - in->p);
	const char *const feed = memchr(in->p, '\n', n);

	in->p = feed != NULL ? feed + 1 : in->end;
	st->scanned = 0;
	st->too_long = feed == NULL;
	if (feed != NULL)
		st->number++;
	else if (!in->last)
		input_more(in);
}

/* The line without what ends it. */
static const char *
text_end(const struct ndjson_reading *st, const char *end)
{
	const char *const p = st->r->in->p;

	if (end > p && end[-1] == '\n')
		end--;
	return end > p && end[-1] == '\r' ? end - 1 : end;
}

static bool
take(struct ndjson_reading *st, struct batch *b)
{
	if (st->has_end || (st->line.type == NDJSON_TRACE && (st->has_trace || st->number > 1))) {
		ndjson_report(st, NDJSON_RULE_UNEXPECTED_LINE, st->line.p,
		              st->has_end ? "a line of type %s behind the last one"
		                          : "a second line of type %s",
		              ndjson_type_words[st->line.type]);
		return false;
	}
	switch (st->line.type) {
	case NDJSON_TRACE:
		return ndjson_take_trace(st);
	case NDJSON_TRACK:
		return ndjson_take_track(st);
	case NDJSON_CLASS:
		return ndjson_take_class(st);
	case NDJSON_TRACE_END:
		return ndjson_take_end(st);
	default:
		return ndjson_take_event(st, b);
	}
}

/* The output that is made of the batch has tracks and classes before its events, as the input has them. */
static bool
waits(const struct ndjson_reading *st, const struct batch *b)
{
	return b->n > 0 && (st->r->want & WANT_RAW) == 0 &&
	       (st->line.type == NDJSON_TRACK || st->line.type == NDJSON_CLASS);
}

/* A line that was parsed before, and may lie elsewhere now. */
static bool
parse_quietly(struct ndjson_reading *st, const char *end)
{
	struct findings *const findings = st->r->findings;

	st->r->findings = NULL;
	const bool parsed = ndjson_parse(st, st->r->in->p, text_end(st, end));
	st->r->findings = findings;
	return parsed;
}

/* false: the line is for the next batch. */
static bool
one_line(struct ndjson_reading *st, struct batch *b, const char *end)
{
	struct reader *const r = st->r;
	struct input *const in = r->in;
	const size_t n = (size_t)(end - in->p);
	bool parsed = true;

	st->cut = end[-1] != '\n';
	if (st->has_trace && r->records == 0) { /* it was taken when the input was opened */
		parse_quietly(st, end);
	} else {
		parsed = st->waited ? parse_quietly(st, end) : ndjson_parse(st, in->p, text_end(st, end));
		st->waited = parsed && waits(st, b);
		if (st->waited)
			return false;
		parsed = parsed && take(st, b);
	}
	if (st->no_memory)
		return true;
	if ((r->want & WANT_RAW) != 0)
		ndjson_take_raw(st, b, parsed, n);
	r->records++;
	in->p = end;
	st->number++;
	st->scanned = 0;
	arena_reset(&st->scratch);
	return true;
}

static void
at_end(struct ndjson_reading *st)
{
	struct reader *const r = st->r;

	if (!st->has_end && !st->cut)
		ndjson_report(st, NDJSON_RULE_NO_END, r->in->p, "the input ends behind %" PRIu64 " lines",
		              r->records);
	ndjson_take_finish(st);
}

/* ---- the reader ---- */

/* The first line, so that the trace is known before its events. */
static bool
read_first(struct ndjson_reading *st)
{
	struct reader *const r = st->r;
	const char *end;

	if (find_line(st, &end) != FOUND_LINE)
		return true;
	st->cut = end[-1] != '\n';
	/* what is wrong with another line is reported when its turn comes */
	const bool parsed = parse_quietly(st, end);
	const bool is_trace = st->line.type == NDJSON_TRACE;
	if (!is_trace)
		ndjson_report(st, NDJSON_RULE_NO_TRACE, r->in->p, "the first line is %s",
		              st->line.type < NDJSON_TYPES ? ndjson_type_words[st->line.type]
		                                           : "something else");
	if (!is_trace || !parsed)
		return !st->no_memory;
	ndjson_parse(st, r->in->p, text_end(st, end)); /* with what is to be said of it */
	st->has_trace = ndjson_take_trace(st);
	return st->has_trace || r->findings == NULL;
}

static bool
ndjson_read_open(struct reader *r)
{
	struct ndjson_reading *const st = r->state;

	st->r = r;
	st->json = (struct json){ .lenient = true, .depth = JSON_MAX_DEPTH };
	st->number = 1;
	r->trace->dialect = "";
	r->trace->clock = "unknown";
	return read_first(st) && !st->no_memory;
}

static enum read_status
ndjson_next(struct reader *r, struct batch *b)
{
	struct ndjson_reading *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);
	const char *end;

	while (b->n < b->cap && input_offset(in, in->p) - start < NEXT_BYTES && !st->no_memory) {
		if (st->too_long) {
			drop(st);
			if (st->too_long && in->last && in->p == in->end)
				st->too_long = false;
			continue;
		}
		const enum found found = find_line(st, &end);
		if (found == FOUND_END) {
			at_end(st);
			return READ_END;
		}
		if (found == FOUND_TOO_LONG) {
			ndjson_report(st, NDJSON_RULE_LIMIT, in->p, "a line longer than 64 MiB");
			r->records++;
			st->too_long = true;
		} else if (!one_line(st, b, end)) {
			break;
		}
	}
	return st->no_memory ? READ_NO_MEMORY : READ_MORE;
}

static void
ndjson_close(struct reader *r)
{
	struct ndjson_reading *const st = r->state;

	ndjson_take_free(st);
	free(st->line.args.list);
	free(st->line.types.list);
	free(st->stack);
	arena_free(&st->scratch);
}

const struct reader_ops ndjson_reader_ops = {
	.state_size = sizeof(struct ndjson_reading),
	.common_suffix = true,
	.probe = ndjson_probe,
	.open = ndjson_read_open,
	.next = ndjson_next,
	.close = ndjson_close,
};

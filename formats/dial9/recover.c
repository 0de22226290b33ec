/*
 * Recovery: keeps intact frames, and corrects the count of a cut frame of entries.
 *
 * Frames do not state their length: after an unreadable frame, reading resumes at the next header, where
 * another segment begins and defines schemas and pools again.  A frame of entries is read when all of it, or
 * --max-record bytes, is in the window.
 */
#include "dial9/dial9.h"

#define SEARCHED_BYTES (1U << 20)

static const char *const structure[] = {
	"dial9/cut-frame",
	"dial9/bad-magic",
	"dial9/bad-version",
	"dial9/unknown-tag",
	"dial9/event-before-schema",
	"dial9/unknown-field-type",
	"dial9/optional-unknown-type",
	"dial9/has-timestamp",
	"dial9/unknown-element-type",
	"dial9/presence-byte",
	"dial9/leb128-too-long",
	"dial9/length-past-end",
	NULL,
};

/* ---- headers of segments ---- */

/* Returns the first header that begins at p or after it, and before `end`; else `end`. */
static const char *next_header(const char *p, const char *end)
{
	static const char header[D9_HEADER_SIZE] = { D9_MAGIC[0], D9_MAGIC[1], D9_MAGIC[2], 0, D9_VERSION };

	for (; end - p >= D9_HEADER_SIZE; p++) {
		p = memchr(p, header[0], (size_t)(end - p) - D9_HEADER_SIZE + 1);
		if (p == NULL || memcmp(p, header, sizeof header) == 0)
			break;
	}
	return p != NULL && end - p >= D9_HEADER_SIZE ? p : end;
}

/* ---- frames of entries ---- */

/* The complete part of a frame of pool entries or annotations. */
struct entries {
	uint32_t count_at, count_size; /* offset of the count in the frame, its bytes */
	uint32_t count, whole;         /* the stated count; number of complete entries */
	size_t size;                   /* bytes of the frame up to the end of the complete entries */
	bool more;                     /* further bytes may complete it */
	bool damaged;                  /* the next entry reaches into another segment */
};

/* Reads the head: tag, the type_id of annotations, count. */
static bool read_head(struct entries *e, const char *p, const char *end)
{
	const bool annotations = *p == D9_TAG_ANNOTATIONS;
	uint32_t at = 1;

	while (annotations && at <= D9_VARINT_MAX && p + at < end && (unsigned char)p[at] >= 0x80)
		at++;
	at += annotations;
	e->count_at = at;
	e->count_size = annotations ? 2 : 4;
	e->more = at <= D9_VARINT_MAX + 1;
	if (!e->more || (size_t)(end - p) < at + e->count_size)
		return false;
	e->count = annotations ? load_u16(p + at, false) : load_u32(p + at, false);
	e->size = at + e->count_size;
	return true;
}

/* Returns the size of the entry at p; 0: it is not complete. */
static uint64_t entry_size(uint8_t tag, const char *p, const char *end)
{
	const size_t left = (size_t)(end - p);
	uint64_t n;

	if (tag != D9_TAG_ANNOTATIONS) {
		n = left < D9_ENTRY_HEAD
		        ? 0
		        : D9_ENTRY_HEAD + (uint64_t)load_u32(p + 4, false) * (tag == D9_TAG_STRINGS ? 1 : 8);
	} else {
		const size_t key = left < 4 ? 0 : load_u16(p + 2, false);
		n = left < 4 + key + 4 ? 0 : 4 + key + 4 + (uint64_t)load_u32(p + 4 + key, false);
	}
	return n <= left ? n : 0;
}

/* Whether the entry of n bytes at p reaches into another segment: has a header, and is not UTF-8. */
static bool holds_segment(uint8_t tag, const char *p, uint64_t n)
{
	const size_t head = tag == D9_TAG_ANNOTATIONS ? 4 /* field_index, key_len */ : D9_ENTRY_HEAD;
	const char *const content = p + head;
	const char *const end = p + n;

	return next_header(content, end) < end && !utf8_valid(content, (size_t)(end - content));
}

/* Walks over the frame at p without reading the content of its entries.  Returns false if the head is
 * incomplete or damaged. */
static bool walk_entries(struct entries *e, const char *p, const char *end)
{
	*e = (struct entries){ .size = 0 };
	if (!read_head(e, p, end))
		return false;
	while (e->whole < e->count) {
		const uint64_t n = entry_size((uint8_t)*p, p + e->size, end);
		e->damaged = n > 0 && holds_segment((uint8_t)*p, p + e->size, n);
		if (n == 0 || e->damaged)
			break;
		e->size += (size_t)n;
		e->whole++;
	}
	e->more = e->whole < e->count;
	return true;
}

bool d9_has_entries(char tag)
{
	return tag == D9_TAG_STRINGS || tag == D9_TAG_STACKS || tag == D9_TAG_ANNOTATIONS;
}

/* Keeps the complete entries of a frame that is cut, and corrects its count. */
static void repair_count(struct recovery *rc, const struct entries *e)
{
	const char *const p = rc->r->in->p;
	char count[4];

	store_uint(count, e->whole, sizeof count, false);
	recover_keep(rc, p + e->count_at);
	recover_replace(rc, p + e->count_at + e->count_size, count, e->count_size,
	                &d9_rules[D9_RULE_CUT_FRAME],
	                "count %" PRIu32 ", but %" PRIu32 " entries are complete", e->count, e->whole);
	recover_keep(rc, p + e->size);
	rc->r->in->p += e->size;
	rc->records += e->whole;
}

enum record_status d9_entries_status(const struct reader *r)
{
	const struct input *const in = r->in;
	struct entries e;
	const bool head = walk_entries(&e, in->p, in->end);

	if (!e.more)
		return RECORD_DONE;
	if (!e.damaged && !in->last) /* a longer frame is read entry by entry: its count cannot be repaired */
		return (uint64_t)(in->end - in->p) < r->max_record ? RECORD_MORE : RECORD_DONE;
	return head ? RECORD_BAD : RECORD_DONE; /* the reader reports the head */
}

/* ---- the loop of the engine ---- */

/* Drops schemas whose events cannot be read.  A schema with a damaged length may reach into another segment:
 * reading continues there. */
static void check_schema(struct recovery *rc, const struct record *rec)
{
	const struct d9_state *const st = rc->r->state;

	if (rec->cls != st->frames[D9_TAG_SCHEMA] || st->schema->readable)
		return;
	const char *const to = next_header(rec->p, rec->end);
	recover_keep(rc, rec->p);
	recover_drop_for(rc, to, &d9_rules[D9_RULE_UNKNOWN_FIELD_TYPE],
	                 "a schema whose events cannot be read");
	rc->r->in->p = to;
	rc->records--; /* the engine counts it */
}

/* Keeps the complete entries of a cut frame. */
static bool keep_entries(struct recovery *rc, enum record_status status)
{
	const struct d9_state *const st = rc->r->state;
	const struct input *const in = rc->r->in;
	struct entries e;

	if (status != RECORD_BAD || !st->begun || !d9_has_entries(*in->p) ||
	    !walk_entries(&e, in->p, in->end) || !e.more)
		return true;
	recover_keep(rc, in->p);
	if (e.whole > 0)
		repair_count(rc, &e);
	recover_drop_for(rc, in->p, &d9_rules[D9_RULE_CUT_FRAME],
	                 e.damaged ? "the length of an entry reaches into another segment"
	                           : "the input ends inside an entry");
	rc->lost = true;
	return false;
}

/* Finds the next header. */
static bool find_header(struct recovery *rc)
{
	struct input *const in = rc->r->in;

	if (!input_need(in, D9_HEADER_SIZE)) {
		in->p = in->end;
		return false;
	}
	const char *const end =
	    in->end - in->p > (ptrdiff_t)SEARCHED_BYTES ? in->p + SEARCHED_BYTES : in->end;
	const char *const found = next_header(in->p, end);
	in->p = found < end ? found : end - D9_HEADER_SIZE + 1; /* a header may begin in the last bytes */
	return found < end;
}

const struct recover_ops d9_recover_ops = {
	.structure = structure,
	.resync = find_header,
	.record = check_schema,
	.keep = keep_entries,
};

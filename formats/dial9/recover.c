/*
 * Recovery: keeps intact frames, and repairs the count of frames of entries that are cut.
 *
 * Frames have no lengths: after one that cannot be read, the next is known only where a header begins
 * another segment, which defines schemas and pools again.  Plain events pass at the speed of a check.
 * Memory is the window, at most LARGEST_FRAME for a frame of entries.
 */
#include "dial9/dial9.h"

#define LARGEST_FRAME (64U << 20) /* bytes of a frame of entries that are held at a time */

struct d9_recover {
	bool searching;    /* for the next header */
	uint64_t pool_end; /* frames of entries before this offset are complete */
};

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
	"dial9/nesting",
	"dial9/presence-byte",
	"dial9/leb128-too-long",
	"dial9/length-past-end",
	NULL,
};

/* ---- frames of entries ---- */

/* The complete part of a frame of pool entries or annotations. */
struct entries {
	uint32_t count_at, count_size; /* offset of the count in the frame, its bytes */
	uint32_t count, whole;         /* the count; entries that are complete */
	size_t size;                   /* bytes of the frame up to the end of these */
	bool large;                    /* some entry is larger than the reader accepts */
	bool more;                     /* further bytes may complete it */
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

/* The size of the entry at p; 0: it is not complete. */
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

/* Walks over the frame at p without reading the content of its entries.  *e is zeroed, or has the result for
 * fewer bytes.  Returns false if the head is incomplete or damaged. */
static bool walk_entries(struct entries *e, const char *p, const char *end)
{
	if (e->size == 0 && !read_head(e, p, end))
		return false;
	while (e->whole < e->count) {
		const uint64_t n = entry_size((uint8_t)*p, p + e->size, end);
		if (n == 0)
			break;
		e->large |= n > D9_MAX_FRAME / 2;
		e->size += (size_t)n;
		e->whole++;
	}
	e->more = e->whole < e->count;
	return true;
}

static bool has_entries(char tag)
{
	return tag == D9_TAG_STRINGS || tag == D9_TAG_STACKS || tag == D9_TAG_ANNOTATIONS;
}

/* Keeps the complete entries of a frame that is cut, and corrects its count. */
static void repair_count(struct recovery *rc, const struct entries *e)
{
	const char *const p = rc->r->in->p;
	const char count[4] = { (char)e->whole, (char)(e->whole >> 8), (char)(e->whole >> 16),
		                (char)(e->whole >> 24) };

	recover_keep(rc, p + e->count_at);
	recover_replace(rc, p + e->count_at + e->count_size, count, e->count_size,
	                &d9_rules[D9_RULE_CUT_FRAME],
	                "count %" PRIu32 ", but %" PRIu32 " entries are complete", e->count, e->whole);
	recover_keep(rc, p + e->size);
	rc->r->in->p += e->size;
	rc->records += e->whole;
}

/* A frame of entries at the start of the window: leaves it to the reader if it is complete and no entry is
 * too large, else keeps it, or what is complete of it, here. */
static void recover_entries(struct recovery *rc)
{
	struct d9_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	struct entries e = { .size = 0 };
	bool head;

	while (!(head = walk_entries(&e, in->p, in->end)) || e.more)
		if (!e.more || in->last || (size_t)(in->end - in->p) > LARGEST_FRAME || !input_more(in))
			break;
	s->pool_end = rc->at + e.size;
	if (!head || (!e.more && !e.large))
		return; /* the reader reports the head */
	if (!e.more) {
		recover_keep(rc, in->p + e.size);
		in->p += e.size;
		rc->records += e.whole;
		return;
	}
	if (e.whole > 0)
		repair_count(rc, &e);
	s->searching = true;
	recover_drop_for(rc, in->p, &d9_rules[D9_RULE_CUT_FRAME],
	                 in->last ? "the input ends inside an entry" : "the frame is longer than 64 MiB");
}

/* ---- searching ---- */

/* Drops bytes up to a header, or D9_NEXT_BYTES.  Returns false at the end of the input. */
static bool search_header(struct recovery *rc)
{
	static const char header[D9_HEADER_SIZE] = { D9_MAGIC[0], D9_MAGIC[1], D9_MAGIC[2], 0, D9_VERSION };
	struct d9_recover *const s = rc->state;
	struct input *const in = rc->r->in;

	if (!input_need(in, D9_HEADER_SIZE)) {
		in->p = in->end;
		recover_drop(rc, in->p);
		return false;
	}
	const char *const end = in->end - D9_HEADER_SIZE + 1;
	const char *const limit = end - in->p > (ptrdiff_t)D9_NEXT_BYTES ? in->p + D9_NEXT_BYTES : end;
	const char *p = in->p;
	while (p < limit && (p = memchr(p, header[0], (size_t)(limit - p))) != NULL &&
	       memcmp(p, header, sizeof header) != 0)
		p++;
	in->p = p != NULL ? p : limit;
	s->searching = in->p == limit;
	recover_drop(rc, in->p);
	return true;
}

static void begin_search(struct recovery *rc)
{
	struct d9_state *const st = rc->r->state;
	struct d9_recover *const s = rc->state;

	st->open.left = 0;
	s->searching = true;
	recover_drop(rc, ++rc->r->in->p);
}

/* ---- all frames ---- */

/* Returns whether a frame that was just read is no schema, or one whose events can be read. */
static bool is_readable_schema(const struct d9_state *st, const char *p)
{
	const struct d9_schema *const s =
	    *p == D9_TAG_SCHEMA ? d9_schema_find(&st->schemas, load_u16(p + 1, false)) : NULL;

	return s == NULL || s->readable;
}

/* Reads a frame, or entry, at the start of the window. */
static void recover_frame(struct recovery *rc)
{
	struct d9_state *const st = rc->r->state;
	struct input *const in = rc->r->in;
	const char *const p = in->p;
	const bool inside = st->open.left > 0;

	switch (d9_next_frame(st, NULL)) {
	case D9_MORE:
		input_more(in);
		return;
	case D9_BAD:
		begin_search(rc);
		return;
	case D9_DONE:
		break;
	}
	if (st->no_memory)
		return;
	if (inside || is_readable_schema(st, p)) {
		recover_keep(rc, in->p);
		rc->records++;
	} else {
		recover_drop_for(rc, in->p, &d9_rules[D9_RULE_UNKNOWN_FIELD_TYPE],
		                 "a schema whose events cannot be read");
	}
}

static enum read_status recover_batch(struct recovery *rc)
{
	struct d9_state *const st = rc->r->state;
	struct d9_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const uint64_t start = rc->at;

	st->resumes = true;
	while (rc->at - start < D9_NEXT_BYTES && !st->no_memory) {
		if (in->p == in->end && (in->last || !input_more(in)))
			return READ_END;
		if (s->searching) {
			if (!search_header(rc))
				return READ_END;
			continue;
		}
		if (st->begun && st->open.left == 0) {
			rc->records += d9_check_run(st, 16384);
			recover_keep(rc, in->p);
			if (in->p == in->end)
				continue;
			if (has_entries(*in->p) && rc->at >= s->pool_end) {
				recover_entries(rc);
				if (s->searching || in->p == in->end)
					continue;
			}
		}
		recover_frame(rc);
	}
	return st->no_memory ? READ_NO_MEMORY : READ_MORE;
}

const struct recover_ops d9_recover_ops = {
	.state_size = sizeof(struct d9_recover),
	.structure = structure,
	.next = recover_batch,
};

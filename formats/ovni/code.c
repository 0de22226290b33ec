#include "ovni/code.h"

#include <stdlib.h>

#include "base/glob.h"

void
ovni_codes_free(struct ovni_codes *c)
{
	free(c->list);
	table64_free(&c->index);
}

const char *
ovni_model_name(unsigned char model)
{
	static const char names[][8] = { "Oovni",   "6nanos6", "Vnosv",  "Dnodes",
		                         "Popenmp", "Mmpi",    "Ttampi", "Kkernel" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if ((unsigned char)names[i][0] == model)
			return names[i] + 1;
	return NULL;
}

/* The bytes as text; those that are not printable as \xNN. */
static struct slice
code_text(char *to, size_t cap, const unsigned char *p, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(to + used, cap - used,
		                         p[i] >= 0x20 && p[i] < 0x7f ? "%c" : "\\x%02x", p[i]);
	return textscan_slice(to, (uint32_t)used);
}

static struct class *
add_class(struct reader *r, struct class like)
{
	if ((r->want & WANT_RAW) != 0)
		ovni_raw_declare(&like);
	return trace_plan_class(r->trace, &like);
}

/* Codes beyond the bound share one class. */
static struct ovni_code *
other_codes(struct ovni_codes *c, struct reader *r, struct slice text, uint64_t offset)
{
	struct quoted q;

	if (c->others.cls == NULL) {
		finding_add(r->findings, &ovni_rules[OVNI_RULE_LIMIT], offset, r->records,
		            "event code %s exceeds the limit of %u different codes: further codes are "
		            "counted together",
		            quoted(&q, text), OVNI_MAX_CODES);
		c->others.cls = add_class(r, (struct class){ .name = SLICE_LIT("other codes") });
	}
	return c->others.cls != NULL ? &c->others : NULL;
}

/* ---- plans ---- */

/* Jumbo events have flags, all but the smallest a payload. */
static bool
has_field(const void *ctx, struct slice name)
{
	(void)ctx;
	return slice_is(name, "flags") || slice_is(name, "payload");
}

const struct plan *
ovni_class_plan(const struct class *cls)
{
	const struct plan *m = cls->plan;

	while (m != NULL && m->named.p != NULL && !glob_fits(m->named, cls->name))
		m = m->otherwise;
	return m != NULL ? plan_shape(m) : NULL;
}

/* Words for the reader: "old", and "old-size", the payload of an older release that "old-name" names. */
static void
find_words(struct ovni_code *c)
{
	c->plan = ovni_class_plan(c->cls);
	if (c->plan == NULL)
		return;
	c->jumbo = slice_is(plan_word(c->plan, "jumbo"), "true");
	c->old = plan_word(c->plan, "old").p != NULL;
	const struct slice size = plan_word(c->plan, "old-size");
	if (size.p != NULL && size.n == 1 && size.p[0] >= '0' && size.p[0] <= '9')
		c->old_size = (int8_t)(size.p[0] - '0');
}

/* ---- looking up ---- */

static struct ovni_code *
add_code(struct ovni_codes *codes, struct reader *r, uint32_t bytes, struct slice text)
{
	const unsigned char model = (unsigned char)(bytes >> 8);
	const char *const name = ovni_model_name(model);
	char hex[8];

	if (!array_room(&codes->list, codes->n, &codes->cap, sizeof *codes->list))
		return NULL;
	struct ovni_code *const c = &codes->list[codes->n];
	*c = (struct ovni_code){ .bytes = bytes, .old_size = -1 };
	c->cls = add_class(
	    r, (struct class){ .name = text,
	                       .category = name != NULL ? textscan_slice(name, (uint32_t)strlen(name))
	                                                : code_text(hex, sizeof hex, &model, 1),
	                       .plan = trace_find_plan(r->trace, text, has_field, NULL) });
	if (c->cls == NULL)
		return NULL;
	find_words(c);
	return table64_put(&codes->index, bytes, codes->n++) ? c : NULL;
}

struct ovni_code *
ovni_code_find(struct ovni_codes *codes, struct reader *r, uint32_t word, uint64_t offset)
{
	const uint32_t bytes = word & 0xffffff00U;
	uint16_t *const recent = &codes->recent[(bytes * 0x9e3779b1U) >> (32 - OVNI_RECENT_BITS)];
	const unsigned char mcv[3] = { (unsigned char)(word >> 8), (unsigned char)(word >> 16),
		                       (unsigned char)(word >> 24) };
	char text[16];

	if (*recent < codes->n && codes->list[*recent].bytes == bytes)
		return &codes->list[*recent];
	const uint32_t known = table64_get(&codes->index, bytes);
	if (known != TABLE_NONE) {
		*recent = (uint16_t)known;
		return &codes->list[known];
	}
	const struct slice name = code_text(text, sizeof text, mcv, 3);
	if (codes->n >= OVNI_MAX_CODES)
		return other_codes(codes, r, name, offset);
	return add_code(codes, r, bytes, name);
}

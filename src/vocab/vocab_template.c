#include "base/textscan.h"
#include "vocab/vocab_state.h"

/* Texts with references in them: "poll {spawn_loc}", "{type,value|label}". */

static struct slice
trim(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	return slice_of(p, (size_t)(end - p));
}

/* Where the word ends: at one of these bytes. */
static const char *
word_end(const char *p, const char *end, char a, char b)
{
	while (p < end && *p != a && *p != b)
		p++;
	return p;
}

static bool
take_fields(struct vocab_draft *d, const struct yaml_node *at, const char *p, const char *end,
            struct plan_ref *out)
{
	struct quoted q;

	for (;; p++) {
		const char *const to = word_end(p, end, ',', ',');
		const struct slice name = trim(p, to);
		if (name.n == 0 || out->nfields == 2) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "%s in {%.*s}",
			          name.n == 0 ? "a field has no name" : "there are more than two fields",
			          (int)(end - p > 60 ? 60 : end - p), p);
			return false;
		}
		if (memchr(name.p, '{', name.n) != NULL) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "the brace in %s is not closed",
			          quoted(&q, at->text));
			return false;
		}
		out->field[out->nfields] = vocab_copy(d, name);
		out->none[out->nfields] = vocab_none_of(d, name);
		if (out->field[out->nfields++].p == NULL)
			return false;
		if ((p = to) == end)
			return true;
	}
}

/* What stands between the braces. */
static bool
take_ref(struct vocab_draft *d, const struct yaml_node *at, const char *p, const char *end,
         struct plan_ref *out)
{
	const char *to = word_end(p, end, '|', '|');

	*out = (struct plan_ref){ .nfields = 0 };
	if (!take_fields(d, at, p, to, out))
		return false;
	while (to < end) {
		p = to + 1;
		to = word_end(p, end, '|', '|');
		if (out->ntables == sizeof out->tables) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "a value is looked up in %zu tables at most",
			          sizeof out->tables);
			return false;
		}
		if (!vocab_table(d, at, trim(p, to), &out->tables[out->ntables]))
			return false;
		out->ntables++;
	}
	if (out->nfields < 2 || out->ntables > 0)
		return true;
	vocab_say(d, VOCAB_RULE_BAD_VALUE, at,
	          "two fields are a key: name the table to look it up in, as in {a,b|table}");
	return false;
}

struct parts {
	struct plan_part part[PLAN_MAX_PARTS];
	uint32_t n;
	char *text; /* of the present part */
	uint32_t ntext;
};

/* Ends the present part, with a reference or without. */
static bool
end_part(struct vocab_draft *d, const struct yaml_node *at, struct parts *t, const struct plan_ref *ref)
{
	if (t->n == PLAN_MAX_PARTS) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, at, "there are more than %d references in one text",
		          PLAN_MAX_PARTS - 1);
		return false;
	}
	struct plan_part *const part = &t->part[t->n++];
	*part = (struct plan_part){ .text = textscan_slice(t->text, t->ntext) };
	if (ref != NULL)
		part->ref = *ref;
	t->text += t->ntext;
	t->ntext = 0;
	return true;
}

static bool
take_parts(struct vocab_draft *d, const struct yaml_node *node, struct parts *t)
{
	const char *p = node->text.p, *const end = p + node->text.n;
	struct plan_ref ref;
	struct quoted q;

	while (p < end) {
		const char c = *p++;
		if (c != '{' && c != '}') {
			t->text[t->ntext++] = c;
		} else if (p < end && *p == c) {
			t->text[t->ntext++] = *p++;
		} else if (c == '}') {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, node,
			          "a } without its { in %s; a brace itself is }}", quoted(&q, node->text));
			return false;
		} else {
			const char *const to = word_end(p, end, '}', '}');
			if (to == end) {
				vocab_say(d, VOCAB_RULE_BAD_VALUE, node,
				          "the brace in %s is not closed; a brace itself is {{",
				          quoted(&q, node->text));
				return false;
			}
			if (!take_ref(d, node, p, to, &ref) || !end_part(d, node, t, &ref))
				return false;
			p = to + 1;
		}
	}
	return (t->ntext == 0 && t->n > 0) || end_part(d, node, t, NULL);
}

bool
vocab_template(struct vocab_draft *d, const struct yaml_node *node, const char *what,
               struct plan_template *out)
{
	struct parts t = { .n = 0 };
	struct slice ignored;

	if (!vocab_text(d, node, what, &ignored) || (t.text = vocab_alloc(d, 1, node->text.n)) == NULL ||
	    !take_parts(d, node, &t))
		return false;
	struct plan_part *const parts = vocab_alloc(d, t.n, sizeof *parts);
	if (parts == NULL)
		return false;
	memcpy(parts, t.part, t.n * sizeof *parts);
	*out = (struct plan_template){ parts, t.n };
	return true;
}

bool
vocab_ref(struct vocab_draft *d, const struct yaml_node *node, const char *what, bool only_one,
          struct plan_ref *out)
{
	struct plan_template t;
	struct slice field;

	if (!vocab_text(d, node, what, &field))
		return false;
	*out = (struct plan_ref){ .nfields = 0 };
	if (field.p[0] != '{') {
		out->field[0] = field;
		out->none[0] = vocab_none_of(d, field);
		out->nfields = 1;
		return true;
	}
	if (!vocab_template(d, node, what, &t))
		return false;
	if (t.nparts != 1 || t.parts[0].text.n > 0 || t.parts[0].ref.nfields == 0) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s is a field or one {reference}", what);
		return false;
	}
	*out = t.parts[0].ref;
	if (!only_one || out->nfields == 1)
		return true;
	vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "%s takes one field, not two", what);
	return false;
}

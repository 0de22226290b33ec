/* Values of the language: texts, keywords, tables, and templates.  A template is a text with references in
 * braces ("poll {spawn_loc}", "{type,value|label}").  Mistakes become findings with a line and a column.
 * Reading continues after a mistake, so one run reports all mistakes of a file. */
#include "vocab/private.h"

#include <stdio.h>

#include "base/match.h"
#include "base/scan.h"

_Static_assert((int)VOCAB_RULE_UNREADABLE == (int)YAML_UNREADABLE &&
                   (int)VOCAB_RULE_BAD_VALUE == (int)YAML_BAD_VALUE,
               "the rules are in the order of enum yaml_mistake");

void *vocab_alloc(struct vocab_draft *d, size_t n, size_t size)
{
	void *const p = arena_zalloc(&d->v->arena, n, size);

	d->file.no_memory |= p == NULL;
	return p;
}

static struct slice copy_text(struct vocab_draft *d, struct slice s)
{
	const char *const present = tabletext_key(&d->v->texts, s);
	const struct slice copy =
	    present != NULL ? (struct slice){ present, s.n, s.flags } : arena_copy(&d->v->arena, s);

	d->file.no_memory |= copy.p == NULL || (present == NULL && !tabletext_put(&d->v->texts, copy, 0));
	return copy;
}

bool vocab_text(struct vocab_draft *d, const struct yaml_node *node, const char *what, void *text)
{
	struct slice *const out = text;

	if (!yaml_is_text(&d->file, node, what))
		return false;
	*out = copy_text(d, node->text);
	return out->p != NULL;
}

bool vocab_texts(struct vocab_draft *d, const struct yaml_node *node, const char *what, void *to)
{
	struct slice *const texts = vocab_alloc(d, yaml_count(node), sizeof *texts);
	uint32_t i = 0;

	if (texts == NULL)
		return false;
	if (yaml_count(node) == 0)
		return yaml_bad(&d->file, node, "%s is an empty list", what);
	for (const struct yaml_node *item = yaml_first(node); item != NULL; item = yaml_after(node, item))
		if (vocab_text(d, item, what, &texts[i]))
			i++;
	*(struct vocab_texts *)to = (struct vocab_texts){ texts, i };
	return i > 0;
}

bool vocab_name_number(struct vocab_draft *d, struct tabletext *names, const struct yaml_node *node,
                       const char *what, uint16_t *out, struct slice *text)
{
	if (!vocab_text(d, node, what, text))
		return false;
	uint32_t number = tabletext_get(names, *text);
	if (number == TABLE_NONE) {
		if (d->v->nwords == VOCAB_MAX_WORDS)
			return yaml_bad(&d->file, node,
			                "pairs and states have more than %u different words in all",
			                VOCAB_MAX_WORDS);
		number = d->v->nwords + 1;
		if (note_failure(&d->file.no_memory, !tabletext_put(names, *text, number)))
			return false;
		d->v->nwords++;
	}
	*out = (uint16_t)number;
	return true;
}

bool vocab_table(struct vocab_draft *d, const struct yaml_node *at, struct slice name, uint8_t *out)
{
	char typed[64];
	struct nearest near = { .typed = typed };
	struct quoted q, r;

	snprintf(typed, sizeof typed, "%.*s", name.n > 63 ? 63 : (int)name.n, name.p);
	for (uint32_t i = 0; i < d->ntables; i++) {
		const struct slice *const table = &d->v->tables[d->tables[i]];
		if (slice_equal(*table, name)) {
			*out = d->tables[i];
			return true;
		}
		nearest_add(&near, table->p);
	}
	if (near.name != NULL)
		return yaml_bad(&d->file, at, "tables does not declare %s; is it %s?", quoted(&q, name),
		                quoted(&r, slice_str(near.name)));
	return yaml_bad(&d->file, at, "tables does not declare %s", quoted(&q, name));
}

bool vocab_map(struct vocab_draft *d, const struct yaml_node *node, const char *what,
               const struct vocab_key *keys, size_t nkeys, void *into)
{
	const struct yaml_node *values[VOCAB_MAX_KEYS];

	if (!yaml_keys(&d->file, node, what, &keys[0].name, sizeof keys[0], nkeys, values))
		return false;
	for (size_t i = 0; i < nkeys; i++)
		if (values[i] != NULL)
			keys[i].read(d, values[i], keys[i].name, (char *)into + keys[i].at);
	return true;
}

/* ---- templates ---- */

static struct slice trim(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	return slice_of(p, (size_t)(end - p));
}

/* Returns the first `stop` from p on, or `end`. */
static const char *find_char(const char *p, const char *end, char stop)
{
	const char *const at = memchr(p, stop, (size_t)(end - p));

	return at != NULL ? at : end;
}

static bool read_ref_fields(struct vocab_draft *d, const struct yaml_node *at, const char *p, const char *end,
                            struct plan_ref *out)
{
	struct quoted q;

	for (;; p++) {
		const char *const to = find_char(p, end, ',');
		const struct slice name = trim(p, to);
		if (name.n == 0 || out->nfields == 2)
			return yaml_bad(&d->file, at, "%s in {%.*s}",
			                name.n == 0 ? "a field has no name"
			                            : "there are more than two fields",
			                (int)(end - p > 60 ? 60 : end - p), p);
		if (memchr(name.p, '{', name.n) != NULL)
			return yaml_bad(&d->file, at, "the brace in %s is not closed", quoted(&q, at->text));
		out->field[out->nfields] = copy_text(d, name);
		out->none[out->nfields] = vocab_none_of(d, name);
		if (out->field[out->nfields++].p == NULL)
			return false;
		if ((p = to) == end)
			return true;
	}
}

/* Parses the text between the braces: fields, and tables to look them up in. */
static bool read_ref(struct vocab_draft *d, const struct yaml_node *at, const char *p, const char *end,
                     struct plan_ref *out)
{
	const char *to = find_char(p, end, '|');

	*out = (struct plan_ref){ .nfields = 0 };
	if (!read_ref_fields(d, at, p, to, out))
		return false;
	while (to < end) {
		p = to + 1;
		to = find_char(p, end, '|');
		if (out->ntables == sizeof out->tables)
			return yaml_bad(&d->file, at, "a value is looked up in %zu tables at most",
			                sizeof out->tables);
		if (!vocab_table(d, at, trim(p, to), &out->tables[out->ntables]))
			return false;
		out->ntables++;
	}
	if (out->nfields < 2 || out->ntables > 0)
		return true;
	return yaml_bad(&d->file, at,
	                "two fields are a key: name the table to look it up in, as in {a,b|table}");
}

/* A template while it is parsed. */
struct template_draft {
	struct plan_part part[PLAN_MAX_PARTS];
	uint32_t n;
	char *text;     /* of the current part */
	uint32_t ntext; /* bytes of it */
};

/* Ends the current part.  ref: the reference that follows its text; NULL at the end of the template. */
static bool end_part(struct vocab_draft *d, const struct yaml_node *at, struct template_draft *t,
                     const struct plan_ref *ref)
{
	if (t->n == PLAN_MAX_PARTS)
		return yaml_bad(&d->file, at, "there are more than %d references in one text",
		                PLAN_MAX_PARTS - 1);
	struct plan_part *const part = &t->part[t->n++];
	*part = (struct plan_part){ .text = textscan_slice(t->text, t->ntext) };
	if (ref != NULL)
		part->ref = *ref;
	t->text += t->ntext;
	t->ntext = 0;
	return true;
}

static bool read_template_parts(struct vocab_draft *d, const struct yaml_node *node, struct template_draft *t)
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
			return yaml_bad(&d->file, node, "a } without its { in %s; a brace itself is }}",
			                quoted(&q, node->text));
		} else {
			const char *const to = find_char(p, end, '}');
			if (to == end)
				return yaml_bad(&d->file, node,
				                "the brace in %s is not closed; a brace itself is {{",
				                quoted(&q, node->text));
			if (!read_ref(d, node, p, to, &ref) || !end_part(d, node, t, &ref))
				return false;
			p = to + 1;
		}
	}
	return (t->ntext == 0 && t->n > 0) || end_part(d, node, t, NULL);
}

bool vocab_template(struct vocab_draft *d, const struct yaml_node *node, const char *what,
                    struct plan_template *out)
{
	struct template_draft t = { .n = 0 };
	struct slice ignored;

	if (!vocab_text(d, node, what, &ignored) || (t.text = vocab_alloc(d, 1, node->text.n)) == NULL ||
	    !read_template_parts(d, node, &t))
		return false;
	struct plan_part *const parts = vocab_alloc(d, t.n, sizeof *parts);
	if (parts == NULL)
		return false;
	memcpy(parts, t.part, t.n * sizeof *parts);
	*out = (struct plan_template){ parts, t.n };
	return true;
}

bool vocab_ref(struct vocab_draft *d, const struct yaml_node *node, const char *what, void *ref)
{
	struct plan_ref *const out = ref;
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
	if (t.nparts != 1 || t.parts[0].text.n > 0 || t.parts[0].ref.nfields == 0)
		return yaml_bad(&d->file, node, "%s is a field or one {reference}", what);
	*out = t.parts[0].ref;
	return true;
}

bool vocab_templates(struct vocab_draft *d, const struct yaml_node *value, const char *what,
                     const struct plan_template **out, uint32_t *n)
{
	struct plan_template *const all = vocab_alloc(d, yaml_count(value), sizeof *all);

	if (all == NULL)
		return false;
	*out = all;
	for (const struct yaml_node *item = yaml_first(value); item != NULL; item = yaml_after(value, item))
		if (vocab_template(d, item, what, &all[*n]))
			++*n;
	return yaml_count(value) > 0 || yaml_bad(&d->file, value, "%s is an empty list", what);
}

#include "yaml/yaml_node.h"

#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

#include "base/textscan.h"

struct nodes {
	struct arena *arena;
	struct slice text;
	struct yaml_node_error *error;
	struct yaml_node *root;
	struct yaml_node *open[YAML_MAX_DEPTH]; /* lists and mappings that have not ended */
	struct yaml_node *last[YAML_MAX_DEPTH]; /* the newest child of each */
	uint32_t depth, n;
};

__attribute__((format(printf, 3, 4))) static bool
fail(struct nodes *t, yaml_mark_t at, const char *fmt, ...)
{
	va_list ap;

	t->error->line = (uint32_t)at.line + 1;
	t->error->column = (uint32_t)at.column + 1;
	va_start(ap, fmt);
	vsnprintf(t->error->text, sizeof t->error->text, fmt, ap);
	va_end(ap);
	return false;
}

/* A node where the parser is, hung into the tree.  NULL: no memory, or one too many. */
static struct yaml_node *
add_node(struct nodes *t, enum yaml_node_kind kind, const yaml_event_t *e)
{
	struct yaml_node *const node = arena_zalloc(t->arena, 1, sizeof *node);

	if (node == NULL)
		return NULL;
	if (t->n++ == YAML_MAX_NODES) {
		fail(t, e->start_mark, "the file holds more than %u values", YAML_MAX_NODES);
		return NULL;
	}
	node->kind = (uint8_t)kind;
	node->line = (uint32_t)e->start_mark.line + 1;
	node->column = (uint32_t)e->start_mark.column + 1;
	if (t->depth == 0) {
		t->root = node;
		return node;
	}
	struct yaml_node **const last = &t->last[t->depth - 1], *const parent = t->open[t->depth - 1];
	if (*last == NULL)
		parent->child = node;
	else
		(*last)->next = node;
	*last = node;
	parent->n++;
	return node;
}

static bool
open_node(struct nodes *t, enum yaml_node_kind kind, const yaml_event_t *e)
{
	if (t->depth == YAML_MAX_DEPTH)
		return fail(t, e->start_mark, "lists and mappings lie more than %d deep in one another",
		            YAML_MAX_DEPTH);
	struct yaml_node *const node = add_node(t, kind, e);
	if (node == NULL)
		return false;
	t->open[t->depth] = node;
	t->last[t->depth++] = NULL;
	return true;
}

static bool
add_scalar(struct nodes *t, const yaml_event_t *e)
{
	if (memchr(e->data.scalar.value, '\0', e->data.scalar.length) != NULL)
		return fail(t, e->start_mark, "a text holds a NUL character");
	struct yaml_node *const node = add_node(t, NODE_SCALAR, e);
	if (node == NULL)
		return false;
	node->text =
	    arena_copy(t->arena, slice_of((const char *)e->data.scalar.value, e->data.scalar.length));
	if (node->text.p == NULL)
		return false;
	node->text.flags = textscan_slice(node->text.p, node->text.n).flags;
	return true;
}

/* Anchors and tags are no part of the language: a name that means something elsewhere must not be lost in
 * silence. */
static bool
take_event(struct nodes *t, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_ALIAS_EVENT:
		return fail(t, e->start_mark, "aliases (*name) are not part of the language");
	case YAML_SCALAR_EVENT:
		if (e->data.scalar.anchor != NULL)
			return fail(
			    t, e->start_mark,
			    "anchors (&name) are not part of the language; quote a text that begins so");
		if (e->data.scalar.tag != NULL)
			return fail(t, e->start_mark,
			            "tags (!name) are not part of the language; quote a text that begins so");
		return add_scalar(t, e);
	case YAML_SEQUENCE_START_EVENT:
		if (e->data.sequence_start.anchor != NULL || e->data.sequence_start.tag != NULL)
			return fail(t, e->start_mark, "anchors and tags are not part of the language");
		return open_node(t, NODE_LIST, e);
	case YAML_MAPPING_START_EVENT:
		if (e->data.mapping_start.anchor != NULL || e->data.mapping_start.tag != NULL)
			return fail(t, e->start_mark, "anchors and tags are not part of the language");
		return open_node(t, NODE_MAP, e);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		t->depth--;
		return true;
	case YAML_DOCUMENT_START_EVENT:
		if (t->root != NULL)
			return fail(t, e->start_mark, "a second document begins; a file holds one");
		return true;
	default:
		return true;
	}
}

/* Where a byte stands, for errors that come with an offset alone. */
static yaml_mark_t
mark_of(struct slice text, size_t offset)
{
	yaml_mark_t m = { 0, 0, 0 };

	for (size_t i = 0; i < text.n && i < offset; i++) {
		if (text.p[i] == '\n') {
			m.line++;
			m.column = 0;
		} else if (((unsigned char)text.p[i] & 0xc0) != 0x80) {
			m.column++;
		}
	}
	return m;
}

static void
say_parser(struct nodes *t, const yaml_parser_t *p)
{
	const char *const why = p->problem != NULL ? p->problem : "it is no YAML";

	if (p->error == YAML_MEMORY_ERROR)
		return;
	if (p->error == YAML_READER_ERROR)
		fail(t, mark_of(t->text, p->problem_offset), "%s", why);
	else if (p->context != NULL)
		fail(t, p->problem_mark, "%s, %s", p->context, why);
	else
		fail(t, p->problem_mark, "%s", why);
}

struct yaml_node *
yaml_node_parse(struct arena *a, struct slice text, struct yaml_node_error *error)
{
	struct nodes t = { .arena = a, .text = text, .error = error };
	yaml_parser_t p;
	yaml_event_t e;
	bool ok = true, end = false;

	*error = (struct yaml_node_error){ .line = 1, .column = 1 };
	if (!yaml_parser_initialize(&p))
		return NULL;
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p, (const unsigned char *)text.p, text.n);
	while (ok && !end) {
		if (!yaml_parser_parse(&p, &e)) {
			say_parser(&t, &p);
			ok = false;
			break;
		}
		ok = take_event(&t, &e);
		end = e.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&p);
	if (ok && t.root == NULL)
		ok = fail(&t, (yaml_mark_t){ 0, 0, 0 }, "the file holds nothing");
	return ok ? t.root : NULL;
}

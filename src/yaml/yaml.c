/*
 * Builds the tree from the events of libyaml.  Anchors, aliases and tags are refused: the languages do not
 * have them, and a name that YAML interprets as one of them must not be lost silently.
 */
#include "yaml/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <yaml.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/os.h"
#include "base/scan.h"
#include "check/rules.h"
#include "input/open.h"

/* ---- nodes ---- */

struct yaml_node_error {
	uint32_t line, column;
	char text[160]; /* "": OOM */
};

struct nodes {
	struct arena *arena;
	struct slice text;
	struct yaml_node_error *error;
	struct yaml_node *root;
	struct yaml_node *open[YAML_MAX_DEPTH]; /* lists and mappings that enclose the next node */
	struct yaml_node *last[YAML_MAX_DEPTH]; /* the last child of each */
	uint32_t depth, n;
};

PRINTF(3, 4) static bool fail(struct nodes *t, yaml_mark_t at, const char *fmt, ...)
{
	va_list ap;

	t->error->line = (uint32_t)at.line + 1;
	t->error->column = (uint32_t)at.column + 1;
	va_start(ap, fmt);
	vsnprintf(t->error->text, sizeof t->error->text, fmt, ap);
	va_end(ap);
	return false;
}

/* Adds a node to the tree.  Returns NULL on OOM, or with an error beyond YAML_MAX_NODES. */
static struct yaml_node *add_node(struct nodes *t, enum yaml_node_kind kind, const yaml_event_t *e)
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

static bool open_node(struct nodes *t, enum yaml_node_kind kind, const yaml_event_t *e)
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

static bool add_scalar(struct nodes *t, const yaml_event_t *e)
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

static bool add_event(struct nodes *t, const yaml_event_t *e)
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

/* Converts an offset to line and column, for errors that have only an offset. */
static yaml_mark_t find_mark(struct slice text, size_t offset)
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

static void set_parser_error(struct nodes *t, const yaml_parser_t *p)
{
	const char *const why = p->problem != NULL ? p->problem : "it is no YAML";

	if (p->error == YAML_MEMORY_ERROR)
		return;
	if (p->error == YAML_READER_ERROR)
		fail(t, find_mark(t->text, p->problem_offset), "%s", why);
	else if (p->context != NULL)
		fail(t, p->problem_mark, "%s, %s", p->context, why);
	else
		fail(t, p->problem_mark, "%s", why);
}

/* Finds a line that begins with %TAG.  These lines are refused before parsing, as libyaml takes quadratic
 * time for them. */
static const char *find_tag_directive(struct slice text)
{
	const char *p = text.p, *const end = text.p + text.n;

	for (; (p = slice_find(slice_of(p, (size_t)(end - p)), SLICE_LIT("%TAG"))) != NULL; p++) {
		const size_t n = (size_t)(p - text.p);
		if (n == 0 || p[-1] == '\n' || p[-1] == '\r' ||
		    (n >= 2 && memcmp(p - 2, "\xc2\x85", 2) == 0) ||
		    (n >= 3 &&
		     (memcmp(p - 3, "\xe2\x80\xa8", 3) == 0 || memcmp(p - 3, "\xe2\x80\xa9", 3) == 0)))
			break;
	}
	return p;
}

/* Returns the size of a byte order mark.  libyaml would count it as a column of the first line, so all other
 * lines would seem less indented. */
static size_t bom_size(struct slice text)
{
	return utf8_has_mark(text.p, text.n) ? 3 : 0;
}

/* Parses a text in valid UTF-8 that must be one document.  Returns NULL with *error set. */
static struct yaml_node *parse_nodes(struct arena *a, struct slice whole, struct yaml_node_error *error)
{
	const struct slice text = slice_of(whole.p + bom_size(whole), whole.n - bom_size(whole));
	struct nodes t = { .arena = a, .text = text, .error = error };
	yaml_parser_t p;
	yaml_event_t e;
	bool ok = true, end = false;

	*error = (struct yaml_node_error){ .line = 1, .column = 1 };
	const char *const tag = find_tag_directive(text);
	if (tag != NULL) {
		fail(&t, find_mark(text, (size_t)(tag - text.p)),
		     "tags (%%TAG) are not part of the language");
		return NULL;
	}
	if (!yaml_parser_initialize(&p))
		return NULL;
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p, (const unsigned char *)text.p, text.n);
	while (ok && !end) {
		if (!yaml_parser_parse(&p, &e)) {
			set_parser_error(&t, &p);
			ok = false;
			break;
		}
		ok = add_event(&t, &e);
		end = e.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&p);
	if (ok && t.root == NULL)
		ok = fail(&t, (yaml_mark_t){ 0, 0, 0 }, "the file holds nothing");
	return ok ? t.root : NULL;
}

/* ---- mistakes ---- */

/* Converts a line and a column in characters to a position in the text, as findings count bytes. */
static const char *find_position(struct slice text, uint32_t line, uint32_t column)
{
	const char *p = text.p + bom_size(text), *const end = text.p + text.n;

	for (; line > 1 && p < end; line--) {
		const char *const nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			break;
		p = nl + 1;
	}
	for (; column > 1 && p < end && *p != '\n'; column--)
		for (p++; p < end && ((unsigned char)*p & 0xc0) == 0x80;)
			p++;
	return p;
}

PRINTF(5, 0)
static void report(struct yaml_file *f, enum yaml_mistake which, uint32_t line, uint32_t column,
                   const char *fmt, va_list ap)
{
	const struct rule *const rule = &f->rules[which];
	char text[800];

	if (f->no_memory) /* OOM itself can cause a missing value */
		return;
	f->mistakes++;
	if (!finding_is_shown(f->findings, rule)) {
		finding_add_line(f->findings, rule, (struct finding_place){ .line = line }, "%s", "");
		return;
	}
	vsnprintf(text, sizeof text, fmt, ap);
	const char *const at = find_position(f->text, line, column);
	const char *begin = at;
	while (begin > f->text.p && begin[-1] != '\n')
		begin--;
	finding_add_line(f->findings, rule,
	                 (struct finding_place){ .offset = (uint64_t)(at - f->text.p),
	                                         .line = line,
	                                         .column = (uint64_t)(at - begin) + 1 },
	                 "%s", text);
}

void yaml_report_at(struct yaml_file *f, enum yaml_mistake which, uint32_t line, uint32_t column,
                    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(f, which, line, column, fmt, ap);
	va_end(ap);
}

void yaml_report(struct yaml_file *f, enum yaml_mistake which, const struct yaml_node *at, const char *fmt,
                 ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(f, which, at->line, at->column, fmt, ap);
	va_end(ap);
}

bool yaml_bad(struct yaml_file *f, const struct yaml_node *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(f, YAML_BAD_VALUE, at->line, at->column, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- the file ---- */

static bool report_unreadable(struct findings *findings, const struct rule *rules, const char *why)
{
	finding_add(findings, &rules[YAML_UNREADABLE], 0, 0, "%s", why);
	return false;
}

static bool report_why(const struct input_whole *w, size_t max, const struct rule *rules,
                       struct findings *findings)
{
	char why[64];

	if (w->no_memory) {
		finding_add(findings, &input_rules[INPUT_RULE_NO_MEMORY], 0, 0, "out of memory");
		return false;
	}
	snprintf(why, sizeof why, "the file is larger than %zu MiB", max >> 20);
	return report_unreadable(findings, rules, w->too_large ? why : w->why);
}

bool yaml_read(const char *path, size_t max, const struct rule *rules, struct findings *findings, char **text,
               size_t *n)
{
	struct input_whole w;
	const bool ok = input_read_unpacked(&w, path, max) || report_why(&w, max, rules, findings);

	*text = w.p;
	*n = w.n;
	return ok;
}

bool yaml_read_below(const char *folder, const char *path, size_t max, const struct rule *rules,
                     struct findings *findings, char **text, size_t *n)
{
	const int fd = below_open_file(folder, path);
	struct input_whole w = { .p = NULL };

	*text = NULL;
	if (fd < 0)
		return report_unreadable(findings, rules, below_why(errno));
	const bool ok = input_read_whole_fd(&w, fd, max) || report_why(&w, max, rules, findings);
	close(fd);
	*text = w.p;
	*n = w.n;
	return ok;
}

static bool is_utf8(struct yaml_file *f)
{
	const size_t valid = utf8_valid_prefix(f->text.p, f->text.n);

	if (valid == f->text.n)
		return true;
	const size_t bom = bom_size(f->text);
	const yaml_mark_t at = find_mark(slice_of(f->text.p + bom, f->text.n - bom), valid - bom);
	yaml_report_at(f, YAML_SYNTAX, (uint32_t)at.line + 1, (uint32_t)at.column + 1,
	               "the bytes here are no UTF-8");
	return false;
}

const struct yaml_node *yaml_root(struct yaml_file *f)
{
	struct yaml_node_error error;

	if (!is_utf8(f))
		return NULL;
	const struct yaml_node *const root = parse_nodes(&f->nodes, f->text, &error);
	if (root == NULL && error.text[0] == '\0')
		f->no_memory = true;
	else if (root == NULL)
		yaml_report_at(f, YAML_SYNTAX, error.line, error.column, "%s", error.text);
	return root;
}

/* ---- values ---- */

bool yaml_is_text(struct yaml_file *f, const struct yaml_node *node, const char *what)
{
	if (node->kind != NODE_SCALAR)
		return yaml_bad(f, node, "%s is a text, not a %s", what,
		                node->kind == NODE_LIST ? "list" : "mapping");
	return node->text.n > 0 || yaml_bad(f, node, "%s is empty", what);
}

bool yaml_word(struct yaml_file *f, const struct yaml_node *node, const char *what, const char *const *words,
               uint32_t *out)
{
	char list[200] = "";
	struct quoted q;
	size_t n = 0;

	if (!yaml_is_text(f, node, what))
		return false;
	for (uint32_t i = 0; words[i] != NULL; i++) {
		if (slice_is(node->text, words[i])) {
			*out = i;
			return true;
		}
		if (n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	return yaml_bad(f, node, "%s is one of %s, not %s", what, list, quoted(&q, node->text));
}

bool yaml_is_glob(struct yaml_file *f, const struct yaml_node *node, const char *what, struct slice glob)
{
	if (glob_stars(glob) > YAML_MAX_STARS)
		return yaml_bad(f, node, "%s has more than %u *", what, YAML_MAX_STARS);
	return glob_is_linear(glob) ||
	       yaml_bad(f, node, "%s has more than %u bytes between two *", what, GLOB_LINEAR);
}

bool yaml_bool(struct yaml_file *f, const struct yaml_node *node, const char *what, bool *out)
{
	static const char *const words[] = { "false", "true", NULL };
	uint32_t i;

	if (!yaml_word(f, node, what, words, &i))
		return false;
	*out = i == 1;
	return true;
}

/* ---- mappings ---- */

/* Names that are `stride` bytes apart in an array of structs. */
struct key_names {
	const char *const *names;
	size_t stride, n;
};

static const char *key_name(const struct key_names *k, size_t i)
{
	return *(const char *const *)(const void *)((const char *)k->names + i * k->stride);
}

static void report_unknown_key(struct yaml_file *f, const struct yaml_node *key, const char *what,
                               const struct key_names *k)
{
	struct nearest near = { .typed = key->text.p };
	char list[200] = "";
	struct quoted q;
	size_t n = 0;

	for (size_t i = 0; i < k->n && finding_is_shown(f->findings, &f->rules[YAML_UNKNOWN_KEY]); i++) {
		nearest_add(&near, key_name(k, i));
		if (n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i > 0 ? ", " : "",
			                      key_name(k, i));
	}
	if (near.name != NULL)
		yaml_report(f, YAML_UNKNOWN_KEY, key, "%s has no key %s; did you mean %s?", what,
		            quoted(&q, key->text), near.name);
	else if (n < sizeof list)
		yaml_report(f, YAML_UNKNOWN_KEY, key, "%s has no key %s; its keys are %s", what,
		            quoted(&q, key->text), list);
	else
		yaml_report(f, YAML_UNKNOWN_KEY, key, "%s has no key %s", what, quoted(&q, key->text));
}

bool yaml_repeated(struct yaml_file *f, const struct yaml_node *key)
{
	struct quoted q;

	yaml_report(f, YAML_SYNTAX, key, "duplicate key %s", quoted(&q, key->text));
	return false;
}

bool yaml_is_first(struct yaml_file *f, const struct yaml_node *map, const struct yaml_node *key)
{
	for (const struct yaml_node *k = map->child; k != key; k = k->next->next)
		if (k->kind == NODE_SCALAR && key->kind == NODE_SCALAR && slice_equal(k->text, key->text))
			return yaml_repeated(f, key);
	return true;
}

bool yaml_keys(struct yaml_file *f, const struct yaml_node *node, const char *what, const char *const *names,
               size_t stride, size_t n, const struct yaml_node **values)
{
	const struct key_names keys = { names, stride, n };

	for (size_t i = 0; i < n; i++)
		values[i] = NULL;
	if (node->kind != NODE_MAP)
		return yaml_bad(f, node, "%s is a mapping (key: value), not a %s", what,
		                node->kind == NODE_LIST ? "list" : "text");
	for (const struct yaml_node *key = node->child; key != NULL; key = key->next->next) {
		size_t i = 0;
		while (i < n && !(key->kind == NODE_SCALAR && slice_is(key->text, key_name(&keys, i))))
			i++;
		if (key->kind != NODE_SCALAR)
			yaml_report(f, YAML_SYNTAX, key, "a key is a text, not a list or a mapping");
		else if (i == n)
			report_unknown_key(f, key, what, &keys);
		else if (values[i] != NULL)
			yaml_repeated(f, key);
		else
			values[i] = key->next;
	}
	return true;
}

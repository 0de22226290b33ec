#include "yaml/yaml_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/edit_distance.h"
#include "base/open_below.h"
#include "base/utf8.h"
#include "check/input_rules.h"
#include "input/input_whole.h"

/* ---- mistakes ---- */

/* Where a place of the text stands, whose column counts characters: findings count bytes. */
static const char *
place_of(struct slice text, uint32_t line, uint32_t column)
{
	const char *p = text.p, *const end = text.p + text.n;

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

void
yaml_say_v(struct yaml_file *f, enum yaml_mistake which, uint32_t line, uint32_t column, const char *fmt,
           va_list ap)
{
	const struct rule *const rule = &f->rules[which];
	char text[800];

	if (f->no_memory) /* what is missing may have stood there */
		return;
	f->mistakes++;
	if (!finding_is_shown(f->findings, rule)) {
		finding_add_line(f->findings, rule, 0, line, 0, 0, "%s", "");
		return;
	}
	vsnprintf(text, sizeof text, fmt, ap);
	const char *const at = place_of(f->text, line, column);
	const char *begin = at;
	while (begin > f->text.p && begin[-1] != '\n')
		begin--;
	finding_add_line(f->findings, rule, (uint64_t)(at - f->text.p), line, (uint64_t)(at - begin) + 1, 0,
	                 "%s", text);
}

void
yaml_say_at(struct yaml_file *f, enum yaml_mistake which, uint32_t line, uint32_t column, const char *fmt,
            ...)
{
	va_list ap;

	va_start(ap, fmt);
	yaml_say_v(f, which, line, column, fmt, ap);
	va_end(ap);
}

void
yaml_say(struct yaml_file *f, enum yaml_mistake which, const struct yaml_node *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	yaml_say_v(f, which, at->line, at->column, fmt, ap);
	va_end(ap);
}

/* ---- the file ---- */

static bool
unreadable(struct findings *findings, const struct rule *rules, const char *why)
{
	finding_add(findings, &rules[YAML_UNREADABLE], 0, 0, "%s", why);
	return false;
}

static bool
say_why(const struct input_whole *w, size_t most, const struct rule *rules, struct findings *findings)
{
	char why[64];

	if (w->no_memory) {
		finding_add(findings, &input_rules[INPUT_RULE_NO_MEMORY], 0, 0,
		            "the system gives no more memory");
		return false;
	}
	snprintf(why, sizeof why, "the file is larger than %zu MiB", most >> 20);
	return unreadable(findings, rules, w->too_large ? why : w->why);
}

bool
yaml_read(const char *path, size_t most, const struct rule *rules, struct findings *findings, char **text,
          size_t *n)
{
	struct input_whole w;
	const bool ok = input_read_whole(&w, path, most) || say_why(&w, most, rules, findings);

	*text = w.p;
	*n = w.n;
	return ok;
}

bool
yaml_read_below(const char *folder, const char *path, size_t most, const struct rule *rules,
                struct findings *findings, char **text, size_t *n)
{
	const int fd = below_open_file(folder, path);
	struct input_whole w = { .p = NULL };

	*text = NULL;
	if (fd < 0)
		return unreadable(findings, rules, below_why(errno));
	const bool ok = input_read_whole_fd(&w, fd, most) || say_why(&w, most, rules, findings);
	close(fd);
	*text = w.p;
	*n = w.n;
	return ok;
}

static bool
is_utf8(struct yaml_file *f)
{
	const size_t valid = utf8_valid_prefix(f->text.p, f->text.n);
	uint32_t line = 1, column = 1;

	if (valid == f->text.n)
		return true;
	for (size_t i = 0; i < valid; i++)
		if (f->text.p[i] == '\n') {
			line++;
			column = 1;
		} else {
			column += ((unsigned char)f->text.p[i] & 0xc0) != 0x80;
		}
	yaml_say_at(f, YAML_SYNTAX, line, column, "the bytes here are no UTF-8");
	return false;
}

const struct yaml_node *
yaml_root(struct yaml_file *f)
{
	struct yaml_node_error error;

	if (!is_utf8(f))
		return NULL;
	const struct yaml_node *const root = yaml_node_parse(&f->nodes, f->text, &error);
	if (root == NULL && error.text[0] == '\0')
		f->no_memory = true;
	else if (root == NULL)
		yaml_say_at(f, YAML_SYNTAX, error.line, error.column, "%s", error.text);
	return root;
}

/* ---- values ---- */

bool
yaml_is_text(struct yaml_file *f, const struct yaml_node *node, const char *what)
{
	if (node->kind != NODE_SCALAR)
		yaml_say(f, YAML_BAD_VALUE, node, "%s is a text, not a %s", what,
		         node->kind == NODE_LIST ? "list" : "mapping");
	else if (node->text.n == 0)
		yaml_say(f, YAML_BAD_VALUE, node, "%s is empty", what);
	else
		return true;
	return false;
}

bool
yaml_word(struct yaml_file *f, const struct yaml_node *node, const char *what, const char *const *words,
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
	yaml_say(f, YAML_BAD_VALUE, node, "%s is one of %s, not %s", what, list, quoted(&q, node->text));
	return false;
}

/* ---- mappings ---- */

/* A table of names inside of one of structs. */
struct key_names {
	const char *const *names;
	size_t stride, n;
};

static const char *
key_name(const struct key_names *k, size_t i)
{
	return *(const char *const *)(const void *)((const char *)k->names + i * k->stride);
}

static void
say_unknown(struct yaml_file *f, const struct yaml_node *key, const char *what, const struct key_names *k)
{
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	struct quoted q;

	for (size_t i = 0; i < k->n && finding_is_shown(f->findings, &f->rules[YAML_UNKNOWN_KEY]); i++) {
		const char *const known = key_name(k, i);
		const size_t far = edit_distance(key->text.p, known);
		if (far < distance && edit_distance_plausible(key->text.p, known)) {
			distance = far;
			best = known;
		}
	}
	if (best != NULL)
		yaml_say(f, YAML_UNKNOWN_KEY, key, "%s has no key %s; did you mean %s?", what,
		         quoted(&q, key->text), best);
	else
		yaml_say(f, YAML_UNKNOWN_KEY, key, "%s has no key %s", what, quoted(&q, key->text));
}

bool
yaml_keys(struct yaml_file *f, const struct yaml_node *node, const char *what, const char *const *names,
          size_t stride, size_t n, const struct yaml_node **values)
{
	const struct key_names keys = { names, stride, n };
	struct quoted q;

	for (size_t i = 0; i < n; i++)
		values[i] = NULL;
	if (node->kind != NODE_MAP) {
		yaml_say(f, YAML_BAD_VALUE, node, "%s is a mapping (key: value), not a %s", what,
		         node->kind == NODE_LIST ? "list" : "text");
		return false;
	}
	for (const struct yaml_node *key = node->child; key != NULL; key = key->next->next) {
		size_t i = 0;
		while (i < n && !(key->kind == NODE_SCALAR && slice_is(key->text, key_name(&keys, i))))
			i++;
		if (key->kind != NODE_SCALAR)
			yaml_say(f, YAML_SYNTAX, key, "a key is a text, not a list or a mapping");
		else if (i == n)
			say_unknown(f, key, what, &keys);
		else if (values[i] != NULL)
			yaml_say(f, YAML_SYNTAX, key, "the key %s stands here a second time",
			         quoted(&q, key->text));
		else
			values[i] = key->next;
	}
	return true;
}

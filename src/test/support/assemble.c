/*
 * Assembler of samples: annotated bytes to files (docs/samples.md).  One pass: words are executed as they are
 * read.  Bodies of macros and blocks are read again at each use, arguments where they are used.  Aborts on
 * OOM, as the builders of tests do.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/assemble.h"

void fail(struct assembler *a, const char *at, const char *form, ...)
{
	va_list args;
	unsigned line = 1, i = 0;

	while (i + 1 < a->nsources && (at < a->sources[i].text || at > a->sources[i].text + a->sources[i].n))
		i++;
	for (const char *p = a->sources[i].text; p < at; p++)
		line += *p == '\n';
	fprintf(stderr, "%s:%u: ", a->sources[i].path, line);
	va_start(args, form);
	vfprintf(stderr, form, args);
	va_end(args);
	fputc('\n', stderr);
	longjmp(a->failed, 1);
}

/* ---- words ---- */

size_t size_of(struct text w)
{
	return (size_t)(w.end - w.p);
}

bool has(struct text w, char c)
{
	return size_of(w) > 0 && memchr(w.p, c, size_of(w)) != NULL;
}

bool is_word(struct text w, const char *name)
{
	return strlen(name) == size_of(w) && memcmp(w.p, name, size_of(w)) == 0;
}

bool is_byte(struct text w)
{
	return size_of(w) == 2 && isxdigit((unsigned char)w.p[0]) && isxdigit((unsigned char)w.p[1]);
}

struct text read_word(struct assembler *a)
{
	const char *p = a->rest.p, *const end = a->rest.end;

	while (p < end && (isspace((unsigned char)*p) || *p == '#'))
		p += *p == '#' ? strcspn(p, "\n") : 1;
	const char *const start = p;
	if (p < end && strchr("|>", *p) != NULL)
		p += strcspn(p, "\n");
	else if (p < end && strchr("{}", *p) != NULL)
		p++;
	else if (p < end && *p == '\'')
		p += 2 + strcspn(p + 1, "'\n");
	else if (p < end && *p == '"') {
		for (p++; p < end && *p != '"'; p++)
			p += *p == '\\';
		p++;
	} else
		while (p < end && !isspace((unsigned char)*p) && strchr("{}\"", *p) == NULL)
			p++;
	if (p > end)
		fail(a, start, "this has no end");
	a->rest.p = p;
	return (struct text){ start, p };
}

struct text read_item(struct assembler *a)
{
	struct text w = read_word(a);
	const char *const start = w.p;
	unsigned open = 0;

	if (size_of(w) == 0)
		fail(a, w.p, "a word is missing");
	for (;; w = read_word(a)) {
		if (size_of(w) == 0)
			fail(a, start, "this block has no end");
		open += *w.p == '{';
		open -= *w.p == '}' && open > 0;
		if (open == 0)
			return (struct text){ start, w.end };
	}
}

void copy_word(struct assembler *a, char *to, size_t size, struct text w)
{
	if (size_of(w) >= size)
		fail(a, w.p, "a name is too long");
	memcpy(to, w.p, size_of(w));
	to[size_of(w)] = '\0';
}

/* ---- names ---- */

struct def *find_def(struct assembler *a, struct text name)
{
	for (size_t i = 0; i < a->ndefs; i++)
		if (size_of(a->defs[i].name) == size_of(name) &&
		    memcmp(a->defs[i].name.p, name.p, size_of(name)) == 0)
			return &a->defs[i];
	return NULL;
}

void set_def(struct assembler *a, struct def def)
{
	struct def *d = find_def(a, def.name);

	if (d == NULL && a->ndefs == DEFS_MAX)
		fail(a, def.name.p, "too many definitions");
	if (d == NULL)
		d = &a->defs[a->ndefs++];
	*d = def;
}

void set_number(struct assembler *a, struct text name, uint64_t v)
{
	set_def(a, (struct def){ .name = name, .is_number = true, .number = v });
}

static bool is_sum(struct text w)
{
	return has(w, '+') || has(w, '*');
}

bool resolve(struct text *w, const struct scope **scope)
{
	while (size_of(*w) > 0 && *w->p == '$' && !is_sum(*w)) {
		const struct scope *const s = *scope;
		const struct text name = { w->p + 1, w->end };
		unsigned i = 0;
		while (s != NULL && i < s->def->nargs &&
		       (size_of(s->def->args[i]) != size_of(name) ||
		        memcmp(s->def->args[i].p, name.p, size_of(name)) != 0))
			i++;
		if (s == NULL || i == s->def->nargs) {
			w->p++;
			return false;
		}
		*w = s->args[i];
		*scope = s->outer;
	}
	return true;
}

/* ---- numbers ---- */

/* Evaluates an argument, a named number, or digits. */
static uint64_t evaluate_term(struct assembler *a, struct text w, const struct scope *scope)
{
	const char *const start = w.p;
	char *end = NULL;

	resolve(&w, &scope);
	const struct def *const d = find_def(a, w);
	if (d != NULL && d->is_number)
		return d->number;
	if (w.p != start && size_of(w) > 0 && (is_sum(w) || *w.p == '-'))
		return evaluate(a, w, scope);
	if (size_of(w) == 0 || !isdigit((unsigned char)*w.p))
		fail(a, w.p, "a number is missing");
	const uint64_t v = strtoull(w.p, &end, 0);
	if (end != w.end)
		fail(a, w.p, "this is no number");
	return v;
}

/* Evaluates a sum of products: 16, 0x1f, -1, id+1, $i*100+7000. */
uint64_t evaluate(struct assembler *a, struct text w, const struct scope *scope)
{
	uint64_t sum = 0, product = 1;
	struct text term;

	for (const char *p = w.p;; p = term.end + 1) {
		const bool minus = p < w.end && *p == '-';
		term.p = term.end = p + minus;
		while (term.end < w.end && *term.end != '+' && *term.end != '*')
			term.end++;
		const uint64_t v = evaluate_term(a, term, scope);
		product *= minus ? 0 - v : v;
		if (term.end < w.end && *term.end == '*')
			continue;
		sum += product;
		product = 1;
		if (term.end == w.end)
			return sum;
	}
}

uint64_t read_number(struct assembler *a)
{
	return evaluate(a, read_item(a), a->scope);
}

/* ---- bytes ---- */

void put(struct assembler *a, const void *p, size_t n)
{
	if (n > a->cap - a->n) {
		a->cap = 2 * a->cap + n + 4096;
		a->p = realloc(a->p, a->cap);
		if (a->p == NULL)
			abort();
	}
	if (n > 0)
		memcpy(a->p + a->n, p, n);
	a->n += n;
}

void store(const struct assembler *a, unsigned char *to, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		to[i] = (unsigned char)(v >> 8 * (a->big ? size - 1 - i : i) & 0xff);
}

void put_number(struct assembler *a, uint64_t v, unsigned size)
{
	unsigned char bytes[8] = { 0 };

	store(a, bytes, v, size);
	put(a, bytes, size);
}

/* Escapes as in C, but \x has two digits and \0 is one byte. */
static void put_string(struct assembler *a, struct text w)
{
	static const char from[] = "ntrbfa0\"\\", to[] = "\n\t\r\b\f\a\0\"\\";
	unsigned byte;

	for (const char *p = w.p + 1; p < w.end - 1; p++) {
		const char *const known = *p == '\\' ? memchr(from, p[1], sizeof from - 1) : NULL;
		if (*p != '\\') {
			put(a, p, 1);
		} else if (known != NULL) {
			put(a, to + (known - from), 1);
			p++;
		} else if (p[1] == 'x' && sscanf(p + 2, "%2x", &byte) == 1) {
			put_number(a, byte, 1);
			p += 3;
		} else {
			fail(a, p, "unknown escape");
		}
	}
}

/* Writes a line of text; text between two ` is read as words. */
static void put_line(struct assembler *a, struct text w)
{
	const char *p = w.p + 1, *mark;

	p += p < w.end && *p == ' ';
	for (bool inside = false; p < w.end; p = mark + 1, inside = !inside) {
		mark = memchr(p, '`', (size_t)(w.end - p));
		if (mark == NULL && inside)
			fail(a, p, "this ` has no end");
		mark = mark != NULL ? mark : w.end;
		if (inside)
			assemble(a, (struct text){ p, mark }, a->scope);
		else
			put(a, p, (size_t)(mark - p));
	}
	if (*w.p == '|')
		put(a, "\n", 1);
}

void put_block(struct assembler *a, struct text block, const struct scope *scope)
{
	const size_t outer = a->size_at, start = a->n;

	a->size_at = NOWHERE;
	assemble(a, (struct text){ block.p + 1, block.end - 1 }, scope);
	if (a->size_at != NOWHERE)
		store(a, a->p + a->size_at, a->n - start, 4);
	a->size_at = outer;
}

void put_item(struct assembler *a, struct text w)
{
	const struct scope *scope = a->scope;
	char digits[24];

	const bool resolved = resolve(&w, &scope);
	const struct def *const d = find_def(a, w);
	if (!resolved && (d == NULL || !d->is_number))
		fail(a, w.p, "no argument and no number has this name");
	if (*w.p == '"')
		put_string(a, w);
	else if (*w.p == '\'')
		put(a, w.p + 1, size_of(w) - 2);
	else if (*w.p == '{')
		put_block(a, w, scope);
	else if (is_sum(w) || (d != NULL && d->is_number))
		put(a, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, evaluate(a, w, scope)));
	else if (d != NULL)
		use_macro(a, d);
	else
		put(a, w.p, size_of(w));
}

void use_macro(struct assembler *a, const struct def *d)
{
	const struct text body = { d->body.p + 1, d->body.end - 1 };
	struct scope inner = { .def = d, .outer = a->scope };

	for (unsigned i = 0; i < d->nargs; i++)
		inner.args[i] = read_item(a);
	assemble(a, body, &inner);
}

static void run_word(struct assembler *a, struct text w)
{
	const struct def *const d = find_def(a, w);

	if (strchr("\"'{$", *w.p) != NULL) {
		put_item(a, w);
		return;
	}
	if (is_byte(w)) {
		put_number(a, strtoul((char[]){ w.p[0], w.p[1], '\0' }, NULL, 16), 1);
		return;
	}
	if (d != NULL && !d->is_number) {
		use_macro(a, d);
		return;
	}
	for (const struct word *known = words; known->name != NULL; known++)
		if (is_word(w, known->name)) {
			known->run(a, known->argument);
			return;
		}
	fail(a, w.p, "unknown word: %.*s", (int)size_of(w), w.p);
}

void assemble(struct assembler *a, struct text t, const struct scope *scope)
{
	const struct text outer = a->rest;
	const struct scope *const outer_scope = a->scope;

	a->rest = t;
	a->scope = scope;
	if (++a->depth > DEPTH_MAX)
		fail(a, t.p, "nested too deep");
	for (;;) {
		const struct text before = a->rest, w = read_word(a);
		if (size_of(w) == 0)
			break;
		if (*w.p == '|' || *w.p == '>') {
			put_line(a, w);
		} else if (*w.p == '!') {
			take_finding(a, w);
		} else {
			a->rest = *w.p == '{' ? before : a->rest;
			run_word(a, *w.p == '{' ? read_item(a) : w);
		}
	}
	a->depth--;
	a->rest = outer;
	a->scope = outer_scope;
}

struct text load(struct assembler *a, const char *path)
{
	FILE *const f = fopen(path, "rb");
	char *const p = malloc(SOURCE_SIZE);

	if (p == NULL || a->nsources == SOURCES_MAX)
		abort();
	struct source *const s = &a->sources[a->nsources++];
	*s = (struct source){ .text = p, .n = f != NULL ? fread(p, 1, SOURCE_SIZE - 1, f) : 0 };
	p[s->n] = '\0';
	snprintf(s->path, sizeof s->path, "%s", path);
	if (f == NULL || fclose(f) != 0 || s->n == SOURCE_SIZE - 1)
		fail(a, p, "%s", f == NULL ? strerror(errno) : "too large, or not read");
	return (struct text){ p, p + s->n };
}

bool samples_assemble(struct samples_of *all, const char *format, const char *path)
{
	struct assembler *const a = calloc(1, sizeof *a);

	if (a == NULL)
		abort();
	a->format = format;
	a->all = all;
	a->size_at = NOWHERE;
	const bool ok = setjmp(a->failed) == 0;
	if (ok) {
		assemble(a, load(a, path), NULL);
		end_file(a);
	}
	for (unsigned i = 0; i < a->nsources; i++)
		free(a->sources[i].text);
	free(a->p);
	free(a);
	return ok;
}

/*
 * Parser of the part of TSDL that the writer uses (section 7 and appendix C of CTF 1.8).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ctf/test/oracle_test.h"

/* Sets the error, unless there is one. */
static void fail(struct ctf_tsdl *t, const char *what)
{
	if (t->error[0] == '\0')
		(void)snprintf(t->error, sizeof t->error, "%s at: %.60s", what, t->at);
}

/* ---- tokens ---- */

static void skip_blanks(struct ctf_tsdl *t)
{
	for (;;) {
		t->at += strspn(t->at, " \t\n");
		if (strncmp(t->at, "/*", 2) != 0)
			return;
		const char *const end = strstr(t->at + 2, "*/");
		if (end == NULL) {
			fail(t, "an open comment");
			return;
		}
		t->at = end + 2;
	}
}

static bool accept_token(struct ctf_tsdl *t, const char *what)
{
	skip_blanks(t);
	const size_t n = strlen(what);
	if (t->error[0] != '\0' || strncmp(t->at, what, n) != 0)
		return false;
	t->at += n;
	return true;
}

static void expect_token(struct ctf_tsdl *t, const char *what)
{
	if (!accept_token(t, what))
		fail(t, what);
}

#define IDENTIFIER "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Reads an identifier, which may also have the characters of `more`. */
static bool read_identifier(struct ctf_tsdl *t, char *to, size_t size, const char *more)
{
	char set[80];

	skip_blanks(t);
	(void)snprintf(set, sizeof set, "%s%s", IDENTIFIER, more);
	const size_t n = strspn(t->at, set);
	if (n == 0 || n >= size || t->error[0] != '\0') {
		fail(t, "no word");
		to[0] = '\0';
		return false;
	}
	memcpy(to, t->at, n);
	to[n] = '\0';
	t->at += n;
	return true;
}

/* Reads a literal in quotes, an identifier or a number, cut to the size. */
static void read_value(struct ctf_tsdl *t, char *to, size_t size)
{
	size_t n = 0;

	if (!accept_token(t, "\"")) {
		(void)read_identifier(t, to, size, ".-");
		return;
	}
	for (; *t->at != '"'; t->at++) {
		if (*t->at == '\\')
			t->at++;
		if (*t->at == '\0' || *t->at == '\n') {
			fail(t, "an open literal");
			return;
		}
		if (n + 1 < size)
			to[n++] = *t->at;
	}
	t->at++;
	to[n] = '\0';
}

/* ---- types ---- */

static uint32_t add_type(struct ctf_tsdl *t, enum ctf_tsdl_kind kind)
{
	if (!array_reserve(&t->types, t->ntypes, &t->types_cap, sizeof *t->types))
		abort();
	t->types[t->ntypes] = (struct ctf_tsdl_type){ .kind = kind };
	return t->ntypes++;
}

static void read_attributes(struct ctf_tsdl *t, struct ctf_tsdl_type *to)
{
	char name[64], value[64];

	expect_token(t, "{");
	while (!accept_token(t, "}") && read_identifier(t, name, sizeof name, "")) {
		expect_token(t, "=");
		read_value(t, value, sizeof value);
		expect_token(t, ";");
		const uint32_t number = (uint32_t)strtoul(value, NULL, 10);
		if (strcmp(name, "size") == 0)
			to->size = number / 8;
		else if (strcmp(name, "exp_dig") == 0 || strcmp(name, "mant_dig") == 0)
			to->size += number; /* bits, see below */
		else if (strcmp(name, "signed") == 0)
			to->is_signed = strcmp(value, "true") == 0;
		else if (strcmp(name, "base") == 0)
			to->hexadecimal = number == 16;
		else if (strcmp(name, "map") == 0)
			to->is_time = strcmp(value, "clock.trace_clock.value") == 0;
		else if (strcmp(name, "align") == 0 && number != 8)
			fail(t, "an alignment that is not 8");
		else if (strcmp(name, "encoding") == 0 && strcmp(value, "UTF8") != 0)
			fail(t, "another encoding");
	}
	if (to->kind == TSDL_FLOAT)
		to->size /= 8;
}

static uint32_t read_type(struct ctf_tsdl *t);

static void read_field(struct ctf_tsdl *t, uint32_t into)
{
	struct ctf_tsdl_field f = { .length = "" };

	f.type = read_type(t);
	(void)read_identifier(t, f.name, sizeof f.name, "");
	if (accept_token(t, "[")) {
		(void)read_identifier(t, f.length, sizeof f.length, "");
		expect_token(t, "]");
	}
	expect_token(t, ";");
	struct ctf_tsdl_type *const s = &t->types[into];
	for (uint32_t i = 0; i < s->nfields; i++)
		if (strcmp(s->fields[i].name, f.name) == 0)
			fail(t, "a field of that name is there");
	if (!array_reserve(&s->fields, s->nfields, &s->cap, sizeof *s->fields))
		abort();
	s->fields[s->nfields++] = f;
}

/* Returns the index in types; 0 after a failure. */
static uint32_t read_type(struct ctf_tsdl *t)
{
	char word[64];

	(void)read_identifier(t, word, sizeof word, "");
	if (strcmp(word, "struct") == 0) {
		const uint32_t s = add_type(t, TSDL_STRUCT);
		expect_token(t, "{");
		while (!accept_token(t, "}") && t->error[0] == '\0')
			read_field(t, s);
		return s;
	}
	if (strcmp(word, "integer") == 0 || strcmp(word, "floating_point") == 0 ||
	    strcmp(word, "string") == 0) {
		struct ctf_tsdl_type type = { .kind = word[0] == 'i'   ? TSDL_INTEGER
			                              : word[0] == 'f' ? TSDL_FLOAT
			                                               : TSDL_STRING };
		read_attributes(t, &type);
		const uint32_t i = add_type(t, type.kind);
		t->types[i] = type;
		return i;
	}
	for (uint32_t i = 0; i < t->naliases; i++)
		if (strcmp(t->aliases[i].name, word) == 0)
			return t->aliases[i].type;
	fail(t, "an unknown type");
	return 0;
}

/* ---- blocks ---- */

static void read_event_entry(struct ctf_tsdl *t, struct ctf_tsdl_event *e, const char *name)
{
	char value[256];

	read_value(t, value, sizeof value);
	if (strcmp(name, "name") == 0)
		memcpy(e->name, value, sizeof value);
	else if (strcmp(name, "id") == 0)
		e->id = (uint32_t)strtoul(value, NULL, 10);
}

static void read_entry(struct ctf_tsdl *t, const char *block, const char *name)
{
	char value[4096];

	read_value(t, value, sizeof value);
	if (strcmp(block, "env") == 0)
		text_printf(&t->env, "%s=%s\n", name, value);
	else if (strcmp(name, "offset_s") == 0)
		t->offset_s = strtoll(value, NULL, 10);
	else if (strcmp(name, "offset") == 0)
		t->offset = strtoll(value, NULL, 10);
	else if (strcmp(name, "absolute") == 0)
		t->absolute = strcmp(value, "true") == 0;
	else if (strcmp(name, "byte_order") == 0 && strcmp(value, "le") != 0)
		fail(t, "another byte order");
	else if (strcmp(name, "freq") == 0 && strcmp(value, "1000000000") != 0)
		fail(t, "another frequency");
}

static void read_block(struct ctf_tsdl *t, const char *block)
{
	struct ctf_tsdl_event e = { .name = "" };
	char name[64];

	expect_token(t, "{");
	while (!accept_token(t, "}") && read_identifier(t, name, sizeof name, ".")) {
		if (accept_token(t, ":=")) {
			const uint32_t type = read_type(t);
			*(strcmp(name, "packet.header") == 0    ? &t->packet_header
			  : strcmp(name, "packet.context") == 0 ? &t->packet_context
			  : strcmp(name, "event.header") == 0   ? &t->event_header
			  : strcmp(name, "event.context") == 0  ? &t->event_context
			                                        : &e.fields) = type;
		} else {
			expect_token(t, "=");
			if (strcmp(block, "event") == 0)
				read_event_entry(t, &e, name);
			else
				read_entry(t, block, name);
		}
		expect_token(t, ";");
	}
	if (strcmp(block, "event") != 0)
		return;
	if (!array_reserve(&t->events, t->nevents, &t->events_cap, sizeof *t->events))
		abort();
	t->events[t->nevents++] = e;
}

bool ctf_tsdl_parse(struct ctf_tsdl *t, const char *metadata)
{
	char word[64];

	*t = (struct ctf_tsdl){ .at = metadata };
	if (strncmp(metadata, "/* CTF 1.8 */", 13) != 0)
		fail(t, "not the comment of CTF 1.8");
	for (skip_blanks(t); *t->at != '\0' && read_identifier(t, word, sizeof word, ""); skip_blanks(t)) {
		if (strcmp(word, "typealias") != 0) {
			read_block(t, word);
		} else if (t->naliases < 32) {
			t->aliases[t->naliases].type = read_type(t);
			expect_token(t, ":=");
			(void)read_identifier(t, t->aliases[t->naliases++].name, 64, "");
		}
		expect_token(t, ";");
	}
	return t->error[0] == '\0';
}

void ctf_tsdl_free(struct ctf_tsdl *t)
{
	for (uint32_t i = 0; i < t->ntypes; i++)
		free(t->types[i].fields);
	free(t->types);
	free(t->events);
	text_free(&t->env);
}

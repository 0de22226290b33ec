#ifndef TESTING_ASSEMBLE_H
#define TESTING_ASSEMBLE_H

#include <setjmp.h>

#include "test/support/samples.h"

/* Interface of assemble.c, which reads the text of samples, and words.c, which implements the words. */

#define DEFS_MAX 400
#define ARGS_MAX 8
#define DEPTH_MAX 60
#define SOURCES_MAX 8
#define SOURCE_SIZE (1u << 20)
#define NOWHERE SIZE_MAX

struct text {
	const char *p, *end;
};

/* A macro, or a number set by `let` or `repeat`. */
struct def {
	struct text name, args[ARGS_MAX], body;
	unsigned nargs;
	bool is_number;
	uint64_t number;
};

/* A use of a macro. */
struct scope {
	const struct def *def;
	struct text args[ARGS_MAX];
	const struct scope *outer; /* scope of the arguments */
};

struct source {
	char path[300];
	char *text; /* NUL-terminated */
	size_t n;
};

struct assembler {
	const char *format;
	struct samples_of *all;
	jmp_buf failed;
	struct source sources[SOURCES_MAX];
	unsigned nsources, depth;
	struct def defs[DEFS_MAX];
	size_t ndefs;
	char suffix[40];

	struct text rest; /* text to be read */
	const struct scope *scope;

	unsigned char *p; /* current file */
	size_t n, cap;
	size_t unpacked; /* length before compression, less n; offsets of findings are those before
	                    compression */
	size_t size_at;  /* offset of size32 in the current block, or NOWHERE */
	bool big;
};

/* A word; argument: of `run`. */
struct word {
	const char *name;
	void (*run)(struct assembler *a, unsigned argument);
	unsigned argument;
};

extern const struct word words[]; /* terminated by a name of NULL */

/* Reports an error at a position of the text, and leaves samples_assemble(). */
__attribute__((noreturn, format(printf, 3, 4))) void fail(struct assembler *a, const char *at,
                                                          const char *form, ...);

/* ---- reading ---- */

size_t size_of(struct text w);
bool has(struct text w, char c);
bool is_word(struct text w, const char *name);
bool is_byte(struct text w); /* two hexadecimal digits */

/* Returns a name or number, a "string" or 'string', a brace, or | or > with the rest of its line.  Empty at
 * the end. */
struct text read_word(struct assembler *a);
struct text read_item(struct assembler *a); /* a word, or a block with its braces; fails if there is none */
uint64_t read_number(struct assembler *a);
uint64_t evaluate(struct assembler *a, struct text w, const struct scope *scope);
void copy_word(struct assembler *a, char *to, size_t size, struct text w);

/* ---- names ---- */

struct def *find_def(struct assembler *a, struct text name);
void set_def(struct assembler *a, struct def def); /* replaces an earlier one of this name */
void set_number(struct assembler *a, struct text name, uint64_t v);

/* Sets *w to the value of the argument $NAME, and *scope to its scope.  Returns false if *w is no argument;
 * *w is then NAME. */
bool resolve(struct text *w, const struct scope **scope);

/* ---- writing ---- */

void put(struct assembler *a, const void *p, size_t n);
void put_number(struct assembler *a, uint64_t v, unsigned size);
void store(const struct assembler *a, unsigned char *to, uint64_t v, unsigned size);
void put_block(struct assembler *a, struct text block, const struct scope *scope);

/* Writes a string, a block, or an argument: the digits of a number, the output of a macro, the letters of
 * another word. */
void put_item(struct assembler *a, struct text w);

void use_macro(struct assembler *a, const struct def *d);
struct text load(struct assembler *a, const char *path);
void assemble(struct assembler *a, struct text t, const struct scope *scope);

/* ---- samples ---- */

void take_finding(struct assembler *a, struct text w); /* !RULE or !N:RULE */
void end_file(struct assembler *a);

#endif

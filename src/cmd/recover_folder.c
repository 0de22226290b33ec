#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/input_rules.h"
#include "cmd/recover_command.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "input/input_tree.h"

/* All files of a folder: those that are named like traces are recovered, the others are copied as they are.
 */

#define COPY_BYTES 65536

static bool
wants(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, OUTPUT_FOLDER_LIST) != 0; /* the output has one of its own */
}

/* false: after a message. */
static bool
copy_file(struct recover *c, const char *path)
{
	char *const room = malloc(COPY_BYTES);
	FILE *const f = room != NULL ? fopen(path, "rb") : NULL;
	struct shown_path shown;
	bool ok = f != NULL && convert_output_put(&c->output, c->file, "", 0);

	for (size_t n; ok && (n = fread(room, 1, COPY_BYTES, f)) > 0;)
		ok = convert_output_put(&c->output, c->file, room, n);
	if (room == NULL || f == NULL || ferror(f)) {
		say("%s: %s", show_path(&shown, path),
		    room == NULL ? "the system gives no more memory" : strerror(errno));
		ok = false;
	}
	if (f != NULL)
		fclose(f);
	free(room);
	if (!ok)
		c->status = worse(c->status, STATUS_UNREADABLE);
	return ok;
}

/* The format of a file that is named like a trace; NULL: it is to be copied. */
static const struct format *
format_of(const struct recover *c, const char *name)
{
	const struct format *const from = c->options.from;

	if (!format_wants_name(from, name))
		return NULL;
	const struct format *const format = from != NULL ? from : format_of_name(name);
	return format != NULL && format->recover != NULL ? format : NULL;
}

/* What is packed is written unpacked. */
static void
cut_suffix(char *name)
{
	static const char *const suffixes[] = { ".gz", ".zst", ".xz" };
	const size_t n = strlen(name);

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		const size_t k = strlen(suffixes[i]);
		if (n > k && strcmp(name + n - k, suffixes[i]) == 0) {
			name[n - k] = '\0';
			return;
		}
	}
}

static bool
take_file(struct recover *c, const char *path)
{
	const char *const slash = strrchr(path, '/'), *name = path + strlen(c->in);
	const struct format *const format = format_of(c, slash + 1);

	name += strspn(name, "/");
	char *const file = strdup(name);
	struct input *const in = format != NULL ? input_open(path) : NULL;
	if (file == NULL || (format != NULL && in == NULL)) {
		free(file);
		input_close(in);
		options_no_memory(&c->options);
		c->status = worse(c->status, STATUS_UNREADABLE);
		return false;
	}
	const bool copied = format == NULL || in->fault == INPUT_EMPTY;
	if (!copied && in->packing != INPUT_PLAIN)
		cut_suffix(file);
	c->file = file;
	if (copied)
		input_close(in);
	c->found |= !copied;
	const bool ok = copied ? copy_file(c, path) : recover_input(c, path, format, in);
	c->file = c->list.file = NULL;
	free(file);
	return ok;
}

/* A folder in which nothing is to be recovered. */
static bool
say_no_trace(struct recover *c)
{
	struct findings j;

	findings_init(&j, c->in, say_finding, &c->options);
	finding_add(
	    &j, &input_rules[INPUT_RULE_NOT_A_FILE], 0, 0,
	    "the input is a directory without a trace: no file in it that is named like one holds any "
	    "bytes");
	c->status = worse(c->status, STATUS_UNREADABLE);
	return false;
}

bool
recover_folder(struct recover *c)
{
	struct input_tree tree = { .n = 0 };
	struct shown_path shown;
	size_t i = 0;

	input_tree_list(&tree, c->in, wants, NULL);
	bool ok = !tree.no_memory;
	if (!ok)
		options_no_memory(&c->options);
	for (size_t k = 0; ok && k < tree.nproblems; k++) {
		say("%s: %s", show_path(&shown, tree.problems[k].path), tree.problems[k].text);
		ok = input_fault_is_warning(tree.problems[k].fault);
	}
	ok = ok && recover_open(c, WRITER_FOLDER);
	if (!ok)
		c->status = worse(c->status, STATUS_UNREADABLE);
	for (; ok && i < tree.n; i++)
		ok = take_file(c, tree.paths[i]);
	input_tree_free(&tree);
	return ok && (c->found || say_no_trace(c));
}

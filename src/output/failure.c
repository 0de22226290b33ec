/*
 * The first failure of an output, as a message that names the output and the reason.  The memory for it is
 * allocated when the output is opened, so that a lack of memory can be reported too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/private.h"
#include "output/text_visible.h"

enum { REASON_SIZE = 256 };

void output_errno_text(char *text, size_t size, int error)
{
	if (strerror_r(error, text, size) != 0)
		(void)snprintf(text, size, "error %d", error);
}

bool output_failure_init(struct output_failure *f, const char *name)
{
	struct text shown = { .p = NULL };

	text_visible(&shown, slice_str(name), 0);
	text_char(&shown, '\0');
	f->size = shown.n + OUTPUT_FILE_NAME_MAX + REASON_SIZE;
	f->text = malloc(f->size);
	f->name = shown.p;
	return !shown.failed && f->text != NULL;
}

void output_failure_free(struct output_failure *f)
{
	free(f->name);
	free(f->text);
	*f = (struct output_failure){ .error = 0 };
}

bool output_failure_because(struct output_failure *f, int error, const char *reason)
{
	if (f->error == 0) {
		f->error = error;
		(void)snprintf(f->text, f->size, "%s: %s", f->name, reason);
	}
	return false;
}

bool output_failure_set(struct output_failure *f, int error)
{
	char reason[REASON_SIZE / 2];

	output_errno_text(reason, sizeof reason, error);
	return output_failure_because(f, error, reason);
}

bool output_failure_in(struct output_failure *f, const char *file, int error, const char *reason)
{
	char of_errno[REASON_SIZE / 2];

	if (f->error == 0) {
		f->error = error;
		output_errno_text(of_errno, sizeof of_errno, error);
		(void)snprintf(f->text, f->size, "%s/%.*s: %s", f->name, OUTPUT_FILE_NAME_MAX, file,
		               reason != NULL ? reason : of_errno);
	}
	return false;
}

const char *output_failure_text(const struct output_failure *f)
{
	return f->error != 0 ? f->text : NULL;
}

void output_failure_tell(const struct output_failure *f, char *why, size_t n)
{
	const size_t len = strlen(f->text);

	if (n <= len && n > 4) {
		const char *tail = f->text + (len - (n - 4));
		while ((*tail & 0xc0) == 0x80) /* no half UTF-8 */
			tail++;
		(void)snprintf(why, n, "...%s", tail);
	} else if (n > 0) {
		(void)snprintf(why, n, "%s", f->text);
	}
}

void output_failure_no_memory(const char *name, char *why, size_t n)
{
	char space[REASON_SIZE];
	struct text shown = text_start(space, sizeof space);

	text_visible_ends(&shown, slice_str(name), REASON_SIZE / 2);
	if (n > 0)
		(void)snprintf(why, n, "%.*s: out of memory for the output", (int)shown.n, shown.p);
	text_free(&shown);
}

#include "output/output_failure.h"
#include "output/text_start.h"
#include "output/text_visible.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REASON_SIZE = 256 };

bool
output_failure_init(struct output_failure *f, const char *name)
{
	struct text shown = { .p = NULL };

	text_visible(&shown, slice_str(name), 0);
	text_char(&shown, '\0');
	f->size = shown.n + OUTPUT_FAILURE_FILE_MOST + REASON_SIZE;
	f->text = malloc(f->size);
	f->name = shown.p;
	return !shown.failed && f->text != NULL;
}

void
output_failure_free(struct output_failure *f)
{
	free(f->name);
	free(f->text);
	*f = (struct output_failure){ .error = 0 };
}

static void
errno_text(char *reason, size_t size, int error)
{
	if (strerror_r(error, reason, size) != 0)
		(void)snprintf(reason, size, "error %d", error);
}

bool
output_failure_because(struct output_failure *f, int error, const char *reason)
{
	if (f->error == 0) {
		f->error = error;
		(void)snprintf(f->text, f->size, "%s: %s", f->name, reason);
	}
	return false;
}

bool
output_failure_set(struct output_failure *f, int error)
{
	char reason[REASON_SIZE / 2];

	errno_text(reason, sizeof reason, error);
	return output_failure_because(f, error, reason);
}

bool
output_failure_in(struct output_failure *f, const char *file, int error, const char *reason)
{
	char room[REASON_SIZE / 2];

	if (f->error == 0) {
		f->error = error;
		errno_text(room, sizeof room, error);
		(void)snprintf(f->text, f->size, "%s/%.*s: %s", f->name, OUTPUT_FAILURE_FILE_MOST, file,
		               reason != NULL ? reason : room);
	}
	return false;
}

const char *
output_failure_text(const struct output_failure *f)
{
	return f->error != 0 ? f->text : NULL;
}

void
output_failure_tell(const struct output_failure *f, char *why, size_t n)
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

void
output_failure_no_memory(const char *name, char *why, size_t n)
{
	char room[REASON_SIZE];
	struct text shown = text_start(room, sizeof room);

	text_visible_ends(&shown, slice_str(name), REASON_SIZE / 2);
	if (n > 0)
		(void)snprintf(why, n, "%.*s: the system gives no more memory for the output", (int)shown.n,
		               shown.p);
	text_free(&shown);
}

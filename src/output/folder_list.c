#include "output/folder_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "output/folder_name.h"
#include "output/output_folder.h"

#define HEAD "tracetool-files 1 "

enum { READ_STEP = 64 << 10, LIST_MOST = 64 << 20 /* bytes of a list that is believed */, SUM_DIGITS = 16 };

static const char no_list[] =
    "exists, and has no list " OUTPUT_FOLDER_LIST " that would tell that tracetool wrote it: not replaced";
static const char not_ours[] =
    "exists, and its list " OUTPUT_FOLDER_LIST " is not as tracetool writes it: not replaced";
static const struct folder_wrong no_memory = { .error = ENOMEM };
static const struct folder_wrong bad_list = { .text = not_ours };

/* ---- writing ---- */

static uint64_t
sum_of(const char *p, size_t n)
{
	struct byte_sum s = { .sum = 0 };

	byte_sum_add(&s, p, n);
	return s.sum;
}

void
folder_list_put(struct text *t, const struct folder_file *files, uint32_t n)
{
	struct text lines = { .p = NULL };

	for (uint32_t i = 0; i < n; i++)
		text_printf(&lines, "%" PRIu64 " %016" PRIx64 " %s\n", files[i].given.bytes,
		            files[i].given.sum, files[i].name);
	text_printf(t, HEAD "%" PRIu32 " %016" PRIx64 "\n", n, sum_of(lines.p, lines.n));
	text_add(t, lines.p, lines.n);
	t->failed |= lines.failed;
	text_free(&lines);
}

/* ---- reading ---- */

/* The descriptor of the list; -1: *wrong says why. */
static int
open_list(const char *path, struct folder_wrong *wrong)
{
	struct stat st = { .st_mode = S_IFREG };
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	if (!S_ISREG(st.st_mode) || (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENXIO)))
		wrong->text = no_list;
	else
		wrong->error = errno;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* All bytes of the list. */
static struct folder_wrong
read_text(const char *folder, struct text *text)
{
	const size_t size = strlen(folder) + sizeof "/" OUTPUT_FOLDER_LIST;
	char *const path = malloc(size);
	struct folder_wrong wrong = { .error = 0 };

	if (path == NULL)
		return no_memory;
	(void)snprintf(path, size, "%s/" OUTPUT_FOLDER_LIST, folder);
	const int fd = open_list(path, &wrong);
	free(path);
	if (fd < 0)
		return wrong;
	for (ssize_t did = 1; did != 0 && wrong.error == 0 && wrong.text == NULL;) {
		char *const room = text_room(text, READ_STEP);
		did = room != NULL ? read(fd, room, READ_STEP) : -1;
		if (room == NULL)
			wrong = no_memory;
		else if (did < 0 && errno != EINTR)
			wrong.error = errno;
		text->n += did > 0 ? (size_t)did : 0;
		if (text->n > LIST_MOST)
			wrong = bad_list;
	}
	(void)close(fd);
	return wrong;
}

/* A number and what stands behind it; moves *p behind that.  false: there is none. */
static bool
take_number(const char **p, const char *end, char behind, uint64_t *v)
{
	const char *at = *p;

	for (*v = 0; at < end && *at >= '0' && *at <= '9' && *v <= (UINT64_MAX - 9) / 10; at++)
		*v = *v * 10 + (uint64_t)(*at - '0');
	if (at == *p || at == end || *at != behind)
		return false;
	*p = at + 1;
	return true;
}

static bool
take_sum(const char **p, const char *end, char behind, uint64_t *v)
{
	static const char digits[] = "0123456789abcdef";

	if (end - *p <= SUM_DIGITS || (*p)[SUM_DIGITS] != behind)
		return false;
	*v = 0;
	for (int i = 0; i < SUM_DIGITS; i++) {
		const char *const digit = memchr(digits, (*p)[i], SUM_DIGITS);
		if (digit == NULL)
			return false;
		*v = *v << 4 | (uint64_t)(digit - digits);
	}
	*p += SUM_DIGITS + 1;
	return true;
}

static struct folder_wrong
take_line(struct folder_list *l, const char **p, const char *end)
{
	struct folder_listed file;

	if (!take_number(p, end, ' ', &file.is.bytes) || !take_sum(p, end, ' ', &file.is.sum))
		return bad_list;
	const char *const line_end = memchr(*p, '\n', (size_t)(end - *p));
	if (line_end == NULL || folder_name_wrong(*p, (size_t)(line_end - *p)) != NULL)
		return bad_list;
	file.name = slice_of(*p, (size_t)(line_end - *p));
	if (tabletext_get(&l->names, file.name) != TABLE_NONE)
		return bad_list;
	if (!array_room(&l->files, l->n, &l->cap, sizeof *l->files) ||
	    !tabletext_put(&l->names, file.name, l->n))
		return no_memory;
	l->files[l->n++] = file;
	*p = line_end + 1;
	return (struct folder_wrong){ .error = 0 };
}

struct folder_wrong
folder_list_read(struct folder_list *l, const char *folder)
{
	uint64_t count, sum;

	*l = (struct folder_list){ .n = 0 };
	struct folder_wrong wrong = read_text(folder, &l->text);
	if (wrong.text != NULL || wrong.error != 0)
		return wrong;
	const char *p = l->text.p, *const end = p + l->text.n;
	if (l->text.n < strlen(HEAD) || memcmp(p, HEAD, strlen(HEAD)) != 0)
		return bad_list;
	p += strlen(HEAD);
	if (!take_number(&p, end, ' ', &count) || !take_sum(&p, end, '\n', &sum) ||
	    sum_of(p, (size_t)(end - p)) != sum)
		return bad_list;
	while (wrong.text == NULL && wrong.error == 0 && p < end)
		wrong = take_line(l, &p, end);
	return wrong.text == NULL && wrong.error == 0 && l->n != count ? bad_list : wrong;
}

void
folder_list_free(struct folder_list *l)
{
	text_free(&l->text);
	tabletext_free(&l->names);
	free(l->files);
	*l = (struct folder_list){ .n = 0 };
}

bool
folder_is_complete(const char *folder, int *error)
{
	struct text path = { .p = NULL };
	struct folder_list list;
	struct stat st;
	const struct folder_wrong wrong = folder_list_read(&list, folder);
	bool ok = wrong.text == NULL && wrong.error == 0;

	*error = wrong.error;
	for (uint32_t i = 0; i < list.n && ok; i++) {
		text_clear(&path);
		text_printf(&path, "%s/%.*s", folder, (int)list.files[i].name.n, list.files[i].name.p);
		text_char(&path, '\0');
		ok = !path.failed && lstat(path.p, &st) == 0;
		if (!ok && (path.failed || errno != ENOENT))
			*error = path.failed ? ENOMEM : errno;
		ok = ok && S_ISREG(st.st_mode) && (uint64_t)st.st_size == list.files[i].is.bytes;
	}
	text_free(&path);
	folder_list_free(&list);
	return ok;
}

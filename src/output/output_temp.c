#include "output/output_temp.h"
#include "base/rename.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	TRIES = 100, /* other names when one is taken */
	RANDOM_CHARS = 10,
};

static void
random_chars(char out[RANDOM_CHARS + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	unsigned char r[RANDOM_CHARS];
	if (getrandom(r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r) {
		/* Early boot: guessable, but O_EXCL still makes it safe. */
		struct timespec now = { 0 };
		(void)clock_gettime(CLOCK_REALTIME, &now);
		uint64_t x = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid();
		for (size_t i = 0; i < RANDOM_CHARS; i++)
			r[i] = (unsigned char)(x >> (5 * i));
	}
	for (size_t i = 0; i < RANDOM_CHARS; i++)
		out[i] = letters[r[i] % 32];
	out[RANDOM_CHARS] = '\0';
}

/* One new name: ".out.json.tracetool-x7c2...", or the short ".tracetool-x7c2..." when that is too long. */
static char *
name_new(const char *target, bool is_short)
{
	const char *slash = strrchr(target, '/');
	const size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - target);
	const char *base = target + folder;
	const char *tail = ".tracetool-";
	char r[RANDOM_CHARS + 1];
	random_chars(r);
	const size_t size = strlen(target) + strlen(tail) + RANDOM_CHARS + 2;
	char *name = malloc(size);
	if (name == NULL)
		return NULL;
	memcpy(name, target, folder);
	if (is_short)
		(void)snprintf(name + folder, size - folder, "%s%s", tail, r);
	else
		(void)snprintf(name + folder, size - folder, ".%s%s%s", base, tail, r);
	return name;
}

/* The descriptor, or 0 for a folder; -1: errno. */
static int
create_thing(int dir, const char *name, bool folder, mode_t mode)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

	if (folder)
		return mkdir(name, mode);
	return dir == AT_FDCWD ? open(name, flags, mode) : openat(dir, name, flags, mode);
}

static void
remove_thing(int dir, const char *name, bool folder)
{
	if (dir != AT_FDCWD)
		(void)unlinkat(dir, name, 0);
	else
		(void)(folder ? rmdir(name) : unlink(name));
}

static int
create_one(struct output_temp *t, const char *target, bool is_short, mode_t mode)
{
	char *name = name_new(target, is_short);
	if (name == NULL)
		return -1;
	const int fd = create_thing(t->dir, name, t->folder, mode);
	if (fd >= 0 && (t->entry = output_register_add(t->dir, name, t->folder)) != NULL) {
		t->path = name;
		t->target = target;
		return fd;
	}
	const int why = errno;
	if (fd >= 0) {
		remove_thing(t->dir, name, t->folder);
		if (!t->folder)
			(void)close(fd);
	}
	free(name);
	errno = why;
	return -1;
}

static int
create_some(struct output_temp *t, const char *target, mode_t mode)
{
	bool is_short = false;
	for (int i = 0; i < TRIES; i++) {
		const int fd = create_one(t, target, is_short, mode);
		if (fd >= 0)
			return fd;
		if (errno == ENAMETOOLONG && !is_short)
			is_short = true;
		else if (errno != EEXIST && errno != EINTR)
			return -1;
	}
	return -1;
}

/* No signal between the thing and its entry in the register. */
static int
create_held(struct output_temp *t, const char *target, mode_t mode)
{
	struct output_register_hold hold;
	const int fd = output_register_begin(&hold) ? create_some(t, target, mode) : -1;

	output_register_end(&hold);
	return fd;
}

int
output_temp_create(struct output_temp *t, const char *target, int keep_mode)
{
	return output_temp_create_in(t, AT_FDCWD, target, keep_mode);
}

int
output_temp_create_in(struct output_temp *t, int dir, const char *target, int keep_mode)
{
	*t = (struct output_temp){ .dir = dir };
	const int fd = create_held(t, target, keep_mode < 0 ? 0666 : 0600);
	/* File systems without permission bits may refuse; the file then has what they give. */
	if (fd >= 0 && keep_mode >= 0 && fchmod(fd, (mode_t)keep_mode & 0777) != 0 && errno != EPERM &&
	    errno != ENOSYS && errno != EOPNOTSUPP) {
		const int why = errno;
		(void)close(fd);
		output_temp_remove(t);
		errno = why;
		return -1;
	}
	return fd;
}

bool
output_temp_create_folder(struct output_temp *t, const char *target)
{
	*t = (struct output_temp){ .dir = AT_FDCWD, .folder = true };
	return create_held(t, target, 0777) >= 0;
}

void
output_temp_forget(struct output_temp *t)
{
	output_register_forget(t->entry);
	free(t->path);
	t->path = NULL;
}

int
output_temp_publish(struct output_temp *t, bool replace)
{
	int why = 0;

	if (!replace)
		why = rename_new_in(t->dir, t->path, t->target);
	else if (t->dir == AT_FDCWD)
		why = rename(t->path, t->target) == 0 ? 0 : errno;
	else
		why = renameat(t->dir, t->path, t->dir, t->target) == 0 ? 0 : errno;
	if (why == 0)
		output_temp_forget(t);
	return why;
}

/* As an exchange, where the system has none: a second name keeps what is replaced.  EINVAL: it cannot be
 * kept.
 */
static int
exchange_by_link(const struct output_temp *t)
{
	char *const aside = strdup(t->path);
	int why = aside == NULL ? ENOMEM : 0;

	if (why == 0) {
		aside[strlen(aside) - 1] = '-'; /* random names have none */
		why = link(t->target, aside) != 0 ? EINVAL : 0;
	}
	if (why == 0 && rename(t->path, t->target) != 0) {
		why = errno;
		(void)unlink(aside);
	} else if (why == 0) {
		(void)rename(aside, t->path);
	}
	free(aside);
	return why;
}

int
output_temp_try(struct output_temp *t, bool replace)
{
	int why = rename_new_in(t->dir, t->path, t->target);

	if (why == 0)
		t->named = TEMP_NAMED;
	if (why != EEXIST || !replace)
		return why;
	if (t->dir != AT_FDCWD) /* reports that policies name are in no set that is taken back */
		return output_temp_publish(t, true);
	why = rename_exchange(t->path, t->target);
	if (why == EINVAL || why == ENOSYS)
		why = exchange_by_link(t);
	if (why == EINVAL)
		return output_temp_publish(t, true);
	if (why == 0)
		t->named = TEMP_SWAPPED;
	return why;
}

void
output_temp_take_back(struct output_temp *t)
{
	if (t->named == TEMP_NAMED)
		(void)renameat(t->dir, t->target, t->dir, t->path);
	else if (t->named == TEMP_SWAPPED && rename_exchange(t->path, t->target) != 0)
		(void)rename(t->path, t->target);
	t->named = TEMP_UNNAMED;
}

void
output_temp_remove(struct output_temp *t)
{
	if (t->path == NULL)
		return;
	output_register_remove(t->entry);
	free(t->path);
	t->path = NULL;
}

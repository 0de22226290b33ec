#ifndef BASE_RENAME_H
#define BASE_RENAME_H

/* Two kinds of rename() that POSIX lacks.  Both return 0 or an errno value; nothing has changed on failure.
 */

/* Never replaces: EEXIST when `to` exists.  On systems and file systems that cannot do that at once, a second
 * name is made for a file; for a folder, and without hard links, `to` is looked at first. */
int rename_new(const char *from, const char *to);

/* The same for two names in an open folder. */
int rename_new_in(int dir, const char *from, const char *to);

/* Exchanges two paths of one file system at once.  EINVAL or ENOSYS: that cannot be done here. */
int rename_exchange(const char *a, const char *b);

#endif

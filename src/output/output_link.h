#ifndef OUTPUT_OUTPUT_LINK_H
#define OUTPUT_OUTPUT_LINK_H

/* Like realpath(), but the last name need not exist, and folders stay as they are written.  Malloced; NULL:
 * errno. */
char *output_follow_links(const char *path);

#endif

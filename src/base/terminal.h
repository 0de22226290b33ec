#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

/* Columns of lines that go to fd: COLUMNS if that is set, else what the terminal says, else 80.  0: fd is no
 * terminal, and lines may be of any length. */
unsigned terminal_columns(int fd);

#endif

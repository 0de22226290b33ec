#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

/* Columns of the terminal that fd is: COLUMNS if that is set, else what the terminal says, else 80.  0: fd is
 * no terminal. */
unsigned terminal_columns(int fd);

#endif

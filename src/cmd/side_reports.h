#ifndef CMD_SIDE_REPORTS_H
#define CMD_SIDE_REPORTS_H

#include "cmd/options.h"

/*
 * The reports of a command that does something else with its traces than to
 * validate them: what it finds on the way, in the forms of validate.  They go
 * to files.
 */
struct side_reports;

/* --report FORMAT=FILE.  false after a message and o->status set. */
bool side_reports_add(struct options *o, const char *arg);

/* Adds the names of their files; nothing without reports. */
struct run_names;
void side_reports_names(const struct options *o, struct run_names *n);

/* Opens the files; nothing without reports.  false after a message. */
bool side_reports_open(struct options *o);

/* A finding of the input that is read now. */
void side_reports_finding(struct side_reports *s, const struct finding *f);

/* The input was read, or could not be. */
void side_reports_input(struct options *o, const struct source *input);

/* Ends them, for a publication; the worst status of inputs.  STATUS_CLEAN without reports. */
struct publication;
enum exit_status side_reports_end(struct options *o, struct publication *p);

/* After the publication, or instead of it: nothing of them is left then. */
void side_reports_free(struct options *o);

#endif

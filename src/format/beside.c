#include <stdio.h>

#include "check/input_rules.h"
#include "format/trace_ops.h"

struct input *
reader_open_beside(const struct reader *r, const char *path)
{
	return input_open_in(r->files, r->archive, path);
}

bool
reader_can_use(struct reader *r, struct input *file, const char *name)
{
	if (!input_shrunk(file) &&
	    (file->fault == INPUT_OK || file->fault == INPUT_EMPTY || file->fault == INPUT_TRAILING))
		return true;
	finding_add(r->findings, input_fault_rule(file->fault), 0, 0, "%s: %s", name, file->fault_text);
	snprintf(r->unreadable, sizeof r->unreadable, "%.60s: %.180s", name, file->fault_text);
	return false;
}

#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/memory.h"
#include "base/cursor.h"
#include "base/scan.h"
#include "model/class.h"
#include "model/plan.h"
#include "model/event.h"
#include "format/reader_modes.h"
#include "format/option.h"
#include "format/reader.h"
#include "format/trace_ops.h"
#include "format/writer.h"
#include "output/text_json.h"
#include "output/text_visible.h"

/* A format: a folder formats/X, a line in formats.def, one of these, X_format.  Its files include this. */
struct format {
	const char *name, *title, *spec; /* spec: which document it follows */
	const char *const *suffixes;     /* ".tick", ...; NULL-terminated; the first is the usual one */
	const char *const *dialects, *const *recounted; /* NULL-terminated; NULL: none; writer_modes.h */
	const struct format_option *options; /* on the command line, ended by a name of NULL; NULL: none */
	const struct reader_ops *reader;     /* NULL: cannot be read */
	const struct trace_ops *trace;       /* NULL: its traces are single files that share nothing */
	const struct writer_ops *writer;     /* NULL: cannot be written */
	const struct recover_ops *recover;   /* see format/recover.h; NULL: damaged ones stay damaged */
	const struct rule *rules;            /* ended by an id of NULL; NULL: none */
	const struct loss *losses;           /* of its writer; likewise */
	unsigned holds;                      /* of its reader: what events can have, see format/holds.h */
};

#endif

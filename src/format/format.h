#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/memory.h"
#include "base/cursor.h"
#include "base/scan.h"
#include "model/plan.h"
#include "model/event.h"
#include "format/reader_modes.h"
#include "format/option.h"
#include "format/reader.h"
#include "format/trace_ops.h"
#include "format/copier.h"
#include "format/writer.h"
#include "output/text_json.h"
#include "output/text_visible.h"

/* A format.  Format X is a folder formats/X, a line in formats.def, and a struct X_format.  Its files include
 * this header. */
struct format {
	const char *name, *title, *spec;                /* spec: the document that defines it */
	const char *const *suffixes;                    /* ".tick", ...; NULL-terminated; the default first */
	const char *const *dialects, *const *recounted; /* NULL-terminated; NULL: none; copier.h */
	const struct format_option *options;            /* ended by a name of NULL; NULL: none */
	const struct reader_ops *reader;                /* NULL: cannot be read */
	const struct trace_ops *trace;                  /* NULL: each file is a trace by itself */
	const struct writer_ops *writer;                /* NULL: cannot be written */
	const struct copier_ops *copier;                /* NULL: its records cannot be copied */
	const struct recover_ops *recover;              /* format/recover.h; NULL: cannot be recovered */
	const struct rule *rules;                       /* ended by an id of NULL; NULL: none */
	const struct loss *losses;                      /* of its writer; ended likewise */
	unsigned features;                              /* of its reader: enum feature (format/ledger.h) */
};

#endif

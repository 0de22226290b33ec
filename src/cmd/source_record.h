#ifndef CMD_SOURCE_RECORD_H
#define CMD_SOURCE_RECORD_H

#include "check/file_record.h"
#include "format/trace_ops.h"
#include "run/read/source.h"

/* What reports say of an input that was read, or could not be; without its findings.  Texts are the
 * source's. */
static inline struct file_record
source_record(const struct source *s)
{
	return (struct file_record){
		.path = s->findings.path,
		.format = s->open ? s->format->name : NULL,
		.dialect = s->open ? s->dialect : NULL,
		.rules = s->open ? s->format->rules : NULL,
		.trace = s->place.in_folder && s->format != NULL && format_trace_ops(s->format)->merges
		             ? s->place.operand
		             : NULL,
		.records = s->reader.records,
		.unread_bytes = s->open ? s->reader.unread : 0,
		.unreadable = s->unreadable,
		.whole = s->as_whole,
	};
}

#endif

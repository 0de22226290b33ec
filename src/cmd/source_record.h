#ifndef CMD_SOURCE_RECORD_H
#define CMD_SOURCE_RECORD_H

#include "check/file_record.h"
#include "pipeline/source.h"

/* What reports say of an input that was read, or could not be; without its findings.  Texts are the
 * source's. */
static inline struct file_record
source_record(const struct source *s)
{
	return (struct file_record){
		.path = s->findings.path,
		.format = s->open ? s->format->name : NULL,
		.dialect = s->open ? s->context->trace->dialect : NULL,
		.rules = s->open ? s->format->rules : NULL,
		.records = s->reader.records,
		.unread_bytes = s->open ? s->reader.unread : 0,
		.unreadable = s->unreadable,
		.whole = s->as_whole,
	};
}

#endif

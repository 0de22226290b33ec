#ifndef FORMAT_READER_COPY_H
#define FORMAT_READER_COPY_H

/*
 * For formats that have a writer which copies raw records (WRITER_RAW_SAME): what more such a writer may want
 * of its reader, together with WANT_RAW and WANT_BYTES.  A reader that does not know it is read as usual.
 */
enum want_copy {
	/* Of traces of several files, whose streams are not merged then.  Before the records of an input come
	 * events of PHASE_STRUCTURE without bytes: each file beside it that belongs to the trace, with the
	 * fields `name` (a STRING) and `content` (BYTES; none: it was not read), and the input itself, with
	 * `name` alone.  Names are the ways from the folder of the trace: see reader.folder.  `dur` of these
	 * events and of all records is a number of the input, from 0: by it they are told apart. */
	WANT_FILES = 256,
	/* Fields of events, which are not PHASE_STRUCTURE, are not looked at, except of one at offset 0. */
	WANT_BARE = 1024,
};

#endif

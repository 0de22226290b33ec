#ifndef OVNI_SAMPLES_H
#define OVNI_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/* The samples of testdata/ovni, which `make testdata` writes. */

/* A single stream: NAME.obs. */
struct ovni_sample {
	const char *name;
	const char *rule; /* without "ovni/"; NULL: a good one */
	int exit_status;
	unsigned offset; /* of the finding */
	const char *bytes;
	size_t n;
};

extern const struct ovni_sample ovni_samples[]; /* ended by a name of NULL */

/* A folder of up to two streams, NAME/a and NAME/b; the fault is in the metadata. */
struct ovni_folder {
	const char *name;
	const char *rule;
	int exit_status;
	const char *a, *b;   /* stream.json; "": the file is missing; b NULL: there is no second stream */
	bool no_events;      /* stream.obs is missing in a */
	const char *file;    /* the name of a's metadata, if it is not stream.json */
	const char *offsets; /* clock-offsets.txt of the folder, or NULL */
};

extern const struct ovni_folder ovni_folders[]; /* ended by a name of NULL */

/* A folder of up to two streams with a fault that only the rules of the group "state" find. */
struct ovni_emulated {
	const char *name;
	const char *rule; /* NULL: a good one */
	struct {
		const char *json; /* NULL: there is no second stream */
		const char *bytes;
		size_t n;
	} streams[2];
};

extern const struct ovni_emulated ovni_emulated[]; /* ended by a name of NULL */

#endif

#ifndef OVNI_ANOMALIES_H
#define OVNI_ANOMALIES_H

#include "ovni/code.h"

/*
 * Events that are not as the vocabulary describes them.  Third parties write
 * models of their own, and old releases wrote other payloads, so none of this
 * is an error; it is counted for each code and reported once for each stream.
 */

struct ovni_anomalies; /* of one stream; starts as NULL and is given to free() */

/* Compares an event, the latest record of r, with what the vocabulary expects of its code.  Codes whose
 * events need no further check take the fast path from here on.  false: no memory. */
bool ovni_check_payload(struct ovni_anomalies **all, struct ovni_codes *codes, struct reader *r,
                        const struct ovni_code *c, const struct ovni_record *e, bool big);

/* At the end of a stream. */
void ovni_report_anomalies(const struct ovni_anomalies *all, const struct ovni_codes *codes,
                           struct reader *r);

#endif

#ifndef DFTRACER_USUAL_H
#define DFTRACER_USUAL_H

#include "dftracer/state.h"

/* Does for st->record, a record of an ordinary line (DFT_SPARE bytes behind it can be read), what
 * dft_record_take() does where no events are wanted.  False: nothing was done, for it is not one of the usual
 * records. */
bool dft_usual_take(struct dft_state *st, const struct dft_record *rec);

#endif

#ifndef OVNI_OVNI_END_H
#define OVNI_OVNI_END_H

struct ovni_state;

/* What the end of a stream shows.  Each adds findings to those of the stream's reader. */

/* The clocks that were counted on the way (section "Stream format": they do not go backwards but in regions
 * that are to be sorted). */
void ovni_report_clocks(const struct ovni_state *st);

/* A region that is open, an end that is missing, no events at all.  The stream was read to its end. */
void ovni_check_end(const struct ovni_state *st);

#endif

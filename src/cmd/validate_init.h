#ifndef CMD_VALIDATE_INIT_H
#define CMD_VALIDATE_INIT_H

#include "cmd/options.h"

/* `validate --init TRACE`: writes a policy that a good trace keeps, to standard output or to the file of -o.
 */
enum exit_status validate_init(struct options *o);

#endif

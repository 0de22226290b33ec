#include "json/json_token.h"
#include "ovni/state.h"

/* Strict JSON, checked before cJSON builds a tree of it: cJSON accepts numbers such as 01, control bytes in
 * strings and text that is not UTF-8, and does not say where an error is. */
const char *
ovni_json_fault(const char *p, size_t n, size_t *where)
{
	return json_document_fault(p, n, OVNI_MAX_DEPTH, where);
}

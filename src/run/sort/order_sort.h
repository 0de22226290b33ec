#ifndef PIPELINE_ORDER_SORT_H
#define PIPELINE_ORDER_SORT_H

#include "model/order_key.h"

/*
 * Sorts keys; equal ones keep their order.  Runs that are in order already, or
 * in reverse order, are merged, so n keys in r long runs take O(n log r).  Keys
 * without such runs are distributed by the digits in which they differ.  At
 * worst O(n log n), for any input.
 * scratch: room for 2 * n keys.
 */
void order_sort(struct order_key *keys, uint32_t n, struct order_key *scratch);

#endif

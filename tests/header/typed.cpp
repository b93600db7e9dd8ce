// SPDX-License-Identifier: MIT
//
// typed.cpp - typed.h and hidden.h alone, twice, in every C++; and types that only C++ has.
//
#include <lfpool/typed.h>
#include "typed.h"

namespace fleet
{

class carrier {
	int planes = 3;

public:
	int count_planes() const { return planes; }
};

struct alignas(64) lane {
	double x;
};

LFPOOL_DEFINE(carrier, carrier);
LFPOOL_DEFINE(lane, struct lane);

} // namespace fleet

int use_classes(fleet::carrier_pool_t carriers, fleet::lane_pool_t lanes);
int use_classes(fleet::carrier_pool_t carriers, fleet::lane_pool_t lanes)
{
	fleet::carrier *c = fleet::carrier_acquire(carriers);

	return c && fleet::lane_acquire(lanes) ? c->count_planes() : 0;
}

#pragma once

// All techniques.

#include <ebb/techniques/accumulate_to.h>
#include <ebb/techniques/find_batch_size.h>

#pragma once

// All techniques.

#include <ebb/techniques/accumulate_to.h>
#include <ebb/techniques/checkpoint_sequential.h>
#include <ebb/techniques/find_batch_size.h>
#include <ebb/techniques/plan_checkpoints.h>
#include <ebb/techniques/save_as.h>
#include <ebb/techniques/save_on_cpu.h>

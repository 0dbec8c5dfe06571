#pragma once

// All that a user of ebb needs.

#include <ebb/autograd/anomaly.h>
#include <ebb/autograd/autocast.h>
#include <ebb/autograd/autograd.h>
#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/factories.h>
#include <ebb/autograd/function.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ops/functions.h>
#include <ebb/autograd/saved_tensor_hooks.h>
#include <ebb/autograd/tensor.h>
#include <ebb/core/memory/memory.h>
#include <ebb/core/parallel.h>
#include <ebb/core/version.h>
#include <ebb/cuda/cuda.h>
#include <ebb/data/data.h>
#include <ebb/nn/nn.h>
#include <ebb/optim/optim.h>
#include <ebb/techniques/techniques.h>

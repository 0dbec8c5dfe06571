#pragma once

// All of nn.

#include <ebb/nn/cloneable.h>
#include <ebb/nn/functional.h>
#include <ebb/nn/init.h>
#include <ebb/nn/module.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/modules.h>
#include <ebb/nn/options.h>
#include <ebb/nn/ordered_dict.h>
#include <ebb/nn/utils/clip_grad.h>
#include <ebb/nn/utils/convert_parameters.h>
#include <ebb/nn/utils/rnn.h>

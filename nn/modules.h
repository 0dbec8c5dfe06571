#pragma once

#include <ebb/nn/modules/activation.h>
#include <ebb/nn/modules/batchnorm.h>
#include <ebb/nn/modules/container/any_module.h>
#include <ebb/nn/modules/container/functional.h>
#include <ebb/nn/modules/container/module_list.h>
#include <ebb/nn/modules/container/sequential.h>
#include <ebb/nn/modules/conv.h>
#include <ebb/nn/modules/dropout.h>
#include <ebb/nn/modules/embedding.h>
#include <ebb/nn/modules/linear.h>
#include <ebb/nn/modules/lora.h>
#include <ebb/nn/modules/loss.h>
#include <ebb/nn/modules/normalization.h>
#include <ebb/nn/modules/pooling.h>
#include <ebb/nn/modules/rnn.h>

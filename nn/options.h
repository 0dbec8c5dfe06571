#pragma once

#include <ebb/nn/options/activation.h>
#include <ebb/nn/options/batchnorm.h>
#include <ebb/nn/options/conv.h>
#include <ebb/nn/options/dropout.h>
#include <ebb/nn/options/embedding.h>
#include <ebb/nn/options/linear.h>
#include <ebb/nn/options/lora.h>
#include <ebb/nn/options/loss.h>
#include <ebb/nn/options/normalization.h>
#include <ebb/nn/options/pooling.h>
#include <ebb/nn/options/rnn.h>

#pragma once

// The LibTorch face of ebb: its namespaces, and its macros under their names there.

#include <ebb/ebb.h>

#include <ATen/Context.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>
#include <c10/util/irange.h>
#include <torch/version.h>

namespace torch {
using namespace ebb;
}
namespace at {
using namespace ebb;
}

#define TORCH_MODULE(Name) EBB_MODULE(Name)
#define TORCH_MODULE_IMPL(Name, ImplType) EBB_MODULE_IMPL(Name, ImplType)
#define TORCH_ARG(Type, name) EBB_ARG(Type, name)
// Containers find out about default arguments themselves.
#define FORWARD_HAS_DEFAULT_ARGS(...)

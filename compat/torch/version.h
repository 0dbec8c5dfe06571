#pragma once

/// The version of LibTorch whose names and behaviour ebb follows.
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 0
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION "2.0.0"

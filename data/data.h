#pragma once

// Datasets, transforms, samplers and loaders, as LibTorch's torch::data.
#include <ebb/data/data_loader.h>
#include <ebb/data/dataset.h>
#include <ebb/data/example.h>
#include <ebb/data/mnist.h>
#include <ebb/data/samplers.h>
#include <ebb/data/transforms.h>

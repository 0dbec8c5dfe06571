#pragma once

// All of optim.

#include <ebb/optim/adafactor.h>
#include <ebb/optim/adam.h>
#include <ebb/optim/adam8bit.h>
#include <ebb/optim/adamw.h>
#include <ebb/optim/grad_scaler.h>
#include <ebb/optim/optimizer.h>
#include <ebb/optim/schedulers/lr_scheduler.h>
#include <ebb/optim/schedulers/step_lr.h>
#include <ebb/optim/sgd.h>
#include <ebb/optim/step_in_backward.h>

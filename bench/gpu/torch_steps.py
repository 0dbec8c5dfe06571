#!/usr/bin/env python3
"""The training step of bench/gpu/kernels.cpp in PyTorch: prints its microseconds, or why not."""

import sys

try:
    import torch
except ImportError:
    sys.exit("no torch for Python here")
if not torch.cuda.is_available():
    sys.exit("torch sees no CUDA device")

REPEATS = 20
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False

nn = torch.nn
net = nn.Sequential(
    nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(256, 1, 28, 28, device="cuda")
target = torch.randint(10, (256,), device="cuda")


def step():
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), target).backward()
    optimizer.step()


def time_us():
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    step()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e3


step()
step()
print(min(time_us() for _ in range(REPEATS)))

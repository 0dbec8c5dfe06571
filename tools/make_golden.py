#!/usr/bin/python3
"""Writes tests/golden/ops.txt, elementwise.txt and rnn.txt: inputs, results and gradients as PyTorch computes them.

Needs PyTorch (Debian's python3-torch will do):  /usr/bin/python3 tools/make_golden.py

One case a block: `case NAME`, its `input`s, its `output`s, and a `grad` for each floating-point
input: that of the sum over the outputs, each multiplied by the cosine of its elements' numbers.
Each tensor is written as dtype, sizes (comma-separated) and elements. The names are those of the
tables in the files beside them.
"""

import math
import pathlib

import torch
import torch.nn.functional as F

torch.manual_seed(20)
CASES = {}


def case(name, inputs, function):
    CASES[name] = (inputs, function)


def normal(*size):
    return torch.randn(size, dtype=torch.float64)


def uniform(low, high, *size):
    return torch.rand(size, dtype=torch.float64) * (high - low) + low


def integers(low, high, *size):
    return torch.randint(low, high, size)


for name in ["neg", "abs", "exp", "expm1", "square", "sin", "cos", "erf", "floor", "ceil", "round",
             "trunc", "sign", "relu", "tanh", "sigmoid"]:
    case(name, [normal(3, 4) * 2], getattr(torch, name))
for name in ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"]:
    case(name, [uniform(0.1, 4, 3, 4)], getattr(torch, name))
case("tan", [uniform(-1.2, 1.2, 3, 4)], torch.tan)
case("gelu", [normal(3, 4) * 2], F.gelu)
case("gelu tanh", [normal(3, 4) * 2], lambda x: F.gelu(x, approximate="tanh"))
case("silu", [normal(3, 4) * 2], F.silu)

pair = lambda: [normal(3, 4), uniform(0.3, 2, 4)]
for name in ["add", "sub", "mul", "div", "maximum", "minimum", "remainder"]:
    case(name, pair(), getattr(torch, name))
case("add alpha", pair(), lambda a, b: torch.add(a, b, alpha=2.5))
case("floor_divide", [integers(-9, 9, 12), integers(1, 4, 12)], torch.floor_divide)
case("div trunc", pair(), lambda a, b: torch.div(a, b, rounding_mode="trunc"))
case("pow", [uniform(0.2, 3, 3, 4), normal(4)], torch.pow)
case("pow scalar", [uniform(0.2, 3, 3, 4)], lambda a: a ** 2.5)
case("pow base", [normal(3, 4)], lambda a: 2.5 ** a)
case("clamp", [normal(3, 4)], lambda a: a.clamp(-0.5, 0.7))
case("clamp tensor", [normal(3, 4), uniform(-1, -0.2, 4), uniform(0.2, 1, 4)],
     lambda a, b, c: a.clamp(b, c))
case("where", [integers(0, 2, 3, 4).bool(), normal(3, 4), normal(4)], torch.where)
case("masked_fill", [normal(3, 4), integers(0, 2, 3, 4).bool()], lambda a, m: a.masked_fill(m, 2.5))
case("addcmul", [normal(3, 4), normal(4), normal(3, 1)],
     lambda a, b, c: torch.addcmul(a, b, c, value=0.5))
case("addcdiv", [normal(3, 4), normal(4), uniform(0.5, 2, 3, 1)],
     lambda a, b, c: torch.addcdiv(a, b, c, value=0.5))
case("lerp", [normal(3, 4), normal(3, 4)], lambda a, b: torch.lerp(a, b, 0.3))
case("lerp tensor", [normal(3, 4), normal(3, 4), uniform(0, 1, 3, 4)], torch.lerp)
case("integer floor_divide", [integers(-9, 9, 12), integers(1, 4, 12)],
     lambda a, b: torch.div(a, b, rounding_mode="floor"))
case("integer remainder", [integers(-9, 9, 12), integers(1, 4, 12)], torch.remainder)
case("integer div", [integers(-9, 9, 12), integers(1, 4, 12)], torch.div)
for name in ["eq", "ne", "lt", "le", "gt", "ge"]:
    case(name, [integers(0, 3, 3, 4), integers(0, 3, 4)], getattr(torch, name))

case("sum", [normal(2, 3, 4)], torch.sum)
case("sum dims", [normal(2, 3, 4)], lambda a: a.sum((0, 2)))
case("sum keepdim", [normal(2, 3, 4)], lambda a: a.sum(1, True))
case("mean", [normal(2, 3, 4)], torch.mean)
case("mean dim", [normal(2, 3, 4)], lambda a: a.mean(1))
case("prod", [normal(2, 3)], torch.prod)
case("prod dim", [normal(2, 3, 4)], lambda a: a.prod(1))
case("max", [normal(3, 4)], torch.max)
case("max dim", [normal(3, 4)], lambda a: a.max(1))
case("min dim", [normal(3, 4)], lambda a: a.min(0, True))
case("amax", [normal(3, 4)], lambda a: a.amax((0,)))
case("amin", [normal(3, 4)], lambda a: a.amin((0, 1)))
case("argmax", [normal(3, 4)], lambda a: a.argmax(1))
case("argmin", [normal(3, 4)], lambda a: a.argmin())
case("all", [integers(0, 4, 3, 4)], lambda a: a.all(1))
case("any", [integers(0, 2, 3, 4)], lambda a: a.any(0))
case("var", [normal(3, 4)], torch.var)
case("var dim", [normal(3, 4)], lambda a: a.var((1,), False, True))
case("std dim", [normal(3, 4)], lambda a: a.std((0,), True))
case("norm", [normal(3, 4)], torch.norm)
case("norm 1", [normal(3, 4)], lambda a: a.norm(1, (1,)))
case("norm 3", [normal(3, 4)], lambda a: a.norm(3, (0,), True))
case("logsumexp", [normal(3, 4)], lambda a: a.logsumexp((1,)))
case("cumsum", [normal(3, 4)], lambda a: a.cumsum(0))
case("cumprod", [normal(3, 4)], lambda a: a.cumprod(1))
case("topk", [normal(3, 6)], lambda a: a.topk(2, 1))
case("topk smallest", [normal(3, 6)], lambda a: a.topk(2, 0, False))
case("sort", [normal(3, 6)], lambda a: a.sort(1, True))
case("argsort", [normal(3, 6)], lambda a: a.argsort(0))

case("softmax", [normal(3, 4, 2)], lambda a: a.softmax(1))
case("log_softmax", [normal(3, 4, 2)], lambda a: a.log_softmax(-1))

case("batch_norm train", [normal(4, 3, 2, 2), normal(3), normal(3)],
     lambda x, w, b: F.batch_norm(x, torch.zeros(3).double(), torch.ones(3).double(), w, b, True,
                                  0.1, 1e-5))
case("batch_norm eval", [normal(4, 3, 2), normal(3), normal(3)],
     lambda x, w, b: F.batch_norm(x, torch.full((3,), 0.25).double(),
                                  torch.full((3,), 1.5).double(), w, b, False, 0.1, 1e-5))
case("layer_norm", [normal(4, 3, 5), normal(3, 5), normal(3, 5)],
     lambda x, w, b: F.layer_norm(x, (3, 5), w, b, 1e-5))

case("mm", [normal(3, 4), normal(4, 5)], torch.mm)
case("bmm", [normal(2, 3, 4), normal(2, 4, 5)], torch.bmm)
case("mv", [normal(3, 4), normal(4)], torch.mv)
case("dot", [normal(4), normal(4)], torch.dot)
case("matmul broadcast", [normal(2, 1, 3, 4), normal(5, 4, 2)], torch.matmul)
case("matmul vector", [normal(4), normal(2, 4, 3)], torch.matmul)
case("addmm", [normal(5), normal(3, 4), normal(4, 5)],
     lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2))
case("linear", [normal(2, 3, 4), normal(5, 4), normal(5)], F.linear)

case("conv2d", [normal(2, 3, 5, 6), normal(4, 3, 3, 2), normal(4)], F.conv2d)
case("conv2d strided", [normal(1, 2, 7, 6), normal(3, 2, 3, 3), normal(3)],
     lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 2)))
case("conv2d dilated", [normal(1, 2, 7, 8), normal(3, 2, 3, 2)],
     lambda x, w: F.conv2d(x, w, None, 1, 1, (2, 3)))
case("conv2d groups", [normal(2, 4, 4, 4), normal(6, 2, 3, 3), normal(6)],
     lambda x, w, b: F.conv2d(x, w, b, 1, 1, 1, 2))
case("max_pool2d", [normal(2, 2, 5, 6)], lambda x: F.max_pool2d(x, 2))
case("max_pool2d overlapping", [normal(1, 2, 6, 7)],
     lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 1), 1, True))
case("avg_pool2d", [normal(2, 2, 5, 6)], lambda x: F.avg_pool2d(x, 2))
case("avg_pool2d padded", [normal(1, 2, 6, 7)],
     lambda x: F.avg_pool2d(x, (3, 2), (2, 1), (1, 1), True, False))

case("embedding", [normal(6, 3), integers(0, 6, 2, 4)], lambda w, i: F.embedding(i, w))
case("nll_loss", [normal(4, 5), integers(0, 5, 4)], F.nll_loss)
case("nll_loss weighted", [normal(4, 5), integers(0, 5, 4), uniform(0.2, 2, 5)],
     lambda x, t, w: F.nll_loss(x, t, w.detach(), ignore_index=1))
case("cross_entropy", [normal(4, 5), integers(0, 5, 4)], F.cross_entropy)
case("cross_entropy smoothed", [normal(4, 5), integers(0, 5, 4)],
     lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1))
case("cross_entropy images", [normal(2, 3, 2, 2), integers(0, 3, 2, 2, 2)],
     lambda x, t: F.cross_entropy(x, t, reduction="sum"))
case("mse_loss", [normal(3, 4), normal(3, 4)], F.mse_loss)
case("mse_loss none", [normal(3, 4), normal(3, 4)], lambda a, b: F.mse_loss(a, b, reduction="none"))

rows = torch.tensor([2, 0, 2])
case("index_select", [normal(3, 4), rows], lambda a, i: a.index_select(0, i))
case("index_add", [normal(3, 4), rows, normal(3, 4)],
     lambda a, i, b: a.index_add(0, i, b, alpha=0.5))
case("gather", [normal(3, 4), integers(0, 4, 3, 2)], lambda a, i: a.gather(1, i))
case("scatter", [normal(3, 4), torch.tensor([[0, 3], [2, 1], [1, 0]]), normal(3, 2)],
     lambda a, i, b: a.scatter(1, i, b))
case("scatter_add", [normal(3, 4), integers(0, 4, 3, 5), normal(3, 5)],
     lambda a, i, b: a.scatter_add(1, i, b))
case("masked_select", [normal(3, 4), integers(0, 2, 3, 4).bool()], torch.masked_select)
case("nonzero", [integers(0, 2, 3, 4)], torch.nonzero)
case("one_hot", [integers(0, 4, 3)], lambda i: F.one_hot(i, 5))

case("cat", [normal(2, 3), normal(1, 3)], lambda a, b: torch.cat([a, b], 0))
case("stack", [normal(2, 3), normal(2, 3)], lambda a, b: torch.stack([a, b], 1))
case("repeat", [normal(2, 3)], lambda a: a.repeat(2, 1, 2))
case("roll", [normal(3, 4)], lambda a: a.roll((1, -2), (0, 1)))
case("flip", [normal(3, 4)], lambda a: a.flip((0, 1)))
case("tril", [normal(2, 3, 4)], lambda a: a.tril(-1))
case("triu", [normal(2, 3, 4)], lambda a: a.triu(1))
case("diag", [normal(3)], lambda a: a.diag(-1))
case("diagonal", [normal(3, 4, 2)], lambda a: a.diagonal(1, 0, 1))
case("permute", [normal(2, 3, 4)], lambda a: a.permute(2, 0, 1))
case("slice", [normal(5, 3)], lambda a: a[1:5:2])
case("expand", [normal(3, 1)], lambda a: a.expand(2, 3, 4))
case("as_strided overlapping", [normal(6)], lambda a: a.as_strided((3, 2), (1, 2), 1))

# Recurrent modules: inputs are x, the states, and the parameters in the order of registration.
RNN_CASES = {}
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}


def states(mode, *size):
    return [normal(*size)] if mode != "lstm" else [normal(*size), normal(*size)]


def hidden(mode, given):
    return tuple(given) if mode == "lstm" else given[0]


def rnn_case(name, mode, x, batch, *, hidden_size=2, layers=1, directions=1, bias=True,
             batch_first=False, lengths=None):
    weights = []
    for layer in range(layers):
        for _ in range(directions):
            features = x.shape[-1] if layer == 0 else hidden_size * directions
            rows = GATES[mode] * hidden_size
            weights += [normal(rows, features), normal(rows, hidden_size)]
            weights += [normal(rows), normal(rows)] if bias else []
    initial = states(mode, layers * directions, batch, hidden_size)

    def run_module(x, *rest):
        given = hidden(mode, rest[:len(initial)])
        function = getattr(torch._VF, mode)
        settings = (list(rest[len(initial):]), bias, layers, 0.0, False, directions == 2)
        if lengths is None:
            return function(x, given, *settings, batch_first)
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first)
        output, *last = function(packed.data, packed.batch_sizes, given, *settings)
        packed = torch.nn.utils.rnn.PackedSequence(output, packed.batch_sizes)
        padded, _ = torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first, 0.25)
        return (padded, *last)

    RNN_CASES[name] = ([x, *initial, *weights], run_module)


def cell_case(name, mode):
    initial = states(mode, 2, 3)
    rows = GATES[mode] * 3
    weights = [normal(rows, 4), normal(rows, 3), normal(rows), normal(rows)]
    function = getattr(torch, mode + "_cell")
    RNN_CASES[name] = ([normal(2, 4), *initial, *weights],
                       lambda x, *rest: function(x, hidden(mode, rest[:len(initial)]),
                                                 *rest[len(initial):]))


rnn_case("rnn tanh", "rnn_tanh", normal(4, 2, 3), 2)
rnn_case("rnn relu", "rnn_relu", normal(4, 2, 3), 2, layers=2)
rnn_case("lstm", "lstm", normal(4, 2, 3), 2)
rnn_case("lstm without bias", "lstm", normal(3, 2, 3), 2, bias=False)
rnn_case("lstm both ways", "lstm", normal(2, 4, 3), 2, layers=2, directions=2, batch_first=True)
rnn_case("gru", "gru", normal(4, 2, 3), 2)
rnn_case("gru without bias", "gru", normal(3, 2, 3), 2, bias=False)
rnn_case("gru both ways", "gru", normal(2, 4, 3), 2, layers=2, directions=2, batch_first=True)
rnn_case("rnn packed", "rnn_tanh", normal(4, 3, 3), 3, directions=2, lengths=[4, 2, 1])
rnn_case("lstm packed", "lstm", normal(4, 3, 3), 3, layers=2, directions=2, lengths=[4, 2, 1])
rnn_case("gru packed", "gru", normal(4, 3, 3), 3, layers=2, directions=2, lengths=[4, 2, 1])
cell_case("rnn cell", "rnn_tanh")
cell_case("rnn cell relu", "rnn_relu")
cell_case("lstm cell", "lstm")
cell_case("gru cell", "gru")


torch.manual_seed(21)
ELEMENTWISE_CASES = {}


def elementwise_case(name, inputs, function):
    ELEMENTWISE_CASES[name] = (inputs, function)


for name in ["atan", "sinh", "cosh", "asinh", "erfc", "exp2", "frac"]:
    elementwise_case(name, [normal(3, 4) * 2], getattr(torch, name))
for name in ["asin", "acos", "atanh"]:
    elementwise_case(name, [uniform(-0.9, 0.9, 3, 4)], getattr(torch, name))
elementwise_case("acosh", [uniform(1.1, 4, 3, 4)], torch.acosh)
for name in ["elu", "selu", "celu", "leaky_relu", "hardtanh", "relu6", "hardsigmoid", "hardswish",
             "softplus", "mish", "softsign", "tanhshrink", "softshrink", "hardshrink"]:
    elementwise_case(name, [normal(5, 6) * 4], getattr(F, name))
elementwise_case("log_sigmoid", [normal(5, 6) * 4], F.logsigmoid)
elementwise_case("elu alpha", [normal(3, 4)], lambda x: F.elu(x, 0.3))
elementwise_case("celu alpha", [normal(3, 4)], lambda x: F.celu(x, 1.7))
elementwise_case("leaky_relu slope", [normal(3, 4)], lambda x: F.leaky_relu(x, 0.3))
elementwise_case("hardtanh bounds", [normal(3, 4)], lambda x: F.hardtanh(x, -0.3, 0.9))
elementwise_case("softplus beta", [normal(3, 4) * 4], lambda x: F.softplus(x, 2.5, 3))
elementwise_case("softshrink lambd", [normal(3, 4)], lambda x: F.softshrink(x, 0.9))
elementwise_case("hardshrink lambd", [normal(3, 4)], lambda x: F.hardshrink(x, 0.9))
elementwise_case("threshold", [normal(3, 4)], lambda x: F.threshold(x, 0.2, -3))
elementwise_case("logit", [uniform(0.05, 0.95, 3, 4)], torch.logit)
elementwise_case("logit eps", [uniform(0.01, 0.99, 3, 4)], lambda x: torch.logit(x, 0.2))
elementwise_case("prelu", [normal(2, 3, 4), normal(3)], F.prelu)
elementwise_case("prelu one weight", [normal(2, 3, 4), normal(1)], F.prelu)
for name in ["fmod", "fmax", "fmin", "atan2", "hypot"]:
    elementwise_case(name, [normal(3, 4), uniform(0.3, 2, 4)], getattr(torch, name))
elementwise_case("integer fmod", [integers(-9, 9, 12), integers(1, 4, 12)], torch.fmod)
elementwise_case("nan_to_num", [torch.tensor([1.0, -2, math.inf, -math.inf, math.nan],
                                             dtype=torch.float64)], torch.nan_to_num)


def text(tensor):
    sizes = ",".join(str(size) for size in tensor.shape) or "-"
    dtype = str(tensor.dtype).removeprefix("torch.")
    numbers = " ".join(repr(float(x)) if tensor.is_floating_point() else str(int(x))
                       for x in tensor.reshape(-1).tolist())
    return f"{dtype} {sizes} {numbers}".rstrip()


def run(name, inputs, function):
    lines = [f"case {name}"]
    leaves = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    outputs = function(*leaves)
    outputs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    lines += [f"input {text(x)}" for x in inputs]
    lines += [f"output {text(x.detach())}" for x in outputs]
    total = sum((x * torch.arange(x.numel()).double().cos().reshape(x.shape)).sum()
                for x in outputs if x.requires_grad)
    if isinstance(total, torch.Tensor):
        total.backward()
        lines += [f"grad {i} {text(x.grad)}" for i, x in enumerate(leaves) if x.grad is not None]
    return lines


def main():
    folder = pathlib.Path(__file__).parent.parent / "tests/golden"
    for file, cases in (("ops.txt", CASES), ("elementwise.txt", ELEMENTWISE_CASES),
                        ("rnn.txt", RNN_CASES)):
        lines = []
        for name, (inputs, function) in cases.items():
            lines += run(name, inputs, function)
        (folder / file).write_text("\n".join(lines) + "\n")
        print(f"{folder / file}: {len(cases)} cases")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes what follows from core/ops/ops.def: declarations, methods, kernel slots, tables of docs.

    generate_ops.py            writes the files
    generate_ops.py --check    writes nothing; exit code 1 and their names if some are stale
"""

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTICE = "// Made by tools/generate_ops.py from core/ops/ops.def. Edit that, not this.\n"

PARAMETER_TYPES = {
    "Tensor": "const Tensor&",
    "Tensor?": "const std::optional<Tensor>&",
    "Tensor[]": "TensorList",
    "Scalar": "const Scalar&",
    "Scalar?": "const std::optional<Scalar>&",
    "int": "int64_t",
    "int?": "std::optional<int64_t>",
    "int[]": "IntArrayRef",
    "int[]?": "OptionalIntArrayRef",
    "float": "double",
    "float?": "std::optional<double>",
    "bool": "bool",
    "str": "std::string_view",
    "str?": "std::optional<std::string_view>",
    "dtype?": "std::optional<ScalarType>",
    "options": "const TensorOptions&",
    "generator?": "const std::optional<Generator>&",
}
AUTOCAST_CLASSES = ("none", "low", "fp32", "promote")
RETURN_TYPES = {
    "Tensor": "Tensor",
    "Tensor[]": "std::vector<Tensor>",
    "(Tensor, Tensor)": "std::tuple<Tensor, Tensor>",
    "(Tensor, Tensor, Tensor)": "std::tuple<Tensor, Tensor, Tensor>",
    "bool": "bool",
    "void": "void",
}
DEFAULTS = {"None": "{}", "True": "true", "False": "false", "[]": "{}"}


@dataclass
class Parameter:
    type: str
    name: str
    default: str | None

    def declaration(self, with_default=True):
        text = f"{PARAMETER_TYPES[self.type]} {self.name}"
        if with_default and self.default is not None:
            text += f" = {DEFAULTS.get(self.default, self.default)}"
        return text


@dataclass
class Overload:
    name: str
    parameters: list[Parameter]
    returns: str

    @property
    def receiver(self):
        """The parameter that a method is called on."""
        return next((p for p in self.parameters if p.name == "self" and p.type == "Tensor"), None)


@dataclass
class Op:
    name: str
    family: str
    overloads: list[Overload] = field(default_factory=list)
    variants: list[str] = field(default_factory=lambda: ["function", "method"])
    kernels: list[str] = field(default_factory=list)
    autocast: str = "none"
    gradient: str = ""
    curvature: str = ""
    node: str = ""
    saves: str = ""
    doc: str = ""


SIGNATURE = re.compile(r"(\w+)\((.*)\) -> (.+)$")
PARAMETER = re.compile(r"([A-Za-z]+(?:\[\])?\??) (\w+)(?:=(.+))?$")


def parse_signature(line, where):
    name, parameters, returns = SIGNATURE.match(line).groups()
    if returns not in RETURN_TYPES:
        sys.exit(f"{where}: unknown return type {returns!r}")
    parsed = []
    for text in filter(None, parameters.split(", ")):
        match = PARAMETER.match(text)
        if not match or match.group(1) not in PARAMETER_TYPES:
            sys.exit(f"{where}: cannot read parameter {text!r}")
        parsed.append(Parameter(*match.groups()))
    return Overload(name, parsed, returns)


def parse(path):
    ops, family = [], None
    for number, raw in enumerate(path.read_text().splitlines(), 1):
        line, where = raw.strip(), f"{path.name}:{number}"
        if not line or line.startswith("#"):
            continue
        if line.startswith("family "):
            family = line.split()[1]
        elif line.startswith("op "):
            ops.append(Op(line.split()[1], family))
        elif SIGNATURE.match(line):
            overload = parse_signature(line, where)
            if overload.name != ops[-1].name:
                sys.exit(f"{where}: {overload.name} stands under op {ops[-1].name}")
            ops[-1].overloads.append(overload)
        else:
            key, _, value = line.partition(": ")
            if key == "variants":
                ops[-1].variants = value.split()
            elif key == "kernel":
                ops[-1].kernels = value.split()
            elif key == "autocast":
                if not set(value.split("/")) <= set(AUTOCAST_CLASSES):
                    sys.exit(f"{where}: autocast is one of {', '.join(AUTOCAST_CLASSES)}")
                ops[-1].autocast = value
            elif key in ("saves", "doc", "gradient", "curvature", "node"):
                setattr(ops[-1], key, value)
            else:
                sys.exit(f"{where}: cannot read {line!r}")
    return ops


def doc_comment(text, indent=""):
    words, lines, line = text.split(), [], "///"
    for word in words:
        if len(indent) + len(line) + 1 + len(word) > 98:
            lines.append(line)
            line = "///"
        line += " " + word
    return "\n".join(indent + l for l in lines + [line]) + "\n"


def join_parameters(parameters, with_default=True):
    return ", ".join(p.declaration(with_default) for p in parameters)


def forms(ops):
    """All functions: (op, overload, in place?)."""
    for op in ops:
        for overload in op.overloads:
            yield op, overload, False
            can_be_in_place = overload.receiver or overload.parameters[0].type == "Tensor"
            if "inplace" in op.variants and can_be_in_place and overload.returns == "Tensor":
                yield op, overload, True


def functions_header(ops):
    text = "#pragma once\n\n" + NOTICE
    text += """
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <ebb/autograd/tensor.h>
#include <ebb/core/random/generator.h>
#include <ebb/core/ops/reduction.h>

// The public ops as functions. Each records what backward needs; a form whose name ends in an
// underscore changes its first argument and returns it.

namespace ebb {
"""
    family = None
    for op, overload, in_place in forms(ops):
        if op.family != family:
            family = op.family
            text += f"\n// --- {family} ---\n\n"
        if in_place:
            text += f"EBB_API const Tensor& {op.name}_({join_parameters(overload.parameters)});\n"
            continue
        if overload is op.overloads[0]:
            text += doc_comment(op.doc)
        returns = RETURN_TYPES[overload.returns]
        text += f"EBB_API {returns} {op.name}({join_parameters(overload.parameters)});\n"
    return text + "\n}  // namespace ebb\n"


def method_forms(ops):
    for op, overload, in_place in forms(ops):
        if overload.receiver is None:
            continue
        if in_place or "method" in op.variants:
            yield op, overload, in_place


def methods_header(ops):
    text = NOTICE + "\n// Included in the body of class Tensor.\n\n"
    for op, overload, in_place in method_forms(ops):
        others = [p for p in overload.parameters if p is not overload.receiver]
        if in_place:
            text += f"Tensor& {op.name}_({join_parameters(others)}) const;\n"
            continue
        if overload is op.overloads[0]:
            text += doc_comment(op.doc)
        text += f"{RETURN_TYPES[overload.returns]} {op.name}({join_parameters(others)}) const;\n"
    return text


def methods_inline_header(ops):
    text = "#pragma once\n\n" + NOTICE + "\n#include <ebb/autograd/ops/functions.h>\n"
    text += "\nnamespace ebb {\n\n"
    for op, overload, in_place in method_forms(ops):
        others = [p for p in overload.parameters if p is not overload.receiver]
        arguments = ", ".join(
            "*this" if p is overload.receiver else p.name for p in overload.parameters)
        parameters = join_parameters(others, with_default=False)
        if in_place:
            text += (f"inline Tensor& Tensor::{op.name}_({parameters}) const {{\n"
                     f"  return const_cast<Tensor&>(ebb::{op.name}_({arguments}));\n}}\n")
        else:
            text += (f"inline {RETURN_TYPES[overload.returns]} Tensor::{op.name}({parameters}) "
                     f"const {{\n  return ebb::{op.name}({arguments});\n}}\n")
    return text + "\n}  // namespace ebb\n"


def kernel_families(ops):
    families = {}
    for op in ops:
        for kernel in op.kernels:
            families.setdefault(op.family, []).append(kernel)
    return families


def elementwise_header(ops):
    families = kernel_families(ops)
    text = "#pragma once\n\n" + NOTICE + "\n#include <cstdint>\n\nnamespace ebb {\n\n"
    text += "/// The families of elementwise kernels; a device has one table for each.\n"
    text += "enum class ElementwiseFamily : uint8_t { " + ", ".join(families) + " };\n"
    text += f"inline constexpr int kElementwiseFamilies = {len(families)};\n"
    counts = ", ".join(str(len(kernels)) for kernels in families.values())
    text += "/// How many kernels each family has.\n"
    text += f"inline constexpr int kElementwiseKernels[] = {{{counts}}};\n\n"
    text += ("/// The elementwise kernels, named by their functors: family * 256 + place in its"
             " table.\n")
    text += "enum class ElementwiseOp : uint16_t {\n"
    for i, (family, kernels) in enumerate(families.items()):
        for k, kernel in enumerate(kernels):
            text += f"  {kernel} = {i * 256 + k},\n"
    return text + "};\n\n}  // namespace ebb\n"


def functor_table_header(ops):
    families = kernel_families(ops)
    text = "#pragma once\n\n" + NOTICE + "\n"
    for family in families:
        text += f"#include <ebb/core/ops/functors/{family}.h>\n"
    text += "\nnamespace ebb::functors {\n\ntemplate <typename... Functors>\nstruct List {};\n"
    for family, kernels in families.items():
        text += f"\n/// The functors of ElementwiseFamily::{family}, in the order of their kernels."
        text += f"\nusing {family.capitalize()}List = List<\n    "
        text += ",\n    ".join(kernels) + ">;\n"
    return text + "\n}  // namespace ebb::functors\n"


def mentions(expression, name):
    return re.search(rf"\b{name}\b", expression) is not None


def node_name(op):
    return op.node or "".join(part.capitalize() for part in op.name.split("_")) + "Backward0"


def lambda_of(parameters, kept, numbers, expression):
    """A function of `parameters`, one of them what is kept, and of the numbers it mentions."""
    named = [p if mentions(expression, p.split("&")[-1].strip()) else p.split("&")[0] + "&"
             for p in parameters]
    used = [(i, n) for i, n in enumerate(numbers) if mentions(expression, n.name)]
    named.append("const Scalar*" + (" numbers" if used else ""))
    body = "".join(f"const Scalar& {n.name} = numbers[{i}]; " for i, n in used)
    return f"[]({', '.join(named)}) -> Tensor {{ {body}return {expression}; }}"


def unary_row(op, numbers):
    kept = next((k for k in ("self", "result") if mentions(op.gradient, k)), None)
    gradient = lambda_of(["const Tensor& grad", f"const Tensor& {kept or 'kept'}"], kept, numbers,
                         op.gradient)
    in_place = f'"{op.name}_"' if "inplace" in op.variants else "nullptr"
    autocast = "" if op.autocast == "none" else f', autocast_of("{op.name}")'
    return (f'constexpr UnaryOp k_{op.name} = {{"{op.name}", {in_place}, "{node_name(op)}",\n'
            f"    ElementwiseOp::{op.kernels[0]}, Keeps::{kept or 'nothing'},\n"
            f"    {gradient}{autocast}}};\n")


def backward_row(op, parameters, numbers):
    curvature = "nullptr"
    if op.curvature != "0":
        curvature = lambda_of([f"const Tensor& {parameters[1].name}"], None, numbers, op.curvature)
    return (f'constexpr ActivationBackward k_{op.name} = {{"{op.name}",'
            f' "{node_name(op)}",\n    ElementwiseOp::{op.kernels[0]}, {curvature}}};\n')


def elementwise_table(ops):
    """The ops that are no more than a functor and a gradient."""
    rows, functions = "", ""
    for op in ops:
        if not op.gradient and not op.curvature:
            continue
        parameters = op.overloads[0].parameters
        tensors = 1 if op.gradient else 2
        numbers = parameters[tensors:]
        arguments = ", ".join(p.name for p in parameters[:tensors])
        if numbers:
            arguments += ", {" + ", ".join(p.name for p in numbers) + "}"
        declared = join_parameters(parameters, with_default=False)
        if op.curvature:
            rows += backward_row(op, parameters, numbers)
            functions += (f"Tensor {op.name}({declared}) {{\n"
                          f"  return activation_backward(k_{op.name}, {arguments});\n}}\n")
            continue
        rows += unary_row(op, numbers)
        functions += f"Tensor {op.name}({declared}) {{ return unary(k_{op.name}, {arguments}); }}\n"
        if "inplace" in op.variants:
            functions += (f"const Tensor& {op.name}_({declared}) {{\n"
                          f"  return unary_(k_{op.name}, {arguments});\n}}\n")
    return NOTICE + """
#include <numbers>

#include <ebb/autograd/ops/curvature.h>
#include <ebb/autograd/ops/elementwise.h>

namespace ebb {

using namespace autograd;

namespace {

""" + rows + "\n}  // namespace\n\n" + functions + "\n}  // namespace ebb\n"


def autocast_header(ops):
    text = "#pragma once\n\n" + NOTICE + """
#include <cstdint>
#include <string_view>

namespace ebb::autograd {

/// What autocast does with the floating-point inputs of an op, but float64 ones: nothing, a cast to
/// the low dtype, to float32, or to the widest among them.
enum class AutocastClass : uint8_t { none, low, fp32, promote };

/// The classes of an op. Where an op has a dtype of its own to choose (sum, softmax, ...), fp32
/// means that of the result.
struct AutocastRow {
  AutocastClass cuda = AutocastClass::none;
  AutocastClass cpu = AutocastClass::none;
};

/// A row with the name of its op.
struct NamedAutocastRow {
  std::string_view op;
  AutocastRow row;
};

/// The ops that have a class.
inline constexpr NamedAutocastRow kAutocastTable[] = {
"""
    for op in ops:
        if op.autocast == "none":
            continue
        cuda, _, cpu = op.autocast.partition("/")
        text += (f'    {{"{op.name}", {{AutocastClass::{cuda}, AutocastClass::{cpu or cuda}}}}},\n')
    return text + """};

/// The row of an op; does not compile for an op without one.
consteval AutocastRow autocast_of(std::string_view op) {
  for (const NamedAutocastRow& named : kAutocastTable) {
    if (named.op == op) return named.row;
  }
  throw "an op without an autocast class in core/ops/ops.def";
}

}  // namespace ebb::autograd
"""


def signature_text(op, overload):
    parameters = ", ".join(
        f"{p.type} {p.name}" + (f"={p.default}" if p.default is not None else "")
        for p in overload.parameters)
    return f"`{op.name}({parameters}) -> {overload.returns}`"


def ops_document(ops):
    text = "# Ops\n\nMade by tools/generate_ops.py from core/ops/ops.def.\n"
    family = None
    for op in ops:
        if op.family != family:
            family = op.family
            text += f"\n## {family}\n\n| op | forms | autocast (CUDA/CPU) | what it does |\n"
            text += "|---|---|---|---|\n"
        signatures = "<br>".join(signature_text(op, o) for o in op.overloads)
        text += f"| {signatures} | {', '.join(op.variants)} | {op.autocast} | {op.doc} |\n"
    return text.replace("|self - other|", "\\|self - other\\|").replace(
        "|other|", "\\|other\\|").replace("|self|", "\\|self\\|")


def saved_document(ops):
    text = """# What each op saves

A node keeps what its gradient formula needs and nothing else, and lets go of it as soon as it has
run in backward. Tensors are saved only while a gradient that needs them is wanted. `tests/saved`
states each row in bytes. Made by tools/generate_ops.py from core/ops/ops.def.

| op | saved for backward |
|---|---|
"""
    for op in ops:
        text += f"| {op.name} | {op.saves} |\n"
    return text


def outputs(ops):
    return {
        "autograd/ops/functions.h": functions_header(ops),
        "autograd/ops/autocast_table.h": autocast_header(ops),
        "autograd/ops/elementwise_table.cpp": elementwise_table(ops),
        "autograd/tensor_methods.h": methods_header(ops),
        "autograd/tensor_methods_inline.h": methods_inline_header(ops),
        "core/ops/elementwise_ops.h": elementwise_header(ops),
        "core/ops/functors/table.h": functor_table_header(ops),
        "docs/ops.md": ops_document(ops),
        "docs/saved-tensors.md": saved_document(ops),
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="name stale files, write nothing")
    check = arguments.parse_args().check
    stale = []
    for name, text in outputs(parse(ROOT / "core/ops/ops.def")).items():
        path = ROOT / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text)
    if check and stale:
        sys.exit("stale, run tools/generate_ops.py: " + ", ".join(stale))
    print("up to date" if not stale else "wrote " + ", ".join(stale))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fails on an #include that runs against the order of the folders, or that lets a dependency out."""

import argparse
import pathlib
import re
import sys
import tempfile

# A folder includes itself and the folders before it. cuda stands on core alone, by its place.
ORDER = ["core", "cuda", "autograd", "io", "nn", "optim", "data", "techniques", "distributed",
         "compat", "testing"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Dependencies, and the files that may include them.
DEPENDENCIES = {
    r"Eigen/|unsupported/Eigen": lambda path: path.startswith("core/cpu/"),
    r"zlib\.h|nlohmann/|CLI/|cblas\.h": lambda path: path.endswith(".cpp"),
    r"benchmark/|catch2/|gtest/|gmock/": lambda path: path.startswith("testing/"),
}


def faults_of_line(path, line):
    """What is wrong with one line of the file at `path`, relative to the root; None if nothing."""
    match = INCLUDE.match(line)
    if not match:
        return None
    bracket, name = match.groups()
    folder = path.split("/")[0]
    if bracket == '"':
        return f'"{name}": write <ebb/...>'
    if name == "ebb/ebb.h":
        return None if folder in ("compat", "testing") else "ebb/ebb.h is for users"
    if name.startswith("ebb/"):
        target = name.split("/")[1]
        if target not in ORDER:
            return f"{name}: no such folder"
        if ORDER.index(target) > ORDER.index(folder):
            return f"{name}: {target} stands above {folder}"
        return None
    for pattern, allowed in DEPENDENCIES.items():
        if re.match(pattern, name) and not allowed(path):
            return f"{name}: not in this file"
    return None


def faults_in(root):
    for folder in ORDER:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".cu", ".cuh", ".def") or not path.is_file():
                continue
            relative = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                fault = faults_of_line(relative, line)
                if fault and not (folder == "compat" and fault.startswith('"')):
                    yield f"{relative}:{number}: {fault}"


def self_test():
    """Each of these must be found, and nothing else."""
    wrong = {
        "core/a.h": "#include <ebb/autograd/tensor.h>",
        "core/b.cpp": "#  include <ebb/nn/module.h>",
        "core/c.h": "#include <Eigen/Core>",
        "nn/a.h": "#include <ebb/optim/sgd.h>",
        "nn/b.cpp": "#include <Eigen/Dense>",
        "io/a.h": "#include <zlib.h>",
        "data/a.h": '#include "core/error.h"',
        "optim/a.cpp": "#include <ebb/testing/measure.h>",
        "autograd/a.h": "#include <ebb/ebb.h>",
    }
    right = {
        "core/cpu/a.h": "#include <Eigen/Core>",
        "nn/c.h": "#include <ebb/autograd/tensor.h>",
        "io/a.cpp": "#include <zlib.h>",
        "testing/a.h": "#include <ebb/ebb.h>",
        "core/d.h": "// #include <ebb/nn/module.h>",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in (wrong | right).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("#pragma once\n" + text + "\n")
        found = {fault.split(":")[0] for fault in faults_in(root)}
    if found != set(wrong):
        sys.exit(f"self-test: missed {sorted(set(wrong) - found)}, "
                 f"wrongly found {sorted(found - set(wrong))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    root = parser.parse_args().root
    self_test()
    faults = list(faults_in(root))
    print("\n".join(faults) or "all includes run the right way")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

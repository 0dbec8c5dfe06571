#!/usr/bin/env python3
"""Compiles the kernels for a GPU and looks at what the compiler made of them; needs nvcc, no GPU.

    check_kernels.py                    all of cuda/kernels, for sm_90
    check_kernels.py unary copy         these families
    check_kernels.py --arch sm_80       for another GPU
    check_kernels.py --verbose          a line for each kernel

Prints a table and what breaks the rules:
  - no kernel spills registers;
  - no kernel has local memory, but for those listed in MAY_USE_LOCAL_MEMORY;
  - the kernels of LOADS_16_BYTES and STORES_16_BYTES move 16 bytes at a time, if they load or store
    at all.
Exit code 1 if a rule is broken or a file does not compile, 77 if there is no nvcc.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

# Kernels, by what their names contain, that may have local memory, and why.
MAY_USE_LOCAL_MEMORY = {
    r"functors::(Sin|Cos|Tan)\b": "the reduction of large arguments in CUDA's math library",
    r"draw_elements<.*Normal<": "the reduction of large arguments in CUDA's math library",
}
LOADS_16_BYTES = r"elementwise_packed<|convert_packed<|copy_adjacent|update_list<"
STORES_16_BYTES = r"convert_packed<|copy_adjacent|fill_packed<|update_list<|draw_elements<"
# Files whose numbers are those of the CPU, bit for bit (cmake/ebb_cuda.cmake).
WITHOUT_FMA = {"optimizer", "quantize", "random", "shape"}

WIDE = r"{}\.global(?:\.nc)?\.(?:v4\.[a-z]32|v2\.[a-z]64)"


@dataclass
class Kernel:
    name: str
    registers: int
    stack: int
    spills: int
    wide_loads: int
    wide_stores: int
    reads: bool


@dataclass
class Report:
    family: str
    kernels: list
    errors: str
    seconds: float
    bytes: int


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def demangled(names):
    if not names or shutil.which("c++filt") is None:
        return names
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True)
    return [re.sub(r"\(anonymous namespace\)::|ebb::cuda::|ebb::", "", name)
            for name in done.stdout.splitlines()]


def bodies(ptx):
    """The code of each kernel by its mangled name."""
    parts = re.split(r"^\.visible \.entry |^\.entry |^\.weak \.entry ", ptx, flags=re.MULTILINE)
    return {re.match(r"\S+?(?=\()", part)[0]: part for part in parts[1:]}


def kernels_of(ptxas_output, ptx):
    properties = re.findall(
        r"Function properties for (\S+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, "
        r"(\d+) bytes spill loads\s+ptxas info\s+: Used (\d+) registers", ptxas_output)
    code = bodies(ptx)
    names = demangled([each[0] for each in properties])
    kernels = []
    for name, (mangled, stack, stores, loads, registers) in zip(names, properties):
        body = code.get(mangled, "")
        kernels.append(Kernel(name, int(registers), int(stack), int(stores) + int(loads),
                              len(re.findall(WIDE.format("ld"), body)),
                              len(re.findall(WIDE.format("st"), body)), "ld.global" in body))
    return kernels


def compile_family(source, arch, folder):
    start = time.monotonic()
    family = source.stem
    ptx, cubin = folder / f"{family}.ptx", folder / f"{family}.cubin"
    fma = ["-fmad=false"] if family in WITHOUT_FMA else []
    status, output = run([NVCC, "-std=c++20", f"-arch={arch.replace('sm', 'compute')}",
                          "--expt-relaxed-constexpr", "-Werror=all-warnings", *fma,
                          f"-I{folder}/include", "-DEBB_HAS_CUDA", "-ptx", "-o", str(ptx),
                          str(source)])
    if status == 0:
        ptxas = pathlib.Path(NVCC).parent / "ptxas"
        status, output = run([str(ptxas), "-v", f"-arch={arch}", "-o", str(cubin), str(ptx)])
    seconds = time.monotonic() - start
    if status != 0:
        return Report(family, [], output, seconds, 0)
    return Report(family, kernels_of(output, ptx.read_text()), "", seconds, cubin.stat().st_size)


def faults_of(kernel):
    if kernel.spills > 0:
        yield f"spills {kernel.spills} bytes"
    if kernel.stack > 0 and not any(re.search(each, kernel.name) for each in MAY_USE_LOCAL_MEMORY):
        yield f"has {kernel.stack} bytes of local memory"
    if re.search(LOADS_16_BYTES, kernel.name) and kernel.reads and not kernel.wide_loads:
        yield "does not load 16 bytes at a time"
    if re.search(STORES_16_BYTES, kernel.name) and not kernel.wide_stores:
        yield "does not store 16 bytes at a time"


def print_report(report, verbose):
    kernels = report.kernels
    wide = sum(1 for each in kernels if each.wide_loads or each.wide_stores)
    print(f"{report.family:<12}{len(kernels):>8}{max((k.registers for k in kernels), default=0):>11}"
          f"{sum(1 for k in kernels if k.stack):>14}{sum(1 for k in kernels if k.spills):>8}"
          f"{wide:>10}{report.bytes / 1e6:>8.2f}{report.seconds:>9.1f}", flush=True)
    for kernel in kernels if verbose else []:
        print(f"    {kernel.registers:>4} registers, {kernel.stack} local, {kernel.spills} spilled, "
              f"{kernel.wide_loads} wide loads, {kernel.wide_stores} wide stores: {kernel.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", help="names of files in cuda/kernels")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if not pathlib.Path(NVCC).exists():
        print("there is no nvcc in PATH or /usr/local/cuda/bin: nothing is checked")
        return 77
    sources = sorted((ROOT / "cuda/kernels").glob("*.cu"))
    if arguments.families:
        sources = [each for each in sources if each.stem in arguments.families]
    broken = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "include/ebb").mkdir(parents=True)
        for part in ("core", "cuda"):
            (folder / "include/ebb" / part).symlink_to(ROOT / part)
        print(f"{'family':<12}{'kernels':>8}{'registers':>11}{'local memory':>14}{'spills':>8}"
              f"{'16 bytes':>10}{'MB':>8}{'seconds':>9}")
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            work = [pool.submit(compile_family, each, arguments.arch, folder) for each in sources]
            for done in work:
                report = done.result()
                print_report(report, arguments.verbose)
                if report.errors:
                    broken.append(f"{report.family} does not compile:\n{report.errors}")
                broken += [f"{report.family}: {kernel.name}: {fault}"
                           for kernel in report.kernels for fault in faults_of(kernel)]
    for line in broken:
        print(line)
    if not sources:
        print("no such kernels:", *arguments.families)
    return 1 if broken or not sources else 0


if __name__ == "__main__":
    sys.exit(main())

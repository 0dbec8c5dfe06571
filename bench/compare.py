#!/usr/bin/env python3
"""Runs the benchmarks against ebb and against LibTorch, in turn, and prints them side by side."""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 3

# What ebb promises: the largest ratio to LibTorch, or the largest figure of its own.
RATIO_LIMITS = {"add": 0.25, "add_with_grad": 0.25, "ten_op_graph": 0.25}
PAIR_LIMIT_NS = 50
HISTORY_RATIO_LIMIT = 1.15  # of a training step on MNIST
SIZE_LIMIT_BYTES = 3_000_000
BUILD_LIMIT_S = 120


def output_of(command, **environment):
    result = subprocess.run([str(part) for part in command], text=True, capture_output=True,
                            env=os.environ | environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    name = re.search(r"model name\s*:\s*(.*)", text)
    return {"cpu": name.group(1) if name else platform.processor(),
            "cpus": len(os.sched_getaffinity(0)), "system": platform.platform()}


def micro_benchmarks(program, pattern):
    """Nanoseconds of CPU time by name: the least of the repetitions."""
    text = output_of([program, "--benchmark_format=json", f"--benchmark_repetitions={ROUNDS}",
                      "--benchmark_min_time=0.2", f"--benchmark_filter={pattern}"])
    times = {}
    for run in json.loads(text)["benchmarks"] if text.strip() else []:
        if run.get("run_type") != "aggregate":
            name = run["run_name"]
            times[name] = min(run["cpu_time"], times.get(name, float("inf")))
    return times


def workload(program, name, threads):
    """The median time of an iteration in microseconds, and the peak resident set in KiB."""
    fields = output_of([program, name], THREADS=str(threads)).split()
    return float(fields[1]), int(fields[2])


class Report:
    """Rows printed as they come, and kept for --json."""

    def __init__(self):
        self.facts = {"machine": machine(), "results": []}
        self.missed = []

    def heading(self, text, columns):
        print(f"\n{text}\n{'':32}" + "".join(f"{column:>14}" for column in columns), flush=True)

    def row(self, name, cells, facts, limit=None, reached=None):
        note = ""
        if limit is not None:
            note = f"   limit {limit}: " + ("kept" if reached else "MISSED")
            if not reached:
                self.missed.append(f"{name}:" + "".join(f" {cell}" for cell in cells) + note)
        print(f"{name:32}" + "".join(f"{cell:>14}" for cell in cells) + note, flush=True)
        self.facts["results"].append({"name": name, "limit": limit, "kept": reached} | facts)


def report_small_ops(report, folder, pattern):
    ebb = micro_benchmarks(folder / "small_ops_ebb", pattern)
    other = folder / "small_ops_torch"
    torch = micro_benchmarks(other, pattern) if other.exists() else {}
    if ebb:
        report.heading("four floats, one thread", ["ebb ns", "LibTorch ns", "ratio"])
    for name, time_ns in ebb.items():
        theirs = torch.get(name)
        ratio = time_ns / theirs if theirs else None
        limit = RATIO_LIMITS.get(name) if ratio is not None else None
        report.row(name, [f"{time_ns:.0f}", f"{theirs:.0f}" if theirs else "-",
                          f"{ratio:.3f}" if ratio else "-"],
                   {"ebb_ns": time_ns, "torch_ns": theirs, "ratio": ratio}, limit,
                   None if limit is None else ratio <= limit)


def report_allocator(report, folder, pattern):
    program = folder / "alloc_ebb"
    times = micro_benchmarks(program, pattern) if program.exists() else {}
    if times:
        report.heading("the allocator, warm", ["ebb ns"])
    for name, time_ns in times.items():
        is_pair = name.startswith("allocate_free_pair") and "threads" not in name
        limit = PAIR_LIMIT_NS if is_pair else None
        report.row(name, [f"{time_ns:.1f}"], {"ebb_ns": time_ns}, limit,
                   None if limit is None else time_ns < limit)


def report_recording(report, folder, pattern):
    """What a history and a LeakCheck cost, against the same work in the same run without."""
    program = folder / "recording_ebb"
    lines = output_of([program]).splitlines() if program.exists() else []
    rows = [line.split() for line in lines if re.search(pattern, line.split()[0])]
    if rows:
        report.heading("watched: us a step, ns a pair",
                       ["plain", "history", "LeakCheck", "history", "LeakCheck"])
    for name, *figures in rows:
        plain, history, leak_check, history_ratio, leak_ratio = map(float, figures)
        limit = HISTORY_RATIO_LIMIT if name.startswith("mnist") else None
        report.row(name, [f"{plain:.1f}", f"{history:.1f}", f"{leak_check:.1f}",
                          f"x {history_ratio:.3f}", f"x {leak_ratio:.3f}"],
                   {"plain": plain, "history": history, "leak_check": leak_check,
                    "history_ratio": history_ratio, "leak_check_ratio": leak_ratio}, limit,
                   None if limit is None else history_ratio <= limit)


def report_workloads(report, folder, pattern, threads):
    ours, theirs = folder / "workloads_ebb", folder / "workloads_torch"
    names = [name for name in output_of([ours]).split() if re.search(pattern, name)]
    if names:
        report.heading(f"workloads, {threads} thread(s)",
                       ["ebb us", "LibTorch us", "ratio", "ebb MiB", "LibTorch MiB"])
    for name in names:
        best = {}
        for _ in range(ROUNDS):
            for program in (ours, theirs):
                if program.exists():
                    figures = workload(program, name, threads)
                    best[program] = min(figures, best.get(program, figures))
        (us, rss), (their_us, their_rss) = best[ours], best.get(theirs, (None, None))
        report.row(name, [f"{us:.1f}", f"{their_us:.1f}" if their_us else "-",
                          f"{us / their_us:.3f}" if their_us else "-", f"{rss / 1024:.1f}",
                          f"{their_rss / 1024:.1f}" if their_rss else "-"],
                   {"threads": threads, "ebb_us": us, "torch_us": their_us,
                    "ratio": us / their_us if their_us else None, "ebb_peak_kib": rss,
                    "torch_peak_kib": their_rss})


def report_size(report, build):
    libraries = list(build.glob("libebb.so"))
    if not libraries:
        return
    with tempfile.NamedTemporaryFile() as stripped:
        output_of(["strip", "-o", stripped.name, libraries[0]])
        size = os.path.getsize(stripped.name)
    report.heading("the shared library, stripped", ["bytes"])
    report.row("size", [f"{size:,}"], {"bytes": size}, f"{SIZE_LIMIT_BYTES:,}",
               size <= SIZE_LIMIT_BYTES)


def report_build(report):
    """A cold release build of the library, on two cores, without any cache."""
    report.heading("a cold release build of the library, two jobs", ["seconds"])
    for name, options in (("this_cpu", []), ("any_cpu", ["-DEBB_NATIVE=OFF"])):
        folder = tempfile.mkdtemp()
        try:
            output_of(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja",
                       "-DCMAKE_BUILD_TYPE=Release", "-DEBB_BUILD_TESTS=OFF",
                       "-DEBB_BUILD_EXAMPLES=OFF", *options])
            start = time.monotonic()
            output_of(["cmake", "--build", folder, "--parallel", "2"], CCACHE_DISABLE="1")
            seconds = time.monotonic() - start
        finally:
            shutil.rmtree(folder)
        limit = BUILD_LIMIT_S if name == "this_cpu" else None
        report.row(name, [f"{seconds:.0f}"], {"seconds": seconds}, limit,
                   None if limit is None else seconds <= limit)


def main():
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file too")
    parser.add_argument("--threads", type=int, action="append",
                        help="for the workloads; may be given again (1 and all)")
    parser.add_argument("--build", dest="measure_build", action="store_true",
                        help="measure a cold build too, which takes minutes")
    parser.add_argument("--only", default=".", help="a regular expression of names")
    arguments = parser.parse_args()
    if arguments.json and not os.access(arguments.json.parent, os.W_OK):
        print(f"{arguments.json}: cannot be written", file=sys.stderr)
        sys.exit(2)

    report = Report()
    facts = report.facts["machine"]
    print(f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['system']}")
    folder = arguments.build / "bench"
    report_small_ops(report, folder, arguments.only)
    report_allocator(report, folder, arguments.only)
    report_recording(report, folder, arguments.only)
    for threads in arguments.threads or sorted({1, facts["cpus"]}):
        report_workloads(report, folder, arguments.only, threads)
    report_size(report, arguments.build)
    if arguments.measure_build:
        report_build(report)
    print("\nmissed:" if report.missed else "\nall limits kept")
    print("\n".join(report.missed))
    if arguments.json:
        arguments.json.write_text(json.dumps(report.facts, indent=1) + "\n")


if __name__ == "__main__":
    main()

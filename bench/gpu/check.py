#!/usr/bin/env python3
"""What ./run gpu-check does once everything is built: the tests on the GPU, compute-sanitizer on a
short part of them, the kernels against their floors, a training step against PyTorch's. Prints one
table and writes JSON.

  check.py BUILD_FOLDER [--json FILE] [--seconds N]
"""

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

HERE = pathlib.Path(__file__).resolve().parent
NO_GPU = 77


class Check:
    def __init__(self, build, seconds):
        self.build = build
        self.deadline = time.monotonic() + seconds
        self.rows = []
        self.failed = False

    def left(self):
        return max(1, self.deadline - time.monotonic())

    def run(self, command, **environment):
        """The exit status and output; 124 where the time is over."""
        try:
            result = subprocess.run([str(part) for part in command], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    timeout=self.left(), env=os.environ | environment)
            return result.returncode, result.stdout
        except subprocess.TimeoutExpired as error:
            output = error.stdout or b""
            return 124, output.decode(errors="replace") if isinstance(output, bytes) else output

    def note(self, what, result, ok=True):
        self.rows.append({"what": what, "result": result, "ok": ok})
        self.failed |= not ok
        print(f"{'ok  ' if ok else 'FAIL'} {what}: {result}", flush=True)

    def tests(self):
        status, output = self.run(["ctest", "--test-dir", self.build, "-L", "^cuda$",
                                   "--output-on-failure", "--timeout", "240", "-j2"])
        summary = re.search(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", output)
        skipped = len(re.findall(r"\*\*\*Skipped", output))
        if status != 0:
            print(output[-8000:])
        text = summary.group(0) if summary else f"no summary, status {status}"
        self.note("tests on the GPU", f"{text}, {skipped} skipped", status == 0 and skipped == 0)

    def sanitizer(self):
        tool = shutil.which("compute-sanitizer")
        program = self.build / "tests" / "test_cuda_kernels"
        if tool is None or not program.exists():
            self.note("compute-sanitizer", "not run: it is not installed" if tool is None
                      else "not run: no test_cuda_kernels")
            return
        for kind in ("memcheck", "racecheck"):
            status, output = self.run([tool, "--tool", kind, "--error-exitcode", "9", program,
                                       "[short]"], EBB_TEST_DEVICE="cuda")
            if status != 0:
                print(output[-4000:])
            summary = re.findall(r"=+ (?:ERROR|RACECHECK) SUMMARY: .*", output)
            self.note(f"compute-sanitizer {kind}", summary[-1] if summary else f"status {status}",
                      status == 0)

    def kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.json"
            status, output = self.run([self.build / "bench" / "gpu_kernels", "--json", path])
            if status != 0:
                self.note("kernels against their floors", output.strip()[-500:], False)
                return []
            print(output)
            table = json.loads(path.read_text())
        self.note("kernels against their floors", f"{len(table)} rows")
        return table

    def torch(self, table):
        ours = [row["us"] for row in table if row["name"].startswith("training step")]
        status, output = self.run([sys.executable, HERE / "torch_steps.py"])
        if status != 0 or not ours:
            self.note("training step against PyTorch", f"not compared: {output.strip()[-200:]}")
            return
        theirs = float(output.split()[-1])
        self.note("training step against PyTorch",
                  f"{ours[0]:.0f} us, PyTorch {theirs:.0f} us, ratio {ours[0] / theirs:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=360)
    options = parser.parse_args()

    check = Check(options.build, options.seconds)
    status, output = check.run(["nvidia-smi", "--query-gpu=name,driver_version",
                                "--format=csv,noheader"]) if shutil.which("nvidia-smi") else (1, "")
    gpu = output.strip() if status == 0 else "none"
    print(f"GPU: {gpu}; {platform.platform()}")
    check.tests()
    if gpu != "none":
        check.sanitizer()
        table = check.kernels()
        check.torch(table)
    else:
        table = []
        check.note("GPU", "none here: only the build was checked; the tests need a GPU", False)
    print("\n" + "\n".join(f"{'ok  ' if row['ok'] else 'FAIL'} {row['what']:<36} {row['result']}"
                           for row in check.rows))
    if options.json:
        options.json.write_text(json.dumps({"gpu": gpu, "checks": check.rows, "kernels": table},
                                           indent=2) + "\n")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())

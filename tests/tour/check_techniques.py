#!/usr/bin/env python3
"""The tour's techniques, on small networks: table, JSON file and page state the same, and what must
hold holds.  check_techniques.py TOUR FOLDER [options of the tour]; tour.json and tour.html stay in
FOLDER."""

import json
import pathlib
import re
import subprocess
import sys

failed = False


def check(condition, *what):
    global failed
    if not condition:
        failed = True
        print("wrong:", *what)


def cheapest_first(rows, same_loss):
    """Of the rows that save, those that no other beats in both bytes and time."""
    rows = [r for r in rows if r["saved_bytes"] > 0]
    if same_loss:
        rows = [r for r in rows if r["largest_loss_difference"] <= 1e-4]
    best = []
    for row in sorted(rows, key=lambda r: (r["time_ratio"], -r["saved_bytes"])):
        if not best or row["saved_bytes"] > best[-1]["saved_bytes"]:
            best.append(row)
    return [r["name"] for r in best]


def check_rows(model, rows):
    base = rows[0]
    check(base["name"] == "baseline" and base["time_ratio"] == 1, model, "begins with", base["name"])
    for row in rows:
        name = f"{model}: {row['name']}"
        check(sum(row["categories"].values()) == row["peak_bytes"], name, "categories", row)
        check(row["saved_bytes"] == base["peak_bytes"] - row["peak_bytes"], name, "saved")
        check(0 <= row["saved_bytes"] < base["peak_bytes"], name, "saves", row["saved_bytes"])
        check(row["reserved_bytes"] >= row["peak_bytes"], name, "reserved", row["reserved_bytes"])
        check(row["time_ratio"] > 0 and row["why"], name, "has no time or no why")
        difference = max(abs(a - b) for a, b in zip(row["losses"], base["losses"]))
        check(row["largest_loss_difference"] == difference < 2, name, "loss", difference)


def check_what_must_hold(model, rows):
    row = {r["name"]: r for r in rows}
    state = {name: r["categories"]["optimizer state"] for name, r in row.items()}
    adam = state["baseline"]
    check(state["SGD"] == 0 and adam > 0, model, "state of SGD and Adam", state["SGD"], adam)
    check(state["Adafactor"] < adam / 4, model, "state of Adafactor", state["Adafactor"], adam)
    check(state["SGD with momentum"] * 2 == adam, model, "state with momentum", state)
    check(state["bfloat16 weights, rounding"] < 0.6 * adam, model, "state in two bytes", state)
    for name in ("step in backward", "relu in place", "sums and scores in place", "SaveOnCpu"):
        if name in row:
            check(row[name]["largest_loss_difference"] == 0, model, name, "changes the loss")
    if "checkpoint" in " ".join(row):
        for name in (n for n in row if n.startswith("checkpoint") and "," not in n):
            check(row[name]["largest_loss_difference"] == 0, model, name, "changes the loss")
            check(row[name]["saved_bytes"] > 0, model, name, "saves nothing")
    for name in ("4 micro-batches", "autocast bfloat16", "SaveAs float16", "SaveAs 8 bits"):
        check(row[name]["saved_bytes"] > 0, model, name, "saves nothing")
    check(row["SaveAs 8 bits"]["peak_bytes"] < row["SaveAs float16"]["peak_bytes"], model, "SaveAs")


def grouped(number):
    return f"{number:,}"


def main():
    tour, folder, options = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    run = subprocess.run([tour, "--quick", "--small", "--digits", "64", *options], cwd=folder,
                         capture_output=True, text=True, check=False)
    check(run.returncode == 0, "the tour failed:", run.stderr)
    facts = json.loads((folder / "tour.json").read_text())
    page = (folder / "tour.html").read_text()
    check(len(facts["techniques"]) == 2 and facts["machine"] in run.stdout, "two tables, machine")
    for table in facts["techniques"]:
        model, rows = table["model"], table["techniques"]
        check(len(rows) >= 16, model, "has", len(rows), "rows")
        check_rows(model, rows)
        check_what_must_hold(model, rows)
        for which in ("same_loss", "any_loss"):
            listed = [saving["name"] for saving in table["cheapest_first"][which]]
            check(listed == cheapest_first(rows, which == "same_loss"), model, which, listed)
        for row in rows:
            line = rf"^  {re.escape(row['name'])} +{grouped(row['peak_bytes'])} "
            check(re.search(line, run.stdout, re.M), "no line for", model, row["name"])
            heading = f"<h2>{model}: {row['name']}</h2>"
            section = page.partition(heading)[2].partition("</section>")[0]
            check(f"({grouped(row['peak_bytes'])} bytes)" in section, "the page has another peak of",
                  model, row["name"], row["peak_bytes"])
    check(run.stdout.count("to save bytes, cheapest first") == 4, "lists of what is cheapest")
    sys.exit(failed)


main()

#!/usr/bin/env python3
"""Checks a memory snapshot (a pickle or JSON in the format of torch.cuda.memory._snapshot) for what
pytorch.org/memory_viz relies on.

    check_snapshot.py SNAPSHOT [--expect-events N]

Prints what the snapshot holds; exits with 1 and a line for each fault if something is wrong.
"""

import argparse
import json
import pickle
import pickletools
import sys

# What the viewer's reader of pickles knows.
OPCODES = {"PROTO", "FRAME", "STOP", "MARK", "MEMOIZE", "BINPUT", "LONG_BINPUT", "BINGET",
           "LONG_BINGET", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1",
           "BINFLOAT", "SHORT_BINUNICODE", "BINUNICODE", "EMPTY_DICT", "DICT", "SETITEM",
           "SETITEMS", "EMPTY_LIST", "LIST", "APPEND", "APPENDS", "EMPTY_TUPLE", "TUPLE1",
           "TUPLE2", "TUPLE3", "TUPLE"}
ACTIONS = {"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "oom",
           "snapshot"}
STATES = {"active_allocated", "active_pending_free", "inactive"}
SEGMENT_FIELDS = {"device", "address", "total_size", "allocated_size", "active_size",
                  "requested_size", "stream", "segment_type", "segment_pool_id", "is_expandable",
                  "frames", "blocks"}
BATCH = 1000  # the viewer spreads the items of an APPENDS as arguments of a call


class Checker:
    def __init__(self):
        self.faults = []

    def check(self, condition, message):
        if not condition:
            self.faults.append(message)
        return condition

    def opcodes(self, data):
        items = []
        for opcode, argument, _ in pickletools.genops(data):
            self.check(opcode.name in OPCODES, f"opcode {opcode.name} is unknown to the viewer")
            if opcode.name == "PROTO":
                self.check(argument in (2, 3, 4), f"protocol {argument} is unknown to the viewer")
            if opcode.name == "MARK":
                items.append(0)
            elif opcode.name in ("APPENDS", "SETITEMS"):
                self.check(items.pop() <= BATCH, f"{opcode.name} has more than {BATCH} items")
            elif items and opcode.name in ("EMPTY_DICT", "BINGET", "LONG_BINGET", "BINUNICODE"):
                items[-1] += 1

    def frames(self, frames, where):
        for frame in frames:
            self.check(isinstance(frame.get("filename"), str) and isinstance(frame.get("name"), str)
                       and isinstance(frame.get("line"), int), f"{where}: frame {frame}")

    def segment(self, segment, index):
        where = f"segment {index}"
        missing = SEGMENT_FIELDS - segment.keys()
        if not self.check(not missing, f"{where}: no {sorted(missing)}"):
            return
        self.check(isinstance(segment["device"], int), f"{where}: device is no integer")
        self.check(segment["segment_type"] in ("small", "large"), f"{where}: segment_type")
        self.frames(segment["frames"], where)
        at = segment["address"]
        sums = {"allocated_size": 0, "active_size": 0, "requested_size": 0}
        for block in segment["blocks"]:
            self.check(block["state"] in STATES, f"{where}: state {block['state']}")
            self.check(block["address"] == at, f"{where}: a block at {block['address']}, not {at}")
            self.check("requested_size" in block or "frames" not in block,
                       f"{where}: frames without requested_size")
            self.frames(block.get("frames", []), where)
            at += block["size"]
            if block["state"] == "active_allocated":
                sums["allocated_size"] += block["size"]
            if block["state"] != "inactive":
                sums["active_size"] += block["size"]
                sums["requested_size"] += block["requested_size"]
        self.check(at == segment["address"] + segment["total_size"],
                   f"{where}: its blocks do not fill it")
        for key, value in sums.items():
            self.check(segment[key] == value, f"{where}: {key} is {segment[key]}, not {value}")

    def backwards(self, trace, segments, device):
        """Runs the events backwards from the segments, as the viewer's history of states does."""
        spans = {s["address"]: s["total_size"] for s in segments}
        blocks = {}
        for segment in segments:
            for block in segment["blocks"]:
                if block["state"] != "inactive":
                    blocks[block["address"]] = (block["requested_size"], block["state"])
        for index in range(len(trace) - 1, -1, -1):
            event = trace[index]
            where = f"device {device}, event {index} ({event['action']})"
            at, size = event.get("addr"), event["size"]
            match event["action"]:
                case "alloc":
                    held = blocks.pop(at, None)
                    self.check(held is not None and held[0] == size, f"{where}: {held} is there")
                case "free_requested":
                    held = blocks.get(at)
                    self.check(held is not None and held[1] == "active_pending_free",
                               f"{where}: {held} is there")
                    blocks[at] = (size, "active_allocated")
                case "free_completed":
                    self.check(at not in blocks, f"{where}: its place is taken")
                    self.check(any(a <= at and at + size <= a + n for a, n in spans.items()),
                               f"{where}: outside of every segment")
                    blocks[at] = (size, "active_pending_free")
                case "segment_alloc":
                    self.check(spans.pop(at, None) == size, f"{where}: no such segment")
                    self.check(not any(at <= a < at + size for a in blocks),
                               f"{where}: blocks before their segment")
                case "segment_free":
                    self.check(at not in spans, f"{where}: its place is taken")
                    spans[at] = size

    def trace(self, trace, device):
        time = 0
        for index, event in enumerate(trace):
            where = f"device {device}, event {index}"
            self.check(event["action"] in ACTIONS, f"{where}: action {event['action']}")
            self.check("category" not in event, f"{where}: category, which the viewer stumbles on")
            needed = {"size", "stream", "time_us",
                      "device_free" if event["action"] == "oom" else "addr"}
            self.check(needed <= event.keys(), f"{where}: no {sorted(needed - event.keys())}")
            self.check(event["time_us"] >= time, f"{where}: before the event in front")
            time = event["time_us"]
            self.frames(event.get("frames", []), where)

    def snapshot(self, snapshot):
        for key in ("segments", "device_traces", "allocator_settings", "external_annotations"):
            if not self.check(key in snapshot, f"no {key}"):
                return
        segments, traces = snapshot["segments"], snapshot["device_traces"]
        for index, segment in enumerate(segments):
            self.segment(segment, index)
        highest = max((s["device"] for s in segments), default=-1)
        self.check(highest < len(traces), f"no trace of device {highest}")
        for device, trace in enumerate(traces):
            own = [s for s in segments if s["device"] == device]
            self.check(own == sorted(own, key=lambda s: s["address"]), "segments are not sorted")
            self.trace(trace, device)
            self.backwards(trace, own, device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("snapshot")
    parser.add_argument("--expect-events", type=int, help="the least number of events")
    arguments = parser.parse_args()
    with open(arguments.snapshot, "rb") as file:
        data = file.read()
    checker = Checker()
    if arguments.snapshot.endswith(".json"):
        snapshot = json.loads(data.decode("utf-8"))
    else:
        checker.opcodes(data)
        snapshot = pickle.loads(data)
    checker.snapshot(snapshot)
    events = sum(len(trace) for trace in snapshot.get("device_traces", []))
    if arguments.expect_events is not None:
        checker.check(events >= arguments.expect_events,
                      f"{events} events, expected at least {arguments.expect_events}")
    for fault in checker.faults[:20]:
        print(fault, file=sys.stderr)
    print(f"{len(snapshot.get('segments', []))} segments, {events} events, "
          f"{len(checker.faults)} faults")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())

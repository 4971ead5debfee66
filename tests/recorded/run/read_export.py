#!/usr/bin/env python3
"""Reads what `mrclab export` wrote, with nothing of ours, and prints counts as JSON.

  read_export.py qlog FILE       JSON text sequences (RFC 7464): framing, header, order of time
  read_export.py perfetto FILE   decoded by protoc; slices closed and not overlapping on their tracks

Exit code 1 and a sentence for a file that breaks the rules.
"""

import collections
import json
import pathlib
import subprocess
import sys


def require(condition, problem):
    if not condition:
        sys.exit(problem)


def read_qlog(path):
    data = pathlib.Path(path).read_bytes()
    require(data.startswith(b"\x1e") and data.endswith(b"\n"), "not framed by RS and LF")
    records = [json.loads(text) for text in data.decode().split("\x1e")[1:]]
    header, events = records[0], records[1:]
    require(header["file_schema"] == "urn:ietf:params:qlog:file:sequential", "no sequential qlog")
    require(header["serialization_format"] == "application/qlog+json-seq", "not JSON-SEQ")
    require("event_schemas" in header["trace"] and "vantage_point" in header["trace"], "no trace")
    times = [event["time"] for event in events]
    require(times == sorted(times) and min(times) >= 0, "not in order of time")
    for event in events:
        require(set(event) <= {"time", "name", "data", "group_id"}, f"unknown keys: {event}")
    counts = collections.Counter(event["name"] for event in events)
    counts["retransmit"] = sum(event["data"].get("trigger") == "retransmit" for event in events)
    return counts


def decoded(path):
    """The packets as protoc's text, one list of (depth, word, value) each."""
    folder = pathlib.Path(__file__).parent
    with open(path, "rb") as file:
        text = subprocess.run(["protoc", f"--proto_path={folder}", "--decode=Trace",
                               str(folder / "perfetto_subset.proto")],
                              stdin=file, capture_output=True, check=True, text=True).stdout
    packet = []
    for line in text.splitlines():
        if line == "packet {":
            packet = []
        elif line == "}":
            yield packet
        elif not line.endswith("}"):
            word, _, value = line.strip().partition(" ")
            require(not word.rstrip(":").isdigit(), f"a field that the schema does not have: {line}")
            packet.append((word.rstrip(":"), value.strip('"')))


def read_perfetto(path):
    counts, tracks, units, last, is_open = collections.Counter(), set(), {}, {}, {}
    for packet in decoded(path):
        fields = dict(packet)
        if "track_descriptor" in fields:
            require(fields["uuid"] not in tracks, "a track twice")
            require(fields.get("parent_uuid", fields["uuid"]) in tracks | {fields["uuid"]},
                    "a track without its parent")
            tracks.add(fields["uuid"])
            counts["tracks"] += 1
            if "unit_name" in fields:
                units[fields["uuid"]] = fields["unit_name"]
                counts[fields["name"].rpartition(" ")[0]] += 1
            continue
        track, time = fields["track_uuid"], int(fields["timestamp"])
        require(track in tracks, f"an event without its track: {packet}")
        kind = fields["type"]
        counts[kind] += 1
        if kind == "TYPE_COUNTER":
            value = float(fields["double_counter_value"])
            require(track in units and value >= 0, f"no counter: {packet}")
            require(time >= last.get(track, 0), "a counter goes back in time")
            last[track] = time
            counts[f"{units[track]} above 0"] += value > 0
        if "categories" in fields:
            counts[fields["categories"]] += 1
        if kind in ("TYPE_SLICE_BEGIN", "TYPE_SLICE_END"):
            require(time >= last.get(track, 0), f"slices of track {track} overlap")
            require(is_open.get(track, False) == (kind == "TYPE_SLICE_END"), "slices are not closed")
            last[track], is_open[track] = time, kind == "TYPE_SLICE_BEGIN"
    require(not any(is_open.values()), "a slice is open")
    return counts


if __name__ == "__main__":
    print(json.dumps({"qlog": read_qlog, "perfetto": read_perfetto}[sys.argv[1]](sys.argv[2])))

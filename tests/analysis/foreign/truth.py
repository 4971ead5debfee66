"""What `analyze` must say of a story, as far as a capture of it can show; and what it must say it cannot.

Each check appends to a list of complaints. `None` for a number means: must be null, not a number.
"""

from encoder import QUEUE_PAIRS
from story import NEEDLESS, NEEDLESS2, LOST, LOST2, PACKETS, PLANES, UPLINKS

PLACES = {"sender": (0, 3), "receiver": (3, 0), "switch": (1, 2)}  # of data, of answers
ENDS = ("both", "merged")


class Capture:
    """Where a story was captured, and which direction of it."""

    def __init__(self, story, fmt, vantage, direction):
        self.story, self.format, self.vantage, self.direction = story, fmt, vantage, direction
        self.data = direction in ("both", "data")
        self.answers = direction in ("both", "answers")

    def files(self):
        """Lists of (packet, place): one of each file."""
        spots = ["sender", "receiver"] if self.vantage in ENDS else [self.vantage]
        files = []
        for spot in spots:
            of_data, of_answers = PLACES[spot]
            seen = [(p, of_data if p.is_data else of_answers) for p in self.story.packets
                    if (self.data if p.is_data else self.answers)]
            files.append([(p, place) for p, place in seen if p.at(place) is not None])
        return [files[0] + files[1]] if self.vantage == "merged" else files

    @property
    def sees_arrivals(self):
        return self.data and self.vantage in ("receiver",) + ENDS

    @property
    def sees_departures(self):
        return self.data and self.vantage != "receiver"

    @property
    def at_hosts(self):
        return self.vantage != "switch"


def expected_counts(capture):
    story = capture.story
    first = story.count(lambda p: p.is_data and not p.again)
    again = story.count(lambda p: p.is_data and p.again)
    arrived = story.count(lambda p: p.is_data and not p.again and p.at(3) is not None)
    needless, lost = len(NEEDLESS) + len(NEEDLESS2), len(LOST) + len(LOST2)
    trimmed = story.count(lambda p: p.trimmed)
    counts = dict(packets=0, resent=0, delivered=None, duplicates=None, trimmed=None, lost=None,
                  needless=None)
    if not capture.data:
        return counts
    counts.update(packets=first if capture.sees_departures else arrived, resent=again)
    if capture.sees_arrivals:
        counts.update(delivered=first, duplicates=needless, trimmed=trimmed, needless=needless)
        if capture.sees_departures:
            counts.update(lost=lost)
    elif capture.answers:
        counts.update(trimmed=trimmed)
        if capture.format.timestamps:  # which show which attempt was answered
            counts.update(lost=lost, needless=needless)
        else:
            del counts["lost"], counts["needless"]
    return counts


def check_counts(capture, report, wrong):
    summary = report["summary"]
    for key, value in expected_counts(capture).items():
        if summary.get(key) != value:
            wrong.append(f"{key} is {summary.get(key)}, not {value}")
    if not capture.format.timestamps and capture.answers and not capture.sees_arrivals and capture.data:
        if (summary["lost"] or 0) > len(LOST) + len(LOST2) or summary["open"] == 0:
            wrong.append("without timestamps the fate of some attempts cannot be known")
    by = summary["fates_by"].split(":")[0].split(",")[0]
    want = ("arrivals" if capture.sees_arrivals else
            "answers" if capture.data and capture.answers else "nothing")
    if by != want:
        wrong.append(f"fates are known by {by}, not {want}")
    flows = len(report["flows"])
    if flows != (len(PACKETS) if capture.data else 0):
        wrong.append(f"{flows} flows")


def check_answers(capture, report, wrong):
    story, fmt = capture.story, capture.format
    rows = {row["qp"]: row for row in report["matches"]}
    if not capture.answers:
        if rows:
            wrong.append("answers out of nowhere")
        return
    if len(rows) != len(PACKETS):
        wrong.append(f"{len(rows)} groups of answers")
        return
    places = 2 if capture.vantage in ENDS else 1
    for flow, (own, other) in enumerate(QUEUE_PAIRS[fmt.queue_pairs]):
        row = rows.get(own, {})
        for kind in ("sack", "nack", "ack"):
            count = places * story.count(lambda p, k=kind: p.kind == k and p.flow == flow)
            if row.get(kind + "s") != count:
                wrong.append(f"flow {flow}: {row.get(kind + 's')} {kind}s, not {count}")
        if capture.data and row.get("flow_qp") != hex(other):
            wrong.append(f"flow {flow}: matched to {row.get('flow_qp')} by {row.get('by')}")
        named = fmt.ids or fmt.timestamps
        if capture.data and named and row.get("known") != "certain":
            wrong.append(f"flow {flow}: match is {row.get('known')}")
        if not capture.data and (row.get("flow") is not None or row.get("known") != "not known"):
            wrong.append(f"flow {flow}: matched to data that was not captured")
    if capture.data:
        said = report["answers"]
        for kind in ("sack", "nack"):
            count = story.count(lambda p, k=kind: p.kind == k)
            if said[kind + "s"] != count:
                wrong.append(f"{said[kind + 's']} {kind}s in all, not {count}")


def check_round_trips(capture, report, wrong):
    knows = capture.answers and capture.data and capture.vantage in ("sender",) + ENDS
    for row in report["flows"]:
        flow = [other for _, other in QUEUE_PAIRS[capture.format.queue_pairs]].index(row["qp"])
        trips = round_trips_at_sender(capture.story, flow)
        want = (min(trips), max(trips)) if knows else (None, None)
        got = (row["rtt_min_ns"], row["rtt_max_ns"])
        if got != want:
            wrong.append(f"flow {flow}: RTT {got}, not {want}")


def round_trips_at_sender(story, flow):
    again = {p.psn for p in story.data(flow) if p.again}
    return [p.at(3) - p.answers.at(0) for p in story.packets
            if p.kind == "sack" and p.flow == flow and p.answers.psn not in again]


def planes_knowable(capture):
    """Are classes of planes, and if so, is it by the host's ports?"""
    fmt = capture.format
    return capture.data and (fmt.encapsulated or (fmt.macs and capture.at_hosts))


def check_planes(capture, report, wrong, numbered=False):
    if not capture.data:
        return
    said = next(row for row in report["formats"] if row["what"] == "planes")
    rows = {row["plane"]: row["packets"] for row in report["planes"]}
    if numbered or planes_knowable(capture):
        names = [f"p{i}" for i in range(PLANES)] if numbered else list("ABCDEFGH")[:PLANES]
        place = 0 if capture.sees_departures else 3
        want = {names[plane]: capture.story.count(
            lambda p, plane=plane: p.is_data and not p.again and p.plane == plane and
            p.at(place) is not None) for plane in range(PLANES)}
        if rows != want:
            wrong.append(f"planes {rows}, not {want}")
    elif said["known"] != "not known" or list(rows) != ["?"]:
        wrong.append(f"planes cannot be known, but are said to be {said['value']}: {rows}")


def check_paths(capture, report, wrong):
    if not capture.data:
        return
    fmt = capture.format
    paths = sum(1 for row in report["paths"] if row["packets"] > 0)
    named = fmt.entropy != "carrier"
    want = PLANES * UPLINKS
    if not named and (capture.vantage == "receiver" or not fmt.encapsulated):
        want = PLANES if planes_knowable(capture) else 1
    if paths != want:
        wrong.append(f"{paths} paths, not {want}")
    said = next(row for row in report["formats"] if row["what"] == "path")
    if not named and not fmt.encapsulated and said["known"] != "assumed":
        wrong.append("nothing names a path, and that is not said")


def check_vantage(capture, report, wrong, given=False):
    fmt = capture.format
    address = report["vantage"][0]["from"] if report["vantage"] else ""
    for row in report["vantage"]:
        is_data = (row["from"] < row["to"]) if address else True  # A's address is the lower one
        if capture.vantage in ENDS:
            continue  # both ends are right; the counts show whether they were distinguished
        place = PLACES[capture.vantage][0 if is_data else 1]
        want = {0: "sender", 3: "receiver"}.get(place, "switch")
        unknown = (not fmt.encapsulated and capture.vantage == "switch" and not given)
        if unknown and (row["at"] is not None or row["known"] != "not known"):
            wrong.append(f"that it was a switch cannot be known, but is said: {row['at']}")
        if not unknown and row["at"] != want and not (row["known"] == "not known"):
            wrong.append(f"captured at the {row['at']} ({row['why']}), not the {want}")
        if given and row["known"] != "given":
            wrong.append(f"place was given, and is {row['known']}")


def check_formats(capture, report, wrong):
    fmt = capture.format
    said = {row["what"]: row for row in report["formats"]}
    if not fmt.encapsulated:
        if said["carriers"]["value"] != "none":
            wrong.append("carriers where there are none")
        return
    if said["uSID length"]["known"] == "seen":
        if said["uSID length"]["value"] != f"{fmt.usid_bits} bits":
            wrong.append(f"uSIDs of {said['uSID length']['value']}")
        blocks = said["blocks"]["value"].split()
        if fmt.block != "per plane" and blocks != [fmt.block]:
            wrong.append(f"blocks {blocks}")
    elif capture.vantage in ENDS and fmt.hop_limits:
        wrong.append("packets were seen at two places, and the uSID length is assumed")
    if fmt.block == "per plane" and len(said["blocks"]["value"].split()) != PLANES:
        wrong.append(f"blocks {said['blocks']['value']}")


def complaints(capture, report, given_place=False, given_planes=False):
    wrong = []
    check_counts(capture, report, wrong)
    check_answers(capture, report, wrong)
    check_round_trips(capture, report, wrong)
    check_planes(capture, report, wrong, given_planes)
    check_paths(capture, report, wrong)
    check_vantage(capture, report, wrong, given_place)
    check_formats(capture, report, wrong)
    return wrong

#!/usr/bin/python3
"""Copies of sources with bugs in them, for the tests of chaos and shrink.

  plant_bugs.py SOURCE_DIR OUTPUT_DIR     writes every copy (only what changed)
  plant_bugs.py --files                   names them

Each bug replaces a text that stands exactly once in its source by one that does something else while
the bug is switched on (tests/chaos/planted_bug.h). When a source changes so that a text is no longer
found, this says which bug must be adapted.
"""

import pathlib
import sys

# name, source, the text, what stands there instead. BUG becomes the question whether it is on.
BUGS = [
    # A hole in the bitmap is skipped when much has arrived behind it: completes early.
    ("skips_a_hole", "endpoint/queue_pair/receive_window.cc",
     "  while (has(cumulative_ + 1)) {\n",
     "  while (has(cumulative_ + 1) || (BUG && out_of_order_ > 24)) {\n"
     "    if (!has(cumulative_ + 1)) ++out_of_order_;\n"),
    # An entropy value that was assumed bad stays so, however often its probes are answered.
    ("never_resurrects", "endpoint/paths/ev_prober.cc",
     "    if (++bad.successes < history_of(bad.ev).needed) return Answer::kCounted;\n",
     "    if (++bad.successes < history_of(bad.ev).needed || BUG) return Answer::kCounted;\n"),
    # A probe that was not answered is the last one: its timer is lost.
    ("loses_probe_timer", "endpoint/paths/ev_prober.cc",
     "    bad.awaiting = true;\n",
     "    if (bad.awaiting && BUG) {\n"
     "      bad.due = FabricTime::never();\n"
     "      continue;\n"
     "    }\n"
     "    bad.awaiting = true;\n"),
    # A port that came back is never used again.
    ("avoids_for_ever", "endpoint/host/nic_ports.cc",
     "  if (nic.avoided() == avoid) return false;",
     "  if (nic.avoided() == avoid || (BUG && !avoid)) return false;"),
    # A trimmed packet counts as delivered: there is nothing where its payload should be.
    ("takes_trim_for_data", "endpoint/queue_pair/responder.cc",
     "  if (!limits_.trim_nack) return Refusal::kNone;  // the sender's timers have to find it\n",
     "  if (BUG) {\n"
     "    const auto& write = std::get<WriteHeaders>(packet.extension);\n"
     "    order_.arrived(s, {is_first(packet.bth.opcode), is_last(packet.bth.opcode), write.meth.msn,\n"
     "                       write.reth->dma_length,\n"
     "                       static_cast<uint32_t>(packet.payload_length)});\n"
     "    window_.accept(s, is_last(packet.bth.opcode), write.reth->dma_length, write.immediate);\n"
     "    complete_messages(replies);\n"
     "    return Refusal::kNone;\n"
     "  }\n"
     "  if (!limits_.trim_nack) return Refusal::kNone;  // the sender's timers have to find it\n"),
    # After a timeout writes complete in pairs the wrong way round.
    ("completes_out_of_order", "endpoint/queue_pair/requester_feedback.cc",
     "    events_.write_completed(queue_.id_of(*number));\n",
     "    const uint64_t other = *number ^ 1;\n"
     "    const bool swap = BUG && stats_.timeouts > 0 && other < queue_.started() && other + 1 >= *number;\n"
     "    events_.write_completed(queue_.id_of(swap ? other : *number));\n"),
    # What the controller once denied stays denied.
    ("denies_for_ever", "endpoint/host/host_routing.cc",
     "    qp.requester.set_denied(values[i], among.denied[i], host_.now);\n",
     "    const bool before = qp.requester.evs().state(static_cast<uint32_t>(i)) == EvState::kDenied;\n"
     "    qp.requester.set_denied(values[i], among.denied[i] || (BUG && before), host_.now);\n"),
    # A duplicate is counted as new payload.
    ("counts_duplicates", "endpoint/queue_pair/responder.cc",
     "      if (s <= window_.cumulative()) put_ack(replies);\n",
     "      if (BUG) placed = packet.payload_length;\n"
     "      if (s <= window_.cumulative()) put_ack(replies);\n"),
    # RC: going back, the sender begins one packet too late, and the missing one is never sent.
    ("resumes_too_late", "endpoint/roce/rc_requester.cc",
     "    next_ = s;\n",
     "    next_ = s + (BUG && sent_end_ > s + 1 ? 1 : 0);\n"),
    # RC: a duplicate is placed again.
    ("executes_twice", "endpoint/roce/rc_responder.cc",
     "    reply = acknowledge();\n    return Refusal::kDuplicate;\n",
     "    reply = acknowledge();\n"
     "    if (BUG) placed = packet.payload_length;\n"
     "    return Refusal::kDuplicate;\n"),
    # RC: a packet behind a gap is answered by an acknowledgement of itself.
    ("acknowledges_a_gap", "endpoint/roce/rc_responder.cc",
     "  if (nak_sent_ || patient) return;\n",
     "  if (BUG) {\n"
     "    reply = RcReply{psns_.psn(highest_), {kAckSyndrome, messages_ & 0xFF'FFFF}};\n"
     "    return;\n"
     "  }\n"
     "  if (nak_sent_ || patient) return;\n"),
    # RC: the timer fires once.
    ("loses_ack_timer", "endpoint/roce/rc_requester.cc",
     "  if (failed_ || !in_flight()) return FabricTime::never();\n",
     "  if (failed_ || !in_flight() || (BUG && timeouts_ > 0)) return FabricTime::never();\n"),
    # A switch takes what comes after its neighbour was asked to stop without room for it.
    ("forgets_headroom", "switchd/ingress_buffer.cc",
     "    if (port.extra + length > settings_.headroom[at.value]) return false;\n",
     "    if (BUG || port.extra + length > settings_.headroom[at.value]) return false;\n"),
    # A switch that has asked its neighbour to stop never lets it go on.
    ("never_lets_go", "switchd/switch_pauses.cc",
     "      state.egress.put_pause(std::move(frame));\n",
     "      if (!BUG || *quanta > 0) state.egress.put_pause(std::move(frame));\n"),
    # A NIC that paused without end goes on when it should be well again.
    ("storms_for_ever", "endpoint/host/nic_pauses.cc",
     "  storming_ = storming;\n",
     "  storming_ = storming || BUG;\n"),
]


def planted(source_dir, path):
    text = (source_dir / path).read_text()
    for name, where, found, instead in BUGS:
        if where != path:
            continue
        if text.count(found) != 1:
            sys.exit(f"{path}: the text that the planted bug {name} replaces stands there "
                     f"{text.count(found)} times; adapt it in tests/chaos/plant_bugs.py")
        text = text.replace(found, instead.replace("BUG", f'::mrclab::test::planted("{name}")'))
    return '#include "tests/chaos/planted_bug.h"\n' + f'#line 1 "{source_dir / path}"\n' + text


def main():
    files = sorted({bug[1] for bug in BUGS})
    if sys.argv[1:] == ["--files"]:
        print(";".join(files), end="")
        return
    source_dir, output_dir = map(pathlib.Path, sys.argv[1:3])
    for path in files:
        out = output_dir / path.replace("/", "_")
        text = planted(source_dir, path)
        out.parent.mkdir(parents=True, exist_ok=True)
        if not out.exists() or out.read_text() != text:
            out.write_text(text)


main()

#include "recorded/run/packet_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/judge/analyze.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/fabric_file.h"
#include "recorded/folder/run_folder.h"
#include "recorded/folder/run_manifest.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFlowsShown = 8;

std::string name_of_host(const Topology& topology, uint32_t host) {
  return topology.node(topology.host(host)).name;
}

std::set<uint32_t> destination_qps(const std::vector<analysis::KnownFlow>& known, Qpn qp) {
  std::set<uint32_t> qps{qp.value};
  for (const analysis::KnownFlow& flow : known) {
    if (flow.sender_qp == qp) qps.insert(flow.destination_qp.value);
  }
  return qps;
}

}  // namespace

PacketTrace::PacketTrace(const std::string& run, const std::optional<std::string>& fabric,
                         const TraceRequest& request)
    : only_attempt_(request.attempt) {
  const fs::path path = named_run(run);
  const bool folder = fs::is_directory(path);
  if (!folder && !fs::is_regular_file(path)) {
    throw InputError("found no run " + in_quotes(path.string()) +
                     ": expected a run folder, latest, or a capture file with --fabric; or a path "
                     "(p3/u1) or a carrier (5f00:0:2000::)");
  }
  CaptureScope scope = CaptureScope::kHosts;
  if (folder) {
    RunManifest(path).require({"scenario.yaml", "captures", "history", "events.jsonl"});
    const Scenario scenario = read_run_scenario(path);
    scope = scenario.captures;
    topology_ = scenario.topology;
    for (const QueuePairEnd& end : queue_pairs(scenario)) {
      known_.push_back({end.host, end.peer_host, end.qpn, end.peer_qpn});
    }
  } else {
    topology_ = read_fabric_file(find_fabric(fabric.value_or("octet")));
  }
  analysis::PacketSearch search(topology_, destination_qps(known_, request.qp), request.psn);
  try {
    if (folder) {
      read_run(path, search);
    } else {
      search.add_capture(path);
    }
  } catch (const analysis::CaptureError& error) {
    throw InputError(error.what());
  }
  packet_ = choose(search.found(known_), request, search);
  life_ = analysis::life_of(topology_, packet_);
  if (request.attempt) {
    const auto& attempts = life_.attempts;
    const bool there = std::any_of(attempts.begin(), attempts.end(), [&](const auto& attempt) {
      return attempt.number == *request.attempt;
    });
    if (!there) {
      throw InputError(fmt::format("--attempt: found {}: the packet was sent {}", *request.attempt,
                                   counted_noun(attempts.back().number, "time")));
    }
  }
  say_sources(search, scope);
}

void PacketTrace::read_run(const fs::path& folder, analysis::PacketSearch& search) {
  for (const fs::path& file : analysis::captures_in(folder / "captures")) search.add_capture(file);
  for (const fs::path& file : analysis::records_in(folder / "history")) search.add_records(file);
  if (fs::exists(folder / "events.jsonl")) search.add_events(folder / "events.jsonl");
}

void PacketTrace::say_sources(const analysis::PacketSearch& search, CaptureScope scope) {
  for (const std::string& note : search.notes()) sources_.push_back(note);
  if (search.switches_captured()) {
    sources_.emplace_back("every hop out of captures");
  } else if (search.records_used()) {
    sources_.emplace_back(scope == CaptureScope::kNone
                              ? "every hop out of packet records: carriers as they must have been"
                              : "hosts and drops out of captures, switches out of packet records");
    if (search.records_complete() < FabricTime::never()) {
      sources_.push_back("the records end at " + to_string(search.records_complete()));
    }
  } else {
    sources_.emplace_back(
        "hosts and drops out of captures; for the switches run with captures: all");
  }
}

void PacketTrace::refuse_unplaced(const analysis::PacketSearch& search, Qpn qp) const {
  const analysis::PacketSearch::Unplaced& unplaced = search.unplaced();
  if (unplaced.other_hosts > 0) {
    throw InputError(
        fmt::format("found {} of QP 0x{:x}, between addresses that are no hosts' of the fabric {}: "
                    "expected --fabric with theirs; mrclab analyze needs none",
                    counted_noun(unplaced.other_hosts, "packet"), qp.value, topology_.name));
  }
  if (unplaced.no_port > 0) {
    throw InputError(
        fmt::format("found {} of QP 0x{:x}, captured at interfaces that are no ports of the fabric "
                    "{}: expected names such as {}; mrclab analyze needs none",
                    counted_noun(unplaced.no_port, "packet"), qp.value, topology_.name,
                    topology_.port_name({topology_.host(0), PortId{0}})));
  }
  if (unplaced.not_ethernet > 0) {
    throw InputError(
        fmt::format("found no data of QP 0x{:x} in Ethernet frames; {} of another link type, which "
                    "trace does not look at: mrclab analyze does",
                    qp.value, counted_noun(unplaced.not_ethernet, "record")));
  }
}

analysis::FoundPacket PacketTrace::choose(const std::vector<analysis::FoundPacket>& found,
                                          const TraceRequest& request,
                                          const analysis::PacketSearch& search) const {
  for (const auto* name : {&request.host, &request.to}) {
    const auto node = *name ? topology_.find_node(**name) : topology_.host(0);
    if (!node || topology_.node(*node).role != NodeRole::kHost) {
      throw InputError("found " + in_quotes(**name) + ", which is no host of the fabric " +
                       topology_.name);
    }
  }
  std::vector<analysis::FoundPacket> fit;
  std::string choices;
  for (const analysis::FoundPacket& packet : found) {
    if (request.host && name_of_host(topology_, packet.source) != *request.host) continue;
    if (request.to && name_of_host(topology_, packet.destination) != *request.to) continue;
    fit.push_back(packet);
    if (fit.size() > kFlowsShown) continue;
    choices += fmt::format("{}--host {} --to {}", choices.empty() ? "" : ", ",
                           name_of_host(topology_, packet.source),
                           name_of_host(topology_, packet.destination));
  }
  if (fit.size() == 1) return fit.front();
  if (fit.size() > 1) {
    throw InputError(fmt::format("QP 0x{:x} with PSN {} fits {}: add {}", request.qp.value,
                                 request.psn.value(), counted_noun(fit.size(), "flow"), choices));
  }
  if (const auto seen = search.psns_seen()) {
    throw InputError(fmt::format("found no packet with PSN {} of QP 0x{:x}: its PSNs are {} to {}",
                                 request.psn.value(), request.qp.value, seen->first.value(),
                                 seen->second.value()));
  }
  refuse_unplaced(search, request.qp);
  std::string some;
  for (size_t i = 0; i < std::min(known_.size(), kFlowsShown); ++i) {
    some += fmt::format("{}0x{:x} ({})", some.empty() ? "" : ", ", known_[i].sender_qp.value,
                        name_of_host(topology_, known_[i].source));
  }
  throw InputError(fmt::format("found no data of QP 0x{:x}{}{}", request.qp.value,
                               some.empty() ? "" : ": this run has ", some));
}

}  // namespace mrclab::lab

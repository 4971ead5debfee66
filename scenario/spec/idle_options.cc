#include "scenario/spec/idle_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "endpoint/plan/connection_plan.h"
#include "endpoint/workload/stream_layout.h"

namespace mrclab::lab {
namespace {

using endpoint::CongestionAlgorithm;
using endpoint::TransportProfile;

/// The size of a stream's messages; empty: the workload is none.
std::optional<Bytes> message_of(const endpoint::WorkloadSpec& spec) {
  if (const auto* permutation = std::get_if<endpoint::PermutationSpec>(&spec)) {
    return permutation->message;
  }
  if (const auto* incast = std::get_if<endpoint::IncastSpec>(&spec)) return incast->message;
  if (const auto* write = std::get_if<endpoint::WriteSpec>(&spec)) return write->size;
  return std::nullopt;
}

/// The most packets of one queue pair between the oldest that is not acknowledged and the newest: what
/// the memory of its receiver holds. Empty if a workload has another bound.
std::optional<uint64_t> widest_range(const Scenario& scenario, const TransportProfile& profile) {
  if (scenario.workload.empty() || !scenario.programs.empty()) return std::nullopt;
  const Bytes in_flight = endpoint::most_in_flight(scenario.topology, profile.max_psn_range);
  uint64_t most = 0;
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    const std::optional<Bytes> message = message_of(spec);
    if (!message) return std::nullopt;
    const uint64_t packets = (message->value + profile.pmtu - 1) / profile.pmtu;
    most = std::max(most, packets * endpoint::StreamLayout(*message, in_flight).slots());
  }
  return most;
}

bool slows_a_receiver(const Scenario& scenario, const TransportProfile& profile) {
  if (profile.receive_rate.bps > 0) return true;
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [](const faults::Fault& f) {
    return f.kind == faults::FaultKind::kSlowReceiver || f.kind == faults::FaultKind::kPcieStall;
  });
}

/// Why this option changes nothing; empty if it may.
std::string reason(std::string_view option, const Scenario& scenario,
                   const TransportProfile& profile) {
  const bool fixed = profile.congestion_control == CongestionAlgorithm::kFixed;
  const bool of_nscc = option.starts_with("nscc_") || option == "window_rule" ||
                       option == "receiver_penalty" || option == "receive_shares";
  if (fixed && of_nscc) return "the window is fixed (congestion_control)";
  if (!fixed && option == "window_percent")
    return "only a fixed window has it (congestion_control)";
  if (option == "skip_holds" && !profile.skip) return "without skip no value is left for its marks";
  if (option == "receive_buffer" && !slows_a_receiver(scenario, profile)) {
    return "no receiver is slower than its ports (receive_rate, slow_receiver, pcie_stall)";
  }
  if (option != "max_psn_range") return "";
  const std::optional<uint64_t> widest = widest_range(scenario, profile);
  if (!widest || *widest >= profile.max_psn_range) return "";
  return fmt::format(
      "no queue pair here has more than {} packets under way, which is what the "
      "largest window and the memory of its receiver hold",
      *widest);
}

}  // namespace

std::vector<std::string> idle_options(const Scenario& scenario) {
  const TransportProfile profile = endpoint::make_profile(scenario.transport, scenario.topology);
  std::vector<std::string> lines;
  for (const auto& [index, value] : scenario.transport.overrides) {
    const endpoint::TransportOption& option = endpoint::transport_options()[index];
    const std::string why = reason(option.name, scenario, profile);
    if (why.empty()) continue;
    lines.push_back(fmt::format("{}: {} has no effect: {}", option.name,
                                endpoint::shown_value(option, profile), why));
  }
  return lines;
}

void note_idle_options(const Scenario& scenario) {
  for (const std::string& line : idle_options(scenario)) {
    fmt::print(stderr, "mrclab: note: {}: {}\n", scenario.name, line);
  }
}

}  // namespace mrclab::lab

#include "endpoint/host_stats.h"

namespace mrclab::endpoint {

std::string_view name_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kMalformed: return "malformed";
    case Refusal::kOtherTraffic: return "other_traffic";
    case Refusal::kNotMrc: return "not_mrc";
    case Refusal::kWrongCarrier: return "wrong_carrier";
    case Refusal::kWrongAddress: return "wrong_address";
    case Refusal::kBadIcrc: return "bad_icrc";
    case Refusal::kUnknownQp: return "unknown_qp";
    case Refusal::kWrongPeer: return "wrong_peer";
    case Refusal::kQpInError: return "qp_in_error";
    case Refusal::kBadTrim: return "bad_trim";
    case Refusal::kBadLength: return "bad_length";
    case Refusal::kBadRkey: return "bad_rkey";
    case Refusal::kOutOfBounds: return "out_of_bounds";
    case Refusal::kDuplicate: return "duplicate";
    case Refusal::kPsnOutOfWindow: return "psn_out_of_window";
    case Refusal::kPsnFarPast: return "psn_far_past";
    case Refusal::kSackOfFuture: return "sack_of_future";
    case Refusal::kNackOfUnsent: return "nack_of_unsent";
    case Refusal::kAckOfFuture: return "ack_of_future";
    case Refusal::kUnknownEv: return "unknown_ev";
    case Refusal::kStaleFeedback: return "stale_feedback";
    case Refusal::kUnexpectedOpcode: return "unexpected_opcode";
    case Refusal::kBrokenMessage: return "broken_message";
    case Refusal::kTooManyImmediates: return "too_many_immediates";
    case Refusal::kCount: break;
  }
  return "unknown";
}

void HostStats::count_qp_error(std::string_view reason) {
  ++qps_in_error;
  for (auto& [known, count] : qp_errors) {
    if (known != reason) continue;
    ++count;
    return;
  }
  qp_errors.emplace_back(reason, 1);
}

uint64_t HostStats::goodput_bytes() const {
  uint64_t sum = 0;
  for (const PlaneStats& plane : planes) sum += plane.rx_payload_bytes;
  return sum;
}

std::vector<std::pair<std::string, uint64_t>> HostStats::named() const {
  std::vector<std::pair<std::string, uint64_t>> all{
      {"goodput_bytes", goodput_bytes()},
      {"data_packets_sent", data_packets_sent},
      {"retransmissions", retransmissions},
      {"losses_detected", losses_detected},
      {"spurious_losses", spurious_losses},
      {"timeouts", timeouts},
      {"trims_seen", trims_seen},
      {"trim_nacks_received", trim_nacks_received},
      {"ce_marks_seen", ce_marks_seen},
      {"sacks_sent", sacks_sent},
      {"sacks_received", sacks_received},
      {"probes_sent", probes_sent},
      {"ev_probes_sent", ev_probes_sent},
      {"ev_probes_answered", ev_probes_answered},
      {"ev_probe_rtt_ns", static_cast<uint64_t>(ev_probe_rtt.ns())},
      {"port_status_sent", port_status_sent},
      {"port_status_received", port_status_received},
      {"evs_lost", evs_lost},
      {"evs_regained", evs_regained},
      {"evs_bad", evs_bad},
      {"qps", qps},
      {"qps_in_error", qps_in_error},
      {"qps_pending", qps_pending},
      {"qps_active", qps_active},
      {"qps_ready", qps_ready},
      {"window_bytes", window_bytes},
      {"in_flight_bytes", in_flight_bytes},
      {"writes_completed", writes_completed},
      {"bytes_verified", bytes_verified},
      {"bytes_mismatched", bytes_mismatched},
      {"collectives_completed", collectives_completed},
      {"no_buffer", no_buffer},
      {"memory_faults", memory_faults},
  };
  if (datagrams_sent > 0) all.emplace_back("datagrams_sent", datagrams_sent);
  for (const auto& [reason, count] : qp_errors) {
    all.emplace_back("qp_error." + std::string(reason), count);
  }
  for (size_t i = 0; i < refused.size(); ++i) {
    if (refused[i] == 0) continue;
    all.emplace_back("refused." + std::string(name_of(static_cast<Refusal>(i))), refused[i]);
  }
  for (size_t p = 0; p < planes.size(); ++p) {
    const std::string prefix = "p" + std::to_string(p) + ".";
    all.emplace_back(prefix + "tx_packets", planes[p].tx_packets);
    all.emplace_back(prefix + "rx_packets", planes[p].rx_packets);
    all.emplace_back(prefix + "tx_payload_bytes", planes[p].tx_payload_bytes);
    all.emplace_back(prefix + "rx_payload_bytes", planes[p].rx_payload_bytes);
  }
  return all;
}

}  // namespace mrclab::endpoint

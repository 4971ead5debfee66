// The table of transport options. A new one is a member of TransportProfile and a line here.

#include <array>

#include "endpoint/transport_choice.h"

namespace mrclab::endpoint {

std::span<const TransportOption> transport_options() {
  using O = TransportOption;
  using P = TransportProfile;
  static const std::array kOptions{
      O{"active_evs", "entropy values of a queue pair (MRC paper §2.4: 128-256)",
        O::Integer{&P::ev_limit, 1, 4096}},
      O{"window_percent", "window of a destination, in percent of line rate x base RTT",
        O::Integer{&P::window_percent, 1, 1000}},
      O{"ack_timeout", "local ACK timeout of a packet (MRC API: 1.024 us x 2^n)",
        O::Time{&P::ack_timeout}},
      O{"max_psn_range", "PSNs in flight, rounded down to units of 128 (MRC specification: MPR)",
        O::Integer{&P::max_psn_range, 128, 255 * 128}},
      O{"max_wimm", "Write-with-Immediate messages in flight (MRC specification: MAX_WIMM)",
        O::Integer{&P::max_immediates, 1, 0x7FFF}},
      O{"dynamic_mpr", "a destination may shrink the PSN range by its SACKs (MRC specification)",
        O::Switch{&P::dynamic_mpr}},
      O{"trim_nack", "trims are answered by NACKs; off: data in a class that is not trimmed",
        O::Switch{&P::trim_nack}},
      O{"icrc", "compute and verify the ICRC of every packet", O::Switch{&P::icrc}},
  };
  return kOptions;
}

}  // namespace mrclab::endpoint

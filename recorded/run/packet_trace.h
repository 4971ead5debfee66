#pragma once
// `mrclab trace`: one packet's life out of a run folder, as text and as JSON.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/packet_life.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Which packet. `qp` is a queue pair's number at either end; the others are needed where it fits
/// several flows.
struct TraceRequest {
  Qpn qp;
  Psn psn;
  std::optional<std::string> host;  ///< that sends it
  std::optional<std::string> to;    ///< that it is sent to
  std::optional<uint32_t> attempt;  ///< only this one, from 1
};

class PacketTrace {
 public:
  /// `run` is a run folder, "latest", or a capture file, which needs `fabric`. Throws InputError if
  /// the packet is not there, or several fit.
  PacketTrace(const std::string& run, const std::optional<std::string>& fabric,
              const TraceRequest& request);
  PacketTrace(const PacketTrace&) = delete;
  PacketTrace& operator=(const PacketTrace&) = delete;

  const Topology& topology() const { return topology_; }
  const analysis::FoundPacket& packet() const { return packet_; }
  const analysis::PacketLife& life() const { return life_; }
  /// The sources that were read, and those that would show more.
  const std::vector<std::string>& sources() const { return sources_; }
  std::optional<uint32_t> only_attempt() const { return only_attempt_; }

 private:
  void read_run(const std::filesystem::path& folder, analysis::PacketSearch& search);
  void say_sources(const analysis::PacketSearch& search, CaptureScope scope);
  /// Throws InputError if data of this queue pair was seen that trace cannot place, with why.
  void refuse_unplaced(const analysis::PacketSearch& search, Qpn qp) const;
  analysis::FoundPacket choose(const std::vector<analysis::FoundPacket>& found,
                               const TraceRequest& request,
                               const analysis::PacketSearch& search) const;

  Topology topology_;
  std::vector<analysis::KnownFlow> known_;
  analysis::FoundPacket packet_;
  analysis::PacketLife life_;
  std::vector<std::string> sources_;
  std::optional<uint32_t> only_attempt_;
};

/// 80 columns.
std::string to_text(const PacketTrace& trace);
nlohmann::ordered_json to_json(const PacketTrace& trace);

}  // namespace mrclab::lab

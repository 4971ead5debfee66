#pragma once
// What the simulated world writes down: for each of its shards a log of events and, where they are
// asked for, a capture and packet records. Shards run at once, so they share no file. Where the judge follows the packets
// of some hosts alone, capture and records have those alone, too.

#include <memory>
#include <string>
#include <vector>

#include "analysis/history/followed_senders.h"
#include "netio/record/run_recorder.h"
#include "recorded/folder/run_folder.h"
#include "scenario/spec/scenario.h"
#include "sim/rank_link.h"

namespace mrclab::lab {

class SimRecords {
 public:
  struct Options {
    uint32_t threads = 1;        ///< shards of this process
    RankLink* ranks = nullptr;   ///< null: no other process has shards
    uint64_t capture_bytes = 0;  ///< bound on each capture file
    uint64_t history_bytes = 0;  ///< bound on the packet records of all shards; 0: none
  };

  /// The files lie in the folder's events/, captures/ and history/, named "sim", or "sim-N" for shard
  /// N of several. Throws SystemError.
  SimRecords(const Scenario& scenario, const RunFolder& folder, const Options& options);

  /// Records what the node does, which must be one of this process.
  netio::RunRecorder& recorder(NodeId node) { return *recorders_[node.value]; }
  /// The latest instant of all that was recorded.
  FabricTime last() const;
  /// Nothing later is recorded from now on.
  void set_end(FabricTime end);
  /// Closes the files. Their seals mark them as whole up to `reached`.
  void close(FabricTime reached);
  uint64_t capture_records() const;
  std::vector<HistoryStream> streams() const;

 private:
  struct Shard {
    std::vector<NodeId> nodes;
    std::unique_ptr<netio::EventLog> events;        // null, as the others, where it has no node
    std::unique_ptr<netio::PcapngWriter> capture;   // null: not asked for
    std::unique_ptr<netio::HistoryWriter> records;  // null: not asked for
  };
  void open_files(Shard& shard, const std::string& name, const Scenario& scenario,
                  const RunFolder& folder, const Options& options, uint64_t history_bytes);

  FabricTime stop_;
  analysis::FollowedSenders followed_;  // before recorders_, which ask it
  std::vector<Shard> shards_;
  std::vector<std::unique_ptr<netio::RunRecorder>> recorders_;  // by node; null: of another rank
};

}  // namespace mrclab::lab

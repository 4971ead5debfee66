#pragma once
// What a daemon answers on its control socket: "status", "report", "counters", "pauses",
// "table" {"node"}, "power_off", and for single steps "watch" (a RecordFilter, null: no more) and "watched".
//
// The daemon passes functions that compute the answers, and calls poll() every few milliseconds: methods run then.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "fabric/history/record_watch.h"
#include "netio/rpc/rpc.h"

namespace mrclab::netio {

/// The daemon's part of the answers.
struct DaemonAnswers {
  std::function<Json()> status;
  std::function<Json()> report;
  std::function<Json()> counters;  ///< {"committed_ps", "nodes": of all, by name}
  std::function<Json()> pauses;    ///< PauseAccounts of nodes, by name
  /// The forwarding table of the node of that name. Throws RpcError if there is none here.
  std::function<Json(const std::string& node)> table;
  /// The state of the nodes for a successor; the daemon does nothing after it.
  std::function<Json()> power_off;
  /// Every event and record goes to `watch` from now on; null: to nobody.
  std::function<void(RecordWatch*)> set_watch;
};

class DaemonMethods {
 public:
  /// Listens at `socket`. `matches` is what the watches count up. Throws SystemError.
  DaemonMethods(const std::filesystem::path& socket, const Topology& topology,
                std::atomic<uint64_t>& matches, DaemonAnswers answers);
  DaemonMethods(const DaemonMethods&) = delete;  // its methods refer to it
  DaemonMethods& operator=(const DaemonMethods&) = delete;

  /// Answers what has come in, without waiting.
  void poll() { server_.poll(); }

 private:
  Json watch(const Json& filter);

  const Topology& topology_;
  std::atomic<uint64_t>& matches_;
  DaemonAnswers answers_;
  std::unique_ptr<RecordWatch> watch_;  ///< null while no client steps
  boost::asio::io_context io_{1};
  RpcServer server_;
};

}  // namespace mrclab::netio

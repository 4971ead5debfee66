#include "netio/runtime/daemon_methods.h"

namespace mrclab::netio {

DaemonMethods::DaemonMethods(const std::filesystem::path& socket, const Topology& topology,
                             std::atomic<uint64_t>& matches, DaemonAnswers answers)
    : topology_(topology), matches_(matches), answers_(std::move(answers)), server_(io_, socket) {
  server_.method("status", [this](const Json&) { return answers_.status(); });
  server_.method("power_off", [this](const Json&) { return answers_.power_off(); });
  server_.method("report", [this](const Json&) { return answers_.report(); });
  server_.method("counters", [this](const Json&) { return answers_.counters(); });
  server_.method("pauses", [this](const Json&) { return answers_.pauses(); });
  server_.method("table", [this](const Json& of) {
    const Json name = of.is_object() ? of.value("node", Json()) : Json();
    return answers_.table(name.is_string() ? name.get<std::string>() : "");
  });
  server_.method("watch", [this](const Json& filter) { return watch(filter); });
  server_.method("watched", [this](const Json&) {
    if (watch_ == nullptr) throw RpcError(kRpcRefused, "nothing is watched");
    return watch_->take_records();
  });
}

Json DaemonMethods::watch(const Json& filter) {
  std::unique_ptr<RecordWatch> next;
  if (!filter.is_null()) {
    next = std::make_unique<RecordWatch>(topology_, record_filter_from(filter), matches_);
  }
  answers_.set_watch(next.get());  // before the old one goes
  watch_ = std::move(next);
  return Json{{"watching", watch_ != nullptr}};
}

}  // namespace mrclab::netio

#include "lab/persistent/daemon_watch.h"

#include <algorithm>

namespace mrclab::lab {

using nlohmann::json;

void DaemonWatch::start(const RecordFilter& filter) {
  watching_ = true;
  for (uint32_t i = 0; i < lab_.gate().process_count; ++i) {
    if (netio::in_gate(lab_.gate().state(i))) lab_.fleet().ask(i, "watch", to_json(filter));
  }
}

void DaemonWatch::stop() {
  if (!watching_) return;
  watching_ = false;
  for (uint32_t i = 0; i < lab_.gate().process_count; ++i) {
    try {
      if (netio::in_gate(lab_.gate().state(i))) lab_.fleet().ask(i, "watch");
    } catch (const std::exception&) {  // it is dying, or stopped: supervision reports it
    }
  }
}

json DaemonWatch::take_records() {
  json records = json::array();
  uint64_t left_out = 0;
  for (uint32_t i = 0; i < lab_.gate().process_count; ++i) {
    if (lab_.gate().slot(i).watched_records.load(std::memory_order_relaxed) == 0) continue;
    if (!netio::in_gate(lab_.gate().state(i))) continue;
    const json taken = lab_.fleet().ask(i, "watched");
    left_out += taken.at("left_out").get<uint64_t>();
    for (const json& record : taken.at("records")) records.push_back(record);
  }
  std::stable_sort(records.begin(), records.end(), [](const json& a, const json& b) {
    return a.at("t_ps").get<int64_t>() < b.at("t_ps").get<int64_t>();
  });
  if (records.size() > kMaxRecords) {
    left_out += records.size() - kMaxRecords;
    records.erase(records.begin() + kMaxRecords, records.end());
  }
  return {{"records", std::move(records)}, {"left_out", left_out}};
}

}  // namespace mrclab::lab

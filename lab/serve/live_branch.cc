#include "lab/serve/live_branch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "fabric/history/report_json.h"
#include "live/world/live_options.h"
#include "live/world/process_reports.h"
#include "netio/rpc/heartbeat.h"

namespace mrclab::lab {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{1};
/// Packet records of one lab, in memory: /run holds them. Seven million packets at hops (our choice), or a quarter of
/// what is free there: other programs need it, too, and the lab itself for its schedule of faults.
constexpr uint64_t kRecordBytes = uint64_t{256} << 20;
constexpr uint64_t kShareOfFree = 4;

uint64_t room_for_records() {
  std::error_code unknown;
  std::filesystem::path root = LabPaths().run_root;
  if (!std::filesystem::exists(root, unknown)) root = root.parent_path();
  const std::filesystem::space_info space = std::filesystem::space(root, unknown);
  return unknown ? kRecordBytes : std::min<uint64_t>(kRecordBytes, space.available / kShareOfFree);
}

/// It stands at the end, and can be looked at.
LiveLabOptions lab_of_page(const LiveBranch::Options& wanted, uint64_t record_bytes) {
  static std::atomic<uint32_t> labs{0};  // of this process, so that two can be up at once
  LiveLabOptions options;
  options.name = fmt::format("page_{}_{}", ::getpid(), ++labs);
  options.history_bytes = record_bytes;
  options.followed = true;
  options.programs = wanted.programs;
  return options;
}

std::vector<std::string> names_of(const ProcessPlan& plan) {
  std::vector<std::string> names;
  for (const ProcessPlan::Process& process : plan.processes) names.push_back(process.name);
  return names;
}

}  // namespace

LiveBranch::LiveBranch(Scenario scenario, Options options)
    : Branch(playable(std::move(scenario))),
      options_(std::move(options)),
      record_bytes_(options_.record_bytes ? *options_.record_bytes : room_for_records()),
      lab_(scenario_.topology, live_options_of(scenario_, lab_of_page(options_, record_bytes_)),
           [this](const BringUpStep&) {
             if (options_.interrupted && options_.interrupted())
               throw Interrupted("the lab was not brought up");
           }),
      clock_(lab_, scenario_.topology, true),
      faults_(lab_, scenario_.topology, scenario_.faults, scenario_.seed),
      loop_([this] { return lab_.step(); },
            [this] {
              const uint64_t before = faults_.book().total();
              faults_.notice();
              faults_changed_ = faults_changed_ || faults_.book().total() != before;
            },
            LabLoop::Ends::kNever),
      told_(scenario_.topology, *recording_),
      follower_(lab_.fleet().records_folder(), names_of(lab_.plan()), told_) {
  loop_.add([this] { clock_.apply_order(); });
  clock_.start(true);
}

void LiveBranch::take_records() {
  // Daemons write records to the files before they publish this instant.
  const FabricTime recorded = std::min(lab_.gate().slowest_recorded(), end());
  const FabricTime cut = lab_.gate().records_cut();
  follower_.read();
  if (cut <= end() && (!cut_ || cut < cut_->from)) {
    cut_ = {cut, fmt::format(
                     "from {} on nothing is recorded: packet records may take {:.1f} MiB of /run "
                     "here, and the share of a process is full",
                     to_string(cut), static_cast<double>(record_bytes_) / (1 << 20))};
  }
  if (recorded == FabricTime::never() || recorded <= reached_) return;
  reached_ = recorded;
  recording_->complete(reached_);
}

bool LiveBranch::look_after() {
  loop_.turn();
  take_records();
  const bool changed = std::exchange(faults_changed_, false);
  if (changed) take_faults();
  return changed;
}

FabricTime LiveBranch::goal(FabricTime until) const {
  const FabricTime last = cut_ ? cut_->from - FabricTime::from_ps(1) : end();
  return std::min(until, last);
}

void LiveBranch::reach(FabricTime until, const GoOn& go_on) {
  if (goal(until) <= reached_) return;
  const bool further = lab_.limit() == FabricTime::never() || lab_.limit() < goal(until);
  if (further) clock_.until(goal(until));
  netio::keep_looking([&]() -> netio::Heartbeat::Next {
    loop_.turn();
    take_records();
    const bool stopped = clock_.standing() && lab_.limit() < goal(until);  // a process was lost
    if (reached_ >= goal(until) || stopped || (go_on && !go_on(reached_))) return std::nullopt;
    return kLook;
  });
}

void LiveBranch::stand() { reach(lab_.limit()); }

void LiveBranch::take_faults() {
  scenario_.faults = faults_.book().faults();
  scenario_.schedule = faults_.book().schedule();
  twin_.forget();
}

uint32_t LiveBranch::break_now(FaultOrder order) {
  stand();
  order.at.reset();
  const uint32_t number = faults_.break_it(order);
  take_faults();
  return number;
}

std::vector<uint32_t> LiveBranch::heal_now(const std::string& word) {
  stand();
  std::vector<uint32_t> healed = faults_.heal(word);
  take_faults();
  return healed;
}

std::vector<BookedFault> LiveBranch::booked() const {
  std::vector<BookedFault> booked;
  for (const auto& [number, fault] : faults_.book().entries()) booked.push_back(fault);
  return booked;
}

std::optional<RecordsCut> LiveBranch::records_cut() const { return cut_; }

void LiveBranch::require_recorded() const {
  if (cut_) throw InputError(cut_->why + ": hosts and switches have gone on since");
}

nlohmann::json LiveBranch::ask(const NodeSite& node, const char* method) const {
  require_recorded();
  const uint32_t process = lab_.plan().process_of_node.at(node.id.value);
  if (process >= lab_.plan().processes.size()) throw InputError(node.name + " is not ours to ask");
  return lab_.fleet().ask(process, method, {{"node", node.name}});
}

endpoint::HostAccount LiveBranch::account(uint32_t host) const {
  const NodeSite& node = topology().node(topology().host(host));
  return report_from_json<endpoint::HostAccount>(ask(node, "counters").at("nodes").at(node.name));
}

SwitchStatus LiveBranch::status_of(const NodeSite& node) const {
  SwitchStatus words;
  words.table = ask(node, "table");
  words.pauses = ask(node, "pauses").value(node.name, nlohmann::json());
  ask(node, "counters").at("nodes").at(node.name).get_to(words.counters);
  return words;
}

std::string LiveBranch::history_sha256() const {
  require_recorded();
  std::vector<HistoryStream> streams;
  for (uint32_t i = 0; i < lab_.plan().processes.size(); ++i) {
    const nlohmann::json report = lab_.fleet().ask(i, "report");
    const auto more = read_process_report(report, topology(), lab_.plan(), i).streams;
    streams.insert(streams.end(), more.begin(), more.end());
  }
  return mrclab::history_sha256(std::move(streams));
}

}  // namespace mrclab::lab

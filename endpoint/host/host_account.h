#pragma once
// The account that a host gives of itself to the lab that runs it: a value within one process, and
// from mrc-endpointd a report with the tables below.

#include <map>
#include <string>
#include <vector>

#include "endpoint/base/host_stats.h"
#include "endpoint/base/job_report.h"
#include "endpoint/base/work_report.h"
#include "fabric/text/report_table.h"

namespace mrclab::endpoint {

struct HostAccount {
  HostStats stats;
  std::vector<QueueCounts> queues;
  std::vector<WorkReport> work;
  std::vector<JobReport> jobs;
};

}  // namespace mrclab::endpoint

namespace mrclab {

template <>
inline constexpr auto kReportTable<endpoint::PlaneStats> = report_table<endpoint::PlaneStats>(
    entry("tx_packets", &endpoint::PlaneStats::tx_packets),
    entry("rx_packets", &endpoint::PlaneStats::rx_packets),
    entry("tx_payload_bytes", &endpoint::PlaneStats::tx_payload_bytes),
    entry("rx_payload_bytes", &endpoint::PlaneStats::rx_payload_bytes));

template <>
inline constexpr auto kReportTable<endpoint::HostStats> = report_table<endpoint::HostStats>(
    entry("planes", &endpoint::HostStats::planes),
    entry("data_packets_sent", &endpoint::HostStats::data_packets_sent),
    entry("retransmissions", &endpoint::HostStats::retransmissions),
    entry("losses_detected", &endpoint::HostStats::losses_detected),
    entry("spurious_losses", &endpoint::HostStats::spurious_losses),
    entry("timeouts", &endpoint::HostStats::timeouts),
    entry("trims_seen", &endpoint::HostStats::trims_seen),
    entry("trim_nacks_received", &endpoint::HostStats::trim_nacks_received),
    entry("resource_nacks_received", &endpoint::HostStats::resource_nacks_received),
    entry("ce_marks_seen", &endpoint::HostStats::ce_marks_seen),
    entry("datagrams_sent", &endpoint::HostStats::datagrams_sent),
    entry("sequence_naks_received", &endpoint::HostStats::sequence_naks_received),
    entry("cnps_sent", &endpoint::HostStats::cnps_sent),
    entry("cnps_received", &endpoint::HostStats::cnps_received),
    entry("sacks_sent", &endpoint::HostStats::sacks_sent),
    entry("sacks_received", &endpoint::HostStats::sacks_received),
    entry("probes_sent", &endpoint::HostStats::probes_sent),
    entry("ev_probes_sent", &endpoint::HostStats::ev_probes_sent),
    entry("ev_probes_answered", &endpoint::HostStats::ev_probes_answered),
    entry("ev_probe_rtt_ps", &endpoint::HostStats::ev_probe_rtt),
    entry("port_status_sent", &endpoint::HostStats::port_status_sent),
    entry("port_status_received", &endpoint::HostStats::port_status_received),
    entry("evs_lost", &endpoint::HostStats::evs_lost),
    entry("evs_regained", &endpoint::HostStats::evs_regained),
    entry("evs_bad", &endpoint::HostStats::evs_bad), entry("qps", &endpoint::HostStats::qps),
    entry("qps_ended", &endpoint::HostStats::qps_ended),
    entry("qps_in_error", &endpoint::HostStats::qps_in_error),
    entry("qp_errors", &endpoint::HostStats::qp_errors),
    entry("qps_pending", &endpoint::HostStats::qps_pending),
    entry("qps_active", &endpoint::HostStats::qps_active),
    entry("qps_ready", &endpoint::HostStats::qps_ready),
    entry("window_bytes", &endpoint::HostStats::window_bytes),
    entry("in_flight_bytes", &endpoint::HostStats::in_flight_bytes),
    entry("writes_completed", &endpoint::HostStats::writes_completed),
    entry("bytes_verified", &endpoint::HostStats::bytes_verified),
    entry("bytes_mismatched", &endpoint::HostStats::bytes_mismatched),
    entry("collectives_completed", &endpoint::HostStats::collectives_completed),
    entry("no_buffer", &endpoint::HostStats::no_buffer),
    entry("not_authorised", &endpoint::HostStats::not_authorised),
    entry("memory_faults", &endpoint::HostStats::memory_faults),
    counts("refused", &endpoint::HostStats::refused,
           [](size_t i) { return name_of(static_cast<endpoint::Refusal>(i)); }));

template <>
inline constexpr auto kReportTable<endpoint::QpErrorCount> =
    report_table<endpoint::QpErrorCount>(entry("reason", &endpoint::QpErrorCount::reason),
                                         entry("count", &endpoint::QpErrorCount::count));

template <>
inline constexpr auto kReportTable<endpoint::QueueCounts> = report_table<endpoint::QueueCounts>(
    entry("qp", &endpoint::QueueCounts::local), entry("remote", &endpoint::QueueCounts::remote),
    entry("peer", &endpoint::QueueCounts::peer), entry("posted", &endpoint::QueueCounts::posted),
    entry("completed", &endpoint::QueueCounts::completed),
    entry("failed", &endpoint::QueueCounts::failed),
    entry("out_of_order", &endpoint::QueueCounts::out_of_order),
    entry("in_error", &endpoint::QueueCounts::in_error));

template <>
inline constexpr auto kReportTable<endpoint::WorkSample> = report_list<endpoint::WorkSample>(
    entry("from_ps", &endpoint::WorkSample::from), entry("to_ps", &endpoint::WorkSample::to));

template <>
inline constexpr auto kReportTable<endpoint::WorkReport> = report_table<endpoint::WorkReport>(
    entry("workload", &endpoint::WorkReport::workload), entry("from", &endpoint::WorkReport::from),
    entry("to", &endpoint::WorkReport::to), entry("queue", &endpoint::WorkReport::queue),
    entry("unit", &endpoint::WorkReport::unit), entry("done", &endpoint::WorkReport::done),
    entry("first_ps", &endpoint::WorkReport::first), entry("last_ps", &endpoint::WorkReport::last),
    entry("samples_ps", &endpoint::WorkReport::samples));

template <>
inline constexpr auto kReportTable<job::OpTime> = report_list<job::OpTime>(
    entry("begin_ps", &job::OpTime::begin), entry("end_ps", &job::OpTime::end),
    entry("begun_by", &job::OpTime::begun_by), entry("ended_by", &job::OpTime::ended_by));

template <>
inline constexpr auto kReportTable<job::RankTimes> = report_table<job::RankTimes>(
    entry("rank", &job::RankTimes::rank), entry("origin_ps", &job::RankTimes::origin),
    entry("times_ps", &job::RankTimes::times), entry("died_at_ps", &job::RankTimes::died_at),
    entry("died", &job::RankTimes::died));

template <>
inline constexpr auto kReportTable<job::JobTurn> = report_table<job::JobTurn>(
    entry("attempt", &job::JobTurn::attempt), entry("reporter", &job::JobTurn::reporter),
    entry("reported_ps", &job::JobTurn::reported), entry("ended_ps", &job::JobTurn::ended),
    entry("lost", &job::JobTurn::lost), entry("next", &job::JobTurn::next),
    entry("begun_ps", &job::JobTurn::begun), entry("from_step", &job::JobTurn::from_step),
    entry("hosts", &job::JobTurn::hosts), entry("gave_up", &job::JobTurn::gave_up));

template <>
inline constexpr auto kReportTable<endpoint::JobReport> = report_table<endpoint::JobReport>(
    entry("workload", &endpoint::JobReport::workload),
    entry("attempt", &endpoint::JobReport::attempt),
    entry("of_launcher", &endpoint::JobReport::of_launcher),
    entry("rank", &endpoint::JobReport::rank), entry("turns", &endpoint::JobReport::turns));

template <>
inline constexpr auto kReportTable<endpoint::HostAccount> = report_table<endpoint::HostAccount>(
    entry("stats", &endpoint::HostAccount::stats), entry("queues", &endpoint::HostAccount::queues),
    entry("work", &endpoint::HostAccount::work), entry("jobs", &endpoint::HostAccount::jobs));

}  // namespace mrclab

#include "telemetry/counter_series.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/input_error.h"
#include "telemetry/open_metrics.h"

namespace mrclab::telemetry {

CounterSeries::CounterSeries(const Topology& topology, FabricTime step)
    : topology_(topology), step_(step) {
  if (step <= FabricTime()) throw InputError("found a step of no time, expected a longer one");
}

uint32_t CounterSeries::step_of(FabricTime at) const {
  const int64_t step = at / step_ + (at.ps() % step_.ps() > 0 ? 1 : 0);
  if (step < 0 || step >= static_cast<int64_t>(kMaxSteps)) {
    throw InputError(fmt::format("found {} steps of {} until {}, expected at most {}", step,
                                 to_string(step_), to_string(at), kMaxSteps));
  }
  return static_cast<uint32_t>(step);
}

void CounterSeries::add(PortRef port, const CounterRow& row, FabricTime at, uint64_t count) {
  const uint32_t step = step_of(at);
  steps_ = std::max(steps_, size_t{step} + 1);
  increments_[{&row, port}][step] += count;
}

void CounterSeries::hold(PortRef port, const CounterRow& now, const CounterRow& most,
                         FabricTime from, FabricTime until, uint64_t value) {
  if (until <= from || value == 0) return;
  const uint32_t last = step_of(until - FabricTime::from_ps(1));
  steps_ = std::max(steps_, size_t{last} + 1);
  std::map<uint32_t, uint64_t>& peaks = increments_[{&most, port}];
  for (uint32_t i = step_of(from); i <= last; ++i) {
    peaks[i] = std::max(peaks[i], value);
    if (step_ * static_cast<int64_t>(i) < until) increments_[{&now, port}][i] = value;
  }
}

void CounterSeries::spread(PortRef port, const CounterRow& row, FabricTime from, FabricTime until) {
  const uint32_t last = step_of(until);
  for (uint32_t i = step_of(from); i <= last && from < until; ++i) {
    const FabricTime step_end = std::min(until, step_ * static_cast<int64_t>(i));
    if (step_end > from) add(port, row, step_end, static_cast<uint64_t>((step_end - from).ps()));
    from = std::max(from, step_end);
  }
}

void CounterSeries::reach(FabricTime end) { steps_ = std::max(steps_, size_t{step_of(end)} + 1); }

std::vector<CounterSeries::Line> CounterSeries::lines() const {
  if (increments_.size() > kMaxSeriesValues / steps_) {
    throw InputError(fmt::format("found {} counters at {} steps, expected at most {} values",
                                 increments_.size(), steps_, kMaxSeriesValues));
  }
  std::vector<Line> lines;
  for (const auto& [key, increments] : increments_) {
    Line& line = lines.emplace_back(Line{key.second, key.first, std::vector<uint64_t>(steps_, 0)});
    const bool gauge = key.first->kind == MetricKind::kGauge;
    uint64_t sum = 0;
    auto next = increments.begin();
    for (size_t i = 0; i < steps_; ++i) {
      if (gauge) sum = 0;
      if (next != increments.end() && next->first == i) sum += (next++)->second;
      line.values[i] = sum;
    }
  }
  return lines;
}

std::string CounterSeries::open_metrics() const {
  OpenMetricsText out;
  for (const Line& line : lines()) {
    const Port& port = topology_.port(line.port);
    const std::string name = port.name(),
                      plane = std::to_string(port.plane);  // labels refer to them
    std::vector<MetricLabel> labels{{"node", topology_.node(line.port.node).name}};
    if (line.row->at != Counts::kHost) {
      labels.insert(labels.end(), {{"port", name}, {"plane", plane}});
    }
    for (size_t i = 0; i < steps_; ++i) {
      out.add(line.row->family, line.row->kind, line.row->help, labels, line.row->label,
              static_cast<double>(line.values[i]) * line.row->unit, static_cast<int64_t>(i));
    }
  }
  return out.text();
}

std::string CounterSeries::csv() const {
  std::string text = "time_us,node,port,plane,counter,value\n";
  for (const Line& line : lines()) {
    const Port& port = topology_.port(line.port);
    const std::string& node = topology_.node(line.port.node).name;
    const std::string where = line.row->at == Counts::kHost
                                  ? node + ",,"
                                  : fmt::format("{},{},{}", node, port.name(), port.plane);
    for (size_t i = 0; i < steps_; ++i) {
      text += fmt::format("{},{},{},{}\n", (step_ * static_cast<int64_t>(i)).us(), where,
                          line.row->word, line.values[i]);
    }
  }
  return text;
}

}  // namespace mrclab::telemetry

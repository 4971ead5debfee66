#include "lab/twin/real_cost.h"

#include <fmt/format.h>

#include "analysis/report/text_table.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;
using analysis::TextTable;

std::optional<RealDelay> delay_of(std::optional<int64_t> smaller, std::optional<int64_t> larger,
                                  const RealJob& job) {
  if (!smaller || !larger || *smaller < 0 || *larger < 0) return std::nullopt;
  return real_delay({job.smaller, FabricTime::from_ps(*smaller)},
                    {job.larger, FabricTime::from_ps(*larger)});
}

TextTable::Row row_of(const std::string& name, const std::optional<RealDelay>& delay,
                      const RealJob& job) {
  TextTable::Row row{name};
  if (!delay) {
    row.resize(5, "-");
  } else {
    row.push_back(to_string(delay->reaction));
    row.push_back(to_string(delay->real) + (delay->fits ? "" : " *"));
    row.push_back(to_string(delay->least));
    row.push_back(to_string(delay->most));
  }
  if (job.gpus == 0) return row;
  row.push_back(delay ? fmt::format("{:.3g}", gpu_hours(delay->real, job.gpus)) : "-");
  if (job.price == 0) return row;
  row.push_back(delay ? fmt::format("{:.3g}", gpu_hours(delay->real, job.gpus) * job.price) : "-");
  return row;
}

Json range_of(const RealDelay& delay, double factor) {
  Json range = Json::array();
  for (const FabricTime time : {delay.least, delay.real, delay.most}) {
    range.push_back(gpu_hours(time, 1) * factor);
  }
  return range;
}

Json json_of(const std::optional<RealDelay>& delay, const RealJob& job) {
  if (!delay) return Json();
  return {
      {"reaction_ps", delay->reaction.ps()},
      {"work_ps", delay->work.ps()},
      {"real_ps", delay->real.ps()},
      {"least_ps", delay->least.ps()},
      {"most_ps", delay->most.ps()},
      {"fits", delay->fits},
      {"gpu_hours", job.gpus == 0 ? Json() : range_of(*delay, job.gpus)},
      {"cost", job.gpus == 0 || job.price == 0 ? Json() : range_of(*delay, job.gpus * job.price)}};
}

}  // namespace

double gpu_hours(FabricTime delay, uint32_t gpus) {
  return static_cast<double>(delay.ps()) * 1e-12 / 3600 * gpus;
}

RealCosts real_costs(const TwinReport& smaller, const TwinReport& larger, const RealJob& job) {
  RealCosts costs{job, {}, {}, {}};
  if (smaller.unit != TwinUnit::kTime || larger.unit != TwinUnit::kTime) {
    throw InputError("a job's own size: expected a workload that ends, whose time is measured");
  }
  if (smaller.faults.size() != larger.faults.size()) {
    throw InputError("a job's own size: expected the same faults in both scenarios");
  }
  for (size_t i = 0; i < smaller.faults.size(); ++i) {
    const TwinFault &a = smaller.faults[i], &b = larger.faults[i];
    if (a.kind != b.kind) {
      throw InputError(fmt::format("fault {}: found {} and {}: expected the same in both scenarios",
                                   i + 1, a.kind, b.kind));
    }
    costs.kinds.push_back(a.kind);
    costs.faults.push_back(delay_of(a.cost.marginal, b.cost.marginal, job));
  }
  costs.total = delay_of(smaller.total.total, larger.total.total, job);
  return costs;
}

std::string real_text(const RealCosts& costs, analysis::TableOptions options) {
  TextTable table(options);
  const RealJob& job = costs.job;
  table.line(fmt::format("at the job's own size, of which the runs have {:.3g} and {:.3g}",
                         job.smaller.ppb / static_cast<double>(Probability::kOne),
                         job.larger.ppb / static_cast<double>(Probability::kOne)));
  std::vector<TextTable::Row> rows{{"fault", "reaction", "real", "least", "most"}};
  if (job.gpus != 0) rows[0].push_back("GPU-hours");
  if (job.gpus != 0 && job.price != 0) rows[0].push_back("cost");
  bool all_fit = !costs.total || costs.total->fits;
  for (size_t i = 0; i < costs.faults.size(); ++i) {
    rows.push_back(row_of(fmt::format("{} {}", i + 1, costs.kinds[i]), costs.faults[i], job));
    all_fit = all_fit && (!costs.faults[i] || costs.faults[i]->fits);
  }
  rows.push_back(row_of("all", costs.total, job));
  const std::vector<size_t> widths = table.fit(rows);
  std::vector<bool> right(widths.size(), true);
  right[0] = false;
  for (const TextTable::Row& row : rows) table.row(row, widths, right);
  if (!all_fit) {
    table.line("*  no reaction and share of the work give these two delays: taken as one of them");
  }
  return table.take();
}

Json to_json(const RealCosts& costs) {
  Json faults = Json::array();
  for (size_t i = 0; i < costs.faults.size(); ++i) {
    Json fault{{"number", i + 1}, {"kind", costs.kinds[i]}};
    const Json delay = json_of(costs.faults[i], costs.job);
    if (delay.is_object()) fault.update(delay);
    faults.push_back(std::move(fault));
  }
  const auto share = [](Probability factor) {
    return factor.ppb / static_cast<double>(Probability::kOne);
  };
  return {{"factors", {share(costs.job.smaller), share(costs.job.larger)}},
          {"gpus", costs.job.gpus == 0 ? Json() : Json(costs.job.gpus)},
          {"price", costs.job.price == 0 ? Json() : Json(costs.job.price)},
          {"faults", std::move(faults)},
          {"all", json_of(costs.total, costs.job)}};
}

}  // namespace mrclab::lab

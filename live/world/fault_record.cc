#include "live/world/fault_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace mrclab::lab {
namespace {

using nlohmann::json;

/// read() takes more than kMaxBytes, because the line that made the record full may be a long one.
constexpr size_t kMaxFileBytes = 2 * FaultRecord::kMaxBytes;

FaultSource source_named(const std::string& name) {
  for (const FaultSource source : {FaultSource::kScenario, FaultSource::kHand}) {
    if (name_of(source) == name) return source;
  }
  return FaultSource::kOutside;
}

}  // namespace

FaultRecord::FaultRecord(const Topology& topology, std::filesystem::path file)
    : topology_(topology),
      file_(std::move(file)),
      out_(netio::FileDescriptor::open(file_, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600)) {}

void FaultRecord::add(uint32_t number, const BookedFault& fault) {
  const json entry{{"number", number},
                   {"source", name_of(fault.source)},
                   {"noticed", fault.noticed},
                   {"fault", faults::to_yaml(fault.fault, topology_)}};
  const std::string line = entry.dump() + "\n";
  try {
    out_.write_all(file_.string(), {reinterpret_cast<const uint8_t*>(line.data()), line.size()});
  } catch (const netio::SystemError&) {  // a part of this line would spoil the next one
    netio::check_system_call("take back part of a line",
                             ::ftruncate(out_.get(), static_cast<off_t>(bytes_)));
    throw;
  }
  bytes_ += line.size();
}

std::map<uint32_t, BookedFault> FaultRecord::read() const {
  std::istringstream lines(netio::read_file(file_, kMaxFileBytes));
  std::vector<json> entries;
  std::string list;
  for (std::string line; std::getline(lines, line);) {
    entries.push_back(json::parse(line, nullptr, false));
    if (!entries.back().is_object()) throw InputError(file_.string() + ": bad line: " + line);
    list += "- " + entries.back().at("fault").get<std::string>() + "\n";
  }
  if (entries.empty()) return {};
  NameResolver names(topology_, 0);  // nothing is drawn: the names are resolved
  std::vector<faults::Fault> faults = faults::parse_faults(read_yaml_text(list, file_), names);
  if (faults.size() != entries.size()) throw InputError(file_.string() + ": not one fault a line");
  std::map<uint32_t, BookedFault> found;
  for (size_t i = 0; i < entries.size(); ++i) {
    found[entries[i].at("number").get<uint32_t>()] = {
        std::move(faults[i]), source_named(entries[i].at("source").get<std::string>()),
        entries[i].at("noticed").get<std::string>()};
  }
  return found;
}

}  // namespace mrclab::lab

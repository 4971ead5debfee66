#include "netio/runtime/daemon_config.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fabric/text/json_text.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {
namespace {

const char* name_of(CaptureMode mode) {
  switch (mode) {
    case CaptureMode::kNone: return "none";
    case CaptureMode::kHosts: return "hosts";
    case CaptureMode::kAll: return "all";
  }
  return "none";
}

CaptureMode capture_mode(const std::string& name) {
  for (const CaptureMode mode : {CaptureMode::kNone, CaptureMode::kHosts, CaptureMode::kAll}) {
    if (name == name_of(mode)) return mode;
  }
  throw std::runtime_error("unknown capture mode " + name);
}

}  // namespace

void write_daemon_config(const DaemonConfig& config, const std::filesystem::path& file) {
  const nlohmann::json json{
      {"lab", config.lab},
      {"lab_id", config.lab_id},
      {"process_name", config.process_name},
      {"process", config.process},
      {"incarnation", config.incarnation},
      {"process_of_node", config.process_of_node},
      {"fabric_file", config.fabric_file.string()},
      {"seed", config.seed},
      {"end_ps", config.end.ps()},
      {"work_end_ps", config.work_end.ps()},
      {"resume_file", config.resume_file.string()},
      {"schedule_file", config.schedule_file.string()},
      {"capture", name_of(config.capture)},
      {"capture_bytes", config.capture_bytes},
      {"history_bytes", config.history_bytes},
      {"followed", config.followed},
      {"run_dir", config.run_dir.string()},
      {"control_socket", config.control_socket.string()},
      {"output_file", config.output_file.string()},
      {"nodes_folder", config.nodes_folder.string()},
      {"page_fd", config.page_fd},
      {"wires_fd", config.wires_fd},
      {"realtime", config.realtime},
      {"verbose", config.verbose},
      {"tick_ns", config.tick_ns},
      {"payload_elided", config.payload_elided},
      {"workload", config.workload},
      {"held_programs", config.held_programs},
      {"transport", config.transport},
  };
  write_file(file, json.dump(1) + "\n");
}

DaemonConfig read_daemon_config(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  DaemonConfig config;
  try {
    const nlohmann::json json = nlohmann::json::parse(in);
    json.at("lab").get_to(config.lab);
    json.at("lab_id").get_to(config.lab_id);
    json.at("process_name").get_to(config.process_name);
    json.at("process").get_to(config.process);
    json.at("incarnation").get_to(config.incarnation);
    json.at("process_of_node").get_to(config.process_of_node);
    config.fabric_file = json.at("fabric_file").get<std::string>();
    json.at("seed").get_to(config.seed);
    config.end = FabricTime::from_ps(json.at("end_ps").get<int64_t>());
    config.work_end = FabricTime::from_ps(json.at("work_end_ps").get<int64_t>());
    config.capture = capture_mode(json.at("capture").get<std::string>());
    json.at("capture_bytes").get_to(config.capture_bytes);
    json.at("history_bytes").get_to(config.history_bytes);
    json.at("followed").get_to(config.followed);
    config.run_dir = json.at("run_dir").get<std::string>();
    config.control_socket = json.at("control_socket").get<std::string>();
    config.output_file = json.at("output_file").get<std::string>();
    config.nodes_folder = json.at("nodes_folder").get<std::string>();
    json.at("page_fd").get_to(config.page_fd);
    json.at("wires_fd").get_to(config.wires_fd);
    json.at("realtime").get_to(config.realtime);
    json.at("verbose").get_to(config.verbose);
    json.at("tick_ns").get_to(config.tick_ns);
    if (config.tick_ns < 1'000) throw std::runtime_error("tick_ns below 1000");
    json.at("payload_elided").get_to(config.payload_elided);
    json.at("workload").get_to(config.workload);
    json.at("held_programs").get_to(config.held_programs);
    json.at("transport").get_to(config.transport);
    config.resume_file = json.at("resume_file").get<std::string>();
    config.schedule_file = json.at("schedule_file").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(file.string() + ": " + json_problem(error));
  }
  return config;
}

}  // namespace mrclab::netio

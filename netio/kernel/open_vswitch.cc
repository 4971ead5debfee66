#include "netio/kernel/open_vswitch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxToolOutput = 16 << 20;
constexpr size_t kMaxCounterAnswer = 4096;
constexpr int kCounterPatienceMs = 100;

/// "5\n" of {"id":0,"result":"5\n","error":null}, the JSON-RPC of Open vSwitch's control sockets.
std::optional<uint64_t> number_in_answer(const std::string& answer) {
  constexpr std::string_view kResult = "\"result\":\"";
  const size_t at = answer.find(kResult);
  if (at == std::string::npos) return std::nullopt;
  uint64_t number = 0;
  const char* begin = answer.data() + at + kResult.size();
  const auto [end, error] = std::from_chars(begin, answer.data() + answer.size(), number);
  return error == std::errc{} && end != begin ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> ask_for_counter(const FileDescriptor& socket, const char* name) {
  const std::string request =
      fmt::format(R"({{"id":0,"method":"coverage/read-counter","params":["{}"]}})", name);
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return std::nullopt;
  }
  std::string answer;
  while (answer.find('}') == std::string::npos && answer.size() < kMaxCounterAnswer) {
    pollfd item{socket.get(), POLLIN, 0};
    if (::poll(&item, 1, kCounterPatienceMs) <= 0) return std::nullopt;
    char part[512];
    const ssize_t size = ::recv(socket.get(), part, sizeof part, MSG_DONTWAIT);
    if (size <= 0) return std::nullopt;
    answer.append(part, static_cast<size_t>(size));
  }
  return number_in_answer(answer);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ovs_environment(const fs::path& folder) {
  return {{"OVS_RUNDIR", folder},
          {"OVS_LOGDIR", folder},
          {"OVS_DBDIR", folder},
          {"OVS_SYSCONFDIR", folder}};
}

std::string run_ovs_tool(const fs::path& folder, std::vector<std::string> command) {
  const fs::path output = folder / fmt::format("{}.{}.out", command.front(), ::getpid());
  fs::remove(output);
  ChildOptions options;
  options.environment = ovs_environment(folder);
  options.argv = std::move(command);
  const std::string name = options.argv.front();
  options.argv.front() = find_program(name).value_or(name);
  options.stdout_file = output;
  ChildProcess child = ChildProcess::spawn(options);
  const auto status = child.wait(kOvsPatience);
  std::string text = read_file(output, kMaxToolOutput);
  fs::remove(output);
  if (!status || !status->clean()) {
    throw SystemError(
        name, status ? EIO : ETIMEDOUT,
        fmt::format("{}: {}", status ? to_string(*status) : "no end", text.substr(0, 2000)));
  }
  return text;
}

std::optional<uint64_t> ovs_activity(const fs::path& folder) {
  const std::string path = folder / "ovs-vswitchd.ctl";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::copy(path.begin(), path.end(), address.sun_path);
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return std::nullopt;
  const auto asked = ask_for_counter(socket, "ofproto_recv_openflow");
  const auto anew = ask_for_counter(socket, "bridge_reconfigure");
  return asked && anew ? std::optional(*asked + *anew) : std::nullopt;
}

std::string ovs_management_socket(const fs::path& folder, const std::string& bridge) {
  return "unix:" + (folder / (bridge + ".mgmt")).string();
}

std::string_view ovs_limits() {
  return "Open vSwitch: all bridges share one namespace; a flow's first packets are slow\n"
         "and may be lost; UDP checksums are corrected; hop limit 1 drops in silence";
}

std::string ovs_version() {
  const std::optional<fs::path> program = find_program("ovs-vswitchd");
  FILE* said =
      program ? ::popen((program->string() + " --version 2>/dev/null").c_str(), "r") : nullptr;
  if (said == nullptr) return "";
  char line[256] = "";  // "ovs-vswitchd (Open vSwitch) 3.1.0"
  const bool read = std::fgets(line, sizeof line, said) != nullptr;
  ::pclose(said);
  std::string text = read ? line : "";
  text = text.substr(std::min(text.rfind(' ') + 1, text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return "Open vSwitch " + text;
}

fs::path ovs_folder(const fs::path& lab_directory) { return lab_directory / "ovs"; }

bool is_ovs_switch(const fs::path& lab_directory, std::string_view node) {
  std::error_code ignored;
  return fs::exists(ovs_folder(lab_directory) / (std::string(node) + ".flows"), ignored);
}

std::vector<std::string> missing_ovs_programs() {
  std::vector<std::string> missing;
  for (const char* name :
       {"ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl"}) {
    if (!find_program(name)) missing.emplace_back(name);
  }
  return missing;
}

}  // namespace mrclab::netio

#include "netio/kernel/node_container.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mrclab::netio {
namespace {

/// Mounts `source`, with the mounts inside it, at `target`.
void bind_mount(const std::filesystem::path& source, const std::filesystem::path& target) {
  check_system_call("mount " + source.string() + " on " + target.string(),
                    ::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr));
}

/// A /sys of this network namespace: /sys/class/net shows what lives here.
void remount_sys(const std::string& name) {
  struct statvfs status {};
  unsigned long flags = 0;
  if (::statvfs("/sys", &status) == 0 && (status.f_flag & ST_RDONLY)) flags = MS_RDONLY;
  if (::umount2("/sys", MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT)
    throw SystemError("unmount /sys", errno);
  check_system_call("mount /sys", ::mount(name.c_str(), "/sys", "sysfs", flags, nullptr));
}

/// Leaves the terminal's signals to the command, as system(3) does.
class IgnoreTerminalSignals {
 public:
  IgnoreTerminalSignals() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~IgnoreTerminalSignals() { restore(); }
  void restore() const {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_ {
  }, quit_{};
};

[[noreturn]] void run_in_child(const NodeContainer& node, const NetworkNamespace& ns,
                               const std::vector<std::string>& argv, int report) {
  try {
    enter_node(node, ns);
  } catch (const SystemError& error) {
    const std::string text = std::to_string(error.error_number()) + " " + error.attempted();
    [[maybe_unused]] const ssize_t n = ::write(report, text.data(), text.size());
    ::_exit(1);
  }
  ::close(report);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::signal(SIGXFSZ, SIG_DFL);  // ours is to report a file that is too large (file_size_limit.h)
  ::execvp(words[0], words.data());
  const int error = errno;
  std::fprintf(stderr, "cannot run %s: %s\n", words[0], ::strerror(error));
  ::_exit(error == ENOENT ? 127 : 126);
}

}  // namespace

void join_class(const std::filesystem::path& folder) {
  const std::string layers = "lowerdir=" + folder.string() + ":/sys/class";
  check_system_call("lay " + folder.string() + " over /sys/class",
                    ::mount("overlay", "/sys/class", "overlay", MS_RDONLY, layers.c_str()));
}

void enter_node(const NodeContainer& node, const NetworkNamespace& ns) {
  ns.enter();
  check_system_call("make a mount and UTS namespace", ::unshare(CLONE_NEWNS | CLONE_NEWUTS));
  check_system_call("set hostname " + node.hostname,
                    ::sethostname(node.hostname.data(), node.hostname.size()));
  // Slave: what the machine mounts and unmounts is seen here, nothing of ours gets out.
  check_system_call("separate the mount namespace",
                    ::mount("", "/", "none", MS_SLAVE | MS_REC, nullptr));
  remount_sys(ns.name());
  if (!node.class_directory.empty()) {
    try {
      join_class(node.class_directory);
    } catch (const SystemError&) {  // a kernel without overlayfs: `doctor` reports it
    }
  }
  // Hosts first: its source may itself be below /run.
  bind_mount(node.hosts_file, "/etc/hosts");
  if (!node.ovs_directory.empty()) {
    bind_mount(node.ovs_directory, node.run_directory / "openvswitch");
  }
  bind_mount(node.run_directory, "/run");
}

int exec_in_node(const NodeContainer& node, const NetworkNamespace& ns,
                 const std::vector<std::string>& argv) {
  if (argv.empty()) throw SystemError("run an empty command", EINVAL);
  int ends[2];
  check_system_call("make a pipe", ::pipe2(ends, O_CLOEXEC));
  const FileDescriptor report(ends[0]);
  FileDescriptor child_report(ends[1]);

  const IgnoreTerminalSignals ignore;
  const pid_t parent = ::getpid();
  const pid_t pid = check_system_call("fork", ::fork());
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ignore.restore();
    run_in_child(node, ns, argv, child_report.get());
  }
  child_report.reset();

  std::string failure(512, '\0');
  ssize_t length;
  while ((length = ::read(report.get(), failure.data(), failure.size())) < 0 && errno == EINTR) {
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (length > 0) {
    failure.resize(static_cast<size_t>(length));
    const size_t space = failure.find(' ');
    throw SystemError(failure.substr(space + 1), std::atoi(failure.c_str()));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace mrclab::netio

// bpf_program.h in a build without libbpf, where bpf_program.cc is not compiled.

#include <cerrno>
#include <cstdlib>

#include "netio/kernel/bpf_program.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

[[noreturn]] void refuse(const std::string& attempted) {
  throw SystemError(attempted, EOPNOTSUPP, "this build has no libbpf");
}

}  // namespace

BpfMap::BpfMap(FileDescriptor fd) : fd_(std::move(fd)) { refuse("look at a BPF map"); }

// There is no map: its constructor throws.
void BpfMap::set_bytes(Bytes, Bytes) { std::abort(); }
bool BpfMap::get_bytes(Bytes, std::span<uint8_t>) const { std::abort(); }
bool BpfMap::erase_bytes(Bytes) { std::abort(); }
bool BpfMap::next_key(std::span<uint8_t>, bool) const { std::abort(); }

void BpfObjectDeleter::operator()(bpf_object*) const {}

BpfProgram BpfProgram::load(std::span<const uint8_t>, const std::string& program_name) {
  refuse("load the BPF program " + program_name);
}
BpfMap BpfProgram::map(const std::string& name) const { refuse("find the BPF map " + name); }
void BpfProgram::attach_to_ingress(int) const { refuse("put the BPF program " + name_); }

std::optional<BpfMap> attached_map(int, const std::string& map_name) {
  refuse("find the BPF map " + map_name);
}

std::optional<std::string> why_no_bpf(std::span<const uint8_t>) {
  return "this build has no BPF program, as libbpf-dev was not there: apt-get install clang "
         "libbpf-dev, and build again";
}

}  // namespace mrclab::netio

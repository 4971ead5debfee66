// Protection domains, which are numbers that the server compares, and memory regions.

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs/client/operations.h"

namespace mrclab::verbs {
namespace {

std::atomic<uint32_t> last_domain{0};
std::atomic<uint32_t> domains{0};

/// Bits that change nothing here: memory windows are never bound, pages are not asked about, and a host's memory has one
/// order.
constexpr unsigned kIgnoredAccess =
    IBV_ACCESS_MW_BIND | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;
constexpr unsigned kDeviceAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

int check_access(unsigned access) {
  if ((access & ~(kIgnoredAccess | kDeviceAccess)) != 0) {
    return EOPNOTSUPP;  // zero-based, on demand
  }
  const bool changes = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  return changes && (access & IBV_ACCESS_LOCAL_WRITE) == 0 ? EINVAL : 0;  // IBTA 10.6.3.1
}

/// Whether pages are mapped at all of it; a kernel would pin them.
bool is_mapped(const void* address, size_t length) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t at = reinterpret_cast<uintptr_t>(address) & ~(page - 1);
  const uintptr_t end = reinterpret_cast<uintptr_t>(address) + length;
  if (end < reinterpret_cast<uintptr_t>(address)) {
    return false;
  }
  constexpr size_t kPages = 4096;
  unsigned char resident[kPages];
  while (at < end) {
    const uintptr_t bytes = end - at < kPages * page ? end - at : kPages * page;
    if (mincore(reinterpret_cast<void*>(at), bytes, resident) != 0 && errno == ENOMEM) {
      return false;
    }
    at += kPages * page;
  }
  return true;
}

ibv_mr* register_memory(ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
  Pd* domain = object_of(pd);
  if (!intact(*domain)) {
    return failed_with<ibv_mr>(ENOENT);
  }
  const int refused = check_access(access);
  if (refused != 0) {
    return failed_with<ibv_mr>(refused);
  }
  if (!is_mapped(address, length)) {
    return failed_with<ibv_mr>(EFAULT);
  }
  Mr* mr = make<Mr>();
  if (mr == nullptr) {
    return failed_with<ibv_mr>(ENOMEM);
  }
  RegionRequest request{};
  request.address = reinterpret_cast<uintptr_t>(address);
  request.length = length;
  request.iova = iova;
  request.access = access & kDeviceAccess;
  request.domain = domain->domain;
  RegionReply reply{};
  const int error = ask(Op::kRegisterMemory, request, &reply);
  if (error != 0) {
    delete mr;
    return failed_with<ibv_mr>(error);
  }
  mr->context = pd->context;
  mr->pd = domain;
  mr->handle = reply.handle;
  mr->base.context = pd->context;
  mr->base.pd = pd;
  mr->base.addr = address;
  mr->base.length = length;
  mr->base.handle = reply.handle;
  mr->base.lkey = reply.lkey;
  mr->base.rkey = reply.rkey;
  ++domain->users;
  hold(mr->context);
  return &mr->base;
}

}  // namespace
}  // namespace mrclab::verbs

using namespace mrclab::verbs;

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  if (server_gone(false)) {
    return failed_with<ibv_pd>(EIO);
  }
  if (++domains > kMaxPds) {
    --domains;
    return failed_with<ibv_pd>(ENOMEM);
  }
  Pd* pd = make<Pd>();
  if (pd == nullptr) {
    --domains;
    return failed_with<ibv_pd>(ENOMEM);
  }
  pd->domain = ++last_domain;
  pd->context = pd->base.context = context;
  pd->base.handle = pd->domain;
  hold(context);
  return &pd->base;
}

int ibv_dealloc_pd(ibv_pd* pd) {
  Pd* own = object_of(pd);
  if (!intact(*own)) {
    return failed(ENOENT);
  }
  if (own->users.load() != 0) {
    return failed(EBUSY);
  }
  drop(own->context);
  delete own;
  --domains;
  return 0;
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, size_t length, uint64_t iova,
                         unsigned int access) {
  return register_memory(pd, addr, length, iova, access);
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, size_t length, int access) {
  return register_memory(pd, addr, length, reinterpret_cast<uintptr_t>(addr),
                         static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, size_t length, uint64_t iova, int access) {
  return register_memory(pd, addr, length, iova, static_cast<unsigned>(access));
}

int ibv_dereg_mr(ibv_mr* mr) {
  Mr* own = object_of(mr);
  if (!intact(*own)) {
    return failed(ENOENT);
  }
  HandleRequest request{own->handle, 0};
  const int error = tell(Op::kDeregisterMemory, request);
  // Without a server there is no region any more, and the program has to be able to clean up.
  if (error != 0 && error != EIO) {
    return failed(error);
  }
  --own->pd->users;
  drop(own->context);
  delete own;
  return 0;
}

int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, size_t, int) { return failed(EOPNOTSUPP); }

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, uint64_t, size_t, uint64_t, int, int) {
  return failed_with<ibv_mr>(EOPNOTSUPP);
}

MRCLAB_LATEST(ibv_alloc_pd);
MRCLAB_LATEST(ibv_dealloc_pd);
MRCLAB_LATEST(ibv_dereg_mr);
MRCLAB_LATEST(ibv_reg_mr);

}  // extern "C"

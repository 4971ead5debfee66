// Verbs that need no device, and those that this device refuses.

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs/client/operations.h"
#include "verbs/client/qp_change.h"
#include "verbs/client/shared_client.h"

using namespace mrclab::verbs;

extern "C" {

/// The device reads and writes the program's memory as the program sees it, so that pages copied by a fork are right.
int ibv_fork_init(void) { return 0; }
enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }

// What ibv_fork_init's users in providers call.
MRCLAB_EXPORT int ibv_dontfork_range(void*, size_t) { return 0; }
MRCLAB_EXPORT int ibv_dofork_range(void*, size_t) { return 0; }

int ibv_attach_mcast(ibv_qp*, const union ibv_gid*, uint16_t) { return failed(EOPNOTSUPP); }
int ibv_detach_mcast(ibv_qp*, const union ibv_gid*, uint16_t) { return failed(EOPNOTSUPP); }

int ibv_query_ece(ibv_qp*, ibv_ece*) { return failed(EOPNOTSUPP); }
int ibv_set_ece(ibv_qp*, ibv_ece*) { return failed(EOPNOTSUPP); }

ibv_context* ibv_import_device(int) { return failed_with<ibv_context>(EOPNOTSUPP); }
ibv_pd* ibv_import_pd(ibv_context*, uint32_t) { return failed_with<ibv_pd>(EOPNOTSUPP); }
void ibv_unimport_pd(ibv_pd*) {}
ibv_mr* ibv_import_mr(ibv_pd*, uint32_t) { return failed_with<ibv_mr>(EOPNOTSUPP); }
void ibv_unimport_mr(ibv_mr*) {}
ibv_dm* ibv_import_dm(ibv_context*, uint32_t) { return failed_with<ibv_dm>(EOPNOTSUPP); }
void ibv_unimport_dm(ibv_dm*) {}

int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, uint8_t*, uint16_t*) {
  return failed(EOPNOTSUPP);
}

/// A file of sysfs without its line's end: bytes, or -1. At most size - 1 of them, and a zero.
MRCLAB_EXPORT int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size) {
  char path[512];
  const int length = snprintf(path, sizeof(path), "%s/%s", dir, file);
  if (length < 0 || static_cast<size_t>(length) >= sizeof(path) || size == 0) {
    return -1;
  }
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  const ssize_t bytes = read(fd, buf, size - 1);
  close(fd);
  if (bytes < 0) {
    return -1;
  }
  buf[bytes] = 0;
  if (bytes > 0 && buf[bytes - 1] == '\n') {
    buf[bytes - 1] = 0;
    return static_cast<int>(bytes - 1);
  }
  return static_cast<int>(bytes);
}

MRCLAB_LATEST(ibv_attach_mcast);
MRCLAB_LATEST(ibv_detach_mcast);

}  // extern "C"

namespace {

bool owns_context(const ibv_context* context) {
  return context != nullptr && is_own_device(context->device) && context->ops.poll_cq == poll_cq;
}
bool owns_qp(const ibv_qp* qp) { return qp != nullptr && owns_context(qp->context); }

int modify_with_mrc(ibv_qp* qp, const ibv_qp_attr* at, int mask, const QpAttributesWire* mrc,
                    uint32_t mrc_mask) {
  return intact(*object_of(qp)) ? result(change_qp(*object_of(qp), *at, mask, mrc, mrc_mask))
                                : failed(ENOENT);
}
int query_with_mrc(ibv_qp* qp, QpAttributesWire* attributes) {
  return intact(*object_of(qp)) ? result(read_qp(*object_of(qp), *attributes)) : failed(ENOENT);
}
const ProgramLink* shared_link() { return &program_link(); }

constexpr SharedClient kSharedClient{
    kSharedClientVersion, sizeof(SharedClient), shared_link, modify_with_mrc,
    query_with_mrc,       owns_context,         owns_qp,
};

}  // namespace

extern "C" MRCLAB_EXPORT const SharedClient* mrclab_verbs_client(void) { return &kSharedClient; }

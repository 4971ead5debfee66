// The one device of the host: its list, opening and closing it, and what it is called.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/client/operations.h"

namespace mrclab::verbs {
namespace {

/// Libraries of vendors (libmlx5, libefa) look at fields of their own behind the public ones to learn whether the device is
/// theirs: there has to be something, and it has to be no pointer of theirs.
struct Device {
  ibv_device base;
  uint8_t zeroes[4096];
};
Device the_device;
Mutex mutex;

void describe(ibv_device& device, const HelloReply& hello) {
  device.node_type = IBV_NODE_CA;
  device.transport_type = IBV_TRANSPORT_IB;
  const char* name = hello.device;
  snprintf(device.name, sizeof(device.name), "%s", name);
  snprintf(device.dev_name, sizeof(device.dev_name), "uverbs0");
  snprintf(device.dev_path, sizeof(device.dev_path), "/sys/class/infiniband_verbs/uverbs0");
  snprintf(device.ibdev_path, sizeof(device.ibdev_path), "/sys/class/infiniband/%s", name);
}

}  // namespace

Context* context_of(ibv_context* context) {
  // The verbs_context is first in Context, the ibv_context last in the verbs_context.
  return reinterpret_cast<Context*>(reinterpret_cast<char*>(context) -
                                    offsetof(verbs_context, context));
}

void hold(ibv_context* context) { ++context_of(context)->holders; }
void drop(ibv_context* context) {
  Context* own = context_of(context);
  if (--own->holders == 0) {
    if (own->verbs.context.cmd_fd >= 0) {
      close(own->verbs.context.cmd_fd);
    }
    delete own;
  }
}

bool is_own_device(const ibv_device* device) { return device == &the_device.base; }

}  // namespace mrclab::verbs

using namespace mrclab::verbs;

extern "C" {

ibv_device** ibv_get_device_list(int* num_devices) {
  if (num_devices != nullptr) {
    *num_devices = 0;
  }
  const int error = open_link();
  if (error != 0 && error != ENOENT) {
    return failed_with<ibv_device*>(error);
  }
  auto** list = static_cast<ibv_device**>(calloc(2, sizeof(ibv_device*)));
  if (list == nullptr || error == ENOENT) {
    return list;  // no host of a lab has no device
  }
  {
    const Guard guard(mutex);
    describe(the_device.base, *link_data().hello);
  }
  list[0] = &the_device.base;
  if (num_devices != nullptr) {
    *num_devices = 1;
  }
  return list;
}

void ibv_free_device_list(ibv_device** list) { free(list); }

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

int ibv_get_device_index(ibv_device* device) { return is_own_device(device) ? 0 : -1; }

__be64 ibv_get_device_guid(ibv_device* device) {
  return is_own_device(device) && open_link() == 0 ? htobe64(link_data().hello->node_guid) : 0;
}

ibv_context* ibv_open_device(ibv_device* device) {
  if (!is_own_device(device)) {
    return failed_with<ibv_context>(ENODEV);
  }
  const int error = open_link();
  if (error != 0) {
    return failed_with<ibv_context>(error);
  }
  Context* own = make<Context>();
  if (own == nullptr) {
    return failed_with<ibv_context>(ENOMEM);
  }
  fill_operations(own->verbs);
  ibv_context& context = own->verbs.context;
  context.device = device;
  // Nothing of ours is asked by ioctl; programs duplicate and pass on what they believe to be the device's.
  context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  context.async_fd = link_data().events;
  context.num_comp_vectors = 1;
  pthread_mutex_init(&context.mutex, nullptr);
  own->holders.store(1);
  return &context;
}

int ibv_close_device(ibv_context* context) {
  drop(context);
  return 0;
}

MRCLAB_EXPORT const char* ibv_get_sysfs_path(void) {
  const char* path = getenv("SYSFS_PATH");
  return path != nullptr && *path != 0 && getuid() == geteuid() ? path : "/sys";
}

MRCLAB_LATEST(ibv_close_device);
MRCLAB_LATEST(ibv_free_device_list);
MRCLAB_LATEST(ibv_get_device_guid);
MRCLAB_LATEST(ibv_get_device_list);
MRCLAB_LATEST(ibv_get_device_name);
MRCLAB_LATEST(ibv_open_device);

}  // extern "C"

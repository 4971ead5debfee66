#pragma once
// The table of a network plug-in of NCCL, version 8 (symbol ncclNetPlugin_v8), in our own words: what a compiled plug-in
// fixes are the order and the types of its members. Results: 0 is success, 7 "in progress".

#include <cstddef>
#include <cstdint>

namespace mrclab::test {

inline constexpr size_t kNetHandleBytes = 128;
inline constexpr int kNetPointerHost = 1;  ///< type of memory: the host's

enum NetResult : int {
  kNetSuccess = 0,
  kNetSystemError = 2,
  kNetInternalError = 3,
  kNetInvalidArgument = 4,
  kNetRemoteError = 6,
};

struct NetProperties {
  char* name;
  char* pci_path;
  uint64_t guid;
  int pointer_support, registration_is_global;
  int speed_mbps, port;
  float latency;
  int max_comms, max_receives;
  int device_type, device_version;
};
static_assert(sizeof(NetProperties) == 64);

using NetLogger = void (*)(int level, unsigned long flags, const char* file, int line,
                           const char* format, ...);

struct NetPlugin {
  const char* name;
  int (*init)(NetLogger);
  int (*devices)(int* count);
  int (*properties)(int device, NetProperties*);
  int (*listen)(int device, void* handle, void** listener);
  int (*connect)(int device, void* handle, void** send_comm, void** device_handle);
  int (*accept)(void* listener, void** receive_comm, void** device_handle);
  int (*register_memory)(void* comm, void* data, size_t size, int type, void** region);
  int (*register_dmabuf)(void* comm, void* data, size_t size, int type, uint64_t offset, int fd,
                         void** region);
  int (*deregister_memory)(void* comm, void* region);
  int (*send)(void* send_comm, void* data, int size, int tag, void* region, void** request);
  int (*receive)(void* receive_comm, int n, void** data, int* sizes, int* tags, void** regions,
                 void** request);
  int (*flush)(void* receive_comm, int n, void** data, int* sizes, void** regions, void** request);
  int (*test)(void* request, int* done, int* sizes);
  int (*close_send)(void* send_comm);
  int (*close_receive)(void* receive_comm);
  int (*close_listen)(void* listener);
  int (*device_region)(void* comm, void* region, void** address);
  int (*receive_consumed)(void* receive_comm, int n, void* request);
};
static_assert(sizeof(NetPlugin) == 19 * sizeof(void*));

}  // namespace mrclab::test

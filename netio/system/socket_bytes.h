#pragma once

#include <cstddef>

namespace mrclab::netio {

/// Sends all bytes on a connected socket, whatever signals come in between. False: the other end is gone.
bool send_all(int fd, const void* data, size_t size);
/// Receives exactly that many bytes. False: the other end was closed before.
bool receive_all(int fd, void* data, size_t size);

}  // namespace mrclab::netio

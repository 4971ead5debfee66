#pragma once
// OpenSSL's SHA-256, which fabric/base/sha256.h calls, over libmd's.

#include <sha2.h>

#include <cstddef>
#include <cstdint>

#define SHA256_DIGEST_LENGTH 32

using SHA256_CTX = SHA2_CTX;

inline int SHA256_Init(SHA256_CTX* context) {
  ::SHA256Init(context);
  return 1;
}
inline int SHA256_Update(SHA256_CTX* context, const void* data, std::size_t size) {
  ::SHA256Update(context, static_cast<const std::uint8_t*>(data), size);
  return 1;
}
inline int SHA256_Final(unsigned char* hash, SHA256_CTX* context) {
  ::SHA256Final(hash, context);
  return 1;
}

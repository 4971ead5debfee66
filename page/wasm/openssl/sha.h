#pragma once
// OpenSSL's SHA-256 of a whole text, which fabric/history/history.cc calls, over libmd's.

#include <sha2.h>

#include <cstddef>
#include <cstdint>

#define SHA256_DIGEST_LENGTH 32

inline unsigned char* SHA256(const unsigned char* data, std::size_t size, unsigned char* hash) {
  SHA2_CTX context;
  ::SHA256Init(&context);
  ::SHA256Update(&context, data, size);
  ::SHA256Final(hash, &context);
  return hash;
}

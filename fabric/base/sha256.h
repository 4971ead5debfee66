#pragma once
// SHA-256 (FIPS 180-4) by libcrypto, through the functions that need nothing but themselves: EVP_Digest() and SHA256()
// read the library's configuration and look the algorithm up first, which takes as long as a small run's judgement.

#define OPENSSL_SUPPRESS_DEPRECATED  // since 3.0, for that reason alone
#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mrclab {

class Sha256 {
 public:
  using Hash = std::array<uint8_t, SHA256_DIGEST_LENGTH>;

  Sha256() { check(::SHA256_Init(&context_)); }
  void update(std::span<const uint8_t> bytes) {
    check(::SHA256_Update(&context_, bytes.data(), bytes.size()));
  }
  /// Of all bytes so far; no update() after it.
  Hash finish() {
    Hash hash{};
    check(::SHA256_Final(hash.data(), &context_));
    return hash;
  }

 private:
  static void check(int result) {
    if (result != 1) throw std::runtime_error("SHA-256: libcrypto refused");
  }
  SHA256_CTX context_;
};

inline Sha256::Hash sha256_of(std::span<const uint8_t> bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.finish();
}

/// In lower case.
inline std::string hex_of(const Sha256::Hash& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xF];
  }
  return text;
}

}  // namespace mrclab

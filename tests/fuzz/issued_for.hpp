// SPDX-License-Identifier: Apache-2.0
// What the certificates of the seeds were issued for.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/x509/certificate_request.hpp>

#include <chrono>

namespace execcred::fuzz {

// Not a real identity: made for these seeds.
inline constexpr const char* kIssuedKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRxRdp7UiJy2kQ3IY\n"
    "z0DiylqufM3B6iMwztGDJkxigHihRANCAATrLcFcovTMOgYFvUnAoi5aCxmeX5Ee\n"
    "GK44D2BVXSbagSsmoyPbSm7rInrb1RDKz0HWfXMxBe+1hrGh+o3RfGDd\n"
    "-----END PRIVATE KEY-----\n";

inline CertificateSubject issued_subject() {
  return {.common_name = "fleet-controller", .organizations = {"fleet", "blue"}};
}

// 2030-01-01, when the certificates of the seeds are valid.
constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'893'456'000));

}  // namespace execcred::fuzz

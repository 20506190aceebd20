// SPDX-License-Identifier: Apache-2.0
// Two self-signed CA certificates, valid for a century; their keys were thrown away. Made by
//   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=…
#pragma once

#include <string>

namespace blackbox {

inline const std::string kAuthorityOne =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBlTCCATugAwIBAgIUWwQrD6QFaLLyJqp5IW6MKEbDPqowCgYIKoZIzj0EAwIw\n"
    "HzEdMBsGA1UEAwwUZXhlY2NyZWQgdGVzdCBDQSBvbmUwIBcNMjYxMTIxMTMwMDAy\n"
    "WhgPMjEyNjEwMjgxMzAwMDJaMB8xHTAbBgNVBAMMFGV4ZWNjcmVkIHRlc3QgQ0Eg\n"
    "b25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE4ULk1MD/jPOFaqknWcTXnZ1j\n"
    "A7wdBsZtAHjfLSvf+iWZ26yRq86abgKEY4cKTN+9iB/GzYunYHR/SV18SuwHTqNT\n"
    "MFEwHQYDVR0OBBYEFMJm7yCYVvXv4s6fQ/6HLSZ+5B8iMB8GA1UdIwQYMBaAFMJm\n"
    "7yCYVvXv4s6fQ/6HLSZ+5B8iMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID\n"
    "SAAwRQIhAN73IWpAdstRepsMKhXbPX/L+J6ICp/SGcBsHq00Qbw0AiBDhkKhyR/K\n"
    "MTVenRK0U1kgpmor1aaaYA65yOcUwbpJpg==\n"
    "-----END CERTIFICATE-----\n";

inline const std::string kAuthorityTwo =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBlDCCATugAwIBAgIUJ6NYBzjwZ9MBl2leMEz0tbr2geswCgYIKoZIzj0EAwIw\n"
    "HzEdMBsGA1UEAwwUZXhlY2NyZWQgdGVzdCBDQSB0d28wIBcNMjYxMTIxMTMwMDAy\n"
    "WhgPMjEyNjEwMjgxMzAwMDJaMB8xHTAbBgNVBAMMFGV4ZWNjcmVkIHRlc3QgQ0Eg\n"
    "dHdvMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECxNMLKnYUxqRKFvPwKMUMl8f\n"
    "8hAKdi3kut/YWlcezZ9vh7dqYTtkQ+6+PCksbeubQbW2QAYzpVY9JPAiorT8nqNT\n"
    "MFEwHQYDVR0OBBYEFDhHhmy2SOAxPpsGmb0Wvhj1ZoOuMB8GA1UdIwQYMBaAFDhH\n"
    "hmy2SOAxPpsGmb0Wvhj1ZoOuMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID\n"
    "RwAwRAIgX/pPVLlWEpxeOC1/GDSk4wD39v1LxmOzOi8nM3GHzr4CIClvFIkVKvQ8\n"
    "/miL4TLxP+hbRFPYvSWP44Sy2vp8+w9F\n"
    "-----END CERTIFICATE-----\n";

}  // namespace blackbox

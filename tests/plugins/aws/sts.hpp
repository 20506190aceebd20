// SPDX-License-Identifier: Apache-2.0
// An STS that checks every request as the real one does, and gives another session each time; or
// answers what a case scripted.
#pragma once

#include "signature.hpp"
#include "support/scripted_server.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace execcred::test {

inline constexpr const char* kAccount = "123456789012";

class Sts : public ScriptedServer {
 public:
  Sts();

  // A key that may sign.
  void know(const std::string& id, const std::string& secret, const std::string& token = "");
  // With the sessions that were given.
  KnownKeys keys() const;
  // How often a session was asked for.
  std::size_t calls() const { return count("/"); }
  // The problem of the requests, "" if none.
  std::string problem() const;

  // The answer from now on.
  void answer(const std::string& body, int status = 400, const std::string& headers = {});
  // Sessions again.
  void work();

  std::atomic<bool> speaks_xml = false;
  std::atomic<int> lifetime = 3600;  // where the request names none

 private:
  void serve(Stream& stream, const Received& request);
  std::string check(const Received& request) const;
  std::string session_for(const Received& request);

  mutable std::mutex mutex_;
  KnownKeys keys_;       // under mutex_
  std::string problem_;  // likewise
  int sessions_ = 0;     // likewise
};

// STS's errors, in each of its forms.
std::string sts_error(const std::string& code, const std::string& message = "");
std::string sts_error_xml(const std::string& code, const std::string& message = "");

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// An STS that checks every request as the real one does, and gives a new session each time, or
// sends the answer that a case sets.
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

  // Adds a key that may sign.
  void know(const std::string& id, const std::string& secret, const std::string& token = "");
  // The keys that may sign, with those of the sessions that were given.
  KnownKeys keys() const;
  // How often a session was requested.
  std::size_t calls() const { return count("/"); }
  // The first problem of a request; "" if there was none.
  std::string problem() const;

  // Sets the answer from now on.
  void answer(const std::string& body, int status = 400, const std::string& headers = {});
  // Gives sessions again.
  void work();

  std::atomic<bool> speaks_xml = false;
  std::atomic<int> lifetime = 3600;  // where the request names none
  std::atomic<bool> takes_any_audience = false;

 private:
  void serve(Stream& stream, const Received& request);
  std::string check(const Received& request) const;
  std::string session_for(const Received& request);

  mutable std::mutex mutex_;
  KnownKeys keys_;       // under mutex_
  std::string problem_;  // likewise
  int sessions_ = 0;     // likewise
};

// An error of STS, in JSON and in XML.
std::string sts_error(const std::string& code, const std::string& message = "");
std::string sts_error_xml(const std::string& code, const std::string& message = "");

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
// --listen: /metrics, /healthz and /readyz over plain HTTP.
#pragma once

#include "metrics.hpp"

#include <execcred/base/result.hpp>
#include <execcred/os/stop_event.hpp>

#include <functional>
#include <memory>
#include <string>

namespace execcred::sync {

class Listener {
 public:
  using GetFigures = std::function<Figures()>;

  // Fails (configuration) if the address is malformed.
  static Status check(const std::string& address);

  // `address` is [ADDRESS]:PORT; without an address it is 127.0.0.1. Serves from its own thread
  // until `stop` is requested; `stop` must outlive the listener. Fails with configuration (the
  // address is malformed, or cannot be listened on) or unavailable (the server cannot be set up).
  static Result<std::unique_ptr<Listener>> open(const std::string& address, GetFigures figures,
                                                const StopEvent& stop);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  // Waits for the thread, so `stop` must have been requested.
  ~Listener();

  // "127.0.0.1:8080", with the real port if port 0 was requested.
  const std::string& address() const { return address_; }

 private:
  class Server;
  Listener();

  std::string address_;
  std::unique_ptr<Server> server_;
};

}  // namespace execcred::sync

// SPDX-License-Identifier: Apache-2.0
// --listen: /metrics, /healthz and /readyz over plain HTTP.
#pragma once

#include "reconciler.hpp"

#include <execcred/base/result.hpp>
#include <execcred/os/stop_event.hpp>

#include <functional>
#include <memory>
#include <string>

namespace execcred::sync {

class Listener {
 public:
  using GetFigures = std::function<Figures()>;

  // `address` is [ADDRESS]:PORT; without an address it is 127.0.0.1. Serves from a thread of its
  // own, until `stop`. Fails (configuration): no such address, or the port is in use.
  static Result<std::unique_ptr<Listener>> open(const std::string& address, GetFigures figures,
                                                const StopEvent& stop);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  // `stop` must be requested.
  ~Listener();

  // "127.0.0.1:8080", with the port that a 0 became.
  const std::string& address() const { return address_; }

 private:
  class Server;
  Listener();

  std::string address_;
  std::unique_ptr<Server> server_;
};

}  // namespace execcred::sync

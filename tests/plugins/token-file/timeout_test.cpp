// SPDX-License-Identifier: Apache-2.0
// --timeout that ends while the run's own error is reported.
#include "support/syscall_stops.hpp"
#include "support/token_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

using namespace blackbox;

namespace {

// Stops the run once, for longer than its --timeout, as soon as the file is not empty.
class Hold {
 public:
  static constexpr std::chrono::milliseconds kTimeout{1000};

  explicit Hold(std::filesystem::path file) : file_(std::move(file)) {}
  bool has_held() const { return has_held_; }
  void operator()() {
    std::error_code error;
    if (has_held_ || std::filesystem::file_size(file_, error) == 0 || error) return;
    has_held_ = true;
    std::this_thread::sleep_for(kTimeout);
  }

 private:
  std::filesystem::path file_;
  bool has_held_ = false;
};

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("timeout: one that ends while an error is reported adds no second error") {
  const Sandbox sandbox;
  const std::string errors = sandbox.write("errors", "");
  const std::string log = sandbox.at("log");
  for (const bool has_log : {false, true}) {
    CAPTURE(has_log);
    std::vector<std::string> arguments = {
        "--token-file=" + sandbox.at("none"),
        "--timeout=" + std::to_string(Hold::kTimeout.count()) + "ms"};
    if (has_log) arguments.push_back("--log-file=" + log);
    Command command = token_file_command(std::move(arguments));
    command.before_exec = [&] {
      const int file = open(errors.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
      if (dup2(file, STDERR_FILENO) < 0) _exit(124);
    };
    // The line of the log is written first.
    Hold hold(has_log ? log : errors);
    Outcome outcome = run_with_stops(std::move(command), std::ref(hold));
    REQUIRE(hold.has_held());
    outcome.error_output = read_text(errors);
    CHECK_FAILURE(outcome, 2, "cannot read");
    CHECK(outcome.error_output.find("timed out") == std::string::npos);
    if (has_log) CHECK(read_text(log).find("timed out") == std::string::npos);
  }
}

TEST_SUITE_END();

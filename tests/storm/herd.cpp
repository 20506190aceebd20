// SPDX-License-Identifier: Apache-2.0
#include "herd.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>

#include "loopback_server.hpp"
#include "support/processes.hpp"

namespace execcred::test {
namespace {

using std::chrono::steady_clock;
constexpr int kCannotExec = 126;

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.native());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void redirect(int descriptor, const std::filesystem::path& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(kCannotExec);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

int exit_code_of(pid_t pid) {
  int status = -1;
  if (waitpid(pid, &status, 0) != pid) return kCannotExec;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Herd {
 public:
  explicit Herd(const HerdPlan& plan)
      : plan_(plan),
        waiting_(plan.directory / "waiting"),
        started_(plan.directory / "started"),
        server_([this](const auto& request) { return answer(request); }) {
    const std::filesystem::path ca_file = plan.directory / "ca.pem";
    write_file(ca_file, server_.ca_pem());
    command_ =
        plan.command({.url = server_.url(""), .ca_pem = server_.ca_pem(), .ca_file = ca_file});
    command_.arguments.insert(command_.arguments.begin(), plan.plugin);
    command_.arguments.push_back("--cache-dir=" + (plan.directory / "cache").native());
    for (const char* variable : {"PATH=/usr/bin:/bin", "NO_PROXY=127.0.0.1"}) {
      command_.environment.emplace_back(variable);
    }
  }

  // All processes exist before any of them runs the plugin.
  HerdResult release() {
    std::array<int, 2> gate = {};
    if (pipe2(gate.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    std::vector<pid_t> clients;
    for (int i = 0; i < plan_.size; ++i) {
      const pid_t client = fork();
      if (client < 0) throw std::runtime_error("cannot fork");
      if (client == 0) {
        close(gate[1]);
        _exit(run(i, gate[0]));
      }
      clients.push_back(client);
    }
    if (!waiting_.wait_for(clients.size())) throw std::runtime_error("cannot fork all");
    released_ = steady_clock::now();
    close(gate[1]);
    HerdResult result;
    for (const pid_t client : clients) result.exit_codes.push_back(exit_code_of(client));
    result.elapsed = steady_clock::now() - released_;
    close(gate[0]);
    std::set<std::string> tokens;
    for (int i = 0; i < plan_.size; ++i) {
      std::string output = read_file(output_of(i));
      if (!output.empty()) tokens.insert(std::move(output));
    }
    result.tokens.assign(tokens.begin(), tokens.end());
    const std::scoped_lock lock(mutex_);
    result.calls = calls_;
    return result;
  }

 private:
  std::filesystem::path output_of(int number) const {
    return plan_.directory / ("output." + std::to_string(number));
  }

  HttpResponse answer(const HttpRequest& request) {
    const bool posts = request.method == "POST";
    {
      const std::scoped_lock lock(mutex_);
      if (posts) calls_.emplace_back(steady_clock::now() - released_);
      if (posts) posted_ = request.body;
      if (!posts && posted_.empty()) return {.status = 404};
    }
    if (!started_.wait_for(static_cast<std::size_t>(plan_.size))) return {.status = 500};
    const std::scoped_lock lock(mutex_);
    return {.status = posts ? plan_.reply_status : 200,
            .headers = {"Content-Type: application/json"},
            .body = plan_.reply_body.empty() ? posted_ : plan_.reply_body};
  }

  // Runs in its own process, which is the plugin's client.
  int run(int number, int gate) {
    const pid_t child = fork();
    if (child == 0) exec_plugin(number, gate);
    return child < 0 ? kCannotExec : exit_code_of(child);
  }

  [[noreturn]] void exec_plugin(int number, int gate) {
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, output_of(number), O_WRONLY | O_CREAT);
    redirect(STDERR_FILENO, output_of(number) += ".error", O_WRONLY | O_CREAT);
    waiting_.add();
    char none = 0;
    while (read(gate, &none, 1) < 0) {
    }
    started_.add();
    execve(plan_.plugin.c_str(), pointers(command_.arguments).data(),
           pointers(command_.environment).data());
    _exit(kCannotExec);
  }

  const HerdPlan& plan_;
  Tally waiting_;
  Tally started_;
  HerdCommand command_;
  steady_clock::time_point released_;
  std::mutex mutex_;
  std::vector<std::chrono::duration<double>> calls_;
  std::string posted_;
  LoopbackServer server_;
};

}  // namespace

HerdResult release_herd(const HerdPlan& plan) {
  Herd herd(plan);
  return herd.release();
}

}  // namespace execcred::test

// SPDX-License-Identifier: Apache-2.0
//
// loopback-api-server: replaces a kube-apiserver where none can be built, as in scripts/demo.
//
// It listens on 127.0.0.1 and a free port with a certificate that it makes itself. It runs until
// SIGTERM, SIGINT or the end of its parent process. kubernetes_api.hpp describes its answers.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <getopt.h>

#include "kubernetes_api.hpp"
#include "loopback_server.hpp"
#include "server_program.hpp"

namespace execcred::test {
namespace {

constexpr const char* kUsage =
    "usage: loopback-api-server --token-auth-file PATH --url-file PATH --ca-file PATH\n"
    "                           [--request-log PATH]\n"
    "\n"
    "A stand-in for a kube-apiserver on 127.0.0.1 and a free port.\n"
    "\n"
    "  --token-auth-file PATH  whose tokens are accepted: lines of token,user,uid[,\"group,…\"]\n"
    "  --ca-file PATH          where to write the CA certificate (PEM)\n"
    "  --url-file PATH         where to write the URL, last of all: then the server is ready\n"
    "  --request-log PATH      a line for each request: status, method, target, user\n";

struct Options {
  std::string token_auth_file;
  std::string url_file;
  std::string ca_file;
  std::string request_log;
  bool help = false;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Options parse_options(int argc, char** argv) {
  const option known[] = {{"token-auth-file", required_argument, nullptr, 't'},
                          {"url-file", required_argument, nullptr, 'u'},
                          {"ca-file", required_argument, nullptr, 'c'},
                          {"request-log", required_argument, nullptr, 'l'},
                          {"help", no_argument, nullptr, 'h'},
                          {nullptr, 0, nullptr, 0}};
  Options options;
  int chosen = 0;
  while ((chosen = getopt_long(argc, argv, "", known, nullptr)) != -1) {
    switch (chosen) {
      case 't':
        options.token_auth_file = optarg;
        break;
      case 'u':
        options.url_file = optarg;
        break;
      case 'c':
        options.ca_file = optarg;
        break;
      case 'l':
        options.request_log = optarg;
        break;
      case 'h':
        options.help = true;
        return options;
      default:
        throw UsageError("see --help");
    }
  }
  if (optind != argc) throw UsageError(std::string("unexpected argument '") + argv[optind] + "'");
  if (options.token_auth_file.empty() || options.url_file.empty() || options.ca_file.empty()) {
    throw UsageError("--token-auth-file, --url-file and --ca-file are required");
  }
  return options;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) throw std::runtime_error("cannot read '" + path + "'");
  return text;
}

std::vector<ApiUser> read_users(const std::string& path) {
  try {
    return parse_token_auth_file(read_file(path));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot use the token file '" + path + "': " + error.what());
  }
}

class RequestLog {
 public:
  explicit RequestLog(const std::string& path) {
    if (path.empty()) return;
    file_.open(path, std::ios::app);
    if (!file_) throw std::runtime_error("cannot write '" + path + "'");
  }

  void add(const HttpRequest& request, const HttpResponse& response, const ApiUser* user) {
    const std::scoped_lock lock(mutex_);
    file_ << response.status << ' ' << request.method << ' ' << request.target << ' '
          << (user == nullptr ? "-" : user->name) << '\n'
          << std::flush;
  }

 private:
  std::mutex mutex_;
  std::ofstream file_;
};

void serve(const Options& options) {
  const StopSignals stop_signals;
  die_with_parent();
  const std::vector<ApiUser> users = read_users(options.token_auth_file);
  RequestLog log(options.request_log);
  const LoopbackServer server([&](const HttpRequest& request) {
    const ApiUser* user = authenticate(request, users);
    HttpResponse response = answer_as_api_server(request, user);
    log.add(request, response, user);
    return response;
  });
  write_file(options.ca_file, server.ca_pem());
  write_file(options.url_file, server.url() + "\n");
  stop_signals.await();
}

int run(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.help) {
      std::fputs(kUsage, stdout);
      return EXIT_SUCCESS;
    }
    serve(options);
    return EXIT_SUCCESS;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "loopback-api-server: error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "loopback-api-server: error: %s\n", error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace execcred::test

int main(int argc, char** argv) { return execcred::test::run(argc, argv); }

// SPDX-License-Identifier: Apache-2.0
// execcred-storm DIRECTORY [PROCESSES]: how many calls a fleet that starts at once makes to its
// identity provider, and to the cluster of execcred-bootstrap. DIRECTORY has execcred's programs.
// Prints a line for each figure, "ok" or "not ok", and the numbers of both.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "herd.hpp"
#include "keys.hpp"
#include "unit/temp_dir.hpp"

#include <execcred/base/encoding.hpp>

namespace execcred::test {
namespace {

// The windows of a provider's failures, by docs/cache.md.
constexpr double kPermanentWindow = 10;
constexpr double kFirstWindow = 2;
// 1,000 keys with a minute of jitter: 17 refreshes in an average second.
constexpr int kBusiestSecondOf1000 = 40;

class Report {
 public:
  void figure(const std::string& what, int value, int least, int most) {
    const bool is_promised = value >= least && value <= most;
    std::string promise = std::to_string(most);
    if (least != most)
      promise = (least == 0 ? "at most " : std::to_string(least) + " to ") + promise;
    std::printf("%-6s %-62s %6d  (promised: %s)\n", is_promised ? "ok" : "not ok", what.c_str(),
                value, promise.c_str());
    ++(is_promised ? passed_ : failed_);
  }

  int close() const {
    std::printf("\n%d passed, %d failed\n", passed_, failed_);
    return failed_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  int passed_ = 0;
  int failed_ = 0;
};

int count(const std::vector<int>& codes, int wanted) {
  int found = 0;
  for (const int code : codes) found += code == wanted ? 1 : 0;
  return found;
}

// The most calls in any window. A call opens a window; if windows double, the next one is twice as
// long.
int calls_per_window(const HerdResult& herd, double window, bool is_doubling) {
  int most = herd.calls.empty() ? 0 : 1;
  int here = 1;
  for (std::size_t i = 1; i < herd.calls.size(); ++i) {
    const bool is_within = (herd.calls[i] - herd.calls[i - 1]).count() < window;
    here = is_within ? here + 1 : 1;
    if (!is_within && is_doubling) window *= 2;
    most = here > most ? here : most;
  }
  return most;
}

// A file beside the CA's, with one line.
std::string file_of(const HerdServer& server, const std::string& name, const std::string& text) {
  const std::filesystem::path path = server.ca_file.parent_path() / name;
  std::ofstream file(path);
  file << text << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write '" + path.native() + "'");
  return path.native();
}

HerdCommand federation(const HerdServer& server) {
  return {.arguments = {"--flow=client-credentials", "--token-url=" + server.url + "/token",
                        "--ca-file=" + server.ca_file.native(), "--client-id=controller",
                        "--client-secret-file=" + file_of(server, "secret", "the-secret")}};
}

// The wrapped program makes one call.
HerdCommand wrapped_curl(const HerdServer& server) {
  return {.arguments = {"--command=[\"/usr/bin/curl\",\"-fsS\",\"--cacert\",\"" +
                            server.ca_file.native() + "\",\"--data\",\"grant\",\"" + server.url +
                            "/token\"]",
                        "--output=json", "--token-field=access_token", "--expires-field=expires_on",
                        "--cache"}};
}

void cold_key(const std::string& plugin, HerdCommand (*command)(const HerdServer&), int size,
              const std::string& call, Report& report) {
  const TempDir directory;
  // Without an end, each process would name one by its own clock.
  const std::string end = std::to_string(std::time(nullptr) + 3600);
  const HerdResult herd = release_herd(
      {.plugin = plugin,
       .size = size,
       .command = command,
       .reply_body = R"({"access_token":"the-token","token_type":"Bearer","expires_in":3600,)"
                     R"("expires_on":)" +
                     end + "}",
       .directory = directory.path()});
  report.figure("processes that got the credential", count(herd.exit_codes, 0), size, size);
  report.figure("different answers", static_cast<int>(herd.tokens.size()), 1, 1);
  report.figure(call, static_cast<int>(herd.calls.size()), 1, 1);
  std::printf("       (they took %.1f s)\n", herd.elapsed.count());
}

void failing_provider(const std::string& plugin, int size, int status, Report& report) {
  const bool is_down = status >= 500;
  const TempDir directory;
  const HerdResult herd =
      release_herd({.plugin = plugin,
                    .size = size,
                    .command = federation,
                    .reply_status = status,
                    .reply_body = is_down ? "" : R"({"error":"invalid_client"})",
                    .directory = directory.path()});
  std::printf("\n%d processes at once, the provider answers %d, %.1f s, %zu calls\n", size, status,
              herd.elapsed.count(), herd.calls.size());
  report.figure("processes that failed with the provider's error",
                count(herd.exit_codes, is_down ? 3 : 1), size, size);
  report.figure("calls of the provider in any window",
                calls_per_window(herd, is_down ? kFirstWindow : kPermanentWindow, is_down), 1, 1);
}

// Each process asks the cluster, with the token of execcred-token-file.
HerdCommand bootstrap(const HerdServer& server, const std::string& programs,
                      const std::vector<std::string>& arguments) {
  const std::string token = file_of(server, "token", "the-token");
  HerdCommand command{.arguments = arguments};
  command.arguments.push_back("--credential=[\"" + programs +
                              "/execcred-token-file\",\"--token-file=" + token + "\"]");
  command.arguments.push_back("--allow-server=" + server.url);
  command.environment = {R"(KUBERNETES_EXEC_INFO={"spec":{"cluster":{"server":")" + server.url +
                         R"(","certificate-authority-data":")" + encode_base64(server.ca_pem) +
                         R"("}}})"};
  return command;
}

void service_account_token(const std::string& programs, int size, Report& report) {
  const std::int64_t end = std::time(nullptr) + 3600;
  std::string token;
  for (const std::string& part :
       {std::string(R"({"alg":"RS256"})"),
        R"({"sub":"system:serviceaccount:fleet:controller","exp":)" + std::to_string(end) + "}",
        std::string("signed by nobody")}) {
    if (!token.empty()) token += ".";
    token += encode_base64url(part).reveal();
  }
  const TempDir directory;
  const HerdResult herd = release_herd(
      {.plugin = programs + "/execcred-bootstrap",
       .size = size,
       .command =
           [&](const HerdServer& server) {
             return bootstrap(server, programs,
                              {"--via=token-request", "--service-account=fleet/controller"});
           },
       .reply_status = 201,
       .reply_body =
           R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":")" +
           token + R"("}})",
       .directory = directory.path()});
  std::printf("\n%d processes at once ask a cluster for a token, %.1f s\n", size,
              herd.elapsed.count());
  report.figure("processes that got the credential", count(herd.exit_codes, 0), size, size);
  report.figure("different answers", static_cast<int>(herd.tokens.size()), 1, 1);
  report.figure("TokenRequests", static_cast<int>(herd.calls.size()), 1, 1);
}

// Nobody approves the request, so each process waits until its timeout.
void signing_request(const std::string& programs, int size, Report& report) {
  const TempDir directory;
  const HerdResult herd = release_herd(
      {.plugin = programs + "/execcred-bootstrap",
       .size = size,
       .command =
           [&](const HerdServer& server) {
             return bootstrap(server, programs, {"--via=csr", "--user=fleet-controller"});
           },
       .reply_status = 201,
       .directory = directory.path()});
  std::printf("\n%d processes at once wait for a certificate, %.1f s\n", size,
              herd.elapsed.count());
  report.figure("processes that ran out of time", count(herd.exit_codes, 3), size, size);
  report.figure("CertificateSigningRequests", static_cast<int>(herd.calls.size()), 1, 1);
}

void many_keys(int count, Report& report) {
  const TempDir directory;
  const KeysResult keys = count_refreshes(count, directory.path() / "cache");
  std::printf("\n%d keys that are filled in the same second, for an hour\n", count);
  report.figure("calls to fill them", keys.calls, count, count);
  report.figure("waits of a key for another", keys.waits, 0, 0);
  report.figure("refreshes within the hour", keys.refreshes, count, count);
  report.figure("refreshes in the busiest second", keys.busiest_second, 0,
                kBusiestSecondOf1000 * count / 1000);
  std::printf("       (they are spread over %d s)\n", keys.refresh_span);
}

int run(int argc, char** argv) {
  const long given = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 1000;
  const int size = given > 0 && given <= 100'000 ? static_cast<int>(given) : 0;
  if (argc < 2 || argc > 3 || size == 0) {
    std::fputs("usage: execcred-storm DIRECTORY [PROCESSES]\n", stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string programs = std::filesystem::absolute(argv[1]);
  const std::string plugin = programs + "/execcred-oidc-federation";
  Report report;
  std::printf("%d processes at once on a cold key\n", size);
  cold_key(plugin, federation, size, "calls of the provider", report);
  std::printf("\n%d processes of execcred-wrap at once on a cold key\n", size);
  cold_key(programs + "/execcred-wrap", wrapped_curl, size, "runs of the program", report);
  failing_provider(plugin, size, 401, report);
  failing_provider(plugin, size, 503, report);
  service_account_token(programs, size, report);
  signing_request(programs, size, report);
  many_keys(1000, report);
  return report.close();
}

}  // namespace
}  // namespace execcred::test

int main(int argc, char** argv) {
  try {
    return execcred::test::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "execcred-storm: error: %s\n", error.what());
    return EXIT_FAILURE;
  }
}

// SPDX-License-Identifier: Apache-2.0
// The plugins' log (--log-file), and what doctor reads in it.
#include "rig.hpp"

#include "plugin_under_test.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <filesystem>

using namespace doctor_test;
using blackbox::Command;
using blackbox::jwt_for;
using blackbox::read_text;
using blackbox::Sandbox;

namespace {

namespace fs = std::filesystem;

Outcome run_plugin(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                   std::optional<std::string> input = std::nullopt) {
  Command command;
  command.arguments = {kTokenFile};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = std::move(environment);
  command.input = std::move(input);
  return blackbox::run(command);
}

std::vector<nlohmann::json> lines_of(const std::string& path) {
  std::vector<nlohmann::json> lines;
  const std::string text = read_text(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    CHECK(end - at < 4096);
    lines.push_back(nlohmann::json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

mode_t mode_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

struct Fixture {
  Sandbox sandbox;
  std::string token = jwt_for(3600);
  std::string file = sandbox.write("token", token, 0600);
  std::string log = sandbox.at("log");
};

}  // namespace

TEST_CASE("log: a run is one line, without the credential and without the password of a URL") {
  const Fixture f;
  const Outcome outcome =
      run_plugin({"--token-file=" + f.file, "--log-file=" + f.log},
                 {"KUBERNETES_EXEC_INFO=" +
                  blackbox::exec_info(blackbox::kV1, "https://user:secret@10.1.2.3:6443")});
  CAPTURE(outcome.error_output);
  const auto lines = lines_of(f.log);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["plugin"] == "execcred-token-file");
  CHECK(lines[0].contains("version"));
  CHECK(lines[0].contains("time"));
  CHECK(lines[0]["duration_ms"].is_number_integer());
  CHECK(read_text(f.log).find("secret") == std::string::npos);
  CHECK(read_text(f.log).find(f.token) == std::string::npos);
  CHECK(mode_of(f.log) == 0600);
}

TEST_CASE("log: a run that succeeds logs the server and the identity, and no error") {
  const Fixture f;
  run_plugin(
      {"--token-file=" + f.file, "--log-file=" + f.log},
      {"KUBERNETES_EXEC_INFO=" + blackbox::exec_info(blackbox::kV1, "https://10.1.2.3:6443")});
  const auto lines = lines_of(f.log);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["server"] == "https://10.1.2.3:6443");
  CHECK(lines[0]["identity"] == "system:serviceaccount:ns:sa");
  CHECK(lines[0]["exit_code"] == 0);
  CHECK_FALSE(lines[0].contains("error"));
  CHECK_FALSE(lines[0].contains("cause"));
}

TEST_CASE("log: a failure has its cause, its error and its hint") {
  const Fixture f;
  const Outcome outcome = run_plugin(
      {"--token-file=" + f.sandbox.at("none"), "--log-file=" + f.log},
      {"KUBERNETES_EXEC_INFO=" + blackbox::exec_info(blackbox::kV1, "https://10.1.2.3")});
  CHECK(outcome.exit_code == 2);
  const auto lines = lines_of(f.log);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["exit_code"] == 2);
  CHECK(lines[0]["cause"] == "source-missing");
  CHECK(lines[0]["error"].get<std::string>().find("No such file") != std::string::npos);
  CHECK(lines[0]["context"].size() == 1);
  CHECK(lines[0].contains("hint"));
}

TEST_CASE("log: EXECCRED_LOG_FILE has the effect of --log-file, also for a usage error") {
  const Fixture f;
  const std::vector<std::string> environment = {"EXECCRED_LOG_FILE=" + f.log};
  CHECK(run_plugin({"--token-file=" + f.file}, environment).exit_code == 0);
  CHECK_REFUSAL(run_plugin({"--token-file=" + f.file, "--no-such-option"}, environment), 2,
                "unknown option '--no-such-option'");
  CHECK_REFUSAL(run_plugin({}, environment), 2, "--token-file is required");
  const auto lines = lines_of(f.log);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1]["cause"] == "mapping-invalid");
  CHECK(lines[2]["cause"] == "mapping-invalid");
}

TEST_CASE("log: a run that is ended by its deadline writes its line, too") {
  const Fixture f;
  const Sandbox& sandbox = f.sandbox;
  REQUIRE(mkfifo(sandbox.at("fifo").c_str(), 0600) == 0);
  Command command;
  command.arguments = {"/bin/sh", "-c",
                       "exec 3<>" + sandbox.at("fifo") + "; exec " + kTokenFile + " --token-file=" +
                           f.file + " --exec-info=- --timeout=200ms --log-file=" + f.log + " <&3"};
  const Outcome outcome = blackbox::run(command);
  CHECK(outcome.exit_code == 3);
  const auto lines = lines_of(f.log);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["exit_code"] == 3);
  CHECK(lines[0]["cause"] == "program-timeout");
  CHECK(lines[0]["error"] == "timed out after 200ms");
  CHECK(lines[0]["duration_ms"].get<int>() >= 200);
}

TEST_CASE("log: an error in a ClusterProfile's arguments is in the log that the controller sets") {
  const Fixture f;
  const std::vector<std::string> behind = {"--token-file=" + f.file, "--from-profile",
                                           "--no-such-option"};
  CHECK_REFUSAL(run_plugin(behind, {"EXECCRED_LOG_FILE=" + f.log}), 2, "'--no-such-option'");
  std::vector<std::string> by_flag = behind;
  by_flag.insert(by_flag.begin(), "--log-file=" + f.log);
  CHECK_REFUSAL(run_plugin(by_flag), 2, "'--no-such-option'");
  const auto lines = lines_of(f.log);
  REQUIRE(lines.size() == 2);
  for (const nlohmann::json& line : lines) {
    CHECK(line["exit_code"] == 2);
    CHECK(line["error"].get<std::string>().find("--no-such-option") != std::string::npos);
  }
}

TEST_CASE("log: a ClusterProfile cannot set the log file") {
  const Fixture f;
  const Outcome behind =
      run_plugin({"--token-file=" + f.file, "--from-profile", "--log-file=" + f.log});
  CHECK(behind.exit_code == 2);
  CHECK(behind.error_output.find("--log-file stands behind --from-profile") != std::string::npos);
  const Outcome config = run_plugin(
      {"--token-file=" + f.file},
      {"KUBERNETES_EXEC_INFO=" +
       blackbox::exec_info(blackbox::kV1, "https://10.1.2.3",
                           R"(,"config":{"logFile":)" + blackbox::json_string(f.log) + "}")});
  CHECK(config.exit_code == 2);
  CHECK(config.error_output.find("logFile sets --log-file") != std::string::npos);
  CHECK_FALSE(fs::exists(f.log));
}

TEST_CASE("log: an unsafe file is not written, and the credential is given nevertheless") {
  const Fixture f;
  const Sandbox& sandbox = f.sandbox;
  fs::create_directory(sandbox.at("open"));
  REQUIRE(chmod(sandbox.at("open").c_str(), 0777) == 0);
  fs::create_symlink(sandbox.write("target", ""), sandbox.at("link"));
  const std::string shared = sandbox.write("shared", "", 0600);
  REQUIRE(chmod(shared.c_str(), 0622) == 0);
  REQUIRE(link(sandbox.write("first", "", 0600).c_str(), sandbox.at("second").c_str()) == 0);
  REQUIRE(mkfifo(sandbox.at("fifo").c_str(), 0600) == 0);
  for (const char* const name :
       {"open/log", "link", "shared", "second", "fifo", "no/such/folder/log"}) {
    CAPTURE(name);
    const std::string path = sandbox.at(name);
    const Outcome outcome = run_plugin({"--token-file=" + f.file, "--log-file=" + path});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.error_output.empty());
    if (std::string_view(name) != "fifo") CHECK(read_text(path).empty());
  }
  CHECK(run_plugin({"--token-file=" + f.file, "--log-file=/dev/full"}).exit_code == 0);
}

TEST_CASE("log: at 1 MiB a new log is begun, and the old one is kept beside it") {
  const Fixture f;
  const std::string old(std::size_t{1024} * 1024, '\n');
  f.sandbox.write("log", old, 0600);
  run_plugin({"--token-file=" + f.file, "--log-file=" + f.log});
  CHECK(lines_of(f.log).size() == 1);
  CHECK(read_text(f.log + ".1") == old);
  CHECK(mode_of(f.log) == 0600);
}

TEST_CASE("log: long texts are cut, and the line stays JSON") {
  const Fixture f;
  const std::string name(3000, '"');
  run_plugin({"--token-file=/" + name, "--log-file=" + f.log});
  run_plugin({"--log-file=" + f.log, "--token-file=/\xff\xfe\x01" + std::string(2000, '\\')});
  CHECK(lines_of(f.log).size() == 2);
}

TEST_CASE("doctor --log: the cluster with the newest failure comes first") {
  const Sandbox sandbox;
  const std::string log = sandbox.write(
      "log",
      R"({"time":"2026-07-01T12:00:00Z","plugin":"execcred-x","server":"https://a","exit_code":1,"cause":"source-missing","error":"one"})"
      "\n{not json\n\n[]\n"
      R"({"time":"2026-07-01T13:00:00Z","plugin":"execcred-x","server":"https://b","exit_code":2,"cause":"source-expired","error":"two\u001b[31m"})"
      "\n"
      R"({"time":"2026-07-01T14:00:00Z","plugin":"execcred-x","server":"https://a","exit_code":0})"
      "\n"
      R"({"time":"never","plugin":"execcred-x","exit_code":1})"
      "\n");
  const auto doctor = [](std::vector<std::string> arguments) {
    Command command;
    command.arguments = {kCli, "doctor"};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    return blackbox::run(command);
  };
  const Outcome outcome = doctor({"--log", log, "-o", "json"});
  CHECK(outcome.exit_code == 0);
  const nlohmann::json items = nlohmann::json::parse(outcome.output)["items"];
  REQUIRE(items.size() == 2);
  CHECK(items[0]["server"] == "https://b");
  CHECK(items[0]["cause"] == "source-expired");
  CHECK(items[0]["result"] == "fail");
  CHECK(items[1]["server"] == "https://a");
  CHECK(items[1]["result"] == "ok");
  CHECK(items[1]["runs"] == 2);
  const Outcome text = doctor({"--log", log});
  CHECK(text.output.find('\x1b') == std::string::npos);
  CHECK(text.output.find("source-expired") < text.output.find("source-missing"));
  CHECK(text.output.ends_with("\nmore: execcred explain source-expired\n"));
  CHECK(doctor({"--log", log, "--since=1h", "-o", "json"}).output.find("https") ==
        std::string::npos);
  constexpr const char* kAlone = "--log stands alone: it examines no cluster\n  hint: leave out ";
  CHECK_REFUSAL(doctor({"--log", log, "-m", "/x"}), 2, std::string(kAlone) + "-m");
  for (const char* const stray :
       {"--name=x", "--provider=x", "--can=get/pods", "--no-request", "--parallel=2",
        "--authentication-config=/x", "--warn-before=1h", "--namespace=x", "--selector=a=b"}) {
    CAPTURE(stray);
    const std::string name = std::string(stray).substr(0, std::string_view(stray).find('='));
    CHECK_REFUSAL(doctor({"--log", log, stray}), 2, kAlone);
    CHECK_REFUSAL(doctor({"--log", log, stray}), 2, name);
  }
  CHECK_FAILURE(doctor({"--since", "1h"}), 2, "--since is given without --log");
  CHECK_FAILURE(doctor({"--log", sandbox.at("none")}), 2,
                "cannot read '" + sandbox.at("none") + "': No such file or directory");
}

TEST_CASE("report: only a pipe for writing that is no standard stream gets the report") {
  Fixture f;
  const std::string kept = f.sandbox.at("kept");
  const std::string missing = "--token-file=" + f.sandbox.at("missing");
  struct Case {
    std::string given;         // EXECCRED_REPORT_FILE
    std::string redirections;  // of the plugin
    bool is_reported = false;
  };
  for (const Case& row : std::vector<Case>{{"3", "3>&5", true},
                                           {"9", "9>&5", true},
                                           {"0", "", false},
                                           {"1", "3>&5", false},
                                           {"2", "3>&5", false},
                                           {"4", "4>&1", false},
                                           {"4", "4>&2", false},
                                           {"4", "", false},
                                           {"4", "4>'" + kept + ".file'", false},
                                           {"4", "4<'" + f.file + "'", false},
                                           {"", "3>&5", false},
                                           {"x", "3>&5", false},
                                           {"3x", "3>&5", false},
                                           {" 3", "3>&5", false},
                                           {"-3", "3>&5", false},
                                           {"4294967299", "3>&5", false},
                                           {"99999999999999999999", "3>&5", false},
                                           {f.sandbox.at("report"), "3>&5", false},
                                           {"/dev/stdout", "3>&5", false}}) {
    CAPTURE(row.given);
    CAPTURE(row.redirections);
    // The pipe is descriptor 5 of the shell, and the plugin has it only where the case says so.
    Command command;
    command.arguments = {"/bin/sh", "-c",
                         "exec 6>&1; { \"$0\" \"$1\" >&6 " + row.redirections +
                             " 5>&- 6>&-; echo $? >&6; } 5>&1 | cat > '" + kept + "'",
                         kTokenFile, missing};
    command.environment = {"EXECCRED_REPORT_FILE=" + row.given, "PATH=/usr/bin:/bin"};
    const Outcome outcome = blackbox::run(command);
    CHECK(outcome.output == "2\n");
    CHECK(outcome.error_output.starts_with("execcred-token-file: error: "));
    CHECK(outcome.error_output.find("{\"exit_code\"") == std::string::npos);
    CHECK_FALSE(fs::exists(f.sandbox.at("report")));
    const std::string report = read_text(kept);
    CHECK(report.empty() != row.is_reported);
    if (row.is_reported) CHECK(nlohmann::json::parse(report)["cause"] == "source-missing");
  }
}

TEST_CASE("report: it fits into a pipe at once, and a full pipe does not delay the run") {
  Fixture f;
  const std::string kept = f.sandbox.at("kept");
  const std::string name(250, '\\');
  std::string path = "/" + name;
  for (int i = 0; i < 12; ++i) path += "/" + name;
  Command command;
  command.arguments = {"/bin/sh", "-c", "\"$0\" \"$1\" 3>&1 >&2 | cat > '" + kept + "'", kTokenFile,
                       "--token-file=" + path};
  command.environment = {"EXECCRED_REPORT_FILE=3", "PATH=/usr/bin:/bin"};
  blackbox::run(command);
  const std::string report = read_text(kept);
  CHECK(report.size() <= 4096);
  CHECK(nlohmann::json::parse(report)["exit_code"].is_number());
  command.arguments = {"/bin/sh", "-c",
                       "{ dd if=/dev/zero bs=4096 oflag=nonblock of=/dev/stdout 2>/dev/null; "
                       "timeout 2 \"$0\" --token-file=/no/such/file 3>&1 >&2; "
                       "echo \"ended $?\" >&2; } | sleep 3",
                       kTokenFile};
  const Outcome full = blackbox::run(command);
  CHECK(full.error_output.find("error: ") != std::string::npos);
  CHECK(full.error_output.ends_with("ended 2\n"));
}

// SPDX-License-Identifier: Apache-2.0
#include "fleet_run.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace blackbox {
namespace {

Command command_of(const Fleet& fleet, std::vector<std::string> arguments,
                   const std::vector<std::string>& environment) {
  arguments.push_back("--to-dir=" + fleet.root().native());
  Command command = fleet.command(std::move(arguments));
  for (const std::string& variable : environment) command.environment.push_back(variable);
  write_log(command, fleet.sandbox().at("log"));
  return command;
}

}  // namespace

Run::Run(const Fleet& fleet, std::vector<std::string> arguments,
         const std::vector<std::string>& environment)
    : fleet_(fleet), child_(command_of(fleet, std::move(arguments), environment)) {}

Outcome Run::end() {
  child_.send(SIGTERM);
  return child_.wait();
}

void write_log(Command& command, const std::string& file) {
  command.before_exec = [file] {
    open_descriptor(STDERR_FILENO, file.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  };
}

std::string answer_of(const std::string& log, const std::string& path) {
  const std::size_t at = log.find("127.0.0.1:");
  const int port = at == std::string::npos ? 0 : std::stoi(log.substr(at + 10));
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    char buffer[4096];
    ssize_t size = write(descriptor, request.data(), request.size());
    while (size > 0 && (size = read(descriptor, buffer, sizeof buffer)) > 0) {
      answer.append(buffer, static_cast<std::size_t>(size));
    }
  }
  close(descriptor);
  return answer;
}

}  // namespace blackbox

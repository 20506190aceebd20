// SPDX-License-Identifier: Apache-2.0
//
// Runs one operation of libexeccred/execcred/hub on a hub, for tests/e2e:
//
//   hub-probe KUBECONFIG create NAMESPACE < OBJECT
//   hub-probe KUBECONFIG replace NAMESPACE NAME < OBJECT
//   hub-probe KUBECONFIG remove NAMESPACE NAME UID VERSION
//   hub-probe KUBECONFIG get NAMESPACE NAME
//   hub-probe KUBECONFIG list NAMESPACE SELECTOR whole|metadata
//   hub-probe KUBECONFIG watch NAMESPACE           until SIGTERM: a line for each change
//   hub-probe KUBECONFIG lease NAMESPACE NAME IDENTITY    likewise
//
// It prints JSON, and on standard error the requests that were sent.

#include <execcred/base/environment.hpp>
#include <execcred/hub/lease.hpp>
#include <execcred/hub/secrets.hpp>
#include <execcred/hub/watch.hpp>
#include <execcred/os/stop_event.hpp>

#include <chrono>
#include <csignal>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

namespace {

using namespace execcred;
using nlohmann::json;
using std::chrono::steady_clock;

const StopEvent* g_stop = nullptr;

void on_signal(int /*signal*/) { g_stop->request(); }

json shown(const std::optional<Error>& error) {
  if (!error) return nullptr;
  return {{"message", error->message},
          {"hint", error->hint},
          {"code", exit_code(error->kind)},
          {"context", error->context}};
}

int fail(const Error& error) {
  std::cout << json{{"error", shown(error)}} << std::endl;
  return exit_code(error.kind);
}

int print(const ChangeOutcome& outcome) {
  using Kind = ChangeOutcome::Kind;
  const char* const kind = outcome.kind == Kind::done          ? "done"
                           : outcome.kind == Kind::conflict    ? "conflict"
                           : outcome.kind == Kind::absent      ? "absent"
                           : outcome.kind == Kind::refused     ? "refused"
                           : outcome.kind == Kind::unavailable ? "unavailable"
                                                               : "unknown";
  json line = {{"outcome", kind}};
  if (outcome) {
    line["object"] = json::parse(execcred::json::to_text(outcome.object));
  } else {
    line["error"] = shown(outcome.error);
  }
  std::cout << line << std::endl;
  return 0;
}

execcred::json::Value object_of_stdin() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  Result<execcred::json::Value> object = execcred::json::parse(text, {.bytes = text.size()});
  return object ? std::move(*object) : execcred::json::Value();
}

int list(HubSecrets& secrets, const std::string& name_space, const std::string& selector,
         const std::string& content) {
  const Result<LabelSelector> parsed = LabelSelector::parse(selector);
  if (!parsed) return fail(parsed.error());
  json line = json::array();
  const Status listed = secrets.list(
      name_space, *parsed, content == "whole" ? HubContent::whole : HubContent::metadata,
      [&line] { line.clear(); },
      [&line](const execcred::ListItem& item) {
        line.push_back(json::parse(execcred::json::to_text(item.object)));
      });
  if (!listed) return fail(listed.error());
  std::cout << line << std::endl;
  return 0;
}

// Calls `print` after each change that `source` sees, until a signal stops what it runs.
template <class Source, class Print>
int follow(Source& source, Print print) {
  std::thread thread([&source] {
    source.run(*g_stop);
    g_stop->request();
  });
  auto view = source.view();
  while (!g_stop->is_requested()) {
    const auto next = source.wait_for_change(view.generation,
                                             steady_clock::now() + std::chrono::milliseconds(100));
    if (next.generation == view.generation) continue;
    view = next;
    std::cout << print(view) << std::endl;
  }
  thread.join();
  std::cout << print(source.view()) << std::endl;
  return 0;
}

int watch(HubClient hub, const std::string& name_space) {
  HubWatch source(std::move(hub), watch_profiles(name_space));
  return follow(source, [](const WatchView& view) {
    json names = json::array();
    for (const auto& object : *view.objects) names.push_back(object->name);
    return json{{"complete", view.is_complete},
                {"in_sync", view.is_in_sync},
                {"names", names},
                {"error", shown(view.error)}};
  });
}

int lease(HubClient hub, const LeaseSettings& settings) {
  Result<std::unique_ptr<Lease>> source = Lease::make(std::move(hub), settings);
  if (!source) return fail(source.error());
  return follow(**source, [](const LeaseView& view) {
    return json{{"held", view.is_held}, {"holder", view.holder}, {"error", shown(view.error)}};
  });
}

int run(HubClient hub, const std::vector<std::string>& words) {
  const std::string& verb = words[0];
  if (verb == "watch") return watch(std::move(hub), words.at(1));
  if (verb == "lease") {
    return lease(std::move(hub),
                 {.name_space = words.at(1), .name = words.at(2), .identity = words.at(3)});
  }
  HubSecrets secrets(hub);
  if (verb == "create") return print(secrets.create(words.at(1), object_of_stdin()));
  if (verb == "replace") {
    return print(secrets.replace(words.at(1), words.at(2), object_of_stdin()));
  }
  if (verb == "remove") {
    return print(secrets.remove(words.at(1), words.at(2), words.at(3), words.at(4)));
  }
  if (verb == "list") return list(secrets, words.at(1), words.at(2), words.at(3));
  const Result<std::optional<execcred::json::Value>> object = secrets.get(words.at(1), words.at(2));
  if (!object) return fail(object.error());
  std::cout << (*object ? execcred::json::to_text(**object) : "null") << std::endl;
  return 0;
}

}  // namespace

// What is thrown ends this program. NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const Result<StopEvent> stop = StopEvent::make();
  if (words.size() < 3 || !stop) {
    std::cerr << "usage: hub-probe KUBECONFIG VERB NAMESPACE [ARGUMENT...]\n";
    return 2;
  }
  g_stop = &*stop;
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  Result<Hub> hub = find_hub(words[0], Environment());
  if (!hub) return fail(hub.error());
  CallContext call;
  call.debug = [](std::string_view text) { std::cerr << text << std::endl; };
  return run(HubClient(std::move(*hub), call), {words.begin() + 1, words.end()});
}

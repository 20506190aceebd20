// SPDX-License-Identifier: Apache-2.0
#include "hub_options.hpp"

#include "command.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>

#include <utility>
#include <vector>

namespace execcred::cli {
namespace {

constexpr std::chrono::seconds kLimit(60);

Result<std::string> parse_namespace(const std::string& text) {
  if (is_dns1123_label(text)) return text;
  return Error::configuration(in_quotes(text) + " is no name of a namespace",
                              "it must be a DNS-1123 label: [a-z0-9-], at most 63");
}

}  // namespace

void HubOptions::add_to(CommandOptions& options) {
  options.group("Hub");
  options.add("from-hub", is_used_,
              {.help = "Read ClusterProfiles from the hub's API; needs the right to list them"});
  options.add_parsed("namespace", name_space_,
                     {.letter = 'n',
                      .value = "NAMESPACE",
                      .help = "Only ClusterProfiles of this namespace, of the hub or of files"},
                     parse_namespace);
  options.add_parsed("selector", selector_,
                     {.letter = 'l',
                      .value = "SELECTOR",
                      .help = "Only ClusterProfiles with these labels, as for kubectl -l"},
                     [](const std::string& text) { return LabelSelector::parse(text); });
  options.add("kubeconfig", kubeconfig_,
              {.value = "PATH",
               .help = "The hub's kubeconfig; default: KUBECONFIG, then the Pod's account",
               .takes = Takes::file});
  options.add_files([this](const Environment& environment) {
    std::vector<UsedFile> files;
    if (!is_used_ || !kubeconfig_.empty()) return files;
    for (const std::string_view path : split(environment.get("KUBECONFIG").value_or(""), ':')) {
      files.push_back({.source = "KUBECONFIG", .path = std::string(path)});
    }
    return files;
  });
  options.add(
      "context", context_,
      {.value = "NAME", .help = "Context of the hub's kubeconfig; default: the current one"});
}

bool HubOptions::is_unset() const {
  return !is_used_ && name_space_.empty() && selector_.empty() && kubeconfig_.empty() &&
         context_.empty();
}

bool HubOptions::has_kubeconfig_alone() const {
  return !is_used_ && name_space_.empty() && selector_.empty() && !kubeconfig_.empty();
}

bool HubOptions::chooses(const ProfileName& profile) const {
  const bool is_unknown = profile.name.empty() && profile.name_space.empty();
  if (is_unknown) return true;
  const bool is_there = name_space_.empty() || profile.name_space == name_space_;
  return is_there && selector_.matches(profile.labels);
}

Status HubOptions::check(bool is_needed) const {
  if (is_used_ || is_needed) return {};
  const std::string stray = !kubeconfig_.empty() ? "--kubeconfig"
                            : !context_.empty()  ? "--context"
                                                 : "";
  if (stray.empty()) return {};
  return Error::configuration(stray + " is given without --from-hub",
                              "it chooses the hub to read; files are given with -f or as operands");
}

Result<HubClient> HubOptions::connect() const {
  deadline::start(kProgram, kLimit, "read fewer objects: --namespace or --selector");
  Hub hub = TRY(find_hub(kubeconfig_, context_, Environment::copy()));
  return HubClient(std::move(hub), {.deadline = std::chrono::steady_clock::now() + kLimit});
}

Result<HubClient> HubOptions::connect_for_long() const {
  return HubClient(TRY(find_hub(kubeconfig_, context_, Environment::copy())), CallContext());
}

}  // namespace execcred::cli

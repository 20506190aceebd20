// SPDX-License-Identifier: Apache-2.0
// The command line of execcred: option values and refused values, help and its examples, version,
// and shell completion.
#include "documents.hpp"
#include "hub.hpp"
#include "installation.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "support/plugin_rig.hpp"
#include "support/texts.hpp"
#include "test_paths.hpp"

#include <list.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

using namespace blackbox;
using execcred::test::lines_of;

namespace {

Outcome run_cli(const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment = {}) {
  Command command{.arguments = {kCli}, .environment = environment};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return run(command);
}

// The commands that "execcred --help" lists.
std::vector<std::string> commands() {
  std::vector<std::string> names;
  bool is_in_list = false;
  for (const std::string& line : lines_of(run_cli({"--help"}).output)) {
    if (is_in_list && !line.empty()) names.push_back(line.substr(2, line.find(' ', 2) - 2));
    is_in_list = line == "Commands:" || (is_in_list && !line.empty());
  }
  return names;
}

std::string healthy_profile() {
  std::string text = hub_profile("spoke-1");
  const std::string status = R"("status":{)";
  text.insert(text.find(status) + status.size(),
              R"("conditions":[{"type":"ControlPlaneHealthy","status":"True"}],)");
  return text;
}

// Writes the files that the examples name into the folder, and two plugins beside execcred in its
// folder "release".
void write_files_of_examples(const Installation& installation) {
  const Sandbox& folder = installation.sandbox();
  for (const std::string plugin : {"execcred-spiffe", "execcred-aws"}) {
    installation.put(plugin, "#!/bin/sh\n");
  }
  folder.write("mapping.json",
               mapping({mapped("p", folder.script("plugin", printing(jwt_for(3600))))}));
  folder.write("profile.yaml", profile("spoke-1", {provider("p")}));
  folder.write("profiles/spoke-1.yaml", profile("spoke-1", {provider("p")}));
  folder.write("profiles/spoke-2.yaml", profile("spoke-2", {provider("p")}));
  std::filesystem::create_directory(folder.path() / "clusters");
  folder.write("kubeconfig.yaml",
               "apiVersion: v1\nkind: Config\nusers:\n- name: eks\n  user:\n    exec:\n"
               "      apiVersion: client.authentication.k8s.io/v1beta1\n      command: aws\n"
               "      args: [--region, eu-west-1, eks, get-token, --cluster-name, prod]\n");
}

std::string offered(std::vector<std::string> words) {
  words.insert(words.begin(), {"__complete", "--"});
  const Outcome outcome = run_cli(words);
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  std::string text;
  for (const std::string& line : lines_of(outcome.output)) {
    text += (text.empty() ? "" : " ") + line.substr(0, line.find('\t'));
  }
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("arguments: missing, empty, repeated and invalid values and unknown words are refused") {
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  for (const Case& row : std::vector<Case>{
           {{"resolve", "--name="}, "error: --name has an empty value"},
           {{"resolve", "--name", ""}, "error: --name has an empty value"},
           {{"resolve", "-o="}, "error: --output has an empty value"},
           {{"get", "--debug="}, "error: --debug has an empty value"},
           {{"resolve", "--name=", "a"}, "error: --name has an empty value"},
           {{"resolve", "--name"}, "error: --name needs a value\n  hint: write --name=[NAMESPACE/"},
           {{"resolve", "-n"}, "error: --namespace needs a value"},
           {{"resolve", "-f", "x", "-m"}, "--clusterprofile-provider-file needs a value"},
           {{"resolve", "--name", "--from-hub"}, "error: --name needs a value"},
           {{"resolve", "-n", "--from-hub"}, "error: --namespace needs a value"},
           {{"resolve", "--name", "--", "x"}, "error: --name needs a value"},
           {{"resolve", "--name=a", "--name=b"},
            "error: --name is given twice, with different values"},
           {{"get", "--debug", "--debug=false"},
            "error: --debug is given twice, with different values"},
           {{"get", "--debug=maybe"}, "error: --debug: 'maybe' is neither true nor false"},
           {{"resolve", "--name=a\tb"}, "error: --name has a control character in its value"},
           {{"resolve", "-nUPPER"}, "error: --namespace: 'UPPER' is no name of a namespace"},
           {{"resolve", "--context=c", "-fx", "-mx"},
            "error: --context is given without --from-hub"},
           {{"get", "--timeout=2h"}, "error: --timeout: "},
           {{"lint", "-x=S3CRET"}, "error: unknown option '-x'"},
           {{"lint", "--xyz=S3CRET"}, "error: unknown option '--xyz'"},
           {{"lint", "-xS3CRET"}, "error: unknown option '-x'"},
           {{"lint", "---"}, "error: unknown option '---'"},
           {{"resolve", "S3CRET"}, "error: an argument is no option"},
           {{"resolve", "-fx", "--", "S3CRET"}, "error: an argument is no option"},
           {{"--versoin"}, "'--versoin'\n  hint: did you mean --version?"},
           {{"frob", "get"}, "error: 'frob' is no command"},
           {{"++"}, "error: '++' is no command"},
           {{"--", "get"}, "error: no command is given"},
           {{"help", "gte"}, "error: 'gte' is no command\n  hint: did you mean get?"},
           {{"help", "get", "x"}, "error: 'x' is no action of get"},
           {{"cache", "list", "clear"}, "error: 2 actions are given"},
           {{"completion"}, "error: 0 shells are given\n  hint: it is bash, zsh or fish"},
           {{"completion", "tcsh"}, "error: 'tcsh' is no shell that is known"},
           {{"__complete"}, "error: no words are given to complete"}}) {
    const Outcome outcome = run_cli(row.arguments);
    CHECK_REFUSAL(outcome, 2, row.message);
    CHECK(outcome.error_output.find("S3CRET") == std::string::npos);
  }
}

TEST_CASE("arguments: all spellings of an option's value mean the same") {
  const Inventory inventory(mapping({mapped("p", "/bin/true")}), profile("a", {provider("p")}));
  const std::string expected = inventory.run("resolve", {"-o", "json"}).output;
  CHECK(json_at(expected, "items.0.clusterProfile.name") == "a");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"-o=json"},
                                             {"-ojson"},
                                             {"--output=json"},
                                             {"--output", "json"},
                                             {"-ojson", "--output=json", "-o", "json"},
                                             {"-ojson", "--from-hub=false"},
                                             {"-ojson", "--name=fleet/a"},
                                             {"-ojson", "--allow-empty", "--allow-empty=true"},
                                             {"-ojson", "--"}}) {
    const Outcome outcome = inventory.run("resolve", arguments);
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.output == expected);
  }
  // A value that looks like an option, a list or a command is still a value.
  CHECK(says(inventory.run("resolve", {"--name=--x"}), "named '--x'"));
  CHECK(says(inventory.run("resolve", {"--name", "get"}), "named 'get'"));
  CHECK(says(inventory.run("resolve", {"--name", "[a,b]"}), "named '[a,b]'"));
  CHECK(says(inventory.run("resolve", {"-o", "-x"}), "'-x' is no output format"));
  for (const std::string operand : {"get", "[a,b]", "a=b", "++", ""}) {
    CHECK(run_cli({"lint", operand}).output.find("cannot read '" + operand + "': No such file") !=
          std::string::npos);
  }
}

TEST_CASE("arguments: a variable sets an option that is not on the command line") {
  const Inventory inventory(
      mapping({mapped("p", "/bin/sh", R"(,"args":["-c",)" + json_string(printing("t0ken")) + "]")}),
      profile("a", {provider("p")}));
  const auto steps = [&](const std::string& variable, std::vector<std::string> arguments) {
    return inventory.run("get", std::move(arguments), {"EXECCRED_DEBUG=" + variable});
  };
  CHECK(says(steps("1", {}), "running '/bin/sh'"));
  CHECK(steps("", {}).error_output == "");
  CHECK(steps("1", {"--debug=false"}).error_output == "");
  CHECK_REFUSAL(steps("maybe", {}), 2, "EXECCRED_DEBUG: 'maybe' is neither true nor false");
  CHECK(says(run_cli({"cache", "path"}, {"EXECCRED_CACHE_DIR=a\tb"}),
             "EXECCRED_CACHE_DIR has a control character in its value"));
}

TEST_CASE("arguments: a command that replaces a file refuses one that it reads, and does nothing") {
  const Sandbox sandbox;
  const std::string content = mapping({mapped("p", "/bin/true")});
  const std::string file = sandbox.write("one.json", content);
  const std::string profiles = sandbox.write("profiles.yaml", profile("a", {provider("p")}));
  const std::string link = sandbox.at("link.json");
  std::filesystem::create_symlink(file, link);
  std::filesystem::create_directory(sandbox.at("d"));
  const std::string roundabout = sandbox.at("d/..//one.json");
  using Texts = std::vector<std::string>;
  struct Row {
    Texts arguments;
    std::string input;  // the option or variable
    Texts environment = {};
  };
  const Texts kubeconfig = {"kubeconfig", "-m"};
  const Texts doctor = {"doctor", "-f", profiles, "-m"};
  const auto with = [](Texts texts, const Texts& more) {
    texts.insert(texts.end(), more.begin(), more.end());
    return texts;
  };
  for (const std::string& other : {file, roundabout, link}) {
    for (const Row& row : std::vector<Row>{
             {with(kubeconfig, {other, "-f", profiles, "-o", file}),
              "--output and --clusterprofile-provider-file"},
             {with(kubeconfig, {other, "-f", profiles, "-o", file, "--diff"}),
              "--output and --clusterprofile-provider-file"},
             {{"kubeconfig", "-m", profiles, "-f", other, "-f", profiles, "-o", file},
              "--output and --clusterprofile"},
             {{"kubeconfig", "-m", profiles, "--from-hub", "--kubeconfig", other, "-o", file},
              "--output and --kubeconfig"},
             {{"kubeconfig", "-m", profiles, "--from-hub", "-o", file},
              "--output and KUBECONFIG",
              {"KUBECONFIG=" + profiles + ":" + other}},
             {with(doctor, {other, "--output-file", file}),
              "--output-file and --clusterprofile-provider-file"},
             {with(doctor, {other, "--bundle", file}),
              "--bundle and --clusterprofile-provider-file"},
             {{"doctor", "--kubeconfig", other, "--bundle", file}, "--bundle and --kubeconfig"},
             {{"doctor", "--log", other, "--output-file", file}, "--output-file and --log"},
             {with(doctor, {profiles, "--authentication-config", other, "--output-file", file}),
              "--output-file and --authentication-config"},
             {with(doctor, {profiles, "--bundle", other, "--output-file", file}),
              "--bundle and --output-file"}}) {
      CAPTURE(row.arguments);
      CHECK_REFUSAL(run_cli(row.arguments, row.environment), 2, row.input + " name the same file");
    }
  }
  CHECK(read_text(file) == content);
  CHECK(std::filesystem::is_symlink(link));
  // What no option makes an input may be replaced.
  const std::string old = sandbox.write("old.kubeconfig", "kind: Config\n");
  CHECK(run_cli({"kubeconfig", "-m", file, "-f", profiles, "-o", old}, {"KUBECONFIG=" + old})
            .exit_code == 0);
}

TEST_CASE("help: every command has a page of at most 100 columns, and a golden file") {
  const std::vector<std::string> names = commands();
  CHECK(names.size() == 15);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Outcome help = run_cli({name, "--help"});
    CHECK(help.exit_code == 0);
    CHECK(help.error_output == "");
    CHECK(run_cli({"help", name}).output == help.output);
    CHECK(help.output.starts_with("Usage: execcred " + name + " [OPTION]..."));
    for (const std::string& line : lines_of(help.output)) {
      CHECK_MESSAGE(line.size() <= 100, line);
    }
    CHECK(std::filesystem::exists(EXECCRED_SOURCE "/tests/golden/execcred/help-" + name));
  }
  CHECK(run_cli({"help"}).output == run_cli({"--help"}).output);
  CHECK(run_cli({"help", "cache", "list"}).output == run_cli({"cache", "-h"}).output);
}

TEST_CASE("help: the description of an option is one line, and its notes stand in brackets") {
  std::vector<std::string> pages;
  for (const std::string& name : commands()) pages.push_back(run_cli({name, "--help"}).output);
  for (const execcred::PluginDefinition& plugin : execcred::all_plugins()) {
    const std::string program = EXECCRED_BIN "/" + std::string(plugin.info.name);
    pages.push_back(run({.arguments = {program, "--help"}}).output);
  }
  CHECK(pages.size() == 24);
  std::size_t options = 0;
  for (const std::string& page : pages) {
    // How many lines the description of the last option has, and how many brackets are open.
    std::size_t texts = 1;
    std::ptrdiff_t brackets = 0;
    for (const std::string& line : lines_of(page)) {
      CHECK_MESSAGE(line.size() <= 100, line);
      if (line.starts_with("Examples:")) break;
      if (line.starts_with("  -")) {
        CHECK_MESSAGE(texts == 1, line);
        texts = line.find("  ", 3) == std::string::npos ? 0 : 1;
        ++options;
      } else if (line.starts_with("      ") && brackets == 0) {
        if (line[line.find_first_not_of(' ')] != '(') ++texts;
      }
      brackets +=
          std::count(line.begin(), line.end(), '(') - std::count(line.begin(), line.end(), ')');
    }
    CHECK(texts == 1);
  }
  CHECK(options > 250);
}

TEST_CASE("help: each command has two examples, which work") {
  const Installation installation;
  write_files_of_examples(installation);
  execcred::test::ObjectApi api = empty_hub();
  api.add(kProfiles, healthy_profile());
  const Hub hub(std::move(api));
  for (const std::string& name : commands()) {
    const std::vector<std::string> examples =
        execcred::test::examples_in(run_cli({name, "--help"}).output);
    CHECK_MESSAGE(examples.size() == 2, name);
    for (const std::string& example : examples) {
      CHECK(example.find("execcred " + name) != std::string::npos);
      const Outcome outcome =
          run({.arguments = {"/bin/bash", "-c", "cd \"$FOLDER\" && " + example},
               .environment = {"PATH=" + installation.sandbox().at("release") + ":/usr/bin:/bin",
                               "FOLDER=" + installation.sandbox().path().native(),
                               "KUBECONFIG=" + hub.sandbox().at("hub.json"),
                               "XDG_CACHE_HOME=" + installation.sandbox().at("cache")}});
      // The clusters of the examples do not exist, which doctor reports. Their provider has a name
      // that init does not know.
      const bool works = name == "doctor" ? outcome.exit_code == 1 || outcome.exit_code == 3
                         : name == "init" ? outcome.exit_code == 0 || outcome.exit_code == 1
                                          : outcome.exit_code == 0;
      CHECK_MESSAGE(works, (example + ": " + describe(outcome)));
    }
  }
}

TEST_CASE("version: one line, or one document") {
  const Outcome line = run_cli({"version"});
  CHECK(line.exit_code == 0);
  CHECK(line.output == run_cli({"--version"}).output);
  const Outcome document = run_cli({"version", "-ojson"});
  CHECK(document.exit_code == 0);
  CHECK("execcred " + json_at(document.output, "version") + "\n" == line.output);
  CHECK(json_at(document.output, "name") == "execcred");
  CHECK(json_at(document.output, "apiVersions.0") == "client.authentication.k8s.io/v1");
  CHECK(json_at(document.output, "apiVersions.1") == "client.authentication.k8s.io/v1beta1");
}

TEST_CASE("completion: what is offered for each kind of word") {
  struct Case {
    std::vector<std::string> words;
    std::string expected;
  };
  for (const Case& row : std::vector<Case>{
           {{"execcred", "li"}, "words lint"},
           {{"/usr/bin/execcred", "co"}, "words completion"},
           {{"execcred", "-"}, "words --help --version"},
           {{"execcred", "__"}, "words"},
           {{"execcred", "get", "--na"}, "words --namespace= --name="},
           {{"execcred", "kubeconfig", "--str"}, "words --strict"},
           {{"execcred", "get", "-m", ""}, "file"},
           {{"execcred", "get", "--clusterprofile=x"}, "file"},
           {{"execcred", "get", "-o", ""},
            "words exec-credential token header json text yaml name wide"},
           {{"execcred", "get", "--debug", ""}, "none"},
           {{"execcred", "get", "--debug=t"}, "none"},
           {{"execcred", "get", "--no-such=t"}, "none"},
           {{"execcred", "resolve", "--output=ar"}, "words argocd-secret"},
           {{"execcred", "lint", ""}, "file"},
           {{"execcred", "lint", "--", "--f"}, "file"},
           {{"execcred", "lint", "--plugin-dir", ""}, "directory"},
           {{"execcred", "cache", "l"}, "words list"},
           {{"execcred", "cache", "list", "-o", "j"}, "words json"},
           {{"execcred", "help", "ver"}, "words version"},
           {{"execcred", "completion", ""}, "words bash zsh fish"},
           {{"execcred", "install", ""}, "directory"},
           {{"execcred", "frob", ""}, "none"},
           {{"execcred-token-file", "--token-f"}, "words --token-file="},
           {{"execcred-token-file", "--token-file="}, "file"},
           {{"execcred-token-file", ""}, "none"},
           {{"execcred-aws", "--cache-dir", ""}, "directory"},
           {{"execcred-spiffe", "--type="}, "words jwt x509"},
           {{"execcred-oidc-federation", "--flow=p"}, "words pass-through pinniped"}}) {
    CHECK(offered(row.words) == row.expected);
  }
  const Outcome described = run_cli({"__complete", "--", "execcred", "kub"});
  CHECK(described.output == "words\nkubeconfig\tWrite one kubeconfig for a whole inventory.\t\n");
  const Outcome grouped = run_cli({"__complete", "--", "execcred-spiffe", "--tru"});
  CHECK(grouped.output ==
        "words\n--trust-domain=\tRefuse an SVID of another trust domain\tAccess rules\n");
}

TEST_CASE("completion: the scripts are for execcred and every plugin") {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    CAPTURE(shell);
    const Outcome script = run_cli({"completion", shell});
    CHECK(script.exit_code == 0);
    for (const auto& entry : std::filesystem::directory_iterator(EXECCRED_BIN)) {
      const std::string name = entry.path().filename();
      const bool is_program = name.starts_with("execcred") && name.find('.') == std::string::npos;
      if (is_program) CHECK_MESSAGE(script.output.find(name) != std::string::npos, name);
    }
  }
}

TEST_SUITE_END();

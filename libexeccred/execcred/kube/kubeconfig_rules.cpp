// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/kubeconfig_rules.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/provider_mapping.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace execcred {
namespace {

using json::Value;

// The type of a field, as its Go type decodes it.
struct Type {
  enum class Form { text, flag, bytes, any, object, list, map };

  struct Field {
    std::string_view name;
    const Type* type;
  };

  Form form = Form::any;
  const Type* element = nullptr;       // of a list or map
  std::span<const Field> fields = {};  // of an object
  std::string_view named = {};         // of a list whose entries have names: what an entry holds
};

using Form = Type::Form;
using Field = Type::Field;

constexpr Type kText = {.form = Form::text};
constexpr Type kFlag = {.form = Form::flag};
constexpr Type kBytes = {.form = Form::bytes};
constexpr Type kAny = {.form = Form::any};
constexpr Type kTexts = {.form = Form::list, .element = &kText};
constexpr Type kTextMap = {.form = Form::map, .element = &kText};
constexpr Type kTextsMap = {.form = Form::map, .element = &kTexts};

constexpr std::array<Field, 2> kExtensionFields = {{{"name", &kText}, {"extension", &kAny}}};
constexpr Type kExtension = {.form = Form::object, .fields = kExtensionFields};
constexpr Type kExtensions = {.form = Form::list, .element = &kExtension};

constexpr std::array<Field, 8> kClusterFields = {{{"server", &kText},
                                                  {"tls-server-name", &kText},
                                                  {"insecure-skip-tls-verify", &kFlag},
                                                  {"certificate-authority", &kText},
                                                  {"certificate-authority-data", &kBytes},
                                                  {"proxy-url", &kText},
                                                  {"disable-compression", &kFlag},
                                                  {"extensions", &kExtensions}}};
constexpr Type kCluster = {.form = Form::object, .fields = kClusterFields};

constexpr std::array<Field, 2> kVariableFields = {{{"name", &kText}, {"value", &kText}}};
constexpr Type kVariable = {.form = Form::object, .fields = kVariableFields};
constexpr Type kVariables = {.form = Form::list, .element = &kVariable};
constexpr std::array<Field, 7> kExecFields = {{{"apiVersion", &kText},
                                               {"command", &kText},
                                               {"args", &kTexts},
                                               {"env", &kVariables},
                                               {"installHint", &kText},
                                               {"provideClusterInfo", &kFlag},
                                               {"interactiveMode", &kText}}};
constexpr Type kExec = {.form = Form::object, .fields = kExecFields};
constexpr std::array<Field, 2> kProviderFields = {{{"name", &kText}, {"config", &kTextMap}}};
constexpr Type kProvider = {.form = Form::object, .fields = kProviderFields};
constexpr std::array<Field, 15> kUserFields = {{{"client-certificate", &kText},
                                                {"client-certificate-data", &kBytes},
                                                {"client-key", &kText},
                                                {"client-key-data", &kBytes},
                                                {"token", &kText},
                                                {"tokenFile", &kText},
                                                {"as", &kText},
                                                {"as-uid", &kText},
                                                {"as-groups", &kTexts},
                                                {"as-user-extra", &kTextsMap},
                                                {"username", &kText},
                                                {"password", &kText},
                                                {"auth-provider", &kProvider},
                                                {"exec", &kExec},
                                                {"extensions", &kExtensions}}};
constexpr Type kUser = {.form = Form::object, .fields = kUserFields};

constexpr std::array<Field, 4> kContextFields = {
    {{"cluster", &kText}, {"user", &kText}, {"namespace", &kText}, {"extensions", &kExtensions}}};
constexpr Type kContext = {.form = Form::object, .fields = kContextFields};

constexpr std::array<Field, 2> kNamedClusterFields = {{{"name", &kText}, {"cluster", &kCluster}}};
constexpr Type kNamedCluster = {.form = Form::object, .fields = kNamedClusterFields};
constexpr Type kClusters = {.form = Form::list, .element = &kNamedCluster, .named = "cluster"};
constexpr std::array<Field, 2> kNamedUserFields = {{{"name", &kText}, {"user", &kUser}}};
constexpr Type kNamedUser = {.form = Form::object, .fields = kNamedUserFields};
constexpr Type kUsers = {.form = Form::list, .element = &kNamedUser, .named = "user"};
constexpr std::array<Field, 2> kNamedContextFields = {{{"name", &kText}, {"context", &kContext}}};
constexpr Type kNamedContext = {.form = Form::object, .fields = kNamedContextFields};
constexpr Type kContexts = {.form = Form::list, .element = &kNamedContext, .named = "context"};

constexpr std::array<Field, 2> kPreferencesFields = {
    {{"colors", &kFlag}, {"extensions", &kExtensions}}};
constexpr Type kPreferences = {.form = Form::object, .fields = kPreferencesFields};
constexpr std::array<Field, 8> kConfigFields = {{{"kind", &kText},
                                                 {"apiVersion", &kText},
                                                 {"preferences", &kPreferences},
                                                 {"clusters", &kClusters},
                                                 {"users", &kUsers},
                                                 {"contexts", &kContexts},
                                                 {"current-context", &kText},
                                                 {"extensions", &kExtensions}}};
constexpr Type kConfig = {.form = Form::object, .fields = kConfigFields};

std::string inside(const std::string& path, std::string_view member) {
  return path.empty() ? std::string(member) : path + "." + std::string(member);
}

std::string inside(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

class TypeCheck {
 public:
  // A member may be missing or empty, but it may have no other text than this one.
  void check_member(const Value& document, std::string_view name, std::string_view text) {
    const std::string given = json::text_or_empty(document, name);
    if (given.empty() || given == text) return;
    add(std::string(name), "is " + in_quotes(given) + ", not " + std::string(text),
        "clients read a kubeconfig as Config of v1");
  }
  void check(const Value& value, const Type& type, const std::string& path);
  std::vector<Error> take() { return std::move(problems_); }

 private:
  void add(const std::string& path, const std::string& problem, std::string hint = {}) {
    Error error = json::field_error(path, problem);
    error.hint = std::move(hint);
    if (!entry_.empty()) error.context.push_back("reading the " + entry_);
    problems_.push_back(std::move(error));
  }
  void check_list(const json::Array& items, const Type& type, const std::string& path);

  std::string entry_;  // the named entry that contains the value: user 'u'
  std::vector<Error> problems_;
};

std::string_view word_for(Form form) {
  switch (form) {
    case Form::text:
    case Form::bytes:
      return "a string";
    case Form::flag:
      return "true or false";
    case Form::list:
      return "an array";
    default:
      return "an object";
  }
}

bool fits(const Value& value, Form form) {
  switch (form) {
    case Form::text:
    case Form::bytes:
      return value.string() != nullptr;
    case Form::flag:
      return value.boolean() != nullptr;
    case Form::list:
      return value.array() != nullptr;
    case Form::any:
      return true;
    default:
      return value.object() != nullptr;
  }
}

void TypeCheck::check(const Value& value, const Type& type, const std::string& path) {
  if (value.is_null()) return;
  if (!fits(value, type.form)) {
    // People write names like 123 and yes without quotes.
    const bool lacks_quotes =
        type.form == Form::text && value.array() == nullptr && value.object() == nullptr;
    return add(path,
               "must be " + std::string(word_for(type.form)) + ", not " + std::string(value.kind()),
               lacks_quotes
                   ? "put it in quotes: without them YAML takes it for " + std::string(value.kind())
                   : std::string());
  }
  if (type.form == Form::bytes) {
    std::optional<std::string> bytes = decode_base64(*value.string());
    if (!bytes) return add(path, "is no base64");
    wipe(*bytes);
  }
  for (const Field& field : type.fields) {
    if (const Value* member = value.find(field.name)) {
      check(*member, *field.type, inside(path, field.name));
    }
  }
  if (type.form == Form::list) check_list(*value.array(), type, path);
  if (type.form != Form::map) return;
  for (const json::Member& member : *value.object()) {
    check(member.value, *type.element, inside(path, member.name));
  }
}

void TypeCheck::check_list(const json::Array& items, const Type& type, const std::string& path) {
  const bool has_entries = !type.named.empty();
  std::set<std::string> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string place = inside(path, i);
    const std::string name = json::text_or_empty(items[i], "name");
    if (has_entries && !name.empty()) entry_ = std::string(type.named) + " " + in_quotes(name);
    check(items[i], *type.element, place);
    if (has_entries) entry_.clear();
    const bool is_extension = type.element == &kExtension;
    if (!has_entries && !is_extension) continue;
    if (names.contains(name)) {
      add(inside(place, "name"), "is " + in_quotes(name) + ", like that of an entry before it",
          "keep one: clients load no kubeconfig with two");
    }
    // An extension without a value does not count.
    const Value* const value = items[i].find("extension");
    if (has_entries || (value != nullptr && !value->is_null())) names.insert(name);
  }
}

}  // namespace

bool is_kubeconfig(const Value& document) {
  if (document.object() == nullptr) return false;
  const std::string kind = json::text_or_empty(document, "kind");
  if (kind == "Config") {
    return json::text_or_empty(document, "apiVersion").find('/') == std::string::npos;
  }
  if (!kind.empty()) return false;
  constexpr std::array<std::string_view, 4> kMembers = {"clusters", "users", "contexts",
                                                        "current-context"};
  return std::count_if(kMembers.begin(), kMembers.end(), [&document](std::string_view member) {
           return document.find(member) != nullptr;
         }) >= 2;
}

std::vector<Error> kubeconfig_load_problems(const Value& document) {
  TypeCheck check;
  check.check_member(document, "apiVersion", "v1");
  check.check_member(document, "kind", "Config");
  check.check(document, kConfig, "");
  return check.take();
}

namespace {

// Whether a member is present, and is not a value that Go omits: null, "", false, [] and {}.
bool has(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  if (value == nullptr || value->is_null()) return false;
  if (const std::string* text = value->string()) return !text->empty();
  if (const bool* flag = value->boolean()) return *flag;
  if (const json::Array* items = value->array()) return !items->empty();
  const json::Object* members = value->object();
  return members == nullptr || !members->empty();
}

bool is_object(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  return value != nullptr && value->object() != nullptr;
}

bool has_certificate(const Value& user) {
  return has(user, "client-certificate") || has(user, "client-certificate-data");
}

// Whether no HTTP header may hold the text (net/http: "invalid header field value").
bool breaks_header(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

// Whether clients count a username and password among the user's methods.
bool names_basic_authentication(const Value& user) {
  return has_basic_authentication(user) || has(user, "password");
}

// A rule that a user or a cluster breaks.
struct Rule {
  bool (*is_broken)(const Value& object);
  std::string_view field;
  std::string_view problem;
  std::string_view hint;
};

constexpr std::string_view kTwoMethods =
    "is beside a username or password: clients refuse more than one authentication method";
constexpr std::string_view kKeepOne = "keep one of them";

constexpr std::array<Rule, 1> kTokenRules = {{
    {[](const Value& user) { return breaks_header(json::text_or_empty(user, "token")); }, "token",
     "has a line break or another control character, which no HTTP header may hold",
     "write the token alone; in YAML, without | and >"},
}};

constexpr std::array<Rule, 7> kUserRules = {{
    {[](const Value& user) { return has(user, "token") && names_basic_authentication(user); },
     "token", kTwoMethods, kKeepOne},
    {[](const Value& user) { return has(user, "tokenFile") && names_basic_authentication(user); },
     "tokenFile", kTwoMethods, kKeepOne},
    {[](const Value& user) {
       return has(user, "client-certificate") && has(user, "client-certificate-data");
     },
     "client-certificate", "and client-certificate-data are both specified, which clients refuse",
     kKeepOne},
    {[](const Value& user) {
       return has_certificate(user) && has(user, "client-key") && has(user, "client-key-data");
     },
     "client-key", "and client-key-data are both specified, which clients refuse", kKeepOne},
    {[](const Value& user) {
       return has_certificate(user) && !has(user, "client-key") && !has(user, "client-key-data");
     },
     "client-key", "is missing, and so is client-key-data: a client certificate needs its key",
     "add the key, or remove the client certificate"},
    {[](const Value& user) {
       return !has(user, "as") &&
              (has(user, "as-uid") || has(user, "as-groups") || has(user, "as-user-extra"));
     },
     "as", "is missing, which as-uid, as-groups and as-user-extra need",
     "name the user to act as, or remove the others"},
    {[](const Value& user) { return is_object(user, "exec") && is_object(user, "auth-provider"); },
     "auth-provider", "is beside exec, which clients refuse", "keep exec"},
}};

bool has_unknown_proxy(const Value& cluster) {
  const std::string proxy = json::text_or_empty(cluster, "proxy-url");
  return !proxy.empty() && !parse_proxy(proxy);
}

constexpr std::array<Rule, 4> kClusterRules = {{
    {[](const Value& cluster) { return !has(cluster, "server"); }, "server", "is missing or empty",
     "write it as https://HOST[:PORT][/PATH]"},
    {[](const Value& cluster) {
       return has(cluster, "certificate-authority") && has(cluster, "certificate-authority-data");
     },
     "certificate-authority",
     "and certificate-authority-data are both specified, which clients refuse", kKeepOne},
    {[](const Value& cluster) {
       return has(cluster, "insecure-skip-tls-verify") &&
              (has(cluster, "certificate-authority") || has(cluster, "certificate-authority-data"));
     },
     "insecure-skip-tls-verify", "is true beside certificates, which clients refuse",
     "remove it, so that the certificates count"},
    {has_unknown_proxy, "proxy-url", "is no URL that clients support",
     "it must be http://, https:// or socks5://HOST:PORT"},
}};

template <std::size_t N>
std::vector<Error> broken(const std::array<Rule, N>& rules, const Value& object,
                          const std::string& path) {
  std::vector<Error> problems;
  for (const Rule& rule : rules) {
    if (!rule.is_broken(object)) continue;
    problems.push_back(json::field_error(inside(path, rule.field), rule.problem));
    problems.back().hint = rule.hint;
  }
  return problems;
}

}  // namespace

namespace {

// Whether the text, or one of those in the list or map, has a control character.
bool has_control_character_in(const Value* value) {
  if (value == nullptr) return false;
  if (const std::string* text = value->string()) return has_control_character(*text);
  if (const json::Array* items = value->array()) {
    return std::any_of(items->begin(), items->end(),
                       [](const Value& item) { return has_control_character_in(&item); });
  }
  const json::Object* members = value->object();
  return members != nullptr &&
         std::any_of(members->begin(), members->end(), [](const json::Member& member) {
           return has_control_character_in(&member.value);
         });
}

// Checks that clients find the wanted block in a field of base64.
template <class T>
void check_pem(const Value& object, std::string_view field, Result<T> (*parse)(std::string_view),
               const std::string& path, std::vector<Error>& problems) {
  std::optional<std::string> pem = decode_base64(json::text_or_empty(object, field));
  if (!pem || pem->empty()) return;
  Result<T> parsed = parse(*pem);
  wipe(*pem);
  if (parsed) return;
  problems.push_back(json::field_error(inside(path, field), parsed.error().message));
  problems.back().hint = "write base64 of PEM, whose BEGIN and END lines start with -----";
}

}  // namespace

bool has_basic_authentication(const Value& user) { return has(user, "username"); }

std::vector<Error> kubeconfig_text_problems(const Value& object, const std::string& path) {
  constexpr std::array<std::string_view, 11> kOneLine = {
      "server",    "tls-server-name", "proxy-url",          "certificate-authority",
      "tokenFile", "client-key",      "client-certificate", "as",
      "as-uid",    "as-groups",       "as-user-extra"};
  std::vector<Error> problems;
  for (const std::string_view name : kOneLine) {
    if (!has_control_character_in(object.find(name))) continue;
    problems.push_back(json::field_error(inside(path, name), "has a control character"));
    problems.back().hint = "write it in one line";
  }
  const Value* const provider = object.find("auth-provider");
  if (provider != nullptr && provider->object() != nullptr && !has(*provider, "name")) {
    problems.push_back(json::field_error(inside(path, "auth-provider.name"), "is missing"));
    problems.back().hint = "remove the auth-provider; use exec with a plugin";
  }
  return problems;
}

std::vector<Error> kubeconfig_user_problems(const Value& user, const std::string& path) {
  std::vector<Error> problems = broken(kUserRules, user, path);
  std::ranges::move(kubeconfig_text_problems(user, path), std::back_inserter(problems));
  return problems;
}

std::vector<Error> kubeconfig_credential_problems(const Value& user, const std::string& path) {
  std::vector<Error> problems = broken(kTokenRules, user, path);
  if (!has_certificate(user)) return problems;
  check_pem(user, "client-certificate-data", parse_go_client_certificates, path, problems);
  check_pem(user, "client-key-data", parse_go_private_key, path, problems);
  return problems;
}

std::vector<Error> kubeconfig_exec_problems(const json::ObjectReader& exec) {
  std::vector<Error> problems = inspect_exec_config(exec, CommandRule::any).problems;
  if (json::text_or_empty(exec.find("apiVersion")) != full_name(ApiVersion::v1) ||
      has(exec.value(), "interactiveMode")) {
    return problems;
  }
  problems.push_back(json::field_error(exec.path_of("interactiveMode"),
                                       "is missing, which clients refuse with v1"));
  problems.back().hint = "set it to Never, or IfAvailable for a program that asks";
  return problems;
}

std::vector<Error> kubeconfig_cluster_problems(const Value& cluster, const std::string& path) {
  std::vector<Error> problems = kubeconfig_text_problems(cluster, path);
  std::ranges::move(broken(kClusterRules, cluster, path), std::back_inserter(problems));
  check_pem(cluster, "certificate-authority-data", parse_go_certificates, path, problems);
  return problems;
}

}  // namespace execcred

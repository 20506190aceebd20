// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace execcred {
namespace {

// Restores the environment of the process.
class KeptEnvironment {
 public:
  KeptEnvironment() = default;
  KeptEnvironment(const KeptEnvironment&) = delete;
  KeptEnvironment& operator=(const KeptEnvironment&) = delete;
  ~KeptEnvironment() { environ = kept_; }

 private:
  char** kept_ = environ;
};

TEST_CASE("Environment: an empty variable counts as unset") {
  const Environment environment({"A=1", "EMPTY=", "SPACE= "});
  CHECK(environment.get("A") == "1");
  CHECK_FALSE(environment.get("EMPTY"));
  CHECK(environment.get("SPACE") == " ");
  CHECK_FALSE(environment.get("B"));
  CHECK_FALSE(environment.get("a"));
  CHECK_FALSE(Environment().get("A"));
}

TEST_CASE("Environment: names are compared whole, and the value is all after the first '='") {
  const Environment environment({"AB=2", "A=x=y", "ABC"});
  CHECK(environment.get("A") == "x=y");
  CHECK(environment.get("AB") == "2");
  CHECK_FALSE(environment.get("ABC"));
}

TEST_CASE("Environment: of two entries with one name the last is used, even if it is empty") {
  CHECK(Environment({"A=1", "A=2"}).get("A") == "2");
  CHECK_FALSE(Environment({"A=2", "A="}).get("A"));
}

TEST_CASE("Environment: entries keep their order, an entry that is not NAME=VALUE is ignored") {
  const Environment environment({"Z=1", "garbage", "", "=x", "A=", "Z=2"});
  CHECK(environment.entries() == std::vector<std::string>{"Z=1", "A=", "Z=2"});
  CHECK(environment.get("Z") == "2");
  CHECK(last_of_each_name(environment.entries()) == std::vector<std::string>{"A=", "Z=2"});
  CHECK_FALSE(environment.get(""));
}

TEST_CASE("Environment: take copies the process's environment, then leaves it empty") {
  const KeptEnvironment kept;
  char entry[] = "EXECCRED_UNIT=here";
  char* own[] = {entry, nullptr};
  environ = own;

  const Environment copied = Environment::copy();
  CHECK(copied.get("EXECCRED_UNIT") == "here");
  CHECK(std::getenv("EXECCRED_UNIT") != nullptr);

  const Environment taken = Environment::take();
  CHECK(taken.get("EXECCRED_UNIT") == "here");
  CHECK(std::getenv("EXECCRED_UNIT") == nullptr);
  CHECK(Environment::copy().entries().empty());
}

}  // namespace
}  // namespace execcred

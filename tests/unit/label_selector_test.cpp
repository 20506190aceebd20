// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/label_selector.hpp>

namespace execcred {
namespace {

using test::check_fails;

LabelSelector selector_of(std::string_view text) {
  Result<LabelSelector> selector = LabelSelector::parse(text);
  REQUIRE(selector);
  return *std::move(selector);
}

const Labels kLabels = {{"app", "web"}, {"tier", ""}, {"example.com/env", "dev"}};

TEST_CASE("label selector: each operator matches what the API server would") {
  struct Case {
    std::string_view text;
    bool is_match;
  };
  for (const Case& c : {Case{"", true},
                        Case{"  ", true},
                        Case{"app=web", true},
                        Case{"app==web", true},
                        Case{"app = web", true},
                        Case{"app=db", false},
                        Case{"absent=web", false},
                        Case{"absent=", false},
                        Case{"tier=", true},
                        Case{"app=", false},
                        Case{"app!=web", false},
                        Case{"app!=db", true},
                        Case{"absent!=db", true},
                        Case{"app", true},
                        Case{"absent", false},
                        Case{"!app", false},
                        Case{"! absent", true},
                        Case{"app in (db,web)", true},
                        Case{"app in (db)", false},
                        Case{"absent in (db)", false},
                        Case{"app notin (db)", true},
                        Case{"app notin (db, web)", false},
                        Case{"absent notin (db)", true},
                        Case{"tier in (,x)", true},
                        Case{"example.com/env in (dev,test),app=web,!absent", true},
                        Case{"example.com/env in (dev,test),app=db", false}}) {
    CAPTURE(c.text);
    CHECK(selector_of(c.text).matches(kLabels) == c.is_match);
  }
}

TEST_CASE("label selector: what the API server would refuse is refused") {
  for (const std::string_view text : {",",
                                      "app,",
                                      ",app",
                                      "app=web,,tier",
                                      "=web",
                                      "!=web",
                                      "!",
                                      "app=web=x",
                                      "app===web",
                                      "app!==web",
                                      "app=a b",
                                      "app web",
                                      "-app",
                                      "app-",
                                      "app=-web",
                                      "a/b/c",
                                      "/app",
                                      "app/",
                                      "UPPER.example.com/app",
                                      "app in",
                                      "app in (",
                                      "app in (a",
                                      "app in a)",
                                      "in (a)",
                                      "app within (a)",
                                      "app in ((a)",
                                      "app in (a)b",
                                      "app > 1",
                                      "app\nx",
                                      "app=a\nb",
                                      "app=\x01",
                                      "app=a/b",
                                      "(app)",
                                      "!app=x"}) {
    CAPTURE(text);
    check_fails(LabelSelector::parse(text), Error::Kind::configuration, "is no label requirement");
  }
  CHECK_FALSE(LabelSelector::parse("app=" + std::string(64, 'a')));
  CHECK(LabelSelector::parse("app=" + std::string(63, 'a')));
  CHECK_FALSE(LabelSelector::parse(std::string(64, 'a')));
  const std::string prefix(253, 'a');
  CHECK(LabelSelector::parse(prefix + "/" + std::string(63, 'a')));
  CHECK_FALSE(LabelSelector::parse(prefix + "a/a"));
}

TEST_CASE("label selector: its text is normalized, and is read back as the same selector") {
  struct Case {
    std::string_view text, written;
  };
  for (const Case& c : {Case{"", ""}, Case{"app = web , tier", "app=web,tier"},
                        Case{"app==web", "app=web"}, Case{"app != web", "app!=web"},
                        Case{"! app", "!app"}, Case{"app in ( a , b )", "app in (a,b)"},
                        Case{"app in (a)", "app=a"}, Case{"app notin (a,b)", "app notin (a,b)"},
                        Case{"app notin (a)", "app!=a"}, Case{"app=", "app="}}) {
    CAPTURE(c.text);
    const LabelSelector selector = selector_of(c.text);
    CHECK(selector.text() == c.written);
    CHECK(selector_of(selector.text()).text() == c.written);
    CHECK(selector.empty() == c.written.empty());
  }
}

TEST_CASE("label selector: a default is kept unless its label is named") {
  struct Case {
    std::string_view mine, defaults, both;
  };
  for (const Case& c :
       {Case{"", "a=1,b", "a=1,b"}, Case{"c=3", "a=1,b", "c=3,a=1,b"},
        Case{"a=2", "a=1,b", "a=2,b"}, Case{"!a", "a=1", "!a"}, Case{"a=2", "", "a=2"}}) {
    CAPTURE(c.mine);
    CHECK(selector_of(c.mine).with_defaults(selector_of(c.defaults)).text() == c.both);
  }
}

TEST_CASE("label selector: what is added counts besides what is there, also for the same label") {
  const LabelSelector both = selector_of("a in (1,2)").with(selector_of("a=2,b"));
  CHECK(both.text() == "a in (1,2),a=2,b");
  CHECK(both.matches({{"a", "2"}, {"b", ""}}));
  CHECK_FALSE(both.matches({{"a", "1"}, {"b", ""}}));
}

TEST_CASE("label values and keys: only what Kubernetes allows is valid") {
  for (const std::string_view key : {"a", "A.b_c-9", "example.com/a", "a.b/C"}) {
    CAPTURE(key);
    CHECK(is_label_key(key));
  }
  for (const std::string_view key :
       {"", "/", "a/", "/a", "a/b/c", "a b", ".a", "a.", "a/-b", "é"}) {
    CAPTURE(key);
    CHECK_FALSE(is_label_key(key));
  }
  CHECK(is_label_value(""));
  CHECK(is_label_value("a.B_c-1"));
  CHECK_FALSE(is_label_value("a/b"));
  CHECK_FALSE(is_label_value("-a"));
}

}  // namespace
}  // namespace execcred

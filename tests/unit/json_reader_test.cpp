// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/json/json_reader.hpp>

namespace execcred::json {
namespace {

constexpr std::string_view kDocument = R"({
  "text": "x", "empty": "", "null": null, "flag": true, "off": false, "number": 1,
  "list": ["a", "b"], "none": [], "mixed": ["a", 1], "holes": ["a", null],
  "object": {"inner": {"text": 5}}, "objects": [{"a": 1}, {}], "odd": [{}, "x"],
  "control": "a\nb", "nul": "a\u0000b", "delete": "a\u007f", "controls": ["a", "b\u001b"]
})";

class Document {
 public:
  explicit Document(std::string_view text, std::string path = "", Keys keys = Keys::exact)
      : value_(*parse(text)), reader_(*ObjectReader::open(value_, std::move(path), keys)) {}

  const ObjectReader* operator->() const { return &reader_; }

 private:
  Value value_;
  ObjectReader reader_;
};

template <class T>
void check_error(const Result<T>& result, std::string_view message) {
  CAPTURE(message);
  REQUIRE_FALSE(result);
  CHECK(result.error().message == message);
  CHECK(result.error().kind == Error::Kind::configuration);
}

TEST_CASE("ObjectReader: reads members by their type") {
  const Document document(kDocument);
  CHECK(document->optional_string("text").value() == "x");
  CHECK(document->optional_string("empty").value() == "");
  CHECK(document->required_string("text").value() == "x");
  CHECK(document->boolean_or_false("flag").value());
  CHECK_FALSE(document->boolean_or_false("off").value());
  CHECK(document->strings("list").value() == std::vector<std::string>{"a", "b"});
  CHECK(document->strings("none").value().empty());
  CHECK(document->objects("objects").value().size() == 2);
  CHECK(document->required_object("object")->path() == "object");
}

TEST_CASE("ObjectReader: an absent member and a null one are the same") {
  const Document document(kDocument);
  for (const std::string_view name : {"absent", "null"}) {
    CAPTURE(name);
    CHECK(document->find(name) == nullptr);
    CHECK_FALSE(document->optional_string(name).value());
    CHECK_FALSE(document->boolean_or_false(name).value());
    CHECK_FALSE(document->optional_object(name).value());
    CHECK(document->objects(name).value().empty());
    CHECK(document->strings(name).value().empty());
    check_error(document->required_string(name), std::string(name) + " is missing");
    check_error(document->required_object(name), std::string(name) + " is missing");
  }
  check_error(document->required_string("empty"), "empty is empty");
}

TEST_CASE("ObjectReader: a wrong type is reported with the full path of the field") {
  const Document document(kDocument, "spec");
  check_error(document->optional_string("number"), "spec.number must be a string, not a number");
  check_error(document->required_string("flag"), "spec.flag must be a string, not a boolean");
  check_error(document->optional_string("list"), "spec.list must be a string, not an array");
  check_error(document->boolean_or_false("text"), "spec.text must be true or false, not a string");
  check_error(document->boolean_or_false("number"),
              "spec.number must be true or false, not a number");
  check_error(document->optional_object("text"), "spec.text must be an object, not a string");
  check_error(document->optional_object("list"), "spec.list must be an object, not an array");
  check_error(document->objects("object"), "spec.object must be an array, not an object");
  check_error(document->objects("odd"), "spec.odd[1] must be an object, not a string");
  check_error(document->strings("text"), "spec.text must be an array of strings, not a string");
  check_error(document->strings("mixed"), "spec.mixed[1] must be a string, not a number");
  check_error(document->strings("holes"), "spec.holes[1] must be a string, not null");
  check_error(
      document->required_object("object")->required_object("inner")->required_string("text"),
      "spec.object.inner.text must be a string, not a number");
}

TEST_CASE("ObjectReader: the document itself must be an object") {
  for (const std::string_view text : {"null", "1", "\"x\"", "[]", "true"}) {
    const Value value = *parse(text);
    check_error(ObjectReader::open(value, ""),
                "the document must be an object, not " + std::string(value.kind()));
    check_error(ObjectReader::open(value, "a.b"),
                "a.b must be an object, not " + std::string(value.kind()));
  }
}

TEST_CASE("ObjectReader: a string with a control character is refused, and not shown" *
          doctest::description("promise 20")) {
  const Document document(kDocument);
  check_error(document->optional_string("control"), "control has a control character");
  check_error(document->required_string("nul"), "nul has a control character");
  check_error(document->required_string("delete"), "delete has a control character");
  check_error(document->strings("controls"), "controls[1] has a control character");
}

TEST_CASE("ObjectReader: with ignore_case, keys are found as Go finds them, at every level") {
  const Document document(
      "{\"NAME\":\"x\",\"Arg\u017f\":[\"a\"],\"EXEC\":{\"Command\":\"/c\"},"
      "\"List\":[{\"N\":\"y\"}]}",
      "", Keys::ignore_case);
  CHECK(document->required_string("name").value() == "x");
  CHECK(document->strings("args").value() == std::vector<std::string>{"a"});
  CHECK(document->required_object("exec")->required_string("command").value() == "/c");
  CHECK(document->objects("list").value().at(0).required_string("n").value() == "y");
  CHECK(document->find("nam") == nullptr);

  const Document exact(R"({"NAME":"x"})");
  CHECK(exact->find("name") == nullptr);
}

TEST_CASE("read_strings: a string or an array of strings") {
  CHECK(read_strings(*parse(R"("a,b")"), "p").value() == std::vector<std::string>{"a,b"});
  CHECK(read_strings(*parse(R"(["a","b"])"), "p").value() == std::vector<std::string>{"a", "b"});
  CHECK(read_strings(*parse("[]"), "p").value().empty());
  check_error(read_strings(*parse("1"), "p"),
              "p must be a string or an array of strings, not a number");
  check_error(read_strings(*parse("null"), "p"),
              "p must be a string or an array of strings, not null");
  check_error(read_strings(*parse("[[]]"), "p"), "p[0] must be a string, not an array");
  check_error(read_strings(*parse(R"("a\n")"), "p"), "p has a control character");
  check_error(read_strings(*parse(R"(["a\n"])"), "p"), "p[0] has a control character");
}

}  // namespace
}  // namespace execcred::json

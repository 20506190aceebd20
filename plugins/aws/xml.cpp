// SPDX-License-Identifier: Apache-2.0
#include "xml.hpp"

#include <execcred/base/text.hpp>

#include <expat.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace execcred::aws {
namespace {

constexpr std::size_t kMaxSize = 128 * 1024;
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxElements = 1000;  // each is compared with its siblings

Error wrong(const std::string& problem) {
  return {.kind = Error::Kind::no_credential, .message = "the XML " + problem};
}

// The handlers that expat calls. The first problem stops the parser.
class Reader {
 public:
  Reader() : parser_(XML_ParserCreate("UTF-8")) {
    if (parser_ == nullptr) return;
    XML_Parser parser = parser_.get();
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    XML_SetStartDoctypeDeclHandler(parser, on_doctype);
    XML_SetCommentHandler(parser, on_comment);
    XML_SetProcessingInstructionHandler(parser, on_instruction);
    XML_SetStartCdataSectionHandler(parser, on_cdata);
  }

  Result<json::Value> read(std::string_view text) {
    if (parser_ == nullptr) return wrong("cannot be read: there is no memory");
    if (XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), XML_TRUE) !=
        XML_STATUS_OK) {
      if (problem_.empty()) {
        problem_ = std::string("is not valid: ") + XML_ErrorString(XML_GetErrorCode(parser_.get()));
      }
      return wrong(problem_ + " (byte " +
                   std::to_string(XML_GetCurrentByteIndex(parser_.get()) + 1) + ")");
    }
    return std::move(document_);
  }

 private:
  struct Element {
    std::string name = {};
    json::Value elements = {};
    std::string text = {};
  };
  struct Free {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
  };

  static Reader& self(void* reader) { return *static_cast<Reader*>(reader); }

  static void on_start(void* reader, const XML_Char* name, const XML_Char** /*attributes*/) {
    self(reader).start(name);
  }
  static void on_end(void* reader, const XML_Char* /*name*/) { self(reader).end(); }
  static void on_text(void* reader, const XML_Char* text, int size) {
    Reader& here = self(reader);
    if (here.problem_.empty()) {
      here.open_.back().text.append(text, static_cast<std::size_t>(size));
    }
  }
  static void on_doctype(void* reader, const XML_Char* /*name*/, const XML_Char* /*system*/,
                         const XML_Char* /*public_id*/, int /*has_subset*/) {
    self(reader).stop("has a document type");
  }
  static void on_comment(void* reader, const XML_Char* /*text*/) {
    self(reader).stop("has a comment");
  }
  static void on_instruction(void* reader, const XML_Char* /*target*/, const XML_Char* /*data*/) {
    self(reader).stop("has a processing instruction");
  }
  static void on_cdata(void* reader) { self(reader).stop("has a CDATA section"); }

  // expat may still call some handlers after this.
  void stop(std::string problem) {
    if (!problem_.empty()) return;
    problem_ = std::move(problem);
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  void start(std::string name) {
    if (!problem_.empty()) return;
    if (open_.size() >= kMaxDepth) return stop("is nested too deeply");
    if (++elements_ > kMaxElements) return stop("has too many elements");
    const json::Value& siblings = open_.empty() ? document_ : open_.back().elements;
    if (siblings.find(name) != nullptr) return stop("has an element twice");
    open_.push_back({.name = std::move(name)});
  }

  // Ends an element, which contains either elements with white space between them, or text.
  void end() {
    if (!problem_.empty()) return;
    Element element = std::move(open_.back());
    open_.pop_back();
    json::Value& parent = open_.empty() ? document_ : open_.back().elements;
    if (element.elements.is_null()) {
      parent.add(element.name, json::Value(std::move(element.text)));
    } else if (trim(element.text).empty()) {
      parent.add(element.name, std::move(element.elements));
    } else {
      stop("has text between elements");
    }
  }

  std::unique_ptr<std::remove_pointer_t<XML_Parser>, Free> parser_;
  std::vector<Element> open_;
  json::Value document_;
  std::size_t elements_ = 0;
  std::string problem_;
};

}  // namespace

Result<json::Value> parse_xml(std::string_view text) {
  if (text.size() > kMaxSize) return wrong("is too large");
  // expat would read the text as UTF-16.
  if (text.find('\0') != std::string_view::npos) return wrong("has a NUL");
  return Reader().read(text);
}

}  // namespace execcred::aws

#pragma once
// What the command's words are, as a text that needs no program to be read: help, verbs and options of packaging/words.txt,
// by which the wrapper answers in a clone where nothing is built yet (packaging/answer_words).

#include <string>

namespace CLI {
class App;
}

namespace mrclab::lab {

/// For each verb, those below others among them, a line "verb", lines "option" and, behind "|", its help at 80 columns. The
/// fields of a line stand between tabs:
///   verb    path, how many verbs below it must follow
///   option  names, what it takes (flag, value, word, other), required, repeated, alone (no other option excludes or
///           needs it), its name and its type as messages have them
std::string words_file(const CLI::App& app);

}  // namespace mrclab::lab

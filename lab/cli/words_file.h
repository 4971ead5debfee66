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
/// Of one verb, which is called by `path`, and those below it:
std::string words_of_verb(const CLI::App& verb, const std::string& path);

/// What stands before the verbs: how the file is made, and the command itself.
std::string words_file_head(const CLI::App& app);

}  // namespace mrclab::lab

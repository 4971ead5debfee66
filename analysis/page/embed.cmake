# cmake -DOUT=page_files.cc -DFILES="name=path;..." -P embed.cmake
# Makes a source file with the bytes of these files: page::name is a string_view of one.
set(source "// Made at build time by analysis/page/embed.cmake.\n#include \"analysis/report/page_files.h\"\n\nnamespace mrclab::analysis::page {\n\n")
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]+)=(.+)$" _ "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND source
    "static constexpr unsigned char ${name}_bytes[] = {\n${bytes}0};\n"
    "const std::string_view ${name}{reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes - 1};\n\n")
endforeach()
string(APPEND source "}  // namespace mrclab::analysis::page\n")
file(WRITE "${OUT}" "${source}")

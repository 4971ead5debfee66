# BPF programs become part of a target: compiled by clang with libbpf's headers, and embedded as bytes. Where the one
# or the other is missing they have no bytes, and the loader refuses them with that reason.
set(bpf_versions 19 18 17 16 15 14)
list(TRANSFORM bpf_versions PREPEND clang- OUTPUT_VARIABLE clang_names)
list(TRANSFORM bpf_versions PREPEND llvm-strip- OUTPUT_VARIABLE strip_names)
find_program(MRCLAB_BPF_CLANG NAMES clang ${clang_names})
find_program(MRCLAB_BPF_STRIP NAMES llvm-strip ${strip_names})
set(MRCLAB_HAS_BPF OFF)
if(MRCLAB_BPF_CLANG AND LIBBPF_FOUND)
  # One that was built for other machines alone is as good as none.
  execute_process(COMMAND ${MRCLAB_BPF_CLANG} --print-targets OUTPUT_VARIABLE bpf_targets ERROR_QUIET)
  if(bpf_targets MATCHES " bpf ")
    set(MRCLAB_HAS_BPF ON)
  endif()
endif()
if(NOT MRCLAB_HAS_BPF)
  message(STATUS "No BPF program is built: it takes clang, with BPF among its targets, and libbpf 1.0")
endif()

# The object of `source` as what `function` of `namespace` returns, which `header` declares.
function(mrclab_bpf_object target source header namespace function)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/bpf/${function})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bpf)
  set(object "")
  set(files "")
  if(MRCLAB_HAS_BPF)
    set(object ${made}.o)
    set(files object=${object})
    # -g for the BTF, by which libbpf makes maps. The kernel has no handler for a smashed stack, which some
    # distributions' clang asks for. asm/types.h lies in the folder of the architecture, which clang does not
    # search for a target that is not this machine.
    set(flags -target bpf -O2 -g -std=gnu11 -Wall -Wextra -Wshadow -Werror -fno-stack-protector
        -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -fdebug-compilation-dir=. -I ${CMAKE_SOURCE_DIR})
    foreach(folder ${LIBBPF_INCLUDE_DIRS})
      list(APPEND flags -isystem ${folder})
    endforeach()
    if(CMAKE_LIBRARY_ARCHITECTURE)
      list(APPEND flags -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
    endif()
    set(strip "")
    if(MRCLAB_BPF_STRIP)
      set(strip COMMAND ${MRCLAB_BPF_STRIP} -g ${object})  # DWARF; BTF stays
    endif()
    add_custom_command(OUTPUT ${object}
                       COMMAND ${MRCLAB_BPF_CLANG} ${flags} -MD -MF ${object}.d -c ${source} -o ${object}
                       ${strip} DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
  endif()
  add_custom_command(OUTPUT ${made}.cc
                     COMMAND ${CMAKE_COMMAND} -DOUT=${made}.cc -DHEADER=${header} -DNAMESPACE=${namespace}
                             -DBYTES=${function} -DFILES=${files} -P ${embed}
                     DEPENDS ${object} ${embed} VERBATIM)
  # By itself, as the program changes more often than what would be compiled with it.
  set_source_files_properties(${made}.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${made}.cc)
endfunction()

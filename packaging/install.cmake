# What `cmake --install` and the Debian package consist of. Programs lie together in lib/mrclab, where they look for
# each other and from where they find ../../share/mrclab; bin/ holds links to those that people call.
get_property(programs GLOBAL PROPERTY MRCLAB_PROGRAMS)
list(REMOVE_ITEM programs mrc-pingpong)  # an example, of which the source is installed
install(TARGETS ${programs} RUNTIME DESTINATION lib/mrclab)
# What mpirun starts finds it beside the program; where MPI is not installed nothing else needs it.
if(TARGET mrclab-mpi)
  install(TARGETS mrclab-mpi LIBRARY DESTINATION lib/mrclab)
endif()
# What programs in hosts load in place of the system's libraries of these names: in a folder where nothing else looks.
get_property(rdma_libraries GLOBAL PROPERTY MRCLAB_RDMA_LIBRARIES)
if(rdma_libraries)
  install(TARGETS ${rdma_libraries} LIBRARY DESTINATION lib/mrclab/rdma)
  # Other names of libmrc.so.
  install(DIRECTORY ${CMAKE_BINARY_DIR}/rdma/ DESTINATION lib/mrclab/rdma FILES_MATCHING PATTERN "lib*_mrc.so")
endif()

# share/mrclab is laid out as the source tree is, so that a program finds a file by one path in both.
install(DIRECTORY topologies DESTINATION share/mrclab PATTERN README.md EXCLUDE)
# For Prometheus and Grafana.
install(FILES telemetry/prometheus/mrclab-rules.yml DESTINATION share/mrclab/telemetry/prometheus)
install(FILES telemetry/grafana/mrclab-fabric.json DESTINATION share/mrclab/telemetry/grafana)
install(FILES recorded/run/mrc_dissector.lua DESTINATION share/mrclab/recorded/run)
install(DIRECTORY docs/ DESTINATION share/doc/mrclab)
install(FILES README.md DESTINATION share/doc/mrclab)
install(FILES topologies/README.md DESTINATION share/doc/mrclab/topologies)
install(FILES standalone/examples/pingpong.cc DESTINATION share/doc/mrclab/examples)
# The simulator for browsers, where `mrclab export page` has built it.
set(simulator ${CMAKE_BINARY_DIR}/wasm)
install(CODE "if(EXISTS ${simulator}/simulator.js)
  file(INSTALL ${simulator}/simulator.js ${simulator}/simulator.wasm ${simulator}/licences
       DESTINATION \${CMAKE_INSTALL_PREFIX}/lib/mrclab/wasm)
endif()")

# What the program itself writes: manual pages, completion, the dissector; and the links.
set(made ${CMAKE_BINARY_DIR}/packaging)
install(CODE "execute_process(COMMAND ${CMAKE_SOURCE_DIR}/packaging/write_installed ${CMAKE_BINARY_DIR} ${made}
                              COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${made}/ DESTINATION . USE_SOURCE_PERMISSIONS)

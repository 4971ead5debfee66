// libpcap: captures of other formats than pcapng, taps on veths, frames of speakers and of conformance.

#include <pcap/pcap.h>

#include "lazy/lazy_library.h"

namespace {

template <auto Function, class... Arguments>
auto call_pcap(const char* name, Arguments... arguments) {
  return mrclab::late::call_late<Function>(MRCLAB_LIBPCAP, name, arguments...);
}

}  // namespace

pcap_t* pcap_create(const char* device, char* error) {
  return call_pcap<&pcap_create>("pcap_create", device, error);
}
int pcap_activate(pcap_t* pcap) { return call_pcap<&pcap_activate>("pcap_activate", pcap); }
void pcap_close(pcap_t* pcap) { call_pcap<&pcap_close>("pcap_close", pcap); }
char* pcap_geterr(pcap_t* pcap) { return call_pcap<&pcap_geterr>("pcap_geterr", pcap); }
pcap_t* pcap_fopen_offline_with_tstamp_precision(FILE* file, u_int precision, char* error) {
  return call_pcap<&pcap_fopen_offline_with_tstamp_precision>(
      "pcap_fopen_offline_with_tstamp_precision", file, precision, error);
}

int pcap_set_snaplen(pcap_t* pcap, int bytes) {
  return call_pcap<&pcap_set_snaplen>("pcap_set_snaplen", pcap, bytes);
}
int pcap_set_timeout(pcap_t* pcap, int milliseconds) {
  return call_pcap<&pcap_set_timeout>("pcap_set_timeout", pcap, milliseconds);
}
int pcap_set_buffer_size(pcap_t* pcap, int bytes) {
  return call_pcap<&pcap_set_buffer_size>("pcap_set_buffer_size", pcap, bytes);
}
int pcap_set_immediate_mode(pcap_t* pcap, int on) {
  return call_pcap<&pcap_set_immediate_mode>("pcap_set_immediate_mode", pcap, on);
}
int pcap_set_tstamp_precision(pcap_t* pcap, int precision) {
  return call_pcap<&pcap_set_tstamp_precision>("pcap_set_tstamp_precision", pcap, precision);
}
int pcap_setdirection(pcap_t* pcap, pcap_direction_t direction) {
  return call_pcap<&pcap_setdirection>("pcap_setdirection", pcap, direction);
}
int pcap_setnonblock(pcap_t* pcap, int on, char* error) {
  return call_pcap<&pcap_setnonblock>("pcap_setnonblock", pcap, on, error);
}

int pcap_datalink(pcap_t* pcap) { return call_pcap<&pcap_datalink>("pcap_datalink", pcap); }
const char* pcap_datalink_val_to_name(int type) {
  return call_pcap<&pcap_datalink_val_to_name>("pcap_datalink_val_to_name", type);
}
int pcap_get_selectable_fd(pcap_t* pcap) {
  return call_pcap<&pcap_get_selectable_fd>("pcap_get_selectable_fd", pcap);
}
int pcap_stats(pcap_t* pcap, pcap_stat* counted) {
  return call_pcap<&pcap_stats>("pcap_stats", pcap, counted);
}

int pcap_next_ex(pcap_t* pcap, pcap_pkthdr** header, const u_char** bytes) {
  return call_pcap<&pcap_next_ex>("pcap_next_ex", pcap, header, bytes);
}
int pcap_dispatch(pcap_t* pcap, int most, pcap_handler handler, u_char* user) {
  return call_pcap<&pcap_dispatch>("pcap_dispatch", pcap, most, handler, user);
}
int pcap_inject(pcap_t* pcap, const void* frame, size_t bytes) {
  return call_pcap<&pcap_inject>("pcap_inject", pcap, frame, bytes);
}

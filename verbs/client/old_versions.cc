// The other versions of functions: those of libibverbs 1.0 (before 2006), whose objects had another layout, and those of
// IBVERBS_PRIVATE_34, between libibverbs and the drivers of devices. No program of today calls either; those that are
// linked with libmlx5, libefa or librdmacm do not start where one is missing. Each does nothing and fails with ENOSYS.

#include "verbs/client/abi.h"

#define MRCLAB_OLD_POINTERS(X) \
  X(ibv_alloc_pd)              \
  X(ibv_create_ah)             \
  X(ibv_create_cq)             \
  X(ibv_create_qp)             \
  X(ibv_create_srq)            \
  X(ibv_get_device_guid)       \
  X(ibv_get_device_list)       \
  X(ibv_get_device_name)       \
  X(ibv_open_device)           \
  X(ibv_reg_mr)

#define MRCLAB_OLD_NUMBERS(X) \
  X(ibv_ack_async_event)      \
  X(ibv_ack_cq_events)        \
  X(ibv_attach_mcast)         \
  X(ibv_close_device)         \
  X(ibv_dealloc_pd)           \
  X(ibv_dereg_mr)             \
  X(ibv_destroy_ah)           \
  X(ibv_destroy_cq)           \
  X(ibv_destroy_qp)           \
  X(ibv_destroy_srq)          \
  X(ibv_detach_mcast)         \
  X(ibv_free_device_list)     \
  X(ibv_get_async_event)      \
  X(ibv_get_cq_event)         \
  X(ibv_modify_qp)            \
  X(ibv_modify_srq)           \
  X(ibv_query_device)         \
  X(ibv_query_gid)            \
  X(ibv_query_pkey)           \
  X(ibv_query_port)           \
  X(ibv_query_qp)             \
  X(ibv_query_srq)            \
  X(ibv_resize_cq)

#define MRCLAB_DRIVER_POINTERS(X)  \
  X(_verbs_init_and_alloc_context) \
  X(verbs_open_device)

#define MRCLAB_DRIVER_NUMBERS(X)    \
  X(__ioctl_final_num_attrs)        \
  X(__verbs_log)                    \
  X(execute_ioctl)                  \
  X(ibv_cmd_advise_mr)              \
  X(ibv_cmd_alloc_dm)               \
  X(ibv_cmd_alloc_mw)               \
  X(ibv_cmd_alloc_pd)               \
  X(ibv_cmd_attach_mcast)           \
  X(ibv_cmd_close_xrcd)             \
  X(ibv_cmd_create_ah)              \
  X(ibv_cmd_create_counters)        \
  X(ibv_cmd_create_cq)              \
  X(ibv_cmd_create_cq_ex)           \
  X(ibv_cmd_create_flow)            \
  X(ibv_cmd_create_flow_action_esp) \
  X(ibv_cmd_create_qp)              \
  X(ibv_cmd_create_qp_ex)           \
  X(ibv_cmd_create_qp_ex2)          \
  X(ibv_cmd_create_rwq_ind_table)   \
  X(ibv_cmd_create_srq)             \
  X(ibv_cmd_create_srq_ex)          \
  X(ibv_cmd_create_wq)              \
  X(ibv_cmd_dealloc_mw)             \
  X(ibv_cmd_dealloc_pd)             \
  X(ibv_cmd_dereg_mr)               \
  X(ibv_cmd_destroy_ah)             \
  X(ibv_cmd_destroy_counters)       \
  X(ibv_cmd_destroy_cq)             \
  X(ibv_cmd_destroy_flow)           \
  X(ibv_cmd_destroy_flow_action)    \
  X(ibv_cmd_destroy_qp)             \
  X(ibv_cmd_destroy_rwq_ind_table)  \
  X(ibv_cmd_destroy_srq)            \
  X(ibv_cmd_destroy_wq)             \
  X(ibv_cmd_detach_mcast)           \
  X(ibv_cmd_free_dm)                \
  X(ibv_cmd_get_context)            \
  X(ibv_cmd_modify_cq)              \
  X(ibv_cmd_modify_flow_action_esp) \
  X(ibv_cmd_modify_qp)              \
  X(ibv_cmd_modify_qp_ex)           \
  X(ibv_cmd_modify_srq)             \
  X(ibv_cmd_modify_wq)              \
  X(ibv_cmd_open_qp)                \
  X(ibv_cmd_open_xrcd)              \
  X(ibv_cmd_poll_cq)                \
  X(ibv_cmd_post_recv)              \
  X(ibv_cmd_post_send)              \
  X(ibv_cmd_post_srq_recv)          \
  X(ibv_cmd_query_context)          \
  X(ibv_cmd_query_device_any)       \
  X(ibv_cmd_query_mr)               \
  X(ibv_cmd_query_port)             \
  X(ibv_cmd_query_qp)               \
  X(ibv_cmd_query_srq)              \
  X(ibv_cmd_read_counters)          \
  X(ibv_cmd_reg_dm_mr)              \
  X(ibv_cmd_reg_dmabuf_mr)          \
  X(ibv_cmd_reg_mr)                 \
  X(ibv_cmd_req_notify_cq)          \
  X(ibv_cmd_rereg_mr)               \
  X(ibv_cmd_resize_cq)              \
  X(ibv_read_ibdev_sysfs_file)      \
  X(verbs_init_cq)                  \
  X(verbs_register_driver_34)       \
  X(verbs_set_ops)                  \
  X(verbs_uninit_context)

/// From the structs of the kernel's interface, for librdmacm: without /dev/infiniband/rdma_cm it has none.
#define MRCLAB_COPIES(X)         \
  X(ibv_copy_ah_attr_from_kern)  \
  X(ibv_copy_path_rec_from_kern) \
  X(ibv_copy_path_rec_to_kern)   \
  X(ibv_copy_qp_attr_from_kern)

#define MRCLAB_REFUSE_NUMBER(name) \
  MRCLAB_EXPORT int name(void) { return mrclab::verbs::failed(ENOSYS); }
#define MRCLAB_REFUSE_POINTER(name) \
  MRCLAB_EXPORT void* name(void) { return mrclab::verbs::failed_with<void>(ENOSYS); }
#define MRCLAB_OLD_NUMBER(name)           \
  MRCLAB_REFUSE_NUMBER(mrclab_old_##name) \
  __asm__(".symver mrclab_old_" #name ", " #name "@IBVERBS_1.0");
#define MRCLAB_OLD_POINTER(name)           \
  MRCLAB_REFUSE_POINTER(mrclab_old_##name) \
  __asm__(".symver mrclab_old_" #name ", " #name "@IBVERBS_1.0");

extern "C" {

// What the header does not declare.
MRCLAB_OLD_POINTERS(MRCLAB_OLD_POINTER)
MRCLAB_OLD_NUMBERS(MRCLAB_OLD_NUMBER)
MRCLAB_DRIVER_POINTERS(MRCLAB_REFUSE_POINTER)
MRCLAB_DRIVER_NUMBERS(MRCLAB_REFUSE_NUMBER)
MRCLAB_COPIES(MRCLAB_REFUSE_NUMBER)

MRCLAB_EXPORT void mrclab_old_ibv_register_driver(const char*, void*) {}
__asm__(".symver mrclab_old_ibv_register_driver, ibv_register_driver@IBVERBS_1.1");

MRCLAB_EXPORT bool verbs_allow_disassociate_destroy;

}  // extern "C"

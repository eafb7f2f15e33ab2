/* A profiling tool that writes one line for each event. */
#include "../../../../include/ferry/acc_prof.h"
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"none", "init {", "} init", "shutdown {", "} shutdown", "end", "create",
    "delete", "alloc", "free", "enter {", "} enter", "exit {", "} exit", "update {", "} update", "compute {",
    "} compute", "launch {", "} launch", "upload {", "} upload", "download {", "} download", "wait {", "} wait"};

static char heard[1 << 14];
static int is_wrong, opened[64], depth;

static void hear(acc_prof_info *info, acc_event_info *event, acc_api_info *api) {
    int number = info->event_type;
    is_wrong |= info->valid_bytes != sizeof *info || info->version != 202211;
    is_wrong |= event->event_type != info->event_type || info->thread_id == 0;
    is_wrong |= api->device_api != acc_device_api_other || api->device_type != info->device_type;
    char *at = heard + strlen(heard);
    if (number == acc_ev_error) {
        snprintf(at, 400, "error %d: %.20s", event->error_event.error_code, event->error_event.error_message);
        fprintf(stderr, "tool: %s\n", at);
        return;
    }
    at += sprintf(at, "%s", names[number]);
    int has_end = strchr(names[number], '{') != NULL, is_end = strchr(names[number], '}') != NULL;
    if (has_end) { /* the end must find what the begin left */
        opened[depth] = number;
        event->other_event.tool_info = &opened[depth++];
    }
    if (is_end) {
        depth--;
        is_wrong |= event->other_event.tool_info != &opened[depth] || opened[depth] != number - 1;
    }
    if (number == acc_ev_create || number == acc_ev_delete || number == acc_ev_alloc || number == acc_ev_free ||
        (number >= acc_ev_enqueue_upload_start && number <= acc_ev_enqueue_download_end)) {
        is_wrong |= event->data_event.valid_bytes != sizeof event->data_event || !event->data_event.device_ptr;
        is_wrong |= number >= acc_ev_enqueue_upload_start && !event->data_event.host_ptr;
        if (!is_end) at += sprintf(at, " %s %zu", event->data_event.var_name ? event->data_event.var_name : "-", event->data_event.bytes);
    } else if (number == acc_ev_enqueue_launch_start) {
        is_wrong |= event->launch_event.valid_bytes != sizeof event->launch_event;
        at += sprintf(at, " %s %zu", event->launch_event.kernel_name, event->launch_event.num_gangs);
    } else if (has_end) {
        at += sprintf(at, " %s:%d-%d %s:%d-%d construct %d%s device %d queue %d", info->src_file ? info->src_file : "-",
            info->line_no, info->end_line_no, info->func_name ? info->func_name : "-", info->func_line_no,
            info->func_end_line_no, event->other_event.parent_construct, event->other_event.implicit ? " implicit" : "",
            info->device_type == acc_device_not_host ? info->device_number : -1, (int)info->async);
    }
    strcpy(at, "\n");
}

void acc_register_library(acc_prof_reg reg, acc_prof_reg unreg, acc_prof_lookup_func lookup) {
    (void)unreg;
    is_wrong |= lookup("anything") != NULL;
    for (int event = acc_ev_device_init_start; event < acc_ev_last; event++)
        reg((acc_event_t)event, hear, acc_reg);
    reg(acc_ev_error, hear, acc_reg);
}

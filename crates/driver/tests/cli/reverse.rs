//! Regions that kernels hand back: devices without memory that both sides see refuse them, by name.

use super::support::Folder;

#[test]
fn what_cannot_hand_regions_back_is_refused_by_name() {
    let folder = Folder::new();
    folder.write(
        "a.c",
        "#pragma omp requires reverse_offload\nint main(void) { int x = 0;\n\
         #pragma omp target map(tofrom: x)\n{\n#pragma omp target device(ancestor: 1)\n\
         { x++; }\n}\nreturn x; }\n",
    );
    for device in ["opencl:1.2", "hip"] {
        let said = folder.ferry(&["cc", "--device", device, "-c", "a.c"]).err;
        let refusal = format!("goes back to the host cannot be compiled for `{device}` yet");
        assert!(said.contains("error[F0710]") && said.contains(&refusal), "{said}");
    }
}

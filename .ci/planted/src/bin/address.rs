//! Reads memory that was given back.

fn main() {
    let freed = {
        let given = std::hint::black_box(vec![7_u8; 64]);
        given.as_ptr()
    };
    // SAFETY: there is none, which is the point.
    let byte = unsafe { std::hint::black_box(freed).read_volatile() };
    println!("read {byte}, and nobody noticed");
}

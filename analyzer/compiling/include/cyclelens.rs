// Marks code for Cyclelens in Rust: include!("cyclelens.rs"), then
//
//     cyclelens_begin!("dot");
//     for value in values { total += value * value; }
//     cyclelens_end!();
//
// A mark is a name in the object file's table of symbols. It is no instruction and no byte of the program. Put marks
// around a loop, not into it. Names have letters, digits and _.

// The compiler may copy a mark; the first copy counts.
#[allow(unused_macros)]
macro_rules! cyclelens_mark {
    ($what:expr) => {
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!(
                concat!(".ifndef cyclelens.", $what, ".{line}"),
                concat!(".set cyclelens.", $what, ".{line}, ."),
                ".endif",
                line = const line!(),
                options(nostack, preserves_flags)
            )
        }
    };
}

#[allow(unused_macros)]
macro_rules! cyclelens_begin {
    ($name:literal) => {
        cyclelens_mark!(concat!("begin.", $name))
    };
}

#[allow(unused_macros)]
macro_rules! cyclelens_end {
    () => {
        cyclelens_mark!("end")
    };
}

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| holotype_fuzz::queries(bytes));

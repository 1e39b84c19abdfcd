#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| holotype_fuzz::file_image(bytes));

// Most mutations edit a field and make the checksums right again; the others leave that to chance, as a torn write does.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let with_right_checksums = (!seed.is_multiple_of(4))
        .then(|| holotype_fuzz::mutate_image(&mut data[..max_size], size, seed))
        .flatten();
    with_right_checksums.unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});

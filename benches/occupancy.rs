//! Occupancy as library calls and through files: `cargo bench --bench occupancy`.

use divan::{Bencher, black_box, counter::ItemsCount};
use wavecast::{
    gpu::{Catalog, Limits},
    occupancy::{Resources, batch::batch, occupancy},
};

const ROWS: u32 = 200_000;

fn main() {
    divan::main();
}

fn resources(index: u32) -> Resources {
    Resources {
        threads_per_block: 1 + index % 1024,
        registers_per_thread: 16 + index % 200,
        static_shared: index * 37 % 49_152,
        ..Resources::default()
    }
}

#[divan::bench]
fn library_calls(bencher: Bencher) {
    let limits = Limits::Sm(Catalog::embedded().unwrap().limits("9.0".parse().unwrap()).unwrap());
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        (0..ROWS).map(|i| occupancy(black_box(&limits), &resources(i)).blocks_per_sm).fold(0_u32, u32::wrapping_add)
    });
}

#[divan::bench]
fn amd_library_calls(bencher: Bencher) {
    let limits = Limits::Cu(Catalog::embedded().unwrap().compute_unit("gfx942").unwrap());
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        (0..ROWS).map(|i| occupancy(black_box(&limits), &resources(i)).blocks_per_sm).fold(0_u32, u32::wrapping_add)
    });
}

#[divan::bench(sample_count = 20)]
fn through_files(bencher: Bencher) {
    let limits = Catalog::embedded().unwrap().all_limits().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.csv");
    let capabilities = ["7.0", "8.0", "8.6", "8.9", "9.0", "10.0"];
    let mut table = String::from(
        "compute_capability,threads_per_block,registers_per_thread,static_smem_bytes,dynamic_smem_bytes\n",
    );
    for i in 0..ROWS {
        let r = resources(i);
        let capability = capabilities[i as usize % capabilities.len()];
        table += &format!("{capability},{},{},{},0\n", r.threads_per_block, r.registers_per_thread, r.static_shared);
    }
    std::fs::write(&input, table).unwrap();
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        let from = std::fs::File::open(&input).unwrap();
        let to = std::fs::File::create(folder.path().join("out.csv")).unwrap();
        batch(from, to, &limits, &[]).unwrap()
    });
}

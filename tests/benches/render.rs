//! What one call of a section costs: instantiated and rendered in a fresh
//! store, beside the same text made natively.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes the items, and a bench fails by panicking"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use sectile_sandbox::{Call, CompileLimits, Compiler, Facts, Imports, Sandbox, SandboxConfig};
use std::hint::black_box;
use std::sync::Arc;

fn benchmarks(criterion: &mut Criterion) {
    let config = SandboxConfig {
        compiler: Compiler::InProcess,
        cache: None,
        compile_limits: CompileLimits::default(),
    };
    let (sandbox, _) = Sandbox::new(config).expect("the engine starts");
    let plugin = sandbox
        .load(sectile_tests::ATTACKS, Imports::default())
        .expect("the guest loads")
        .plugin;
    let section = plugin.section().expect("it has sections");
    for kib in [1, 64] {
        let text = "0123456789abcde\n".repeat(64 * kib);
        let call = Call {
            facts: Arc::new(Facts {
                query: Some(text.clone()),
                ..Facts::default()
            }),
            ..Call::default()
        };
        let mut group = criterion.benchmark_group(format!("section of {kib} KiB"));
        group.bench_function("native", |b| b.iter(|| black_box(&text).clone()));
        group.bench_function("sandboxed", |b| {
            b.iter(|| {
                section
                    .render("attack/echo", black_box(&call))
                    .result
                    .expect("it renders")
            });
        });
        group.finish();
    }
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);

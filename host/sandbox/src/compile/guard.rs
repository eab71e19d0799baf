//! Ceilings that are checked before any compiler sees the component.

use crate::error::{SandboxError, one_line};
use crate::limits::{CompileLimits, MEMORY_CEILING, TABLE_ELEMENTS};
use wasmparser::{Encoding, Parser, Payload};

#[derive(Default)]
struct Counts {
    functions: u64,
    types: u64,
    modules: u64,
}

/// Refuses what is no component or is above a ceiling of `limits`. Reads the
/// section headers only; whether the code is valid is the compiler's business.
pub(crate) fn check(bytes: &[u8], limits: &CompileLimits) -> Result<(), SandboxError> {
    at_most(
        "bytes of the file",
        bytes.len() as u64,
        limits.component_bytes as u64,
    )?;
    let mut counts = Counts::default();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|e| SandboxError::NotAComponent(one_line(&e.to_string())))?;
        check_payload(&payload, &mut counts, limits)?;
    }
    Ok(())
}

fn check_payload(
    payload: &Payload<'_>,
    counts: &mut Counts,
    limits: &CompileLimits,
) -> Result<(), SandboxError> {
    match payload {
        Payload::Version { encoding, .. } => {
            if counts.modules == 0 && *encoding == Encoding::Module {
                return Err(SandboxError::CoreModule);
            }
            counts.modules += 1;
            at_most(
                "modules and components",
                counts.modules,
                limits.modules.into(),
            )
        }
        Payload::TypeSection(section) => count_types(counts, section.count(), limits),
        Payload::ComponentTypeSection(section) => count_types(counts, section.count(), limits),
        Payload::FunctionSection(section) => {
            counts.functions += u64::from(section.count());
            at_most("functions", counts.functions, limits.functions.into())
        }
        Payload::CodeSectionEntry(body) => {
            let range = body.range();
            at_most(
                "bytes of one function",
                (range.end - range.start) as u64,
                limits.function_bytes as u64,
            )
        }
        Payload::MemorySection(section) => section.clone().into_iter().try_for_each(|memory| {
            let pages = memory.map_err(malformed)?.initial;
            at_most(
                "bytes of initial memory",
                pages.saturating_mul(64 << 10),
                MEMORY_CEILING as u64,
            )
        }),
        Payload::TableSection(section) => section.clone().into_iter().try_for_each(|table| {
            let elements = table.map_err(malformed)?.ty.initial;
            at_most("elements of one table", elements, TABLE_ELEMENTS as u64)
        }),
        _ => Ok(()),
    }
}

fn count_types(counts: &mut Counts, more: u32, limits: &CompileLimits) -> Result<(), SandboxError> {
    counts.types += u64::from(more);
    at_most("types", counts.types, limits.types.into())
}

fn at_most(what: &str, n: u64, limit: u64) -> Result<(), SandboxError> {
    if n <= limit {
        return Ok(());
    }
    Err(SandboxError::CompileRefused {
        what: format!("{n} {what}"),
        limit: limit.to_string(),
    })
}

fn malformed(error: wasmparser::BinaryReaderError) -> SandboxError {
    SandboxError::NotAComponent(one_line(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_wat(wat: &str) -> Result<(), SandboxError> {
        check(&wat::parse_str(wat).unwrap(), &CompileLimits::default())
    }

    fn refused(result: Result<(), SandboxError>) -> String {
        match result.unwrap_err() {
            SandboxError::CompileRefused { what, .. } => what,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn b9_a_core_module_is_told_apart() {
        assert_eq!(check_wat("(module)"), Err(SandboxError::CoreModule));
        assert_eq!(check_wat("(component (core module))"), Ok(()));
    }

    #[test]
    fn b13_random_and_truncated_bytes_are_errors() {
        let whole = wat::parse_str("(component (core module (func)))").unwrap();
        for bytes in [
            &b""[..],
            b"\0asm",
            b"MZ not wasm",
            &whole[..whole.len() - 1],
            &whole[..9],
        ] {
            assert!(
                matches!(
                    check(bytes, &CompileLimits::default()),
                    Err(SandboxError::NotAComponent(_))
                ),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn r3_r4_initial_memory_and_tables_above_the_ceiling_are_refused() {
        assert!(
            refused(check_wat("(component (core module (memory 65536)))"))
                .contains("initial memory")
        );
        assert!(
            refused(check_wat(
                "(component (core module (table 4000000 funcref)))"
            ))
            .contains("one table")
        );
        assert_eq!(
            check_wat("(component (core module (memory 16) (table 100 funcref)))"),
            Ok(())
        );
    }

    #[test]
    fn b1_b2_b6_counts_are_bounded_over_all_modules() {
        let limits = CompileLimits {
            functions: 3,
            types: 9,
            modules: 3,
            ..CompileLimits::default()
        };
        let check = |wat: &str| check(&wat::parse_str(wat).unwrap(), &limits);
        assert_eq!(
            check("(component (core module (func) (func)) (core module (func)))"),
            Ok(())
        );
        assert!(
            refused(check(
                "(component (core module (func) (func)) (core module (func) (func)))"
            ))
            .contains("functions")
        );
        assert!(
            refused(check(
                "(component (core module) (core module) (core module))"
            ))
            .contains("modules")
        );
        let types = "(type (func (param i32)))".repeat(10);
        assert!(refused(check(&format!("(component (core module {types}))"))).contains("types"));
    }

    #[test]
    fn b3_one_huge_function_is_refused() {
        let body = "nop ".repeat(2000);
        let wasm = wat::parse_str(format!("(component (core module (func {body})))")).unwrap();
        let limits = CompileLimits {
            function_bytes: 1000,
            ..CompileLimits::default()
        };
        assert!(refused(super::check(&wasm, &limits)).contains("one function"));
    }
}

//! Attacks with calls into the host.

use crate::sectile::plugin::facts;
use crate::sectile::plugin::host::log;
use crate::sectile::plugin::types::LogLevel;

pub fn log_storm() -> String {
    for n in 0..1_000_000 {
        log(
            LogLevel::Info,
            &format!("line {n}\n{{\"jsonrpc\":\"2.0\"}}"),
        );
    }
    "said it all".into()
}

pub fn print_storm() -> String {
    println!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}");
    eprintln!("\u{1b}]52;c;aGk=\u{7}");
    for _ in 0..100 {
        println!("{}", "x".repeat(100_000));
    }
    "printed".into()
}

pub fn host_call_storm() -> String {
    loop {
        facts::locale();
    }
}

pub fn long_argument() -> String {
    log(LogLevel::Info, &"x".repeat(32 << 20));
    "said it".into()
}

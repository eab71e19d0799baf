//! `wasi:random`: the system's randomness when granted, else one fixed stream.

use crate::error::LimitKind;
use crate::limits::RANDOM_BYTES;
use crate::meter::limit_hit;
use crate::state::CallState;
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

/// Where a call's random bytes come from.
pub(crate) enum Randomness {
    /// Granted: the operating system.
    System,
    /// Not granted: the same bytes in every call.
    Seeded(Box<blake3::OutputReader>),
}

impl Randomness {
    pub(crate) fn new(granted: bool) -> Self {
        if granted {
            return Self::System;
        }
        let seed = blake3::Hasher::new_derive_key("sectile plugin randomness, not granted");
        Self::Seeded(Box::new(seed.finalize_xof()))
    }

    fn fill(&mut self, buffer: &mut [u8]) -> wasmtime::Result<()> {
        match self {
            Self::System => getrandom::fill(buffer).map_err(|e| wasmtime::format_err!("{e}")),
            Self::Seeded(stream) => {
                stream.fill(buffer);
                Ok(())
            }
        }
    }

    fn u64(&mut self) -> wasmtime::Result<u64> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl CallState {
    fn random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        if len > RANDOM_BYTES {
            return Err(limit_hit(LimitKind::RandomBytes, self.meter.limits()).into());
        }
        let mut bytes = vec![0; usize::try_from(len)?];
        self.randomness.fill(&mut bytes)?;
        Ok(bytes)
    }
}

impl random::Host for CallState {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(len)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.randomness.u64()
    }
}

impl insecure::Host for CallState {
    fn get_insecure_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(len)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.randomness.u64()
    }
}

impl insecure_seed::Host for CallState {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((self.randomness.u64()?, self.randomness.u64()?))
    }
}

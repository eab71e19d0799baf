//! What a client over HTTP shows to be let in.

use crate::error::McpError;
use sha2::{Digest, Sha256};
use std::fmt;

/// Fewer characters can be guessed.
const SHORTEST: usize = 16;

/// What a client over HTTP shows to be let in. Kept as its digest, so that the
/// time of a comparison tells nothing about it and no log can show it.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// The token `text`.
    ///
    /// # Errors
    /// [`McpError::Token`] when it is shorter than 16 characters, or when no
    /// header could carry it: visible ASCII alone is allowed.
    pub fn new(text: &str) -> Result<Self, McpError> {
        if text.len() < SHORTEST {
            return Err(McpError::Token("it has fewer than 16 characters"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(McpError::Token(
                "it has other characters than visible ASCII ones",
            ));
        }
        Ok(Self(Sha256::digest(text).into()))
    }

    /// A new one, and its text.
    ///
    /// # Errors
    /// [`McpError::Random`].
    pub fn draw() -> Result<(Self, String), McpError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|e| McpError::Random(e.to_string()))?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((Self::new(&text)?, text))
    }

    /// Whether `shown` is it.
    #[must_use]
    pub fn is(&self, shown: &str) -> bool {
        <[u8; 32]>::from(Sha256::digest(shown)) == self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_is_let_in() {
        let (token, text) = Token::draw().unwrap();
        assert!(token.is(&text));
        assert!(!token.is("") && !token.is(text.split_at(1).1) && !token.is(&format!("{text}0")));
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn a_token_that_can_be_guessed_or_not_be_sent_is_none() {
        for text in ["", "short", "sixteen letters ", "sixteen-letters-ä"] {
            assert!(
                matches!(Token::new(text), Err(McpError::Token(_))),
                "{text}"
            );
        }
        assert!(Token::new("sixteen-letters!").is_ok());
    }
}

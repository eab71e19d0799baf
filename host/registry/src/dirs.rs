//! Where the user's own files lie (XDG).

use crate::RegistryError;
use etcetera::BaseStrategy;
use std::path::PathBuf;

/// Where the user's own files lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// The home directory.
    pub home: PathBuf,
    /// The operator's configuration.
    pub config: PathBuf,
    /// Grants and keys.
    pub data: PathBuf,
    /// What can be made again.
    pub cache: PathBuf,
}

impl Dirs {
    /// As the environment says.
    ///
    /// # Errors
    /// [`RegistryError::NoHome`].
    pub fn from_environment() -> Result<Self, RegistryError> {
        let base = etcetera::base_strategy::Xdg::new()
            .map_err(|e| RegistryError::NoHome(e.to_string()))?;
        Ok(Self {
            home: base.home_dir().to_owned(),
            config: base.config_dir().join("sectile"),
            data: base.data_dir().join("sectile"),
            cache: base.cache_dir().join("sectile"),
        })
    }
}

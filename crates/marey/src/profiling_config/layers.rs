//! The layers on top of one another.

use super::error::Origin;
use super::keys::{KEYS, Key, ProfilingConfig};
use super::layer::Layer;

/// What each source says, the weakest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layers {
    /// A YAML file, or a mapping in its place.
    pub file: Layer,
    /// Variables.
    pub environment: Layer,
    /// The command line.
    pub arguments: Layer,
    /// The call itself.
    pub keywords: Layer,
}

impl Layers {
    /// The finished values.
    pub fn config(&self) -> ProfilingConfig {
        let merged = self.merged();
        let mut config = ProfilingConfig::default();
        for key in KEYS {
            if let Some((setting, _)) = merged.get(key) {
                config.set(key, setting.clone());
            }
        }
        config
    }

    /// Where the finished value of a key comes from.
    pub fn origin(&self, key: &Key) -> Origin {
        self.merged().get(key).map_or(Origin::Default, |(_, origin)| origin.clone())
    }

    fn merged(&self) -> Layer {
        let Self { file, environment, arguments, keywords } = self.clone();
        keywords.over(arguments).over(environment).over(file)
    }
}

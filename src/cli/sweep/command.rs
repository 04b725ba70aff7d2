//! The sweep as one line of a shell: what its results say of where they come from.

use super::{Plan, Space};

/// A word of a shell, quoted where a shell would read it otherwise.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.into() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

impl Space {
    /// The command that gives all rows. Where they go, in how many shards and on how many threads is no part of it, so that
    /// equal rows say the same of themselves.
    pub(super) fn command(&self, plan: &Plan) -> String {
        let mut words = vec!["wavecast".to_owned(), "sweep".into()];
        words.extend(self.file.iter().map(|file| word(&file.display().to_string())));
        let mut add = |option: &str, value: &str| words.extend([option.to_owned(), word(value)]);
        for (option, value) in [("--op", &self.op), ("--kernel", &self.kernel), ("--simulation", &self.simulation)] {
            if let Some(value) = value {
                add(option, value);
            }
        }
        for (option, pairs) in [("--axis", &self.axis), ("--zip", &self.zip), ("--fix", &self.fix)] {
            for (key, value) in pairs {
                add(option, &format!("{key}={value}"));
            }
        }
        for gpu in &self.gpu.gpu {
            add("--gpu", gpu);
        }
        if let Some(folder) = &self.gpu.folder.gpu_dir {
            add("--gpu-dir", &folder.display().to_string());
        }
        for set in &self.gpu.set {
            add("--set", &format!("{}={}", set.key, set.value));
        }
        if let Some(prices) = &self.prices {
            add("--prices", &prices.display().to_string());
        }
        if let (Some(sample), Some(_)) = (plan.sample, self.sample) {
            add("--sample", &sample.count.to_string());
            add("--seed", &sample.seed.to_string());
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(
            (word("m=1:8:x2"), word("a b"), word("it's")),
            ("m=1:8:x2".into(), "'a b'".into(), "'it'\\''s'".into())
        );
    }
}

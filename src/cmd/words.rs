//! `--only` and `--skip`: which figures are meant, by the words of their coordinates. Owns the flags and the matching.

/// Which figures are meant.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Words {
    /// Only figures whose coordinates have every word of one of these, as in `zap,"protobuf read"`.
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Without figures whose coordinates have every word of one of these.
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub skip: Vec<String>,
}

impl Words {
    /// Whether a figure of these coordinates is meant.
    pub fn keep<'a>(&self, at: impl Iterator<Item = &'a str> + Clone) -> bool {
        let has = |words: &String| has_words(at.clone(), words);
        (self.only.is_empty() || self.only.iter().any(has)) && !self.skip.iter().any(has)
    }

    /// The first of `--only` that none of the figures has.
    pub fn unknown<'a, A: Iterator<Item = &'a str>>(&self, figures: impl Fn() -> Vec<A>) -> Option<&str> {
        let is_unknown = |words: &&String| !figures().into_iter().any(|at| has_words(at, words));
        self.only.iter().find(is_unknown).map(String::as_str)
    }
}

fn has_words<'a>(at: impl Iterator<Item = &'a str>, words: &str) -> bool {
    let own: Vec<&str> = at.collect();
    let mut words = words.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| own.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(only: &[&str], skip: &[&str], at: &str) -> bool {
        let all = |words: &[&str]| words.iter().map(|&words| words.to_owned()).collect();
        Words { only: all(only), skip: all(skip) }.keep(at.split(' '))
    }

    #[test]
    fn every_word_of_one_phrase_is_wanted() {
        assert!(keeps(&[], &[], "serialization zap read time"));
        assert!(keeps(&["zap read", "json"], &[], "serialization zap read time"));
        assert!(!keeps(&["zap own", "json"], &[], "serialization zap read time"));
        assert!(!keeps(&["zap"], &[], "serialization zap-builder read time"), "a part of a word is none");
        assert!(!keeps(&["zap"], &["read"], "serialization zap read time"));
        assert!(!keeps(&[""], &[], "serialization zap read time"));
    }

    #[test]
    fn says_what_nothing_has() {
        let words = Words { only: vec!["zap".to_owned(), "nonsense".to_owned()], skip: Vec::new() };
        assert_eq!(words.unknown(|| vec!["latency zap".split(' ')]), Some("nonsense"));
    }
}

//! Blocks between markers in a Markdown file: `<!-- votebench:NAME -->` and `<!-- /votebench:NAME -->`. What stands between
//! them is written by a command from a results file, and a check tells whether somebody typed there.

/// Why a text has no such block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The opening marker is absent.
    #[error("there is no <!-- votebench:{0} -->")]
    NoOpening(String),
    /// The closing marker is absent behind the opening one.
    #[error("<!-- votebench:{0} --> is not closed by <!-- /votebench:{0} -->")]
    NoClosing(String),
    /// Another block's marker stands inside.
    #[error("<!-- votebench:{0} --> holds another block's marker")]
    Interleaved(String),
    /// The opening marker stands there twice.
    #[error("<!-- votebench:{0} --> stands there twice")]
    Twice(String),
}

/// `text` with the block `name` replaced by `content`.
///
/// # Errors
/// Where the markers are not there exactly once.
pub fn replace(text: &str, name: &str, content: &str) -> Result<String, BlockError> {
    let (before, _, after) = part(text, name)?;
    Ok(format!("{before}\n{}\n{after}", content.trim()))
}

/// What stands in the block `name`.
///
/// # Errors
/// Where the markers are not there exactly once.
pub fn block<'a>(text: &'a str, name: &str) -> Result<&'a str, BlockError> {
    part(text, name).map(|(_, inside, _)| inside.trim())
}

fn part<'a>(text: &'a str, name: &str) -> Result<(&'a str, &'a str, &'a str), BlockError> {
    let (opening, closing) = (format!("<!-- votebench:{name} -->"), format!("<!-- /votebench:{name} -->"));
    let start = text.find(&opening).ok_or_else(|| BlockError::NoOpening(name.to_owned()))? + opening.len();
    let end = start + text[start..].find(&closing).ok_or_else(|| BlockError::NoClosing(name.to_owned()))?;
    if text[start..].contains(&opening) {
        return Err(BlockError::Twice(name.to_owned()));
    }
    let inside = &text[start..end];
    if ["<!-- votebench:", "<!-- /votebench:"].iter().any(|marker| inside.contains(marker)) {
        return Err(BlockError::Interleaved(name.to_owned()));
    }
    Ok((&text[..start], inside, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\n<!-- votebench:x -->\nold\n<!-- /votebench:x -->\nb\n";

    #[test]
    fn replaces_only_what_is_inside_and_can_do_it_again() {
        let new = replace(TEXT, "x", "new\nlines\n").unwrap();
        assert_eq!(new, "a\n<!-- votebench:x -->\nnew\nlines\n<!-- /votebench:x -->\nb\n");
        assert_eq!(replace(&new, "x", "new\nlines").unwrap(), new);
        assert_eq!(block(&new, "x").unwrap(), "new\nlines");
    }

    #[test]
    fn says_what_is_wrong_with_the_markers() {
        assert_eq!(replace(TEXT, "y", ""), Err(BlockError::NoOpening("y".to_owned())));
        assert_eq!(replace("<!-- votebench:x -->", "x", ""), Err(BlockError::NoClosing("x".to_owned())));
        assert_eq!(replace(&TEXT.repeat(2), "x", ""), Err(BlockError::Twice("x".to_owned())));
        let interleaved = TEXT.replace("old", "<!-- votebench:y -->");
        assert_eq!(replace(&interleaved, "x", ""), Err(BlockError::Interleaved("x".to_owned())));
    }
}

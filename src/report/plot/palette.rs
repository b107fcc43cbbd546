//! The colours, dashes and shapes of protocols. Owns that a protocol looks alike in every plot, and that no two series of one plot
//! are told apart by colour alone.
//!
//! The colours are those of Okabe and Ito, made darker or lighter where the paper asks for it; the sheet has them (`theme.css`).

use super::marks::{SHAPES, Shape};

/// Who has a colour of their own, in its order; the arms of the HTTP study have those of what they resemble.
const COLOURS: [(&str, usize); 13] = [
    ("zap", 0),
    ("flatbuffers", 1),
    ("capnp", 2),
    ("protobuf", 3),
    ("grpc", 4),
    ("quic-raw", 5),
    ("protobuf-mux", 6),
    ("json-rpc", 7),
    ("floor", 8),
    ("hyper", 4),
    ("pooled-http", 1),
    ("zap-http", 2),
    ("native-zap", 0),
];

/// Dashes that there are.
const DASHES: usize = 4;

/// How a series looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// The classes of its line.
    pub line: String,
    /// The classes of its points.
    pub mark: String,
    /// Their shape.
    pub shape: Shape,
}

/// The styles of one plot's series.
#[derive(Debug, Clone, Default)]
pub struct Palette {
    taken: Vec<usize>,
}

impl Palette {
    /// The style of the next series: a protocol's own colour, and the first dash and shape that no other series of that colour has.
    #[must_use]
    pub fn style(&mut self, protocol: &str) -> Style {
        let colour = colour(protocol);
        let before = self.taken.iter().filter(|taken| **taken == colour).count();
        self.taken.push(colour);
        let (dash, shape) = ((colour + before) % DASHES, SHAPES[(colour + before) % SHAPES.len()]);
        let open = if before > 0 { " open" } else { "" };
        Style { line: format!("series s{colour} d{dash}"), mark: format!("mark s{colour}{open}"), shape }
    }
}

/// A protocol's colour: that of the longest name which it begins with.
fn colour(protocol: &str) -> usize {
    let rest = |name: &str| protocol.strip_prefix(name).map(|rest| rest.is_empty() || rest.starts_with(['-', '+']));
    let own = COLOURS.iter().filter(|(name, _)| rest(name) == Some(true)).max_by_key(|(name, _)| name.len());
    own.map_or(7, |(_, colour)| *colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_have_their_formats_colour_and_another_dash_and_shape() {
        assert_eq!(
            ["zap", "zap+quic", "protobuf", "protobuf-mux-stream", "zap-http", "tobuf"].map(colour),
            [0, 0, 3, 6, 2, 7]
        );
        let mut palette = Palette::default();
        let all: Vec<Style> = ["grpc", "grpc-stream", "grpc-plain"].map(|name| palette.style(name)).into();
        assert!(all.iter().all(|style| style.line.contains("s4")));
        assert!(all[0].line != all[1].line && all[1].line != all[2].line && all[0].shape != all[1].shape);
    }
}

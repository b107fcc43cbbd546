//! Why a request is not answered by the handler: a status and a sentence. Owns every reason that the wires have.

/// A request that is refused. What it says about where the next one starts cannot be trusted, so the connection ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{status}: {why}")]
pub struct Refusal {
    /// The status that it is answered with.
    pub status: u16,
    /// Why.
    pub why: &'static str,
}

impl Refusal {
    /// The message is malformed.
    #[must_use]
    pub const fn bad(why: &'static str) -> Self {
        Self { status: 400, why }
    }

    /// The body is over the limit.
    pub const TOO_LARGE: Self = Self { status: 413, why: "the body is over the limit" };

    /// The head, or the fields behind the body, are over the limit.
    pub const FIELDS_TOO_LARGE: Self = Self { status: 431, why: "the fields are over the limit" };
}

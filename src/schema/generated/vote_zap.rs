//! proto
use ::votebench::zap;

/// view
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vote<'a> {
    section: &'a [u8; 145],
}

impl<'a> Vote<'a> {
    /// Bytes of the fixed section.
    pub const SIZE: usize = 145;
    /// Bytes of a message that holds nothing but this struct.
    pub const MESSAGE_SIZE: usize = zap::HEADER_BYTES + Self::SIZE;

    /// x
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> ::core::result::Result<Self, zap::ViewError> {
        Self::from_message(zap::Message::parse(bytes)?)
    }

    /// x
    #[inline]
    pub fn from_message(message: zap::Message<'a>) -> ::core::result::Result<Self, zap::ViewError> {
        let (_, section) = message.root_section()?;
        ::core::result::Result::Ok(Self { section })
    }
    /// x
    #[inline]
    pub fn parse_exact(bytes: &'a [u8], refused: zap::Flags) -> ::core::option::Option<Self> {
        match zap::Message::exact_root_section(bytes, refused) { Some(section) => Some(Self {section}), None => None }
    }
    /// x
    #[inline]
    pub const fn round(self) -> u64 { u64::from_le_bytes(*zap::layout::part::<0, 8, 145>(self.section)) }
    /// x
    #[inline]
    pub const fn block_hash(self) -> &'a [u8; 32] { zap::layout::part::<8, 32, 145>(self.section) }
    /// x
    #[inline]
    pub const fn voter_id(self) -> &'a [u8; 32] { zap::layout::part::<40, 32, 145>(self.section) }
    /// x
    #[inline]
    pub const fn signature(self) -> &'a [u8; 64] { zap::layout::part::<72, 64, 145>(self.section) }
    /// x
    #[inline]
    pub const fn timestamp(self) -> u64 { u64::from_le_bytes(*zap::layout::part::<136, 8, 145>(self.section)) }
    /// x
    #[inline]
    pub const fn vote_type(self) -> u8 { u8::from_le_bytes(*zap::layout::part::<144, 1, 145>(self.section)) }
}

/// values
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoteFields<'a> {
    /// x
    pub round: u64,
    /// x
    pub block_hash: &'a [u8; 32],
    /// x
    pub voter_id: &'a [u8; 32],
    /// x
    pub signature: &'a [u8; 64],
    /// x
    pub timestamp: u64,
    /// x
    pub vote_type: u8,
}

impl VoteFields<'_> {
    /// x
    #[inline]
    pub fn write(&self, message: &mut [u8; Vote::MESSAGE_SIZE]) {
        zap::layout::put::<0, 16, 161>(message, &zap::layout::header(zap::Version::V1, zap::Flags::NONE, 16, 161));
        zap::layout::put::<16, 8, 161>(message, &self.round.to_le_bytes());
        zap::layout::put::<24, 32, 161>(message, self.block_hash);
        zap::layout::put::<56, 32, 161>(message, self.voter_id);
        zap::layout::put::<88, 64, 161>(message, self.signature);
        zap::layout::put::<152, 8, 161>(message, &self.timestamp.to_le_bytes());
        zap::layout::put::<160, 1, 161>(message, &self.vote_type.to_le_bytes());
    }
}

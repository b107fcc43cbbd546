# One validator's vote on one block.
package vote

type id32  = bytes_fixed[32]
type sig64 = bytes_fixed[64]

struct Vote {
    round      u64   @0
    block_hash id32  @8
    voter_id   id32  @40
    signature  sig64 @72
    timestamp  u64   @136   # nanoseconds since the Unix epoch
    vote_type  u8    @144
}

@0xe8c6847cf7c9f166;
# One validator's vote on one block, byte fields as little-endian 8-byte words: the layout of the variant `capnp-words`.
# Cap'n Proto has no fixed-size arrays, and a Data field is a pointer to a list. With the bytes as sixteen words in the
# struct's own data section there is no pointer left to follow or to check, and no length that could be wrong.

struct Vote {
  round     @0 :UInt64;
  blockHash :group {   # 32 bytes
    w0 @1 :UInt64;
    w1 @2 :UInt64;
    w2 @3 :UInt64;
    w3 @4 :UInt64;
  }
  voterId :group {     # 32 bytes
    w0 @5 :UInt64;
    w1 @6 :UInt64;
    w2 @7 :UInt64;
    w3 @8 :UInt64;
  }
  signature :group {   # 64 bytes
    w0 @9 :UInt64;
    w1 @10 :UInt64;
    w2 @11 :UInt64;
    w3 @12 :UInt64;
    w4 @13 :UInt64;
    w5 @14 :UInt64;
    w6 @15 :UInt64;
    w7 @16 :UInt64;
  }
  timestamp @17 :UInt64;   # nanoseconds since the Unix epoch
  voteType  @18 :UInt8;
}

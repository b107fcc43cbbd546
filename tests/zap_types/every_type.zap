# Every type of the language, in every place, under names that Rust wants otherwise.
package every_type

type Id    = bytes_fixed[32]   # of anything
type Many  = list<Pair>
type Again = Many

# Two numbers, and [nothing] *else* <b>: `no` slot \ leads out.
struct Pair {
    Left  u16 @0
    Right i64 @6   # two bytes behind `Left`: zeros
}

struct every_scalar {
    bool   bool @0
    aByte  u8   @1
    type   u16  @2
    self   u32  @4
    HTTPId u64  @8
    i_8    i8   @16
    i_16   i16  @18
    i_32   i32  @20
    i_64   i64  @24
    parse  f32  @32
    fn     f64  @40
    id     Id   @48
}

# Bytes and texts only: can be appended.
struct Tails {
    note  text  @12   # out of order
    flag  bool  @8
    data  bytes @0
}

struct Option {
    next      Option              @0
    scalars   every_scalar        @4
    bools     list<bool>          @8
    u16s      list<u16>           @16
    f64s      list<f64>           @24
    ids       list<Id>            @32
    pairs     Again               @40
    tails     list<Tails>         @48
    texts     list<text>          @56
    blobs     list<bytes>         @64
    lists     list<list<u8>>      @72
    round     u64                 @80
    texts_    text                @88
    Texts     text                @96
}

struct Empty { }
struct OptionFields { id Id @0 }

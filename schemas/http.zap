# The HTTP study's messages: the native one, and the two frames of ZAP-HTTP.
package http

# Request and response alike.
struct NativeMessage {
    body    bytes       @0
    headers list<bytes> @8    # name and value alternately; written before the object
    status  u32         @16   # 0 in a request
    reserved u32        @20   # always 0: the object has 24 bytes
}

# Message type 1, which is in the high byte of the header's flags.
struct Request {
    method  text  @0
    target  text  @8
    proto   text  @16
    headers bytes @24   # count u32, then per pair name length u32, name, value length u32, value; no pairs: absent
    body    bytes @32
    trailer bytes @40   # as headers
}

# Message type 2.
struct Response {
    status  u16   @0
    reason  text  @8
    proto   text  @16
    headers bytes @24   # as in a request
    body    bytes @32
    trailer bytes @40   # as headers
}

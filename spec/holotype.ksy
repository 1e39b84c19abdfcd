meta:
  id: holotype
  title: Holotype store
  file-extension: holo
  endian: le
  bit-endian: le
doc: |
  The file of a Holotype store, format 3.0. `format.md` is the authority; the clauses named here are its clauses.

  This language computes no checksums. So it can say what a frame or an index record is made of, and not for certain where one stands: a place that was
  used before may hold older frames behind those that count, and between them. `units` of a log segment takes for a frame whatever looks like one; a
  reader that wants to be sure verifies the checksums, as `ksy/check.js` does.
doc-ref: format.md
seq:
  - id: slot_a
    type: slot
    size: 4096
  - id: slot_b
    type: slot
    size: 4096
  - id: reserved
    size: 8192
    doc: Zero (F-2.1).
  - id: segments
    type: segment
    size: '_io.size - _io.pos < newest.segment_bytes ? _io.size - _io.pos : newest.segment_bytes'
    repeat: eos
instances:
  newest:
    value: 'slot_b.is_ours and (not slot_a.is_ours or slot_b.generation > slot_a.generation) ? slot_b : slot_a'
    doc: The valid slot of the higher generation (F-3.3), as far as that can be told without the checksum.
types:
  slot:
    doc: Superblock slot (F-3.1).
    seq:
      - id: magic
        size: 8
      - id: major
        type: u2
      - id: minor
        type: u2
      - id: checksum_kind
        type: u1
      - id: reserved_1
        size: 3
      - id: incompatible
        type: u8
      - id: read_only_compatible
        type: u8
      - id: compatible
        type: u8
      - id: sector
        type: u4
      - id: segment_bytes
        type: u4
      - id: lineage
        size: 16
      - id: instance
        size: 16
      - id: application_id
        type: u4
      - id: user_version
        type: u4
      - id: quota
        type: u8
      - id: encryption
        size: 256
      - id: generation
        type: u8
      - id: incarnation
        type: u4
      - id: clean
        type: b1
      - id: reserved_flags
        type: b31
      - id: durable_lsn
        type: lsn
      - id: file_len
        type: u8
      - id: checkpoints
        type: checkpoint_ref
        repeat: expr
        repeat-expr: 2
      - id: reserved_2
        size: 28
      - id: crc
        type: u4
    instances:
      is_ours:
        value: magic == [0x48, 0x4f, 0x4c, 0x4f, 0x54, 0x59, 0x50, 0x45]
  checkpoint_ref:
    doc: Checkpoint reference (F-3.2). An LSN of 0 stands for no checkpoint.
    seq:
      - id: lsn
        type: lsn
      - id: root_physical
        type: u4
        doc: Of the last part of the root, as are the next two.
      - id: root_offset
        type: u4
      - id: root_crc
        type: u4
      - id: replay_physical
        type: u4
      - id: replay_sequence
        type: u8
      - id: replay_offset
        type: u4
      - id: root_len
        type: u4
      - id: replay_lsn
        type: lsn
  lsn:
    doc: A u64, the high half of which is the incarnation (F-1.5).
    seq:
      - id: count
        type: u4
      - id: incarnation
        type: u4
  segment:
    seq:
      - id: header
        type: segment_header
        size: 64
        if: _io.size >= 64
    instances:
      units:
        pos: _root.newest.sector
        type: unit
        repeat: eos
        if: header.kind == segment_kind::log
        doc: Frames, and what lies between them (F-5.2, F-5.3).
  segment_header:
    doc: Segment header (F-4.1).
    seq:
      - id: magic
        size: 4
      - id: kind
        type: u1
        enum: segment_kind
      - id: codec
        type: u1
      - id: flags
        type: u2
      - id: sequence
        type: u8
      - id: first_lsn
        type: lsn
      - id: durable_lsn
        type: lsn
      - id: prev_end
        type: u4
      - id: next
        type: u4
        doc: 0xFFFFFFFF is none.
      - id: after
        type: u4
        doc: 0xFFFFFFFF is none.
      - id: lineage
        size: 16
      - id: crc
        type: u4
  unit:
    doc: A frame, or eight bytes that are none.
    seq:
      - id: frame
        type: frame
        if: is_frame
      - id: gap
        size: 'rest < 8 ? rest : 8'
        if: not is_frame
      - id: padding
        size: 'is_frame ? (8 - _io.pos % 8) % 8 : 0'
        doc: A frame ends at a multiple of 8 (F-5.2).
    instances:
      start:
        value: _io.pos
      rest:
        value: _io.size - start
      checksums:
        pos: start
        type: u4
        repeat: expr
        repeat-expr: 2
      count:
        pos: start + 8
        type: u4
      body_len:
        pos: start + 20
        type: u4
      flags:
        pos: start + 26
        type: u2
      is_frame:
        value: rest >= 32 and (checksums[0] != 0 or checksums[1] != 0) and count != 0 and body_len <= rest - 32 and flags < 8
  frame:
    doc: Frame (F-5.1).
    seq:
      - id: header
        type: frame_header
      - id: body
        size: header.body_len
        type: records
  frame_header:
    seq:
      - id: header_crc
        type: u4
      - id: body_crc
        type: u4
      - id: lsn
        type: lsn
      - id: durable_lag
        type: u4
        doc: 0xFFFFFFFF states nothing (F-5.4).
      - id: body_len
        type: u4
      - id: part
        type: b15
      - id: last
        type: b1
      - id: flags
        type: u2
        doc: Bit 0 opening, 1 watermark, 2 system commit, 3 encrypted.
      - id: record_count
        type: u4
  records:
    seq:
      - id: list
        type: record
        repeat: expr
        repeat-expr: _parent.header.record_count
  record:
    doc: Record (F-6.1).
    seq:
      - id: crc
        type: u4
      - id: kind
        type: u1
        enum: record_kind
      - id: flags
        type: u1
      - id: length
        type: varint
      - id: fields
        type: record_fields
        size: length.value
    instances:
      flag_bits:
        value: 'kind.to_i < 128 ? flags : 0'
        doc: What the flags of a kind of 128 or more mean is for those who know it (F-6.3).
  record_fields:
    seq:
      - id: collection
        type: varint
      - id: commit
        type: varint
      - id: own_lsn
        type: lsn
        if: _parent.kind == record_kind::relocated_put
      - id: replaces
        type: replaced_version
        if: (_parent.flag_bits & 1) != 0
      - id: expiry
        type: s8
        if: (_parent.flag_bits & 2) != 0
      - id: extension
        type: extension
        if: (_parent.flag_bits & 4) != 0
      - id: key
        type: cbor_key
        if: _parent.kind == record_kind::put or _parent.kind == record_kind::delete or _parent.kind == record_kind::relocated_put or _parent.kind == record_kind::chunk
      - id: body
        size-eos: true
        type:
          switch-on: '(_parent.flag_bits & 8) != 0 ? 1000 : _parent.kind.to_i'
          cases:
            4: chunk
            6: segment_freed
            7: opening
            8: commit_time
            1000: chunk_list
    instances:
      is_chunked:
        value: (_parent.flag_bits & 8) != 0
  replaced_version:
    doc-ref: format.md F-6.6
    seq:
      - id: value
        type: varint
      - id: num_ended
        type: varint
        if: is_chunked
      - id: ended
        type: ended_chunks
        repeat: expr
        repeat-expr: num_ended.value
        if: is_chunked
    instances:
      is_chunked:
        value: (value.value & 2) != 0
      is_relocated:
        value: (value.value & 1) != 0
      address:
        value: value.value >> 2
  ended_chunks:
    seq:
      - id: sequence
        type: varint
      - id: count
        type: varint
  extension:
    seq:
      - id: len
        type: varint
      - id: bytes
        size: len.value
  chunk:
    seq:
      - id: number
        type: varint
      - id: bytes
        size-eos: true
  segment_freed:
    seq:
      - id: sequence
        type: u8
      - id: physical
        type: u4
  opening:
    doc: Opening record (F-6.5).
    seq:
      - id: last
        type: lsn
      - id: end
        type: u8
  commit_time:
    seq:
      - id: milliseconds
        type: s8
  chunk_list:
    doc: Chunk list (F-6.7).
    seq:
      - id: document_len
        type: varint
      - id: count
        type: varint
      - id: addresses
        type: u8
        repeat: expr
        repeat-expr: count.value
  cbor_key:
    doc: A key (encoding.md); an int, text or bytes, in deterministic CBOR.
    seq:
      - id: head
        type: u1
      - id: long
        type:
          switch-on: head & 31
          cases:
            24: u1
            25: u2be
            26: u4be
            27: u8be
        if: (head & 31) >= 24
      - id: payload
        size: argument
        if: major >= 2
    instances:
      major:
        value: head >> 5
        doc: 0 an int, 1 a negative int, 2 bytes, 3 text.
      argument:
        value: '(head & 31) < 24 ? (head & 31) : long.as<u8>'
      int:
        value: 'major == 0 ? argument : -1 - argument'
  index_record:
    doc: Index record (F-8.11). It begins at a multiple of 8 of an index segment.
    seq:
      - id: crc
        type: u4
      - id: kind
        type: u1
        enum: index_kind
      - id: flags
        type: u1
      - id: length
        type: varint
      - id: fields
        type: index_record_fields
        size: length.value
  index_record_fields:
    seq:
      - id: collection
        type: varint
      - id: commit
        type: varint
        doc: Its LSN is so many behind the first LSN of the segment's header.
      - id: body
        size-eos: true
        type:
          switch-on: _parent.kind
          cases:
            'index_kind::leaf': leaf
            'index_kind::directory': directory
            'index_kind::root': root_part
            'index_kind::patch': patch
  root_part:
    doc: Part of a root (F-8.7). The bytes of all parts are a map of CBOR, which this language does not take apart.
    seq:
      - id: number
        type: varint
      - id: before
        type: reference
        if: number.value != 0
      - id: bytes
        size-eos: true
  directory:
    doc: Directory page (F-8.13). A tree of the root has the same entries.
    seq:
      - id: entries
        type: directory_entry
        repeat: eos
  directory_entry:
    seq:
      - id: key
        type: cbor_key
      - id: place
        type: reference
      - id: count
        type: varint
      - id: age
        type: varint
        doc: The LSN of the record that has the entry, less that of the record that it leads to.
      - id: patch
        type: patch_entry
        if: count.value == 0
  patch_entry:
    doc: What an entry that leads to a leaf says of the patch over it (F-8.13).
    seq:
      - id: count
        type: varint
      - id: own_count
        type: varint
      - id: place
        type: reference
      - id: age
        type: varint
  reference:
    doc: Reference to an index record (F-8.12).
    seq:
      - id: physical
        type: varint
      - id: offset
        type: varint
      - id: len
        type: varint
      - id: crc
        type: u4
  table_row:
    doc: Row of the segment table (F-8.6).
    seq:
      - id: sequence
        type: u8
      - id: physical
        type: u4
      - id: end
        type: u4
      - id: first_lsn
        type: lsn
      - id: freed
        type: lsn
      - id: record_count
        type: u4
      - id: record_bytes
        type: u4
  stretch_row:
    doc: Row of the stretches (F-8.14).
    seq:
      - id: sequence
        type: u8
      - id: offset
        type: u4
      - id: first_lsn
        type: lsn
  live_row:
    doc: Row of the live records (F-8.15).
    seq:
      - id: sequence
        type: u8
      - id: collection
        type: u4
      - id: count
        type: u4
  leaf:
    doc: Leaf (F-8.4).
    seq:
      - id: entries
        type: leaf_entry
        repeat: eos
  patch:
    doc: Patch over a leaf (F-8.16).
    seq:
      - id: removed_count
        type: varint
      - id: put_count
        type: varint
      - id: removed
        type: cbor_key
        repeat: expr
        repeat-expr: removed_count.value
      - id: entries
        type: leaf_entry
        repeat: eos
  leaf_entry:
    seq:
      - id: t
        type: varint
      - id: int_zigzag
        type: varint
        if: t.value == 1
      - id: payload_len
        type: varint
        if: is_payload
      - id: payload
        size: payload_len.value
        if: is_payload
      - id: value_zigzag
        type: varint
    instances:
      is_payload:
        value: t.value % 2 == 1 and t.value != 1
  varint:
    doc: Unsigned LEB128 (F-1.2). Sums and products, so that it is exact where numbers have 53 bits.
    seq:
      - id: groups
        type: group
        repeat: until
        repeat-until: not _.has_next
    instances:
      len:
        value: groups.size
      low:
        value: 'groups[0].bits + (len > 1 ? groups[1].bits * 0x80 : 0) + (len > 2 ? groups[2].bits * 0x4000 : 0) + (len > 3 ? groups[3].bits * 0x200000 : 0)'
      middle:
        value: '(len > 4 ? groups[4].bits : 0) + (len > 5 ? groups[5].bits * 0x80 : 0) + (len > 6 ? groups[6].bits * 0x4000 : 0) + (len > 7 ? groups[7].bits * 0x200000 : 0)'
      high:
        value: '(len > 8 ? groups[8].bits : 0) + (len > 9 ? groups[9].bits * 0x80 : 0)'
      value:
        value: low + middle * 0x10000000 + high * 0x100000000000000
  group:
    seq:
      - id: bits
        type: b7
      - id: has_next
        type: b1
enums:
  segment_kind:
    1: log
    2: index
    3: blob
    4: index_run
  record_kind:
    0: invalid
    1: put
    2: delete
    3: relocated_put
    4: chunk
    5: catalog
    6: segment_freed
    7: opening
    8: commit_time
  index_kind:
    16: leaf
    17: directory
    18: root
    19: patch

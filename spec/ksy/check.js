#!/usr/bin/env node
// Compiles holotype.ksy, takes stores apart with what comes out, and holds every field against `holotype inspect --json`. Then it does so with
// a field moved or widened in the text, one at a time: each time there must be a difference, or the comparison would show nothing.
//
//   node check.js HOLOTYPE STORE...

"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const compiler = require("kaitai-struct-compiler");
const { KaitaiStream } = require("kaitai-struct");
const yaml = require("js-yaml");

const TEXT = fs.readFileSync(path.join(__dirname, "..", "holotype.ksy"), "utf8");

// What is to be noticed: a piece of the description, and what takes its place, where it first stands behind the third.
const CHANGES = [
  ["type: u2\n      - id: minor", "type: u4\n      - id: minor", "  slot:"],
  ["size: 256", "size: 248", "  slot:"],
  ["type: u4\n      - id: replay_physical", "type: u2\n      - id: replay_physical", "  checkpoint_ref:"],
  ["- id: count\n        type: u4\n      - id: incarnation", "- id: incarnation\n        type: u4\n      - id: count", "  lsn:"],
  ["- id: next\n        type: u4\n        doc: 0xFFFFFFFF is none.\n      - id: after", "- id: after\n        type: u4\n        doc: 0xFFFFFFFF is none.\n      - id: next", "  segment_header:"],
  ["type: b15", "type: b14", "  frame_header:"],
  ["- id: durable_lag\n        type: u4", "- id: durable_lag\n        type: u8", "  frame_header:"],
  ["pos: start + 20", "pos: start + 16", "  unit:"],
  ["- id: collection\n        type: varint", "- id: collection\n        type: u2", "  record_fields:"],
  ["3: relocated_put", "9: relocated_put", "  record_kind:"],
  ["value: value.value >> 2", "value: value.value >> 1", "  replaced_version:"],
  ["head >> 5", "head >> 4", "  cbor_key:"],
  ["type: b7", "type: b6", "  group:"],
  ["- id: flags\n        type: u1\n      - id: length", "- id: length", "  index_record:"],
  ["- id: collection\n        type: varint\n      - id: commit", "- id: commit\n        type: varint\n      - id: collection", "  index_record_fields:"],
  ["if: number.value != 0", "if: number.value > 1", "  root_part:"],
  ["- id: count\n        type: varint\n      - id: age", "- id: age\n        type: varint\n      - id: count", "  directory_entry:"],
  ["- id: own_count\n        type: varint\n      - id: place", "- id: place", "  patch_entry:"],
  ["- id: physical\n        type: varint\n      - id: offset", "- id: offset\n        type: varint\n      - id: physical", "  reference:"],
  ["- id: physical\n        type: u4\n      - id: end", "- id: end\n        type: u4\n      - id: physical", "  table_row:"],
  ["- id: offset\n        type: u4", "- id: offset\n        type: u8", "  stretch_row:"],
  ["- id: collection\n        type: u4\n      - id: count", "- id: count\n        type: u4\n      - id: collection", "  live_row:"],
  ["17: directory", "20: directory", "  index_kind:"],
  ["value: t.value % 2 == 1 and t.value != 1", "value: t.value % 2 == 1", "  leaf_entry:"],
];

async function parserOf(text) {
  const files = await compiler.compile("javascript", yaml.load(text), null, false);
  const loaded = { exports: {} };
  new Function("exports", "module", "require", files["Holotype.js"])(loaded.exports, loaded, require);
  return loaded.exports.Holotype;
}

// CRC-32C, as F-1.3 has it.
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0x82f63b78 : n >>> 1;
  return n >>> 0;
});
function crc(...parts) {
  let state = 0xffffffff;
  for (const part of parts) for (const byte of part) state = TABLE[(state ^ byte) & 0xff] ^ (state >>> 8);
  return (state ^ 0xffffffff) >>> 0;
}
const u32 = value => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(value); return bytes; };
const u64 = value => { const bytes = Buffer.alloc(8); bytes.writeBigUInt64LE(BigInt(value)); return bytes; };

const hex = bytes => Buffer.from(bytes).toString("hex");
const pair = lsn => [lsn.incarnation, lsn.count];
const index = value => (value === 0xffffffff ? null : value);
const none = value => (value === undefined ? null : value);

// One store, taken apart by the description: as much of the shape of `inspect --json` as it can tell.
function takeApart(Holotype, bytes, found) {
  const file = new Holotype(new KaitaiStream(toArrayBuffer(bytes)));
  const parsed = { superblocks: [], segments: [], fields: 0 };
  [file.slotA, file.slotB].forEach((slot, at) => {
    if (found.superblocks[at].state === "valid") parsed.superblocks[at] = slotFields(slot);
  });
  found.superblocks.filter(slot => slot.newest).forEach(({ slot }) => {
    const named = (slot === "A" ? file.slotA : file.slotB).checkpoints;
    found.checkpoints.forEach(({ problem }, at) => { if (problem === null) parsed.fields += walkCheckpoint(Holotype, file, bytes, named[at]); });
  });
  file.segments.forEach((segment, physical) => {
    const shown = found.segments[physical];
    if (shown === undefined) throw new Error("a segment that inspect does not show");
    parsed.segments.push(takeSegment(Holotype, file, segment, shown, bytes.subarray(shown.at, shown.at + shown.len)));
  });
  return parsed;
}

function toArrayBuffer(bytes) {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

function slotFields(slot) {
  const reference = named => pair(named.lsn).every(half => half === 0) ? null : {
    lsn: pair(named.lsn), root_physical: named.rootPhysical, root_offset: named.rootOffset, root_crc: named.rootCrc, root_len: named.rootLen,
    replay_physical: named.replayPhysical, replay_sequence: named.replaySequence, replay_offset: named.replayOffset,
    replay_lsn: pair(named.replayLsn),
  };
  return {
    minor: slot.minor, incompatible: slot.incompatible, read_only_compatible: slot.readOnlyCompatible, compatible: slot.compatible,
    sector: slot.sector, segment_bytes: slot.segmentBytes, lineage: hex(slot.lineage), instance: hex(slot.instance),
    application_id: slot.applicationId, user_version: slot.userVersion, quota: slot.quota, generation: slot.generation,
    incarnation: slot.incarnation, clean: Boolean(slot.clean), durable_lsn: pair(slot.durableLsn), file_len: slot.fileLen,
    checkpoints: slot.checkpoints.map(reference),
  };
}

function takeSegment(Holotype, file, segment, shown, bytes) {
  const { header } = segment;
  const taken = { header: null, frames: [], index_records: [] };
  const isHeader = crc(u32(shown.physical), bytes.subarray(0, 60)) === (header && header.crc) && hex(header.lineage) === hex(file.newest.lineage);
  if (isHeader) {
    taken.header = {
      kind: Holotype.SegmentKind[header.kind].toLowerCase(), sequence: header.sequence, first_lsn: pair(header.firstLsn),
      durable_lsn: pair(header.durableLsn), prev_end: header.prevEnd, next: index(header.next), after: index(header.after),
    };
    if (header.kind === Holotype.SegmentKind.INDEX) taken.index_records = indexRecordsOf(Holotype, file, header, shown.physical, bytes);
  }
  if (shown.sequence !== null && (isHeader ? header.kind === Holotype.SegmentKind.LOG : true)) {
    taken.frames = framesOf(Holotype, file, shown.sequence, bytes);
  }
  // Where nothing was left behind by an earlier use, the description finds the frames by itself.
  const isFresh = shown.state !== "free" && !["torn", "leftover", "damaged", "free"].some(use => shown.bytes[use]);
  if (isHeader && header.kind === Holotype.SegmentKind.LOG && isFresh) {
    taken.walked = segment.units.filter(unit => unit.isFrame).map(unit => unit.start);
  }
  return taken;
}

// Every place of a frame whose header's checksum holds, and whose records the description can take apart.
function framesOf(Holotype, file, sequence, bytes) {
  const frames = [];
  const seed = [file.newest.lineage, u64(sequence)];
  for (let at = file.newest.sector; at + 32 <= bytes.length; ) {
    const header = bytes.subarray(at, at + 32);
    if (header.readUInt32LE(8) === 0 || crc(...seed, u32(at), header.subarray(4)) !== header.readUInt32LE(0)) {
      at += 8;
      continue;
    }
    const end = at + 32 + header.readUInt32LE(20);
    const whole = end <= bytes.length ? frameOf(Holotype, file, bytes.subarray(at, end), at) : null;
    if (whole !== null) frames.push(whole);
    at = whole === null || !isWhole(file, sequence, whole, bytes) ? at + 8 : (end + 7) & ~7;
  }
  return frames;
}

function isWhole(file, sequence, frame, bytes) {
  const seed = [file.newest.lineage, u32(frame.lsn[0]), u64(sequence)];
  return frame.records !== null && frame.records.every(record =>
    crc(...seed, u32(record.offset), bytes.subarray(record.offset + 4, record.offset + record.len)) === record.crc);
}

function frameOf(Holotype, file, bytes, at) {
  const stream = new KaitaiStream(toArrayBuffer(bytes));
  const header = new Holotype.FrameHeader(stream, null, file);
  const frame = {
    offset: at, len: (32 + header.bodyLen + 7) & ~7, body_crc: header.bodyCrc, lsn: pair(header.lsn), durable_lag: header.durableLag,
    body_len: header.bodyLen, part: header.part, last: Boolean(header.last), flags: header.flags, record_count: header.recordCount,
    records: [],
  };
  try {
    let offset = at + 32;
    for (const record of new Holotype.Frame(new KaitaiStream(toArrayBuffer(bytes)), null, file).body.list) {
      const taken = recordOf(Holotype, record, offset);
      frame.records.push(taken);
      offset += taken.len;
    }
  } catch (error) {
    frame.records = null; // a torn body
  }
  return frame;
}

function recordOf(Holotype, record, offset) {
  const { fields } = record;
  const key = fields.key === undefined ? null
    : fields.key.major === 3 ? { text: Buffer.from(fields.key.payload).toString("utf8") }
    : fields.key.major === 2 ? { bytes: hex(fields.key.payload) }
    : { int: fields.key.int };
  const bodyAt = (fields._io.size - (fields._raw_body ? fields._raw_body.length : fields.body.length));
  return {
    offset, len: 6 + record.length.len + record.length.value, crc: record.crc, kind_byte: record.kind,
    kind: Holotype.RecordKind[record.kind] === undefined ? (record.kind < 128 ? "reserved" : "skippable") : Holotype.RecordKind[record.kind].toLowerCase(),
    collection: fields.collection.value, commit: fields.commit.value, own_lsn: fields.ownLsn === undefined ? null : pair(fields.ownLsn),
    replaces: fields.replaces === undefined ? null : replacedOf(fields.replaces), expiry: none(fields.expiry), chunked: fields.isChunked,
    key, body_len: record.length.value - bodyAt,
  };
}

function replacedOf(version) {
  const { address, isRelocated: relocated, isChunked: chunked } = version;
  return { address, relocated, chunked, ended: (version.ended || []).map(({ sequence, count }) => [sequence.value, count.value]) };
}

// Every place of an index record whose checksum holds; its commit says of which checkpoint it is.
function indexRecordsOf(Holotype, file, header, physical, bytes) {
  const records = [];
  for (let at = file.newest.sector; at + 9 <= bytes.length; at += 8) {
    const rest = bytes.subarray(at);
    if (rest[4] < 16 || rest[4] > 19) continue;
    try {
      const record = new Holotype.IndexRecord(new KaitaiStream(toArrayBuffer(rest)), null, file);
      const len = 6 + record.length.len + record.length.value;
      const lsn = [header.firstLsn.incarnation, header.firstLsn.count + record.fields.commit.value];
      if (lsn[1] > 0xffffffff || crc(file.newest.lineage, u32(physical), u32(lsn[1]), u32(lsn[0]), u32(at), rest.subarray(4, len)) !== record.crc) continue;
      records.push({
        offset: at, len, crc: record.crc, kind: Holotype.IndexKind[record.kind].toLowerCase(), collection: record.fields.collection.value, lsn,
      });
    } catch (error) {
      continue; // what stands there is no index record
    }
  }
  return records;
}

// From the reference of a slot to the last key: each record is what the reference to it says. How many values were held against others.
function walkCheckpoint(Holotype, file, bytes, named) {
  const { segmentBytes, lineage } = file.newest;
  const lsn = BigInt(named.lsn.incarnation) * 0x100000000n + BigInt(named.lsn.count);
  let values = 0;
  const same = (what, mine, theirs) => { values += compare(`the checkpoint of ${pair(named.lsn)}: ${what}`, mine, theirs); };
  const read = (place, kind, tree, lsn) => {
    const at = 16384 + place.physical * segmentBytes + place.offset;
    const raw = bytes.subarray(at, at + place.len);
    const record = new Holotype.IndexRecord(new KaitaiStream(toArrayBuffer(raw)), null, file);
    const found = { kind: record.kind, flags: record.flags, tree: record.fields.collection.value, len: 6 + record.length.len + record.length.value, crc: record.crc };
    same(`the record at ${at}`, found, { kind, flags: 0, tree, len: place.len, crc: place.crc });
    same(`the checksum at ${at}`, crc(lineage, u32(place.physical), u64(lsn), u32(place.offset), raw.subarray(4)), place.crc);
    return record.fields.body;
  };
  const plain = place => ({ physical: place.physical.value, offset: place.offset.value, len: place.len.value, crc: place.crc });
  const all = (type, raw, width) => {
    same(`the rows of ${type}`, raw.length % width, 0);
    return Array.from({ length: raw.length / width }, (_, at) => new Holotype[type](new KaitaiStream(toArrayBuffer(raw.subarray(at * width, (at + 1) * width))), null, file));
  };
  const sum = entries => entries.reduce((total, { count }) => total + count.value, 0);

  const parts = [];
  for (let place = { physical: named.rootPhysical, offset: named.rootOffset, len: named.rootLen, crc: named.rootCrc }; place !== undefined; ) {
    const part = read(place, Holotype.IndexKind.ROOT, 0, lsn);
    parts.unshift(Buffer.from(part.bytes));
    place = part.before && plain(part.before);
  }
  const root = cbor(Buffer.concat(parts));
  for (const { id, tree, count } of [...root.catalog, ...root.indexes]) {
    const top = new Holotype.Directory(new KaitaiStream(toArrayBuffer(tree)), null, file).entries;
    same(`the keys of ${id}`, sum(top), count);
    for (const page of top) {
      // An age counts from the record that has the entry.
      const lsnOfPage = lsn - BigInt(page.age.value);
      const { entries } = read(plain(page.place), Holotype.IndexKind.DIRECTORY, id, lsnOfPage);
      // With a patch over it, a leaf has another count than its record.
      const counts = entries.map(({ count, patch }) => ({ count: patch ? patch.count : count }));
      same(`the keys of a page of ${id}`, sum(counts), page.count.value);
      for (const { place, count, age, patch } of entries) {
        const leaf = read(plain(place), Holotype.IndexKind.LEAF, id, lsnOfPage - BigInt(age.value));
        same(`the keys of a leaf of ${id}`, leaf.entries.length, patch ? patch.ownCount.value : count.value);
        if (!patch) continue;
        const over = read(plain(patch.place), Holotype.IndexKind.PATCH, id, lsnOfPage - BigInt(patch.age.value));
        same(`the keys that a patch of ${id} puts`, over.entries.length, over.putCount.value);
      }
    }
  }
  const rows = all("TableRow", root.table, 40);
  const table = new Map(rows.map(row => [row.sequence, row]));
  for (const { sequence, physical, firstLsn, freed } of rows) {
    if (pair(freed).some(half => half !== 0) || sequence === 0) continue;
    const { header } = file.segments[physical];
    same(`segment ${sequence}`, [header.sequence, ...pair(header.firstLsn)], [sequence, ...pair(firstLsn)]);
  }
  same("the end of the log", [rows[rows.length - 1].physical, rows[rows.length - 1].sequence, rows[rows.length - 1].end], root.log);
  for (const { sequence, offset, firstLsn } of all("StretchRow", root.stretches, 20)) {
    same("a stretch", [offset <= table.get(sequence).end, firstLsn.count], [true, 1]);
  }
  for (const { sequence, collection, count } of all("LiveRow", root.live, 16)) {
    same("live records", [count <= table.get(sequence).recordCount, root.catalog.some(({ id }) => id === collection)], [true, true]);
  }
  return values;
}

// An item of deterministic CBOR that has none but ints, byte strings, texts, arrays, maps and true.
function cbor(bytes) {
  let at = 0;
  const item = () => {
    const head = bytes[at++];
    const info = head & 31;
    const width = info < 24 ? 0 : 1 << (info - 24);
    let n = info;
    if (width > 0) n = Array.from(bytes.subarray(at, at + width)).reduce((value, byte) => value * 256 + byte, 0);
    at += width;
    switch (head >> 5) {
      case 0: return n;
      case 2: case 3: at += n; return head >> 5 === 2 ? bytes.subarray(at - n, at) : bytes.toString("utf8", at - n, at);
      case 4: return Array.from({ length: n }, item);
      case 5: return Object.fromEntries(Array.from({ length: n }, () => [item(), item()]));
      default: return head === 0xf5 ? true : null;
    }
  };
  return item();
}

// Holds one value against another, field by field. Throws at the first difference; returns how many values were compared.
function compare(place, mine, theirs) {
  if (mine === null || typeof mine !== "object") {
    if (mine !== theirs) throw new Error(`${place}: the description says ${JSON.stringify(mine)}, inspect ${JSON.stringify(theirs)}`);
    return 1;
  }
  if (theirs === null || typeof theirs !== "object") throw new Error(`${place}: inspect has nothing like ${JSON.stringify(mine)}`);
  if (Array.isArray(mine) && mine.length !== theirs.length) throw new Error(`${place}: ${mine.length} here, ${theirs.length} in inspect`);
  return Object.keys(mine).reduce((count, field) => count + compare(`${place}.${field}`, mine[field], theirs[field]), 0);
}

// Compares all stores; how many values were held against each other.
function compareAll(Holotype, stores) {
  let values = 0;
  for (const { name, bytes, found } of stores) {
    const parsed = takeApart(Holotype, bytes, found);
    values += parsed.fields;
    parsed.superblocks.forEach((fields, at) => { values += compare(`${name}: superblock ${at}`, fields, found.superblocks[at].fields); });
    if (parsed.segments.length !== found.segments.length) throw new Error(`${name}: ${parsed.segments.length} segments, ${found.segments.length} in inspect`);
    parsed.segments.forEach((segment, physical) => {
      const shown = found.segments[physical];
      const place = `${name}: segment ${physical}`;
      values += compare(`${place} header`, segment.header, shown.header);
      values += compare(`${place} index records`, segment.index_records, shown.index_records);
      // What inspect shows of a damaged frame is less than what stands there.
      const frames = segment.frames.map((frame, at) => (shown.frames[at] && shown.frames[at].whole ? frame : { ...frame, records: shown.frames[at] && shown.frames[at].records }));
      values += compare(`${place} frames`, frames, shown.frames.filter(frame => frame.offset + 32 + frame.body_len <= shown.len));
      if (segment.walked !== undefined) values += compare(`${place} units`, segment.walked, shown.frames.map(frame => frame.offset));
    });
  }
  return values;
}

function changed(text, [from, to, behind]) {
  const start = text.indexOf(behind);
  const at = text.indexOf(from, start);
  if (start < 0 || at < 0) throw new Error(`the description has no ${JSON.stringify(from)} behind ${JSON.stringify(behind)}`);
  return text.slice(0, at) + to + text.slice(at + from.length);
}

function load(holotype, name) {
  // Exit code 4 is a damaged store, which is shown all the same, as far as it is one.
  let output;
  try {
    output = execFileSync(holotype, ["inspect", name, "--json"], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if (error.status !== 4 && error.status !== 3) throw error;
    output = error.stdout;
  }
  // No slot can be read: there is no layout to show.
  if (output.length === 0) return undefined;
  return { name: path.basename(name), bytes: fs.readFileSync(name), found: JSON.parse(output) };
}

async function main() {
  const [holotype, ...names] = process.argv.slice(2);
  if (names.length === 0) {
    console.error("usage: node check.js HOLOTYPE STORE...");
    process.exit(2);
  }
  const stores = names.map(name => load(holotype, name)).filter(store => store !== undefined);
  if (stores.length < names.length) console.log(`${names.length - stores.length} stores have no slot that can be read`);
  if (stores.length * 2 < names.length) throw new Error("too few stores can be shown");
  const values = compareAll(await parserOf(TEXT), stores);
  console.log(`${stores.length} stores: ${values} values are the same in holotype.ksy and inspect`);
  let unseen = 0;
  for (const change of CHANGES) {
    const Holotype = await parserOf(changed(TEXT, change));
    try {
      compareAll(Holotype, stores);
      console.error(`not noticed: ${JSON.stringify(change[0])} as ${JSON.stringify(change[1])}`);
      unseen += 1;
    } catch {
      // A difference, or nothing that could be read: either is what should be.
    }
  }
  console.log(`${CHANGES.length - unseen} of ${CHANGES.length} changes of the description were noticed`);
  process.exit(unseen === 0 ? 0 : 1);
}

main().catch(error => {
  console.error(error);
  process.exit(1);
});

import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { NAME_BYTES } from '../../remote/protocol/contents.ts';

/** A piece that is to be stored. */
export interface NewPiece {
  readonly name: Buffer;
  /** The piece, compressed. */
  readonly frame: Buffer;
  /** Of the piece itself. */
  readonly size: number;
}

/** Where a piece is in a pack. */
export interface PackEntry {
  readonly name: Buffer;
  readonly offset: number;
  /** Of its frame. */
  readonly bytes: number;
  /** Of the piece itself. */
  readonly size: number;
}

export interface Pack {
  readonly fileBytes: number;
  readonly entries: readonly PackEntry[];
}

// For each piece: its name, then offset, length of its frame and size as 32 bits, little-endian.
const ENTRY_BYTES = NAME_BYTES + 12;
const MAGIC = Buffer.from('FWPACK1\n');
// The number of entries and their CRC-32, then the magic.
const FOOTER_BYTES = 8 + MAGIC.length;

/** A pack is a file with the frames of pieces, one after the other, then an index of them. It is written once and never changed. */
export function encodePack(pieces: readonly NewPiece[]): { readonly parts: readonly Buffer[]; readonly pack: Pack } {
  const entries: PackEntry[] = [];
  const index = Buffer.alloc(pieces.length * ENTRY_BYTES);
  let offset = 0;
  for (const { name, frame, size } of pieces) {
    const at = entries.length * ENTRY_BYTES;
    name.copy(index, at);
    index.writeUInt32LE(offset, at + NAME_BYTES);
    index.writeUInt32LE(frame.length, at + NAME_BYTES + 4);
    index.writeUInt32LE(size, at + NAME_BYTES + 8);
    // A name of its own, because this one is a part of a request's body.
    entries.push({ name: Buffer.from(name), offset, bytes: frame.length, size });
    offset += frame.length;
  }
  const footer = Buffer.alloc(FOOTER_BYTES);
  footer.writeUInt32LE(pieces.length, 0);
  footer.writeUInt32LE(crc32(index), 4);
  MAGIC.copy(footer, 8);
  const parts = [...pieces.map(({ frame }) => frame), index, footer];
  return { parts, pack: { fileBytes: offset + index.length + footer.length, entries } };
}

/** The index of a pack; undefined for a file that is not one, or is damaged. @throws the system's error. */
export async function readPack(path: string): Promise<Pack | undefined> {
  await using file = await open(path, 'r');
  const { size: fileBytes } = await file.stat();
  const footer = await readAt(file, fileBytes - FOOTER_BYTES, FOOTER_BYTES);
  if (footer?.subarray(8).equals(MAGIC) !== true) return undefined;
  const bytes = footer.readUInt32LE(0) * ENTRY_BYTES;
  const end = fileBytes - FOOTER_BYTES - bytes;
  const index = await readAt(file, end, bytes);
  if (index === undefined || crc32(index) !== footer.readUInt32LE(4)) return undefined;
  const entries = Array.from({ length: bytes / ENTRY_BYTES }, (_, number): PackEntry => {
    const at = number * ENTRY_BYTES;
    return {
      name: index.subarray(at, at + NAME_BYTES),
      offset: index.readUInt32LE(at + NAME_BYTES),
      bytes: index.readUInt32LE(at + NAME_BYTES + 4),
      size: index.readUInt32LE(at + NAME_BYTES + 8),
    };
  });
  return entries.every((entry) => entry.offset + entry.bytes <= end) ? { fileBytes, entries } : undefined;
}

/** Undefined if the file does not have all of these bytes. */
async function readAt(file: FileHandle, start: number, bytes: number): Promise<Buffer | undefined> {
  if (start < 0) return undefined;
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, start);
  return bytesRead === bytes ? buffer : undefined;
}

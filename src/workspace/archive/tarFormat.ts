import type { FileTime } from '../files/fileTime.ts';

// The ustar header of POSIX.1-2001 (pax), section "ustar Interchange Format": a block of 512 bytes.
export const BLOCK_BYTES = 512;

const NAME = { offset: 0, bytes: 100 };
const PREFIX = { offset: 345, bytes: 155 };
const LARGEST_OCTAL_SIZE = 0o77777777777;
// A header for all entries has a comment with the times of all files, one a line. Readers that do not know it ignore comments.
const TIMES = 'modification times\n';
const MOST_TIMES = 16_384;

export interface TarFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Permission bits: 0o644 or 0o755. */
  readonly mode: number;
  /** Absent if it is not known. */
  readonly mtime?: FileTime;
}

/** The number of zero bytes after a body of `size` bytes. */
export function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** The checksum of a header: the sum of its bytes, with the checksum field counted as spaces. */
export function checksumOf(header: Buffer): number {
  let sum = 8 * 0x20;
  for (let i = 0; i < 148; i++) sum += header[i] ?? 0;
  for (let i = 156; i < BLOCK_BYTES; i++) sum += header[i] ?? 0;
  return sum;
}

/**
 * The header blocks of a regular file, always the same bytes for the same input: no owner.
 * A preceding pax header contains long names, names outside ASCII, sizes of 8 GiB and more, and times that are not whole seconds.
 */
export function encodeHeader({ path, size, mode, mtime = '0' }: TarFile): Buffer {
  const short = splitPath(path);
  const records: string[] = [];
  if (short === undefined) records.push(paxRecord('path', path));
  if (size > LARGEST_OCTAL_SIZE) records.push(paxRecord('size', String(size)));
  const isWhole = /^\d+$/.test(mtime) && Number(mtime) <= LARGEST_OCTAL_SIZE;
  if (!isWhole) records.push(paxRecord('mtime', mtime));
  const header = headerBlock(short ?? { name: 'pax-named-file', prefix: '' }, {
    size: Math.min(size, LARGEST_OCTAL_SIZE),
    mode,
    mtime: Math.min(Math.max(0, Math.floor(Number(mtime))), LARGEST_OCTAL_SIZE),
    type: '0',
  });
  return records.length === 0 ? header : Buffer.concat([paxHeader(records.join(''), 'x'), header]);
}

/**
 * The times of all files of an archive, in their order. They follow the last file, so that the contents before them are the same bytes for
 * the same files, whatever their times are.
 */
export function encodeTimes(times: readonly FileTime[]): Buffer {
  const headers: Buffer[] = [];
  for (let start = 0; start < times.length; start += MOST_TIMES) {
    const lines = times.slice(start, start + MOST_TIMES).join('\n');
    headers.push(paxHeader(paxRecord('comment', TIMES + lines), 'g'));
  }
  return Buffer.concat(headers);
}

/** The times in a comment that `encodeTimes` wrote; undefined for another comment. */
export function decodeTimes(comment: string): readonly string[] | undefined {
  return comment.startsWith(TIMES) ? comment.slice(TIMES.length).split('\n') : undefined;
}

function paxHeader(records: string, type: 'x' | 'g'): Buffer {
  const body = Buffer.from(records);
  const header = headerBlock({ name: 'pax-header', prefix: '' }, { size: body.length, mode: 0o644, mtime: 0, type });
  return Buffer.concat([header, body, Buffer.alloc(paddingOf(body.length))]);
}

interface SplitPath {
  readonly name: string;
  readonly prefix: string;
}

function splitPath(path: string): SplitPath | undefined {
  if (/[^\x20-\x7e]/.test(path)) return undefined;
  if (path.length <= NAME.bytes) return { name: path, prefix: '' };
  const slash = path.indexOf('/', path.length - NAME.bytes - 1);
  if (slash <= 0 || slash > PREFIX.bytes || slash === path.length - 1) return undefined;
  return { name: path.slice(slash + 1), prefix: path.slice(0, slash) };
}

interface HeaderFields {
  readonly size: number;
  readonly mode: number;
  /** In whole seconds since 1970. */
  readonly mtime: number;
  readonly type: string;
}

function headerBlock({ name, prefix }: SplitPath, { size, mode, mtime, type }: HeaderFields): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, NAME.offset, 'latin1');
  block.write(octal(mode, 7), 100, 'latin1');
  block.write(octal(0, 7), 108, 'latin1');
  block.write(octal(0, 7), 116, 'latin1');
  block.write(octal(size, 11), 124, 'latin1');
  block.write(octal(mtime, 11), 136, 'latin1');
  block.write(type, 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  block.write(octal(0, 7), 329, 'latin1');
  block.write(octal(0, 7), 337, 'latin1');
  block.write(prefix, PREFIX.offset, 'latin1');
  block.write(`${octal(checksumOf(block), 6)}\u0000 `, 148, 'latin1');
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** `length key=value\n`, where the length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

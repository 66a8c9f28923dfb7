import { AppError } from '../../core/errors.ts';
import { type FileTime, parseFileTime } from '../files/fileTime.ts';

/** The error for a damaged archive. */
export function corrupt(what: string, cause?: unknown): AppError {
  return new AppError('corrupt', `The archive is damaged: ${what}. Nothing was unpacked; download it again.`, {
    cause,
  });
}

/** The error for an archive that is well formed but not safe to unpack. */
export function refused(what: string): AppError {
  return new AppError('refused', `The archive was refused: ${what}. Nothing was unpacked.`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const ESCAPED_BYTE = /^[\udc80-\udcff]$/;

/** Decodes a name. In one that is not valid UTF-8, each byte above 127 becomes a lone surrogate, U+DC00 plus the byte, as in PEP 383. */
export function decodeName(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return Buffer.from(bytes)
      .toString('latin1')
      .replace(/[\u0080-\u00ff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)));
  }
}

/** The name that `decodeName` returns, for calls of the system: its bytes if it is not valid UTF-8. */
export function encodeName(name: string): string | Buffer {
  if (name.isWellFormed()) return name;
  const parts = Array.from(name, (unit) =>
    ESCAPED_BYTE.test(unit) ? Buffer.of(unit.charCodeAt(0) - 0xdc00) : Buffer.from(unit),
  );
  return Buffer.concat(parts);
}

/** The bytes of a field up to its first NUL. */
export function headerField(header: Buffer, offset: number, length: number): Buffer {
  const end = header.indexOf(0, offset);
  return header.subarray(offset, end === -1 || end > offset + length ? offset + length : end);
}

/**
 * A number in a header: octal digits between spaces, up to a NUL, or GNU tar's binary form.
 *
 * @throws AppError `corrupt` for anything else, including negative numbers.
 */
export function numberOf(header: Buffer, offset: number, length: number, name: string): number {
  if (((header[offset] ?? 0) & 0x80) !== 0) return binaryNumber(header.subarray(offset, offset + length), name);
  const text = headerField(header, offset, length).toString('latin1');
  if (!/^ *[0-7]* *$/.test(text)) throw corrupt(`the ${name} ${JSON.stringify(text)} of an entry is not a number`);
  return Number.parseInt(text.trim() || '0', 8);
}

function binaryNumber(bytes: Buffer, name: string): number {
  let value = (bytes[0] ?? 0) & 0x7f;
  // The next bit is the sign: a negative number starts with 0xff.
  if (value !== 0) throw corrupt(`the ${name} of an entry is negative or too large`);
  for (const byte of bytes.subarray(1)) value = value * 256 + byte;
  if (!Number.isSafeInteger(value)) throw corrupt(`the ${name} of an entry is too large`);
  return value;
}

export interface PaxRecords {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
  readonly mtime?: FileTime;
  readonly comment?: string;
}

// What Python's tarfile writes for names that are not valid UTF-8, and POSIX for those that are.
const CHARSETS = new Set(['BINARY', 'ISO-IR 10646 2000 UTF-8']);

/**
 * Reads the records `length key=value\n` of a pax header (POSIX.1-2001, pax, "pax Extended Header").
 *
 * @throws AppError `corrupt` for malformed records, `refused` for ambiguous ones.
 */
export function parsePax(body: Buffer): PaxRecords {
  const values = new Map<string, Buffer>();
  for (let start = 0; start < body.length; ) {
    const space = body.indexOf(0x20, start);
    const digits = body.toString('latin1', start, space === -1 ? start : space);
    const end = start + Number(digits);
    if (!/^[1-9]\d{0,7}$/.test(digits) || end > body.length || body[end - 1] !== 0x0a) {
      throw corrupt('a pax header has a record with a wrong length');
    }
    const equals = body.indexOf(0x3d, space);
    if (equals === -1 || equals >= end || equals === space + 1)
      throw corrupt('a pax header has a record without a key');
    const key = body.toString('utf8', space + 1, equals);
    if (values.has(key)) throw refused(`a pax header has two values for ${key}`);
    values.set(key, body.subarray(equals + 1, end - 1));
    start = end;
  }
  for (const [key, value] of values) {
    const isKnown = key === 'hdrcharset' ? CHARSETS.has(value.toString('latin1')) : !key.startsWith('GNU.sparse.');
    if (!isKnown) throw refused(`it uses the pax extension ${key}`);
  }
  const path = values.get('path');
  const linkpath = values.get('linkpath');
  const size = values.get('size');
  const mtime = parseFileTime(values.get('mtime')?.toString('latin1') ?? '');
  const comment = values.get('comment')?.toString('latin1');
  return {
    ...(path === undefined ? {} : { path: nameValue(path) }),
    ...(linkpath === undefined ? {} : { linkpath: nameValue(linkpath) }),
    ...(size === undefined ? {} : { size: sizeValue(size) }),
    // A time is no reason to refuse anything.
    ...(mtime === undefined ? {} : { mtime }),
    ...(comment === undefined ? {} : { comment }),
  };
}

function nameValue(value: Buffer): string {
  if (value.length === 0) throw refused('a pax header has an empty name');
  return decodeName(value);
}

function sizeValue(value: Buffer): number {
  const size = Number(value.toString('latin1'));
  if (!/^\d{1,16}$/.test(value.toString('latin1')) || !Number.isSafeInteger(size)) {
    throw corrupt('a pax header has a size that is not a number');
  }
  return size;
}

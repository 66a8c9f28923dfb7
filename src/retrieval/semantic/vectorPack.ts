import { closeSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { parseOwnJson } from '../../core/jsonFields.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { NON_BLOCKING_READ } from '../segments/nonBlockingRead.ts';

// A file starts with a checksum and a line of JSON that describes it, followed by records of one length: the key, the numbers of
// the vector, and a checksum of both. Damage therefore affects only single vectors.
const MAGIC = 'farwharf-vectors-1';
const KEY_BYTES = 16;
const SUM_BYTES = 4;
const MAX_HEADER_BYTES = 4096;
// Numbers are in the machine's byte order; on a machine with another one, the files are not recognized.
const BYTE_ORDER = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 'little' : 'big';

export interface KeyedVector {
  /** 32 hexadecimal digits. */
  readonly key: string;
  readonly vector: Float32Array;
}

interface Header {
  readonly model: string;
  readonly dimensions: number;
  readonly order: string;
}

/** Writes vectors of one length to a new file, completely or not at all. @throws the system's error. */
export async function writePack(path: string, model: string, vectors: readonly KeyedVector[]): Promise<void> {
  const dimensions = vectors[0]?.vector.length ?? 0;
  const json = JSON.stringify({ model, dimensions, order: BYTE_ORDER } satisfies Header);
  const header = Buffer.from(`${MAGIC} ${crc32(json)} ${json}\n`);
  const recordBytes = bytesOfRecord(dimensions);
  const file = Buffer.alloc(header.length + vectors.length * recordBytes);
  header.copy(file);
  for (const [index, { key, vector }] of vectors.entries()) {
    const record = file.subarray(header.length + index * recordBytes).subarray(0, recordBytes);
    record.write(key, 0, 'hex');
    record.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), KEY_BYTES);
    record.writeUInt32LE(crc32(record.subarray(0, -SUM_BYTES)), recordBytes - SUM_BYTES);
  }
  await writeAtomically(path, file);
}

/** A file of vectors. Its records can be read until it is disposed, even if the file was removed. */
export class VectorPack implements Disposable {
  readonly dimensions: number;
  #descriptor: number | undefined;
  readonly #recordsAt: number;
  readonly #record: Buffer;

  private constructor(descriptor: number, dimensions: number, recordsAt: number) {
    this.#descriptor = descriptor;
    this.dimensions = dimensions;
    this.#recordsAt = recordsAt;
    this.#record = Buffer.alloc(bytesOfRecord(dimensions));
  }

  /**
   * Opens a file and calls `onVector` for every undamaged vector, with the number of its record. Returns undefined for a file that is
   * unreadable, damaged at its start, or of another model.
   */
  static async open(
    path: string,
    model: string,
    onVector: (record: number, vector: KeyedVector) => void,
  ): Promise<VectorPack | undefined> {
    let descriptor: number | undefined;
    try {
      const bytes = await readFile(path, { flag: NON_BLOCKING_READ });
      const header = parseHeader(bytes);
      if (header?.model !== model) return undefined;
      descriptor = openSync(path, NON_BLOCKING_READ);
      const pack = new VectorPack(descriptor, header.dimensions, header.length);
      const recordBytes = bytesOfRecord(header.dimensions);
      for (let record = 0; header.length + (record + 1) * recordBytes <= bytes.length; record += 1) {
        const at = header.length + record * recordBytes;
        const read = parseRecord(bytes.subarray(at, at + recordBytes));
        if (read !== undefined) onVector(record, read);
      }
      return pack;
    } catch {
      if (descriptor !== undefined) closeSync(descriptor);
      return undefined; // as good as missing, so its texts are embedded again
    }
  }

  /** The vector of a record, read again; undefined if it is damaged by now. */
  read(record: number): Float32Array | undefined {
    if (this.#descriptor === undefined) return undefined;
    const at = this.#recordsAt + record * this.#record.length;
    const length = readSync(this.#descriptor, this.#record, 0, this.#record.length, at);
    return length === this.#record.length ? parseRecord(this.#record)?.vector : undefined;
  }

  dispose(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined; // closing it twice could close another file
  }
}

function bytesOfRecord(dimensions: number): number {
  return KEY_BYTES + dimensions * Float32Array.BYTES_PER_ELEMENT + SUM_BYTES;
}

function parseHeader(bytes: Buffer): (Header & { readonly length: number }) | undefined {
  const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf('\n');
  const [magic, sum, ...rest] = bytes.toString('utf8', 0, Math.max(end, 0)).split(' ');
  const json = rest.join(' ');
  if (magic !== MAGIC || sum !== String(crc32(json))) return undefined;
  const header = parseOwnJson<Header>(json);
  return header.order === BYTE_ORDER ? { ...header, length: end + 1 } : undefined;
}

function parseRecord(record: Buffer): KeyedVector | undefined {
  const body = record.subarray(0, -SUM_BYTES);
  if (crc32(body) !== record.readUInt32LE(record.length - SUM_BYTES)) return undefined;
  // Copied, since a Float32Array must begin at a multiple of four bytes.
  const numbers = new Uint8Array(body.subarray(KEY_BYTES)).buffer;
  return { key: record.toString('hex', 0, KEY_BYTES), vector: new Float32Array(numbers) };
}

import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

export interface HeaderFields {
  readonly name?: string | Buffer;
  readonly body?: string | Buffer;
  /** What the header says, where that differs from the body. */
  readonly size?: number | string | Buffer;
  readonly type?: string;
  readonly mode?: string;
  readonly link?: string;
  readonly magic?: string;
  readonly prefix?: string;
  readonly checksum?: string;
}

/** One entry, byte by byte: header, body, padding. Every field may lie. */
export function tarEntry(fields: HeaderFields = {}): Buffer {
  const body = Buffer.from(fields.body ?? '');
  const block = Buffer.alloc(512);
  const put = (value: string | Buffer, offset: number): void => void Buffer.from(value).copy(block, offset);
  put(Buffer.from(fields.name ?? 'file.txt').subarray(0, 100), 0);
  put(fields.mode ?? '0000644\0', 100);
  put('0000000\0', 108);
  put('0000000\0', 116);
  const size = fields.size ?? body.length;
  put(typeof size === 'number' ? `${size.toString(8).padStart(11, '0')}\0` : size, 124);
  put('00000000000\0', 136);
  put('        ', 148);
  put(fields.type ?? '0', 156);
  put(fields.link ?? '', 157);
  put(fields.magic ?? 'ustar\u000000', 257);
  put(fields.prefix ?? '', 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(fields.checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([block, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

/** A pax header of these records, whose lengths are right. */
export function paxHeader(records: Record<string, string>, type = 'x'): Buffer {
  const body = Object.entries(records).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`);
    let length = rest + 1;
    while (rest + String(length).length !== length) length = rest + String(length).length;
    return `${length} ${key}=${value}\n`;
  });
  return tarEntry({ name: 'PaxHeader', type, body: body.join('') });
}

export const tarEnd = Buffer.alloc(1024);

/** A whole archive, packed. */
export function tarGz(...entries: readonly Buffer[]): Buffer {
  return gzipSync(Buffer.concat([...entries, tarEnd]), { level: 1 });
}

export function writeArchive(path: string, bytes: Buffer): string {
  writeFileSync(path, bytes);
  return path;
}

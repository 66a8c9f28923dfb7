import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** Writes an index (gitformat-index(5), version 2) that tracks paths as they stand, whatever they are; in their order. */
export function writeIndex(file: string, paths: readonly string[]): void {
  const header = Buffer.alloc(12);
  header.write('DIRC');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(paths.length, 8);
  const entries = paths.map((path) => {
    const name = Buffer.from(path);
    const entry = Buffer.alloc(Math.ceil((62 + name.length + 1) / 8) * 8);
    entry.writeUInt32BE(0o100644, 24);
    entry.fill(0x11, 40, 60); // the blob, which need not be there
    entry.writeUInt16BE(Math.min(name.length, 0xfff), 60);
    name.copy(entry, 62);
    return entry;
  });
  const content = Buffer.concat([header, ...entries]);
  writeFileSync(file, Buffer.concat([content, Buffer.from(hash('sha1', content, 'hex'), 'hex')]));
}

import { readFile, writeFile } from 'node:fs/promises';
import { crc32, deflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06_05_4b_50;
const LOCAL_HEADER = 0x04_03_4b_50;
const CENTRAL_HEADER = 0x02_01_4b_50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;

/**
 * Names of the entries of a small zip file, from its central directory (PKWARE APPNOTE 4.3.12 and 4.3.16).
 *
 * @throws Error when the file is not a zip file.
 */
export async function listZip(path: string): Promise<string[]> {
  const bytes = await readFile(path);
  const end = endOf(bytes, path);
  const names: string[] = [];
  let offset = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [name, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(offset + field)) as [
      number,
      number,
      number,
    ];
    names.push(bytes.toString('utf8', offset + ENTRY_BYTES, offset + ENTRY_BYTES + name));
    offset += ENTRY_BYTES + name + extra + comment;
  }
  return names;
}

/**
 * Adds files to a small zip file.
 *
 * @param files their contents by name.
 * @throws Error when the file is not a zip file.
 */
export async function addToZip(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  const bytes = await readFile(path);
  const end = Buffer.from(bytes.subarray(endOf(bytes, path)));
  const directory = end.readUInt32LE(16);
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = directory;
  for (const [name, text] of Object.entries(files)) {
    const data = Buffer.from(text);
    const packed = deflateRawSync(data);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0); // needs version 2.0, to inflate
    fields.writeUInt16LE(8, 4); // deflated
    fields.writeUInt16LE(0x21, 8); // 1 January 1980, so that the same files give the same bytes
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([signature(LOCAL_HEADER), fields, Buffer.from(name), packed]);
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeUInt32LE(CENTRAL_HEADER, 0);
    entry.writeUInt16LE(20, 4);
    fields.copy(entry, 6, 0, 24);
    entry.writeUInt32LE(offset, 42);
    locals.push(local);
    entries.push(entry, Buffer.from(name));
    offset += local.length;
  }
  const added = Buffer.concat(entries);
  const count = end.readUInt16LE(10) + Object.keys(files).length;
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(end.readUInt32LE(12) + added.length, 12);
  end.writeUInt32LE(offset, 16);
  const old = bytes.subarray(directory, bytes.length - end.length);
  await writeFile(path, Buffer.concat([bytes.subarray(0, directory), ...locals, old, added, end]));
}

/** Where the end record of the central directory starts. */
function endOf(bytes: Buffer, path: string): number {
  let end = bytes.length - END_BYTES;
  while (end >= 0 && bytes.readUInt32LE(end) !== END_OF_DIRECTORY) end -= 1;
  if (end < 0) throw new Error(`${path} is not a zip file.`);
  return end;
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value, 0);
  return bytes;
}

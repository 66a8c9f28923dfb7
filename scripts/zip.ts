import { readFile } from 'node:fs/promises';

const END_OF_DIRECTORY = 0x06_05_4b_50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;

/**
 * Names of the entries of a small zip file, from its central directory (PKWARE APPNOTE 4.3.12 and 4.3.16).
 *
 * @throws Error when the file is not a zip file.
 */
export async function listZip(path: string): Promise<string[]> {
  const bytes = await readFile(path);
  let end = bytes.length - END_BYTES;
  while (end >= 0 && bytes.readUInt32LE(end) !== END_OF_DIRECTORY) end -= 1;
  if (end < 0) throw new Error(`${path} is not a zip file.`);
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

import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';
import { type Header, extract, pack } from 'tar-stream';

export type ArchiveEntry = string | Buffer | (Partial<Header> & { readonly text?: string | Buffer });

/** A `.tar.gz` of the given entries, which may be as odd as a test needs. */
export async function makeArchive(entries: Readonly<Record<string, ArchiveEntry>>): Promise<Uint8Array<ArrayBuffer>> {
  const archive = pack();
  for (const [name, entry] of Object.entries(entries)) {
    const { text = '', ...header } = typeof entry === 'string' || Buffer.isBuffer(entry) ? { text: entry } : entry;
    archive.entry({ name, mode: 0o644, ...header }, text);
  }
  archive.finalize();
  return new Uint8Array(await buffer(archive.pipe(createGzip())));
}

/** Names and texts of the files in a `.tar.gz`. */
export async function readArchive(bytes: Uint8Array): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const reader = extract();
  const gunzip = createGunzip();
  gunzip.pipe(reader);
  gunzip.end(bytes);
  for await (const entry of reader) files[entry.header.name] = (await buffer(entry)).toString();
  return files;
}

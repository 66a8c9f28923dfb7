import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { type ArchiveContents, listNames } from '../../../src/jobs/contents/archiveContents.ts';
import type { Piece } from '../../../src/workspace/pack/splitPieces.ts';
import { sendContents } from '../../../src/jobs/contents/sendContents.ts';
import { RemoteClient } from '../../../src/remote/client.ts';
import { nameOfPiece } from '../../../src/remote/protocol/contents.ts';
import { PieceCutter } from '../../../src/workspace/pack/pieceCutter.ts';
import type { ServiceClient } from './service.ts';

/** The contents of any archive, such as one that no client of ours would pack. */
export function cutArchive(archive: string): ArchiveContents {
  const pieces: Piece[] = [];
  const add = (bytes: Buffer): void => void pieces.push({ name: nameOfPiece(bytes), bytes: Buffer.from(bytes) });
  const cutter = new PieceCutter();
  cutter.write(gunzipSync(readFileSync(archive)), add);
  cutter.end(add);
  return { lists: listNames(pieces.map(({ name }) => name)), read: () => Readable.from(pieces) };
}

/** The names of an archive's contents, as a submission sends them, after the service has got what it lacks. */
export async function sendTo(service: ServiceClient, archive: string): Promise<Buffer> {
  await using client = new RemoteClient(service.url, service.key);
  const contents = cutArchive(archive);
  await sendContents(client, contents, { onProgress: () => {} });
  return Buffer.concat(contents.lists.map(({ name }) => name));
}

export function submitNames(
  service: ServiceClient,
  names: Uint8Array,
  headers: Record<string, string> = {},
  meta: object = { script: 'a.sh', max_runtime: 60 },
): Promise<Response> {
  const form = new FormData();
  form.append('contents', new Blob([Buffer.from(names)]), 'contents.bin');
  form.append('meta', JSON.stringify(meta));
  return service.request('/v1/jobs', { method: 'POST', body: form, headers });
}

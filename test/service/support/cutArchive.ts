import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { type ArchiveContents, listNames, type Piece } from '../../../src/jobs/contents/archiveContents.ts';
import { nameOfPiece } from '../../../src/remote/protocol/contents.ts';
import { PieceCutter } from '../../../src/workspace/pack/pieceCutter.ts';

/** The contents of any archive, such as one that no client of ours would pack. */
export function cutArchive(archive: string): ArchiveContents {
  const pieces: Piece[] = [];
  const add = (bytes: Buffer): void => void pieces.push({ name: nameOfPiece(bytes), bytes: Buffer.from(bytes) });
  const cutter = new PieceCutter();
  cutter.write(gunzipSync(readFileSync(archive)), add);
  cutter.end(add);
  return {
    lists: listNames(pieces.map(({ name }) => name)),
    read: () => Readable.from(pieces),
  };
}

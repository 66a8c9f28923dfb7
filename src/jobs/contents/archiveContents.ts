import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { NAME_BYTES, nameOfPiece } from '../../remote/protocol/contents.ts';
import { gunzip } from '../../workspace/archive/gzipReader.ts';
import { PieceCutter } from './pieceCutter.ts';

// A list ends after a name whose last byte is one of two, so that it has 128 names on average.
const LIST_BORDER = 0x7f;
const MAX_NAMES = 1_024;

/** The names of an archive's pieces, and the lists of them. */
export interface ArchiveContents {
  /** In order; a piece may occur several times. */
  readonly lists: readonly { readonly name: Buffer; readonly names: Buffer }[];
}

/** Reads the pieces of an archive in order. @throws as `gunzip`; the signal's reason on abort. */
export async function readPieces(
  archive: string,
  onPiece: (piece: Buffer) => void | 'stop',
  afterChunk: () => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const cutter = new PieceCutter();
  let isOver = false;
  const use = (piece: Buffer): void => {
    if (!isOver) isOver = onPiece(piece) === 'stop';
  };
  for await (const bytes of gunzip(archive, { signal, onBytes: () => {} })) {
    cutter.write(bytes, use);
    await afterChunk();
    if (isOver) return;
  }
  cutter.end(use);
  await afterChunk();
}

/** The names of all pieces of an archive. @throws as `readPieces`. */
export async function listContents(archive: string, signal?: AbortSignal): Promise<ArchiveContents> {
  const lists: { name: Buffer; names: Buffer }[] = [];
  let names: Buffer[] = [];
  const closeList = (): void => {
    const list = Buffer.concat(names);
    if (names.length > 0) lists.push({ name: nameOfPiece(list), names: list });
    names = [];
  };
  await readPieces(
    archive,
    (piece) => {
      const name = nameOfPiece(piece);
      names.push(name);
      const isBorder = ((name[NAME_BYTES - 1] ?? 0) & LIST_BORDER) === 0;
      if (isBorder || names.length === MAX_NAMES) closeList();
    },
    () => yieldToOthers(undefined),
    signal,
  );
  closeList();
  return { lists };
}

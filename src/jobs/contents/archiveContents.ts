import { NAME_BYTES, nameOfPiece } from '../../remote/protocol/contents.ts';
import { DamagedArchive, inflateSegment } from '../../workspace/archive/inflateSegment.ts';
import { locateParts } from '../../workspace/pack/archiveParts.ts';
import { piecesIn } from '../../workspace/pack/pieceRecords.ts';
import type { ArchiveSegment } from '../../workspace/pack/segments.ts';
import { type Piece, splitPieces } from '../../workspace/pack/splitPieces.ts';

// A list ends after a name whose last byte is one of two, so that it has 128 names on average.
const LIST_BORDER = 0x7f;
const MAX_NAMES = 1_024;
// A segment that became hardly smaller consists of what is compressed already.
const MOST_COMPRESSED_SHARE = 0.98;

export interface NameList {
  readonly name: Buffer;
  /** In order; a piece may occur several times. */
  readonly names: Buffer;
}

/** What a submission by content sends in place of an archive. */
export interface ArchiveContents {
  readonly lists: readonly NameList[];
  /** The pieces with these names, in hexadecimal, each as often as it occurs. @throws DamagedArchive, the signal's reason on abort. */
  read(wanted: ReadonlySet<string>, signal?: AbortSignal): AsyncIterable<Piece>;
}

/** The contents of an archive with segments, a file or a folder. Their hashes were computed when it was packed. */
export function contentsOf(archive: string, segments: readonly ArchiveSegment[]): ArchiveContents {
  const pieces = segments.map((segment) => [...piecesIn(segment.pieces)]);
  return {
    lists: listNames(pieces.flat().map(({ name }) => name)),
    async *read(wanted, signal) {
      const pathOf = await locateParts(archive);
      for (const [index, { part, start, bytes, packedBytes }] of segments.entries()) {
        const filePieces = pieces[index] ?? [];
        const isWanted = (name: Buffer): boolean => wanted.has(name.toString('hex'));
        if (!filePieces.some(({ name }) => isWanted(name))) continue;
        const stream = inflateSegment(pathOf(part), { start, bytes: packedBytes }, signal);
        const isIncompressible = packedBytes > bytes * MOST_COMPRESSED_SHARE;
        for await (const piece of splitPieces(stream, filePieces, isWanted)) {
          // A segment that stayed where it was when the archive was packed may have been damaged since.
          if (!nameOfPiece(piece.bytes).equals(piece.name)) throw new DamagedArchive();
          yield { ...piece, isIncompressible };
        }
      }
    },
  };
}

/** Cuts the names of pieces into lists, at boundaries that depend on the names only. */
export function listNames(names: readonly Buffer[]): readonly NameList[] {
  const lists: NameList[] = [];
  let open: Buffer[] = [];
  for (const [index, name] of names.entries()) {
    open.push(name);
    const isBorder = ((name[NAME_BYTES - 1] ?? 0) & LIST_BORDER) === 0;
    if (!isBorder && open.length < MAX_NAMES && index < names.length - 1) continue;
    const list = Buffer.concat(open);
    lists.push({ name: nameOfPiece(list), names: list });
    open = [];
  }
  return lists;
}

import { NAME_BYTES, nameOfPiece } from '../../remote/protocol/contents.ts';
import { DamagedArchive, inflateSegment } from '../../workspace/archive/inflateSegment.ts';
import { locateParts } from '../../workspace/pack/archiveParts.ts';
import { type ArchiveSegment, PIECE_RECORD_BYTES } from '../../workspace/pack/segments.ts';

// A list ends after a name whose last byte is one of two, so that it has 128 names on average.
const LIST_BORDER = 0x7f;
const MAX_NAMES = 1_024;

export interface Piece {
  readonly name: Buffer;
  readonly bytes: Buffer;
}

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

interface PieceSize {
  readonly name: Buffer;
  readonly size: number;
}

/** The contents of an archive with segments, a file or a folder. Their hashes were computed when it was packed. */
export function contentsOf(archive: string, segments: readonly ArchiveSegment[]): ArchiveContents {
  const pieces = segments.map((segment) => piecesOf(segment));
  return {
    lists: listNames(pieces.flat().map(({ name }) => name)),
    async *read(wanted, signal) {
      const pathOf = await locateParts(archive);
      for (const [index, { part, start, packedBytes }] of segments.entries()) {
        const own = pieces[index] ?? [];
        const isWanted = own.some(({ name }) => wanted.has(name.toString('hex')));
        if (!isWanted) continue;
        const stream = inflateSegment(pathOf(part), { start, bytes: packedBytes }, signal);
        for await (const piece of split(stream, own)) {
          if (!wanted.has(piece.name.toString('hex'))) continue;
          // A segment that stayed where it was when the archive was packed may have been damaged since.
          if (!nameOfPiece(piece.bytes).equals(piece.name)) throw new DamagedArchive();
          yield piece;
        }
      }
    },
  };
}

/** Cuts the names of pieces into lists, at borders that depend on the names only. */
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

function piecesOf({ pieces }: ArchiveSegment): readonly PieceSize[] {
  return Array.from({ length: Math.floor(pieces.length / PIECE_RECORD_BYTES) }, (_, index) => {
    const at = index * PIECE_RECORD_BYTES;
    return { name: pieces.subarray(at, at + NAME_BYTES), size: pieces.readUInt32LE(at + NAME_BYTES) };
  });
}

async function* split(stream: AsyncIterable<Buffer>, pieces: readonly PieceSize[]): AsyncGenerator<Piece, void> {
  let held: Buffer = Buffer.alloc(0);
  let next = 0;
  for await (const chunk of stream) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (let piece = pieces[next]; piece !== undefined && piece.size <= held.length; piece = pieces[next]) {
      yield { name: piece.name, bytes: held.subarray(0, piece.size) };
      held = held.subarray(piece.size);
      next += 1;
    }
  }
}

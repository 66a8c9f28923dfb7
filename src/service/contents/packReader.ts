import { type FileHandle, open } from 'node:fs/promises';
import { systemCode } from '../../core/errors.ts';
import { nameOfPiece } from '../../remote/protocol/contents.ts';
import type { PackEntry } from './packFile.ts';
import { freePiece, unpackPiece } from '../../remote/transfers/pieceFrame.ts';

/** Where a piece is. */
export interface PieceLocation extends PackEntry {
  /** The path of the pack. */
  readonly path: string;
}

/** A piece, whose memory is valid until the next one is read. */
export interface ReadPiece {
  readonly bytes: Buffer;
  /** The same, compressed. */
  readonly frame: Buffer;
}

/** The bytes in a pack are not the piece that its index names. */
export class DamagedPack extends Error {
  override readonly name = 'DamagedPack';
  /** The path of the pack. */
  readonly path: string;

  constructor(path: string) {
    super(`${path} is damaged.`);
    this.path = path;
  }
}

// Pieces that are next to each other were sent together, and are mostly read together.
const READ_AHEAD_BYTES = 512 * 1024;
const NOTHING = Buffer.alloc(0);

/** Reads pieces from packs, and checks that they have their names. */
export class PackReader implements AsyncDisposable {
  #open: { readonly path: string; readonly file: FileHandle } | undefined;
  #memory: Buffer | undefined;
  #held: Buffer = NOTHING;
  #heldFrom = 0;
  #last: { readonly name: Buffer; readonly piece: ReadPiece } | undefined;

  /** @throws DamagedPack, also if the pack is gone; the system's error. */
  async read(location: PieceLocation): Promise<ReadPiece> {
    const { path, name } = location;
    // Empty regions of files consist of the same piece many times.
    if (this.#last?.name.equals(name) === true) return this.#last.piece;
    if (this.#last !== undefined) freePiece(this.#last.piece.bytes);
    this.#last = undefined;
    const frame = await this.#readFrame(location);
    const bytes = frame && unpackPiece(frame);
    if (frame === undefined || bytes === undefined || !nameOfPiece(bytes).equals(name)) throw new DamagedPack(path);
    const piece = { bytes, frame };
    this.#last = { name, piece };
    return piece;
  }

  async #readFrame({ path, offset, bytes }: PieceLocation): Promise<Buffer | undefined> {
    if (this.#open?.path !== path) await this.#switchTo(path);
    let start = offset - this.#heldFrom;
    if (start < 0 || start + bytes > this.#held.length) {
      const memory = (this.#memory ??= Buffer.allocUnsafeSlow(READ_AHEAD_BYTES));
      this.#held = NOTHING;
      const { bytesRead = 0 } = (await this.#open?.file.read(memory, 0, memory.length, offset)) ?? {};
      this.#held = memory.subarray(0, bytesRead);
      this.#heldFrom = offset;
      start = 0;
    }
    const frame = this.#held.subarray(start, start + bytes);
    return frame.length === bytes ? frame : undefined;
  }

  async #switchTo(path: string): Promise<void> {
    await this[Symbol.asyncDispose]();
    const file = await open(path, 'r').catch((error: unknown) => {
      if (systemCode(error) === 'ENOENT') throw new DamagedPack(path);
      throw error;
    });
    this.#open = { path, file };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    this.#held = NOTHING;
    await open?.file.close();
  }
}

import { Yielder } from '../../core/processes/yielder.ts';
import type { ContentStore } from './contentStore.ts';
import { PackReader } from './packReader.ts';
import { LackingContents, type SubmittedContents } from './submittedContents.ts';

export interface Assembly {
  readonly account: string;
  /** Receives the compressed pieces, in order. */
  readonly frames: Buffer[];
  readonly signal: AbortSignal;
}

/**
 * The tar stream of the archive that a submission by content describes: the same as that of the client's archive, whose entries are then
 * checked like those of any other. Each part is valid until the next.
 *
 * @throws LackingContents if pieces are damaged.
 */
export async function* assembleArchive(
  store: Pick<ContentStore, 'read'>,
  { pieces }: SubmittedContents,
  { account, frames, signal }: Assembly,
): AsyncGenerator<Buffer, void> {
  await using reader = new PackReader();
  const yielder = new Yielder(signal);
  let isLacking = false;
  for (const { name } of pieces) {
    if (yielder.isDue) await yielder.pause();
    const piece = await store.read(account, name, reader);
    isLacking ||= piece === undefined;
    // The rest is still read, so that all damaged pieces are found at once, and are sent again together.
    if (isLacking || piece === undefined) continue;
    frames.push(Buffer.from(piece.frame));
    yield piece.bytes;
  }
  if (isLacking) throw new LackingContents();
}

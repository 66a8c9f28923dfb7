import { open } from 'node:fs/promises';
import type { ContentStore } from './contentStore.ts';
import { FrameWriter } from './keptFrames.ts';
import { PackReader } from './packReader.ts';
import { LackingContents, type SubmittedContents } from './submittedContents.ts';

export interface Assembly {
  readonly account: string;
  /** The path of the new archive. */
  readonly archive: string;
  readonly signal: AbortSignal;
}

/**
 * The tar stream of the archive that a submission by content describes: the same as that of the client's archive, whose entries are then
 * checked and unpacked like those of any other. Its pieces are also written to one file, which `readFrames` reads after a power loss.
 *
 * @throws LackingContents if pieces are damaged.
 */
export async function* assembleArchive(
  store: Pick<ContentStore, 'read'>,
  { pieces }: SubmittedContents,
  { account, archive, signal }: Assembly,
): AsyncGenerator<Buffer, void> {
  await using file = await open(archive, 'wx', 0o600);
  await using reader = new PackReader();
  const kept = new FrameWriter((bytes) => file.writeFile(bytes));
  let isLacking = false;
  for (const { name } of pieces) {
    signal.throwIfAborted();
    const piece = await store.read(account, name, reader);
    isLacking ||= piece === undefined;
    // The rest is read all the same, so that everything that is damaged is found, and sent again, at once.
    if (isLacking || piece === undefined) continue;
    await kept.write(piece.frame);
    yield piece.bytes;
  }
  if (isLacking) throw new LackingContents();
  await kept.end();
}

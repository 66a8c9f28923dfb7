import { constants } from 'node:fs';
import { copyFile, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import { namesIn } from '../../remote/protocol/contents.ts';
import { isPackName, namesInFolder } from './accountPieces.ts';
import type { ContentStore } from './contentStore.ts';
import { readPack } from './packFile.ts';
import { DamagedPack, PackReader, type PieceLocation } from './packReader.ts';
import { LackingContents, type SubmittedContents } from './submittedContents.ts';

const LISTS = 'lists';
// A job whose contents were just stored may not be in the database yet.
const NEW_MS = 3_600_000;

/**
 * The contents of jobs that have not started, from which their workspaces are written: for each job a folder with hard links to packs of
 * the content store, so that the store can delete its own. They survive a power loss. No job can see the folder, because other jobs use the
 * linked files too.
 */
export class WaitingContents {
  readonly #root: string;
  readonly #store: Pick<ContentStore, 'removePack'>;

  /** @param data the service's data folder, which no job can see. */
  constructor(data: string, store: Pick<ContentStore, 'removePack'>) {
    this.#root = join(data, 'waiting');
    this.#store = store;
  }

  /** Keeps the contents of a job until it has started for good. @throws LackingContents if some were just deleted, the system's error. */
  async keep(job: string, { lists, packs }: Pick<SubmittedContents, 'lists' | 'packs'>): Promise<void> {
    const folder = this.#folder(job);
    const firstCreated = await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      for (const pack of packs) await linkOrCopy(pack, join(folder, basename(pack)));
      await writeFile(join(folder, LISTS), lists, { mode: 0o600, flush: true });
      await syncFolder(folder);
      await syncFolder(this.#root);
      if (firstCreated === this.#root) await syncFolder(dirname(this.#root));
    } catch (error) {
      await this.remove(job);
      throw error;
    }
  }

  /** Whether there are contents of a job. */
  async has(job: string): Promise<boolean> {
    return (await stat(join(this.#folder(job), LISTS)).catch(() => undefined)) !== undefined;
  }

  /**
   * The tar stream of a job's archive, of which each part is valid until the next.
   *
   * @throws AppError `corrupt` if something is damaged, which the account can then send again.
   */
  async *read({ id, account }: { readonly id: string; readonly account: string }): AsyncGenerator<Buffer, void> {
    const folder = this.#folder(id);
    try {
      await using reader = new PackReader();
      const found = await locate(folder);
      for (const list of namesIn(await readFile(join(folder, LISTS))) ?? []) {
        const { bytes } = await reader.read(placeOf(found, list, folder));
        for (const name of namesIn(Buffer.from(bytes)) ?? [])
          yield (await reader.read(placeOf(found, name, folder))).bytes;
      }
    } catch (error) {
      if (!(error instanceof DamagedPack)) throw error;
      await this.#store.removePack(account, error.path);
      throw new AppError(
        'corrupt',
        'The contents of the job were damaged on the disk of the service, so its workspace cannot be written. Submit again.',
        { cause: error },
      );
    }
  }

  async remove(job: string): Promise<void> {
    await rm(this.#folder(job), { recursive: true, force: true });
  }

  /** Removes what a crash left behind. @param isWaiting whether a job has not ended; on a cluster, one that has started can start again. */
  async sweep(now: number, isWaiting: (job: string) => boolean): Promise<void> {
    for (const job of await namesInFolder(this.#root)) {
      const stats = await stat(this.#folder(job)).catch(() => undefined); // its job may just have started
      if (stats !== undefined && now - stats.mtimeMs > NEW_MS && !isWaiting(job)) await this.remove(job);
    }
  }

  #folder(job: string): string {
    return join(this.#root, job);
  }
}

/** Where the pieces of all packs in a folder are, by name. @throws DamagedPack. */
async function locate(folder: string): Promise<ReadonlyMap<string, PieceLocation>> {
  const found = new Map<string, PieceLocation>();
  for (const name of (await namesInFolder(folder)).filter(isPackName).toSorted()) {
    const path = join(folder, name);
    const pack = await readPack(path);
    if (pack === undefined) throw new DamagedPack(path);
    for (const entry of pack.entries) found.set(entry.name.toString('latin1'), { ...entry, path });
  }
  return found;
}

function placeOf(found: ReadonlyMap<string, PieceLocation>, name: Buffer, folder: string): PieceLocation {
  const place = found.get(name.toString('latin1'));
  if (place === undefined) throw new DamagedPack(folder);
  return place;
}

/** A hard link costs no space. If the file system has none, or the file has too many, a durable copy is written instead. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to).catch(async (error: unknown) => {
      if (systemCode(error) === 'ENOENT') throw error;
      await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await syncFile(to);
    });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw new LackingContents();
    throw error;
  }
}

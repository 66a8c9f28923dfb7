import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { ifThere, statIfThere } from '../../core/files/ifThere.ts';
import { tryParseJson } from '../../core/jsonFields.ts';
import { ownerState, processOwner } from '../../core/processes/processOwner.ts';

const startedSubmit = z.object({
  folder: z.string(),
  /** What people call it: its script, or the name of its sweep. */
  name: z.string(),
  /** The arguments that repeat it. */
  request: z.record(z.string(), z.unknown()),
});

/** A submit that has begun and of which nothing was sent yet, so that the job ledger does not have it. */
export type StartedSubmit = Readonly<z.output<typeof startedSubmit>>;

const ENTRY = /^(?<owner>[^_]+)_[0-9a-f-]{36}\.json$/;
// After this time, an interrupted submit is no longer worth reporting.
const FORGOTTEN_MS = 24 * 3600_000;

/**
 * The submits that processes are packing, stored in FARWHARF_HOME. A process that stops meanwhile, as that of a window that is reloaded,
 * leaves its entries. Each is named after its process.
 */
export class StartedSubmits {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = join(home, 'submits');
  }

  /** Records a submit. The result removes it again; call it once something may have been sent, or the submit has failed. */
  async begin(submit: StartedSubmit): Promise<() => Promise<void>> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const entry = join(this.#folder, `${processOwner()}_${randomUUID()}.json`);
    await writeAtomically(entry, JSON.stringify(submit));
    // If the entry remains, it is only reported once too often.
    return () => rm(entry, { force: true }).catch(() => {});
  }

  /**
   * Takes the submits from these folders whose process has stopped.
   *
   * @returns them, and whether there are others whose process may still stop.
   */
  async takeInterrupted(
    folders: readonly string[],
  ): Promise<{ readonly interrupted: readonly StartedSubmit[]; readonly hasOthers: boolean }> {
    const interrupted: StartedSubmit[] = [];
    let hasOthers = false;
    for (const name of await ifThere(readdir(this.#folder), [])) {
      const owner = ENTRY.exec(name)?.groups?.['owner'];
      if (owner === undefined) continue;
      const path = join(this.#folder, name);
      const stats = await statIfThere(path);
      const isOld = stats !== undefined && Date.now() - stats.mtimeMs > FORGOTTEN_MS;
      const submit = await readEntry(path);
      const isHere = submit !== undefined && folders.includes(submit.folder);
      const isStopped = ownerState(owner) === 'stopped';
      if (isOld) await rm(path, { force: true });
      else if (isHere && !isStopped) hasOthers = true;
      else if (isHere && (await isRemoved(path))) interrupted.push(submit);
    }
    return { interrupted, hasOthers };
  }
}

/** Removes a file. Returns whether it was there: of several processes, only one removes it. */
async function isRemoved(path: string): Promise<boolean> {
  return ifThere(
    unlink(path).then(() => true),
    false,
  );
}

async function readEntry(path: string): Promise<StartedSubmit | undefined> {
  return startedSubmit.safeParse(tryParseJson(await ifThere(readFile(path, 'utf8'), ''))).data;
}

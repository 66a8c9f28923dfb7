import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, systemCode } from '../../core/errors.ts';
import { textField } from '../../core/jsonFields.ts';
import { ownerState, processOwner } from '../../core/processes/processOwner.ts';
import { recoverResults } from '../../workspace/results/resultRecovery.ts';

interface Entry {
  readonly folder: string;
  readonly staging: string;
  readonly script: string;
}

/** The journal of a download whose results are being unpacked or written. */
export interface ResultJournal {
  /** The name of its staging folder. */
  readonly stagingName: string;
  /** Path of the file for `applyResults`. */
  readonly steps: string;
  /** Whether something must still be undone. */
  isOpen(): boolean;
  /** Whether another download, of any process on this machine, is writing into the folder, and may take back what it writes. */
  othersWrite(): boolean;
  /** Removes the journal, unless it is open; then any process may undo the download. */
  end(): void;
}

/** The outcome of undoing a download that was interrupted while its results were written. */
export interface RecoveredDownload {
  readonly folder: string;
  readonly script: string;
  /** Number of files that were removed or restored. */
  readonly files: number;
  /** Originals that were restored beside files that somebody has changed since. */
  readonly beside: readonly string[];
  /** Why it could not be undone completely; undefined if it was. */
  readonly problem?: string;
}

const ENTRY = /^(?<owner>[^_]+)_(?<id>[0-9a-f-]{36})\.json$/;
const ABANDONED = 'nobody';
const DAY_MS = 24 * 3600_000;
// After this time, a missing folder, for example on a removable drive, is given up.
const FORGOTTEN_MS = 30 * DAY_MS;

/** Whether a download was ever recorded in `home`. */
export async function hasResultJournals(home: string): Promise<boolean> {
  return access(journalFolder(home)).then(
    () => true,
    () => false,
  );
}

const journalFolder = (home: string): string => join(home, 'results');

/**
 * The downloads that are being written into folders, stored in FARWHARF_HOME, because anybody may have written files in the folder itself.
 * Each journal is named after its process and is claimed by renaming it, so that two processes never undo the same download.
 */
export class ResultJournals {
  readonly #home: string;

  constructor(home: string) {
    this.#home = journalFolder(home);
  }

  /** Records a download before it writes anything into the folder. */
  begin(folder: string, script: string): ResultJournal {
    mkdirSync(this.#home, { recursive: true, mode: 0o700 });
    const id = randomUUID();
    const stagingName = `.farwharf-staging-${id}`;
    const entry = this.#entry(processOwner(), id);
    const content: Entry = { folder, staging: join(folder, stagingName, 'files'), script };
    writeFileSync(entry, JSON.stringify(content), { mode: 0o600, flag: 'wx' });
    const steps = this.#steps(id);
    return {
      stagingName,
      steps,
      isOpen: () => this.#isOpen(id),
      othersWrite: () => this.#names().some((name) => this.#isWriting(name, folder, id)),
      end: () => this.#end(entry, id),
    };
  }

  /** Undoes downloads of processes that have stopped. Of concurrent calls, only one finds each of them. */
  async recover(): Promise<readonly RecoveredDownload[]> {
    const recovered: RecoveredDownload[] = [];
    for (const name of this.#names()) {
      const { owner = '', id = '' } = ENTRY.exec(name)?.groups ?? {};
      if (id === '' || !this.#isAbandoned(owner, name)) continue;
      const entry = this.#claim(name, id);
      const result = entry === undefined ? undefined : await this.#recover(entry, id);
      if (result !== undefined) recovered.push(result);
    }
    return recovered;
  }

  async #recover(entry: string, id: string): Promise<RecoveredDownload | undefined> {
    const { folder, script, staging } = readEntry(entry);
    if (staging === '') {
      rmSync(entry, { force: true }); // incomplete after a power loss, before anything was written into the folder
      return undefined;
    }
    try {
      const undone = await recoverResults(staging, this.#steps(id));
      this.#end(entry, id);
      if (undone === undefined) return undefined;
      const { files, beside, failed } = undone;
      const [first] = failed;
      if (first === undefined) return { folder, script, files, beside };
      return { folder, script, files, beside, problem: `${first.path}: ${messageOf(first.error)}` };
    } catch (error) {
      const isOld = Date.now() - statSync(entry).mtimeMs > FORGOTTEN_MS;
      if (isOld) rmSync(this.#steps(id), { force: true });
      this.#end(entry, id);
      if (systemCode(error) === 'ENOENT') return undefined;
      return { folder, script, files: 0, beside: [], problem: messageOf(error) };
    }
  }

  #names(): string[] {
    try {
      return readdirSync(this.#home);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return []; // nothing has ever been downloaded
      throw error;
    }
  }

  /** Whether a name is of the journal of another download that is writing into the folder. */
  #isWriting(name: string, folder: string, ownId: string): boolean {
    const { owner = '', id = '' } = ENTRY.exec(name)?.groups ?? {};
    if (id === '' || id === ownId || !this.#isOpen(id) || ownerState(owner) !== 'running') return false;
    return readEntry(join(this.#home, name)).folder === folder;
  }

  #isAbandoned(owner: string, name: string): boolean {
    if (owner === ABANDONED) return true;
    const state = ownerState(owner);
    if (state !== 'unknown') return state === 'stopped';
    // For another machine or a container that shares FARWHARF_HOME: no write for a day.
    const time = statSync(join(this.#home, name), { throwIfNoEntry: false })?.mtimeMs;
    return time !== undefined && Date.now() - time > DAY_MS;
  }

  /** Claims an entry for this process; undefined if another process was faster. */
  #claim(name: string, id: string): string | undefined {
    const entry = this.#entry(processOwner(), id);
    try {
      renameSync(join(this.#home, name), entry);
      return entry;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  #isOpen(id: string): boolean {
    return existsSync(this.#steps(id));
  }

  #end(entry: string, id: string): void {
    rmSync(`${this.#steps(id)}.part`, { force: true });
    if (this.#isOpen(id)) renameSync(entry, this.#entry(ABANDONED, id));
    else rmSync(entry, { force: true });
  }

  #entry(owner: string, id: string): string {
    return join(this.#home, `${owner}_${id}.json`);
  }

  #steps(id: string): string {
    return join(this.#home, `${id}.steps`);
  }
}

/** Empty texts if the file is incomplete. */
function readEntry(file: string): Entry {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    value = undefined;
  }
  const text = (name: string): string => textField(value, name) ?? '';
  return { folder: text('folder'), staging: text('staging'), script: text('script') };
}

/** Describes what was undone and what to do next. */
export function describeRecovered({ folder, script, files, beside, problem }: RecoveredDownload): string {
  const what = `Farwharf was stopped while it was writing results of ${script} into ${folder}.`;
  if (problem !== undefined) {
    return `${what} Not everything could be undone (${problem}). The originals are in the folder's .farwharf-staging-… folder. The next command tries again.`;
  }
  const kept =
    beside.length === 0
      ? ''
      : ` Files that changed since were kept, with the earlier versions beside them: ${beside.join(', ')}.`;
  const state = files === 0 ? 'Nothing was changed yet' : 'The folder is as it was before';
  return `${what} ${state}. Download the results again.${kept}`;
}

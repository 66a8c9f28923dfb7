import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../../core/errors.ts';
import { writeAtomically } from '../../../core/files/atomicFile.ts';
import { ifThere } from '../../../core/files/ifThere.ts';
import { unendedState } from './describeRun.ts';
import { readIfThere, readRunRecord } from './runFiles.ts';
import { folderNameOf, REMOVED_RUNS, type RunFolder, runFolder } from './runFolder.ts';
import type { RunRecord } from './runRecord.ts';

export interface HistoryLimits {
  /** Of one file. */
  readonly runs: number;
  /** Of one file, in bytes. */
  readonly bytes: number;
}

export const HISTORY_LIMITS: HistoryLimits = { runs: 50, bytes: 200_000_000 };
// An eval has many runs, which must not displace those that people started.
const EVAL_LIMITS: HistoryLimits = { runs: 500, bytes: 200_000_000 };
const EVAL_SUFFIX = '-eval';
const LAST = 'last';

const removedRuns = z.object({ runs: z.int().min(0) });

/**
 * The runs of flow files, each in its own folder below FARWHARF_HOME. Of each file, the newest runs are kept, and those that are still needed:
 * that wait for an answer, run now, or that a kept run continues or replays.
 */
export class RunHistory {
  readonly #home: string;
  readonly #limits: HistoryLimits;

  constructor(home: string, limits: HistoryLimits = HISTORY_LIMITS) {
    this.#home = home;
    this.#limits = limits;
  }

  /** Creates the folder of a new run, and removes the file's oldest runs over the limits that are not needed any more. */
  async begin(
    facts: Omit<RunRecord, 'version' | 'id' | 'startedAt'>,
  ): Promise<{ record: RunRecord; folder: RunFolder }> {
    const startedAt = new Date().toISOString();
    const id = `${startedAt.replaceAll(/[-:.TZ]/g, '')}-${randomUUID().slice(0, 4)}${facts.evalCase === undefined ? '' : EVAL_SUFFIX}`;
    const record: RunRecord = { version: 1, id, startedAt, ...facts };
    const folder = runFolder(join(await this.#folderOf(facts.file), id));
    await mkdir(folder.path, { recursive: true, mode: 0o700 });
    await writeRecord(folder, record);
    await this.#prune(facts.file, id);
    return { record, folder };
  }

  async update(record: RunRecord): Promise<void> {
    await writeRecord(await this.folder(record.file, record.id), record);
  }

  /**
   * Copies the run of a job from its results into the history, under a new id.
   *
   * @param file the flow file here.
   * @throws AppError `missing` if the folder contains no run.
   */
  async adopt(file: string, results: RunFolder): Promise<RunRecord> {
    const resultRecord = await readRunRecord(results);
    if (resultRecord === undefined) throw new AppError('missing', `${results.path} contains no flow run.`);
    const { version: _version, id: _id, startedAt, ...facts } = resultRecord;
    const { record, folder } = await this.begin({ ...facts, file });
    await cp(results.path, folder.path, { recursive: true });
    const adopted = { ...record, startedAt };
    await this.update(adopted);
    return adopted;
  }

  /** The runs of a file, the newest first. Other folders are skipped. */
  async list(file: string): Promise<readonly RunRecord[]> {
    const path = await this.#folderOf(file);
    const records = await Promise.all((await idsIn(path)).map((id) => readRunRecord(runFolder(join(path, id)))));
    return records.filter((record) => record !== undefined).toSorted((a, b) => (a.id < b.id ? 1 : -1));
  }

  /**
   * The record of a run; `last` is the newest.
   *
   * @throws AppError `missing` if there is no such run.
   */
  async find(file: string, id: string): Promise<RunRecord> {
    const records = await this.list(file);
    const match =
      id === LAST
        ? (records.find((record) => record.evalCase === undefined) ?? records[0])
        : records.find((record) => record.id === id || record.id.startsWith(id));
    if (match !== undefined) return match;
    const lastRuns =
      records.length === 0
        ? 'It has no runs yet. Run it first'
        : `Its runs are ${records.map((record) => record.id).join(', ')}`;
    throw new AppError('missing', `${basename(file)} has no run "${id}". ${lastRuns}.`);
  }

  /** How many runs of a file were removed, because they were over the limits. */
  async removed(file: string): Promise<number> {
    return removedIn(await this.#folderOf(file));
  }

  /**
   * The record of a run of any file, by its id or the start of it; `last` is the newest that waits for an answer.
   *
   * @throws AppError `missing` if there is no such run, `bad-input` if several ids start like that.
   */
  async locate(id: string): Promise<RunRecord> {
    const flows = join(this.#home, 'flows');
    const matches: RunRecord[] = [];
    for (const name of id === '' ? [] : await idsIn(flows)) {
      const ids = (await idsIn(join(flows, name))).filter((each) => id === LAST || each.startsWith(id));
      for (const each of ids) {
        const record = await readRunRecord(runFolder(join(flows, name, each)));
        if (record !== undefined && (id !== LAST || isWaiting(record))) matches.push(record);
      }
    }
    if (id === LAST) {
      const [newest] = matches.toSorted((a, b) => (a.id < b.id ? 1 : -1));
      if (newest !== undefined) return newest;
      throw new AppError('missing', 'No run on this machine waits for an answer.');
    }
    const [first, second] = matches;
    if (first === undefined) {
      throw new AppError(
        'missing',
        `No run "${id}" on this machine. farwharf flow runs FILE lists the runs of a file.`,
      );
    }
    if (second === undefined) return first;
    throw new AppError('bad-input', `Several runs start with "${id}": ${matches.map((each) => each.id).join(', ')}.`);
  }

  /** A run after those that it continued by answering them, the first of them first. */
  async answeredChain(last: RunRecord): Promise<readonly RunRecord[]> {
    const chain = [last];
    for (let at = last; at.answer !== undefined && at.resumedFrom !== undefined; chain.unshift(at)) {
      at = await this.find(at.file, at.resumedFrom.run);
    }
    return chain;
  }

  /**
   * Moves the runs of files that were renamed, so that they are those of the new files. Runs in progress stay.
   *
   * @param renamed returns the new path of a file; undefined if it has not changed.
   */
  async followRenames(renamed: (file: string) => string | undefined): Promise<void> {
    const flows = join(this.#home, 'flows');
    for (const name of await idsIn(flows)) {
      for (const id of await idsIn(join(flows, name))) {
        const path = join(flows, name, id);
        const record = await readRunRecord(runFolder(path));
        const to = record && renamed(record.file);
        if (record !== undefined && to === undefined) break; // so are the others of this file
        if (record === undefined || to === undefined || isInProgress(record)) continue;
        const moved = await this.folder(to, id);
        await mkdir(dirname(moved.path), { recursive: true, mode: 0o700 });
        await rename(path, moved.path);
        await this.update({ ...record, file: to });
      }
    }
  }

  async folder(file: string, id: string): Promise<RunFolder> {
    return runFolder(join(await this.#folderOf(file), id));
  }

  async delete(file: string, id: string): Promise<void> {
    await rm((await this.folder(file, id)).path, { recursive: true, force: true });
  }

  async #folderOf(file: string): Promise<string> {
    return join(this.#home, 'flows', await folderNameOf(file));
  }

  async #prune(file: string, newest: string): Promise<void> {
    const path = await this.#folderOf(file);
    const isEval = newest.endsWith(EVAL_SUFFIX);
    const limits = isEval ? EVAL_LIMITS : this.#limits;
    const ids = (await idsIn(path))
      .filter((id) => id !== newest && id.endsWith(EVAL_SUFFIX) === isEval)
      .toSorted((a, b) => (a < b ? 1 : -1));
    let bytes = 0;
    const [kept, over]: [string[], string[]] = [[newest], []];
    for (const [index, id] of ids.entries()) {
      bytes += await sizeOf(join(path, id));
      (index + 2 > limits.runs || bytes > limits.bytes ? over : kept).push(id);
    }
    if (over.length === 0) return;
    const removed = await unneeded(path, kept, over);
    for (const id of removed) await rm(join(path, id), { recursive: true, force: true });
    if (removed.length === 0) return;
    const runs = (await removedIn(path)) + removed.length;
    await writeAtomically(join(path, REMOVED_RUNS), `${JSON.stringify({ runs })}\n`);
  }
}

/**
 * The runs over the limits that may be removed. A run only names older ones, so they are judged from the newest to the oldest. What a kept run
 * continues is kept to its beginning, because a test needs the whole chain; what it replays is kept alone, because each run of a series may
 * replay the one before.
 */
async function unneeded(path: string, kept: readonly string[], over: readonly string[]): Promise<readonly string[]> {
  const recordOf = (id: string): Promise<RunRecord | undefined> => readRunRecord(runFolder(join(path, id)));
  const needed = new Set<string | undefined>();
  for (const record of await Promise.all(kept.map(recordOf))) {
    needed.add(record?.resumedFrom?.run).add(record?.replayOf);
  }
  const removed: string[] = [];
  for (const id of over) {
    const record = await recordOf(id);
    const isOpen = record !== undefined && (isWaiting(record) || isInProgress(record));
    if (isOpen) needed.add(record.replayOf);
    if (isOpen || needed.has(id)) needed.add(record?.resumedFrom?.run);
    else removed.push(id);
  }
  return removed;
}

async function removedIn(path: string): Promise<number> {
  try {
    return removedRuns.parse(JSON.parse(await readIfThere(join(path, REMOVED_RUNS)))).runs;
  } catch {
    return 0;
  }
}

function isWaiting({ outcome, answeredBy }: RunRecord): boolean {
  return outcome?.type === 'waiting' && answeredBy === undefined;
}

async function writeRecord(folder: RunFolder, record: RunRecord): Promise<void> {
  await writeAtomically(folder.record, `${JSON.stringify(record, undefined, 1)}\n`);
}

function isInProgress(record: RunRecord): boolean {
  return record.outcome === undefined && unendedState(record) !== 'terminated';
}

async function idsIn(path: string): Promise<string[]> {
  const entries = await ifThere(readdir(path, { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Other runs write their folders at the same time: a temporary file may be gone before it is measured. */
async function sizeOf(folder: string): Promise<number> {
  const sizes = (await ifThere(readdir(folder), [])).map(
    async (name) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

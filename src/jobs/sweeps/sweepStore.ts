import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { ifThere } from '../../core/files/ifThere.ts';
import { makeFolder } from '../../core/files/makeFolder.ts';
import { printableLine } from '../../core/text/printable.ts';
import { isRegularFile, readBounded } from '../../workspace/files/boundedRead.ts';
import { isRecordId } from '../ledger/record.ts';
import { type Sweep, storedSweep } from './sweep.ts';

const MAX_BYTES = 30_000_000;
const SUFFIX = '.json';

/** The sweeps that were submitted from this machine, one file each in FARWHARF_HOME. A sweep is stored before any of its jobs is sent. */
export class SweepStore {
  readonly #home: string;
  readonly #folder: string;

  constructor(home: string) {
    this.#home = home;
    this.#folder = join(home, 'sweeps');
  }

  /** @throws AppError `limit` if the terms of the jobs are too large together, `no-space` on a full disk. */
  async write(sweep: Sweep): Promise<void> {
    const text = JSON.stringify(sweep);
    if (Buffer.byteLength(text) > MAX_BYTES) {
      throw new AppError('limit', 'The jobs of this sweep have too many variables together, so nothing was sent.');
    }
    try {
      makeFolder(this.#folder);
      await writeAtomically(this.#path(sweep.id), text, { isDurable: true });
    } catch (error) {
      throw diskError(error, this.#home);
    }
  }

  /** Undefined if there is no such sweep. @throws AppError `corrupt` for a damaged file. */
  async read(id: string): Promise<Sweep | undefined> {
    const path = this.#path(id);
    const bytes = await readBounded(path, MAX_BYTES);
    if (bytes === undefined && !(await isRegularFile(path, Number.MAX_SAFE_INTEGER))) return undefined;
    try {
      return storedSweep.parse(JSON.parse(String(bytes)));
    } catch (error) {
      throw new AppError('corrupt', `The file of this sweep is damaged: ${path}. Its jobs are in the list of jobs.`, {
        cause: error,
      });
    }
  }

  /** The IDs of all sweeps. */
  async ids(): Promise<readonly string[]> {
    const names = await ifThere(readdir(this.#folder), []);
    return names.flatMap((name) => {
      const id = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : '';
      return isRecordId(id) ? [id] : [];
    });
  }

  /**
   * The sweep whose ID starts with a text.
   *
   * @throws AppError `missing` if there is none, `bad-input` if there are several.
   */
  async find(start: string): Promise<Sweep> {
    const [id, ...more] = (await this.ids()).filter((each) => start !== '' && each.startsWith(start));
    if (more.length > 0) {
      throw new AppError(
        'bad-input',
        `${more.length + 1} sweeps start with "${start}". Enter more characters of the ID.`,
      );
    }
    const found = id === undefined ? undefined : await this.read(id);
    if (found !== undefined) return found;
    const sentence = `Sweep ${start} does not exist on this machine. List them:  farwharf sweep list`;
    throw new AppError('missing', printableLine(sentence));
  }

  /** Removes a sweep none of whose jobs was sent. */
  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true });
  }

  #path(id: string): string {
    return join(this.#folder, `${id}${SUFFIX}`);
  }
}

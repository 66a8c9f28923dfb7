import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { writeAtomically } from '../../../core/files/atomicFile.ts';
import { ifThere } from '../../../core/files/ifThere.ts';
import { folderNameOf } from '../history/runFolder.ts';
import { type EvalRecord, evalRecordSchema } from './evalRecord.ts';

const MAX_EVALS = 100;

/** The evals of flow files, below FARWHARF_HOME. The newest of each file are kept. */
export class EvalStore {
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  async add(record: EvalRecord): Promise<void> {
    const folder = await this.#folderOf(record.file);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeAtomically(join(folder, `${record.id}.json`), `${JSON.stringify(record)}\n`);
    // Another window may remove the same ones.
    for (const id of (await this.#ids(record.file)).slice(MAX_EVALS))
      await rm(join(folder, `${id}.json`), { force: true });
  }

  /** The newest eval of a file with the same data set; undefined if there is none. */
  async latest(file: string, data: string): Promise<EvalRecord | undefined> {
    for (const id of await this.#ids(file)) {
      const record = await this.#read(file, id);
      if (record?.data === data) return record;
    }
    return undefined;
  }

  /**
   * The eval with an id, or the start of one.
   *
   * @throws AppError `missing` if there is none.
   */
  async find(file: string, id: string): Promise<EvalRecord> {
    const ids = await this.#ids(file);
    const match = ids.find((each) => each.startsWith(id));
    const record = id === '' || match === undefined ? undefined : await this.#read(file, match);
    if (record !== undefined) return record;
    const lastIds = ids.length === 0 ? 'It has none yet' : `The last are ${ids.slice(0, 5).join(', ')}`;
    throw new AppError('missing', `${basename(file)} has no eval "${id}". ${lastIds}.`);
  }

  /** The newest first. */
  async #ids(file: string): Promise<readonly string[]> {
    const names = await ifThere(readdir(await this.#folderOf(file)), []);
    return names
      .flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
      .toSorted((a, b) => (a < b ? 1 : -1));
  }

  /** Undefined for a file that is damaged or from another version. */
  async #read(file: string, id: string): Promise<EvalRecord | undefined> {
    try {
      const text = await readFile(join(await this.#folderOf(file), `${id}.json`), 'utf8');
      return evalRecordSchema.parse(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  async #folderOf(file: string): Promise<string> {
    return join(this.#home, 'evals', await folderNameOf(file));
  }
}

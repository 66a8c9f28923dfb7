import { AppError, systemCode } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';
import { type Json, stableJson, toPlainJson } from './plainJson.ts';
import type { RecordingEntry } from './recordSchemas.ts';
import type { MissingReason } from './trace.ts';

// As long as a text can be.
const MAX_BYTES = 500e6;

type Hash = (text: string) => string;

/** One call of `exec`: its position, code and input. */
export interface ExecCall {
  readonly path: string;
  readonly visit: number;
  readonly item: number | undefined;
  readonly input: unknown;
  readonly code: string;
}

/**
 * The results of the `exec` calls of a run, stored in a JSON-lines file.
 *
 * A result is found again by node path, visit number, position in a batch, what `prep` returned, and the source text of
 * `exec` and `execFallback`. So an edited or new node runs, and all others get their recorded results.
 */
export class Recording implements AsyncDisposable {
  readonly #path: string;
  readonly #entries: Map<string, RecordingEntry>;
  /** By node path, visit and item; created on first use. */
  #byPlace: Map<string, RecordingEntry[]> | undefined;
  readonly #whenMissing: 'run' | 'fail';
  readonly #hash: Hash;
  #isChanged = false;

  private constructor(path: string, entries: readonly RecordingEntry[], whenMissing: 'run' | 'fail', hash: Hash) {
    this.#path = path;
    this.#hash = hash;
    this.#entries = new Map(entries.map((entry) => [keyOf(entry), entry]));
    this.#whenMissing = whenMissing;
  }

  /**
   * Opens a recording; a missing file is an empty recording. With `whenMissing: 'fail'`, a replay without a recorded result is an
   * error instead of a live call, as tests need it.
   *
   * @throws AppError `corrupt` with the invalid line.
   */
  static async open(path: string, options: { readonly whenMissing?: 'run' | 'fail' } = {}): Promise<Recording> {
    let text = '';
    try {
      const { readNamedFile } = await import('../../core/files/namedFile.ts'); // loads streams, a tenth of the cost of importing the library
      text = await readNamedFile(path, { name: `The recording ${path}`, maxBytes: MAX_BYTES });
    } catch (error) {
      if (!(error instanceof AppError) || systemCode(error.cause) !== 'ENOENT') throw error;
    }
    const lines = text.split('\n').filter((line) => line !== '');
    const { recordingEntrySchema } = await import('./recordSchemas.ts'); // zod is as large as the rest of the runtime
    const entries = lines.map((line, index) => {
      try {
        return recordingEntrySchema.parse(parseJson(line));
      } catch (error) {
        const at = `${path}:${index + 1}`;
        throw new AppError('corrupt', `${at} is not an entry of a recording. Record the run again.`, { cause: error });
      }
    });
    const { createHash } = await import('node:crypto'); // would be half the cost of importing the runtime
    const hash = (value: string): string => createHash('sha256').update(value).digest('base64url').slice(0, 22);
    return new Recording(path, entries, options.whenMissing ?? 'run', hash);
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The recorded result of this call, or undefined if there is none.
   *
   * @throws AppError `missing` when there is none and the recording was opened with `whenMissing: 'fail'`.
   */
  find(call: ExecCall): { readonly result: unknown } | undefined {
    const entry = this.#entries.get(keyOf(this.#toEntry(call)));
    // A copy, because a node that modifies its result would change the next replay.
    if (entry !== undefined) return { result: structuredClone(entry.result) };
    if (this.#whenMissing === 'run') return undefined;
    throw new AppError(
      'missing',
      `The recording ${this.#path} has no result for ${placeOf(call)} with this code and input. Record the run again.`,
    );
  }

  /** @throws AppError `bad-input` if the input or the result is not plain data; the message names the node and the key. */
  keep(call: ExecCall, result: unknown): void {
    const entry = this.entryOf(call, result);
    this.#entries.set(keyOf(entry), entry);
    this.#byPlace = undefined;
    this.#isChanged = true;
  }

  /** The entry that `keep` would store; throws as it does. */
  entryOf(call: ExecCall, result: unknown): RecordingEntry {
    const json = result === undefined ? undefined : toPlainJson(result, `The result of exec in ${placeOf(call)}`);
    return { ...this.#toEntry(call), result: json };
  }

  /** Why `find` has no result for a call: its code differs, its input differs, or there was no such call. */
  whyMissing(call: ExecCall): MissingReason {
    this.#byPlace ??= Map.groupBy(this.#entries.values(), placeOf);
    const { code } = this.#toEntry(call);
    const earlier = this.#byPlace.get(placeOf(call));
    if (earlier === undefined) return 'new';
    return earlier.some((entry) => entry.code === code) ? 'input' : 'code';
  }

  /** Writes the file atomically. */
  async save(): Promise<void> {
    const lines = [...this.#entries.values()].map((entry) => `${JSON.stringify(entry)}\n`);
    const { writeAtomically } = await import('../../core/files/atomicFile.ts'); // loads node:crypto
    this.#isChanged = false;
    await writeAtomically(this.#path, lines.join(''), { mode: 0o666 });
  }

  /** Saves what was recorded since, also when the run failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isChanged) await this.save();
  }

  #toEntry({ path, visit, item, input, code }: ExecCall): RecordingEntry {
    const json: Json = input === undefined ? null : toPlainJson(input, `The input of exec in ${path}`);
    return { path, visit, item, input: this.#hash(stableJson(json)), code: this.#hash(code) };
  }
}

function keyOf({ path, visit, item, input, code }: RecordingEntry): string {
  return [path, visit, item ?? '', input, code].join('\n');
}

function placeOf({
  path,
  visit,
  item,
}: Pick<ExecCall, 'path' | 'visit'> & { readonly item?: number | undefined }): string {
  return `${path} (visit ${visit}${item === undefined ? '' : `, item ${item}`})`;
}

import { AppError, systemCode } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';
import { type Json, stableJson, toPlainJson } from './plainJson.ts';
import type { RecordedStep, ResultEntry, StepEntry } from './recordSchemas.ts';
import type { MissingReason } from './trace.ts';
import { checkOptions } from '../schema/optionShape.ts';

// As long as a text can be.
const MAX_BYTES = 500e6;

type Hash = (text: string) => string;

/** The position of a call of `exec`. */
export interface ExecPlace {
  readonly path: string;
  readonly visit: number;
  readonly item: number | undefined;
}

/** One call of `exec`: its position, code and input. */
export interface ExecCall extends ExecPlace {
  readonly input: unknown;
  readonly code: string;
}

/**
 * The results of the `exec` calls of a run, and what tool loops did in them, stored in a JSON-lines file.
 *
 * A result is found again by node path, visit number, position in a batch, what `prep` returned, and the source text of
 * `exec` and `execFallback`. So an edited or new node runs, and all others get their recorded results. Calls of tools are appended to the
 * file as they begin and end, and are found again by node path, visit, item, name and arguments.
 */
export class Recording implements AsyncDisposable {
  readonly #path: string;
  readonly #entries: Map<string, ResultEntry>;
  /** By node path, visit and item; created on first use. */
  #byPlace: Map<string, ResultEntry[]> | undefined;
  /** By node path, visit and item. */
  readonly #steps: Map<string, StepEntry[]>;
  readonly #append: (line: string) => void;
  readonly #whenMissing: 'run' | 'fail';
  readonly #hash: Hash;
  #isChanged = false;

  private constructor(
    path: string,
    entries: readonly (ResultEntry | StepEntry)[],
    whenMissing: 'run' | 'fail',
    { hash, append }: { readonly hash: Hash; readonly append: (line: string) => void },
  ) {
    this.#path = path;
    this.#hash = hash;
    this.#append = append;
    const results = entries.filter((entry): entry is ResultEntry => !('step' in entry));
    this.#entries = new Map(results.map((entry) => [keyOf(entry), entry]));
    this.#steps = Map.groupBy(
      entries.filter((entry): entry is StepEntry => 'step' in entry),
      placeOf,
    );
    this.#whenMissing = whenMissing;
  }

  /**
   * Opens a recording; a missing file is an empty recording. With `whenMissing: 'fail'`, a replay without a recorded result is an
   * error instead of a live call, as tests need it.
   *
   * @throws AppError `corrupt` with the invalid line.
   */
  static async open(path: string, options: { readonly whenMissing?: 'run' | 'fail' } = {}): Promise<Recording> {
    checkOptions('Recording.open', options, { whenMissing: 'string' });
    let text = '';
    try {
      const { readNamedFile } = await import('../../core/files/namedFile.ts'); // loads streams, a tenth of the cost of importing the library
      text = await readNamedFile(path, { name: `The recording ${path}`, maxBytes: MAX_BYTES });
    } catch (error) {
      if (!(error instanceof AppError) || systemCode(error.cause) !== 'ENOENT') throw error;
    }
    // A process that was killed may have left its last line unfinished.
    const lines = text
      .split('\n')
      .filter((line, index, all) => line !== '' && (index < all.length - 1 || isJson(line)));
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
    const { appendFileSync, truncateSync } = await import('node:fs');
    const end = text.lastIndexOf('\n') + 1;
    let unfinished = text.slice(end);
    const append = (line: string): void => {
      try {
        if (unfinished !== '') {
          truncateSync(path, Buffer.byteLength(text.slice(0, end))); // it would damage the line after it
          if (isJson(unfinished)) appendFileSync(path, `${unfinished}\n`);
          unfinished = '';
        }
        appendFileSync(path, line);
      } catch {
        // `save` reports a file that cannot be written
      }
    };
    return new Recording(path, entries, options.whenMissing ?? 'run', { hash, append });
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

  /** Stores what a tool loop did, at once: a process can be killed at any time. */
  keepStep(place: ExecPlace, step: RecordedStep): void {
    const entry = { ...place, step };
    const name = placeOf(place);
    this.#steps.set(name, [...(this.#steps.get(name) ?? []), entry]);
    this.#append(`${JSON.stringify(entry)}\n`);
    this.#isChanged = true;
  }

  /** What tool loops did in an `exec`, in order; a later step of a call replaces those before. */
  steps(place: ExecPlace): readonly RecordedStep[] {
    return (this.#steps.get(placeOf(place)) ?? []).map(({ step }) => step);
  }

  /** The entry that `keep` would store; throws as it does. */
  entryOf(call: ExecCall, result: unknown): ResultEntry {
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
    const lines = [...[...this.#steps.values()].flat(), ...this.#entries.values()].map(
      (entry) => `${JSON.stringify(entry)}\n`,
    );
    const { writeAtomically } = await import('../../core/files/atomicFile.ts'); // loads node:crypto
    this.#isChanged = false;
    await writeAtomically(this.#path, lines.join(''), { mode: 0o666 });
  }

  /** Saves what was recorded since, also when the run failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isChanged) await this.save();
  }

  #toEntry({ path, visit, item, input, code }: ExecCall): ResultEntry {
    const json: Json = input === undefined ? null : toPlainJson(input, `The input of exec in ${path}`);
    return { path, visit, item, input: this.#hash(stableJson(json)), code: this.#hash(code) };
  }
}

function isJson(line: string): boolean {
  try {
    parseJson(line);
    return true;
  } catch {
    return false;
  }
}

function keyOf({ path, visit, item, input, code }: ResultEntry): string {
  return [path, visit, item ?? '', input, code].join('\n');
}

function placeOf({
  path,
  visit,
  item,
}: Pick<ExecCall, 'path' | 'visit'> & { readonly item?: number | undefined }): string {
  return `${path} (visit ${visit}${item === undefined ? '' : `, item ${item}`})`;
}

import { hash } from 'node:crypto';
import * as path from 'node:path';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { nearestRealPath } from '../../core/files/realPaths.ts';
import { readBounded } from '../../workspace/files/boundedRead.ts';
import type { ManifestEntry } from '../../workspace/pack/pack.ts';
import { MAX_FILE_BYTES } from '../archives/archivedFiles.ts';
import { type compareLines, type LineMap, toCurrentLine, toOlderLine } from '../source/lineMap.ts';
import { isForeign } from '../source/workspacePath.ts';

const FOLDS_CASE = process.platform === 'win32' || process.platform === 'darwin';

/** The files that were submitted with jobs. */
interface SubmittedTexts {
  list(id: string): Promise<readonly ManifestEntry[]>;
  read(id: string, paths: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
}

export interface JobSourcesOptions {
  /** Our own ID of the job. */
  readonly id: string;
  /** The folder of the job where it runs, absolute, with `/`. */
  readonly jobFolder: string;
  /** The folder that was submitted, absolute. */
  readonly localFolder: string;
  readonly submitted: SubmittedTexts;
  readonly compare: (...texts: Parameters<typeof compareLines>) => Promise<LineMap | undefined> | LineMap | undefined;
  /** The text of a file in an unsaved editor. */
  readonly unsavedText?: (file: string) => string | undefined;
}

/** How the lines of a file as it was submitted correspond to those it has now. */
type LineComparison =
  | { readonly type: 'same' }
  | { readonly type: 'edited'; readonly map: LineMap }
  /** The file is gone, or has nothing in common with what was submitted. */
  | { readonly type: 'replaced' }
  /** What was submitted is no longer known. Lines are taken to be the same. */
  | { readonly type: 'unknown' };

/** A submitted file. */
export interface JobSource {
  /** In the folder, with `/`. */
  readonly path: string;
  /** Where it is in the job. */
  readonly jobPath: string;
  /** Where it is, or was, on this machine. */
  readonly file: string;
  readonly lines: LineComparison;
}

/** The text of a file of the job; undefined if it cannot be had. */
type ReadJobText = (jobPath: string) => Promise<string | undefined>;

interface Compared {
  readonly local: string | undefined;
  readonly lines: LineComparison;
}

/** Maps between the files of a running job and those of the folder that was submitted, as they are now. */
export class JobSources {
  readonly #options: JobSourcesOptions;
  /** By path. Undefined once it is known that they are stored nowhere. */
  #manifest: Promise<ReadonlyMap<string, ManifestEntry> | undefined> | undefined;
  readonly #texts = new Map<string, string | undefined>();
  readonly #compared = new Map<string, Compared>();

  constructor(options: JobSourcesOptions) {
    this.#options = options;
  }

  /**
   * The submitted files among files of the job.
   *
   * @param readJobText is asked where what was submitted is not stored on this machine.
   * @returns by the paths in the job.
   */
  async ofJob(jobPaths: readonly string[], readJobText: ReadJobText): Promise<ReadonlyMap<string, JobSource>> {
    const { jobFolder } = this.#options;
    const paths = new Map<string, string>();
    for (const jobPath of new Set(jobPaths)) {
      const inside = pathInside(jobFolder, jobPath, path.posix);
      if (inside !== undefined && inside !== '' && (await this.#wasSubmitted(inside))) paths.set(jobPath, inside);
    }
    const sources = await this.#compare([...paths.values()], readJobText);
    return new Map(
      [...paths].flatMap(([jobPath, inside]) => {
        const source = sources.get(inside);
        return source === undefined ? [] : [[jobPath, source] as const];
      }),
    );
  }

  /** What was submitted of a file on this machine; undefined if it was not. */
  async ofFile(file: string, readJobText: ReadJobText): Promise<JobSource | undefined> {
    const { localFolder } = this.#options;
    const inside =
      pathInside(localFolder, file) ?? pathInside(await nearestRealPath(localFolder), await nearestRealPath(file));
    if (inside === undefined || inside === '') return undefined;
    const submitted = await this.#submittedSpelling(inside);
    return submitted === undefined ? undefined : (await this.#compare([submitted], readJobText)).get(submitted);
  }

  /** The submitted files, where they are, or were, on this machine. */
  async files(): Promise<readonly string[]> {
    const names = [...((await this.#entries())?.keys() ?? [])];
    return names.map((name) => path.join(this.#options.localFolder, ...name.split('/')));
  }

  /** The text that a submitted file has now; undefined if it does not exist. */
  async localText({ path: inside }: JobSource): Promise<string | undefined> {
    return (await this.#localText(inside))?.text;
  }

  async #compare(paths: readonly string[], readJobText: ReadJobText): Promise<ReadonlyMap<string, JobSource>> {
    const locals = new Map<string, string | undefined>();
    const edited: string[] = [];
    for (const each of new Set(paths)) {
      const local = await this.#localText(each);
      locals.set(each, local?.text);
      const known = this.#compared.get(each);
      if (known !== undefined && known.local === local?.text) continue;
      if (local === undefined) this.#compared.set(each, { local: undefined, lines: { type: 'replaced' } });
      else if (local.hash === (await this.#entries())?.get(each)?.sha256)
        this.#compared.set(each, { local: local.text, lines: { type: 'same' } });
      else edited.push(each);
    }
    await this.#readSubmitted(edited, readJobText);
    for (const each of edited) {
      const [older, local] = [this.#texts.get(each), locals.get(each) ?? ''];
      this.#compared.set(each, { local, lines: await this.#compareTexts(older, local) });
    }
    return new Map(paths.map((each) => [each, this.#source(each)]));
  }

  #source(inside: string): JobSource {
    const { jobFolder, localFolder } = this.#options;
    return {
      path: inside,
      jobPath: path.posix.join(jobFolder, inside),
      file: path.join(localFolder, ...inside.split('/')),
      lines: this.#compared.get(inside)?.lines ?? { type: 'unknown' },
    };
  }

  async #compareTexts(older: string | undefined, local: string): Promise<LineComparison> {
    if (older === undefined) return { type: 'unknown' };
    if (older === local) return { type: 'same' };
    if (local.trim() === '') return { type: 'replaced' };
    const map = await this.#options.compare(older, local);
    return map === undefined || map.shared.length === 0 ? { type: 'replaced' } : { type: 'edited', map };
  }

  /** Undefined if the file does not exist, or is no source code. */
  async #localText(inside: string): Promise<{ readonly text: string; readonly hash: string } | undefined> {
    const file = path.join(this.#options.localFolder, ...inside.split('/'));
    const unsaved = this.#options.unsavedText?.(file);
    const bytes = unsaved === undefined ? await readBounded(file, MAX_FILE_BYTES) : Buffer.from(unsaved);
    return bytes && { text: bytes.toString('utf8'), hash: hash('sha256', bytes) };
  }

  /** Reads texts as they were submitted: those of one stop of the program at once, because an archive is read from its start. */
  async #readSubmitted(paths: readonly string[], readJobText: ReadJobText): Promise<void> {
    const wanted = paths.filter((each) => !this.#texts.has(each));
    if (wanted.length === 0) return;
    const { id, jobFolder, submitted } = this.#options;
    const found = await submitted.read(id, wanted).catch((error: unknown) => {
      if (isGone(error)) return new Map<string, Uint8Array>();
      throw error;
    });
    for (const each of wanted) {
      const bytes = found.get(each);
      const text =
        bytes === undefined ? await readJobText(path.posix.join(jobFolder, each)) : Buffer.from(bytes).toString('utf8');
      // The job may answer later: a text that is missing now is asked for again.
      if (text !== undefined) this.#texts.set(each, text);
    }
  }

  async #wasSubmitted(inside: string): Promise<boolean> {
    const entries = await this.#entries();
    return entries === undefined ? this.#mayBeSubmitted(inside) : entries.has(inside);
  }

  /** Without a list of what was submitted: whether the file is in the folder and no package. */
  async #mayBeSubmitted(inside: string): Promise<boolean> {
    return !isForeign(`/${inside}`) && (await this.#localText(inside)) !== undefined;
  }

  /** The path that was submitted for one of this machine, whose file system may not tell upper and lower case apart. */
  async #submittedSpelling(inside: string): Promise<string | undefined> {
    if (await this.#wasSubmitted(inside)) return inside;
    const entries = await this.#entries();
    if (!FOLDS_CASE || entries === undefined) return undefined;
    return [...entries.keys()].find((each) => folded(each) === folded(inside));
  }

  async #entries(): Promise<ReadonlyMap<string, ManifestEntry> | undefined> {
    const { id, submitted } = this.#options;
    this.#manifest ??= submitted.list(id).then(
      (entries) => new Map(entries.map((entry) => [entry.path, entry])),
      (error: unknown) => {
        if (isGone(error)) return undefined;
        this.#manifest = undefined;
        throw error;
      },
    );
    return this.#manifest;
  }
}

/** The line of the file as it is now for one that was submitted; undefined if it was deleted. Both are 1-based. */
export function localLine({ lines }: JobSource, line: number): number | undefined {
  if (lines.type === 'replaced') return undefined;
  if (lines.type !== 'edited') return line;
  const mapped = toCurrentLine(lines.map, line);
  return mapped.isDeleted ? undefined : mapped.line;
}

/** The line that was submitted for one of the file as it is now; undefined if it was added. Both are 1-based. */
export function submittedLine({ lines }: JobSource, line: number): number | undefined {
  if (lines.type === 'replaced') return undefined;
  return lines.type === 'edited' ? toOlderLine(lines.map, line) : line;
}

/** How a file differs from what runs in the job. */
export function changeText(name: string, type: 'edited' | 'replaced' | 'unknown'): string {
  switch (type) {
    case 'edited':
      return l10n.t('{0} was edited after the job was submitted. Lines are shown where they are now.', name);
    case 'replaced':
      return l10n.t(
        '{0} is gone or has changed entirely since the job was submitted. The submitted text is shown.',
        name,
      );
    case 'unknown':
    default:
      return l10n.t(
        'The submitted text of {0} is not stored on this computer. Lines are those of the job, and may be different ones here.',
        name,
      );
  }
}

function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'missing';
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

import { Yielder } from '../../core/processes/yielder.ts';
import { type TarEntry, type TarPosition, TarReader, type TarSink } from '../archive/tarReader.ts';
import { ArchivePlan, type PlannedFile, type SkippedEntry, type WriteStep } from './archivePlan.ts';
import { readExtractSteps, readTarSteps, type WriteSteps } from './archiveSteps.ts';
import { DEFAULT_LIMITS } from './extract.ts';

/** A part of a tar stream. */
export interface TarPart {
  readonly size: number;
  /** Its bytes, valid until another part is read. */
  read(): Promise<Buffer>;
}

/** The result of reading a run of parts from a position. */
export interface KnownRun {
  /** The entries that begin, and null where one ends. */
  readonly events: readonly (TarEntry | null)[];
  readonly end: TarPosition;
}

/** Parts that follow each other. */
export interface TarRun {
  readonly parts: readonly TarPart[];
  /** The result of an earlier read, which saves reading it again. */
  known?(from: TarPosition): KnownRun | undefined;
  remember?(from: TarPosition, run: KnownRun): void;
}

export interface PlannedArchive {
  readonly files: readonly PlannedFile[];
  /** Links and special files, which are never created. */
  readonly skipped: readonly SkippedEntry[];
}

/**
 * Checks a `.tar.gz` as `stageArchive` does, and returns which files that would write.
 *
 * @param freeBytes of the disk that the files are for.
 * @throws as `stageArchive`.
 */
export async function planArchive(archive: Buffer, freeBytes: number, signal: AbortSignal): Promise<PlannedArchive> {
  return planSteps(freeBytes, (plan, write) => readExtractSteps(archive, plan, { ...DEFAULT_LIMITS, signal }, write));
}

/** The same for a tar stream, whose errors are passed on. */
export async function planTar(
  tar: AsyncIterable<Buffer>,
  freeBytes: number,
  signal: AbortSignal,
): Promise<PlannedArchive> {
  return planSteps(freeBytes, (plan, write) => readTarSteps(tar, plan, { ...DEFAULT_LIMITS, signal }, write));
}

async function planSteps(
  freeBytes: number,
  read: (plan: ArchivePlan, write: WriteSteps) => Promise<void>,
): Promise<PlannedArchive> {
  const plan = new ArchivePlan(DEFAULT_LIMITS, freeBytes);
  const files: PlannedFile[] = [];
  await read(plan, async (steps) => addFiles(files, steps));
  return { files, skipped: plan.skipped };
}

function addFiles(files: PlannedFile[], steps: readonly WriteStep[]): void {
  for (const step of steps) if (step.type === 'file') files.push(step);
}

/**
 * The same for a tar stream, without reading known runs and parts inside of files.
 *
 * @throws AppError `corrupt`, `refused`, `limit` or `no-space` with the reason, the errors of the parts, or the signal's reason.
 */
export async function planRuns(
  runs: Iterable<TarRun>,
  freeBytes: number,
  signal: AbortSignal,
): Promise<PlannedArchive> {
  const plan = new ArchivePlan(DEFAULT_LIMITS, freeBytes);
  const recorder = new Recorder(plan);
  const reader = new TarReader(recorder);
  const yielder = new Yielder(signal);
  const files: PlannedFile[] = [];
  const take = (): void => addFiles(files, plan.take());
  for (const run of runs) {
    const from = reader.position;
    const localFile = from && run.known?.(from);
    if (localFile !== undefined) {
      if (yielder.isDue) await yielder.pause();
      recorder.replay(localFile.events);
      reader.continueAt(localFile.end);
      take();
      continue;
    }
    recorder.begun = [];
    for (const part of run.parts) {
      if (yielder.isDue) await yielder.pause();
      if (!reader.skip(part.size)) reader.write(await part.read());
      take();
    }
    const end = reader.position;
    if (from !== undefined && end !== undefined) run.remember?.(from, { events: recorder.begun, end });
  }
  reader.end();
  return { files, skipped: plan.skipped };
}

/** Passes on what is read, and records it. */
class Recorder implements TarSink {
  readonly #plan: ArchivePlan;
  begun: (TarEntry | null)[] = [];

  constructor(plan: ArchivePlan) {
    this.#plan = plan;
  }

  begin(entry: TarEntry): void {
    this.begun.push(entry);
    this.#plan.begin(entry);
  }

  data(): void {
    // What is inside of files does not matter, nor do their times.
  }

  end(): void {
    this.begun.push(null);
    this.#plan.end();
  }

  replay(events: KnownRun['events']): void {
    for (const entry of events) {
      if (entry === null) this.#plan.end();
      else this.#plan.begin(entry);
    }
  }
}

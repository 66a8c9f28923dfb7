import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';

/** One change of a folder. Sources are paths in the staging folder's files, targets are paths in the folder. */
export type ResultStep =
  | { readonly type: 'folder'; readonly target: string }
  | { readonly type: 'new'; readonly source: string; readonly target: string }
  | {
      readonly type: 'replace';
      readonly source: string;
      readonly target: string;
      /** What stood there, as `LocalFile.mark`. */
      readonly mark: string;
      /** The name under which the original is kept until all is written: a number. */
      readonly backup: string;
    };

/** What is about to be done, in order. */
export interface ResultSteps {
  /** Of the job, in names. */
  readonly label: string;
  readonly steps: readonly ResultStep[];
}

/** Keeps the steps on the disk, whole or not at all, before the first of them is done. */
export function saveSteps(file: string, steps: ResultSteps): void {
  const part = `${file}.part`;
  const descriptor = openSync(part, 'w', 0o600);
  try {
    try {
      const bytes = Buffer.from(JSON.stringify(steps));
      for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** @throws AppError `corrupt` when the file cannot be read. */
export function readSteps(file: string): ResultSteps {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isSteps(value)) return value;
    throw new TypeError('it does not have the form of steps');
  } catch (error) {
    throw new AppError('corrupt', `${file} cannot be read, so what was written of some results is not known.`, {
      cause: error,
    });
  }
}

// By hand: a schema would bring a library of 90 KB into the worker of the extension, for a file that this very module writes.
function isSteps(value: unknown): value is ResultSteps {
  return (
    isRecord(value) &&
    typeof value['label'] === 'string' &&
    Array.isArray(value['steps']) &&
    value['steps'].every(isStep)
  );
}

function isStep(value: unknown): value is ResultStep {
  if (!isRecord(value) || !isText(value['target'])) return false;
  if (value['type'] === 'folder') return true;
  if (!isText(value['source'])) return false;
  if (value['type'] === 'new') return true;
  return (
    value['type'] === 'replace' && isText(value['mark']) && isText(value['backup']) && /^\d+$/.test(value['backup'])
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';

/** One change of a folder. Sources are paths in the staging folder, targets are paths in the folder. */
export type ResultStep =
  | { readonly type: 'folder'; readonly target: string }
  | {
      /** What is in the way of a result gets another name. */
      readonly type: 'move';
      readonly target: string;
      readonly to: string;
      /** The `inodeOf` it. */
      readonly inode: string;
    }
  | { readonly type: 'new'; readonly source: string; readonly target: string }
  | {
      readonly type: 'replace';
      readonly source: string;
      readonly target: string;
      /** The `LocalFile.mark` of the file to replace. */
      readonly mark: string;
      /** The name of the original's copy, which is kept until everything is written: a number. */
      readonly backup: string;
    };

/** The planned changes, in order. */
export interface ResultSteps {
  /** The job, in file names. */
  readonly label: string;
  readonly steps: readonly ResultStep[];
}

/** Stores the steps atomically on disk, before the first one is executed. */
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

/** @throws AppError `corrupt` if the file cannot be read. */
export function readResultSteps(file: string): ResultSteps {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isSteps(value)) return value;
    throw new TypeError('it does not contain steps');
  } catch (error) {
    throw new AppError('corrupt', `${file} cannot be read, so an interrupted download cannot be undone.`, {
      cause: error,
    });
  }
}

// Not a zod schema, which would add a library of 90 KB to the extension's worker for a file that this module writes itself.
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
  if (value['type'] === 'move') return isText(value['to']) && isText(value['inode']);
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

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../core/errors.ts';

const FILE = 'jobs.changed';

/** Writes the mark: a file with other contents after each change of the ledger, so that a change is noticed without opening the ledger. */
export function writeChangeMark(home: string): void {
  try {
    writeFileSync(join(home, FILE), randomUUID(), { mode: 0o600 });
  } catch {
    // On a full disk the file is empty, which is a change too.
  }
}

/** The contents of the mark; undefined if there is none. */
export async function readChangeMark(home: string): Promise<string | undefined> {
  return readFile(join(home, FILE), 'utf8').catch(() => undefined);
}

/** The path of the ledger. */
export function ledgerPath(home: string): string {
  return join(home, 'jobs.sqlite');
}

/** Whether there is a ledger, which may be empty. */
export async function hasLedger(home: string): Promise<boolean> {
  return access(ledgerPath(home)).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT',
  );
}

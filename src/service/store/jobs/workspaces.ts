import type { DatabaseSync } from 'node:sqlite';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

/** How to write a job's workspace when the job starts, or again after a power loss before that. */
export interface KeptWorkspace {
  /** JSON of the job's `RunnerSpec`. */
  readonly spec: string;
  /** The submitted archive, or the pieces of a submission by content; null if they are files. */
  readonly archive: Buffer | null;
  /** The boot of the machine during which the workspace was written. Until the next boot, the system has all of it. */
  readonly boot: string;
}

/** In place of a boot, for a workspace that is not written yet. Differs from the ID of every boot. */
export const UNWRITTEN = '';

const SQL = {
  get: 'SELECT spec, archive, boot FROM workspaces WHERE job = ?',
  insert: 'INSERT INTO workspaces (job, spec, archive, boot) VALUES (?, ?, ?, ?)',
  setBoot: 'UPDATE workspaces SET boot = ? WHERE job = ?',
  remove: 'DELETE FROM workspaces WHERE job = ?',
};

/** The workspaces of jobs that have not started. Methods that write expect the caller's transaction. */
export class WorkspaceTable {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  get(jobNumber: number): KeptWorkspace | undefined {
    const row = this.#sql.get.get(jobNumber);
    if (row === undefined) return undefined;
    const { archive } = row;
    return {
      spec: String(row['spec']),
      archive: archive instanceof Uint8Array ? Buffer.from(archive.buffer, archive.byteOffset, archive.length) : null,
      boot: String(row['boot']),
    };
  }

  insert(jobNumber: number, { spec, archive, boot }: KeptWorkspace): void {
    this.#sql.insert.run(jobNumber, spec, archive, boot);
  }

  /** Records that the workspace was recreated during this boot. */
  setBoot(jobNumber: number, boot: string): void {
    this.#sql.setBoot.run(boot, jobNumber);
  }

  /** Called when the job has started or ended. */
  remove(jobNumber: number): void {
    this.#sql.remove.run(jobNumber);
  }
}

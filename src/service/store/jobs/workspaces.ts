import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** How to make a job's workspace again, should the power fail before the job has begun. */
export interface KeptWorkspace {
  /** JSON of the job's `RunnerSpec`. */
  readonly spec: string;
  /** The archive that was sent; null where it is a file in the job's folder. */
  readonly archive: Uint8Array | null;
  /** The boot of the machine during which the workspace was written: until the next one, the system has all of it. */
  readonly boot: string;
}

/** The workspaces of jobs that have not begun. Methods that write expect the caller's transaction. */
export class WorkspaceTable {
  readonly #get: StatementSync;
  readonly #insert: StatementSync;
  readonly #setBoot: StatementSync;
  readonly #remove: StatementSync;

  constructor(database: DatabaseSync) {
    this.#get = database.prepare('SELECT spec, archive, boot FROM workspaces WHERE job = ?');
    this.#insert = database.prepare('INSERT INTO workspaces (job, spec, archive, boot) VALUES (?, ?, ?, ?)');
    this.#setBoot = database.prepare('UPDATE workspaces SET boot = ? WHERE job = ?');
    this.#remove = database.prepare('DELETE FROM workspaces WHERE job = ?');
  }

  get(jobNumber: number): KeptWorkspace | undefined {
    const row = this.#get.get(jobNumber);
    if (row === undefined) return undefined;
    const { archive } = row;
    return {
      spec: String(row['spec']),
      archive: archive instanceof Uint8Array ? archive : null,
      boot: String(row['boot']),
    };
  }

  insert(jobNumber: number, { spec, archive, boot }: KeptWorkspace): void {
    this.#insert.run(jobNumber, spec, archive, boot);
  }

  /** Notes that the workspace was written again, during this boot. */
  setBoot(jobNumber: number, boot: string): void {
    this.#setBoot.run(boot, jobNumber);
  }

  /** The job has begun, or has ended. */
  remove(jobNumber: number): void {
    this.#remove.run(jobNumber);
  }
}

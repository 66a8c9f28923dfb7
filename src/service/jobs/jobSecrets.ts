import { readFile } from 'node:fs/promises';
import { ifThere } from '../../core/files/ifThere.ts';
import { openRedactor, type SecretRedactor } from '../../core/text/secretRedactor.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { SecretValues } from '../jobFiles/runnerInput.ts';
import { parseRunnerSpec } from '../jobFiles/runnerSpec.ts';
import type { SecretVault } from '../secrets/secretVault.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';
import type { Rewriting } from '../../workspace/pack/pack.ts';
import { redactionOf } from './resultRedaction.ts';

type Vault = Pick<SecretVault, 'values' | 'redactedInResults'>;
type Owned = Pick<StoredJob, 'id' | 'account'>;

/** The secrets of jobs: their values for the start of a job, and what removes them from everything that is stored about it. */
export class JobSecrets {
  readonly #vault: Vault;
  /** Of jobs that this service started. A secret may be changed or removed before the job ends. */
  readonly #redactors = new Map<string, SecretRedactor>();
  readonly #resultRedactions = new Map<string, Rewriting>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** The current values of a job's secrets. @throws AppError of `SecretVault.values`. */
  async valuesFor({ id, account }: Owned, folder: JobFolder): Promise<SecretValues> {
    const spec = await ifThere(readFile(folder.spec, 'utf8'), undefined); // the runner reports a missing one
    const { secrets = [] } = spec === undefined ? {} : parseRunnerSpec(spec);
    const values = this.#vault.values(account, secrets);
    const redactor = openRedactor(Object.values(values));
    if (redactor !== undefined) this.#redactors.set(id, redactor);
    const inResults = this.#vault.redactedInResults(account, secrets).flatMap((name) => values[name] ?? []);
    if (inResults.length > 0) this.#resultRedactions.set(id, redactionOf(inResults));
    return values;
  }

  /** Undefined for a job without secrets, or whose secrets are gone since a restart. */
  async redactorFor(job: Owned, folder: JobFolder): Promise<SecretRedactor | undefined> {
    const known = this.#redactors.get(job.id);
    if (known !== undefined) return known;
    // A job that is not isolated may have damaged its files.
    await this.valuesFor(job, folder).catch(() => {});
    return this.#redactors.get(job.id);
  }

  /** Undefined if the job has no secret that is removed from results. Known after `redactorFor`. */
  resultRedactionFor({ id }: Owned): Rewriting | undefined {
    return this.#resultRedactions.get(id);
  }

  forget(jobId: string): void {
    this.#redactors.delete(jobId);
    this.#resultRedactions.delete(jobId);
  }
}

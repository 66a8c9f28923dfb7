import { readFile } from 'node:fs/promises';
import { ifThere } from '../../core/files/ifThere.ts';
import { openRedactor, SecretRedactor } from '../../core/text/secretRedactor.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { SecretValues } from '../jobFiles/runnerInput.ts';
import { parseRunnerSpec } from '../jobFiles/runnerSpec.ts';
import type { SecretVault } from './secretVault.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { ContentRewriter, Rewriting } from '../../workspace/pack/pack.ts';

// As git decides whether a file is text.
const BEGINNING_BYTES = 8_000;

const UTF_16_MARK = Buffer.from([0xff, 0xfe]);

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

/**
 * Replaces values in the text files among results, and nothing in other files: those with a zero byte in their first 8,000. Text may be in any
 * encoding that extends ASCII, or in UTF-16 with a byte order mark, as Windows writes it.
 */
export function redactionOf(values: readonly string[]): Rewriting {
  // Bytes are read as Latin-1, in which each is one character, so that those of no value stay as they are.
  const redactor = new SecretRedactor([...values, ...values.map((value) => Buffer.from(value).toString('latin1'))]);
  return (beginning) => {
    if (beginning.subarray(0, UTF_16_MARK.length).equals(UTF_16_MARK)) return () => rewriter(redactor, 'utf16le');
    return beginning.subarray(0, BEGINNING_BYTES).includes(0) ? undefined : () => rewriter(redactor, 'latin1');
  };
}

function rewriter(redactor: SecretRedactor, encoding: 'latin1' | 'utf16le'): ContentRewriter {
  const stream = redactor.stream();
  // Half of a character of UTF-16.
  let half = Buffer.alloc(0);
  return {
    push: (bytes) => {
      const all = half.length === 0 ? bytes : Buffer.concat([half, bytes]);
      const end = encoding === 'utf16le' ? all.length - (all.length % 2) : all.length;
      half = Buffer.from(all.subarray(end));
      return Buffer.from(stream.push(all.toString(encoding, 0, end)), encoding);
    },
    end: () => Buffer.concat([Buffer.from(stream.end(), encoding), half]),
    get hasChanged() {
      return stream.hasReplaced;
    },
  };
}

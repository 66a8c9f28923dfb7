import type { JobRecord } from '../ledger/record.ts';
import { textField } from '../../core/jsonFields.ts';
import { endEventData } from '../../remote/protocol/schemas.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { EventSpool } from './spool.ts';

/** Counts the results of jobs from what is stored on this machine, without the service. */
export class ResultCounter {
  readonly #home: string;

  /** @param home FARWHARF_HOME. */
  constructor(home: string) {
    this.#home = home;
  }

  /**
   * Counts the results of a job that has ended. A service with the `end` event of the embedded service sends an `artifact` event for
   * each result first. For other services, missing `artifact` events mean nothing. Takes time in proportion to the job's log.
   *
   * @param id the ledger's ID of the job.
   * @returns null if the events do not say.
   */
  async count(id: string): Promise<JobRecord['results']> {
    const manifest = await new ArchiveStore(this.#home).readManifest(id);
    const sent = new Set(manifest?.map(({ path }) => path));
    let files = 0;
    let added = 0;
    let isComplete = false;
    for await (const { event, data, own } of new EventSpool(this.#home, id).read()) {
      if (own === true) continue;
      if (event === 'artifact') {
        files += 1;
        if (!sent.has(textField(data, 'path') ?? '')) added += 1;
      }
      if (event === 'end') isComplete = endEventData.safeParse(data).success;
    }
    if (files === 0 && !isComplete) return null;
    return { files, added: manifest === undefined ? null : added };
  }
}

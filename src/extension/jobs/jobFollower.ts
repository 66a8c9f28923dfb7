import { isAbort } from '../../core/errors.ts';
import type { WindowParts } from '../contributions/parts.ts';
import { DisposableStore, type Disposable } from '../../core/processes/lifetime.ts';
import { followJob } from '../../jobs/log/follow.ts';
import type { ResultCounter } from '../../jobs/log/resultCounter.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';
import { isActive, type JobRecord } from '../../jobs/ledger/record.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import type { Hosts } from '../account/hosts.ts';
import { lostState } from '../account/lostState.ts';
import type { JobStore } from './store/jobStore.ts';
import type { LostContacts } from './store/lostContacts.ts';

// Each followed job holds a connection; the others are followed when one of them ends.
const MAX_FOLLOWED = 64;

export interface FollowerDeps extends Pick<WindowParts, 'home' | 'ledger' | 'log'> {
  readonly hosts: Hosts;
  readonly results: Pick<ResultCounter, 'count'>;
  readonly store: JobStore;
  readonly lostContacts: LostContacts;
  readonly isTrusted: () => boolean;
}

/** Follows every running job, whichever process submitted it, so that its events reach the spool and its row is up to date. */
export class JobFollower implements Disposable {
  readonly #deps: FollowerDeps;
  readonly #disposables = new DisposableStore();
  readonly #following = new Set<string>();
  /** Jobs whose host refused the request; retried when a key or the host changes. */
  readonly #refused = new Set<string>();
  readonly #end = new AbortController();

  constructor(deps: FollowerDeps) {
    this.#deps = deps;
    this.#disposables.add(deps.store.onDidChange(() => this.update()));
    this.#disposables.add(
      deps.hosts.onDidChange(() => {
        this.#refused.clear();
        this.update();
      }),
    );
  }

  /** Starts following jobs that are not followed yet. */
  update(): void {
    for (const record of this.#deps.store.records) {
      if (this.#following.size >= MAX_FOLLOWED) return;
      if (this.#canFollow(record)) void this.#follow(record);
    }
  }

  /** Reads the log of a job, also of one that has ended. */
  follow(record: JobRecord): void {
    if (!this.#following.has(record.id)) void this.#follow(record);
  }

  dispose(): void {
    this.#end.abort();
    this.#disposables.dispose();
  }

  #canFollow(record: JobRecord): boolean {
    if (!isActive(record) || this.#following.has(record.id) || this.#refused.has(record.id)) return false;
    // Restricted Mode does not start the embedded service; the log can still be read from the spool.
    return record.host !== LOCAL_HOST || this.#deps.isTrusted();
  }

  async #follow({ id, host }: JobRecord): Promise<void> {
    const { hosts, ledger, results, home, log, lostContacts } = this.#deps;
    this.#following.add(id);
    try {
      const deps = { service: hosts.service(host), ledger, results, spool: new EventSpool(home, id) };
      lostContacts.clear(id);
      const onContact = (isReachable: boolean): void =>
        isReachable ? lostContacts.clear(id) : lostContacts.set(id, 'unreachable', Date.now());
      await followJob(deps, id, { signal: this.#end.signal, onContact });
    } catch (error) {
      if (isAbort(error)) return;
      log.warn('a job is no longer followed', { id, error });
      this.#refused.add(id);
      lostContacts.set(id, lostState(error), Date.now());
    } finally {
      this.#following.delete(id);
    }
    this.update();
  }
}

import * as l10n from '@vscode/l10n';
import { assertNever } from '../../../core/errors.ts';
import { Emitter } from '../../../core/processes/lifetime.ts';
import { stateWord } from '../../../jobs/ledger/jobIcon.ts';
import { isOver, type JobRecord } from '../../../jobs/ledger/record.ts';
import type { LostState } from '../../account/lostState.ts';
import { hostLabel } from '../../ui/words.ts';

/** Why the state of a job is no longer known. */
export interface LostContact {
  readonly reason: LostState;
  /** When the state was last known, in milliseconds. */
  readonly since: number;
}

/** `last seen running, 10:52`: the state of a job that was lost. */
export function describeLastSeen({ state }: Pick<JobRecord, 'state'>, { since }: LostContact): string {
  return l10n.t('last seen {0}, {1}', stateWord(state), clockTime(since));
}

/** `gpu.example.org does not respond`, that the user must sign in to it, or that it refuses their account. */
export function describeLostService({ reason, host }: Pick<LostContact, 'reason'> & Pick<JobRecord, 'host'>): string {
  const name = hostLabel(host);
  switch (reason) {
    case 'signedOut':
      return l10n.t('sign in to {0}', name);
    case 'refused':
      return l10n.t('{0} refuses your account', name);
    case 'unreachable':
      return l10n.t('{0} does not respond', name);
    default:
      return assertNever(reason);
  }
}

/** The first of the contacts to the unfinished jobs of a sweep that were lost, with its host; undefined if none was. */
export function lostOfSweep(
  jobs: readonly JobRecord[],
  lostOf: (id: string) => LostContact | undefined,
): (LostContact & Pick<JobRecord, 'host'>) | undefined {
  const all = jobs.flatMap((record) => {
    const lost = isOver(record) ? undefined : lostOf(record.id);
    return lost === undefined ? [] : [{ ...lost, host: record.host }];
  });
  return all.toSorted((one, other) => one.since - other.since)[0];
}

/** The time of day, in the local time zone. @param time milliseconds. */
export function clockTime(time: number): string {
  return new Date(time).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

/** The running jobs whose service cannot be asked, by the ID of their record. */
export class LostContacts {
  readonly #lost = new Map<string, LostContact>();
  readonly #changed = new Emitter<string>();
  /** Fired with the ID of the job. */
  readonly onDidChange = this.#changed.event;

  get(id: string): LostContact | undefined {
    return this.#lost.get(id);
  }

  set(id: string, reason: LostContact['reason'], now: number): void {
    const contact = this.#lost.get(id);
    if (contact?.reason === reason) return;
    this.#lost.set(id, { reason, since: contact?.since ?? now });
    this.#changed.fire(id);
  }

  clear(id: string): void {
    if (this.#lost.delete(id)) this.#changed.fire(id);
  }
}

import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { isAbort } from '../../core/errors.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { formatCredits } from '../../core/text/format.ts';
import { cancelSweep } from '../../jobs/sweeps/cancelSweep.ts';
import { sendSweep, type SweepEnd, type SweepPhase } from '../../jobs/sweeps/sendSweep.ts';
import type { Sweep } from '../../jobs/sweeps/sweep.ts';
import { countJobs, describeCounts } from '../../jobs/sweeps/sweepProgress.ts';
import { SweepStore } from '../../jobs/sweeps/sweepStore.ts';
import type { Hosts } from '../account/hosts.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import { reportError } from '../ui/report.ts';
import { showProgress, showWarning } from '../ui/show.ts';

const INTERRUPTED = 'interruptedSweeps';

interface SweepRunsDeps extends Pick<WindowParts, 'home' | 'ledger' | 'log'> {
  readonly hosts: Pick<Hosts, 'service' | 'cancel'>;
  readonly store: Pick<JobStore, 'refresh'>;
  /** Of the workspace. */
  readonly memory: vscode.Memento;
  /** Called for each job that was sent. */
  readonly onSent: (id: string) => void;
}

/** The sweeps whose jobs this window is sending. A sweep that closing the window interrupts continues when the folder is opened again. */
export class SweepRuns implements Disposable {
  readonly #deps: SweepRunsDeps;
  readonly #running = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();
  #isDisposed = false;

  constructor(deps: SweepRunsDeps) {
    this.#deps = deps;
  }

  isSending(id: string): boolean {
    return this.#running.has(id);
  }

  /** Sends the jobs of a sweep that were not sent yet, in the background. Failures are shown. */
  start(sweep: Sweep): void {
    if (this.#running.has(sweep.id)) return;
    const stop = new AbortController();
    const done = this.#send(sweep, stop.signal).finally(() => this.#running.delete(sweep.id));
    this.#running.set(sweep.id, { stop, done });
  }

  /** Sends no more jobs and stops those that run. @returns how many were stopped. @throws the service's error. */
  async cancel(sweep: Sweep, signal: AbortSignal): Promise<number> {
    const { home, hosts, ledger, store } = this.#deps;
    const running = this.#running.get(sweep.id);
    running?.stop.abort();
    await running?.done;
    const service = {
      cancel: async (jobId: string): Promise<Record<string, unknown>> => {
        await hosts.cancel(sweep.host, jobId);
        return {};
      },
    };
    const count = await cancelSweep({ ledger, service, home }, sweep, signal);
    await store.refresh();
    return count;
  }

  /** Continues the sweeps that a closed window interrupted. */
  async continueInterrupted(): Promise<void> {
    const sweeps = new SweepStore(this.#deps.home);
    for (const id of this.#interrupted()) {
      const sweep = await sweeps.read(id);
      if (sweep !== undefined && !sweep.isCancelled) this.start(sweep);
      else await this.#forget(id);
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const { stop } of this.#running.values()) stop.abort();
  }

  async #send(sweep: Sweep, signal: AbortSignal): Promise<void> {
    const { home, hosts, ledger, store, memory, log, onSent } = this.#deps;
    const deps = { home, ledger, service: hosts.service(sweep.host) };
    try {
      await memory.update(INTERRUPTED, [...new Set([sweep.id, ...this.#interrupted()])]);
      const options = { location: vscode.ProgressLocation.Window, title: l10n.t('Sweep {0}', sweep.name) };
      const end = await showProgress(options, (progress) => {
        const onPhase = (phase: SweepPhase): void => {
          progress.report({ message: describePhase(phase, sweep) });
          if (phase.type === 'upload' && phase.phase.type === 'accepted') {
            onSent(phase.phase.record.id);
            void store.refresh();
          }
        };
        return sendSweep(deps, sweep, { signal, onPhase });
      });
      log.info('sweep sent', { id: sweep.id, type: end.type, jobs: end.records.length });
      if (end.type === 'cost-limit') void showWarning(describeLimit(sweep, end));
    } catch (error) {
      if (!isAbort(error)) void reportError(log, error, () => this.start(sweep));
    } finally {
      if (!this.#isDisposed) await this.#forget(sweep.id);
      await store.refresh();
    }
  }

  #interrupted(): readonly string[] {
    return this.#deps.memory.get<readonly string[]>(INTERRUPTED) ?? [];
  }

  async #forget(id: string): Promise<void> {
    const others = this.#interrupted().filter((each) => each !== id);
    await this.#deps.memory.update(INTERRUPTED, others);
  }
}

function describePhase(phase: SweepPhase, { drafts }: Sweep): string {
  if (phase.type === 'retry') return l10n.t('the service cannot be reached; trying again');
  if (phase.type === 'upload') return l10n.t('sending job {0} of {1}', phase.index + 1, drafts.length);
  const why =
    phase.reason === 'concurrency'
      ? l10n.t('waiting until fewer of its jobs run')
      : l10n.t('waiting for its cost limit');
  // VS Code cuts long texts.
  return `${why} · ${describeCounts(countJobs(drafts.length, phase.records, Date.now()))}`;
}

function describeLimit({ name, drafts, maxCost }: Sweep, { records }: SweepEnd): string {
  return l10n.t(
    '{0} of {1} jobs of {2} were sent. Another one could exceed its limit of {3} credits. Raise "maxCost" and submit it again for the others.',
    records.length,
    drafts.length,
    name,
    formatCredits(maxCost ?? 0),
  );
}

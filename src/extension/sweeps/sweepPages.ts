import * as vscode from 'vscode';
import * as z from 'zod';
import type { WindowParts } from '../contributions/parts.ts';
import { isAbort } from '../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../core/processes/lifetime.ts';
import { repeat } from '../../core/processes/repeat.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import { MetricLines } from '../../jobs/metrics/metricLines.ts';
import type { Sweep } from '../../jobs/sweeps/sweep.ts';
import { SweepStore } from '../../jobs/sweeps/sweepStore.ts';
import type { FromSweepPage } from '../../webview/sweepPage/sweepPageMessages.ts';
import type { LostContacts } from '../jobs/store/lostContacts.ts';
import { openPage } from '../ui/openPage.ts';
import type { SweepRuns } from './sweepRuns.ts';
import { sweepView } from './sweepView.ts';

const EVERY_MS = 1_000;

const index = z.int().nonnegative();
// The page is ours, but what it sends has passed a process that shows text of others.
const message: z.ZodType<FromSweepPage> = z.union([
  z.object({ type: z.enum(['ready', 'cancel', 'resume', 'download']) }),
  z.object({ type: z.literal('choose'), metric: z.string() }),
  z.object({ type: z.enum(['open', 'edit']), index }),
]);

interface SweepPagesDeps extends Pick<WindowParts, 'home' | 'log'> {
  readonly ledger: Pick<AsyncLedger, 'list'>;
  readonly runs: Pick<SweepRuns, 'isSending' | 'start' | 'cancel'>;
  readonly lostContacts: Pick<LostContacts, 'get'>;
  readonly extension: vscode.Uri;
}

/** The open pages of sweeps, one for each sweep. */
export class SweepPages implements Disposable {
  readonly #deps: SweepPagesDeps;
  readonly #open = new Map<string, vscode.WebviewPanel>();
  readonly #disposables = new DisposableStore();

  constructor(deps: SweepPagesDeps) {
    this.#deps = deps;
  }

  show(sweep: Sweep): void {
    const shownPage = this.#open.get(sweep.id);
    if (shownPage !== undefined) return shownPage.reveal();
    const { panel, closed } = openPage(this.#deps.extension, { title: sweep.name, page: 'sweepPage' });
    this.#open.set(sweep.id, panel);
    this.#disposables.add(panel);
    closed.addEventListener('abort', () => this.#open.delete(sweep.id));
    this.#follow(panel, sweep, closed).catch((error: unknown) => {
      if (!isAbort(error)) this.#deps.log.error('a sweep page could not be read', { id: sweep.id, error });
    });
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Sends the page when it loads, when something was chosen on it, and once a second while it is visible. */
  async #follow(panel: vscode.WebviewPanel, first: Sweep, signal: AbortSignal): Promise<void> {
    const { home, ledger, lostContacts, runs } = this.#deps;
    const lostOf = (id: string) => lostContacts.get(id);
    const metrics = new SweepMetrics(home, signal);
    let metric: string | undefined;
    let last = '';
    const send = async (isForced: boolean): Promise<void> => {
      const sweep = (await new SweepStore(home).read(first.id)) ?? first;
      const records = await ledger.list({ sweep: sweep.id, withRemoved: true, limit: sweep.drafts.length });
      metrics.follow(records);
      const context = { metric, isSending: runs.isSending(sweep.id), lostOf, now: Date.now() };
      const view = sweepView(sweep, records, (id) => metrics.of(id), context);
      const text = JSON.stringify(view);
      // A page that did not change keeps its selection and focus.
      if (!isForced && text === last) return;
      last = text;
      if (!signal.aborted) void panel.webview.postMessage(view);
    };
    const listening = panel.webview.onDidReceiveMessage((received: unknown) => {
      const { data } = message.safeParse(received);
      if (data === undefined) return;
      if (data.type === 'choose') ({ metric } = data);
      this.#act(data, first).then(
        () => send(true),
        (error: unknown) => {
          if (!isAbort(error)) this.#deps.log.error('a sweep page could not be read', { id: first.id, error });
        },
      );
    });
    signal.addEventListener('abort', () => void listening.dispose());
    await repeat(() => (panel.visible ? send(false) : undefined), EVERY_MS, signal);
  }

  async #act(action: FromSweepPage, { id, drafts }: Sweep): Promise<void> {
    const { executeCommand } = vscode.commands;
    if (action.type === 'open') await executeCommand('farwharf.showJobPage', drafts[action.index]?.id);
    else if (action.type === 'edit') await executeCommand('farwharf.editSweepJob', { sweep: id, index: action.index });
    else if (action.type === 'cancel') await executeCommand('farwharf.cancelSweep', id);
    else if (action.type === 'resume') await executeCommand('farwharf.resumeSweep', id);
    else if (action.type === 'download') await executeCommand('farwharf.downloadSweepResults', id);
  }
}

/** The metrics of jobs, read from their spools while they run. */
class SweepMetrics {
  readonly #home: string;
  readonly #signal: AbortSignal;
  readonly #lines = new Map<string, MetricLines>();

  constructor(home: string, signal: AbortSignal) {
    this.#home = home;
    this.#signal = signal;
  }

  of(id: string): MetricLines['series'] {
    return this.#lines.get(id)?.series ?? new Map();
  }

  follow(records: readonly JobRecord[]): void {
    for (const { id } of records.filter((record) => record.startedAt !== null && !this.#lines.has(record.id))) {
      const lines = new MetricLines();
      this.#lines.set(id, lines);
      // A spool that cannot be read leaves its metrics out.
      this.#read(id, lines).catch(() => {});
    }
  }

  async #read(id: string, lines: MetricLines): Promise<void> {
    for await (const event of new EventSpool(this.#home, id).follow({ signal: this.#signal })) lines.push(event);
  }
}

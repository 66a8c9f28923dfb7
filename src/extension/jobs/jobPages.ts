import * as vscode from 'vscode';
import * as z from 'zod';
import type { WindowParts } from '../contributions/parts.ts';
import { isAbort } from '../../core/errors.ts';
import { textField } from '../../core/jsonFields.ts';
import { type Disposable, DisposableStore } from '../../core/processes/lifetime.ts';
import { repeat } from '../../core/processes/repeat.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import type { SeriesData } from '../../jobs/metrics/series.ts';
import { JobPage } from '../../jobs/report/jobPage.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import {
  PAGE_ACTIONS,
  type PageAction,
  type ShownPreview,
  type ToJobPage,
} from '../../webview/jobPage/jobPageMessages.ts';
import type { Account } from '../../remote/protocol/schemas.ts';
import type { LostContacts } from './store/lostContacts.ts';
import type { Hosts } from '../account/hosts.ts';
import type { SourceLines } from './log/sourceLines.ts';
import type { JobStore } from './store/jobStore.ts';
import { openPage } from '../ui/openPage.ts';
import { ComparedJobs } from './comparedJobs.ts';
import { PageLinks } from './pageLinks.ts';
import { viewOf } from './pageView.ts';
import { browseResults } from '../../jobs/results/browse.ts';
import type { ResultPreview } from '../../jobs/results/previews.ts';
import type { Worker } from '../threads/worker.ts';

const EVERY_MS = 1_000;
// Without new events, only the job's run time changes.
const WITHOUT_NEWS_MS = 30_000;

// Results of this size are downloaded without being asked for.
const MOST_FETCHED_BYTES = 20_000_000;

const clickedLink = z.object({ type: z.literal('open'), line: z.string(), start: z.number() });

const NOTHING: ShownContents = { previews: [], metrics: new Map() };

interface JobPagesDeps extends Pick<WindowParts, 'home' | 'log'> {
  readonly store: JobStore;
  readonly lostContacts: LostContacts;
  readonly hosts: Pick<Hosts, 'account' | 'service'>;
  readonly browsed: Worker['browsed'];
  readonly extension: vscode.Uri;
  readonly sourceLines: Pick<SourceLines, 'open'>;
  /** Runs a command of the page's buttons. */
  run(action: PageAction, record: JobRecord): void;
}

/** What a job's page shows of the contents of its results. */
interface ShownContents {
  /** Pictures and the heads of tables. */
  readonly previews: readonly ResultPreview[];
  /** The metrics in files. */
  readonly metrics: ReadonlyMap<string, SeriesData>;
}

/** The open pages of jobs, one for each job. They read the spool, so they are complete after a reload and live while the job runs. */
export class JobPages implements Disposable {
  readonly #deps: JobPagesDeps;
  readonly #open = new Map<string, vscode.WebviewPanel>();
  readonly #compared = new Map<string, ComparedJobs>();
  readonly #disposables = new DisposableStore();

  constructor(deps: JobPagesDeps) {
    this.#deps = deps;
  }

  show(record: JobRecord): void {
    const shownPage = this.#open.get(record.id);
    if (shownPage !== undefined) return shownPage.reveal();
    const { log, extension } = this.#deps;
    const { panel, closed } = openPage(extension, { title: shownScript(record.script), page: 'jobPage' });
    this.#open.set(record.id, panel);
    this.#disposables.add(panel);
    closed.addEventListener('abort', () => {
      this.#open.delete(record.id);
      this.#compared.get(record.id)?.dispose();
      this.#compared.delete(record.id);
    });
    this.#follow(panel, record, closed).catch((error: unknown) => {
      if (!isAbort(error)) log.error('a job page could not be read', { id: record.id, error });
    });
  }

  /** Opens the page of a job, with the metrics of others in its plots. */
  compare(record: JobRecord, others: readonly JobRecord[]): void {
    this.show(record);
    this.#compared.get(record.id)?.set(others);
  }

  /** The jobs that the page of a job compares it with. */
  compared(record: JobRecord): readonly JobRecord[] {
    return (this.#compared.get(record.id)?.all ?? []).map((other) => other.record);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Sends the page whenever it loads or the job's record changes, and at most once a second for new events. */
  async #follow(panel: vscode.WebviewPanel, record: JobRecord, signal: AbortSignal): Promise<void> {
    const { home, store, hosts, log, lostContacts } = this.#deps;
    const page = new JobPage();
    const compared = new ComparedJobs({
      home,
      log,
      fileMetrics: async (...job) => (await pagePreviews(this.#deps, ...job)).metrics,
      onNews: () => panel.visible && send(),
    });
    this.#compared.set(record.id, compared);
    // Without prices, only the page's advice is missing.
    let account: Account | undefined;
    const priced = hosts
      .account(record.host, { signal })
      .then((known) => void (account = known))
      .catch(() => {});
    let hasNews = false;
    let sentAt = 0;
    const links = new PageLinks(record);
    const send = (): void => {
      hasNews = false;
      sentAt = Date.now();
      const latest = store.get(record.id) ?? record;
      const lost = lostContacts.get(record.id);
      const context = { account, compared: compared.all, links, now: Date.now(), lost };
      void panel.webview.postMessage(viewOf(page, latest, context));
      void links.search(page.output.lines).then((isNew) => isNew && !signal.aborted && send());
    };
    // A page that was hidden is loaded again, and needs everything again.
    let results: readonly ShownPreview[] = [];
    let sentPictures = 0;
    const sendPreviews = (): void => {
      sentPictures = page.pictures.count;
      const isResult = (name: string): boolean => results.some((result) => result.name.startsWith(`${name} (`));
      const pictures = page.pictures.all.filter(({ name }) => !isResult(name));
      const message: ToJobPage = { type: 'previews', printed: pictures, results };
      if (pictures.length + results.length > 0) void panel.webview.postMessage(message);
    };
    const listening = vscode.Disposable.from(
      panel.webview.onDidReceiveMessage((message: unknown) => {
        const action = PAGE_ACTIONS.find((each) => each === textField(message, 'action'));
        if (action !== undefined) return this.#deps.run(action, record);
        const clicked = clickedLink.safeParse(message).data;
        if (clicked !== undefined) {
          const reference = links.of(clicked.line).find(({ start }) => start === clicked.start);
          if (reference !== undefined) void this.#deps.sourceLines.open(record, reference, signal);
          return;
        }
        send();
        sendPreviews();
      }),
      store.onDidChange(({ ids }) => ids.has(record.id) && send()),
      lostContacts.onDidChange((id) => id === record.id && send()),
    );
    signal.addEventListener('abort', () => void listening.dispose());
    const draw = (): void => {
      if (!panel.visible) return;
      if (hasNews || Date.now() - sentAt > WITHOUT_NEWS_MS) send();
      if (page.pictures.count > sentPictures) sendPreviews();
    };
    const drawing = new AbortController();
    const isDrawn = repeat(draw, EVERY_MS, AbortSignal.any([signal, drawing.signal]));
    try {
      for await (const event of new EventSpool(home, record.id).follow({ signal })) {
        page.push(event);
        hasNews = true;
      }
    } finally {
      drawing.abort();
      await isDrawn;
    }
    await priced;
    signal.throwIfAborted();
    send();
    const { metrics, previews } = await pagePreviews(
      this.#deps,
      store.get(record.id) ?? record,
      page.results.bytes,
      signal,
    );
    page.addFileMetrics(metrics);
    if (metrics.size > 0) send();
    results = previews;
    sendPreviews();
  }
}

/**
 * What a job's page shows of the contents of its results. Results that are not in the cache are downloaded if their events say that they
 * are small, and the folder is trusted.
 *
 * @param resultBytes the size of all results; 0 if it is unknown.
 */
async function pagePreviews(
  { browsed, hosts, home, log }: JobPagesDeps,
  record: JobRecord,
  resultBytes: number,
  signal: AbortSignal,
): Promise<ShownContents> {
  try {
    if ((await browsed.summary(record.id)) === undefined) {
      const isSmall = resultBytes > 0 && resultBytes <= MOST_FETCHED_BYTES;
      if (!isOver(record) || !isSmall || !vscode.workspace.isTrusted) return NOTHING;
      await browseResults({ service: hosts.service(record.host), home, browsed }, record, { signal });
    }
    return { previews: await browsed.previews(record.id), metrics: await browsed.metrics(record.id) };
  } catch (error) {
    if (isAbort(error)) throw error;
    // The page is useful without them.
    log.warn('the results of a job cannot be previewed', { id: record.id, error });
    return NOTHING;
  }
}

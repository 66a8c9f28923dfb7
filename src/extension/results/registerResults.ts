import type { WindowParts } from '../contributions/parts.ts';
import { describeRecovered, hasResultJournals } from '../../jobs/results/resultJournals.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Commands } from '../contributions/commands.ts';
import type { JobFinder } from '../jobs/list/jobCommand.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { WatchedJobs } from '../jobs/store/watchedJobs.ts';
import type { Worker } from '../threads/worker.ts';
import { showWarning } from '../ui/show.ts';
import { announceResults } from './resultNotifications.ts';
import type { ResultDeps } from './results.ts';
import { ResultsView } from './resultsView.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import { type JobFileSource, JobFileSystem } from '../jobs/jobFileSystem.ts';

/** VS Code itself asks before it opens a file of this size. */
export const MOST_OPENED_BYTES = 50_000_000;

interface ResultInputs
  extends Pick<WindowParts, 'contexts' | 'home' | 'ledger' | 'log' | 'parts' | 'signal' | 'wasSubmittedHere'> {
  readonly hosts: Hosts;
  readonly jobs: JobFinder & { readonly store: JobStore; readonly watched: WatchedJobs };
  readonly worker: Pick<Worker, 'archiver' | 'browsed' | 'journals'>;
}

export interface ResultFeature {
  /** What a download uses. */
  readonly downloading: ResultDeps;
  readonly resultsView: ResultsView;
  /** Where the files of jobs are read that are browsed while they run, by our own IDs of the jobs. */
  readonly running: Map<string, JobFileSource>;
  readonly commands: () => Promise<Commands<'results'>>;
}

/** Brings the results of jobs home, and shows them. */
export function registerResults({
  contexts,
  home,
  hosts,
  jobs,
  ledger,
  log,
  parts,
  signal,
  wasSubmittedHere,
  worker: { archiver, browsed, journals },
}: ResultInputs): ResultFeature {
  const { store, watched } = jobs;
  const downloading = { archiver, home, hosts, ledger, log, signal, store };
  const running = new Map<string, JobFileSource>();
  const documents = parts.add(resultDocuments(browsed, ledger, running));
  const resultsView = parts.add(new ResultsView({ documents, contexts, log }));
  parts.add(
    store.onDidChange(({ counted }) => {
      if (counted.length > 0)
        parts.run('results', announceResults(counted, { ...downloading, watched, wasSubmittedHere }));
    }),
  );
  const recover = async (): Promise<void> => {
    if (!(await hasResultJournals(home))) return; // so that the thread does not start
    for (const recovered of await journals.recover()) void showWarning(describeRecovered(recovered));
  };
  parts.run('interrupted results', recover());
  const commandDeps = { ...downloading, browsed, jobs, resultDocuments: documents, resultsView };
  return {
    downloading,
    resultsView,
    running,
    commands: async () => (await import('./resultCommands.ts')).resultCommands(commandDeps),
  };
}

/**
 * The files of a job that are shown: `farwharf-results://ID/path`. Nothing is downloaded, and no job connected to, for an address, which any
 * extension can open: these are results in the cache, and files of a running job that the user browses.
 */
function resultDocuments(
  browsed: Worker['browsed'],
  ledger: Pick<AsyncLedger, 'get'>,
  running: ReadonlyMap<string, JobFileSource>,
): JobFileSystem {
  const stored: JobFileSource = {
    async find(id, path) {
      const found = await browsed.find(id, path);
      return found === 'folder' ? { isFolder: true, size: 0 } : found && { isFolder: false, size: found.size };
    },
    children: async (id, path) => (await browsed.level(id, path)).children,
    read: (id, path) => browsed.readAll(id, path, MOST_OPENED_BYTES),
  };
  const sourceOf = (id: string): JobFileSource => running.get(id) ?? stored;
  const source: JobFileSource = {
    find: (id, path) => sourceOf(id).find(id, path),
    children: (id, path) => sourceOf(id).children(id, path),
    read: (id, path) => sourceOf(id).read(id, path),
  };
  return new JobFileSystem('farwharf-results', source, ledger);
}

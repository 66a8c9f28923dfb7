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

// VS Code itself asks before it opens a file of this size.
const MOST_OPENED_BYTES = 50_000_000;

interface ResultInputs
  extends Pick<WindowParts, 'contexts' | 'home' | 'ledger' | 'log' | 'parts' | 'signal' | 'wasSubmittedHere'> {
  readonly hosts: Hosts;
  readonly jobs: JobFinder & { readonly store: JobStore; readonly watched: WatchedJobs };
  readonly worker: Pick<Worker, 'archiver' | 'browsed' | 'journals'>;
}

interface ResultFeature {
  /** What a download uses. */
  readonly downloading: ResultDeps;
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
  const documents = parts.add(resultDocuments(browsed, ledger));
  const resultsView = parts.add(new ResultsView({ browsed, documents, contexts }));
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
    commands: async () => (await import('./resultCommands.ts')).resultCommands(commandDeps),
  };
}

/**
 * The results of a job that are in the cache: `farwharf-results://ID/path`. Nothing is downloaded for an address, which any extension can
 * open.
 */
function resultDocuments(browsed: Worker['browsed'], ledger: Pick<AsyncLedger, 'get'>): JobFileSystem {
  const source: JobFileSource = {
    async find(id, path) {
      const found = await browsed.find(id, path);
      return found === 'folder' ? { isFolder: true, size: 0 } : found && { isFolder: false, size: found.size };
    },
    children: async (id, path) => (await browsed.level(id, path)).children,
    read: (id, path) => browsed.readAll(id, path, MOST_OPENED_BYTES),
  };
  return new JobFileSystem('farwharf-results', source, ledger);
}

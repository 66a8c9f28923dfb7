import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { AppError } from '../../core/errors.ts';
import { numberField, textField } from '../../core/jsonFields.ts';
import { formatInteger } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeParameters, type JobParameters } from '../../jobs/ledger/parameters.ts';
import type { DownloadedResults } from '../../jobs/results/placeFiles.ts';
import { resultsFolderOf } from '../../jobs/results/resultsFolder.ts';
import { awaitedResults } from '../../jobs/sweeps/awaitedResults.ts';
import { countJobs, describeCounts } from '../../jobs/sweeps/sweepProgress.ts';
import { forEachJob } from '../jobs/list/forEachJob.ts';
import { presentResults } from '../results/presentResults.ts';
import { chooseResultsRoot, download, downloadFailures, type ResultDeps } from '../results/results.ts';
import { askModal, askText, pickRow } from '../ui/show.ts';
import { requireTrust } from '../workspace/folders.ts';
import type { Command, Commands } from '../contributions/commands.ts';
import { readParameters } from './parameterText.ts';
import type { SweepPages } from './sweepPages.ts';
import type { SweepRuns } from './sweepRuns.ts';
import type { Sweep } from '../../jobs/sweeps/sweep.ts';
import { SweepStore } from '../../jobs/sweeps/sweepStore.ts';
import { label, withoutIcons } from '../ui/labels.ts';

export interface SweepCommandInputs {
  /** What a download uses. */
  readonly downloading: ResultDeps;
  readonly submit: (wanted: {
    readonly folder: string;
    readonly profile: string;
    readonly parameters: JobParameters;
    readonly lookFirst: boolean;
  }) => Promise<string | undefined>;
}

type SweepFinder = Pick<WindowParts, 'home' | 'ledger'>;

interface SweepCommandDeps extends SweepFinder, SweepCommandInputs, Pick<WindowParts, 'signal'> {
  readonly pages: SweepPages;
  readonly runs: SweepRuns;
}

export function sweepCommands(deps: SweepCommandDeps): Commands<'sweeps'> {
  const { downloading, ledger, pages, runs, signal } = deps;
  return {
    'farwharf.showSweep': sweepCommand(deps, l10n.t('Show Sweep'), (sweep) => pages.show(sweep)),
    /**
     * Downloads the results of the jobs that have ended and whose results are not here yet, each into a folder of its own. Asks at most once,
     * for the folder: nobody wants to look at the files of each of a hundred jobs first.
     */
    'farwharf.downloadSweepResults': sweepCommand(deps, l10n.t('Download Sweep Results'), async (sweep) => {
      requireTrust();
      const records = await ledger.list({ sweep: sweep.id, withRemoved: true, limit: sweep.drafts.length });
      const waiting = awaitedResults(records);
      if (waiting.length === 0) {
        throw new AppError(
          'missing',
          printableLine(l10n.t('You have already downloaded the results of all ended jobs of sweep {0}.', sweep.name)),
        );
      }
      const root = await chooseResultsRoot(sweep, sweep.name);
      if (root === undefined) return;
      const all: DownloadedResults[] = [];
      try {
        await forEachJob(waiting, downloadFailures, (record) => {
          const target = (): Promise<string> => resultsFolderOf({ ...record, folder: root });
          return download(downloading, record, {
            keepBoth: true,
            target,
            present: (results) => void all.push(results),
          });
        });
      } finally {
        await presentResults(all);
      }
    }),
    /** Sends the jobs of a sweep that were not sent yet. */
    'farwharf.resumeSweep': sweepCommand(deps, l10n.t('Resume Sweep'), (sweep) => {
      requireTrust();
      if (sweep.isCancelled) {
        throw new AppError(
          'conflict',
          printableLine(
            l10n.t('Sweep {0} was cancelled, so no more of its jobs are sent. Submit it again.', sweep.name),
          ),
        );
      }
      runs.start(sweep);
    }),
    /** Stops all jobs of a sweep and sends no more, once the user has confirmed it. */
    'farwharf.cancelSweep': sweepCommand(deps, l10n.t('Cancel Sweep'), async (sweep) => {
      const records = await ledger.list({ sweep: sweep.id, withRemoved: true, limit: sweep.drafts.length });
      const { unfinished, unsent } = countJobs(sweep.drafts.length, records, Date.now());
      const detail =
        unfinished === 1
          ? l10n.t('1 job will be stopped, and {0} will not be sent. You pay for the time that they ran.', unsent)
          : l10n.t(
              '{1} jobs will be stopped, and {0} will not be sent. You pay for the time that they ran.',
              unsent,
              formatInteger(unfinished),
            );
      const cancel = l10n.t('Cancel All');
      if ((await askModal(l10n.t('Cancel sweep {0}?', sweep.name), { detail, isWarning: true }, cancel)) !== cancel)
        return undefined;
      return runs.cancel(sweep, signal);
    }),
    /** Submits a job of a sweep again, as a single job with other parameters, from the folder as it is now. */
    'farwharf.editSweepJob': sweepCommand(deps, l10n.t('Edit and Submit Sweep Job'), async (sweep, argument) => {
      const draft = sweep.drafts[numberField(argument, 'index') ?? 0];
      const before = draft?.sweep?.parameters ?? {};
      const text = await askText({
        title: l10n.t('Submit a job of {0}', sweep.name),
        prompt: l10n.t('Change the parameters, then press Enter to review the job before it is sent.'),
        value: describeParameters(before),
        validateInput: (typed) => {
          const { problem } = readParameters(typed, before);
          return problem;
        },
      });
      if (text === undefined) return undefined;
      const { parameters } = readParameters(text, before);
      return deps.submit({ folder: sweep.folder, profile: sweep.name, parameters, lookFirst: true });
    }),
  };
}

/** A command on one sweep: the one that the argument names, or one that the user picks. */
function sweepCommand(finder: SweepFinder, title: string, run: (sweep: Sweep, argument: unknown) => unknown): Command {
  return async (argument) => {
    const id = typeof argument === 'string' ? argument : textField(argument, 'sweep');
    const sweep = id === undefined ? await pickSweep(finder, title) : await findSweep(finder, id);
    return sweep === undefined ? undefined : run(sweep, argument);
  };
}

async function findSweep({ home }: SweepFinder, id: string): Promise<Sweep> {
  const store = new SweepStore(home);
  // Only complete IDs: a prefix from another extension could match a sweep that nobody chose.
  const sweep = (await store.ids()).includes(id) ? await store.read(id) : undefined;
  if (sweep === undefined) throw new AppError('missing', l10n.t('This sweep is no longer stored on this machine.'));
  return sweep;
}

async function pickSweep({ home, ledger }: SweepFinder, title: string): Promise<Sweep | undefined> {
  const store = new SweepStore(home);
  const sweeps: Sweep[] = [];
  for (const id of await store.ids()) {
    const sweep = await store.read(id).catch((): undefined => undefined); // damaged
    if (sweep !== undefined) sweeps.push(sweep);
  }
  if (sweeps.length === 0) {
    throw new AppError(
      'missing',
      l10n.t('{0}: no sweeps yet. Add a "matrix" to a profile in farwharf.json and submit it.', title),
    );
  }
  const items = await Promise.all(
    sweeps
      .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))
      .map(async (sweep) => {
        const { id, drafts, name, createdAt } = sweep;
        const records = await ledger.list({ sweep: id, withRemoved: true, limit: drafts.length });
        const counts = describeCounts(countJobs(drafts.length, records, Date.now()));
        const detail = label`${new Date(createdAt).toLocaleString()}`;
        return { label: withoutIcons(name), description: withoutIcons(counts), detail, sweep };
      }),
  );
  return (await pickRow(items, { title, matchOnDescription: true, matchOnDetail: true }))?.sweep;
}

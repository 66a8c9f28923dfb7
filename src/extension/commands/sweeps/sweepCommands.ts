import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { numberField } from '../../../core/jsonFields.ts';
import { formatInteger } from '../../../core/text/format.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { describeParameters } from '../../../jobs/ledger/parameters.ts';
import type { DownloadedResults } from '../../../jobs/results/placeFiles.ts';
import { resultsFolderOf } from '../../../jobs/results/resultsFolder.ts';
import { awaitedResults } from '../../../jobs/sweeps/awaitedResults.ts';
import { countJobs } from '../../../jobs/sweeps/sweepProgress.ts';
import { forEachJob } from '../../jobs/list/forEachJob.ts';
import { presentResults } from '../../results/presentResults.ts';
import { chooseResultsRoot, download } from '../../results/results.ts';
import { submit } from '../../submit/submit.ts';
import { askModal, askText } from '../../ui/show.ts';
import { requireTrust } from '../../workspace/folders.ts';
import type { Commands } from '../command.ts';
import { downloadFailures } from '../jobs/downloadResults.ts';
import { readParameters } from './parameterText.ts';
import { sweepCommand } from './sweepCommand.ts';

export const sweepCommands = {
  'farwharf.showSweep': sweepCommand(l10n.t('Show Sweep'), ({ services }, sweep) => services.sweepPages.show(sweep)),
  /**
   * Downloads the results of the jobs that have ended and whose results are not here yet, each into a folder of its own. Asks at most once,
   * for the folder: nobody wants to look at the files of each of a hundred jobs first.
   */
  'farwharf.downloadSweepResults': sweepCommand(l10n.t('Download Sweep Results'), async ({ services }, sweep) => {
    requireTrust();
    const records = await services.ledger.list({ sweep: sweep.id, withRemoved: true, limit: sweep.drafts.length });
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
        return download(services, record, { keepBoth: true, target, present: (results) => void all.push(results) });
      });
    } finally {
      await presentResults(all);
    }
  }),
  /** Sends the jobs of a sweep that were not sent yet. */
  'farwharf.resumeSweep': sweepCommand(l10n.t('Resume Sweep'), ({ services }, sweep) => {
    requireTrust();
    if (sweep.isCancelled) {
      throw new AppError(
        'conflict',
        printableLine(l10n.t('Sweep {0} was cancelled, so no more of its jobs are sent. Submit it again.', sweep.name)),
      );
    }
    services.sweeps.start(sweep);
  }),
  /** Stops all jobs of a sweep and sends no more, once the user has confirmed it. */
  'farwharf.cancelSweep': sweepCommand(l10n.t('Cancel Sweep'), async ({ services }, sweep) => {
    const { ledger, signal, sweeps } = services;
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
    return sweeps.cancel(sweep, signal);
  }),
  /** Submits a job of a sweep again, as a single job with other parameters, from the folder as it is now. */
  'farwharf.editSweepJob': sweepCommand(l10n.t('Edit and Submit Sweep Job'), async ({ services }, sweep, argument) => {
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
    return submit(services, { folder: sweep.folder, profile: sweep.name, parameters, lookFirst: true });
  }),
} satisfies Commands;

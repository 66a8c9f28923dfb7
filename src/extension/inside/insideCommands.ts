import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { type Command, type Commands, readDocument } from '../contributions/commands.ts';
import { jobCommand, type JobFinder } from '../jobs/list/jobCommand.ts';
import type { LogDocuments } from '../jobs/log/logDocuments.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';
import type { ResultFeature } from '../results/registerResults.ts';
import type { JobPorts } from './jobPorts.ts';
import { isOfferedArgument, openJobPort, openOffered, openPrintedPage, readPageArgument } from './openJobPort.ts';
import { RunningFiles } from './runningFiles.ts';
import type { JobTerminals } from './jobTerminals.ts';

interface InsideCommandDeps extends Pick<RunningDeps, 'archiver' | 'home' | 'tunnels'> {
  readonly jobs: JobFinder & { readonly logDocuments: Pick<LogDocuments, 'recordOf'> };
  readonly ports: JobPorts;
  readonly results: Pick<ResultFeature, 'resultsView' | 'running'>;
  readonly terminals: JobTerminals;
}

type RunningDeps = ConstructorParameters<typeof RunningFiles>[0];

export function insideCommands(deps: InsideCommandDeps): Commands<'inside'> {
  const { jobs, terminals } = deps;
  const only = {
    fits: ({ state }: JobRecord) => state === 'running',
    none: l10n.t('No job is running.'),
  };
  /** A command on a running job: that of a row, or that whose log the editor shows, else one that the user picks. */
  const insideCommand = (title: string, run: (record: JobRecord, argument: unknown) => unknown): Command => {
    return (argument) => {
      const document = readDocument(argument);
      const command = jobCommand(jobs, { title, only, run: (record) => run(record, argument) });
      return command(document === undefined ? argument : jobs.logDocuments.recordOf(document));
    };
  };
  const openPort = insideCommand(l10n.t('Open Port of Job'), (record, argument) => {
    const page = readPageArgument(argument);
    return page === undefined ? openJobPort(deps, record) : openPrintedPage(deps, record, page);
  });
  return {
    'farwharf.openJobTerminal': insideCommand(l10n.t('Open Terminal in Job'), (record) => terminals.show(record)),
    'farwharf.browseRunningJob': insideCommand(l10n.t('Browse Running Job'), (record) => browseRunning(deps, record)),
    'farwharf.openJobPort': (argument) => (isOfferedArgument(argument) ? openOffered(deps) : openPort(argument)),
  };
}

/** Shows the files of a running job in the place of its results. */
async function browseRunning(
  { archiver, home, results, tunnels }: InsideCommandDeps,
  record: JobRecord,
): Promise<void> {
  const { resultsView, running } = results;
  const files = new RunningFiles(
    { archiver, home, journals: new ResultJournals(home), tunnels, onClosed: () => running.delete(record.id) },
    record,
  );
  try {
    await files.connect();
  } catch (error) {
    files[Symbol.dispose]();
    throw error;
  }
  const shown = resultsView.show(files);
  running.set(record.id, files); // after what was shown before has been closed
  await shown;
}

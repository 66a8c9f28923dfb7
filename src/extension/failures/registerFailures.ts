import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { hasSucceeded, isOver } from '../../jobs/ledger/record.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Keys } from '../account/keys.ts';
import { type Commands, readDocument } from '../contributions/commands.ts';
import { jobCommand, type JobFinder } from '../jobs/list/jobCommand.ts';
import type { SourceLines } from '../jobs/log/sourceLines.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { WatchedJobs } from '../jobs/store/watchedJobs.ts';
import type { Worker } from '../threads/worker.ts';
import { FailureDocuments } from './failureDocuments.ts';
import { notifyFailures } from './failureNotifications.ts';
import { FailureProblems } from './failureProblems.ts';

interface FailureInputs extends Pick<WindowParts, 'home' | 'log' | 'parts' | 'signal' | 'wasSubmittedHere'> {
  readonly hosts: Hosts;
  readonly jobs: JobFinder & {
    readonly sourceLines: SourceLines;
    readonly store: JobStore;
    readonly watched: WatchedJobs;
  };
  readonly modelKeys: Keys;
  readonly worker: Pick<Worker, 'failures'>;
}

/** Tells of jobs that failed, marks the lines where they did, and explains them. */
export function registerFailures({
  home,
  hosts,
  jobs,
  log,
  modelKeys,
  parts,
  signal,
  wasSubmittedHere,
  worker,
}: FailureInputs): { readonly commands: () => Promise<Commands<'failures'>> } {
  const { sourceLines, store, watched } = jobs;
  const notifying = { home, signal, sourceLines, wasSubmittedHere, watched };
  parts.add(store.onDidChange(({ ended }) => parts.run('failures', notifyFailures(ended, notifying))));
  parts.setUp('problems', () => new FailureProblems({ ...notifying, store, log }));
  const documents = parts.onFirstUse(
    () => new FailureDocuments({ failures: worker.failures, home, hosts, modelKeys, sourceLines }),
  );
  return {
    commands: async () => ({
      'farwharf.explainFailure': jobCommand(jobs, {
        title: l10n.t('Explain This Failure'),
        only: {
          fits: (record) => isOver(record) && !hasSucceeded(record),
          none: l10n.t('No job in the list has failed.'),
        },
        run: (record) => documents().show(record),
      }),
      'farwharf.askAboutFailure': (argument) => documents().ask(readDocument(argument)),
      'farwharf.copyFailure': (argument) => documents().copy(readDocument(argument)),
      'farwharf.installPackages': (argument) => documents().install(readDocument(argument)),
      'farwharf.stopFailureAnswer': (argument) => documents().stop(readDocument(argument)),
    }),
  };
}

import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { type Command, type Commands, readDocument } from '../contributions/commands.ts';
import { jobCommand, type JobFinder } from '../jobs/list/jobCommand.ts';
import type { LogDocuments } from '../jobs/log/logDocuments.ts';
import type { JobTerminals } from './jobTerminals.ts';

interface InsideCommandDeps {
  readonly jobs: JobFinder & { readonly logDocuments: Pick<LogDocuments, 'recordOf'> };
  readonly terminals: JobTerminals;
}

export function insideCommands({ jobs, terminals }: InsideCommandDeps): Commands<'inside'> {
  const only = {
    fits: ({ state }: JobRecord) => state === 'running',
    none: l10n.t('No job is running.'),
  };
  /** A command on a running job: that of a row, or that whose log the editor shows, else one that the user picks. */
  const insideCommand = (title: string, run: (record: JobRecord) => unknown): Command => {
    const command = jobCommand(jobs, { title, only, run });
    return (argument) => {
      const document = readDocument(argument);
      return command(document === undefined ? argument : jobs.logDocuments.recordOf(document));
    };
  };
  return {
    'farwharf.openJobTerminal': insideCommand(l10n.t('Open Terminal in Job'), (record) => terminals.show(record)),
  };
}

import * as vscode from 'vscode';
import type { Hosts } from '../account/hosts.ts';
import type { Commands } from '../contributions/commands.ts';
import type { WindowParts } from '../contributions/parts.ts';
import type { JobFinder } from '../jobs/list/jobCommand.ts';
import type { LogDocuments } from '../jobs/log/logDocuments.ts';
import type { SourceLines } from '../jobs/log/sourceLines.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { ResultFeature } from '../results/registerResults.ts';
import type { Worker } from '../threads/worker.ts';
import { JobTerminals } from './jobTerminals.ts';
import { JobTunnels } from './jobTunnels.ts';
import { TerminalLinks } from './terminalLinks.ts';

interface InsideInputs extends Pick<WindowParts, 'context' | 'home' | 'parts'> {
  readonly hosts: Hosts;
  readonly jobs: JobFinder & {
    readonly logDocuments: LogDocuments;
    readonly sourceLines: SourceLines;
    readonly store: JobStore;
  };
  readonly results: ResultFeature;
  readonly worker: Pick<Worker, 'archiver'>;
}

interface InsideFeature {
  readonly commands: () => Promise<Commands<'inside'>>;
}

/** What can be done in running jobs: a terminal, and a look at their files. */
export function registerInside({ context, home, hosts, jobs, parts, results, worker }: InsideInputs): InsideFeature {
  const { sourceLines, store } = jobs;
  const tunnels = parts.add(new JobTunnels({ hosts, store }));
  const terminals = parts.add(new JobTerminals({ memory: context.workspaceState, store, tunnels }));
  parts.setUp('terminals', () => vscode.window.registerTerminalLinkProvider(new TerminalLinks(terminals, sourceLines)));
  const { resultsView } = results;
  parts.add(
    store.onDidChange(({ ended }) => {
      const shown = resultsView.files;
      if (shown?.refreshMs === undefined || !ended.some(({ id }) => id === shown.record.id)) return;
      resultsView.close();
      void vscode.commands.executeCommand('farwharf.browseResults', shown.record.id);
    }),
  );
  const commandDeps = { archiver: worker.archiver, home, jobs, results, terminals, tunnels };
  return {
    commands: async () => (await import('./insideCommands.ts')).insideCommands(commandDeps),
  };
}

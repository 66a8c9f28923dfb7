import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { shownScript } from '../../jobs/selection/script.ts';
import type { Hosts } from '../account/hosts.ts';
import { onDidChangeSetting, readSetting } from '../contributions/config.ts';
import type { Commands } from '../contributions/commands.ts';
import type { WindowParts } from '../contributions/parts.ts';
import type { JobFinder } from '../jobs/list/jobCommand.ts';
import type { JobLog } from '../jobs/log/jobLog.ts';
import type { LogDocuments } from '../jobs/log/logDocuments.ts';
import type { SourceLines } from '../jobs/log/sourceLines.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { ResultFeature } from '../results/registerResults.ts';
import type { Worker } from '../threads/worker.ts';
import { showDone } from '../ui/show.ts';
import { JobPorts } from './jobPorts.ts';
import { JobTerminals } from './jobTerminals.ts';
import { JobTunnels } from './jobTunnels.ts';
import { showPortStatus } from './portStatus.ts';
import { TerminalLinks } from './terminalLinks.ts';

interface InsideInputs extends Pick<WindowParts, 'context' | 'home' | 'log' | 'parts'> {
  readonly hosts: Hosts;
  readonly jobs: JobFinder & {
    readonly jobLog: Pick<JobLog, 'onDidPrintAddress'>;
    readonly logDocuments: LogDocuments;
    readonly sourceLines: SourceLines;
    readonly store: JobStore;
  };
  readonly results: ResultFeature;
  readonly worker: Pick<Worker, 'archiver'>;
}

interface InsideFeature {
  readonly tunnels: JobTunnels;
  readonly commands: () => Promise<Commands<'inside'>>;
}

/** What can be done in running jobs: a terminal, a look at their files, and their ports. */
export function registerInside({
  context,
  home,
  hosts,
  jobs,
  log,
  parts,
  results,
  worker,
}: InsideInputs): InsideFeature {
  const { jobLog, sourceLines, store } = jobs;
  const tunnels = parts.add(new JobTunnels({ hosts, store }));
  const ports = parts.add(
    new JobPorts({
      log,
      memory: context.workspaceState,
      store,
      tunnels,
      isOffering: () => readSetting('offerPorts'),
      onClosed: (record, { port }) => showDone(l10n.t('{0} closed port {1}', shownScript(record.script), port)),
    }),
  );
  const terminals = parts.add(new JobTerminals({ memory: context.workspaceState, store, tunnels }));
  parts.setUp('terminals', () => vscode.window.registerTerminalLinkProvider(new TerminalLinks(terminals, sourceLines)));
  parts.setUp('ports', () => {
    parts.add(jobLog.onDidPrintAddress((address) => ports.addPrinted(address.id, address)));
    parts.add(onDidChangeSetting('offerPorts', () => ports.update()));
    const listed = store.onDidChange(() => {
      listed.dispose();
      ports.offerAgain();
    });
    parts.add(listed);
    return showPortStatus(ports);
  });
  const { resultsView } = results;
  parts.add(
    store.onDidChange(({ ended }) => {
      for (const record of ended) ports.end(record);
      const shown = resultsView.files;
      if (shown?.refreshMs === undefined || !ended.some(({ id }) => id === shown.record.id)) return;
      resultsView.close();
      void vscode.commands.executeCommand('farwharf.browseResults', shown.record.id);
    }),
  );
  const commandDeps = { archiver: worker.archiver, home, jobs, ports, results, terminals, tunnels };
  return {
    tunnels,
    commands: async () => (await import('./insideCommands.ts')).insideCommands(commandDeps),
  };
}

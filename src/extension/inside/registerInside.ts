import * as vscode from 'vscode';
import type { Hosts } from '../account/hosts.ts';
import type { Commands } from '../contributions/commands.ts';
import type { WindowParts } from '../contributions/parts.ts';
import type { JobFinder } from '../jobs/list/jobCommand.ts';
import type { LogDocuments } from '../jobs/log/logDocuments.ts';
import type { SourceLines } from '../jobs/log/sourceLines.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import { JobTerminals } from './jobTerminals.ts';
import { JobTunnels } from './jobTunnels.ts';
import { TerminalLinks } from './terminalLinks.ts';

interface InsideInputs extends Pick<WindowParts, 'context' | 'parts'> {
  readonly hosts: Hosts;
  readonly jobs: JobFinder & {
    readonly logDocuments: LogDocuments;
    readonly sourceLines: SourceLines;
    readonly store: JobStore;
  };
}

interface InsideFeature {
  readonly commands: () => Promise<Commands<'inside'>>;
}

/** What can be done in running jobs: a terminal. */
export function registerInside({ context, hosts, jobs, parts }: InsideInputs): InsideFeature {
  const { sourceLines, store } = jobs;
  const tunnels = parts.add(new JobTunnels({ hosts, store }));
  const terminals = parts.add(new JobTerminals({ memory: context.workspaceState, store, tunnels }));
  parts.setUp('terminals', () => vscode.window.registerTerminalLinkProvider(new TerminalLinks(terminals, sourceLines)));
  return {
    commands: async () => (await import('./insideCommands.ts')).insideCommands({ jobs, terminals }),
  };
}

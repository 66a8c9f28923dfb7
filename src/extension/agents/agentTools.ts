import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { AppError } from '../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../core/processes/lifetime.ts';
import type { AgentToolName } from '../../jobs/agentTools/agentToolNames.ts';
import { AGENT_TOOL_TEXTS } from '../../jobs/agentTools/agentTools.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Keys } from '../account/keys.ts';
import { printableLine } from '../../core/text/printable.ts';
import { hostLabel } from '../ui/words.ts';
import { type Confirmation, describeConfirmation } from './confirmations.ts';
import { toolCommand } from './toolCommand.ts';
import { type ToolCommand, ToolProcess, type ToolResult } from './toolProcess.ts';

/** Reads only stored data about jobs, so it works in Restricted Mode too. */
const WITHOUT_TRUST: ReadonlySet<AgentToolName> = new Set([
  'list_jobs',
  'get_job',
  'wait_for_job',
  'read_job_log',
  'explain_failure',
]);

interface AgentToolsDeps extends Pick<WindowParts, 'context' | 'home'> {
  readonly hosts: Hosts;
  readonly keys: Keys;
}

/** Runs the tools of agents in one process for each folder, so that they never block the extension host. */
export class AgentTools implements Disposable {
  readonly #deps: AgentToolsDeps;
  readonly #processes = new Map<string, ToolProcess>();
  readonly #disposables = new DisposableStore();

  constructor(deps: AgentToolsDeps) {
    this.#deps = deps;
    // Processes have the key and the address of the service that was selected when they started.
    this.#disposables.add(deps.hosts.onDidChange(() => this.#stopAll()));
  }

  /** What the user confirms before a tool runs; undefined for one that only reads. */
  async confirmation(name: AgentToolName, input: unknown, signal: AbortSignal): Promise<Confirmation | undefined> {
    if (AGENT_TOOL_TEXTS[name].isReadOnly) return undefined;
    const isSubmit = name === 'submit_job' || name === 'submit_sweep';
    const plan = isSubmit ? await this.call('preflight_job', input, signal) : undefined;
    const service = hostLabel(this.#deps.hosts.current());
    return describeConfirmation(name, input, { service, folder: toolFolder(), plan });
  }

  /** @throws AppError `untrusted` in Restricted Mode for tools that act on the folder, `missing` without a folder. */
  async call(name: AgentToolName, input: unknown, signal: AbortSignal): Promise<ToolResult> {
    if (!vscode.workspace.isTrusted && !WITHOUT_TRUST.has(name)) {
      throw new AppError(
        'untrusted',
        l10n.t('In Restricted Mode, {0} is not available. Trust the folder first.', name),
      );
    }
    const folder = toolFolder();
    let running = this.#processes.get(folder);
    if (running?.isRunning !== true) {
      running = new ToolProcess(await this.command(folder));
      this.#processes.set(folder, running);
    }
    return running.call(name, input, signal);
  }

  /** The command that serves the tools for a folder, for the selected service. */
  async command(folder: string): Promise<ToolCommand> {
    const { context, hosts, keys, home } = this.#deps;
    const program = context.asAbsolutePath(join('dist', 'cli.mjs'));
    return toolCommand(folder, { host: hosts.current(), keys, home, program });
  }

  /** The MCP servers that agents of VS Code can start: one for each open folder, none in Restricted Mode. They have no key yet. */
  serverDefinitions(): vscode.McpStdioServerDefinition[] {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
    if (!vscode.workspace.isTrusted) return [];
    return folders.map(({ name, uri }) => {
      const title = folders.length === 1 ? 'Farwharf' : `Farwharf: ${printableLine(name)}`;
      const server = new vscode.McpStdioServerDefinition(title, process.execPath);
      server.cwd = uri;
      return server;
    });
  }

  /** Adds the command and the key when VS Code starts a server. */
  async resolveServer(server: vscode.McpStdioServerDefinition): Promise<vscode.McpStdioServerDefinition> {
    const { command, args, env } = await this.command(server.cwd?.fsPath ?? toolFolder());
    const variables = Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    server.command = command;
    server.args = [...args];
    server.env = Object.fromEntries(variables);
    return server;
  }

  dispose(): void {
    this.#stopAll();
    this.#disposables.dispose();
  }

  #stopAll(): void {
    for (const each of this.#processes.values()) each.dispose();
    this.#processes.clear();
  }
}

/** The folder of the active editor, else the first one. @throws AppError `missing` without a folder on disk. */
function toolFolder(): string {
  const active = vscode.window.activeTextEditor?.document.uri;
  const folder = (active && vscode.workspace.getWorkspaceFolder(active)) ?? vscode.workspace.workspaceFolders?.[0];
  if (folder?.uri.scheme === 'file') return folder.uri.fsPath;
  throw new AppError('missing', l10n.t('Open a folder on disk first. The tools work on the open folder.'));
}

import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';

const JAVASCRIPT_DEBUGGER = 'pwa-node';

/** A session of VS Code's own JavaScript debugger with a job. */
export class InspectorSession implements vscode.Disposable {
  readonly #url: string;
  readonly #leave: () => void;
  readonly #ended: vscode.Disposable;

  /** @param url where the debugger of the job is served. @param leave ends that. */
  constructor(url: string, leave: () => void) {
    this.#url = url;
    this.#leave = leave;
    this.#ended = vscode.debug.onDidTerminateDebugSession(({ configuration }) => {
      if (configuration['websocketAddress'] === url) this.dispose();
    });
  }

  /** @throws AppError `missing` if VS Code could not start it. */
  async start(
    folder: vscode.WorkspaceFolder | undefined,
    { name, justMyCode }: vscode.DebugConfiguration,
  ): Promise<void> {
    const isStarted = await vscode.debug.startDebugging(folder, {
      type: JAVASCRIPT_DEBUGGER,
      request: 'attach',
      name,
      websocketAddress: this.#url,
      // It would set variables in the job that name files of this machine.
      autoAttachChildProcesses: false,
      attachExistingChildren: false,
      // A frozen job would continue, and end. One that waits at its start is let go in any case.
      continueOnAttach: false,
      // Source maps come from the job's files, which are not in the folder here.
      resolveSourceMapLocations: null,
      skipFiles: justMyCode === false ? [] : ['<node_internals>/**', '**/nodeDebugger.cjs'],
    });
    if (isStarted) return;
    this.dispose();
    throw new AppError(
      'missing',
      l10n.t("VS Code's JavaScript debugger did not start. Enable the extension JavaScript Debugger."),
    );
  }

  dispose(): void {
    this.#ended.dispose();
    this.#leave();
  }
}

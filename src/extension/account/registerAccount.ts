import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { Emitter } from '../../core/processes/lifetime.ts';
import type { Redactor } from '../../core/redact.ts';
import { formatDuration } from '../../core/text/format.ts';
import { openMachine } from '../../machines/openMachine.ts';
import { connectEmbeddedService } from '../../service/embedded.ts';
import type { Commands } from '../contributions/commands.ts';
import { label } from '../ui/labels.ts';
import { showInStatusBar } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';
import { AccountMonitor } from './account.ts';
import type { JobsOfAccount } from './accountCommands.ts';
import { registerAuthenticationProvider } from './authenticationProvider.ts';
import { Hosts } from './hosts.ts';
import { Keys } from './keys.ts';
import { SignIns } from './signIns.ts';
import { SshQuestions } from './sshQuestions.ts';

interface AccountInputs extends Pick<WindowParts, 'context' | 'contexts' | 'home' | 'log' | 'parts' | 'signal'> {
  readonly output: vscode.LogOutputChannel;
  readonly redactor: Redactor;
}

interface AccountFeature {
  /** The account on the selected host. */
  readonly account: AccountMonitor;
  /** Fired when this window has changed a budget. */
  readonly budgetsChanged: Emitter<void>;
  readonly hosts: Hosts;
  readonly keys: Keys;
  readonly commands: (jobs: JobsOfAccount) => Promise<Commands<'account'>>;
}

/** The hosts that run jobs, and the keys, sign-ins, budgets and secrets of the user's accounts on them. */
export function registerAccount({
  context,
  contexts,
  home,
  log,
  output,
  parts,
  redactor,
  signal,
}: AccountInputs): AccountFeature {
  const keys = new Keys(context.secrets, redactor, 'key');
  const signIns = new SignIns(context.secrets, redactor, home);
  const questions = parts.add(new SshQuestions(context));
  const hosts = parts.add(
    new Hosts({
      keys,
      signIns,
      isTrusted: () => vscode.workspace.isTrusted,
      connectMachine: async (name) => openMachine(name, { home, env: await questions.environment() }, signal),
      connectLocal: () =>
        connectEmbeddedService({
          home,
          node: process.execPath,
          cli: context.asAbsolutePath(join('dist', 'cli.mjs')),
          // On a desktop the extension host is Electron's Node.js; elsewhere the variable has no effect.
          env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
          signal,
        }),
      onWait(host, seconds, reason) {
        log.warn('a service asked to wait', { host, seconds, reason });
        showInStatusBar(
          label`$(watch) ${l10n.t('{0} asks you to wait {1}: {2}', hostLabel(host), formatDuration(seconds), reason)}`,
          seconds * 1_000,
        );
      },
    }),
  );
  const account = new AccountMonitor({ hosts, memory: context.globalState, contexts, log });
  const budgetsChanged = parts.add(new Emitter<void>());
  const { globalState } = context;
  const dist = context.asAbsolutePath('dist');
  const deps = { account, budgetsChanged, dist, globalState, home, hosts, keys, log, questions, signIns, signal };
  parts.setUp('account', () => {
    parts.add(hosts.onDidChange(() => parts.run('account', account.refresh(signal))));
    parts.run(
      'account',
      account.keepFresh(() => vscode.window.state.focused, signal),
    );
    return registerAuthenticationProvider(deps);
  });
  return {
    account,
    budgetsChanged,
    hosts,
    keys,
    commands: async (jobs) => (await import('./accountCommands.ts')).accountCommands({ ...deps, ...jobs, output }),
  };
}

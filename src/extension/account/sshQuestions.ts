import { join } from 'node:path';
import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { type Askpass, startAskpass } from '../../machines/ssh/askpass.ts';
import { askModal, askText } from '../ui/show.ts';

const CONNECT = l10n.t('Connect');

/** Shows the questions of ssh as dialogs and input boxes. Answers go to ssh and are not stored. */
export class SshQuestions implements Disposable {
  readonly #client: string;
  #askpass: Promise<Askpass> | undefined;

  constructor(context: Pick<vscode.ExtensionContext, 'asAbsolutePath'>) {
    this.#client = context.asAbsolutePath(join('dist', 'askpass.mjs'));
  }

  /** The variables for ssh. */
  async environment(): Promise<NodeJS.ProcessEnv> {
    this.#askpass ??= startAskpass({ node: process.execPath, client: this.#client, answer });
    return { ...process.env, ...(await this.#askpass).env };
  }

  dispose(): void {
    void this.#askpass?.then((askpass) => askpass[Symbol.asyncDispose]()).catch(() => {});
  }
}

/** ssh asks for the fingerprint of an unknown machine with a yes-or-no question, and for everything else with a line of text. */
async function answer(question: string): Promise<string | undefined> {
  if (/\(yes\/no/.test(question)) {
    const text = l10n.t('This machine is new to you. Compare its fingerprint before you connect.');
    return (await askModal(text, { detail: question, isWarning: true }, CONNECT)) === CONNECT ? 'yes' : undefined;
  }
  return askText({ title: l10n.t('ssh asks'), prompt: question, password: true, ignoreFocusOut: true });
}

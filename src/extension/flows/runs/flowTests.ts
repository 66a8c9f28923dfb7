import { basename } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { StepReach } from '../../../flows/project/changedSteps.ts';
import { AppError, isAbort, messageOf } from '../../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import type { Logger } from '../../../core/log.ts';
import { describeLive } from '../../../flows/run/history/describeRun.ts';
import type { FlowRuntime } from '../../../flows/run/protocol/runRequest.ts';
import { FLOW_TEST_SUFFIX, flowTestName, flowTestPath, readFlowTest } from '../../../flows/run/testing/flowTestFile.ts';
import { pinFlowTest } from '../../../flows/run/testing/flowTestPin.ts';
import { type FlowTestResult, runFlowTest } from '../../../flows/run/testing/flowTestRun.ts';
import {
  describeOpenNetwork,
  findNetworkNamespace,
  type NetworkNamespace,
} from '../../../flows/run/start/networkNamespace.ts';
import { RunHistory } from '../../../flows/run/history/runHistory.ts';
import type { TestDifference } from '../../../flows/run/testing/testDifference.ts';
import { withSignal } from '../../ui/abort.ts';
import { debugWith, flowVariables } from './flowRuntime.ts';
import { askText, showCancellable } from '../../ui/show.ts';
import { printable, printableLine, printableText } from '../../../core/text/printable.ts';

const DEBUGGED_NETWORK = l10n.t(
  'A debugged test runs offline, but processes that its flow starts can reach the network.',
);
const PATTERN = `**/*${FLOW_TEST_SUFFIX}`;

interface FlowTestsDeps {
  /** Finds the code that each step of a flow file can reach. */
  readonly readReach: (file: string) => Promise<StepReach>;
  readonly runtime: FlowRuntime;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly log: Logger;
  readonly report: (error: unknown) => void;
}

type HowToTest = 'run' | 'debug' | 'update';

/** Pinned runs in the Test Explorer; they run offline from their recordings. */
export class FlowTests implements Disposable {
  readonly #deps: FlowTestsDeps;
  readonly #controller = vscode.tests.createTestController('farwharf.flowTests', l10n.t('Flow Tests'));
  readonly #disposables = new DisposableStore();
  #network: Promise<NetworkNamespace> | undefined;

  constructor(deps: FlowTestsDeps) {
    this.#deps = deps;
    const disposables = this.#disposables;
    const controller = disposables.add(this.#controller);
    const profile = (label: string, kind: vscode.TestRunProfileKind, how: HowToTest, isDefault: boolean): void => {
      disposables.add(
        controller.createRunProfile(label, kind, (request, token) => this.#run(request, token, how), isDefault),
      );
    };
    profile(l10n.t('Run'), vscode.TestRunProfileKind.Run, 'run', true);
    profile(l10n.t('Debug'), vscode.TestRunProfileKind.Debug, 'debug', true);
    profile(l10n.t('Run Live and Update'), vscode.TestRunProfileKind.Run, 'update', false);
    const watcher = disposables.add(vscode.workspace.createFileSystemWatcher(PATTERN));
    disposables.add(watcher.onDidCreate((uri) => this.#note(uri)));
    disposables.add(watcher.onDidChange((uri) => this.#note(uri)));
    disposables.add(watcher.onDidDelete((uri) => controller.items.delete(uri.toString())));
    controller.refreshHandler = () => this.#findAll().catch(deps.report);
    // VS Code finds files with ripgrep, which some distributions omit. Nobody has requested tests yet, so this is only logged.
    this.#findAll().catch((error: unknown) => deps.log.warn('flow tests were not found', { error }));
  }

  /** Asks for a name and pins a recorded run as a test beside its file. Returns its path, or undefined if the user cancelled. */
  async pin({ uri }: vscode.TextDocument, run: string): Promise<string | undefined> {
    const file = uri.fsPath;
    const stem = basename(file).replace(/\.\w+$/, '');
    const name = await askText({
      title: l10n.t('Pin This Run as a Test'),
      prompt: l10n.t(
        'The test is saved beside the flow as {0}, with the replies of the models.',
        `${stem}.<name>${FLOW_TEST_SUFFIX}`,
      ),
      value: 'pinned',
      validateInput: (text) => (/^[\w-]{1,64}$/.test(text) ? undefined : l10n.t('Use letters, digits, "-" and "_".')),
    });
    if (name === undefined) return undefined;
    const test = flowTestPath(file, name);
    const pinned = { history: new RunHistory(this.#deps.home), file, run };
    const network = await this.#findNetwork();
    await showCancellable(l10n.t('Pinning {0}.{1}', stem, name), (signal) =>
      pinFlowTest(test, pinned, this.#deps.runtime, {
        signal,
        network,
        readReach: this.#deps.readReach,
        ...flowVariables(),
      }),
    );
    await this.#note(vscode.Uri.file(test));
    return test;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Determined once, with the first test. */
  #findNetwork(): Promise<NetworkNamespace> {
    this.#network ??= findNetworkNamespace(process.env);
    return this.#network;
  }

  /** @throws AppError `missing` if VS Code cannot find files. */
  async #findAll(): Promise<void> {
    const found = await findTests();
    const uris = new Set(found.map((uri) => uri.toString()));
    for (const [id] of this.#controller.items) if (!uris.has(id)) this.#controller.items.delete(id);
    await Promise.all(found.map((uri) => this.#note(uri)));
  }

  async #note(uri: vscode.Uri): Promise<void> {
    const item = this.#controller.items.get(uri.toString()) ?? this.#controller.createTestItem(uri.toString(), '', uri);
    try {
      const test = await readFlowTest(uri.fsPath);
      item.label = printable`${basename(test.file)} › ${flowTestName(uri.fsPath, test)}`;
      item.error = undefined;
    } catch (error) {
      item.label = printableLine(basename(uri.fsPath));
      item.error = printableText(messageOf(error));
    }
    this.#controller.items.add(item);
  }

  async #run(request: vscode.TestRunRequest, token: vscode.CancellationToken, how: HowToTest): Promise<void> {
    const run = this.#controller.createTestRun(request);
    const all = [...this.#controller.items].map(([, item]) => item);
    const items = (request.include ?? all).filter((item) => !(request.exclude ?? []).includes(item));
    for (const item of items) run.enqueued(item);
    try {
      const openNetwork = describeOpenNetwork(await this.#findNetwork());
      if (how === 'run' && openNetwork !== undefined) run.appendOutput(`${openNetwork}\r\n`);
      if (how === 'debug') run.appendOutput(`${DEBUGGED_NETWORK}\r\n`);
      for (const item of items) {
        if (token.isCancellationRequested) run.skipped(item);
        else await withSignal(token, (signal) => this.#runOne(run, item, how, signal));
      }
    } finally {
      run.end();
    }
  }

  async #runOne(run: vscode.TestRun, item: vscode.TestItem, how: HowToTest, signal: AbortSignal): Promise<void> {
    const { uri } = item;
    if (uri === undefined) return;
    run.started(item);
    const startedAt = performance.now();
    const took = (): number => performance.now() - startedAt;
    try {
      if (!vscode.workspace.isTrusted) {
        throw new AppError(
          'untrusted',
          l10n.t('This window is in restricted mode: trust the folder to run its flows.'),
        );
      }
      const attach = debugWith(uri, item.label, this.#deps.runtime);
      const result = await runFlowTest(uri.fsPath, this.#deps.runtime, {
        signal,
        network: await this.#findNetwork(),
        root: vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath,
        ...flowVariables(),
        readReach: this.#deps.readReach,
        isUpdate: how === 'update',
        isDebugged: how === 'debug',
        onEvent: (event) => {
          if (event.type === 'output') run.appendOutput(`${event.text}\r\n`, undefined, item);
          if (event.type === 'debugger') attach(event);
        },
      });
      if (result.status === 'failed') run.failed(item, messagesOf(result), took());
      else run.passed(item, took());
    } catch (error) {
      if (isAbort(error)) run.skipped(item);
      else run.errored(item, new vscode.TestMessage(printableText(messageOf(error))), took());
    }
  }
}

async function findTests(): Promise<readonly vscode.Uri[]> {
  try {
    return await vscode.workspace.findFiles(PATTERN, '**/node_modules/**');
  } catch (cause) {
    const message = l10n.t(
      'VS Code could not search the folder for flow tests: {0}. A test appears once its file changes.',
      messageOf(cause),
    );
    throw new AppError('missing', message, { cause });
  }
}

function messagesOf({ differences, live }: FlowTestResult): vscode.TestMessage[] {
  const ran = live.map(
    ({ path, reason, files }) => new vscode.TestMessage(printable`${path} ${describeLive(reason, files)}`),
  );
  return [...ran, ...differences.map(differenceMessage)];
}

/** VS Code shows the expected and the actual text side by side. */
function differenceMessage(difference: TestDifference): vscode.TestMessage {
  const what = difference.type === 'state' ? `shared.${difference.key}` : difference.type;
  const side = (mark: '-' | '+'): string =>
    difference.lines
      .filter((line) => line.startsWith(mark) || line.startsWith(' '))
      .map((line) => line.slice(2))
      .join('\n');
  return vscode.TestMessage.diff(
    printable`${l10n.t('{0} differs from the pinned run', what)}`,
    printableText(side('-')),
    printableText(side('+')),
  );
}

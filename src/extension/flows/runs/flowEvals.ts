import { basename } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError, isAbort, messageOf } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import { printable, printableLine, printableText } from '../../../core/text/printable.ts';
import { CASES_PATTERN, type EvalCase, evaluatedFile, readDataSet } from '../../../flows/run/evals/dataSet.ts';
import type { CaseResult } from '../../../flows/run/evals/evalRecord.ts';
import { runEval } from '../../../flows/run/evals/evalRun.ts';
import { EvalStore } from '../../../flows/run/evals/evalStore.ts';
import { RunHistory } from '../../../flows/run/history/runHistory.ts';
import { withSignal } from '../../ui/abort.ts';
import { requireTrust } from '../../workspace/folders.ts';
import { openModelBridge } from './editorModels.ts';
import { flowPlace } from './flowRuntime.ts';
import type { VisitRunnerDeps } from './visitRunner.ts';
import { resolveEndpoint } from '../../../agents/llm/providers.ts';
import { createNetworkFetch } from '../../../core/network/networkFetch.ts';
import type { AskJudge } from '../../../flows/run/evals/judge.ts';
import type { Keys } from '../../account/keys.ts';
import { keyFor, openModel } from '../../agents/models.ts';

const PATTERN = `**/${CASES_PATTERN}`;
const CONCURRENCY = 4;
const MAX_SECONDS = 600;

interface FlowEvalsDeps extends VisitRunnerDeps {
  readonly log: Logger;
}

/** Data sets beside flow files in the Test Explorer, with their cases. They call models, so "Run All Tests" leaves them out. */
export class FlowEvals implements Disposable {
  readonly #deps: FlowEvalsDeps;
  readonly #controller = vscode.tests.createTestController('farwharf.flowEvals', l10n.t('Flow Evals'));
  readonly #disposables = new DisposableStore();

  constructor(deps: FlowEvalsDeps) {
    this.#deps = deps;
    const disposables = this.#disposables;
    const controller = disposables.add(this.#controller);
    const run = (request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> =>
      this.#run(request, token);
    disposables.add(controller.createRunProfile(l10n.t('Evaluate'), vscode.TestRunProfileKind.Run, run, false));
    controller.resolveHandler = (item) => (item === undefined ? this.#findAll() : this.#showCases(item));
    controller.refreshHandler = () => this.#findAll();
    const watcher = disposables.add(vscode.workspace.createFileSystemWatcher(PATTERN));
    const note = (uri: vscode.Uri): void => void this.#note(uri);
    disposables.add(watcher.onDidCreate(note));
    disposables.add(watcher.onDidChange(note));
    disposables.add(watcher.onDidDelete((uri) => controller.items.delete(uri.toString())));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Called when the Test Explorer is shown first. */
  async #findAll(): Promise<void> {
    try {
      const found = await vscode.workspace.findFiles(PATTERN, '**/node_modules/**');
      const uris = new Set(found.map((uri) => uri.toString()));
      for (const [id] of this.#controller.items) if (!uris.has(id)) this.#controller.items.delete(id);
      await Promise.all(found.map((uri) => this.#note(uri)));
    } catch (error) {
      this.#deps.log.warn('data sets of flows were not found', { error });
    }
  }

  /** A data set without a flow file beside it is not shown. */
  async #note(uri: vscode.Uri): Promise<void> {
    const { items } = this.#controller;
    const file = await evaluatedFile(uri.fsPath);
    if (file === undefined) {
      items.delete(uri.toString());
      return;
    }
    const label = printable`${basename(file)} › ${basename(uri.fsPath)}`;
    const item = this.#controller.createTestItem(uri.toString(), label, uri);
    item.canResolveChildren = true;
    items.add(item);
  }

  async #showCases(item: vscode.TestItem): Promise<void> {
    try {
      await this.#readCases(item);
    } catch (error) {
      item.error = printableText(messageOf(error));
    }
  }

  /** @throws as `readDataSet` does. */
  async #readCases(item: vscode.TestItem): Promise<readonly EvalCase[]> {
    const { uri } = item;
    if (uri === undefined) return [];
    const cases = await readDataSet(uri.fsPath);
    item.error = undefined;
    item.children.replace(cases.map((each) => this.#itemOf(item, uri, each)));
    return cases;
  }

  #itemOf(item: vscode.TestItem, uri: vscode.Uri, { key, name, line }: EvalCase): vscode.TestItem {
    const child = this.#controller.createTestItem(idOf(item, key), printableLine(name), uri);
    child.range = new vscode.Range(line - 1, 0, line - 1, 0);
    return child;
  }

  async #run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.#controller.createTestRun(request);
    try {
      // "Run All Tests" includes everything that is not excluded, and nobody expects it to call models.
      if (request.include === undefined)
        run.appendOutput(`${l10n.t('Evals call models. Run a data set or a case by itself.')}\r\n`);
      const included = request.include ?? [];
      for (const set of new Set(included.map((item) => item.parent ?? item))) {
        if (token.isCancellationRequested) break;
        const isWanted = (child: vscode.TestItem): boolean =>
          (included.includes(set) || included.includes(child)) && !(request.exclude ?? []).includes(child);
        await withSignal(token, (signal) => this.#evaluate(run, set, isWanted, signal));
      }
    } finally {
      run.end();
    }
  }

  async #evaluate(
    run: vscode.TestRun,
    set: vscode.TestItem,
    isWanted: (child: vscode.TestItem) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const itemOf = ({ key }: Pick<EvalCase, 'key'>): vscode.TestItem | undefined => set.children.get(idOf(set, key));
    const left = new Set<vscode.TestItem>([set]);
    try {
      requireTrust();
      const data = set.uri?.fsPath ?? '';
      const file = await evaluatedFile(data);
      if (file === undefined)
        throw new AppError('missing', l10n.t('There is no flow file beside {0}.', basename(data)));
      const before = new Map([...set.children].map(([id, child]) => [id, isWanted(child)]));
      const all = await this.#readCases(set);
      const cases = all.filter(({ key }) => before.get(idOf(set, key)) ?? isWanted(set));
      left.clear();
      for (const each of cases) {
        const item = itemOf(each);
        if (item !== undefined) left.add(item);
      }
      for (const item of left) run.enqueued(item);
      const { home, flowRuntime, modelKeys } = this.#deps;
      await using bridge = await openModelBridge(modelKeys);
      const record = await runEval(
        new RunHistory(home),
        flowRuntime,
        { ...flowPlace(file, bridge.env), data, cases, concurrency: CONCURRENCY, maxSeconds: MAX_SECONDS },
        {
          signal,
          ask: askJudgeWith(modelKeys),
          onBegin: (begun) => {
            const item = itemOf(begun);
            if (item !== undefined) run.started(item);
          },
          onEnd: (result) => {
            const item = itemOf(result);
            if (item === undefined) return;
            left.delete(item);
            report(run, item, result);
          },
        },
      );
      // A part of a data set would be compared with all of it.
      if (cases.length === all.length) await new EvalStore(home).add(record);
    } catch (error) {
      for (const item of left) {
        if (isAbort(error)) run.skipped(item);
        else run.errored(item, new vscode.TestMessage(printableText(messageOf(error))));
      }
    }
  }
}

function idOf({ id }: vscode.TestItem, key: string): string {
  return `${id} ${key}`;
}

function report(run: vscode.TestRun, item: vscode.TestItem, { isPassed, error, scores, seconds }: CaseResult): void {
  if (isPassed) {
    run.passed(item, seconds * 1000);
    return;
  }
  const failed = Object.entries(scores).filter(([, score]) => !score.isPassed);
  const texts = [
    ...(error === undefined ? [] : [error]),
    ...failed.map(([check, { detail }]) => `${check}: ${detail}`),
  ];
  const messages = texts.map((text) => new vscode.TestMessage(printableText(text)));
  run.failed(item, messages, seconds * 1000);
}

/** Asks the model that a check names, with its key of this window, or else the selected model. */
function askJudgeWith(keys: Keys): AskJudge {
  return async (messages, wanted, signal) => {
    if (Object.values(wanted).some((value) => value !== undefined)) {
      const endpoint = resolveEndpoint(wanted);
      const { provider, model, baseUrl } = endpoint;
      const apiKey = await keyFor(endpoint, keys);
      const { askModel } = await import('../../agents/chatModel.ts');
      const transport = { signal, fetch: createNetworkFetch() };
      const { reply, call } = await askModel({ provider, model, baseUrl, apiKey }, messages, transport);
      return { reply, cost: call?.estimatedCost };
    }
    const selected = await openModel(keys);
    if (selected === undefined) {
      throw new AppError(
        'missing',
        l10n.t('No model is selected. Run "Farwharf: Select Model", or name one in $judge.'),
      );
    }
    let reply = '';
    for await (const part of selected.stream(messages, signal)) reply += part;
    return { reply, cost: undefined };
  };
}

import type * as vscode from 'vscode';
import type { choiceOf } from '../../../flows/graph/flowChoice.ts';
import { RunHistory } from '../../../flows/run/history/runHistory.ts';
import type { FlowRuntime } from '../../../flows/run/protocol/runRequest.ts';
import type { NodeVisit, VisitRuns } from '../../../flows/run/history/nodeVisit.ts';
import { inputOfVisit, readState } from '../../../flows/run/history/visitReport.ts';
import { runVisit } from '../../../flows/run/history/visitRun.ts';
import type { Keys } from '../../account/keys.ts';
import { requireTrust } from '../../workspace/folders.ts';
import { openModelBridge } from './editorModels.ts';
import { flowPlace } from './flowRuntime.ts';

// A larger state would make the field of a canvas slow.
const MAX_SHOWN_STATE = 1_000_000;

export interface VisitRunnerDeps {
  readonly flowRuntime: FlowRuntime;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly modelKeys: Keys;
}

type VisitOfRun = Required<NodeVisit> & { readonly run: string };

/** Runs single nodes of recorded runs again, only when the user asks for it. */
export class VisitRunner {
  readonly #deps: VisitRunnerDeps;
  readonly #history: RunHistory;
  #stop = new AbortController();

  constructor(deps: VisitRunnerDeps) {
    this.#deps = deps;
    this.#history = new RunHistory(deps.home);
  }

  /** The shared state before a visit, as JSON; undefined if it is too large to be edited. Runs nothing. */
  async input(file: string, { run, path, visit }: VisitOfRun): Promise<string | undefined> {
    const record = await this.#history.find(file, run);
    const state = await inputOfVisit(await this.#history.folder(file, run), { path, visit }, record);
    const text = JSON.stringify(state, undefined, 2);
    return text.length > MAX_SHOWN_STATE ? undefined : text;
  }

  /**
   * Runs a visit again; a visit that this window runs already is stopped.
   *
   * @param state the shared state as JSON, if it was edited.
   * @throws AppError `untrusted` in a restricted workspace, `bad-input` for a state that is not an object; as `runVisit`.
   */
  async run(
    { uri }: vscode.TextDocument,
    {
      run,
      path,
      visit,
      flow,
      flowName,
      state,
    }: VisitOfRun & ReturnType<typeof choiceOf> & { readonly state?: string | undefined },
  ): Promise<VisitRuns> {
    requireTrust();
    const shared = state === undefined ? undefined : readState(state);
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const { modelKeys, flowRuntime } = this.#deps;
    await using bridge = await openModelBridge(modelKeys);
    const place = flowPlace(uri.fsPath, bridge.env);
    return await runVisit(
      this.#history,
      flowRuntime,
      { ...place, run, path, visit, flow, flowName, shared },
      { signal },
    );
  }

  dispose(): void {
    this.#stop.abort();
  }
}

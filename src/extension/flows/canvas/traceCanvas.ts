import { basename } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { TraceEvent } from '../../../agents/records/trace.ts';
import { AppError } from '../../../core/errors.ts';
import { formatBytes, formatInteger } from '../../../core/text/format.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { TracedFlows, TracedRun } from '../../../flows/run/history/tracedFlows.ts';
import type { RunInfo } from '../../../webview/canvas/state/canvasMessages.ts';
import type { FromCanvas } from '../../../webview/canvas/state/requests.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import { showInformation } from '../../ui/show.ts';
import { exportCanvas } from './canvasExport.ts';
import { CanvasPanel } from './canvasPanel.ts';

// The largest file that VS Code shows as text.
const MOST_BYTES = 20_000_000;
const TRACE_TYPE = 'farwharf.trace';

interface TraceCanvasDeps {
  readonly extension: vscode.Uri;
  readonly traces: RemoteService<FlowWorkerService>['traces'];
  readonly report: (error: unknown) => void;
}

/**
 * Shows the runs of a trace that another program exported on a canvas, where nothing can be run or edited.
 *
 * @param uri the file; the user chooses one if it is undefined.
 * @throws AppError `bad-input` or `limit` for a file that is not such a trace or is too large.
 */
export async function openTrace({ extension, traces, report }: TraceCanvasDeps, uri?: vscode.Uri): Promise<void> {
  const file = uri ?? (await chooseFile());
  if (file === undefined) return;
  const { size } = await vscode.workspace.fs.stat(file);
  const name = printableLine(basename(file.path));
  if (size > MOST_BYTES) {
    throw new AppError(
      'limit',
      l10n.t('{0} has {1}. Traces of up to {2} are shown.', name, formatBytes(size), formatBytes(MOST_BYTES)),
    );
  }
  const document = await vscode.workspace.openTextDocument(file);
  const traced = await traces.read(name, document.getText());
  const options = { retainContextWhenHidden: true };
  const panel = vscode.window.createWebviewPanel(
    TRACE_TYPE,
    l10n.t('Trace: {0}', name),
    vscode.ViewColumn.Active,
    options,
  );
  const canvas = new CanvasPanel(panel, document, extension);
  canvas.onDidReceive((message) => {
    answer(canvas, traced, message).catch(report);
  });
  if (traced.omittedRuns > 0) void showInformation(omission(name, traced));
}

function omission(name: string, { runs, omittedRuns }: TracedFlows): string {
  const [all, shown] = [formatInteger(runs.length + omittedRuns), formatInteger(runs.length)];
  return l10n.t('{0} has {1} runs. The first {2} are shown; export fewer at once to see the others.', name, all, shown);
}

/** Handles the requests of a trace's page, none of which runs or edits anything. */
async function answer(canvas: CanvasPanel, { file, runs }: TracedFlows, message: FromCanvas): Promise<void> {
  if (message.type === 'ready') {
    canvas.send({ type: 'graph', version: 0, file, isTrusted: false, isTrace: true });
    canvas.send({ type: 'runs', runs: runs.map(infoOf) });
    show(canvas, runs[0]);
  }
  if (message.type === 'openRun') {
    show(
      canvas,
      runs.find(({ id }) => id === message.run),
    );
  }
  if (message.type === 'readShared') {
    const { run, step } = message;
    const found = runs.find(({ id }) => id === run);
    const end = found === undefined ? undefined : endsOf(found)[step];
    const state = end && found?.attributes[`${end.visit} ${end.path}`];
    canvas.send({ type: 'shared', run, step, changes: [], state });
  }
  if (message.type === 'export') await exportCanvas(canvas.document, message);
  if (message.type === 'failure') throw new AppError('corrupt', l10n.t('The canvas failed: {0}', message.message));
}

/** The ends of the visits of nodes that are not flows, which are the steps on the canvas. */
function endsOf({ events }: TracedRun): readonly TraceEvent[] {
  const nodes = new Set(events.flatMap(({ type, path }) => (type === 'node-start' ? [path] : [])));
  return events.filter(({ type, path }) => (type === 'node-end' || type === 'error') && nodes.has(path));
}

function show(canvas: CanvasPanel, run: TracedRun | undefined): void {
  if (run === undefined) return;
  canvas.send({ type: 'run', run: infoOf(run) });
  canvas.send({ type: 'runEvents', run: run.id, events: run.events });
}

function infoOf({ id, flow, startedAt, durationMs, error }: TracedRun): RunInfo {
  const state = error === undefined ? 'done' : 'failed';
  return { id, flow, state, startedAt, durationMs, remote: undefined, message: error, isRecorded: false };
}

async function chooseFile(): Promise<vscode.Uri | undefined> {
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: l10n.t('Open a trace that was exported as OTLP in JSON'),
      filters: { 'Trace (OTLP JSON)': ['json', 'jsonl'] },
    })) ?? [];
  return chosen;
}

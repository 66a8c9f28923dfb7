import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { assertNever } from '../../core/errors.ts';
import type { LiveCell, LiveOutput } from '../../jobs/notebooks/liveCells.ts';
import { OLDER_OUTPUT } from '../../workspace/notebooks/mergeNotebooks.ts';

/** A cell with the outputs that a job has so far, in the form that VS Code's own serializer of notebooks writes. */
export function liveCellData(cell: vscode.NotebookCell, live: LiveCell, isOlder: boolean): vscode.NotebookCellData {
  const { document, kind, metadata } = cell;
  const data = new vscode.NotebookCellData(kind, document.getText(), document.languageId);
  const { [OLDER_OUTPUT]: _, ...own } = ownMetadata(cell);
  data.metadata = {
    ...metadata,
    execution_count: live.count,
    metadata: isOlder ? { ...own, [OLDER_OUTPUT]: true } : own,
  };
  const outputs = (live.outputs ?? []).map((output) => outputData(output));
  data.outputs = live.isCut ? [stream('stdout', l10n.t('[the first outputs are in the log]')), ...outputs] : outputs;
  data.executionSummary = {
    ...(live.count !== null && { executionOrder: live.count }),
    ...(live.state === 'done' && { success: true }),
    ...(live.state === 'failed' && { success: false }),
  };
  return data;
}

/** Whether the metadata of a cell say that its output comes from an older version of its source. */
export function hasOlderOutput(cell: vscode.NotebookCell): boolean {
  return ownMetadata(cell)[OLDER_OUTPUT] === true;
}

/** The metadata that the file has for the cell. */
function ownMetadata({ metadata }: vscode.NotebookCell): Readonly<Record<string, unknown>> {
  const own: unknown = metadata['metadata'];
  return typeof own === 'object' && own !== null ? { ...own } : {};
}

function outputData(output: LiveOutput): vscode.NotebookCellOutput {
  switch (output.output_type) {
    case 'stream':
      return stream(output.name, output.text);
    case 'error': {
      const { ename: name, evalue: message, traceback: stack } = output;
      return new vscode.NotebookCellOutput([vscode.NotebookCellOutputItem.error({ name, message, stack })], {
        outputType: 'error',
        originalError: { output_type: 'error', ename: name, evalue: message, traceback: stack.split('\n') },
      });
    }
    case 'display_data': {
      const { 'text/plain': text = '', ...pictures } = output.data;
      const isTooLarge = Object.values(pictures).includes('');
      const items = Object.entries(pictures).flatMap(([mime, base64]) =>
        base64 === '' ? [] : new vscode.NotebookCellOutputItem(Buffer.from(base64, 'base64'), mime),
      );
      const note = isTooLarge ? ` ${l10n.t('[the picture comes with the results of the job]')}` : '';
      return new vscode.NotebookCellOutput([...items, vscode.NotebookCellOutputItem.text(text + note, 'text/plain')], {
        outputType: 'display_data',
      });
    }
    default:
      return assertNever(output);
  }
}

function stream(name: 'stdout' | 'stderr', text: string): vscode.NotebookCellOutput {
  return new vscode.NotebookCellOutput([vscode.NotebookCellOutputItem[name](text)], { outputType: 'stream' });
}

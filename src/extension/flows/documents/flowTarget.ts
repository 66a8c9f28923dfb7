import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { fieldOf } from '../../../core/jsonFields.ts';
import type { FlowGraph } from '../../../flows/graph/graph.ts';
import type { FlowDocuments, FlowReadout } from './flowDocuments.ts';
import { openSource } from './openSource.ts';
import { contains } from './ranges.ts';
import { pickRow } from '../../ui/show.ts';
import { withoutIcons } from '../../ui/labels.ts';

/** The flow that a command is for, as passed by code lenses, trees and other extensions. */
export interface FlowTarget {
  /** The document's. */
  readonly uri: string;
  /** The id of the FlowGraph. */
  readonly flow?: string;
}

/** The target in the argument of a command; undefined for other arguments, which stand for the active editor. */
export function readFlowTarget(argument: unknown): FlowTarget | undefined {
  if (argument instanceof vscode.Uri) return { uri: argument.toString() };
  const uri = fieldOf(argument, 'uri');
  if (typeof uri !== 'string') return undefined;
  const flow = fieldOf(argument, 'flow');
  return { uri, ...(typeof flow === 'string' && { flow }) };
}

export interface FoundFlow extends FlowReadout {
  readonly flow: FlowGraph;
}

/**
 * The flow that a command is for: the target, else the one at the caret, else the file's only one, else the user's
 * choice.
 *
 * @returns undefined if the user cancelled.
 * @throws AppError `missing` if there is no flow.
 */
export async function findFlow(
  documents: FlowDocuments,
  target: FlowTarget | undefined,
): Promise<FoundFlow | undefined> {
  const { document, wanted } = await documentOf(target);
  const readout = await documents.read(document);
  const { flows } = readout.file;
  const chosen =
    flows.find(({ id }) => id === wanted) ?? (wanted === undefined ? await choose(document, flows) : undefined);
  if (chosen !== undefined) return { ...readout, flow: chosen };
  if (flows.length > 0 && wanted === undefined) return undefined;
  const name = vscode.workspace.asRelativePath(document.uri);
  const message =
    wanted === undefined
      ? l10n.t('{0} has no flow. Create one with new Flow(…) from farwharf/agents, or run "Farwharf: New Flow".', name)
      : l10n.t('{0} no longer has a flow {1}.', name, wanted);
  throw new AppError('missing', message);
}

async function documentOf(
  target: FlowTarget | undefined,
): Promise<{ document: vscode.TextDocument; wanted: string | undefined }> {
  if (target !== undefined) {
    const document = await openSource(vscode.Uri.parse(target.uri, true));
    return { document, wanted: target.flow };
  }
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) throw new AppError('missing', l10n.t('Open a flow file first.'));
  return { document: editor.document, wanted: undefined };
}

async function choose(document: vscode.TextDocument, flows: readonly FlowGraph[]): Promise<FlowGraph | undefined> {
  if (flows.length <= 1) return flows[0];
  const editor = vscode.window.visibleTextEditors.find((candidate) => candidate.document === document);
  const offset = editor === undefined ? -1 : document.offsetAt(editor.selection.active);
  const atCaret = flowAt(flows, offset);
  if (atCaret !== undefined) return atCaret;
  const nested = new Set(flows.flatMap(({ nodes }) => nodes.map(({ flow }) => flow)));
  const outerFirst = flows.toSorted((a, b) => Number(nested.has(a.id)) - Number(nested.has(b.id)));
  const items = outerFirst.map((flow) => ({
    label: withoutIcons(flow.label),
    description: withoutIcons(flow.id),
    detail: withoutIcons(flow.summary ?? ''),
    flow,
  }));
  const picked = await pickRow(items, { placeHolder: l10n.t('Which flow?') });
  return picked?.flow;
}

/** The flow that is created at an offset, or else the only one with a node whose class or instance is there. */
function flowAt(flows: readonly FlowGraph[], offset: number): FlowGraph | undefined {
  const created = flows.find(({ range }) => contains(range, offset));
  if (created !== undefined) return created;
  const using = flows.filter(({ nodes }) =>
    nodes.some(({ ranges }) => [ranges.class, ranges.instance].some((range) => range && contains(range, offset))),
  );
  return using.length === 1 ? using[0] : undefined;
}

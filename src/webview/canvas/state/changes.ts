import * as l10n from '@vscode/l10n';
import { type DrawnEdge, type DrawnNode, titleOf } from '../../../flows/layout/drawing.ts';
import { CHANGE_WORDS } from './canvasWords.ts';
import type { CanvasChange, CanvasState, CanvasSelection } from './canvasStore.ts';

/** The differences to show: those of two versions, else those of two runs. */
export function changesOf(state: CanvasState): readonly CanvasChange[] {
  const { versions, comparison, progress, drawing, run } = state;
  if (versions !== undefined) {
    return versions.changes.map(({ kind, flow, node, edge, text }) => {
      const drawnNode = drawing.nodes.find((each) => each.flow === flow && each.node.id === node);
      const line = drawing.edges.find(
        (each) => each.flow === flow && each.edge?.id === edge && each.source === drawnNode?.path,
      );
      const name = nameOf(node, edge?.slice(node.length + 1), drawnNode);
      return { kind, name, text, flow, selection: selectionOf(drawnNode, edge === undefined ? undefined : line, edge) };
    });
  }
  return (comparison?.changes ?? []).flatMap(({ kind, path, action, text }) => {
    const page = progress?.pagePathOf(path);
    const drawnFlow = drawing.nodes.find((each) => each.path === page);
    if (drawnFlow === undefined) return []; // a flow itself, or a node that the source no longer has
    const line = drawing.edges.find((each) => each.source === page && each.action === action);
    const selection = selectionOf(drawnFlow, line, action);
    return [{ kind, name: nameOf(drawnFlow.node.id, action, drawnFlow), text, flow: run?.flow ?? '', selection }];
  });
}

/** The changes by their place on the page: `node PATH` or `edge KEY`. */
export function changesByPlace(changes: readonly CanvasChange[]): ReadonlyMap<string, CanvasChange> {
  return new Map(changes.flatMap((change) => (change.selection ? [[placeOf(change.selection), change] as const] : [])));
}

/** `added Write`, `changed the connection enough of Decide: …`. */
export function describeChange({ kind, name, text }: CanvasChange): string {
  const what = l10n.t({ message: '{0} {1}', args: [CHANGE_WORDS[kind], name], comment: ['such as: added Write'] });
  return text === '' ? what : `${what}: ${text}`;
}

function placeOf(selection: CanvasSelection): string {
  return selection.type === 'node' ? `node ${selection.path}` : `edge ${selection.key}`;
}

function nameOf(id: string, action: string | undefined, drawnNode: DrawnNode | undefined): string {
  const node = drawnNode === undefined ? id : titleOf(drawnNode.node);
  return action === undefined ? node : l10n.t('the connection {0} of {1}', action, node);
}

function selectionOf(
  node: DrawnNode | undefined,
  edge: DrawnEdge | undefined,
  action: string | undefined,
): CanvasSelection | undefined {
  if (action !== undefined) return edge && { type: 'edge', key: edge.key };
  return node && { type: 'node', path: node.path };
}

import * as l10n from '@vscode/l10n';
import { type DrawnEdge, type DrawnNode, type Drawing, nodeAt } from '../../../flows/layout/drawing.ts';
import type { CanvasActions } from './canvasActions.ts';
import type { Editing } from './editing.ts';
import { shownFlow } from '../state/graphView.ts';
import { moveLevel, nextEdge } from './navigation.ts';
import type { Runs } from './runs.ts';
import type { Versions } from './versions.ts';
import type { Visits } from './visits.ts';
import type { CanvasSelection, CanvasStore } from '../state/canvasStore.ts';
import type { Viewport } from '../dom/viewport.ts';

/** An action that is available by key or from a menu. */
export interface CanvasCommand {
  readonly title: string;
  /** The keys as people read them: `Ctrl+F`. */
  readonly keys?: string;
  readonly run: () => void;
}

/** A command with a key; in lower case, `keys` is what `listenToKeys` compares. */
export interface Binding extends CanvasCommand {
  readonly keys: string;
  /** Other keys that do the same. */
  readonly also?: readonly string[];
  /** When it is available; always if absent. */
  readonly when?: () => boolean;
  /** Says why it is not available. */
  readonly otherwise?: () => void;
}

interface Parts {
  readonly store: CanvasStore;
  readonly actions: CanvasActions;
  readonly editing: Editing;
  readonly runs: Runs;
  readonly visits: Visits;
}

/** The commands for the selection, which are also its context menu. */
export function selectionCommands({ store, actions, editing, runs, visits }: Parts): Binding[] {
  const isNode = (): boolean => actions.selectedNode !== undefined;
  const isEdge = (): boolean => actions.selectedEdge !== undefined;
  const onNode = (act: (node: DrawnNode) => unknown) => (): void => {
    if (actions.selectedNode !== undefined) void act(actions.selectedNode);
  };
  const onEdge = (act: (edge: DrawnEdge) => unknown) => (): void => {
    if (actions.selectedEdge !== undefined) void act(actions.selectedEdge);
  };
  const connectEdge = onEdge(({ source, action }) => {
    const node = nodeAt(store.state.drawing, source);
    return node && editing.connect(node, { action });
  });
  const addNode = (): void => {
    const [node, flow] = [actions.selectedNode, shownFlow(store.state)?.id];
    if (node !== undefined) void editing.addAfter(node);
    else if (flow !== undefined) void editing.addNode(flow);
  };
  const extract = (): void => void editing.extractFlow(actions.chosenNodes);
  const canExpand = (): boolean => actions.selectedNode?.node.flow !== undefined;
  const canStart = (): boolean => actions.selectedNode?.isStart === false;
  const canRerun = (): boolean => runs.canRerun(actions.selectedNode?.path);
  const isConnected = (): boolean => actions.selectedEdge?.edge !== undefined;
  const expand = onNode(({ path }) => actions.toggleOpen(path));
  const deleteNode = onNode((node) => editing.deleteNode(node));
  const deleteEdge = onEdge((edge) => editing.deleteEdge(edge));
  return [
    {
      title: l10n.t('Show in the source'),
      keys: 'Enter',
      when: () => isNode() || isEdge(),
      run: () => actions.reveal(false),
    },
    { title: l10n.t('Connect to…'), keys: 'C', when: isNode, run: onNode((node) => editing.connect(node)) },
    { title: l10n.t('Connect to…'), keys: 'C', when: isEdge, run: connectEdge },
    { title: l10n.t('Rename action…'), keys: 'F2', when: isEdge, run: onEdge((edge) => editing.renameAction(edge)) },
    { title: l10n.t('Expand or collapse the nested flow'), keys: 'Space', when: canExpand, run: expand },
    { title: l10n.t('Set as start'), keys: 'S', when: canStart, run: onNode((node) => editing.setStart(node)) },
    { title: l10n.t('Extract into a flow…'), keys: 'X', when: () => actions.chosenNodes.length > 0, run: extract },
    {
      title: l10n.t('Run again from here'),
      keys: 'R',
      when: canRerun,
      otherwise: () => runs.refuseRerun(),
      run: onNode(({ path }) => runs.rerunFrom(path)),
    },
    {
      title: l10n.t('Run only this node again'),
      keys: 'Shift+R',
      when: canRerun,
      otherwise: () => runs.refuseRerun(),
      run: onNode(({ path }) => visits.again(path)),
    },
    {
      title: l10n.t('Run this node with other input…'),
      keys: 'I',
      when: canRerun,
      otherwise: () => runs.refuseRerun(),
      run: onNode(({ path }) => visits.edit(path)),
    },
    { title: l10n.t('Delete'), keys: 'Delete', also: ['backspace'], when: isNode, run: deleteNode },
    { title: l10n.t('Delete connection'), keys: 'Delete', also: ['backspace'], when: isConnected, run: deleteEdge },
    { title: l10n.t('Add a node…'), keys: 'N', when: () => !isEdge(), run: addNode },
  ];
}

interface ViewParts extends Parts {
  readonly viewport: Viewport;
  readonly find: { open(): void };
  readonly versions: Versions;
  readonly question: { readonly isShown: boolean; focus(): void };
  readonly help: () => void;
}

/** The commands for the drawing as a whole. */
export function viewCommands({ store, actions, runs, viewport, find, question, versions, help }: ViewParts): Binding[] {
  const go =
    (to: (drawing: Drawing, selected: CanvasSelection | undefined) => CanvasSelection | undefined) => (): void =>
      actions.select(to(store.state.drawing, store.state.selected));
  const mark = (): void => {
    if (actions.selectedNode !== undefined) actions.toggleMark(actions.selectedNode.path);
  };
  const hasNode = (): boolean => actions.selectedNode !== undefined;
  const hasRun = (): boolean => runs.isOpen;
  return [
    { title: l10n.t('Next connection of the node'), keys: 'E', run: go((...at) => nextEdge(...at, 1)) },
    { title: l10n.t('Previous connection'), keys: 'Shift+E', run: go((...at) => nextEdge(...at, -1)) },
    { title: l10n.t('Into the nested flow'), keys: 'PageDown', run: go((...at) => moveLevel(...at, 'in')) },
    { title: l10n.t('Out of the nested flow'), keys: 'PageUp', run: go((...at) => moveLevel(...at, 'out')) },
    { title: l10n.t('Choose several'), keys: 'M', when: hasNode, run: mark },
    { title: l10n.t('Find a node'), keys: 'Ctrl+F', also: ['/'], run: () => find.open() },
    { title: l10n.t('Show everything'), keys: 'F', run: () => actions.fit() },
    { title: l10n.t('Larger'), keys: '+', also: ['='], run: () => viewport.zoomBy(1.2) },
    { title: l10n.t('Smaller'), keys: '-', run: () => viewport.zoomBy(1 / 1.2) },
    { title: l10n.t('Natural size'), keys: '0', run: () => viewport.zoomTo(1) },
    { title: l10n.t('Tidy the layout'), keys: 'L', run: () => actions.tidy() },
    { title: l10n.t('Turn the wrapping of long flows on or off'), keys: 'W', run: () => actions.toggleWrap() },
    { title: l10n.t('Run the flow'), keys: 'R', when: () => !runs.isOpen, run: () => runs.start('run') },
    { title: l10n.t('Step back'), keys: ',', when: hasRun, run: () => runs.stepBy(-1) },
    { title: l10n.t('Step forward'), keys: '.', when: hasRun, run: () => runs.stepBy(1) },
    { title: l10n.t('Compare versions…'), keys: 'V', run: () => versions.choose() },
    { title: l10n.t('Next change'), keys: 'D', when: () => versions.hasChanges, run: () => versions.go(1) },
    { title: l10n.t('Previous change'), keys: 'Shift+D', when: () => versions.hasChanges, run: () => versions.go(-1) },
    { title: l10n.t('Answer the question'), keys: 'A', when: () => question.isShown, run: () => question.focus() },
    { title: l10n.t('Undo in the source'), keys: 'Ctrl+Z', run: () => runs.ofSource('undo') },
    { title: l10n.t('Redo in the source'), keys: 'Ctrl+Y', also: ['ctrl+shift+z'], run: () => runs.ofSource('redo') },
    { title: l10n.t('Save the source'), keys: 'Ctrl+S', run: () => runs.ofSource('save') },
    { title: l10n.t('All keys'), keys: '?', also: ['shift+?'], run: help },
  ];
}

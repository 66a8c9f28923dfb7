import type { CanvasActions } from './canvasActions.ts';
import type { Editing } from './editing.ts';
import { shownFlow } from '../state/graphView.ts';
import { moveLevel, nextEdge } from './navigation.ts';
import type { Runs } from './runs.ts';
import type { Store } from '../state/store.ts';
import type { Viewport } from '../dom/viewport.ts';

/** An action that is available by key or from the menu. */
export interface Command {
  readonly title: string;
  /** The name of the keys for people. */
  readonly keys?: string | undefined;
  readonly run: () => void;
}

interface Binding extends Command {
  /** `KeyboardEvent.key` in lower case, with the prefixes `ctrl+` and `shift+`. */
  readonly on: readonly string[];
  /** When it is available; always if absent. */
  readonly when?: () => boolean;
  /** Whether it is in the context menu of the selection. */
  readonly isInMenu?: boolean;
}

interface Parts {
  readonly store: Store;
  readonly actions: CanvasActions;
  readonly editing: Editing;
  readonly runs: Runs;
  readonly viewport: Viewport;
  readonly find: { open(): void };
  readonly help: () => void;
}

/** All commands of the drawing, for the keyboard, the menus and the list of keys. */
export function canvasCommands({ store, actions, editing, runs, viewport, find, help }: Parts): Binding[] {
  const isNode = (): boolean => actions.selectedNode !== undefined;
  const isEdge = (): boolean => actions.selectedEdge !== undefined;
  const onNode = (act: (node: NonNullable<CanvasActions['selectedNode']>) => unknown) => (): void => {
    if (actions.selectedNode !== undefined) void act(actions.selectedNode);
  };
  const onEdge = (act: (edge: NonNullable<CanvasActions['selectedEdge']>) => unknown) => (): void => {
    if (actions.selectedEdge !== undefined) void act(actions.selectedEdge);
  };
  const connectEdge = onEdge((edge) => {
    const source = store.state.drawing.nodes.find(({ path }) => path === edge.source);
    if (source !== undefined) return editing.connect(source, { action: edge.action });
    return undefined;
  });
  const addNode = (): void => {
    const [node, flow] = [actions.selectedNode, shownFlow(store.state)?.id];
    if (node !== undefined) void editing.connect(node);
    else if (flow !== undefined) void editing.addNode(flow);
  };
  return [
    {
      title: 'Show in the source',
      keys: 'Enter',
      on: ['enter'],
      isInMenu: true,
      when: () => isNode() || isEdge(),
      run: () => actions.reveal(false),
    },
    {
      title: 'Connect to…',
      keys: 'C',
      on: ['c'],
      isInMenu: true,
      when: isNode,
      run: onNode((node) => editing.connect(node)),
    },
    { title: 'Connect to…', keys: 'C', on: ['c'], isInMenu: true, when: isEdge, run: connectEdge },
    {
      title: 'Rename action…',
      keys: 'F2',
      on: ['f2'],
      isInMenu: true,
      when: isEdge,
      run: onEdge((edge) => editing.renameAction(edge)),
    },
    {
      title: 'Expand or collapse the nested flow',
      keys: 'Space',
      on: [' '],
      isInMenu: true,
      when: () => actions.selectedNode?.node.flow !== undefined,
      run: onNode(({ path }) => actions.toggleOpen(path)),
    },
    {
      title: 'Set as start',
      keys: 'S',
      on: ['s'],
      isInMenu: true,
      when: () => actions.selectedNode?.isStart === false,
      run: onNode((node) => editing.setStart(node)),
    },
    {
      title: 'Extract into a flow…',
      keys: 'X',
      on: ['x'],
      isInMenu: true,
      when: () => actions.chosenNodes.length > 0,
      run: () => void editing.extractFlow(actions.chosenNodes),
    },
    {
      title: 'Run again from here',
      keys: 'R',
      on: ['r'],
      isInMenu: true,
      when: () => isNode() && runs.canRerun(actions.selectedNode?.path),
      run: onNode(({ path }) => runs.rerunFrom(path)),
    },
    {
      title: 'Delete',
      keys: 'Delete',
      on: ['delete', 'backspace'],
      isInMenu: true,
      when: isNode,
      run: onNode((node) => editing.deleteNode(node)),
    },
    {
      title: 'Delete connection',
      keys: 'Delete',
      on: ['delete', 'backspace'],
      isInMenu: true,
      when: () => actions.selectedEdge?.edge !== undefined,
      run: onEdge((edge) => editing.deleteEdge(edge)),
    },
    { title: 'Add a node…', keys: 'N', on: ['n'], isInMenu: true, when: () => !isEdge(), run: addNode },
    {
      title: 'Next connection of the node',
      keys: 'E',
      on: ['e'],
      run: () => actions.select(nextEdge(store.state.drawing, store.state.selected, 1)),
    },
    {
      title: 'Previous connection',
      keys: 'Shift+E',
      on: ['shift+e'],
      run: () => actions.select(nextEdge(store.state.drawing, store.state.selected, -1)),
    },
    {
      title: 'Into the nested flow',
      keys: 'PageDown',
      on: ['pagedown'],
      run: () => actions.select(moveLevel(store.state.drawing, store.state.selected, 'in')),
    },
    {
      title: 'Out of the nested flow',
      keys: 'PageUp',
      on: ['pageup'],
      run: () => actions.select(moveLevel(store.state.drawing, store.state.selected, 'out')),
    },
    {
      title: 'Choose several',
      keys: 'M',
      on: ['m'],
      when: isNode,
      run: onNode(({ path }) => actions.toggleMark(path)),
    },
    { title: 'Find a node', keys: 'Ctrl+F', on: ['ctrl+f', '/'], run: () => find.open() },
    { title: 'Show everything', keys: 'F', on: ['f'], run: () => actions.fit() },
    { title: 'Larger', keys: '+', on: ['+', '='], run: () => viewport.zoomBy(1.2) },
    { title: 'Smaller', keys: '-', on: ['-'], run: () => viewport.zoomBy(1 / 1.2) },
    { title: 'Natural size', keys: '0', on: ['0'], run: () => viewport.zoomTo(1) },
    { title: 'Tidy the layout', keys: 'L', on: ['l'], run: () => actions.tidy() },
    { title: 'Step back', keys: ',', on: [','], when: () => runs.isOpen, run: () => runs.stepBy(-1) },
    { title: 'Step forward', keys: '.', on: ['.'], when: () => runs.isOpen, run: () => runs.stepBy(1) },
    { title: 'Undo in the source', keys: 'Ctrl+Z', on: ['ctrl+z'], run: () => runs.history('undo') },
    { title: 'Redo in the source', keys: 'Ctrl+Y', on: ['ctrl+y', 'ctrl+shift+z'], run: () => runs.history('redo') },
    { title: 'All keys', keys: '?', on: ['?', 'shift+?'], run: help },
  ];
}

import * as l10n from '@vscode/l10n';
import { nodeAt } from '../../flows/layout/drawing.ts';
import { AnswerCard } from './panels/answerCard.ts';
import { Announcer } from './dom/announcer.ts';
import { Banner } from './panels/banner.ts';
import { CanvasActions } from './actions/canvasActions.ts';
import { type CanvasCommand, selectionCommands, viewCommands } from './actions/canvasCommands.ts';
import { Editing } from './actions/editing.ts';
import { html } from './dom/elements.ts';
import { Find } from './panels/find.ts';
import { selectionAt, shownFlow, withGraph } from './state/graphView.ts';
import { Host } from './state/editor.ts';
import { keepFocus, listenToKeys, showHelp } from './keyboard.ts';
import { openMenu } from './menu.ts';
import type { ToCanvas } from './state/canvasMessages.ts';
import { minimap } from './panels/minimap.ts';
import { outline } from './panels/outline.ts';
import { PointerInput } from './pointer.ts';
import { Runs } from './actions/runs.ts';
import { Scene } from './scene/scene.ts';
import { sharedPanel } from './panels/sharedPanel.ts';
import { CanvasStore } from './state/canvasStore.ts';
import { timeline } from './panels/timelinePanel.ts';
import { toolbar } from './panels/toolbar.ts';
import { changesBar } from './panels/changesBar.ts';
import { Versions } from './actions/versions.ts';
import { visitPanel } from './panels/visitPanel.ts';
import { Visits } from './actions/visits.ts';
import { Viewport } from './dom/viewport.ts';

const host = new Host();
const store = new CanvasStore();
const announcer = new Announcer();
const runs = new Runs(store, host, announcer);
const scene = new Scene(store, runs.idleMicros);
const surface = html('div', {
  class: 'surface',
  tabindex: 0,
  role: 'application',
  'aria-label': l10n.t(
    'Flow. Arrow keys follow the connections; press ? for all keys. The outline shows the same as a list.',
  ),
});
const page = html('main', { class: 'page' }, html('h1', { class: 'unseen' }, l10n.t('Flow')));
const viewport = new Viewport(surface, scene.world);
const actions = new CanvasActions(store, host, viewport, announcer);
const editing = new Editing(page, store, host, announcer, (point) => {
  const { x, y } = viewport.toSurface(point);
  const [stageBox, pageBox] = [surface.getBoundingClientRect(), page.getBoundingClientRect()];
  return { x: x + stageBox.left - pageBox.left, y: y + stageBox.top - pageBox.top };
});
const find = new Find(surface, store, actions);
const banner = new Banner({
  store,
  host,
  addNode: () => {
    const flow = shownFlow(store.state)?.id;
    if (flow !== undefined) void editing.addNode(flow);
  },
});
const versions = new Versions({ store, host, actions, announcer });
const visits = new Visits({ store, host, runs, announcer });
const question = new AnswerCard({
  store,
  host,
  viewport,
  waitingPath: runs.waitingPath,
  warn: (text) => announcer.warn(text),
  leave: () => surface.focus(),
});
const help = (): void => showHelp(page, commands);
const selected = selectionCommands({ store, actions, editing, runs, visits });
const commands = [
  ...selected,
  ...viewCommands({ store, actions, editing, runs, visits, viewport, find, question, versions, help }),
];
const body = html('div', { class: 'body' });

const menuOfSelection = (at?: { readonly x: number; readonly y: number }): void => {
  const available = selected.filter(({ when }) => when?.() ?? true);
  const box = actions.selectedNode?.box;
  const label = actions.selectedEdge?.label;
  const place = box === undefined ? (label ?? { x: 40, y: 40 }) : { x: box.x + 20, y: box.y + box.height };
  openMenu(body, l10n.t('Selection'), available, at ?? viewport.toSurface(place));
};
const menuBelow = (label: string, choices: readonly CanvasCommand[], below: HTMLElement): void => {
  const [button, area] = [below.getBoundingClientRect(), page.getBoundingClientRect()];
  openMenu(page, label, choices, { x: button.left - area.left, y: button.bottom - area.top + 2 });
};
const toggleOutline = (): boolean => page.classList.toggle('has-outline');

surface.append(scene.element);
const stage = html(
  'div',
  { class: 'stage' },
  surface,
  banner.empty,
  minimap(store, viewport),
  find.element,
  question.element,
);
body.append(
  html('nav', { class: 'side', 'aria-label': l10n.t('Outline') }, outline(store, actions)),
  stage,
  sharedPanel(store, runs),
  visitPanel(store, visits, () => surface.focus()),
);
page.append(
  toolbar({ store, actions, runs, versions, viewport, find, toggleOutline, openMenu: menuBelow, help }),
  banner.element,
  changesBar(store, versions),
  body,
  timeline(store, runs, visits),
  announcer.live,
  announcer.notices,
);
document.body.append(page);

const pointer = new PointerInput({ surface, store, scene, viewport, actions, editing, openMenu: menuOfSelection });
const escape = (): boolean => pointer.cancel() || find.close() || actions.clearMarks() || versions.close();
keepFocus(surface);
listenToKeys({ surface, store, actions, commands, openMenu: menuOfSelection, escape });
// The panel of the shared state takes space from the drawing, so the node of the step is scrolled into view after that.
store.on(['step'], ({ step, drawing }) => {
  const node = nodeAt(drawing, runs.stepAt(step)?.path);
  if (node !== undefined) requestAnimationFrame(() => viewport.reveal(node.box));
});
store.on(['file'], ({ file }) => page.classList.toggle('is-stale', file?.syntaxError !== undefined));

// A flow that was never visible is fitted once there is space. When a group is split or closed, the selected node stays in view.
let isFitted = false;
const fitFirst = (): void => {
  if (isFitted || surface.clientWidth === 0 || store.state.drawing.nodes.length === 0) return;
  isFitted = true;
  viewport.fit(store.state.drawing.bounds, { isWhole: false });
};
new ResizeObserver(() => {
  viewport.resized();
  fitFirst();
  const node = actions.selectedNode;
  if (node !== undefined) viewport.reveal(node.box);
}).observe(surface);

function receive(message: ToCanvas): void {
  switch (message.type) {
    case 'graph': {
      const before = new Set(store.state.drawing.nodes.map(({ path }) => path));
      store.set(withGraph(store.state, message));
      fitFirst();
      const added = editing.takeAdded(before);
      if (added !== undefined) viewport.reveal(added.box);
      return;
    }
    case 'cursor':
      store.set({ caret: selectionAt(store.state, message.file, message.offset) });
      return;
    case 'editResult':
      editing.settle(message);
      return;
    case 'answerResult':
      question.settle(message.run, message.refusal);
      return;
    case 'runs':
      runs.list(message.runs);
      return;
    case 'run':
      runs.show(message.run);
      return;
    case 'runEvents':
      runs.add(message.run, message.events);
      return;
    case 'shared':
      store.set({ shared: message });
      return;
    case 'visitInput':
      visits.showInput(message);
      return;
    case 'visitRuns':
      visits.show(message);
      return;
    case 'versions':
      versions.show(message);
      return;
    case 'comparison':
      store.set({ comparison: message });
      return;
    case 'focus':
      if (message.flow !== store.state.flow) actions.showFlow(message.flow);
      if (message.node !== undefined) actions.select({ type: 'node', path: message.node });
      surface.focus();
      return;
  }
}

// Errors here would otherwise appear only in the developer tools.
window.addEventListener('error', ({ message, filename, lineno }) =>
  host.send({ type: 'failure', message: `${message} (${filename}:${lineno})` }),
);
window.addEventListener('unhandledrejection', ({ reason }) => host.send({ type: 'failure', message: String(reason) }));
host.listen(receive);
host.send({ type: 'ready' });

import * as l10n from '@vscode/l10n';
import { type DrawnEdge, levelOf, titleOf } from '../../../flows/layout/drawing.ts';
import { type CanvasActions, describeEdge, describeNode } from '../actions/canvasActions.ts';
import { html, setAttributes, setText } from '../dom/elements.ts';
import type { CanvasState, CanvasSelection, CanvasStore } from '../state/canvasStore.ts';
import { STATE_WORDS, visitCount } from '../state/canvasWords.ts';

interface Item {
  readonly key: string;
  readonly level: number;
  readonly text: string;
  readonly selection: CanvasSelection;
  /** Undefined for items without children. */
  readonly isExpanded: boolean | undefined;
  readonly setSize: number;
  readonly position: number;
}

/** The same content as a tree, for screen readers and for people who prefer text. */
export function outline(store: CanvasStore, actions: CanvasActions): HTMLElement {
  const element = html('div', { class: 'outline', role: 'tree', 'aria-label': l10n.t('Nodes and connections') });
  const collapsed = new Set<string>();
  let items: readonly Item[] = [];
  let active: string | undefined;
  let isDue = false;

  const rowOf = (key: string | undefined): HTMLElement | undefined => {
    const row = [...element.children].find((child) => child.getAttribute('data-item') === key);
    return row instanceof HTMLElement ? row : undefined;
  };
  const itemOf = (target: EventTarget | null): Item | undefined => {
    const key = target instanceof Element ? target.closest('[data-item]')?.getAttribute('data-item') : undefined;
    return items.find((item) => item.key === key);
  };
  const markActive = (): void => {
    const marked = items.some(({ key }) => key === active) ? active : items[0]?.key;
    for (const row of element.children) {
      const isActive = row.getAttribute('data-item') === marked;
      row.setAttribute('tabindex', isActive ? '0' : '-1');
      row.setAttribute('aria-selected', String(isActive && store.state.selected !== undefined));
    }
  };
  const draw = (): void => {
    const hadFocus = element.contains(document.activeElement);
    const before = new Map([...element.children].map((row) => [row.getAttribute('data-item'), row]));
    items = itemsOf(store.state, collapsed);
    const rows = items.map((item) => {
      const row = before.get(item.key) ?? html('div', { role: 'treeitem', 'data-item': item.key });
      fill(row, item);
      return row;
    });
    // Rows that keep their order stay in the page, so that they keep the focus and cost nothing.
    if (rows.length !== before.size || rows.some((row, index) => element.children[index] !== row)) {
      element.replaceChildren(...rows);
    }
    markActive();
    if (hadFocus) rowOf(active)?.focus();
  };
  // The drawing comes first: a keystroke in the source must not wait for a list that is mostly hidden.
  const drawSoon = (): void => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      draw();
    }, 50);
  };
  const go = (item: Item | undefined): void => {
    if (item === undefined) return;
    active = item.key;
    actions.select(item.selection);
    if (element.contains(document.activeElement)) rowOf(item.key)?.focus();
  };
  const toggle = ({ key }: Item): void => {
    if (!collapsed.delete(key)) collapsed.add(key);
    draw();
  };
  const press = (event: KeyboardEvent): void => {
    const index = items.findIndex(({ key }) => key === active);
    const item = items[Math.max(index, 0)];
    if (item === undefined) return;
    const { key } = event;
    if (key === 'ArrowDown') go(items[index + 1]);
    else if (key === 'ArrowUp') go(items[index - 1]);
    else if (key === 'Home') go(items[0]);
    else if (key === 'End') go(items.at(-1));
    else if (key === 'ArrowRight') {
      if (item.isExpanded === false) toggle(item);
      else if (item.isExpanded === true) go(items[index + 1]);
    } else if (key === 'ArrowLeft') {
      if (item.isExpanded === true) toggle(item);
      else go(items.slice(0, Math.max(index, 0)).findLast(({ level }) => level < item.level));
    } else if (key === 'Enter' || key === ' ') actions.reveal(key === ' ');
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  store.on(['drawing', 'moment', 'step'], drawSoon);
  store.on(['selected'], ({ selected }) => {
    active = selected === undefined ? active : keyOf(selected);
    markActive();
  });
  element.addEventListener('keydown', press);
  element.addEventListener('click', (event) => {
    const item = itemOf(event.target);
    if (item === undefined) return;
    go(item);
    actions.reveal(true);
  });
  element.addEventListener('focusin', (event) => {
    const item = itemOf(event.target);
    if (item !== undefined && item.key !== active) go(item);
  });
  return element;
}

function fill(row: Element, { text, level, setSize, position, isExpanded, selection }: Item): void {
  const state = `${text}\n${level} ${setSize} ${position} ${isExpanded}`;
  if (row.getAttribute('data-state') === state) return;
  setAttributes(row, {
    'data-state': state,
    class: `item of-${selection.type}`,
    'aria-level': level,
    'aria-setsize': setSize,
    'aria-posinset': position,
    'aria-expanded': isExpanded === undefined ? undefined : String(isExpanded),
  });
  setText(row, text);
  if (row instanceof HTMLElement) row.style.paddingInlineStart = `${level * 14}px`;
}

function keyOf(selection: CanvasSelection): string {
  return selection.type === 'node' ? `node ${selection.path}` : `edge ${selection.key}`;
}

function itemsOf({ drawing, progress, step }: CanvasState, collapsed: ReadonlySet<string>): Item[] {
  const items: Item[] = [];
  const overlay = progress?.overlayAt(step);
  const byLevel = Map.groupBy(drawing.nodes, levelOf);
  const bySource = Map.groupBy(drawing.edges, ({ source }) => source);
  const names = new Map(drawing.nodes.map(({ path, node }) => [path, titleOf(node)]));
  const addLevel = (prefix: string, level: number): void => {
    const nodes = byLevel.get(prefix) ?? [];
    nodes.forEach((node, index) => {
      const key = `node ${node.path}`;
      const edges: readonly DrawnEdge[] = bySource.get(node.path) ?? [];
      const inner = byLevel.get(`${node.path}/`) ?? [];
      const isExpanded = edges.length + inner.length === 0 ? undefined : !collapsed.has(key);
      const run = overlay?.nodes.get(node.path);
      const visits = run !== undefined && run.visits > 1 ? [visitCount(run.visits)] : [];
      const state = run === undefined ? [] : [STATE_WORDS[run.status], ...visits];
      items.push({
        key,
        level,
        text: [describeNode(node), ...state].join(', '),
        selection: { type: 'node', path: node.path },
        isExpanded,
        setSize: nodes.length,
        position: index + 1,
      });
      if (isExpanded !== true) return;
      edges.forEach((edge, at) =>
        items.push({
          key: `edge ${edge.key}`,
          level: level + 1,
          text: describeEdge(edge, (path) => names.get(path) ?? path),
          selection: { type: 'edge', key: edge.key },
          isExpanded: undefined,
          setSize: edges.length,
          position: at + 1,
        }),
      );
      if (inner.length > 0) addLevel(`${node.path}/`, level + 1);
    });
  };
  addLevel('', 1);
  return items;
}

import { type DrawnEdge, type DrawnNode, titleOf } from '../../../flows/drawing/drawing.ts';
import { type CanvasActions, describeEdge, describeNode } from '../actions/canvasActions.ts';
import { html, setAttributes, setText } from '../dom/elements.ts';
import type { CanvasState, Selection, Store } from '../state/store.ts';

interface Item {
  readonly key: string;
  readonly level: number;
  readonly text: string;
  readonly selection: Selection;
  /** Undefined for items without children. */
  readonly isExpanded: boolean | undefined;
  readonly setSize: number;
  readonly position: number;
}

/** The same content as a tree, for screen readers and for people who prefer text. */
export class Outline {
  readonly element = html('div', { class: 'outline', role: 'tree', 'aria-label': 'Nodes and connections' });
  readonly #store: Store;
  readonly #actions: CanvasActions;
  readonly #collapsed = new Set<string>();
  #items: readonly Item[] = [];
  #active: string | undefined;
  #isDue = false;

  constructor(store: Store, actions: CanvasActions) {
    this.#store = store;
    this.#actions = actions;
    store.on(['drawing', 'moment', 'step'], () => this.#schedule());
    store.on(['selected'], ({ selected }) => {
      this.#active = selected === undefined ? this.#active : keyOf(selected);
      this.#markActive();
    });
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.element.addEventListener('click', (event) => {
      const item = this.#itemOf(event.target);
      if (item === undefined) return;
      this.#go(item);
      this.#actions.reveal(true);
    });
    this.element.addEventListener('focusin', (event) => {
      const item = this.#itemOf(event.target);
      if (item !== undefined && item.key !== this.#active) this.#go(item);
    });
  }

  // The drawing comes first: a keystroke in the source must not wait for a list that is mostly hidden.
  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#draw();
    }, 50);
  }

  #draw(): void {
    const hadFocus = this.element.contains(document.activeElement);
    const before = new Map([...this.element.children].map((row) => [row.getAttribute('data-item'), row]));
    this.#items = itemsOf(this.#store.state, this.#collapsed);
    const rows = this.#items.map((item) => {
      const row = before.get(item.key) ?? html('div', { role: 'treeitem', 'data-item': item.key });
      fill(row, item);
      return row;
    });
    // Rows that keep their order stay in the page, so that they keep the focus and cost nothing.
    if (rows.length !== before.size || rows.some((row, index) => this.element.children[index] !== row)) {
      this.element.replaceChildren(...rows);
    }
    this.#markActive();
    if (hadFocus) this.#rowOf(this.#active)?.focus();
  }

  #markActive(): void {
    const active = this.#items.some(({ key }) => key === this.#active) ? this.#active : this.#items[0]?.key;
    for (const row of this.element.children) {
      const isActive = row.getAttribute('data-item') === active;
      row.setAttribute('tabindex', isActive ? '0' : '-1');
      row.setAttribute('aria-selected', String(isActive && this.#store.state.selected !== undefined));
    }
  }

  #onKey(event: KeyboardEvent): void {
    const index = this.#items.findIndex(({ key }) => key === this.#active);
    const item = this.#items[Math.max(index, 0)];
    if (item === undefined) return;
    const { key } = event;
    if (key === 'ArrowDown') this.#go(this.#items[index + 1]);
    else if (key === 'ArrowUp') this.#go(this.#items[index - 1]);
    else if (key === 'Home') this.#go(this.#items[0]);
    else if (key === 'End') this.#go(this.#items.at(-1));
    else if (key === 'ArrowRight') {
      if (item.isExpanded === false) this.#expand(item, true);
      else if (item.isExpanded === true) this.#go(this.#items[index + 1]);
    } else if (key === 'ArrowLeft') {
      if (item.isExpanded === true) this.#expand(item, false);
      else this.#go(this.#items.slice(0, Math.max(index, 0)).findLast(({ level }) => level < item.level));
    } else if (key === 'Enter' || key === ' ') this.#actions.reveal(key === ' ');
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #expand({ key }: Item, isExpanded: boolean): void {
    if (isExpanded) this.#collapsed.delete(key);
    else this.#collapsed.add(key);
    this.#draw();
  }

  #go(item: Item | undefined): void {
    if (item === undefined) return;
    this.#active = item.key;
    this.#actions.select(item.selection);
    if (this.element.contains(document.activeElement)) this.#rowOf(item.key)?.focus();
  }

  #rowOf(key: string | undefined): HTMLElement | undefined {
    const row = [...this.element.children].find((child) => child.getAttribute('data-item') === key);
    return row instanceof HTMLElement ? row : undefined;
  }

  #itemOf(target: EventTarget | null): Item | undefined {
    const key = target instanceof Element ? target.closest('[data-item]')?.getAttribute('data-item') : undefined;
    return this.#items.find((item) => item.key === key);
  }
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

function keyOf(selection: Selection): string {
  return selection.type === 'node' ? `node ${selection.path}` : `edge ${selection.key}`;
}

function itemsOf({ drawing, progress, step }: CanvasState, collapsed: ReadonlySet<string>): Item[] {
  const items: Item[] = [];
  const overlay = progress?.overlayAt(step);
  const levelOf = (node: DrawnNode): string => node.path.slice(0, node.path.length - node.node.id.length);
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
      const state = run === undefined ? '' : `, ${run.status}${run.visits > 1 ? `, ${run.visits} visits` : ''}`;
      items.push({
        key,
        level,
        text: `${describeNode(node)}${state}`,
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

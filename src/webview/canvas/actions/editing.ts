import * as l10n from '@vscode/l10n';
import { formatInteger } from '../../../core/text/format.ts';
import { type DrawnEdge, type DrawnNode, levelOf, nodeAt, titleOf } from '../../../flows/layout/drawing.ts';
import type { FlowOperation } from '../../../flows/graph/flowOperation.ts';
import { stubsOf } from '../../../flows/layout/flowLayout.ts';
import type { Point } from '../../../flows/layout/shape.ts';
import type { Announcer } from '../dom/announcer.ts';
import { shownFlow } from '../state/graphView.ts';
import type { Host } from '../state/editor.ts';
import type { EditMessage } from '../state/canvasMessages.ts';
import { type PickerChoice, pick } from '../dom/picker.ts';
import type { CanvasStore } from '../state/canvasStore.ts';

/** The id of a node, null for the end of the flow, or a node that is yet to be added. */
type Destination = string | null | { readonly isNew: true };

const CLASS_NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Changes to the source. The extension makes each one, or reports why not. */
export class Editing {
  readonly #store: CanvasStore;
  readonly #host: Host;
  readonly #announcer: Announcer;
  readonly #page: HTMLElement;
  readonly #placeOf: (point: Point) => Point;
  readonly #pending = new Map<number, string>();
  /** The classes of nodes that are being added, until they are drawn. */
  readonly #adding = new Map<number, string>();
  #last = 0;

  /** `placeOf` converts a position in the drawing to one on the page. */
  constructor(
    page: HTMLElement,
    store: CanvasStore,
    host: Host,
    announcer: Announcer,
    placeOf: (point: Point) => Point,
  ) {
    this.#placeOf = placeOf;
    this.#page = page;
    this.#store = store;
    this.#host = host;
    this.#announcer = announcer;
  }

  /** Handles the extension's reply. */
  settle({ id, refusal }: EditMessage): void {
    const done = this.#pending.get(id);
    this.#pending.delete(id);
    if (refusal !== undefined) {
      this.#adding.delete(id);
      this.#announcer.warn(refusal);
    } else if (done !== undefined) this.#announcer.say(done);
  }

  /** The node that was added here, once, as soon as it is drawn. @param before the paths of the nodes that were drawn before. */
  takeAdded(before: ReadonlySet<string>): DrawnNode | undefined {
    for (const [id, className] of this.#adding) {
      const { nodes } = this.#store.state.drawing;
      const added = nodes.find(({ path, node }) => !before.has(path) && node.className === className);
      if (added === undefined) continue;
      this.#adding.delete(id);
      return added;
    }
    return undefined;
  }

  /** Connects an action of a node; asks for omitted arguments. */
  async connect(
    from: DrawnNode,
    preset: { readonly action?: string | undefined; readonly target?: DrawnNode | undefined } = {},
  ): Promise<void> {
    const action = preset.action ?? (await this.#pickAction(from));
    if (action === undefined) return;
    const { flow, node } = from;
    if (preset.target !== undefined) {
      if (levelOf(preset.target) !== levelOf(from)) {
        this.#announcer.warn(
          l10n.t('A connection joins two nodes of the same flow. Connect the nested flow itself instead.'),
        );
        return;
      }
      this.#connectTo(flow, node.id, action, preset.target.node.id);
      return;
    }
    const to = await this.#pickDestination(from, action);
    if (to === undefined) return;
    if (typeof to === 'object' && to !== null) await this.addNode(flow, { node: node.id, action });
    else this.#connectTo(flow, node.id, action, to);
  }

  /** Adds a node after another: asks for its name, and then, if there is a choice, for the action that leads to it. */
  async addAfter(before: DrawnNode): Promise<void> {
    const className = await this.#pickClassName(l10n.t('Add a node after {0}', titleOf(before.node)));
    if (className === undefined) return;
    const isExit = before.node.actions.known.length <= 1 && before.node.actions.unknown === undefined;
    const only = isExit ? (before.node.actions.known[0]?.action ?? 'default') : undefined;
    const action =
      only ??
      (await this.#pickAction(before, l10n.t('Which action of {0} leads to {1}?', titleOf(before.node), className)));
    if (action === undefined) return;
    const { flow, node } = before;
    this.#send({ type: 'addNode', flow, className, from: { node: node.id, action } }, l10n.t('Added {0}', className));
  }

  async addNode(flow: string, from?: { readonly node: string; readonly action: string }): Promise<void> {
    const className = await this.#pickClassName(
      from === undefined ? l10n.t('Add a node') : l10n.t('Add a node after “{0}” of {1}', from.action, from.node),
    );
    if (className !== undefined) this.#send({ type: 'addNode', flow, className, from }, l10n.t('Added {0}', className));
  }

  #pickClassName(title: string): Promise<string | undefined> {
    return pick<string>(this.#page, {
      title,
      placeholder: l10n.t('Name of its class, such as Summarize'),
      fromText: (text) =>
        CLASS_NAME.test(text)
          ? { label: l10n.t('Add {0}', text), value: text }
          : { refusal: l10n.t('A class name has letters, digits, _ and $, and does not begin with a digit.') },
    });
  }

  async renameAction({ flow, action, edge, source, label }: DrawnEdge): Promise<void> {
    const newAction = await pick<string>(this.#page, {
      title: l10n.t('Rename the action “{0}”', action),
      at: this.#placeOf(label),
      value: action,
      fromText: (text) => (text === action ? undefined : { label: l10n.t('Rename to “{0}”', text), value: text }),
    });
    const node = edge?.source ?? nodeAt(this.#store.state.drawing, source)?.node.id;
    if (newAction === undefined || node === undefined) return;
    this.#send({ type: 'renameAction', flow, source: node, action, newAction }, l10n.t('Renamed to {0}', newAction));
  }

  deleteEdge({ flow, edge, action }: DrawnEdge): void {
    if (edge === undefined) {
      this.#announcer.warn(
        l10n.t('“{0}” has no connection to delete. It is shown because the node returns it.', action),
      );
      return;
    }
    this.#send({ type: 'deleteEdge', flow, edge: edge.id }, l10n.t('Deleted the connection {0}', action));
  }

  deleteNode({ flow, node }: DrawnNode): void {
    this.#send({ type: 'deleteNode', flow, node: node.id }, l10n.t('Deleted {0}', titleOf(node)));
  }

  setStart({ flow, node }: DrawnNode): void {
    this.#send({ type: 'setStart', flow, node: node.id }, l10n.t('{0} is the start', titleOf(node)));
  }

  async extractFlow(nodes: readonly DrawnNode[]): Promise<void> {
    const [first] = nodes;
    if (first === undefined) return;
    if (nodes.some((node) => levelOf(node) !== levelOf(first))) {
      this.#announcer.warn(
        l10n.t('The chosen nodes belong to different flows. Choose nodes of one flow to extract them.'),
      );
      return;
    }
    const name = await pick<string>(this.#page, {
      title:
        nodes.length === 1
          ? l10n.t('Extract {0} into a flow of its own', titleOf(first.node))
          : l10n.t('Extract {0} nodes into a flow of their own', formatInteger(nodes.length)),
      placeholder: l10n.t('Name of the variable, such as lookUp'),
      fromText: (text) =>
        CLASS_NAME.test(text)
          ? { label: l10n.t('Extract into {0}', text), value: text }
          : { refusal: l10n.t('A variable name has letters, digits, _ and $, and does not begin with a digit.') },
    });
    if (name === undefined) return;
    const ids = nodes.map(({ node }) => node.id);
    this.#send({ type: 'extractFlow', flow: first.flow, nodes: ids, name }, l10n.t('Extracted {0}', name));
  }

  #connectTo(flow: string, source: string, action: string, target: string | null): void {
    const sentence =
      target === null ? l10n.t('{0} ends the flow', action) : l10n.t('Connected {0} to {1}', action, target);
    this.#send({ type: 'connect', flow, source, target, action }, sentence);
  }

  async #pickAction(
    { node, flow }: DrawnNode,
    title = l10n.t('Which action of {0} to connect?', titleOf(node)),
  ): Promise<string | undefined> {
    const graph = this.#store.state.file?.flows.find(({ id }) => id === flow);
    const open = new Set(graph && stubsOf(graph).flatMap((stub) => (stub.node === node.id ? stub.action : [])));
    const [only] = open;
    if (open.size === 1 && only !== undefined) return only;
    const actions = new Set([...open, ...node.actions.known.map(({ action }) => action), 'default']);
    return pick<string>(this.#page, {
      title,
      placeholder: l10n.t('Choose an action, or type one'),
      choices: [...actions].map((action) => ({
        label: action,
        detail: open.has(action) ? l10n.t('not connected yet') : undefined,
        value: action,
      })),
      fromText: (text) => (actions.has(text) ? undefined : { label: text, detail: l10n.t('new action'), value: text }),
    });
  }

  #pickDestination(from: DrawnNode, action: string): Promise<Destination | undefined> {
    const targets = this.#store.state.drawing.nodes.filter((node) => levelOf(node) === levelOf(from));
    const choices: PickerChoice<Destination>[] = targets.map(({ node, path }) => ({
      label: titleOf(node),
      detail: path === from.path ? l10n.t('this node again') : node.id,
      value: node.id,
    }));
    return pick<Destination>(this.#page, {
      title: l10n.t('Connect “{0}” of {1} to', action, titleOf(from.node)),
      placeholder: l10n.t('Choose a node'),
      choices: [
        ...choices,
        { label: l10n.t('New node…'), value: { isNew: true } },
        { label: l10n.t('The end of the flow'), value: null },
      ],
    });
  }

  #send(operation: FlowOperation, done: string): void {
    const { version, file, versions, isTrace } = this.#store.state;
    if (isTrace) {
      this.#announcer.warn(l10n.t('This is a trace of another program, which cannot be edited here.'));
      return;
    }
    if (versions !== undefined) {
      this.#announcer.warn(l10n.t('This drawing compares two versions. Close the comparison to edit the flow.'));
      return;
    }
    if (file?.syntaxError !== undefined) {
      const line = file.syntaxError.range.start.line + 1;
      this.#announcer.warn(
        l10n.t('The source has an error in line {0}, so it cannot be edited from here. Fix that first.', line),
      );
      return;
    }
    if (file === undefined || shownFlow(this.#store.state) === undefined) return;
    this.#last += 1;
    this.#pending.set(this.#last, done);
    if (operation.type === 'addNode') this.#adding.set(this.#last, operation.className);
    this.#host.send({ type: 'edit', id: this.#last, version, operation });
  }
}

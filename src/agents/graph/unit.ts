import type { ResumePoint } from '../run/schemas.ts';
import type { Run } from '../run/run.ts';
import type { Visit } from '../run/visit.ts';

/** The step between `prep` and `post`: `exec` with its attempts for a node, the walk through its graph for a flow. */
export const execute: unique symbol = Symbol('farwharf.execute');

/** Tells a flow from a node where only the runner's view of both is known. */
export const kind: unique symbol = Symbol('farwharf.kind');

/** Gives the stations of a flow. In the registry of symbols, because a file may bring its own copy of this library. */
export const stations: unique symbol = Symbol.for('farwharf.stations.1');

/** What the runner needs of a node or a flow. */
export interface Unit {
  readonly name: string;
  readonly [kind]: 'node' | 'flow';
  prep(shared: unknown): unknown;
  [execute](prepRes: unknown, shared: unknown, frame: Frame, visit: Visit | undefined): unknown;
  post(shared: unknown, prepRes: unknown, execRes: unknown): unknown;
}

/** A node in the graph of one flow, with the connections that it has there. */
export class Station {
  readonly unit: Unit;
  /** Unique in the flow: the name, with `~2` for the second node of that name. */
  readonly label: string;
  readonly isFlow: boolean;
  /** Its number in the flow, from 0. */
  readonly index: number;
  #exits: Map<string, Station | null> | undefined;
  // The exit taken last. A loop mostly leaves a node the same way, and this saves it the hash lookup.
  #lastAction: string | undefined;
  #lastExit: Station | null | undefined;

  // The path in the walk that asked last: mostly the same flow at the same place.
  #prefix: string | undefined;
  #path = '';

  constructor(unit: Unit, label: string, index: number) {
    this.unit = unit;
    this.index = index;
    this.label = label;
    this.isFlow = unit[kind] === 'flow';
  }

  /** The path of this station in a flow of that path. */
  pathIn(prefix: string): string {
    if (prefix !== this.#prefix) {
      this.#prefix = prefix;
      this.#path = prefix === '' ? this.label : `${prefix}/${this.label}`;
    }
    return this.#path;
  }

  connect(action: string, exit: Station | null): void {
    this.#exits ??= new Map();
    this.#exits.set(action, exit);
    this.#lastAction = undefined;
  }

  /** The actions that are connected. */
  get actions(): readonly string[] {
    return [...(this.#exits?.keys() ?? [])];
  }

  /** The next station; null where the flow was told to end, undefined where nothing is connected. */
  exit(action: string): Station | null | undefined {
    if (action === this.#lastAction) return this.#lastExit;
    this.#lastExit = this.#exits?.get(action);
    this.#lastAction = action;
    return this.#lastExit;
  }
}

/** A walk that is under way: through a flow's graph, or (at the root) through the one unit that `run` was called on. */
export class Frame {
  readonly run: Run;
  /** The flow whose graph this is; undefined at the root. */
  readonly flow: Unit | undefined;
  readonly parent: Frame | undefined;
  /** Where the walk is, and what its unit's `prep` gave. */
  station: Station;
  prepRes: unknown;
  /** Where to go on, in a run that resumes; taken by the walk when it begins. */
  resume: readonly ResumePoint[] | undefined;
  /** Visits by the station's number, and the stations that have any; made when the first is counted. */
  #visits: number[] | undefined;
  #visited: Station[] | undefined;
  #path: string | undefined;

  constructor(run: Run, station: Station, flow?: Unit, parent?: Frame) {
    this.run = run;
    this.station = station;
    this.flow = flow;
    this.parent = parent;
  }

  /** The names from the outermost flow on; `#2` marks the second visit of an enclosing flow. Empty at the root. */
  get path(): string {
    if (this.#path === undefined) {
      const { parent } = this;
      const visits = parent?.visitsOf(parent.station) ?? 1;
      this.#path = parent === undefined ? '' : parent.pathOf(parent.station) + (visits > 1 ? `#${visits}` : '');
    }
    return this.#path;
  }

  pathOf(station: Station): string {
    return station.pathIn(this.path);
  }

  /** Counts a visit, in observed runs, and gives its number. */
  arrive(station: Station): number {
    this.#visits ??= [];
    this.#visited ??= [];
    const visits = (this.#visits[station.index] ?? 0) + 1;
    if (visits === 1) this.#visited.push(station);
    this.#visits[station.index] = visits;
    return visits;
  }

  /** How often a station was visited in this walk; 1 where nobody counts. */
  visitsOf(station: Station): number {
    return this.#visits?.[station.index] ?? 1;
  }

  /** The visits of each node by its label, for a checkpoint. */
  get visits(): Record<string, number> {
    return Object.fromEntries((this.#visited ?? []).map((station) => [station.label, this.visitsOf(station)]));
  }

  /** Takes over what a checkpoint counted. */
  restoreVisits(station: Station, visits: number): void {
    this.#visits ??= [];
    this.#visited ??= [];
    if (visits > 0) this.#visited.push(station);
    this.#visits[station.index] = visits;
  }
}

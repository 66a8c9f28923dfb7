import { type Cell, type Scope, UNDEFINED, union, type Value } from './values.ts';

type ScopeOptions = Partial<Scope> & Pick<Scope, 'file'>;

/** A scope inside another; omitted options are inherited. */
export function createScope({ file, parent, name, depth, thisValue, home }: ScopeOptions): Scope {
  return {
    file,
    parent,
    name,
    depth: depth ?? parent?.depth ?? 0,
    thisValue: thisValue ?? parent?.thisValue,
    home: home ?? parent?.home,
    cells: new Map(),
  };
}

export function createCell(value?: Value, resolve?: () => Value): Cell {
  return { value, resolve };
}

export function findCell(scope: Scope, name: string): Cell | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const cell = at.cells.get(name);
    if (cell !== undefined) return cell;
  }
  return undefined;
}

/** Whether a name of `owner` is visible from a scope and not shadowed. */
export function seesName(scope: Scope, name: string, owner: Scope): boolean {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    if (at === owner) return true;
    if (at.cells.has(name)) return false;
  }
  return false;
}

/** The functions around a scope, outermost first: `build.helper`. Empty at the top level of a module. */
export function functionPath(scope: Scope): string {
  const outer = scope.parent === undefined ? '' : functionPath(scope.parent);
  if (scope.name === undefined) return outer;
  return outer === '' ? scope.name : `${outer}.${scope.name}`;
}

/** Where control can go after a statement: to the next one, out of a loop or switch, or (0) neither. */
export const NEXT = 1;
export const BREAK = 2;
export const LEAVE = 0;
export type CompletionType = number;

/**
 * The values of cells in branching code: each branch writes to its own layer, and after the branches a cell can have the
 * value of any branch that continues.
 */
export class Branches {
  readonly #layers: Map<Cell, Value>[] = [];
  readonly #onJoin: (cells: number) => void;

  /** @param onJoin called with the number of cells that are merged after branches. */
  constructor(onJoin: (cells: number) => void) {
    this.#onJoin = onJoin;
  }

  read(cell: Cell): Value | undefined {
    for (let index = this.#layers.length - 1; index >= 0; index -= 1) {
      const value = this.#layers[index]?.get(cell);
      if (value !== undefined) return value;
    }
    if (cell.value === undefined && cell.resolve !== undefined) cell.value = cell.resolve();
    return cell.value;
  }

  write(cell: Cell, value: Value): void {
    const top = this.#layers.at(-1);
    if (top === undefined) cell.value = value;
    else top.set(cell, value);
  }

  /** Whether a run may skip the current code. */
  get isConditional(): boolean {
    return this.#layers.length > 0;
  }

  /** Evaluates code outside the current branch: an import that is first used there. */
  apart(work: () => void): void {
    const layers = this.#layers.splice(0);
    try {
      work();
    } finally {
      this.#layers.push(...layers);
    }
  }

  /** Evaluates code that a run may skip. */
  maybe(work: () => void): void {
    const branch = (): CompletionType => {
      work();
      return NEXT;
    };
    this.fork([branch, () => NEXT]);
  }

  /** Evaluates each branch from the same state. */
  fork(branches: readonly (() => CompletionType)[]): CompletionType {
    const ends: Map<Cell, Value>[] = [];
    let completion = LEAVE;
    for (const branch of branches) {
      const layer = new Map<Cell, Value>();
      this.#layers.push(layer);
      let end: CompletionType;
      try {
        end = branch();
      } finally {
        this.#layers.pop();
      }
      if (end !== LEAVE) ends.push(layer);
      completion |= end;
    }
    const cells = new Set(ends.flatMap((layer) => [...layer.keys()]));
    this.#onJoin(cells.size * ends.length);
    for (const cell of cells) {
      this.write(cell, union(ends.map((layer) => layer.get(cell) ?? this.read(cell) ?? UNDEFINED)));
    }
    return completion;
  }
}

/** The name of an instance in a variable of a scope. */
export function nameIn(scope: Scope, variable: string): string {
  const path = functionPath(scope);
  return path === '' ? variable : `${path}.${variable}`;
}

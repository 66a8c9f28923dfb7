import type { Cell, Scope, Value } from './values.ts';

type ScopeOptions = Partial<Scope> & Pick<Scope, 'file'>;

/** A scope inside another: what is not given is taken over from there. */
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

/** Whether a name of `owner` is seen from a scope, and not hidden by another of that name. */
export function seesName(scope: Scope, name: string, owner: Scope): boolean {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    if (at === owner) return true;
    if (at.cells.has(name)) return false;
  }
  return false;
}

/** The functions around a scope, from the outermost: `build.helper`. Empty at the top of a module. */
export function pathOf(scope: Scope): string {
  const outer = scope.parent === undefined ? '' : pathOf(scope.parent);
  if (scope.name === undefined) return outer;
  return outer === '' ? scope.name : `${outer}.${scope.name}`;
}

/** The flow of control out of a statement: on to the next, out of a loop or switch, or (0) neither. */
export const NEXT = 1;
export const BREAK = 2;
export const LEAVE = 0;
export type Completion = number;

/**
 * The values of cells on the way through code that branches: each branch writes to a layer of its own, and behind the
 * branches a cell may hold what any of those has that go on.
 */
export class Branches {
  readonly #layers: Map<Cell, Value>[] = [];
  readonly #onJoin: (cells: number) => void;

  /** @param onJoin told how many cells are joined behind branches, each time. */
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

  /** Whether the code may be left out in a run. */
  get isConditional(): boolean {
    return this.#layers.length > 0;
  }

  /** Follows code that does not belong to the branch under way: an import that is needed there for the first time. */
  apart(work: () => void): void {
    const layers = this.#layers.splice(0);
    try {
      work();
    } finally {
      this.#layers.push(...layers);
    }
  }

  /** Follows each branch from the same beginning. */
  fork(branches: readonly (() => Completion)[], join: (values: readonly Value[]) => Value, absent: Value): Completion {
    const ends: Map<Cell, Value>[] = [];
    let completion = LEAVE;
    for (const branch of branches) {
      const layer = new Map<Cell, Value>();
      this.#layers.push(layer);
      let end: Completion;
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
      this.write(cell, join(ends.map((layer) => layer.get(cell) ?? this.read(cell) ?? absent)));
    }
    return completion;
  }
}

/** The name that an instance in a variable of a scope gets. */
export function nameIn(scope: Scope, variable: string): string {
  const path = pathOf(scope);
  return path === '' ? variable : `${path}.${variable}`;
}

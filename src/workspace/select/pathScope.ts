/** A set of paths in a folder, including everything below them. */
export class PathScope {
  readonly #paths: ReadonlySet<string>;
  readonly #above = new Set<string>();

  constructor(paths: Iterable<string>) {
    this.#paths = new Set(paths);
    for (const path of this.#paths) {
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        this.#above.add(path.slice(0, end));
      }
    }
  }

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  /** Whether a path is one of them or below one. */
  holds(path: string): boolean {
    if (this.isEmpty) return false;
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (this.#paths.has(path.slice(0, end))) return true;
    }
    return false;
  }

  /** Whether a path is one of them, below one, or a parent folder of one. */
  touches(path: string): boolean {
    return this.#above.has(path) || this.holds(path);
  }
}

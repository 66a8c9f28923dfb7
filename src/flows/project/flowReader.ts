import { completionsAt, type FlowCompletion } from '../language/completions.ts';
import { type NodeNeighbours, neighboursAt } from '../language/hover.ts';
import type { FlowSymbol } from '../language/renameSymbol.ts';
import { diagnose } from '../language/diagnose.ts';
import type { FlowDiagnostic } from '../language/diagnostic.ts';
import { diskHost } from './diskHost.ts';
import type { FlowOperation } from '../graph/flowOperation.ts';
import { FlowProject } from './flowProject.ts';
import type { StepReach } from './changedSteps.ts';
import type { EditResult } from '../reading/readSource.ts';
import type { FlowFile } from '../graph/graph.ts';

interface OpenText {
  readonly text: string;
  readonly version: number;
}

/** Reads flow files for an editor: open documents by their current text, all other files from disk. */
export class FlowReader {
  readonly #open = new Map<string, OpenText>();
  readonly #project = new FlowProject({
    version: (file) => this.#versionOf(file),
    read: (file) => this.#open.get(file)?.text ?? diskHost.read(file),
  });

  /** How many readings were made so far, rather than found in the cache. */
  get evaluations(): number {
    return this.#project.evaluations;
  }

  /** Sets the text of an open document; it applies until the document is closed. */
  setText(file: string, text: string, version: number): void {
    this.#open.set(file, { text, version });
  }

  /** Returns to the text on disk after a document was closed. */
  closeText(file: string): void {
    this.#open.delete(file);
    this.#project.forget(file);
  }

  /** The flows of a file; a missing file is read as an empty one. */
  read(file: string): FlowFile {
    return this.#project.read(file, this.textOf(file));
  }

  /** The code that each step of the file's flows can reach. */
  reach(file: string): StepReach {
    return this.#project.reach(file, this.textOf(file));
  }

  /** The edits of the source that make an operation, or why they cannot be made. */
  edit(file: string, operation: FlowOperation): EditResult {
    return this.#project.edit(file, this.textOf(file), operation);
  }

  /** The problems of a file, with fixes. */
  diagnose(file: string): FlowDiagnostic[] {
    return diagnose(this.read(file));
  }

  /** Completions at an offset: nodes and actions inside `connect`, keys of the shared state. */
  complete(file: string, offset: number): FlowCompletion[] {
    return completionsAt(this.read(file), this.textOf(file), offset);
  }

  /** The nodes that the word at an offset refers to, each with its neighbours. */
  neighbours(file: string, offset: number): NodeNeighbours[] {
    return neighboursAt(this.#project.readSource(file, this.textOf(file)), offset);
  }

  /** The action or key at an offset, which `rename` renames. */
  symbol(file: string, offset: number): FlowSymbol | undefined {
    return this.#project.symbol(file, this.textOf(file), offset);
  }

  /** The edits that rename the action or key at an offset everywhere, or why it cannot be renamed. */
  rename(file: string, offset: number, newName: string): EditResult {
    return this.#project.rename(file, this.textOf(file), offset, newName);
  }

  /** The current text of a file; empty if there is none. */
  textOf(file: string): string {
    return this.#open.get(file)?.text ?? diskHost.read(file) ?? '';
  }

  #versionOf(file: string): string | number | undefined {
    const open = this.#open.get(file);
    return open === undefined ? diskHost.version(file) : `open ${open.version}`;
  }
}

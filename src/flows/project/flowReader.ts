import { completionsAt, type FlowCompletion } from '../assist/completions.ts';
import { type NodeNeighbours, neighboursAt } from '../assist/hover.ts';
import type { FlowSymbol } from '../assist/renameSymbol.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { FlowDiagnostic } from '../diagnostics/diagnostic.ts';
import { diskHost } from './diskHost.ts';
import type { FlowOperation } from '../graph/flowOperation.ts';
import { FlowProject } from './flowProject.ts';
import type { EditResult } from '../reading/flowReading.ts';
import type { FlowFile } from '../graph/graph.ts';

interface OpenText {
  readonly text: string;
  readonly version: number;
}

/** Reads flow files for an editor: the texts of open documents count, and the disk for all other files. */
export class FlowReader {
  readonly #open = new Map<string, OpenText>();
  readonly #project = new FlowProject({
    version: (file) => this.#versionOf(file),
    read: (file) => this.#open.get(file)?.text ?? diskHost.read(file),
  });

  /** The text of an open document, until it is closed. */
  setText(file: string, text: string, version: number): void {
    this.#open.set(file, { text, version });
  }

  /** The document was closed: the disk counts again. */
  closeText(file: string): void {
    this.#open.delete(file);
    this.#project.forget(file);
  }

  /** The flows of a file; of a file that is not there those of an empty one. */
  read(file: string): FlowFile {
    return this.#project.read(file, this.#textOf(file));
  }

  /** The edits of the source that bring an operation about, or why they cannot be made. */
  edit(file: string, operation: FlowOperation): EditResult {
    return this.#project.edit(file, this.#textOf(file), operation);
  }

  /** What is wrong in a file, with ways to mend it. */
  diagnose(file: string): FlowDiagnostic[] {
    return diagnose(this.read(file));
  }

  /** What fits at a place: nodes and actions inside `connect`, keys after the shared state. */
  complete(file: string, offset: number): FlowCompletion[] {
    return completionsAt(this.read(file), this.#textOf(file), offset);
  }

  /** The nodes that the word at a place means, each with its neighbours. */
  neighbours(file: string, offset: number): NodeNeighbours[] {
    return neighboursAt(this.read(file), this.#textOf(file), offset);
  }

  /** The action or key at a place, which `rename` renames. */
  symbol(file: string, offset: number): FlowSymbol | undefined {
    return this.#project.symbol(file, this.#textOf(file), offset);
  }

  /** The edits that rename the action or key at a place everywhere, or why that cannot be done. */
  rename(file: string, offset: number, newName: string): EditResult {
    return this.#project.rename(file, this.#textOf(file), offset, newName);
  }

  #textOf(file: string): string {
    return this.#open.get(file)?.text ?? diskHost.read(file) ?? '';
  }

  #versionOf(file: string): string | number | undefined {
    const open = this.#open.get(file);
    return open === undefined ? diskHost.version(file) : `open ${open.version}`;
  }
}

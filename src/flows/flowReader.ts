import { readFileSync, statSync } from 'node:fs';
import type { FlowOperation } from './flowOperation.ts';
import { FlowProject } from './flowProject.ts';
import type { EditResult } from './flowReading.ts';
import type { FlowFile } from './graph.ts';

interface OpenText {
  readonly text: string;
  readonly version: number;
}

/** Reads flow files for an editor: the texts of open documents count, and the disk for all other files. */
export class FlowReader {
  readonly #open = new Map<string, OpenText>();
  readonly #project = new FlowProject({
    version: (file) => this.#versionOf(file),
    read: (file) => this.#open.get(file)?.text ?? readText(file),
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

  #textOf(file: string): string {
    return this.#open.get(file)?.text ?? readText(file) ?? '';
  }

  #versionOf(file: string): string | undefined {
    const open = this.#open.get(file);
    if (open !== undefined) return `open ${open.version}`;
    const status = statSync(file, { throwIfNoEntry: false });
    return status?.isFile() === true ? `${status.mtimeMs} ${status.size}` : undefined;
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // deleted or unreadable: as if it were not there
  }
}

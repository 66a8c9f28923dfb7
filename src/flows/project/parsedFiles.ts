import { setNewest } from '../../core/setNewest.ts';
import { SourceFile } from '../syntax/sourceFile.ts';

/** Where the files come from that a flow imports. */
export interface FileHost {
  /** Changes whenever the file's text does (a document's version, a modification time); undefined if there is no such file. */
  version(file: string): string | number | undefined;
  read(file: string): string | undefined;
}

// Enough for a large project; a file over the limit is parsed again when it is next imported.
const MAX_PARSED = 500;

interface ParsedFile {
  readonly version: string | number;
  readonly source: SourceFile;
}

/** Parsed files by path. A file is parsed again only after its text has changed. */
export class ParsedFiles {
  readonly #host: FileHost;
  readonly #files = new Map<string, ParsedFile>();

  constructor(host: FileHost) {
    this.#host = host;
  }

  /** How many texts were parsed so far. */
  count = 0;

  /** The first of these files that exists; the same object until its text changes. */
  find(candidates: readonly string[]): SourceFile | undefined {
    for (const file of candidates) {
      const version = this.#host.version(file);
      if (version === undefined) continue;
      const cached = this.#files.get(file);
      if (cached?.version === version) return cached.source;
      const text = this.#host.read(file);
      if (text !== undefined) return this.parse(file, text, version);
    }
    return undefined;
  }

  parse(file: string, text: string, version: string | number): SourceFile {
    const earlierSource = this.#files.get(file)?.source;
    if (earlierSource?.text !== text) this.count += 1;
    const source = earlierSource?.text === text ? earlierSource : new SourceFile(file, text);
    setNewest(this.#files, file, { version, source }, MAX_PARSED);
    return source;
  }

  forget(file: string): void {
    this.#files.delete(file);
  }
}

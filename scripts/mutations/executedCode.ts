import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

const range = z.object({ startOffset: z.number(), endOffset: z.number(), count: z.number() });
type Range = z.infer<typeof range>;

/** What V8 writes for each process and thread (https://v8.dev/blog/javascript-code-coverage). Offsets are in UTF-16 units. */
const coverageReport = z.object({
  result: z.array(z.object({ url: z.string(), functions: z.array(z.object({ ranges: z.array(range) })) })),
});

/** The places of the sources that a test file executed. */
export class ExecutedCode {
  readonly #root: string;
  /** By address of the source: the ranges that each thread counted. */
  readonly #ranges: ReadonlyMap<string, readonly (readonly Range[])[]>;

  private constructor(root: string, ranges: ReadonlyMap<string, readonly (readonly Range[])[]>) {
    this.#root = root;
    this.#ranges = ranges;
  }

  /** Reads what a run with `NODE_V8_COVERAGE` set to `reports` left there, for the sources below `root`. */
  static async read(root: string, reports: string): Promise<ExecutedCode> {
    const ranges = new Map<string, (readonly Range[])[]>();
    const own = pathToFileURL(join(root, 'src')).href;
    for (const name of await readdir(reports)) {
      const { result } = coverageReport.parse(JSON.parse(await readFile(join(reports, name), 'utf8')));
      for (const { url, functions } of result) {
        if (!url.startsWith(own)) continue;
        const counted = functions.flatMap((each) => each.ranges);
        ranges.set(url, [...(ranges.get(url) ?? []), counted]);
      }
    }
    return new ExecutedCode(root, ranges);
  }

  /** Whether the code at an offset of a source ran: the innermost range around it has a count. */
  has(path: string, offset: number): boolean {
    const threads = this.#ranges.get(pathToFileURL(join(this.#root, path)).href) ?? [];
    return threads.some((ranges) => {
      const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset);
      const size = ({ startOffset, endOffset }: Range): number => endOffset - startOffset;
      const innermost = around.toSorted((a, b) => size(a) - size(b))[0];
      return innermost !== undefined && innermost.count > 0;
    });
  }
}

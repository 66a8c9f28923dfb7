import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import type { FlowFile } from '../../../src/flows/graph/graph.ts';
import { CanvasBench, type CanvasPage, type PageOptions } from './canvas.ts';

interface CanvasTestOptions extends PageOptions {
  /** The file of the graph that the page has from the start; undefined for a page that has none yet. */
  readonly shows?: FlowFile | undefined;
  readonly isTrusted?: boolean;
}

type CanvasTest = (
  name: string,
  work: (canvas: CanvasPage, t: TestContext) => Promise<void>,
  options?: CanvasTestOptions,
) => void;

/** Opens one browser for the tests of a file. Each gets a canvas with a flow; whatever the page complains of fails the test. */
export function canvasTests(usual: { readonly shows: FlowFile; readonly version: number } & PageOptions): CanvasTest {
  let bench: CanvasBench | undefined;
  let missing = '';
  before(async () => {
    bench = await CanvasBench.start((reason) => {
      missing = reason;
    });
  });
  after(async () => bench?.[Symbol.asyncDispose]());
  return (name, work, options = {}) => {
    test(name, async (t) => {
      if (bench === undefined) {
        t.skip(`THE CANVAS IS NOT TESTED HERE: ${missing}`);
        return;
      }
      const { shows: file, version, isTrusted = true, ...page } = { ...usual, ...options };
      const canvas = await bench.page(page);
      try {
        if (file !== undefined) await canvas.send({ type: 'graph', version, file, isTrusted });
        await work(canvas, t);
        assert.deepEqual(canvas.errors, []);
        assert.deepEqual(
          (await canvas.sent()).filter(({ type }) => type === 'failure'),
          [],
        );
      } finally {
        await canvas.close();
      }
    });
  };
}

/** The selector of the shape of a node. */
export function nodeOf(path: string): string {
  return `.node[data-path="${path}"]`;
}

// The canvas in a real browser, under its own content policy, driven as a person drives it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import * as esbuild from 'esbuild';
import { syntheticFlow } from '../../bench/support/syntheticFlow.ts';
import type { FlowFile } from '../../src/flows/graph/graph.ts';
import { drawnFile, drawnFlow, lineRange } from '../unit/flows/drawnFlows.ts';
import type { CanvasPage } from './support/canvas.ts';
import { canvasTests, nodeOf } from './support/canvasTests.ts';
import { THEMES, type ThemeName } from './support/themes.ts';

const MAX_BUNDLE_BYTES = 120_000;
const CANVAS = join(import.meta.dirname, '../../src/webview/canvas/main.ts');
const THEME_NAMES = Object.keys(THEMES) as ThemeName[];

const lookUp = drawnFlow('lookUp', ['search -> notes', 'notes -> .'], {
  search: { type: 'rag', className: 'RAGNode' },
});
const research = drawnFlow(
  'research',
  ['decide -search-> look', 'look -> decide', 'decide -enough-> write', 'write -> .'],
  {
    decide: { actions: ['give up'], summary: 'Asks what it still has to know.' },
    look: { type: 'flow', flow: 'lookUp', className: 'LookUp' },
  },
);
const file = drawnFile([research, lookUp]);
const names = Array.from({ length: 40 }, (_, index) => `step${index + 1}`);
const FORTY = drawnFlow(
  'forty',
  names.map((name, index) => `${name} -> ${names[index + 1] ?? '.'}`),
);

const onPage = canvasTests({ shows: file, version: 7 });

const textsOf = (canvas: CanvasPage, selector: string): Promise<string[]> =>
  canvas.page.locator(selector).allTextContents();

/** Waits for a condition that the page reaches by itself. */
async function until(isReached: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await isReached())) {
    assert.ok(Date.now() < deadline);
    await sleep(20);
  }
}

async function press(canvas: CanvasPage, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await canvas.page.keyboard.press(key);
}

test('the canvas is under 120 KB, minified', async (t) => {
  const { outputFiles } = await esbuild.build({
    entryPoints: [CANVAS],
    bundle: true,
    minify: true,
    format: 'iife',
    write: false,
  });
  const bytes = outputFiles[0]?.contents.length ?? Infinity;
  t.diagnostic(`${(bytes / 1000).toFixed(1)} KB`);
  assert.ok(bytes < MAX_BUNDLE_BYTES, `${bytes} bytes`);
});

describe('the drawing', () => {
  onPage('shows nodes, the start, actions, the end, and an action that leads nowhere', async (canvas) => {
    assert.deepEqual((await textsOf(canvas, '.node .title')).sort(), ['Decide', 'LookUp', 'Write']);
    assert.deepEqual((await textsOf(canvas, '.label text')).sort(), ['enough', 'give up', 'search']);
    assert.equal(await canvas.page.locator(`${nodeOf('decide')} .start`).count(), 1);
    assert.equal(await canvas.page.locator('.edge .end').count(), 1);
    assert.equal(await canvas.page.locator('.edge.is-stub .plus').count(), 1);
  });

  const hostile = '<img src=x>';
  onPage(
    'shows names that look like markup as they are',
    async (canvas) => {
      assert.deepEqual(await textsOf(canvas, '.node .title'), [hostile]);
      assert.equal(await canvas.page.locator('img').count(), 0);
    },
    { shows: drawnFile([drawnFlow('evil', ['a -> .'], { a: { className: hostile } })]) },
  );

  onPage('selects on a click, and goes to the source on Enter or a double click', async (canvas) => {
    await canvas.page.locator(nodeOf('write')).click();
    assert.equal(await canvas.page.locator('.node.is-selected').getAttribute('data-path'), 'write');
    await canvas.page.locator('.label', { hasText: 'enough' }).click();
    await canvas.page.locator('.edge.is-selected').waitFor();
    assert.ok(!(await canvas.sent()).some(({ type }) => type === 'reveal'));
    await canvas.page.keyboard.press('Enter');
    assert.deepEqual((await canvas.next('reveal')).range, research.edges[2]?.range);
    await canvas.page.locator(nodeOf('write')).dblclick();
    const { range, isPreview } = await canvas.next('reveal');
    assert.deepEqual([range, isPreview], [research.nodes[2]?.ranges.class, false]);
  });

  onPage(
    'is legible with forty nodes in a row: wrapped, and with large names from far away',
    async (canvas) => {
      await canvas.page.locator('.surface').focus();
      await press(canvas, 'f');
      const fontPixels = async (): Promise<number> => {
        const name = await canvas.page.locator('.far-name').first().boundingBox();
        return name?.height ?? 0;
      };
      assert.ok(await canvas.page.locator('.surface.is-far').count());
      assert.equal(await canvas.page.locator('.node .title').first().isVisible(), false);
      assert.ok((await fontPixels()) >= 10, `${await fontPixels()} px`);
      await press(canvas, '0'); // natural size
      assert.equal(await canvas.page.locator('.far-name').first().isVisible(), false);
      await press(canvas, 'w'); // not wrapped
      const boxes = await canvas.page.locator('.node').all();
      const [first, last] = [await boxes[0]?.boundingBox(), await boxes.at(-1)?.boundingBox()];
      assert.ok(first && last && Math.abs(first.x - last.x) < 1);
    },
    { shows: drawnFile([FORTY]), width: 560, height: 560 },
  );

  onPage('is fitted again when its window gets another size, until it is moved', async (canvas) => {
    const middle = async (): Promise<number> => {
      const boxes = await Promise.all((await canvas.page.locator('.node').all()).map((node) => node.boundingBox()));
      const known = boxes.filter((box) => box !== null);
      const left = Math.min(...known.map(({ x }) => x));
      return (left + Math.max(...known.map(({ x, width }) => x + width))) / 2;
    };
    const before = await middle();
    await canvas.page.setViewportSize({ width: 1300, height: 700 });
    await until(async () => Math.abs((await middle()) - before - 200) < 40);
  });

  onPage('marks the node and the connection at the caret of the source', async (canvas) => {
    await canvas.send({ type: 'cursor', file: file.file, offset: research.nodes[0]?.ranges.class?.start.offset ?? 0 });
    assert.equal(await canvas.page.locator('.node.is-caret').getAttribute('data-path'), 'decide');
    await canvas.send({ type: 'cursor', file: file.file, offset: research.edges[2]?.range.start.offset ?? 0 });
    assert.equal(await canvas.page.locator('.label.is-caret').textContent(), 'enoughenough');
    await canvas.send({ type: 'cursor', file: '/elsewhere.ts', offset: 0 });
    assert.equal(await canvas.page.locator('.is-caret').count(), 0);
  });

  onPage('opens a nested flow in place, and closes it', async (canvas) => {
    const places = (): Promise<string[]> =>
      canvas.page.evaluate(
        "[...document.querySelectorAll('.node')].map((node) => node.dataset.path + node.getAttribute('transform')).sort()",
      );
    const before = await places();
    await canvas.page.locator(`${nodeOf('look')} .chevron`).click();
    assert.equal(await canvas.page.locator(`${nodeOf('look/search')} .title`).textContent(), 'search');
    const [outer, inner] = [
      await canvas.page.locator(`${nodeOf('look')} > .box`).boundingBox(),
      await canvas.page.locator(`${nodeOf('look/notes')} > .box`).boundingBox(),
    ];
    assert.ok(outer && inner && inner.x > outer.x && inner.y + inner.height < outer.y + outer.height);
    await canvas.page.locator(`${nodeOf('look')} .chevron`).click();
    assert.equal(await canvas.page.locator(nodeOf('look/search')).count(), 0);
    assert.deepEqual(await places(), before, 'all is where it was');
  });

  onPage('keeps the last good graph, dimmed, with the line of the error', async (canvas) => {
    const syntaxError = { message: 'Unexpected token', range: lineRange(41) };
    await canvas.send({ type: 'graph', version: 8, file: { ...file, syntaxError, isStale: true }, isTrusted: true });
    assert.match(
      (await canvas.page.locator('.banner.error').textContent()) ?? '',
      /Line 42: Unexpected token\. The drawing/,
    );
    assert.equal(await canvas.page.locator('.is-stale .node').count(), 3);
    await canvas.page.getByRole('button', { name: 'Show', exact: true }).click();
    assert.deepEqual((await canvas.next('reveal')).range, lineRange(41));
    await canvas.page.locator(nodeOf('write')).click();
    await press(canvas, 'Delete');
    assert.match((await canvas.page.locator('.notice').textContent()) ?? '', /error in line 42/);
    assert.ok(!(await canvas.sent()).some(({ type }) => type === 'edit'));
    await canvas.send({ type: 'graph', version: 9, file, isTrusted: true });
    assert.equal(await canvas.page.locator('.is-stale, .banner').count(), 0);
  });

  onPage('says which constructs could not be read, where and why', async (canvas) => {
    const unread = [{ range: lineRange(3), reason: 'The target is computed at run time.' }];
    await canvas.send({ type: 'graph', version: 8, file: { ...file, unread }, isTrusted: true });
    await canvas.page.locator('.banner summary').click();
    assert.match(
      (await canvas.page.locator('.banner li').textContent()) ?? '',
      /Line 4: The target is computed at run time\./,
    );
  });

  onPage(
    'says what this is for in a file without a flow',
    async (canvas) => {
      assert.match((await canvas.page.locator('.empty').textContent()) ?? '', /This file has no flow yet/);
    },
    { shows: drawnFile([]) },
  );

  onPage('exports the flow as SVG and as Mermaid', async (canvas) => {
    for (const [name, format, sign] of [
      ['Export as SVG', 'svg', '<svg xmlns'],
      ['Export as Mermaid', 'mermaid', 'flowchart TD'],
    ] as const) {
      await canvas.page.getByRole('button', { name: 'Export…' }).click();
      await canvas.page.getByRole('menuitem', { name }).click();
      const exported = await canvas.next('export');
      assert.equal(exported.format, format);
      assert.ok(exported.text.startsWith(sign) && exported.text.includes('Decide'));
    }
  });

  onPage('finds nodes, goes from one to the next, and dims the others', async (canvas) => {
    await press(canvas, 'Control+f');
    await canvas.page.keyboard.type('e');
    assert.equal(await canvas.page.locator('.find .count').textContent(), '1 of 3');
    await canvas.page.keyboard.type('nough');
    assert.equal(await canvas.page.locator('.find .count').textContent(), '1 of 1');
    assert.equal(await canvas.page.locator('.node.is-missed').count(), 2);
    assert.equal(await canvas.page.locator('.node.is-selected').getAttribute('data-path'), 'decide');
    await press(canvas, 'Escape');
    assert.equal(await canvas.page.locator('.node.is-missed').count(), 0);
    await press(canvas, 'Enter');
    assert.equal((await canvas.next('reveal')).isPreview, false);
  });

  onPage('keeps a moved node where it was put, and reports where that is', async (canvas) => {
    const box = await canvas.page.locator(`${nodeOf('write')} > .box`).boundingBox();
    assert.ok(box);
    await canvas.page.mouse.move(box.x + 60, box.y + 30);
    await canvas.page.mouse.down();
    await canvas.page.mouse.move(box.x + 160, box.y + 90, { steps: 4 });
    await canvas.page.mouse.up();
    const { flow, moved } = await canvas.next('hints');
    assert.deepEqual([flow, Object.keys(moved)], ['research', ['write']]);
    const there = await canvas.page.locator(`${nodeOf('write')} > .box`).boundingBox();
    assert.ok(there && Math.abs(there.x - box.x - 100) < 3 && Math.abs(there.y - box.y - 60) < 3);
    await canvas.send({ type: 'graph', version: 8, file, isTrusted: true });
    assert.deepEqual(await canvas.page.locator(`${nodeOf('write')} > .box`).boundingBox(), there);
    await canvas.page.locator('.surface').focus();
    await press(canvas, 'l');
    assert.deepEqual((await canvas.next('hints')).moved, {});
  });

  onPage('zooms by wheel, keys and buttons, and shows everything again', async (canvas) => {
    const zoom = (): Promise<string | null> => canvas.page.locator('.zoom').textContent();
    const whole = await zoom();
    await canvas.page.locator('.surface').hover();
    await canvas.page.keyboard.down('Control');
    await canvas.page.mouse.wheel(0, -300);
    await canvas.page.keyboard.up('Control');
    assert.notEqual(await zoom(), whole);
    await canvas.page.locator('.surface').focus();
    await press(canvas, '0', '+');
    assert.equal(await zoom(), '120 %');
    await press(canvas, 'f');
    assert.equal(await zoom(), whole);
  });
});

describe('editing on the canvas', () => {
  onPage('connects by dragging from a port to a node', async (canvas) => {
    await canvas.page.locator(nodeOf('write')).hover();
    const [port, target] = [
      await canvas.page.locator(`${nodeOf('write')} .port`).boundingBox(),
      await canvas.page.locator(`${nodeOf('look')} > .box`).boundingBox(),
    ];
    assert.ok(port && target);
    await canvas.page.mouse.move(port.x + 5, port.y + 5);
    await canvas.page.mouse.down();
    await canvas.page.mouse.move(target.x + 50, target.y + 30, { steps: 5 });
    assert.equal(await canvas.page.locator('.node.is-aimed').getAttribute('data-path'), 'look');
    await canvas.page.mouse.up();
    await press(canvas, 'Enter'); // the first of its actions
    const { operation, version } = await canvas.next('edit');
    assert.equal(version, 7);
    assert.deepEqual(operation, {
      type: 'connect',
      flow: 'research',
      source: 'write',
      target: 'look',
      action: 'default',
    });
  });

  onPage('offers the nodes, the end and a new node behind the plus of an action that leads nowhere', async (canvas) => {
    await canvas.page.locator('.plus').click();
    const choices = await textsOf(canvas, '.picker li span');
    assert.deepEqual(choices, ['Decide', 'LookUp', 'Write', 'New node…', 'The end of the flow']);
    await canvas.page.keyboard.type('end');
    await press(canvas, 'Enter');
    const { operation } = await canvas.next('edit');
    assert.deepEqual(operation, {
      type: 'connect',
      flow: 'research',
      source: 'decide',
      target: null,
      action: 'give up',
    });
  });

  onPage('says why an edit was refused', async (canvas) => {
    await canvas.page.locator(nodeOf('write')).click();
    await press(canvas, 'Delete');
    const { id, operation } = await canvas.next('edit');
    assert.deepEqual(operation, { type: 'deleteNode', flow: 'research', node: 'write' });
    await canvas.send({
      type: 'editResult',
      id,
      refusal: 'The file has changed since. Look at the new graph and try again.',
    });
    assert.match((await canvas.page.getByRole('alert').last().textContent()) ?? '', /has changed since/);
  });

  onPage('is done by keys alone', async (canvas) => {
    const last = async (): Promise<unknown> => (await canvas.next('edit')).operation;
    const flow = 'research';
    await canvas.page.locator('.surface').focus();
    await press(canvas, 'ArrowDown', 'ArrowDown', 'ArrowLeft'); // the start, what follows it, and what is beside that
    assert.equal(await canvas.page.locator('.node.is-selected').getAttribute('data-path'), 'look');
    await press(canvas, 's');
    assert.deepEqual(await last(), { type: 'setStart', flow, node: 'look' });

    await press(canvas, 'ArrowUp', 'e', 'F2');
    await canvas.page.keyboard.type('find');
    await press(canvas, 'Enter');
    assert.deepEqual(await last(), {
      type: 'renameAction',
      flow,
      source: 'decide',
      action: 'search',
      newAction: 'find',
    });
    await press(canvas, 'Delete');
    assert.deepEqual(await last(), { type: 'deleteEdge', flow, edge: 'decide:search' });

    await press(canvas, 'ArrowUp', 'c'); // its one open action is meant
    await canvas.page.keyboard.type('write');
    await press(canvas, 'Enter');
    assert.deepEqual(await last(), { type: 'connect', flow, source: 'decide', target: 'write', action: 'give up' });

    await press(canvas, 'c');
    await canvas.page.keyboard.type('new');
    await press(canvas, 'Enter');
    await canvas.page.keyboard.type('1st');
    assert.match((await canvas.page.locator('.problem').textContent()) ?? '', /does not begin with a digit/);
    await press(canvas, 'Control+a');
    await canvas.page.keyboard.type('Ärger');
    await press(canvas, 'Enter');
    assert.deepEqual(await last(), {
      type: 'addNode',
      flow,
      className: 'Ärger',
      from: { node: 'decide', action: 'give up' },
    });

    await press(canvas, 'm', 'ArrowDown', 'Shift+F10');
    assert.ok((await textsOf(canvas, '.menu button span')).includes('Extract into a flow…'));
    await press(canvas, 'Escape', 'm', 'x');
    await canvas.page.keyboard.type('part');
    await press(canvas, 'Enter');
    assert.deepEqual(await last(), { type: 'extractFlow', flow, nodes: ['decide', 'write'], name: 'part' });
  });

  onPage('shows the node that was added, wherever the drawing was scrolled to', async (canvas) => {
    await canvas.page.locator(nodeOf('write')).click();
    await press(canvas, 'n');
    await canvas.page.keyboard.type('Check');
    await press(canvas, 'Enter');
    const [edit] = (await canvas.sent()).slice(-1);
    assert.equal(edit?.type, 'edit');
    await canvas.page.mouse.move(300, 300);
    await canvas.page.mouse.wheel(3_000, 3_000);
    const longer = drawnFlow(
      'research',
      ['decide -search-> look', 'look -> decide', 'decide -enough-> write', 'write -> check', 'check -> .'],
      {
        decide: { actions: ['give up'] },
        look: { type: 'flow', flow: 'lookUp', className: 'LookUp' },
        check: { className: 'Check' },
      },
    );
    const graph = { type: 'graph', file: drawnFile([longer, lookUp]), version: 8, isTrusted: true } as const;
    await canvas.send(graph);
    const isInView = async (): Promise<boolean> => {
      const [box, area] = [
        await canvas.page.locator(nodeOf('check')).boundingBox(),
        await canvas.page.locator('.surface').boundingBox(),
      ];
      if (box === null || area === null) return false;
      return (
        box.x >= area.x &&
        box.x + box.width <= area.x + area.width &&
        box.y >= area.y &&
        box.y + box.height <= area.y + area.height
      );
    };
    assert.equal(await isInView(), true);
    // Only once: the next change of the source leaves the drawing where it is.
    await canvas.page.mouse.wheel(3_000, 3_000);
    await canvas.send({ ...graph, version: 9 });
    assert.equal(await isInView(), false);
  });

  onPage('leaves a question and a drag with Escape, and the drawing keeps the keyboard', async (canvas) => {
    await canvas.page.locator(nodeOf('write')).click();
    await press(canvas, 'n');
    assert.equal(await canvas.page.locator('.picker').count(), 1);
    await press(canvas, 'Escape');
    assert.equal(await canvas.page.locator('.picker').count(), 0);
    assert.equal(await canvas.page.evaluate('document.activeElement.className'), 'surface');
    assert.ok(!(await canvas.sent()).some(({ type }) => type === 'edit'));
  });
});

for (const width of [420, 461, 560]) {
  onPage(
    `the toolbar is one row in a canvas of ${width} px beside an editor`,
    async (canvas) => {
      const { page } = canvas;
      const tools = await page.locator('.toolbar :is(button, select):visible').all();
      const boxes = (await Promise.all(tools.map((tool) => tool.boundingBox()))).flatMap((box) => box ?? []);
      assert.equal(new Set(boxes.map(({ y, height }) => Math.round(y + height / 2))).size, 1);
      assert.ok(Math.max(...boxes.map(({ x, width: own }) => x + own)) <= width);
    },
    { width },
  );
}

describe('the outline', () => {
  onPage('holds the same as the drawing, as a tree for screen readers', async (canvas) => {
    await canvas.page.getByRole('button', { name: 'Outline' }).click();
    const items = canvas.page.getByRole('treeitem');
    await items.first().waitFor();
    assert.deepEqual(await items.allTextContents(), [
      'Decide, decide, start, node, Asks what it still has to know.',
      'search: from Decide to LookUp',
      'enough: from Decide to Write',
      'give up of Decide is not connected',
      'LookUp, look, nested flow, closed',
      'default: from LookUp to Decide',
      'Write, write, node',
      'default: from Write to the end of the flow',
    ]);
    assert.equal(await items.nth(1).getAttribute('aria-level'), '2');
    assert.equal(await items.first().getAttribute('aria-expanded'), 'true');
  });

  onPage('is walked by keys, selects in the drawing, and folds', async (canvas) => {
    await canvas.page.getByRole('button', { name: 'Outline' }).click();
    await canvas.page.getByRole('treeitem').first().focus();
    await press(canvas, 'ArrowDown', 'ArrowDown');
    assert.equal(await canvas.page.locator('.label.is-selected text').textContent(), 'enough');
    await press(canvas, 'ArrowLeft', 'ArrowLeft');
    assert.equal(await canvas.page.getByRole('treeitem').count(), 5);
    await press(canvas, 'Enter');
    assert.equal((await canvas.next('reveal')).isPreview, false);
  });

  onPage('what is selected is said to screen readers', async (canvas) => {
    await canvas.page.locator('.surface').focus();
    await press(canvas, 'ArrowDown', 'e');
    assert.equal(await canvas.page.locator('.unseen[role=status]').textContent(), 'search: from Decide to LookUp');
  });
});

describe('how it looks', () => {
  for (const theme of THEME_NAMES) {
    onPage(
      `texts can be read in the theme ${theme}`,
      async (canvas) => {
        for (const [text, ground] of [
          ['.node .title', '.node .box'],
          ['.node .summary', '.node .box'],
          ['.label:not(.is-stub):not(.is-default) text', '.label .pill'],
        ] as const) {
          const contrast = await canvas.page.evaluate<number>(
            `(${contrastOf.toString()})(${JSON.stringify([text, ground])})`,
          );
          assert.ok(contrast >= 4.5, `${text}: ${contrast.toFixed(2)}`);
        }
      },
      { theme },
    );
  }

  onPage(
    'lists all keys without cutting a word, beside an editor in a small window',
    async (canvas) => {
      await canvas.page.locator('.surface').focus();
      await press(canvas, '?');
      const [shown = 0, needed = 0] = await canvas.page.evaluate<number[]>(
        "(({ clientWidth, scrollWidth }) => [clientWidth, scrollWidth])(document.querySelector('.help dl'))",
      );
      assert.ok(shown > 0 && needed <= shown, `${needed} px in ${shown} px`);
    },
    { width: 240, height: 420 },
  );

  onPage(
    'fits into a side bar of 400 pixels at 200 % zoom, with forced colours',
    async (canvas) => {
      const overflow = await canvas.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(overflow <= 0, `${overflow} pixels too wide`);
      const run = await canvas.page.getByRole('button', { name: 'Run', exact: true }).boundingBox();
      assert.ok(run && run.x + run.width <= 200);
    },
    { width: 400, height: 1400, zoom: 2, forcedColors: 'active' },
  );
});

describe('a large flow', () => {
  const large = (count: number, seed = 1): FlowFile =>
    drawnFile([
      drawnFlow(
        'large',
        syntheticFlow(count, seed).map(
          ({ source, target, action }) =>
            `n${source} -${action === 'default' ? '' : `${action}-`}> ${target === null ? '.' : `n${target}`}`,
        ),
      ),
    ]);

  onPage(
    'of 200 nodes follows a change, and leaves what did not change untouched',
    async (canvas, t) => {
      const update = { type: 'graph', version: 8, isTrusted: true, file: large(200) } as const;
      const [flow] = update.file.flows;
      assert.ok(flow);
      const nodes = flow.nodes.map((node) => (node.id === 'n100' ? { ...node, className: 'Renamed' } : node));
      const changed = { ...update, file: { ...update.file, flows: [{ ...flow, nodes }] } };
      const times: number[] = [];
      for (let round = 0; round < 10; round += 1) {
        await canvas.page.evaluate(`window.marked = document.querySelector('${nodeOf('n50')} .box')`);
        const message = JSON.stringify(round % 2 === 0 ? changed : update);
        times.push(await canvas.page.evaluate<number>(`(${timeOfMessage.toString()})(${message})`));
        assert.equal(await canvas.page.evaluate('window.marked.isConnected'), true);
      }
      t.diagnostic(`from the message to the next frame: ${times.map((time) => time.toFixed(0)).join(', ')} ms`);
      assert.equal(await canvas.page.locator(`${nodeOf('n100')} .title`).textContent(), 'N100');
      assert.equal(await canvas.page.locator('.minimap').isVisible(), true);
    },
    { shows: large(200) },
  );

  onPage(
    'of 2,000 nodes opens, and can be walked',
    async (canvas) => {
      assert.equal(await canvas.page.locator('.node').count(), 2_000);
      await canvas.page.locator('.surface').focus();
      await press(canvas, 'ArrowDown', 'ArrowDown', 'ArrowDown');
      assert.equal(await canvas.page.locator('.node.is-selected').count(), 1);
    },
    { shows: large(2_000) },
  );
});

/** Runs in the page: the time until what a message changed has been painted. */
function timeOfMessage(message: unknown): Promise<number> {
  const page = globalThis as unknown as {
    postMessage(message: unknown): void;
    requestAnimationFrame(run: () => void): void;
    addEventListener(type: 'message', listener: () => void, options: { once: true }): void;
  };
  return new Promise((resolve) => {
    const started = performance.now();
    page.addEventListener(
      'message',
      () => page.requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started), 0)),
      {
        once: true,
      },
    );
    page.postMessage(message);
  });
}

/** Runs in the page: the contrast of a text on what lies behind it, as WCAG 2.2 counts it. */
function contrastOf([text, ground]: readonly [string, string]): number {
  interface Styled {
    readonly fill: string;
    readonly opacity: string;
  }
  interface Brush {
    fillStyle: string;
    globalAlpha: number;
    fillRect(x: number, y: number, width: number, height: number): void;
    getImageData(x: number, y: number, width: number, height: number): { readonly data: ArrayLike<number> };
  }
  const page = globalThis as unknown as {
    getComputedStyle(element: unknown): Styled;
    document: {
      querySelector(selector: string): unknown;
      createElement(name: 'canvas'): { getContext(kind: '2d'): Brush };
    };
  };
  const brush = page.document.createElement('canvas').getContext('2d');
  const paint = ({ fill, opacity }: Styled): number => {
    brush.fillStyle = fill;
    brush.globalAlpha = Number(opacity);
    brush.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = Array.from(brush.getImageData(0, 0, 1, 1).data).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const below = paint(page.getComputedStyle(page.document.querySelector(ground)));
  const above = paint(page.getComputedStyle(page.document.querySelector(text)));
  return (Math.max(above, below) + 0.05) / (Math.min(above, below) + 0.05);
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownPreview, ToJobPage } from '../../src/webview/jobPage/jobPageMessages.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { CanvasBench, type CanvasPage } from './support/canvas.ts';

const START = Date.UTC(2026, 0, 1);
const PAGE: ToJobPage = {
  type: 'page',
  title: 'train.py',
  facts: [
    ['job', '3f2a'],
    ['state', 'running'],
    ['script', 'train.py'],
  ],
  actions: [
    'showLog',
    'cancelJob',
    'openJobTerminal',
    'browseRunningJob',
    'openJobPort',
    'comparePlots',
    'compareSubmitted',
    'resubmitJob',
  ],
  output: [
    { text: 'epoch 1: loss 2.31', links: [] },
    { text: '<b>epoch 2</b>: loss 1.98', links: [] },
    { text: 'at train.py:7 <i>', links: [{ start: 3, end: 13 }] },
  ],
  timeline: ['queued 12 min: Resources', 'running 4 min'],
  plots: [
    {
      name: 'cores',
      text: '1.5, at most 2',
      axis: 'time',
      points: Array.from({ length: 60 }, (_, index) => [START + index * 2_000, 1 + Math.sin(index / 5)]),
      others: [],
    },
    {
      name: 'loss',
      text: 'NaN',
      axis: 'step',
      points: [
        [1, 3],
        [2, 1],
        [3, null],
        [2, 2],
      ],
      others: [],
    },
  ],
  compared: [],
  otherMetrics: 960,
  results: '3 files, 1.2 MB: model.pt (1.1 MB) and 2 more',
  advice: null,
};

const PREVIEWS: readonly ShownPreview[] = [
  {
    type: 'picture',
    name: 'loss.png (70 B)',
    data: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  },
  {
    type: 'table',
    name: 'loss.csv (1 KB)',
    rows: [
      ['step', '<i>loss</i>'],
      ['1', '2.31'],
    ],
  },
];

/** How wide and high each curve is, in CSS pixels. */
function drawnSizes({ page }: CanvasPage): Promise<{ readonly width: number; readonly height: number }[]> {
  return page.evaluate(`[...document.querySelectorAll('.plot path')].map((path) => {
    const { width, height } = path.getBoundingClientRect();
    return { width, height };
  })`);
}

test("a job's page shows what it is sent, in each theme and width, under its own content policy", async (t) => {
  const bench = await CanvasBench.start((reason) => t.skip(reason), 'jobPage');
  if (bench === undefined) return;
  await using _ = bench;
  for (const [theme, width] of [
    ['dark', 900],
    ['light', 200],
  ] as const) {
    const shown: CanvasPage = await bench.page({ theme, width });
    const { page } = shown;
    await shown.send(PAGE);
    const text = await page.locator('main').innerText();
    for (const each of [
      '3f2a',
      'queued 12 min: Resources',
      'cores: 1.5, at most 2',
      'loss: NaN',
      '960 more metrics',
      'model.pt',
      '<b>epoch 2</b>: loss 1.98',
      'train.py',
    ]) {
      assert.ok(text.includes(each), `${each} is missing in: ${text}`);
    }
    for (const name of ['Plot of cores: 1.5, at most 2', 'Plot of loss: NaN']) {
      assert.equal(await page.getByRole('img', { name, exact: true }).count(), 1, name);
    }
    assert.equal(await page.getByRole('status').isVisible(), false);
    const [cores, loss, ...more] = await drawnSizes(shown);
    assert.equal(more.length, 0);
    for (const size of [cores, loss])
      assert.ok((size?.width ?? 0) > 40 && (size?.height ?? 0) > 80, JSON.stringify(size));
    const curve = await page.locator('.plot path').nth(1).getAttribute('d');
    assert.equal(curve, 'M0.00 0.00h0L50.00 100.00L50.00 50.00', 'steps in their order; the gap is at the end');
    assert.equal(
      await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'),
      false,
    );

    await shown.send({ type: 'previews', printed: PREVIEWS.slice(0, 1), results: [] });
    const pictures = page.getByRole('region', { name: 'Pictures' });
    assert.equal(await pictures.getByRole('img', { name: 'loss.png (70 B)', exact: true }).count(), 1);
    await shown.send({ type: 'previews', printed: [], results: PREVIEWS });
    assert.equal(await pictures.isVisible(), false);
    assert.equal(await page.getByRole('img', { name: 'loss.png (70 B)', exact: true }).count(), 1);
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['step', '<i>loss</i>']);
    assert.deepEqual(await accessibilityProblems(page), []);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Show Log');
    await page.keyboard.press('Enter');
    assert.deepEqual((await shown.sent()).at(-1), { type: 'run', action: 'showLog' });
    await shown.send(PAGE);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Show Log', 'the focus stays');
    const link = page.getByRole('button', { name: 'train.py:7', exact: true });
    await link.focus();
    await shown.send({ ...PAGE, title: 'again' });
    await page.keyboard.press('Enter');
    assert.deepEqual((await shown.sent()).at(-1), { type: 'open', line: 'at train.py:7 <i>', start: 3 });

    // Compared jobs have curves of their own in the same plot, which their names explain.
    const [usage, metric] = PAGE.plots;
    assert.ok(usage !== undefined && metric !== undefined);
    const other = { text: '0.5', points: [[1, 0.25] as const, [5, 0.5] as const] };
    await shown.send({
      ...PAGE,
      plots: [usage, { ...metric, others: [null, other] }],
      compared: ['--lr 1 (4b1c)', '<i>--lr 2</i> (5d2e)'],
    });
    const jobsInPlots = page.getByRole('list', { name: 'Jobs in the plots' });
    assert.deepEqual(await jobsInPlots.getByRole('listitem').allInnerTexts(), [
      'This job',
      '--lr 1 (4b1c)',
      '<i>--lr 2</i> (5d2e)',
    ]);
    const compared = page.getByRole('img', { name: 'Plot of loss: NaN; <i>--lr 2</i> (5d2e): 0.5', exact: true });
    assert.equal(await compared.locator('path').count(), 2);
    assert.deepEqual(await accessibilityProblems(page), []);
    await shown.send(PAGE);
    assert.equal(await jobsInPlots.isVisible(), false);

    // A later message replaces texts and continues the plots.
    await shown.send({ type: 'previews', printed: [], results: [] });
    await shown.send({
      ...PAGE,
      plots: PAGE.plots.slice(0, 1),
      advice: 'Used 11 min of 1 h.',
      results: null,
      otherMetrics: 0,
    });
    assert.equal(await page.getByRole('status').innerText(), 'Used 11 min of 1 h.');
    assert.equal(await page.getByRole('region', { name: 'Results' }).isVisible(), false);
    assert.equal(await page.locator('.plot').count(), 2);
    assert.deepEqual(shown.errors, []);
    await shown.close();
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToSweepPage } from '../../src/webview/sweepPage/sweepPageMessages.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { CanvasBench } from './support/canvas.ts';

const SWEEP: ToSweepPage = {
  type: 'sweep',
  title: 'search',
  summary: '1 of 3 done · 1 unfinished · 1 not sent · 0.4 cr of at most 20',
  parameters: ['lr', 'name'],
  metrics: ['loss', 'accuracy'],
  costTitle: 'Credits',
  metric: 'loss',
  jobs: [
    ['0.1', 'succeeded', [0.5, 0.9], 3, 120, 1_200],
    ['10', 'running', [0.25, null], 2, 15, 0.9],
    ['2', 'not sent', [null, null], 0, null, null],
  ].map(([lr, state, values, steps, seconds, spent], index) => ({
    index,
    parameters: [String(lr), '<b>long name</b>'],
    state: String(state),
    time: seconds === 120 ? '2 min' : seconds === null ? '' : '15 s',
    cost: spent === null ? '' : Number(spent).toLocaleString('de'),
    seconds: seconds as number | null,
    spent: spent as number | null,
    values: values as (number | null)[],
    isSent: state !== 'not sent',
    curve: Array.from({ length: Number(steps) }, (_, step) => [step, 1 / (step + 1)] as const),
  })),
  canCancel: true,
  canResume: false,
  canDownload: true,
};

test('the page of a sweep compares its jobs, sorts them by keyboard, and says what was chosen', async (t) => {
  const bench = await CanvasBench.start((reason) => t.skip(reason), 'sweepPage');
  if (bench === undefined) return;
  await using _ = bench;
  const shown = await bench.page({ theme: 'dark', width: 500 });
  const { page } = shown;
  await shown.send(SWEEP);
  const [title, table] = await Promise.all(
    ['.wide th button', '.wide'].map((selector) => page.locator(selector).first().boundingBox()),
  );
  assert.ok(title && table && title.x - table.x >= 2, 'the focus ring of the first title is cut off');
  const column = (): Promise<string[]> => page.locator('tbody td:first-child').allInnerTexts();
  assert.deepEqual(await column(), ['0.1', '10', '2']);
  await page.getByRole('button', { name: 'lr', exact: true }).press('Enter');
  assert.deepEqual(await column(), ['0.1', '2', '10'], 'numbers are not sorted as text');
  // The focus stays on the title, which a second key reverses, also after news.
  await shown.send({ ...SWEEP, summary: '2 of 3 done' });
  await page.keyboard.press('Enter');
  assert.deepEqual(await column(), ['10', '2', '0.1']);
  await page.getByRole('button', { name: 'loss', exact: true }).click();
  assert.deepEqual(await column(), ['10', '0.1', '2'], 'a job without a value is last');
  assert.equal(await page.getByRole('columnheader', { name: 'loss' }).getAttribute('aria-sort'), 'ascending');
  for (const title of ['Time', 'Credits']) {
    await page.getByRole('button', { name: title, exact: true }).click();
    assert.deepEqual(await column(), ['10', '0.1', '2'], `${title} is not sorted as text`);
  }
  assert.equal(await page.getByRole('status').innerText(), '2 of 3 done');

  assert.equal(await page.getByRole('img', { name: 'Plot of loss of 2 jobs, by step' }).count(), 1);
  assert.equal(await page.locator('.plot path').count(), 2);
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.getByRole('button', { name: 'Show: 10 <b>long name</b>' }).focus();
  assert.equal(await page.locator('.plot path.chosen').count(), 1);
  const width = async (): Promise<number> =>
    Number.parseFloat(await page.evaluate('getComputedStyle(document.querySelector(".plot path.chosen")).strokeWidth'));
  assert.equal(await width(), 3);
  const jobs = SWEEP.jobs.map((job) => ({ ...job, curve: job.curve.slice(0, 1) }));
  await shown.send({ ...SWEEP, summary: '3 of 3 done', jobs });
  await page.getByRole('button', { name: 'Show: 0.1 <b>long name</b>' }).focus();
  assert.ok((await width()) >= 6, 'a curve of a single point can be seen');
  assert.equal(await page.getByRole('button', { name: 'Send the others' }).isVisible(), false);
  await page.getByRole('button', { name: 'Download Results' }).click();
  await page.getByRole('button', { name: 'Cancel all' }).click();
  await page.getByRole('button', { name: 'Show: 10 <b>long name</b>' }).click();
  await page.getByRole('button', { name: 'Edit and submit: 2 <b>long name</b>' }).click();
  await page.getByRole('combobox').selectOption('accuracy');
  assert.deepEqual(await page.evaluate('window.sent'), [
    { type: 'ready' },
    { type: 'download' },
    { type: 'cancel' },
    { type: 'open', index: 1 },
    { type: 'edit', index: 2 },
    { type: 'choose', metric: 'accuracy' },
  ]);
  assert.equal(await page.getByRole('button', { name: 'Show: 2 <b>long name</b>' }).count(), 0);
  assert.deepEqual(shown.errors, []);
  if (process.env['FARWHARF_SCREENSHOT'] !== undefined)
    await page.screenshot({ path: process.env['FARWHARF_SCREENSHOT'] });
});

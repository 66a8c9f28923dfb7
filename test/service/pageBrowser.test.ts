// The page in a real browser: what axe finds, the keyboard, no JavaScript, narrow windows, and text that wants to be more than text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { Store } from '../../src/service/store/store.ts';
import { addAccount } from './support/accounts.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { startService, temporaryFolder } from './support/service.ts';
import { fillJob, HOSTILE, PageBrowser } from './support/servicePage.ts';

const FAILED = 'b'.repeat(20);

/** A service with every kind of job, and names that are hostile. */
async function filledService(t: Parameters<typeof startService>[0]) {
  const data = await temporaryFolder(t);
  const store = new Store(data, 1e9);
  store.addAccount({ id: 'eve', name: HOSTILE.slice(0, 150), plan: 'team', createdAt: Date.now() });
  store.grant('eve', { reference: 'start', amount: 1e9, at: Date.now() });
  const { secret: key } = store.keys.add({ account: 'eve', label: '', createdAt: Date.now(), expiresAt: null });
  for (const [index, state] of (['succeeded', 'cancelled', 'timed_out', 'lost'] as const).entries())
    await fillJob(store, `${index}`.repeat(20), { account: 'eve', state, project: 'vision' });
  const hostile = { script: HOSTILE, project: HOSTILE, reason: HOSTILE };
  const output = [...Array.from({ length: 500 }, (_, index) => `step ${index}\n`), HOSTILE];
  await fillJob(store, FAILED, { account: 'eve', state: 'failed', ...hostile, output });
  store.dispose();
  const service = await startService(t, { data });
  return { service, key };
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Your jobs' }).waitFor();
}

test('axe finds nothing on any page, light and dark, with hostile names, for an empty account and a drained service', async (t) => {
  const browser = await PageBrowser.start(t);
  if (browser === undefined) return;
  await using _ = browser;
  const { service, key } = await filledService(t);
  const empty = await addAccount(service, 'bob');
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('service.drain', { reason: HOSTILE.slice(0, 180) });
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.page({ colorScheme });
    const check = async (what: string): Promise<void> =>
      assert.deepEqual(await accessibilityProblems(page), [], `${what}, ${colorScheme}`);
    await page.goto(service.url);
    await check('signing in');
    await signIn(page, key);
    await check('jobs');
    await page.goto(`${service.url}/jobs/${FAILED}`);
    await check('a job');
    const shown = `(() => {
      const log = document.querySelector('.log');
      const ends = log.firstElementChild.getBoundingClientRect().bottom <= log.getBoundingClientRect().bottom;
      return [log.scrollHeight > log.clientHeight, ends];
    })()`;
    assert.deepEqual(await page.evaluate(shown), [true, true], 'of a long output, the end is in sight');
    await page.goto(`${service.url}/jobs/nothing`);
    await check('a job that does not exist');
    await page.goto(service.url);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, empty.client.key);
    await check('an account without jobs');
    await page.goto((await admin.call('page.link', {})).url);
    await check('a link');
    await page.getByRole('button', { name: 'Sign in as operator' }).click();
    await page.getByRole('img', { name: /^This month/ }).waitFor();
    await page.getByText('As a table').first().click();
    await check('the operator');
  }
  // The browser says so of the page that does not exist, and of nothing else: no policy was violated, no script ran.
  assert.deepEqual(
    browser.errors.filter((error) => !/status of 404/.test(error)),
    [],
  );
});

test('the page works by keyboard alone, without JavaScript, in a narrow window', async (t) => {
  const browser = await PageBrowser.start(t);
  if (browser === undefined) return;
  await using _ = browser;
  const { service, key } = await filledService(t);
  const page = await browser.page({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
  const widths: number[] = [];
  const look = async (): Promise<void> => {
    widths.push(
      (await page.locator('body').boundingBox())?.width ?? 0,
      (await page.locator('main').boundingBox())?.width ?? 0,
    );
  };
  await page.goto(service.url);
  await look();
  await page.keyboard.type(key); // the field has the focus
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Your jobs' }).waitFor();
  await look();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter'); // Skip to content
  await page.getByRole('region', { name: /^5 jobs/ }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Output' }).waitFor();
  await look();
  await page.getByRole('link', { name: 'All jobs' }).press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).press('Enter');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.deepEqual(new Set(widths), new Set([320]), 'only tables and output scroll sideways');
});

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, runCommand } from '../../../scripts/vscode/workbench.ts';
import { Scratch } from '../../service/commandLine.ts';
import { Browser } from '../../service/support/formBrowser.ts';
import { freePort } from '../../service/support/freePort.ts';
import { CLIENT_ID, TestProvider } from '../../service/support/identityProvider.ts';
import { screenshotOfFailure } from '../support/failure.ts';

suite('signing in with an identity provider', () => {
  const cleanups: (() => unknown)[] = [];
  let window: Window;
  let provider: TestProvider;
  let url: string;

  before(async () => {
    const scratch = await Scratch.create();
    cleanups.push(() => scratch[Symbol.asyncDispose]());
    provider = await TestProvider.start(
      { after: (end) => void cleanups.unshift(end as () => unknown) },
      { ada: { groups: ['staff'] } },
    );
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const config = join(scratch.root, 'service.json');
    const oidc = { issuer: provider.issuer, client_id: CLIENT_ID, audience: url, rules: [{ credits: 77 }] };
    await writeFile(config, JSON.stringify({ process: { isolation: 'none' }, oidc }), { mode: 0o600 });
    await scratch.serve(['--config', config, '--port', String(port)]);
    window = await openWindow({ name: 'signing in with an identity provider', prepare: async () => {} });
  });
  after(async () => {
    await window[Symbol.asyncDispose]();
    for (const end of cleanups) await end();
  });
  afterEach((t) => screenshotOfFailure(window.page, t));

  test('a code that is confirmed in a browser signs in, and signing out ends that at the provider', async () => {
    const { page } = window;
    await runCommand(page, 'Farwharf: Select Host');
    await choose(page, 'Connect a Service');
    await page.locator('.quick-input-widget', { hasText: 'Connect a service' }).waitFor();
    await page.locator('.quick-input-widget input.input').fill(url);
    await page.keyboard.press('Enter');
    await choose(page, `Sign in with ${new URL(provider.issuer).host}`);
    const dialog = page.locator('.monaco-dialog-box', { hasText: 'Enter the code' });
    await dialog.waitFor();
    const code = /\b[A-Z]{4}-[A-Z]{4}\b/.exec(await dialog.innerText())?.[0];
    assert.ok(code !== undefined, await dialog.innerText());
    await page.keyboard.press('Escape');
    await new Browser().signIn(`${provider.issuer}/device?user_code=${code}`, 'ada');
    await page.locator('.statusbar-item', { hasText: '77' }).first().waitFor();

    await runCommand(page, 'Farwharf: Sign Out');
    await page.locator('.statusbar-item', { hasText: 'Sign In' }).first().waitFor();
    assert.ok(provider.requests.some((path) => path.startsWith('/token/revocation')));
  });
});

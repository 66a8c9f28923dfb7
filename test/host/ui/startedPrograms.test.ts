import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Locator } from 'playwright-core';
import { EVIDENCE } from '../../../scripts/vscode/evidence.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  choose,
  closeAllEditors,
  followLink,
  openFile,
  reloadWorkbench,
  runCommand,
  typeIntoList,
  showNotification,
  WAIT_TIMEOUT_MS,
  webviewOf,
} from '../../../scripts/vscode/workbench.ts';
import { code, notebook, notebooksAreMissing } from '../../service/support/notebooks.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const missing = await notebooksAreMissing();
// The debugger that Debian has belongs to its own Python.
const DEBIAN_PYTHON = '/usr/bin/python3';
const hasDebugpy = spawnSync(DEBIAN_PYTHON, ['-c', 'import debugpy']).status === 0;

// A picture without a library: two colours that meet along a curve.
const DRAW = `import math, struct, zlib
from IPython.display import Image
def chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
def draw(waves, width=360, height=90):
    rows = b''.join(
        b'\\0' + b''.join(
            b'\\x30\\x70\\xc0' if y > height * (0.5 + 0.4 * math.sin(x * waves / 57)) else b'\\xf0\\xf0\\xf4' for x in range(width)
        ) for y in range(height))
    header = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    return Image(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))`;
const PLOTS = [
  'print("first of ten")',
  DRAW,
  'draw(1)',
  code('total = 0\n1 / total', ['raises-exception']),
  'draw(4)',
  'print("edited meanwhile")',
  '[i * i for i in range(5)]',
  'print("eight")',
  'draw(9)',
  'import time\nprint("until it is cancelled")\ntime.sleep(600)',
];
const RATE = `def look_up(table, name):
    # The table may lack it.
    rate = table[name]
    return rate

print(look_up({'momentum': 0.9}, 'lr'))
`;
const DEBUG = {
  type: 'farwharf',
  request: 'launch',
  name: 'rate',
  command: [DEBIAN_PYTHON, 'rate.py'],
  holdMinutes: 20,
};
const NODE_RATE = `function lookUp(table, name) {
  // The table may lack it.
  const rate = table[name].value;
  return rate;
}
console.log(lookUp({ momentum: 0.9 }, 'lr'));
`;
const NODE_DEBUG = {
  type: 'farwharf',
  request: 'launch',
  name: 'rate of Node.js',
  script: 'rate.mjs',
  holdMinutes: 20,
};
const RATES = [2, 3, 5];
const SCORED = [
  code('rate = 0', ['parameters']),
  'import json\nprint("farwharf:metric", json.dumps({"score": 10 * rate}))',
  'print(rate, "of 10")',
];
/** Waits for a file beside the folder. */
const WAIT = `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
while (!existsSync('GATE')) await sleep(50);
`;
/** Serves a page that says what it sends and gets back over a WebSocket (RFC 6455), until there is a file beside the folder. */
const PAGE_SERVER = `import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
const page = \`<!doctype html><title>Job</title><p id="echo"></p><script>
  const address = new URL('echo', location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  const socket = new WebSocket(address);
  socket.onopen = () => socket.send('hello');
  socket.onmessage = ({ data }) => { document.getElementById('echo').textContent = location.search + ' ' + data; };
</script>\`;
const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page));
server.on('upgrade', ({ headers }, socket) => {
  const accept = createHash('sha1').update(headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write(['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Accept: ' + accept, '', ''].join('\\r\\n'));
  socket.on('data', (frame) => {
    const text = 'echo of ' + Buffer.from(frame.subarray(6, 11).map((byte, index) => byte ^ frame[2 + (index % 4)]));
    socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]));
  });
  socket.on('error', () => {});
});
server.listen(0, '127.0.0.1', () => console.log('open http://localhost:' + server.address().port + '/page?of=job'));
while (!existsSync('GATE')) await sleep(50);
server.close();
server.closeAllConnections();
await sleep(600_000);
`;
// Whatever the machine has: one that no other test has.
const SERVICE = `[process]\ngpus = ["${randomUUID()}"]\n${['cpu', 'gpu'].map((name) => `[[machine_classes]]\nname = "${name}"\ngpus = ${Number(name === 'gpu')}\n`).join('')}`;
const PROFILES = {
  holder: { script: 'holder.mjs', machineClass: 'gpu' },
  waiter: { script: 'waiter.mjs', machineClass: 'gpu' },
  rates: { script: 'rates.ipynb', parameters: { rate: '${matrix:rate}' }, matrix: { rate: RATES } },
};

suite('what a job runs besides scripts', () => {
  let window: Window;
  let folder = '';
  let gate: (name: string) => string;

  before(async () => {
    window = await openWindow({
      name: 'programs',
      settings: { 'workbench.editorAssociations': { '*.ipynb': 'jupyter-notebook' } },
      prepare: async (path, scratch) => {
        folder = path;
        gate = (name) => join(scratch, name);
        await mkdir(path, { recursive: true });
        await mkdir(join(scratch, 'home'), { mode: 0o700 });
        await writeFile(join(scratch, 'home', 'service.toml'), SERVICE, { mode: 0o600 });
        for (const name of ['holder', 'waiter'])
          await writeFile(join(path, `${name}.mjs`), WAIT.replace("'GATE'", JSON.stringify(gate('gpu'))));
        await writeFile(join(path, 'serve.mjs'), PAGE_SERVER.replace("'GATE'", JSON.stringify(gate('served'))));
        const untilGate = (name: string) =>
          `import os, time\nwhile not os.path.exists(${JSON.stringify(gate(name))}):\n    time.sleep(0.05)\nprint(${JSON.stringify(name)})`;
        await writeFile(
          join(path, 'edits.ipynb'),
          notebook(['print("first")', untilGate('second'), 'print("deleted")', untilGate('last')]),
        );
        await writeFile(join(path, 'rate.py'), RATE);
        await writeFile(join(path, 'rate.mjs'), NODE_RATE);
        await mkdir(join(path, '.vscode'));
        await writeFile(join(path, '.vscode', 'launch.json'), JSON.stringify({ configurations: [DEBUG, NODE_DEBUG] }));
        await writeFile(join(path, 'names.txt'), 'ada\nben\ncy\n');
        await writeFile(join(path, 'plots.ipynb'), notebook(PLOTS));
        await writeFile(join(path, 'rates.ipynb'), notebook(SCORED));
        await writeFile(join(path, 'farwharf.json'), JSON.stringify({ profiles: PROFILES }));
        await writeFile(join(path, 'analysis.ipynb'), notebook(['print("one")', '[i * i for i in range(5)]', '1 / 0']));
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  beforeEach(() => closeAllEditors(window.page));
  afterEach((t) => screenshotOfFailure(window.page, t));

  const list = (text: string): Locator => window.page.locator('.quick-input-widget', { hasText: text });
  const job = (name: string): Locator =>
    window.page.locator('.part.sidebar .monaco-list-row', { hasText: name }).first();
  const log = (text: string): Locator => window.page.locator('.part.panel .view-line', { hasText: text }).first();

  test('a command is typed with completed paths, and what only a shell understands is refused', async () => {
    const { page } = window;
    await typeIntoList(page, 'Farwharf: Submit Workspace', '', 'Run a command…'); // what else starts may close the list
    await choose(page, 'Run a command…');
    await list('Submit programs: command').waitFor();
    const input = page.locator('.quick-input-widget input.input');
    await input.fill('sort names.txt | head');
    await list('sh -c').waitFor();
    await input.fill('sort -r na');
    await list('complete the path').waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'command-completion.png') });
    await choose(page, 'complete the path');
    while ((await input.inputValue()) !== 'sort -r names.txt ') await sleep(50);
    await choose(page, 'run this command');
    await list('Submit sort -r names.txt').waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'command-question.png') });
    await choose(page, 'Submit sort -r names.txt');
    await runCommand(page, 'View: Show Farwharf');
    await job('sort -r names.txt').filter({ hasText: 'succeeded' }).waitFor();
    await log('cy').waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'command-job.png') });
    await runCommand(page, 'Farwharf: Submit Workspace');
    await list('Submit sort -r names.txt').waitFor(); // as the last time
    await page.keyboard.press('Escape');
  });

  test('a notebook is submitted from its toolbar, and comes home with its outputs and the cell that failed', {
    skip: missing === undefined ? false : `LOUD: ${missing}`,
  }, async () => {
    const { page } = window;
    await openFile(page, 'analysis.ipynb');
    await page.locator('.notebook-toolbar-container').getByRole('button', { name: 'Submit This File' }).click();
    await choose(page, 'Submit analysis.ipynb');
    await runCommand(page, 'View: Show Farwharf');
    const row = job('analysis.ipynb');
    await row.filter({ hasText: 'cell 3 of 3 of analysis.ipynb failed' }).waitFor();
    await log('[0, 1, 4, 9, 16]').waitFor();
    // The row may still move to another group.
    await typeIntoList(page, 'Farwharf: Download Results', 'analysis', 'analysis.ipynb');
    await page.keyboard.press('Enter');
    await list('merge: put the outputs of the job into your notebook').getByRole('button', { name: 'OK' }).click();
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'analysis.ipynb' }).waitFor();
    await runCommand(page, 'View: Show Farwharf');
    await row.filter({ hasText: 'results downloaded' }).waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'notebook-results.png') });
    const { cells } = JSON.parse(await readFile(join(folder, 'analysis.ipynb'), 'utf8')) as {
      cells: { outputs: { output_type: string }[] }[];
    };
    assert.deepEqual(
      cells.map(({ outputs }) => outputs.map((output) => output.output_type)),
      [['stream'], ['execute_result'], ['error']],
    );
  });

  test('the outputs of a running notebook arrive in the open editor, where its cells say how far it is', {
    skip: missing === undefined ? false : `LOUD: ${missing}`,
  }, async () => {
    const { page } = window;
    await openFile(page, 'plots.ipynb');
    await page.locator('.notebook-toolbar-container').getByRole('button', { name: 'Submit This File' }).click();
    await choose(page, 'Submit plots.ipynb');
    await log('until it is cancelled').waitFor();
    const picture = ['image/png,text/plain'];
    const expected = [
      ['first of ten\n'],
      [],
      picture,
      ['error'],
      picture,
      ['edited meanwhile\n'],
      ['text/plain'],
      ['eight\n'],
      picture,
    ];
    await untilSaved('plots.ipynb', expected); // the last cell still runs
    const place = page.locator('.statusbar-item', { hasText: 'of 10' });
    await place.filter({ hasText: 'Cell 1 of 10' }).waitFor();
    const trace = log('[4], line 2');
    await log('until it is cancelled').hover();
    while (!(await trace.isVisible())) {
      await page.mouse.wheel(0, -60);
      await sleep(100);
    }
    await followLink(page, trace.locator('.detected-link').first(), place.filter({ hasText: 'Cell 4 of 10' }));
    await page.screenshot({ path: join(EVIDENCE, 'notebook-traceback.png') });
    await runCommand(page, 'View: Hide Panel');
    await page.locator('.part.panel').waitFor({ state: 'hidden' });
    const states = page.locator('.cell-status-left .cell-status-item');
    await states.filter({ hasText: 'ran on this machine' }).first().waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'notebook-live.png') });
  });

  test('a notebook that is edited and closed while outputs arrive keeps the edit, and gets the rest when it is opened again', {
    skip: missing === undefined ? false : `LOUD: ${missing}`,
  }, async () => {
    const { page } = window;
    await openFile(page, 'edits.ipynb');
    await page.locator('.notebook-toolbar-container').getByRole('button', { name: 'Submit This File' }).click();
    await choose(page, 'Submit edits.ipynb');
    const states = page.locator('.cell-status-left .cell-status-item');
    await states.filter({ hasText: 'queued on this machine' }).first().waitFor();
    const place = page.locator('.statusbar-item', { hasText: 'Cell' });
    await page.locator('.notebookOverlay .view-line', { hasText: 'deleted' }).click();
    await place.filter({ hasText: 'Cell 3 of 4' }).waitFor();
    await page.keyboard.press('Escape');
    await runCommand(page, 'Notebook: Delete Cell');
    await place.filter({ hasText: 'of 3' }).waitFor();
    await writeFile(gate('second'), '');
    await untilSaved('edits.ipynb', [['first\n'], ['second\n'], []]);
    await closeAllEditors(page);
    await writeFile(gate('last'), '');
    await runCommand(page, 'View: Show Farwharf');
    await job('edits.ipynb').filter({ hasText: 'succeeded' }).waitFor();
    await openFile(page, 'edits.ipynb');
    await untilSaved('edits.ipynb', [['first\n'], ['second\n'], ['last\n']]);
    assert.equal(await page.locator('.notification-list-item', { hasText: /error/i }).count(), 0);
  });

  test('a job waits for the GPU that another one has, says so, and starts once that is free', async () => {
    const { page } = window;
    await runCommand(page, 'View: Show Farwharf');
    for (const [name, state] of [
      ['holder', 'running'],
      ['waiter', 'waits for 1 GPU'],
    ] as const) {
      await typeIntoList(page, 'Farwharf: Submit Profile', name, name);
      await page.keyboard.press('Enter');
      await list(`Submit ${name}.mjs`).waitFor();
      await choose(page, `Submit ${name}.mjs`);
      await job(`${name}.mjs`).filter({ hasText: state }).waitFor();
    }
    const waiting = /waits for 1 GPU: 1 of 1 in use, the first free by \d\d?:\d\d/;
    await job('waiter.mjs').filter({ hasText: waiting }).waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'gpu-queue.png') });
    await writeFile(gate('gpu'), '');
    await job('waiter.mjs').filter({ hasText: 'succeeded' }).waitFor();
  });

  test('a page that a job serves is offered, opened beside and from the log, and gone with its port', async () => {
    const { page } = window;
    await openFile(page, 'serve.mjs');
    await typeIntoList(page, 'Farwharf: Submit This File', '', 'Submit serve.mjs');
    await choose(page, 'Submit serve.mjs');
    const offer = page.locator('.statusbar-item', { hasText: /serve\.mjs on \d+$/ });
    await offer.click();
    await list('Open in Browser').waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'ports-offer.png') });
    await choose(page, 'Open Beside');
    const echo = 'p:has-text("of=job"):has-text("echo of hello")';
    const isShown = async (): Promise<boolean> => {
      const counts = page.frames().map((frame) =>
        frame
          .locator(echo)
          .count()
          .catch(() => 0),
      ); // a frame may go meanwhile
      return (await Promise.all(counts)).some((count) => count > 0);
    };
    while (!(await isShown())) await sleep(50);
    await page.screenshot({ path: join(EVIDENCE, 'ports-beside.png') });

    const opening = page.context().waitForEvent('page');
    await followLink(page, log('open http').locator('.detected-link').first(), offer); // which opens a page of its own
    const browser = await opening;
    await browser.locator(echo).waitFor();
    await browser.close();

    await writeFile(gate('served'), '');
    await offer.waitFor({ state: 'hidden' });
    await typeIntoList(page, 'Farwharf: Cancel Job', 'serve', 'serve.mjs');
    await page.keyboard.press('Enter');
    await runCommand(page, 'View: Show Farwharf');
    await job('serve.mjs').filter({ hasText: 'cancelled' }).waitFor();
  });

  test('a notebook is swept over three values of its parameter, and each copy comes home', {
    skip: missing === undefined ? false : `LOUD: ${missing}`,
  }, async () => {
    const { page } = window;
    await typeIntoList(page, 'Farwharf: Submit Profile', 'rates', 'rates');
    await page.keyboard.press('Enter');
    const question = page.locator('.monaco-dialog-box', { hasText: 'Submit 3 jobs of rates' });
    await question.getByRole('button', { name: 'Submit' }).click();
    const row = (rate: number): Locator =>
      webviewOf(page).getByRole('row', { name: new RegExp(`^${rate} ${10 * rate} succeeded `) });
    for (const rate of RATES) await row(rate).waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'notebook-sweep.png') });
    const download = webviewOf(page).getByRole('button', { name: 'Download Results' });
    await download.click();
    await download.waitFor({ state: 'hidden' });
    for (const [index, rate] of RATES.entries()) {
      const outputs = await savedOutputs(`rates/${index + 1}-rate=${rate}/rates.ipynb`);
      assert.deepEqual(outputs.at(-1), [`${rate} of 10\n`]);
    }
  });

  /** Saves the open notebook until its first cells show this. */
  async function untilSaved(path: string, expected: readonly (readonly string[])[]): Promise<void> {
    let shown: readonly (readonly string[])[] = [];
    const deadline = Date.now() + WAIT_TIMEOUT_MS;
    while (!isDeepStrictEqual(shown.slice(0, expected.length), expected)) {
      assert.ok(Date.now() < deadline, `the outputs do not arrive in the notebook: ${JSON.stringify(shown)}`);
      await runCommand(window.page, 'File: Save'); // each output that arrives changes the notebook again
      shown = await savedOutputs(path).catch(() => []); // the file may be half written
    }
  }
  test('a Python job is debugged, waits where it fails, and is shown in the edited file after a reload', {
    skip: hasDebugpy ? false : 'LOUD: /usr/bin/python3 has no debugpy (Debian: apt-get install python3-debugpy)',
  }, async () => {
    const { page } = window;
    await openFile(page, 'rate.py');
    await page.locator('.monaco-editor .view-line', { hasText: 'rate = table' }).click();
    await runCommand(page, 'Debug: Toggle Breakpoint');
    await page.locator('.codicon-debug-breakpoint').first().waitFor();
    await page.keyboard.press('F5');
    await list('Waits up to 20 min for a debugger where it fails').waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'debug-preflight.png') });
    await choose(page, `Submit ${DEBIAN_PYTHON} rate.py`);
    await frame('rate.py', '3:').waitFor();
    await shownVariable(/name\s*=\s*'lr'/);
    await page.locator('.debug-top-stack-frame-line').first().waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'debug-breakpoint.png') });
    await runCommand(page, 'Debug: Continue');
    await page.locator('.exception-widget', { hasText: 'KeyError' }).waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'debug-failure.png') });
    await runCommand(page, 'Debug: Disconnect');
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
    await runCommand(page, 'View: Show Farwharf');
    await job('rate.py').filter({ hasText: "waits at rate.py:3: KeyError 'lr'" }).waitFor();
    await page.screenshot({ path: join(EVIDENCE, 'debug-waits.png') });

    await writeFile(join(folder, 'rate.py'), `# A first line that is new.\n${RATE.replace("'lr'", "'rate'")}`);
    await reloadWorkbench(page);
    const offer = await showNotification(page, "rate.py waits at rate.py:3: KeyError 'lr'");
    await page.screenshot({ path: join(EVIDENCE, 'debug-offer.png') });
    await offer.getByRole('button', { name: 'Attach' }).click();
    await page.locator('.exception-widget', { hasText: 'KeyError' }).waitFor();
    await runCommand(page, 'View: Show Run and Debug');
    await frame('rate.py', '4:').waitFor();
    await shownVariable(/name\s*=\s*'lr'/);
    await page.screenshot({ path: join(EVIDENCE, 'debug-attached.png') });
    await runCommand(page, 'Farwharf: Give Up Debugging');
    await choose(page, 'rate.py');
    await runCommand(page, 'View: Show Farwharf');
    await job('rate.py').filter({ hasText: 'exit 1' }).waitFor();
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
    await page.screenshot({ path: join(EVIDENCE, 'debug-failed.png') });
  });

  test('a Node.js job is debugged, waits where it fails, and is shown in the edited file', async () => {
    const { page } = window;
    await openFile(page, 'rate.mjs');
    await page.locator('.monaco-editor .view-line', { hasText: 'const rate = table' }).click();
    await runCommand(page, 'Debug: Toggle Breakpoint');
    await page.locator('.monaco-editor .codicon-debug-breakpoint').first().waitFor();
    await typeIntoList(page, 'Debug: Select and Start Debugging', 'debug rate of', NODE_DEBUG.name);
    await page.keyboard.press('Enter');
    await choose(page, 'Submit rate.mjs');
    await frame('rate.mjs', '3:16').waitFor();
    await shownVariable(/name\s*=\s*'lr'/);
    await runCommand(page, 'Debug: Continue');
    await frame('rate.mjs', '3:28').waitFor(); // where it fails
    await page.screenshot({ path: join(EVIDENCE, 'debug-node-failure.png') });
    await writeFile(join(folder, 'rate.mjs'), `// A first line that is new.\n${NODE_RATE.replace("'lr'", "'rate'")}`);
    await runCommand(page, 'Debug: Disconnect');
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
    await runCommand(page, 'View: Show Farwharf');
    await job('rate.mjs').filter({ hasText: 'waits at rate.mjs:3: TypeError' }).waitFor();
    await typeIntoList(page, 'Farwharf: Attach Debugger', 'rate', 'rate.mjs');
    await page.keyboard.press('Enter');
    await runCommand(page, 'View: Show Run and Debug');
    await frame('rate.mjs', '4:').waitFor();
    await shownVariable(/name\s*=\s*'lr'/);
    await page.screenshot({ path: join(EVIDENCE, 'debug-node-attached.png') });
    await runCommand(page, 'Farwharf: Give Up Debugging');
    await choose(page, 'rate.mjs');
    await runCommand(page, 'View: Show Farwharf');
    await job('rate.mjs').filter({ hasText: 'exit 1' }).waitFor();
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  });

  function frame(file: string, place: string): Locator {
    const rows = window.page.locator('.debug-call-stack .monaco-list-row', { hasText: file });
    return rows.filter({ hasText: place }).first();
  }

  /** Waits for a variable of the function that is shown. */
  async function shownVariable(text: RegExp): Promise<void> {
    const rows = window.page.locator('.debug-viewlet .monaco-list-row');
    const locals = rows.filter({ hasText: /^Local/ }).first();
    await locals.waitFor();
    if ((await locals.getAttribute('aria-expanded')) === 'false') await locals.click();
    await rows.filter({ hasText: text }).first().waitFor();
  }

  /** What each cell of a notebook in the folder shows: the texts that it printed, and the types of its other outputs. */
  async function savedOutputs(path: string): Promise<readonly (readonly string[])[]> {
    const { cells } = JSON.parse(await readFile(join(folder, path), 'utf8')) as {
      cells: { outputs: { output_type: string; data?: object; text?: string | readonly string[] }[] }[];
    };
    return cells.map(({ outputs }) =>
      outputs.map(
        ({ output_type: type, data, text }) =>
          (text && [text].flat().join('')) ?? (data && Object.keys(data).join()) ?? type,
      ),
    );
  }
});

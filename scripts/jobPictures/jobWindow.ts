import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { AsyncDisposableStore } from '../../src/core/processes/lifetime.ts';
import { Scratch, type SignalledService } from '../../test/service/commandLine.ts';
import { PICTURE_SETTINGS } from '../picture.ts';
import { openWindow } from '../vscode/window.ts';
import { choose, runCommand } from '../vscode/workbench.ts';
import { writeTrainingFolder } from './trainingFolder.ts';

const SIZE = { width: 1280, height: 800 };
// The zoom of a window halves what fits into it.
const ZOOMED = { width: SIZE.width / 2, height: SIZE.height / 2 };
const NARROW = 200;
const WIDE = 320;
const SETTLE_MS = 900; // animations and hovers of the last click, and layouts after a new size
const ACCOUNT = 'ada';
const CONFIG = {
  process: { isolation: 'none', max_jobs: 4 }, // jobs wait for a file beside the window's folder
  machine_classes: [
    { name: 'small', credits_per_minute: 0.5, cpus: 2, memory_gb: 4, description: '2 cores' },
    { name: 'a10g', credits_per_minute: 4, cpus: 8, memory_gb: 32, gpus: 1, description: '8 cores, one GPU' },
  ],
};

interface JobWindowOptions {
  readonly theme: string;
  /** How the names of the pictures start. */
  readonly kind: string;
  /** The folder of the pictures. */
  readonly to: string;
}

/** A window on a folder of scripts, signed in to a service of its own, that takes pictures. */
export class JobWindow implements AsyncDisposable {
  readonly page: Page;
  readonly folder: string;
  readonly gate: string;
  readonly service: SignalledService;
  /** The API key of the account. */
  key = '';
  readonly #scratch: Scratch;
  readonly #options: JobWindowOptions;
  readonly #resources: AsyncDisposableStore;

  private constructor(
    parts: Pick<JobWindow, 'page' | 'folder' | 'gate' | 'service'>,
    scratch: Scratch,
    options: JobWindowOptions,
    resources: AsyncDisposableStore,
  ) {
    ({ page: this.page, folder: this.folder, gate: this.gate, service: this.service } = parts);
    this.#scratch = scratch;
    this.#options = options;
    this.#resources = resources;
  }

  static async open(options: JobWindowOptions): Promise<JobWindow> {
    await mkdir(options.to, { recursive: true });
    await using resources = new AsyncDisposableStore();
    const scratch = resources.use(await Scratch.create());
    const config = join(scratch.root, 'service.json');
    await writeFile(config, JSON.stringify(CONFIG));
    const service = await scratch.serveAsProcess(['--config', config]);
    let [folder, gate] = ['', ''];
    const { page } = resources.use(
      await openWindow({
        name: 'digits',
        settings: { ...PICTURE_SETTINGS, 'workbench.colorTheme': options.theme, 'farwharf.machineClass': 'small' },
        prepare: async (path, place) => {
          [folder, gate] = [path, join(place, 'gate')];
          await writeTrainingFolder(path, gate);
        },
      }),
    );
    await page.setViewportSize(SIZE);
    const window = new JobWindow({ page, folder, gate, service }, scratch, options, resources.move());
    await window.#admin('account', 'add', ACCOUNT, '--credits', '312');
    await window.renewKey();
    return window;
  }

  /** A picture of the window as it is. */
  async picture(name: string): Promise<void> {
    const path = join(this.#options.to, `${this.#options.kind}-${name}.png`);
    await this.page.waitForTimeout(SETTLE_MS);
    await this.page.screenshot({ path });
    process.stdout.write(`${path}\n`);
  }

  /** Three pictures: as the window is, with a side bar of 200 px, and at a zoom of 200 %. */
  async pictures(name: string): Promise<void> {
    await this.picture(name);
    await this.#widenSideBar(NARROW);
    await this.picture(`${name}-200px`);
    await this.page.setViewportSize(ZOOMED);
    await this.picture(`${name}-zoom`);
    await this.page.setViewportSize(SIZE);
    await this.#widenSideBar(WIDE);
  }

  async #widenSideBar(width: number): Promise<void> {
    await this.page.mouse.move(SIZE.width - 200, 300); // a hover would be in the way
    const box = await this.page.locator('.part.sidebar').boundingBox();
    if (box === null) return;
    const y = box.y + box.height / 2;
    await this.page.mouse.move(box.x + box.width, y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + width, y, { steps: 5 });
    await this.page.mouse.up();
    await this.page.mouse.move(box.x + width + 300, y + 100);
  }

  /** The row of a job with these texts. */
  row(script: string, text: string | RegExp = ''): Locator {
    const rows = this.page.locator('.part.sidebar .monaco-list-row', { hasText: script });
    return rows.filter({ hasText: text }).first();
  }

  logLine(text: string | RegExp): Locator {
    return this.page.locator('.part.panel .view-line', { hasText: text }).first();
  }

  list(text: string | RegExp): Locator {
    return this.page.locator('.quick-input-widget', { hasText: text });
  }

  /** The page of a webview, as soon as it shows this text. */
  async webview(text: string | RegExp): Promise<void> {
    const frame = this.page.frameLocator('iframe.webview.ready').last().frameLocator('iframe#active-frame');
    await frame.locator('main', { hasText: text }).waitFor();
  }

  run(command: string): Promise<void> {
    return runCommand(this.page, `Farwharf: ${command}`);
  }

  /** Runs a command on the job that is chosen in a list by a part of its row. */
  async runOn(command: string, job: string): Promise<void> {
    await this.run(command);
    await choose(this.page, job);
  }

  async answer(question: string, text: string): Promise<void> {
    await this.#type(question, text);
    await this.page.keyboard.press('Enter');
  }

  async typeAndChoose(question: string, text: string, row: string | RegExp): Promise<void> {
    await this.#type(question, text);
    await choose(this.page, row);
  }

  async #type(question: string, text: string): Promise<void> {
    await this.list(question).waitFor();
    await this.page.locator('.quick-input-widget input.input').fill(text);
  }

  /** Revokes the keys of the account and makes a new one. */
  async renewKey(): Promise<void> {
    const { keys } = JSON.parse(await this.#admin('key', 'list', ACCOUNT, '--json')) as {
      readonly keys: readonly { readonly key_id: string }[];
    };
    for (const { key_id } of keys) await this.#admin('key', 'revoke', key_id);
    this.key = (await this.#admin('key', 'add', ACCOUNT)).trim();
  }

  /** An administrator's command. Returns what it prints. */
  async #admin(...args: string[]): Promise<string> {
    return (await this.#scratch.run(['admin', ...args, '--data', this.service.data])).stdout;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources[Symbol.asyncDispose]();
  }
}

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as esbuild from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchBrowser } from '../../../scripts/vscode/browser.ts';
import { Unavailable } from '../../../scripts/vscode/unavailable.ts';
import type { ToCanvas } from '../../../src/webview/canvas/state/canvasMessages.ts';
import type { ToJobPage } from '../../../src/webview/jobPage/jobPageMessages.ts';
import type { ToSweepPage } from '../../../src/webview/sweepPage/sweepPageMessages.ts';
import type { FromCanvas } from '../../../src/webview/canvas/state/requests.ts';
import { textsOfPage } from '../../../scripts/localisation.mjs';
import { webviewPage } from '../../../src/extension/ui/webviewPage.ts';
import { THEMES, type ThemeName } from './themes.ts';

const SOURCE = join(import.meta.dirname, '../../../src/webview');
const NONCE = 'x7Gk2';
// Guards against a hang only: a busy machine takes many times as long as a quiet one.
const WAIT_MS = 3 * 60_000;
const POLL_MS = 10;

export interface PageOptions {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly forcedColors?: 'active' | 'none';
  /** Device pixels per CSS pixel: what a window's zoom is to a page. */
  readonly zoom?: number;
}

/** A Chromium and a server with a built webview, the canvas unless named; `page` opens it as VS Code would. */
export class CanvasBench implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #server: Server;
  /** Pages that nobody uses, by their options. A new page takes two thirds of the time of a test. */
  readonly #idle = new Map<string, Page>();

  private constructor(browser: Browser, server: Server) {
    this.#browser = browser;
    this.#server = server;
  }

  /** Undefined, with the reason printed, if there is no Chromium. */
  static async start(
    onUnavailable: (reason: string) => void,
    name: 'canvas' | 'jobPage' | 'sweepPage' = 'canvas',
  ): Promise<CanvasBench | undefined> {
    let chromium: string;
    try {
      chromium = await findChromium(() => {});
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      onUnavailable(error.message);
      return undefined;
    }
    const [script, style] = await Promise.all([bundle(`${name}/main.ts`), bundle(`${name}/${name}.css`)]);
    const server = createServer(({ url = '', headers }, response) => {
      const [type, text] = url.endsWith('.js')
        ? ['text/javascript', script]
        : url.endsWith('.css')
          ? ['text/css', style]
          : [
              'text/html',
              webviewPage({
                title: 'Flow',
                script: 'canvas.js',
                style: 'canvas.css',
                source: `http://${headers.host}`,
                nonce: NONCE,
                language: 'en',
                texts: undefined,
              }),
            ];
      response.writeHead(200, { 'content-type': type }).end(text);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CanvasBench(await launchBrowser(chromium), server);
  }

  /** A page that was just loaded and has nothing stored. Its mouse is in a corner. */
  async page(options: PageOptions = {}): Promise<CanvasPage> {
    const key = JSON.stringify(options);
    const page = this.#idle.get(key) ?? (await this.#newPage(options));
    this.#idle.delete(key);
    const canvas = new CanvasPage(page, async () => {
      await page.evaluate('sessionStorage.clear()');
      await page.mouse.move(0, 0);
      page.removeAllListeners();
      this.#idle.set(key, page);
    });
    page.on('pageerror', (error) => canvas.errors.push(error));
    page.on('console', (line) => {
      if (line.type() === 'error') canvas.errors.push(new Error(line.text()));
    });
    await page.goto(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`);
    await canvas.next('ready');
    return canvas;
  }

  async #newPage({
    theme = 'dark',
    width = 900,
    height = 700,
    forcedColors = 'none',
    zoom = 1,
  }: PageOptions): Promise<Page> {
    const context = await this.#browser.newContext({
      viewport: { width: Math.round(width / zoom), height: Math.round(height / zoom) },
      deviceScaleFactor: zoom,
      reducedMotion: 'reduce',
      forcedColors,
    });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    const { kind, colors } = THEMES[theme];
    await page.addInitScript(
      `(${inPage.toString()})(${JSON.stringify({ kind, colors: { ...colors, 'font-size': '13px', 'font-family': 'system-ui, sans-serif', 'editor-font-family': 'monospace' } })})`,
    );
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** The page, from the side of the extension. */
export class CanvasPage {
  readonly page: Page;
  /** What went wrong in the page, refusals of its content policy among it. */
  readonly errors: Error[] = [];
  readonly #taken = new Map<string, number>();
  /** Gives the page back, to be loaded anew. */
  readonly close: () => Promise<void>;

  constructor(page: Page, close: () => Promise<void>) {
    this.page = page;
    this.close = close;
  }

  async send(...messages: readonly (ToCanvas | ToJobPage | ToSweepPage)[]): Promise<void> {
    await this.page.evaluate(`for (const each of ${JSON.stringify(messages)}) window.postMessage(each)`);
    await this.page.evaluate('new Promise((resolve) => setTimeout(resolve, 0))');
  }

  /** All that the canvas has sent, from the beginning. */
  async sent(): Promise<FromCanvas[]> {
    return this.page.evaluate('window.sent');
  }

  /** The next message of a type, waited for. */
  async next<Type extends FromCanvas['type']>(type: Type): Promise<Extract<FromCanvas, { type: Type }>> {
    // Not with waitForFunction: it evaluates text inside the page, which the page's policy forbids.
    for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
      const found = (await this.sent()).filter((message) => message.type === type)[this.#taken.get(type) ?? 0];
      if (found === undefined) continue;
      this.#taken.set(type, (this.#taken.get(type) ?? 0) + 1);
      return found as Extract<FromCanvas, { type: Type }>;
    }
    throw new Error(`The canvas sent no ${type}.`);
  }
}

async function bundle(file: string): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(SOURCE, file)],
    bundle: true,
    format: 'iife',
    target: 'chrome128',
    write: false,
    plugins: [textsOfPage],
  });
  return outputFiles[0]?.text ?? '';
}

/** What VS Code does to a page before its scripts run. Turned into text: it may use nothing from outside. */
function inPage({ kind, colors }: { readonly kind: string; readonly colors: Readonly<Record<string, string>> }): void {
  const page = globalThis as unknown as {
    sent: unknown[];
    sessionStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void };
    acquireVsCodeApi: () => {
      postMessage(message: unknown): void;
      getState(): unknown;
      setState(state: unknown): void;
    };
    document: {
      documentElement: { style: { setProperty(name: string, value: string): void } };
      body: { classList: { add(name: string): void } };
      addEventListener(type: string, listener: () => void): void;
    };
  };
  page.sent = [];
  page.acquireVsCodeApi = () => ({
    postMessage: (message) => void page.sent.push(structuredClone(message)),
    getState: (): unknown => JSON.parse(page.sessionStorage.getItem('state') ?? 'null') ?? undefined,
    setState: (state) => page.sessionStorage.setItem('state', JSON.stringify(state)),
  });
  page.document.addEventListener('DOMContentLoaded', () => {
    page.document.body.classList.add(kind);
    for (const [name, value] of Object.entries(colors))
      page.document.documentElement.style.setProperty(`--vscode-${name}`, value);
  });
}

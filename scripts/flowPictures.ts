import { execFileSync } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { PICTURE_SETTINGS, takePicture } from './picture.ts';
import { temporaryExamples } from './trackedFiles.ts';
import { openWindow, type Window } from './vscode/window.ts';
import { choose, openFile, runCommand, webviewOf } from './vscode/workbench.ts';

const AGENTS = join(temporaryExamples(), 'agents');
const TRACES = resolve(import.meta.dirname, '..', 'test', 'fixtures', 'traces');
const RUN_TIMEOUT_MS = 60_000;
// The example is part of this project, whose packages it finds there; the editor looks for them in the folder that is opened.
const SETTINGS = { ...PICTURE_SETTINGS, 'typescript.validate.enable': false };

/** Runs the research agent with its canvas beside the source, and steps back in the run. */
export async function takeFlowPictures(kind: string, theme: string): Promise<void> {
  await using window = await openWindow({
    name: 'agents',
    settings: { ...SETTINGS, 'workbench.colorTheme': theme },
    prepare: (folder) => cp(AGENTS, join(folder), { recursive: true }),
  });
  const { page } = window;
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'research.mts' }).dblclick();
  await page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click({ timeout: RUN_TIMEOUT_MS });
  await choose(page, 'Research');
  const canvas = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  await canvas.locator('.node').first().waitFor();
  await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
  await canvas.getByRole('button', { name: 'Run' }).first().click();
  await canvas.locator('.timeline .summary', { hasText: 'Done' }).waitFor({ timeout: RUN_TIMEOUT_MS });
  await canvas.getByRole('button', { name: /Step back/ }).click();
  await canvas.getByRole('button', { name: /Step back/ }).click();
  await takePicture(page, `flow-${kind}`);
}

type TakePicture = (page: Page) => Promise<void>;

const ASKING = `import * as z from 'zod';
import { Flow, Node, pause } from 'farwharf/agents';

/** Asks the editor in charge. */
class Review extends Node {
  post() {
    return pause({ question: 'Publish "Harbours of the north" on the front page?', choices: ['Publish', 'Rewrite', 'Not now'] });
  }
  answer(_shared, input) {
    return input === 'Publish' ? 'publish' : 'rewrite';
  }
}

/** Asks how many copies are printed. */
class Print extends Node {
  post() {
    return pause({ question: 'How many copies?', input: z.int().min(1).max(500) });
  }
  answer(shared, input) {
    shared.copies = input;
  }
}

/** Writes the article again. */
class Rewrite extends Node {}

const [review, print, rewrite] = [new Review(), new Print(), new Rewrite()];
export const publish = new Flow({ start: review, name: 'Publish' })
  .connect(review, print, 'publish')
  .connect(review, rewrite, 'rewrite')
  .connect(rewrite, review)
  .connect(print, null);
`;

/** A window with the canvas of a flow beside its source. */
async function openFlow(theme: string, files: Readonly<Record<string, string>>, shown: string): Promise<Window> {
  const window = await openWindow({
    name: 'flows',
    settings: { ...SETTINGS, 'workbench.colorTheme': theme, 'farwharf.confirmSubmit': 'never' },
    prepare: async (folder) => {
      await mkdir(folder, { recursive: true });
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    },
  });
  const { page } = window;
  await openFile(page, shown);
  await page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click({ timeout: RUN_TIMEOUT_MS });
  await webviewOf(page).locator('.node').first().waitFor();
  return window;
}

/** A run that waits: its question on the canvas, a wrong answer, and the question of a job in the Jobs view. */
export async function takeWaitingFlow(theme: string, take: TakePicture): Promise<void> {
  await using window = await openFlow(theme, { 'publish.mts': ASKING }, 'publish.mts');
  const { page } = window;
  const canvas = webviewOf(page);
  const card = canvas.getByRole('form', { name: 'Question of the run' });
  await canvas.getByRole('button', { name: 'Run', exact: true }).click();
  await card.getByRole('button', { name: 'Publish', exact: true }).waitFor();
  await take(page);
  await card.getByRole('button', { name: 'Publish', exact: true }).click();
  await card.getByRole('textbox').fill('900');
  await page.keyboard.press('Enter');
  await card.getByText('must be at most').waitFor();
  await take(page);
  await canvas.getByRole('button', { name: 'Submit as job' }).click();
  await runCommand(page, 'View: Show Farwharf');
  await page.locator('.part.sidebar .monaco-list-row', { hasText: 'waits for an answer' }).first().hover();
  await take(page);
}

/** One node of a run, run again with an edited input. */
export async function takeNodeRunAgain(theme: string, take: TakePicture): Promise<void> {
  await using window = await openWindow({
    name: 'agents',
    settings: { ...SETTINGS, 'workbench.colorTheme': theme },
    prepare: (folder) => cp(AGENTS, folder, { recursive: true }),
  });
  const { page } = window;
  const canvas = webviewOf(page);
  await openFile(page, 'research.mts');
  await page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click({ timeout: RUN_TIMEOUT_MS });
  await choose(page, 'Research');
  await canvas.locator('.node').first().waitFor();
  await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
  await canvas.getByRole('button', { name: 'Run' }).first().click();
  await canvas.locator('.timeline .summary', { hasText: 'Done' }).waitFor({ timeout: RUN_TIMEOUT_MS });
  await canvas.locator('.node[data-path="write"]').click();
  await page.keyboard.press('i');
  const field = canvas.getByRole('textbox', { name: 'Shared state before the node' });
  await field.fill((await field.inputValue()).replace(/"notes": \[/, '"notes": ["a note of my own", '));
  await page.keyboard.press('Control+Enter');
  await canvas.getByRole('region', { name: 'Now' }).waitFor();
  await take(page);
}

const ASKING_BEFORE = ASKING.replace(/\n\/\*\* Asks how many[\s\S]*?\n}\n/, '\nclass Publish extends Node {}\n')
  .replace(
    '[review, print, rewrite] = [new Review(), new Print(), new Rewrite()]',
    '[review, put, rewrite] = [new Review(), new Publish(), new Rewrite()]',
  )
  .replace("connect(review, print, 'publish')", "connect(review, put, 'publish')")
  .replace('connect(print, null)', 'connect(put, null)')
  .replace("'rewrite';", "'again';");

/** What changed in a flow since a commit. */
export async function takeFlowVersions(theme: string, take: TakePicture): Promise<void> {
  await using window = await openWindow({
    name: 'flows',
    settings: { ...SETTINGS, 'workbench.colorTheme': theme },
    prepare: async (folder) => {
      const git = (...argv: string[]): void =>
        void execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...argv], { cwd: folder });
      await mkdir(folder, { recursive: true });
      git('init', '-q');
      await writeFile(join(folder, 'publish.mts'), ASKING_BEFORE);
      git('add', '.');
      git('commit', '-qm', 'Publish without counting');
      await writeFile(join(folder, 'publish.mts'), ASKING);
    },
  });
  const { page } = window;
  const canvas = webviewOf(page);
  await openFile(page, 'publish.mts');
  await page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click({ timeout: RUN_TIMEOUT_MS });
  await canvas.locator('.node').first().waitFor();
  await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
  await canvas.locator('.surface').focus();
  await page.keyboard.press('v'); // a narrow canvas has its button in a menu
  await choose(page, 'Publish without counting');
  await canvas.locator('.change-flag').first().waitFor();
  await canvas.locator('.surface').focus();
  await page.keyboard.press('d');
  await page.keyboard.press('d');
  await take(page);
}

/** The source of a flow of 40 nodes with branches and loops, as a large agent has. */
function largeFlow(): string {
  const words = ['Plan', 'Search', 'Read', 'Compare', 'Summarize', 'Check', 'Rewrite', 'Translate'];
  const names = Array.from(
    { length: 40 },
    (_, index) =>
      `${words[index % words.length]}${['Sources', 'Harbours', 'Notes', 'Claims', 'Tables'][index % 5]}${index}`,
  );
  const variable = (name: string | undefined): string =>
    name === undefined ? 'null' : name.charAt(0).toLowerCase() + name.slice(1);
  const connections = names.flatMap((name, index) => [
    `  .connect(${variable(name)}, ${variable(names[index + 1])}${index % 7 === 3 ? ", 'enough'" : ''})`,
    ...(index % 7 === 3 ? [`  .connect(${variable(name)}, ${variable(names[index - 2])}, 'again')`] : []),
  ]);
  return [
    "import { Flow, Node } from 'farwharf/agents';",
    '',
    ...names.map((name, index) =>
      index % 7 === 3
        ? `/** Decides whether it knows enough. */\nclass ${name} extends Node { post(shared) { return shared.enough ? 'enough' : 'again'; } }`
        : `/** One step of the report. */\nclass ${name} extends Node {}`,
    ),
    '',
    ...names.map((name) => `const ${variable(name)} = new ${name}();`),
    `export const report = new Flow({ start: ${variable(names[0])}, name: 'Report' })`,
    `${connections.join('\n')};`,
    '',
  ].join('\n');
}

/** A flow of 40 nodes as it opens, as a whole, and at its natural size. */
export async function takeLargeFlow(theme: string, take: TakePicture): Promise<void> {
  await using window = await openFlow(theme, { 'report.mts': largeFlow() }, 'report.mts');
  const { page } = window;
  await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
  await take(page);
  const canvas = webviewOf(page);
  await canvas.locator('.surface').focus();
  await page.keyboard.press('f');
  await take(page);
}

/** A trace that another program exported. */
export async function takeTrace(theme: string, take: TakePicture): Promise<void> {
  await using window = await openWindow({
    name: 'traces',
    settings: { ...SETTINGS, 'workbench.colorTheme': theme, 'files.simpleDialog.enable': true },
    prepare: (folder) => cp(TRACES, folder, { recursive: true }),
  });
  const { page } = window;
  const canvas = webviewOf(page);
  const files = { 'langgraph.otlp.json': 'Done', 'openaiAgents.otlp.jsonl': 'Done · 3.0 s' };
  for (const [name, summary] of Object.entries(files)) {
    await runCommand(page, 'Farwharf: Open Trace File');
    const dialog = page.locator('.quick-input-widget', { hasText: 'Open a trace' });
    await dialog.locator('.monaco-list-row', { hasText: name }).click();
    await canvas.locator('.timeline .summary', { hasText: summary }).waitFor();
    await canvas.getByRole('button', { name: /Step back/ }).click();
    await take(page);
  }
}

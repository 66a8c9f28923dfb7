import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Nothing that talks to the network, asks a question or moves by itself. */
const QUIET_SETTINGS: Readonly<Record<string, unknown>> = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
  'workbench.hover.delay': 3_600_000, // a hover of what was clicked last would cover what is clicked next
  'editor.cursorBlinking': 'solid',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'typescript.disableAutomaticTypeAcquisition': true,
  'typescript.tsserver.useSyntaxServer': 'never', // a second server of TypeScript, for a large project while the first reads it
  'files.autoSave': 'off',
  'git.openRepositoryInParentFolders': 'never',
  'security.workspace.trust.enabled': false,
  'security.workspace.trust.startupPrompt': 'never',
};

/** Writes the settings of a fresh VS Code; one that has been used keeps what it has. */
export async function writeSettings(userData: string, own: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await writeOnce(join(userData, 'User'), { ...QUIET_SETTINGS, ...own });
  // In a browser, VS Code reads settings of the scope `machine` from the server's file alone.
  await writeOnce(join(userData, 'Machine'), own);
}

async function writeOnce(folder: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
  const path = join(folder, 'settings.json');
  if (existsSync(path)) return;
  await mkdir(folder, { recursive: true });
  await writeFile(path, JSON.stringify(settings, undefined, 2));
}

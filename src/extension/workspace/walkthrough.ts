import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';

const POLL_MS = 100;
const MAX_POLLS = 10;

/** Shows the walkthrough for new users, at a step if one is named. */
export async function openWalkthrough(extensionId: string, step?: string): Promise<void> {
  const category = `${extensionId}#start`;
  const target = step === undefined ? category : { category, step };
  const show = (): Thenable<unknown> =>
    vscode.commands.executeCommand('workbench.action.openWalkthrough', target, false);
  const mayStay = vscode.version.startsWith('1.105.') && vscode.window.tabGroups.activeTabGroup.tabs.some(isPage);
  await show();
  if (!mayStay) return;
  // VS Code 1.105 shows an open Welcome page as it is, so it has to go first.
  await closeActivePage();
  await show();
}

/** Closes the page that is becoming the active tab. */
async function closeActivePage(): Promise<void> {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    await sleep(POLL_MS);
    const { activeTab } = vscode.window.tabGroups.activeTabGroup;
    if (activeTab === undefined || !isPage(activeTab)) continue;
    await vscode.window.tabGroups.close(activeTab);
    return;
  }
}

/** Whether a tab is a page of VS Code itself, such as Welcome or a walkthrough, which extensions see as a tab without input. */
function isPage({ input }: vscode.Tab): boolean {
  return input === undefined;
}

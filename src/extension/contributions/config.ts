import * as vscode from 'vscode';
import { SETTING_MINIMUMS, SETTING_SCOPES, type Settings } from './names.ts';

/**
 * The value of a setting. Settings of scope `machine` are read only from the user's settings, so that a workspace cannot
 * redirect keys and files even if VS Code's own scope check has a gap.
 */
export function readSetting<K extends keyof Settings>(name: K, resource?: vscode.Uri): Settings[K] {
  const configuration = vscode.workspace.getConfiguration('farwharf', resource ?? null);
  const found = configuration.inspect<Settings[K]>(name);
  const value =
    SETTING_SCOPES[name] === 'machine'
      ? (found?.globalValue ?? found?.defaultValue)
      : configuration.get<Settings[K]>(name);
  const fallback = found?.defaultValue;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked as far as VS Code checks it
  return (isUsable(name, value, fallback) ? value : fallback) as Settings[K];
}

/** The value in the user's settings; undefined if there is none. */
export function readUserSetting<K extends keyof Settings>(name: K): Settings[K] | undefined {
  const found = vscode.workspace.getConfiguration('farwharf', null).inspect<Settings[K]>(name);
  return isUsable(name, found?.globalValue, found?.defaultValue) ? found?.globalValue : undefined;
}

/**
 * Whether a value has the type of the default and is not too low. Any other value is ignored; the settings editor shows VS Code's own
 * warning.
 */
function isUsable(name: keyof Settings, value: unknown, fallback: unknown): boolean {
  if (typeof value !== typeof fallback || Array.isArray(value) !== Array.isArray(fallback)) return false;
  return typeof value !== 'number' || value >= (SETTING_MINIMUMS[name] ?? -Infinity);
}

/** Calls `listener` when the setting changes in any folder. */
export function onDidChangeSetting(name: keyof Settings, listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(`farwharf.${name}`)) listener();
  });
}

/** Writes to the user's settings. */
export async function writeUserSetting<K extends keyof Settings>(name: K, value: Settings[K]): Promise<void> {
  await vscode.workspace.getConfiguration('farwharf').update(name, value, vscode.ConfigurationTarget.Global);
}

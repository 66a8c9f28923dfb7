// Loads and activates the built extension once, outside VS Code, and prints how long each took in milliseconds.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import './standInVsCode.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const require = createRequire(import.meta.url);

const memento = {
  keys: () => [],
  get: (_key: string, fallback: unknown) => fallback,
  update: async () => {},
  setKeysForSync() {},
};
const storage = mkdtempSync(join(tmpdir(), 'farwharf-activate-'));
process.env['FARWHARF_HOME'] = storage;
process.once('exit', () => rmSync(storage, { recursive: true, force: true }));
const context = {
  subscriptions: [],
  extensionPath: ROOT,
  extensionUri: { scheme: 'file', path: ROOT, fsPath: ROOT },
  asAbsolutePath: (path: string) => join(ROOT, path),
  globalState: memento,
  workspaceState: memento,
  environmentVariableCollection: { append() {}, replace() {}, clear() {} },
  secrets: {
    get: async () => {},
    store: async () => {},
    delete: async () => {},
    onDidChange: () => ({ dispose() {} }),
  },
  extensionMode: 1,
  extension: { packageJSON: require(join(ROOT, 'package.json')) as unknown },
};

require('vscode'); // compiling the stand-in is no part of what is measured
const started = performance.now();
const extension = require(join(ROOT, 'dist', 'extension.js')) as { activate(context: unknown): unknown };
const loaded = performance.now();
await extension.activate(context);
const activated = performance.now();
process.stdout.write(JSON.stringify({ loadMs: loaded - started, activateMs: activated - loaded }));
process.exit();

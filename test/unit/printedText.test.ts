import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { trackedFiles } from '../../scripts/trackedFiles.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * What shows text, and the files that may call it. All others go through them, and they demand text that was made printable
 * (`core/text/printable.ts`); its type has no other source.
 */
const SINKS: readonly (readonly [what: string, call: RegExp, files: readonly string[]])[] = [
  [
    'messages, inputs and progress of VS Code',
    // A constant of our own needs no cleaning.
    /vscode\.window\.(?:show(?:Error|Warning|Information)Message|showInputBox|showQuickPick|createQuickPick|createInputBox|withProgress|setStatusBarMessage)\b(?!\(\s*(?:l10n\.t\()?'[^']*'[,)])/,
    ['extension/ui/show.ts'],
  ],
  ['hovers', /new vscode\.MarkdownString\b/, ['extension/ui/show.ts']],
  ['rows of trees', /new vscode\.TreeItem\b/, ['extension/ui/show.ts']],
  ['output channels', /createOutputChannel\((?!'[^']*', \{ log: true \}\))/, ['extension/ui/show.ts']],
  // TerminalGuard passes on what a terminal needs.
  ['terminals of VS Code', /createTerminal\b/, ['extension/inside/jobTerminals.ts']],
  ['diagnostics and results of tests', /new vscode\.(?:Diagnostic|TestMessage)\((?!.*printable)/, []],
  ['the extension log', /\boutput\[level\]\((?!printable)/, []],
  [
    'texts of webviews',
    /\.(?:textContent|innerText|innerHTML|outerHTML) =(?!=)|insertAdjacentHTML/,
    ['webview/canvas/dom/elements.ts'],
  ],
  [
    'stdout and stderr',
    /process\.(?:stdout|stderr)\.write\b|\bconsole\.\w+\((?!printable)/,
    [
      // Before and after the program itself.
      'cli/executable.ts',
      'cli/main.ts',
      'cli/start.ts',
      // A job's and a flow's own process: its output is text of others, cleaned where it is shown.
      'flows/run/child/jobMain.ts',
      'flows/run/child/flowRunner.ts',
      'service/runner/jobRunner.ts',
      // The two ends of an SSH session, which only programs read, and the answer for ssh itself.
      'service/machine/attach.ts',
      'service/machine/machineService.ts',
      'machines/ssh/askpassClient.ts',
    ],
  ],
  ['text that is printable because somebody says so', /\bas Printable\b/, ['core/text/printable.ts']],
  ['data that nobody looks at', /\bexactData\(/, ['core/text/printable.ts', 'cli/terminal/terminal.ts']],
];

const files = trackedFiles(['src/**/*.ts']).map((path) => ({
  path: path.slice('src/'.length),
  text: readFileSync(join(ROOT, path), 'utf8'),
}));

for (const [what, call, allowed] of SINKS) {
  test(`text of others is cleaned before it reaches ${what}`, () => {
    const callers = files.filter(({ text }) => call.test(text)).map(({ path }) => path);
    assert.deepEqual(
      callers.filter((path) => !allowed.includes(path)),
      [],
    );
    assert.deepEqual(
      allowed.filter((path) => !callers.includes(path)),
      [],
      'no longer needed',
    );
  });
}

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { AGENT_TOOL_NAMES } from '../../../../src/jobs/agentTools/agentToolNames.ts';
import { emptyFolder, eventually, jobIn, submit, workspaceFolder } from '../../support/inside.ts';

/** What a tool that needs no confirmation returns to a model. */
async function call(name: string, input: object): Promise<string> {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('\n');
}

suite('tools of agents', () => {
  setup(emptyFolder);

  test('a failed job explains itself as a page and to models, which see the price before they submit', async () => {
    const names = vscode.lm.tools.map(({ name }) => name);
    assert.deepEqual(
      AGENT_TOOL_NAMES.filter((name) => !names.includes(name)),
      [],
    );
    await writeFile(join(workspaceFolder(), 'broken.mjs'), "const settings = {};\nthrow new Error('no rate');\n");
    await submit({ script: 'broken.mjs' });
    const { id, jobId } = await jobIn('failed');

    await vscode.commands.executeCommand('farwharf.explainFailure', id);
    const page = await eventually(() => {
      const document = vscode.window.activeTextEditor?.document;
      return document?.uri.scheme === 'farwharf-failure' && document;
    }, 'the page about the failure');
    const text = page.getText();
    assert.match(text, /^# Why broken\.mjs failed$/m);
    assert.match(text, /^> 2 throw new Error\('no rate'\);$/m);
    await vscode.commands.executeCommand('farwharf.copyFailure', page.uri);
    assert.ok((await vscode.env.clipboard.readText()).includes(text));

    assert.match(await call('explain_failure', { job_id: jobId }), /no rate/);
    assert.match(await call('get_job', { job_id: jobId }), /failed/);
    assert.match(
      await call('preflight_job', { script: 'broken.mjs', max_runtime: 600, machine_class: 'paid' }),
      /At most 1 credits/,
    );
    assert.match(
      await call('preflight_job', { script: 'broken.mjs', max_runtime: 7_200, machine_class: 'local' }),
      /Up to 2 core-hours/,
    );
    await assert.rejects(call('get_job', { job_id: 'nonsense' }), /was not sent from the folder/);
  });
});

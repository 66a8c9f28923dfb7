import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { locateProgramFiles } from '../../src/cli/command/commandContext.ts';
import { describeProgram } from '../../src/cli/commandLine.ts';
import { Terminal } from '../../src/cli/terminal/terminal.ts';
import { splitWords } from '../../src/core/text/splitWords.ts';

const ROOT = join(import.meta.dirname, '../..');
const PLUGIN = join(ROOT, 'agentPlugin');
const SKILLS = readdirSync(join(PLUGIN, 'skills'));
const MAX_TOKENS = 2_000;
const CHARACTERS_PER_TOKEN = 4; // of English text, as most models count

const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Record<string, unknown>;
const readSkill = (name: string): string => readFileSync(join(PLUGIN, 'skills', name, 'SKILL.md'), 'utf8');

test('the plugin has the version and the licence of the package', () => {
  const { version, license } = readJson('package.json');
  const { name, version: own, license: ownLicense } = readJson('agentPlugin/plugin.json');
  assert.deepEqual([name, own, ownLicense], ['farwharf', version, license]);
});

test('VS Code and other agents get the same skills', () => {
  const { contributes } = readJson('package.json') as { contributes: { chatSkills: readonly { path: string }[] } };
  assert.deepEqual(
    contributes.chatSkills.map(({ path }) => path).toSorted(),
    SKILLS.map((name) => `./agentPlugin/skills/${name}/SKILL.md`).toSorted(),
  );
});

/** Whether the command line understands a command. */
async function isUnderstood(words: readonly string[]): Promise<boolean> {
  const stream = { write: () => true };
  const terminal = new Terminal({ isJson: false, stdout: stream, stderr: stream });
  const files = locateProgramFiles(join(ROOT, 'src/cli/main.ts'));
  let runs = 0;
  const program = describeProgram(files, terminal, async () => void (runs += 1));
  await program.parseAsync([...words], { from: 'user' }).catch(() => {});
  return runs === 1;
}

test('the command that starts the MCP server exists', async () => {
  const { mcpServers } = readJson('agentPlugin/mcp.json') as {
    mcpServers: { farwharf: { command: string; args: readonly string[] } };
  };
  assert.equal(mcpServers.farwharf.command, 'farwharf');
  assert.ok(await isUnderstood(mcpServers.farwharf.args));
});

for (const name of SKILLS) {
  test(`${name}: its name is that of its folder, it is short, and each of its commands exists`, async () => {
    const text = readSkill(name);
    const [, header = '', body = ''] = text.split(/^---$/m);
    assert.match(header, new RegExp(`^name: ${name}$`, 'm'));
    assert.match(header, /^description: .{40,}$/m);
    assert.ok(body.length / CHARACTERS_PER_TOKEN < MAX_TOKENS, `${body.length} characters`);
    const lines = [...body.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) => block.trim().split('\n'));
    const commands = lines.flatMap((line) => line.replace(/\s+#.*/, '').split(' && '));
    assert.ok(commands.length >= 3);
    for (const command of commands) {
      const [program, ...words] = splitWords(command.trim()) ?? [];
      assert.equal(program, 'farwharf', command);
      assert.ok(await isUnderstood(words), command);
    }
  });
}

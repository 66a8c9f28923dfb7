import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { locateProgramFiles } from '../../../../src/cli/command/commandContext.ts';
import { commandPath } from '../../../../src/cli/command/typedPosition.ts';
import { describeProgram } from '../../../../src/cli/commandLine.ts';
import { Terminal } from '../../../../src/cli/terminal/terminal.ts';
import { splitWords } from '../../../../src/core/text/splitWords.ts';

const FILES = locateProgramFiles(join(import.meta.dirname, '../../../../src/cli/main.ts'));

/** The grammar, whose verbs do nothing but count. */
function makeProgram(): { readonly program: Command; readonly printed: string[]; readonly runs: () => number } {
  const printed: string[] = [];
  const stream = { write: (text: string) => printed.push(text) };
  let runs = 0;
  const program = describeProgram(FILES, new Terminal({ isJson: false, stdout: stream, stderr: stream }), async () => {
    runs += 1;
  });
  return { program, printed, runs: () => runs };
}

function allCommands(command: Command): readonly Command[] {
  return [command, ...command.createHelp().visibleCommands(command).flatMap(allCommands)];
}

/** The lines to type among the examples of a help text, without what a shell does with their output. */
function examplesOf(help: string): string[] {
  const [, examples = ''] = help.split('\nExamples:\n');
  return [...examples.matchAll(/^ {2}farwharf(.*)$/gm)].map(([, line = '']) => line.replace(/ (?:>|\|).*/, '').trim());
}

test('the help of every command has two examples at least, which are what the command understands', async () => {
  const { program } = makeProgram();
  for (const path of allCommands(program).map(commandPath)) {
    const one = makeProgram();
    await assert.rejects(one.program.parseAsync([...path.split(' '), '--help'].filter(Boolean), { from: 'user' }));
    const examples = examplesOf(one.printed.join(''));
    assert.ok(examples.length >= 2, `${path}: ${examples.join(' | ')}`);
    assert.equal(new Set(examples).size, examples.length, path);
    for (const example of examples) {
      const words = splitWords(example);
      assert.ok(words !== undefined, example);
      const { program: fresh, printed, runs } = makeProgram();
      await fresh.parseAsync(words, { from: 'user' });
      const isHelp = words.includes('help') && printed.join('').startsWith('Usage: ');
      assert.ok(runs() === 1 || isHelp, `${example} runs nothing`);
    }
  }
});

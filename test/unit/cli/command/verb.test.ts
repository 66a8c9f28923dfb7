import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { join } from 'node:path';
import { test } from 'node:test';
import { locateProgramFiles } from '../../../../src/cli/command/commandContext.ts';
import { defineVerb, type RunVerb } from '../../../../src/cli/command/verb.ts';
import {
  choiceFlagOr,
  jsonFlag,
  listFlag,
  numberFlag,
  optionalTextFlag,
  switchFlag,
  textFlag,
} from '../../../../src/cli/command/flags.ts';
import { describeProgram } from '../../../../src/cli/commandLine.ts';
import { Terminal } from '../../../../src/cli/terminal/terminal.ts';

const ENTRY = join(import.meta.dirname, '../../../../src/cli/main.ts');

interface GreetFlags {
  readonly times: number;
  readonly tone: 'warm' | 'dry';
  readonly loud: boolean;
  readonly to?: string;
  readonly also?: readonly string[];
  readonly sign?: string | false;
}

/** Runs a command line of a program whose only verb is `greet`. */
async function greet(
  ...words: readonly string[]
): Promise<{ readonly seen: readonly unknown[]; readonly help: string }> {
  const seen: unknown[] = [];
  const printed: string[] = [];
  const stream = { write: (text: string) => printed.push(text) };
  const verb = defineVerb({
    name: 'greet',
    summary: 'greet somebody',
    args: ['<name>', '[others...]'],
    flags: {
      times: numberFlag('--times <n>', 'how often', { min: 1, max: 3, fallback: 1 }),
      tone: choiceFlagOr('--tone <tone>', 'how', { choices: ['warm', 'dry'], fallback: 'warm' }),
      loud: switchFlag('--loud', 'shout'),
      to: textFlag('--to <place>', 'where'),
      also: listFlag('--also <name>', 'another one', (name) => assert.notEqual(name, 'nobody')),
      sign: optionalTextFlag('--sign <name>', 'who signs', 'leave the signature out'),
      json: jsonFlag(),
    },
    examples: [['farwharf greet ada', 'greet one']],
    load: async () => async (_, name, flags: GreetFlags, rest) => {
      seen.push(name, flags, rest);
      return 0;
    },
  });
  const terminal = new Terminal({ isJson: false, stdout: stream, stderr: stream });
  const context = {
    terminal,
    stdin: () => Readable.from([]),
    env: {},
    cwd: '/',
    remote: undefined,
    signal: AbortSignal.abort(),
    outputSignal: AbortSignal.abort(),
    onHangup: () => ({ dispose: () => {} }),
    onSignal: () => ({ dispose: () => {} }),
    program: locateProgramFiles(ENTRY),
  };
  const run: RunVerb = async (command, work) => {
    seen.push(command);
    await work(context);
  };
  const program = describeProgram(context.program, terminal, run, [verb]);
  const help = program.commands[0]?.helpInformation() ?? '';
  await program.parseAsync(['greet', ...words], { from: 'user' });
  return { seen, help };
}

test('a verb that is added to the table declares its flags and receives them typed', async () => {
  const words = ['ada', 'bob', '--times', '2', '--tone', 'dry', '--loud', '--to', 'x', '--also', 'a', '--also', 'b'];
  const { seen, help } = await greet('--remote', 'local', ...words, '--sign', 'me');
  assert.deepEqual(seen, [
    { remote: 'local', isService: false },
    'ada',
    { times: 2, tone: 'dry', loud: true, to: 'x', also: ['a', 'b'], sign: 'me', json: false },
    ['bob'],
  ]);
  assert.match(help, /--also <name> +another one; can be repeated/);
});

test('flags that are absent have their defaults or no key', async () => {
  const { seen } = await greet('ada');
  assert.deepEqual(seen.slice(1), ['ada', { times: 1, tone: 'warm', loud: false, json: false }, []]);
  assert.deepEqual((await greet('ada', '--no-sign')).seen[2], {
    times: 1,
    tone: 'warm',
    loud: false,
    sign: false,
    json: false,
  });
});

test('a value that a flag does not take is refused before the verb is loaded', async () => {
  await assert.rejects(greet('ada', '--times', '4'), { message: /whole number from 1 to 3 for --times/ });
  await assert.rejects(greet('ada', '--tone', 'rude'), { message: /Allowed choices are warm, dry/ });
  await assert.rejects(greet('ada', '--also', 'nobody'));
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { valueRefusal } from '../../../../src/jobs/selection/refusals.ts';
import { COMMAND_REFUSALS, commandWords } from '../../../../src/remote/protocol/command.ts';
import { SECRET_REFUSALS, secretName, secretValue } from '../../../../src/remote/protocol/secret.ts';

const GERMAN: unknown = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../l10n/bundle.l10n.de.json'), 'utf8'),
);
const MESSAGES = [...Object.values(COMMAND_REFUSALS), ...Object.values(SECRET_REFUSALS)];
const refused = (message: string) =>
  valueRefusal(
    z.string().refine(() => false, message),
    'x',
  );

test('each reason why a command or a secret is refused is in the language of the user, and in English as the service says it', (t) => {
  for (const message of MESSAGES) assert.equal(refused(message), message);
  t.after(() => l10n.config({ contents: {} }));
  l10n.config({ contents: z.record(z.string(), z.string()).parse(GERMAN) });
  for (const message of MESSAGES) assert.match(refused(message) ?? '', /^(?:muss|darf|ist) /, message);
  assert.equal(
    valueRefusal(commandWords, ['echo', 'x'.repeat(100_000)]),
    'darf höchstens 32 KB haben. Schreiben Sie einen längeren Befehl in ein Skript',
  );
  assert.equal(valueRefusal(secretName, 'HF_TOKEN') ?? valueRefusal(secretValue, 'value'), undefined);
});

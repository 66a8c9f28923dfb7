import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  promptDocument,
  readPromptDocument,
  replyDocument,
} from '../../../../../src/extension/flows/runs/promptText.ts';

test('a prompt that was opened as a document is read back as it was, with headings of its own in it', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Summarize:\n\n# Title\n\n## A heading\n\ntext' },
    { role: 'assistant', content: 'Done.' },
  ];
  assert.deepEqual(readPromptDocument(promptDocument({ path: 'Research/Decide', visit: 2, messages })), messages);
});

test('a document without sections holds no prompt', () => {
  assert.deepEqual(readPromptDocument('# Notes\n\nnothing to ask'), []);
});

test('answers stand side by side, with what they took, and failures with their reason', () => {
  const text = replyDocument([
    { model: 'small', reply: 'Yes.', seconds: 1.23, inputTokens: 10, outputTokens: 2, cost: 0.00012 },
    { model: 'large|one', reply: undefined },
    { model: 'gone', reply: '', failure: 'It does not answer.' },
  ]);
  assert.match(text, /\| small \| 1\.2 s \| 10 \| 2 \| \$0\.00012 \|/);
  assert.match(text, /\| large\\\|one \| … \|/);
  assert.match(text, /\| gone \| failed \|/);
  assert.match(text, /## gone\n\nIt does not answer\./);
});

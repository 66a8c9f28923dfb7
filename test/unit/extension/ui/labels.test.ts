import assert from 'node:assert/strict';
import { test } from 'node:test';
import { label, messageText, withoutIcons } from '../../../../src/extension/ui/labels.ts';

// What VS Code makes a link of in messages, titles and prompts (vs/base/common/linkedText.ts).
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

test('a command link of a job or a service is plain text in a message', () => {
  for (const text of [
    'Failed: [Retry](command:workbench.action.terminal.new)',
    '[a](https://evil.example "title")',
    '[a]\u200b(command:x)',
    '[a]\u001b[0m(command:x)',
    '[a]\u202e(file:///etc/passwd)',
    '[[a](command:x)](command:y)',
  ]) {
    assert.doesNotMatch(messageText(text), LINK);
    assert.doesNotMatch(messageText(messageText(text)), LINK);
  }
});

test('a message is one line', () => {
  assert.equal(messageText('Job failed\n\nFarwharf: your key is void'), 'Job failed Farwharf: your key is void');
});

test('an icon code in a file name is text; our own is an icon', () => {
  assert.equal(label`$(file) ${'$(check)\u200b $\u202e(shield) ok'}`, '$(file) $ (check) $ (shield) ok');
  assert.equal(withoutIcons('$(date)\nnext'), '$ (date) next');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeProgress, readProgress } from '../../../../src/jobs/log/jobProgress.ts';

const lines: readonly [string, string, string | undefined][] = [
  ['tqdm', ' 62%|██████▏   | 62/100 [00:10<04:06,  6.20it/s]', '62 % · 4 min left'],
  ['tqdm with a label', 'Epoch 1/3:  7%|▋         | 7/100 [00:01<00:14,  6.5it/s]', '7 % · epoch 1 of 3 · 14 s left'],
  ['tqdm without a rate', '  0%|          | 0/100 [00:00<?, ?it/s]', '0 %'],
  ['tqdm in ASCII', ' 50%|#####     | 5/10 [00:05<00:05,  1.0s/it]', '50 % · 5.0 s left'],
  ['tqdm for days', '  1%|          | 1/100 [1:00:00<99:00:00, 3600.0s/it]', '1 % · 4 d 3 h left'],
  ['Keras', 'Epoch 2/5', 'epoch 2 of 5'],
  ['a batch in Keras', '40/100 ━━━━━━━━━━━━━━━━━━━━ 4s 66ms/step - loss: 0.31', '40 %'],
  ['a batch in an older Keras', '40/100 [===========>..................] - ETA: 4s - loss: 0.31', '40 % · 4.0 s left'],
  ['PyTorch examples', 'Train Epoch: 1 [640/60000 (1%)] Loss: 2.3', undefined],
  ['PyTorch with a count', 'Epoch [3/10], Step [100/600], Loss: 0.2', 'epoch 3 of 10'],
  ['pip', '     ━━━━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━ 1.2/2.0 MB 3.1 MB/s eta 0:00:01', undefined],
  ['rich', 'Working... ━━━━━━━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━  62% 0:00:04', '62 % · 4.0 s left'],
  ['wget', 'data.bin   62%[===========>        ]   1.20M  1.2MB/s    eta 1m 4s', '62 % · 1 min left'],
  ['curl', '######################                    62.1%', '62 %'],
  ['a percentage alone', '62%', '62 %'],
  ['an accuracy', 'validation accuracy: 62.1%', undefined],
  ['an accuracy in a sentence', 'reached 97 % after 3 epochs', undefined],
  ['a date', '2026/11/20 12:00:03 started', undefined],
  ['a path', '/data/1/2.csv', undefined],
  ['more than all', ' 162%|██████████| 162/100 [00:10<00:00]', undefined],
];
for (const [name, line, text] of lines) {
  test(`the progress in a line of ${name}: ${text ?? 'none'}`, () => {
    const progress = readProgress(line);
    assert.equal(progress && describeProgress(progress), text);
  });
}

test('a hostile line is read in a moment', () => {
  for (const part of ['1/', '━ ', '62% ', '1d ', 'epoch ', '1:11'])
    assert.doesNotThrow(() => readProgress(part.repeat(1e5)));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  readWaitingReason,
  type WaitingReason,
  writeWaitingReason,
} from '../../../../src/remote/protocol/waitingReason.ts';

const NOW = Date.parse('2026-01-01T23:30:00Z');
const at = (time: string): number => Date.parse(time);

const SENTENCES: readonly (readonly [WaitingReason, string])[] = [
  [
    { resource: 'gpus', needed: 1, type: 'in-use', used: 2, of: 2, freeAt: at('2026-01-01T23:45:00Z') },
    'The job waits for 1 GPU: 2 of 2 in use, the first free by 23:45 UTC.',
  ],
  [
    { resource: 'memory', needed: 12.5, type: 'in-use', used: 20, of: 23.4, freeAt: at('2026-01-02T00:20:00Z') },
    'The job waits for 12.5 GB of memory: 20 of 23.4 in use, the first free by 00:20 UTC.',
  ],
  [
    { resource: 'cpus', needed: 1, type: 'in-use', used: 8, of: 8, freeAt: at('2026-01-04T06:00:00Z') },
    'The job waits for 1 core: 8 of 8 in use, the first free by 2026-01-04 06:00 UTC.',
  ],
  [{ resource: 'gpus', needed: 4, type: 'absent', of: 3 }, 'The job waits for 4 GPUs: the machine has 3 now.'],
  [{ resource: 'cpus', needed: 8, type: 'kept' }, 'The job waits for 8 cores: kept for a job before it.'],
  [{ resource: 'gpus', needed: 2, type: 'behind' }, 'The job waits for 2 GPUs: others wait before it.'],
];

test('what a job waits for is one sentence, which clients read back, whatever the day is', () => {
  for (const [reason, sentence] of SENTENCES) {
    assert.equal(writeWaitingReason(reason, NOW), sentence);
    assert.deepEqual(readWaitingReason(sentence, NOW), reason);
  }
});

test('a time between two minutes is rounded up, and one that has just passed is of the same day', () => {
  const freeAt = at('2026-01-01T23:44:01Z');
  const sentence = writeWaitingReason({ resource: 'gpus', needed: 1, type: 'in-use', used: 1, of: 1, freeAt }, NOW);
  assert.match(sentence, /by 23:45 UTC\.$/);
  const later = readWaitingReason(sentence, at('2026-01-01T23:50:00Z'));
  assert.equal(later?.type === 'in-use' && later.freeAt, at('2026-01-01T23:45:00Z'));
});

test('any other sentence is not one about what is reserved', () => {
  for (const text of [
    'Resources',
    'The job waits for memory: the machine has 1.0 GB available.',
    'The job waits for 1 GPU: nvidia-smi on the machine does not respond.',
    `${SENTENCES[0]?.[1]} And more.`,
  ])
    assert.equal(readWaitingReason(text, NOW), undefined);
});

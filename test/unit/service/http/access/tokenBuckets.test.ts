import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyDigest } from '../../../../../src/service/store/accounts/apiKeys.ts';
import { TokenBuckets } from '../../../../../src/service/http/access/tokenBuckets.ts';
import { AuthFailureLimiter } from '../../../../../src/service/http/access/authFailureLimiter.ts';

test('a bucket holds a minute and fills evenly, and returns the seconds until the next token', () => {
  let now = 0;
  const buckets = new TokenBuckets(() => now);
  for (let count = 0; count < 6; count += 1) assert.equal(buckets.take('ada', 6), 0);
  assert.equal(buckets.take('ada', 6), 10);
  now = 9_001;
  assert.equal(buckets.take('ada', 6), 1);
  now = 10_000;
  assert.equal(buckets.take('ada', 6), 0);
  assert.equal(buckets.take('ada', 6), 10);
  now = 3_600_000;
  for (let count = 0; count < 6; count += 1) assert.equal(buckets.take('ada', 6), 0);
  assert.equal(buckets.take('ada', 6), 10);
});

test('names do not share a bucket, and no limit is none', () => {
  const buckets = new TokenBuckets(() => 0);
  assert.equal(buckets.take('ada', 1), 0);
  assert.notEqual(buckets.take('ada', 1), 0);
  assert.equal(buckets.take('bob', 1), 0);
  for (let count = 0; count < 1_000; count += 1) assert.equal(buckets.take('ada', Number.POSITIVE_INFINITY), 0);
});

test('a limit that is changed holds from then on', () => {
  let now = 0;
  const buckets = new TokenBuckets(() => now);
  for (let count = 0; count < 60; count += 1) buckets.take('ada', 60);
  assert.equal(buckets.take('ada', 6), 10);
  now = 10_000;
  assert.equal(buckets.take('ada', 6), 0);
});

const wrong = (text: string): Buffer => keyDigest(text);

test('wrong keys from one network of IPv6 count together, those from others do not', () => {
  const keys = new AuthFailureLimiter(2, new TokenBuckets(() => 0));
  keys.noteWrong('2001:db8:1:2::1', wrong('a'));
  keys.noteWrong('2001:db8:1:2:3:4:5:6', wrong('b'));
  assert.equal(keys.secondsToWait('2001:0db8:1:2:ffff::', wrong('c')), 30);
  assert.equal(keys.secondsToWait('2001:db8:1:3::1', wrong('c')), 0);
  assert.equal(keys.secondsToWait('192.0.2.1', wrong('c')), 0);
});

test('a key that was valid from an address still works there, until it is wrong itself', () => {
  const keys = new AuthFailureLimiter(1, new TokenBuckets(() => 0));
  keys.noteGood('192.0.2.1', wrong('good'));
  keys.noteWrong('192.0.2.1', wrong('guess'));
  assert.equal(keys.secondsToWait('192.0.2.1', wrong('good')), 0);
  assert.equal(keys.secondsToWait('192.0.2.1', wrong('other')), 60);
  keys.noteWrong('192.0.2.1', wrong('good'));
  assert.equal(keys.secondsToWait('192.0.2.1', wrong('good')), 60);
});

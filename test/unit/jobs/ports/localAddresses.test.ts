import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLocalAddresses, PrintedAddresses } from '../../../../src/jobs/ports/localAddresses.ts';

const shown = (line: string) =>
  findLocalAddresses(line).map(({ start, end, scheme, port, rest, isUrl }) => ({
    text: line.slice(start, end),
    leads: `${scheme} ${port} ${rest}`,
    isUrl,
  }));

test('what servers print is found with its port and page', () => {
  const printed: readonly (readonly [line: string, text: string, leads: string])[] = [
    ['TensorBoard 2.19 at http://localhost:6006/ (Press CTRL+C to quit)', 'http://localhost:6006/', 'http 6006 /'],
    ['Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...', 'http://0.0.0.0:8000/', 'http 8000 /'],
    ['* Running on local URL:  http://127.0.0.1:7860', 'http://127.0.0.1:7860', 'http 7860 /'],
    [
      '    http://127.0.0.1:8888/lab?token=3f2a&x=1#top.',
      'http://127.0.0.1:8888/lab?token=3f2a&x=1#top',
      'http 8888 /lab?token=3f2a&x=1#top',
    ],
    ['see [https://[::1]:8443].', 'https://[::1]:8443', 'https 8443 /'],
    ['http://[::]', 'http://[::]', 'http 80 /'],
  ];
  for (const [line, text, leads] of printed) assert.deepEqual(shown(line), [{ text, leads, isUrl: true }], line);
  assert.deepEqual(shown('View the dashboard at 127.0.0.1:8265 now'), [
    { text: '127.0.0.1:8265', leads: 'http 8265 /', isUrl: false },
  ]);
});

test('every way to write the own machine is one, with what a password in front of it hides', () => {
  for (const host of [
    '127.1',
    '2130706433',
    '0x7f.1',
    'LOCALHOST',
    'a.localhost',
    '[::ffff:127.0.0.1]',
    'x.org@localhost',
  ])
    assert.deepEqual(
      findLocalAddresses(`http://${host}:81/a`).map(({ port, rest }) => `${port}${rest}`),
      ['81/a'],
      host,
    );
});

test('other hosts, numbers that are no ports, and words with a colon are not', () => {
  for (const line of [
    'http://localhost.evil.example:80/',
    'https://example.org/?next=localhost:80',
    'http://localhost:65536/',
    'http://localhost:0/',
    'localhost:99999',
    'init_method tcp://127.0.0.1:29500',
    'ada@localhost:22',
    'at localhost:8080:12',
    'loss: 0.1',
  ])
    assert.deepEqual(findLocalAddresses(line), [], line);
});

test('addresses in pieces of output are found once their line is complete, until there are too many', () => {
  const addresses = new PrintedAddresses();
  assert.deepEqual(addresses.push('at http://local'), []);
  assert.deepEqual(addresses.push('host:60'), []);
  assert.deepEqual(
    addresses.push('06/\nlocalhost:1\nlocal').map(({ port }) => port),
    [6006, 1],
  );
  let found = 0;
  for (let piece = 0; piece < 100; piece += 1) found += addresses.push('http://localhost:1/ '.repeat(20) + '\n').length;
  assert.equal(found, 998);
});

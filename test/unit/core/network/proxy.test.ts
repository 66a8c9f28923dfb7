import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback } from '../../../../src/core/network/loopback.ts';
import { proxyFor } from '../../../../src/core/network/proxy.ts';

const PROXY = 'http://proxy.example.org:3128';
const both = { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY };
const addressFor = (url: string, env: Record<string, string>): string | undefined =>
  proxyFor(new URL(url), env)?.address;

test('each kind of address has its own variable, of which the lower case wins', () => {
  assert.equal(addressFor('https://a.org', { HTTPS_PROXY: PROXY }), 'proxy.example.org:3128');
  assert.equal(addressFor('https://a.org', { HTTP_PROXY: PROXY }), undefined);
  assert.equal(addressFor('http://a.org', { HTTPS_PROXY: PROXY }), undefined);
  const env = { HTTPS_PROXY: 'http://upper:1', https_proxy: 'http://lower:2' };
  assert.equal(addressFor('https://a.org', env), 'lower:2');
  assert.equal(proxyFor(new URL('https://a.org'), env)?.setting, 'https_proxy');
  assert.equal(addressFor('https://a.org', { HTTPS_PROXY: PROXY, https_proxy: '' }), 'proxy.example.org:3128');
});

test('a proxy may be written without http://, with a default port, with TLS or as an IPv6 address', () => {
  const of = (value: string) => proxyFor(new URL('https://a.org'), { HTTPS_PROXY: value });
  assert.equal(of('proxy:3128')?.address, 'proxy:3128');
  assert.equal(of('http://proxy')?.port, 80);
  assert.deepEqual([of('https://proxy')?.port, of('https://proxy')?.isSecure], [443, true]);
  assert.deepEqual([of('http://[::1]:3128')?.host, of('http://[::1]:3128')?.address], ['::1', '[::1]:3128']);
});

test('user name and password are decoded for the proxy, and are in nothing else', () => {
  const proxy = proxyFor(new URL('https://a.org'), { HTTPS_PROXY: 'http://ada:p%40ss@proxy:3128' });
  assert.equal(proxy?.authorization, `Basic ${Buffer.from('ada:p@ss').toString('base64')}`);
  assert.doesNotMatch(JSON.stringify({ ...proxy, authorization: '' }), /ada|p@ss|p%40ss/);
});

test('what is no http proxy is refused, without its password', () => {
  for (const value of [
    'socks5://ada:secret@proxy:1',
    'http://ada:secret@',
    'http://ada:se%cret@proxy:1',
    'http://ada:secret@:0x',
  ]) {
    assert.throws(
      () => proxyFor(new URL('https://a.org'), { HTTPS_PROXY: value }),
      (error: Error) => {
        assert.equal((error as { code?: unknown }).code, 'bad-input');
        assert.match(error.message, /HTTPS_PROXY/);
        assert.doesNotMatch(error.message, /secret|cret/);
        return true;
      },
    );
  }
});

test('no proxy is ever asked for this machine', () => {
  const own = [
    'localhost',
    'app.localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.9.8.7',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
  ];
  for (const host of own) {
    assert.equal(addressFor(`http://${host}:4780`, both), undefined, host);
    assert.equal(addressFor(`https://${host}`, both), undefined, host);
  }
  for (const host of ['localhost.example.org', 'notlocalhost', '128.0.0.1', '[::2]', '127.example.org']) {
    assert.ok(addressFor(`http://${host}`, both), host);
  }
});

test('a key may be sent in the clear only to names that every resolver takes for this machine', () => {
  assert.deepEqual(['localhost', '127.0.0.1', '[::1]', 'app.localhost', '0.0.0.0'].map(isLoopback), [
    true,
    true,
    true,
    false,
    false,
  ]);
});

test('NO_PROXY means what it means to curl', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['*', 'https://a.org', true],
    ['a.org', 'https://a.org', true],
    ['a.org', 'https://gpu.a.org', true],
    ['.a.org', 'https://gpu.a.org', true],
    ['*.a.org', 'https://gpu.a.org', true],
    ['A.ORG', 'https://a.org', true],
    ['a.org.', 'https://a.org', true],
    ['b.org,a.org', 'https://a.org', true],
    ['b.org a.org', 'https://a.org', true],
    ['a.org', 'https://nota.org', false],
    ['a.org', 'https://a.org.evil.net', false],
    ['', 'https://a.org', false],
    [' , ', 'https://a.org', false],
    ['a.org:8443', 'https://a.org:8443', true],
    ['a.org:8443', 'https://a.org', false],
    ['a.org:443', 'https://a.org', true],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    ['2.3', 'https://10.1.2.3', false],
    ['[fd00::1]:8443', 'https://[fd00::1]:8443', true],
    ['fd00::1', 'https://[fd00::1]', true],
    ['fd00::/8', 'https://[fd12::7]', true],
    ['fd00::/8', 'https://10.0.0.1', false],
  ];
  for (const [list, url, isDirect] of cases) {
    assert.equal(addressFor(url, { ...both, NO_PROXY: list }) === undefined, isDirect, `${list} for ${url}`);
  }
  assert.equal(addressFor('https://a.org', { ...both, no_proxy: 'a.org', NO_PROXY: 'b.org' }), undefined);
});

test('a value that is no address of a proxy, or whose password is not encoded, is refused with what to write', () => {
  const refusalOf = (name: string, value: string): string => {
    try {
      proxyFor(new URL('http://a.org'), { [name]: value });
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };
  for (const value of ['ftp://proxy', 'http://', 'http://a b', 'https://']) {
    assert.equal(
      refusalOf('http_proxy', value),
      'http_proxy is not the address of an http or https proxy, so nothing was sent. Use the form http://proxy.example.org:3128.',
      value,
    );
  }
  for (const value of ['http://a%zz:b@proxy', 'http://a:%@proxy']) {
    assert.equal(
      refusalOf('HTTP_PROXY', value),
      'The user name or password in HTTP_PROXY has a % that is not followed by two hexadecimal digits. Write % as %25.',
    );
  }
});

test('white space around the address of a proxy is ignored, and a user may have no password', () => {
  const proxy = proxyFor(new URL('http://a.org'), { HTTP_PROXY: '  http://ada@proxy:1  ' });
  assert.deepEqual(proxy, {
    host: 'proxy',
    port: 1,
    isSecure: false,
    authorization: `Basic ${Buffer.from('ada:').toString('base64')}`,
    address: 'proxy:1',
    setting: 'HTTP_PROXY',
  });
  assert.equal(addressFor('http://a.org', { HTTP_PROXY: '   ' }), undefined);
  assert.equal(proxyFor(new URL('http://a.org'), { HTTP_PROXY: 'proxy:1' })?.authorization, undefined);
});

test('only addresses of http and https have a proxy', () => {
  const env = { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, FTP_PROXY: PROXY, WS_PROXY: PROXY };
  for (const url of ['ftp://a.org', 'ws://a.org', 'file:///a', 'xhttp://a.org', 'httpx://a.org']) {
    assert.equal(addressFor(url, env), undefined, url);
  }
});

test('entries of NO_PROXY are compared to the last address, port and dot', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['a.org:80', 'http://a.org', true],
    ['a.org:443', 'http://a.org', false],
    ['a.org:80', 'https://a.org', false],
    ['a.org', 'https://a.org.', true],
    ['.a.org.', 'https://gpu.a.org', true],
    ['*.a.org:443', 'https://a.org', true],
    ['*', 'http://10.1.2.3:81', true],
    ['x*', 'https://x', false],
    ['10.0.0.0/0', 'https://99.1.2.3', true],
    ['10.0.0.0/-1', 'https://10.0.0.0', false],
    ['10.0.0.0/7.5', 'https://10.0.0.0', false],
    ['10.1.2.3/32', 'https://10.1.2.3', true],
    ['10.1.2.3/32', 'https://10.1.2.4', false],
    ['10.1.2.3', 'https://10.1.2.4', false],
    ['10.1.2.3/33', 'https://10.1.2.3', false],
    ['10.1.2.3/x', 'https://10.1.2.3', false],
    ['fd00::1/128', 'https://[fd00::1]', true],
    ['fd00::1/128', 'https://[fd00::2]', false],
    ['fd00::1', 'https://[fd00::2]', false],
    ['fd00::1/129', 'https://[fd00::1]', false],
    ['fd00::/33', 'https://[fd00::1]', true],
    ['[fd00::1]', 'https://[fd00::1]', true],
    ['a.org', 'https://10.1.2.3', false],
    [`b.org\ta.org\nc.org`, 'https://a.org', true],
  ];
  for (const [list, url, isDirect] of cases) {
    assert.equal(addressFor(url, { ...both, NO_PROXY: list }) === undefined, isDirect, `${list} for ${url}`);
  }
  assert.equal(addressFor('https://a.org', { ...both, no_proxy: '', NO_PROXY: 'a.org' }), undefined);
});

test('names and addresses of this machine are known in every form, and nothing that only begins or ends like them', () => {
  for (const host of ['localhost.', 'a.b.localhost', '[::]', '[::ffff:7f01:203]', '127.255.255.255']) {
    assert.equal(addressFor(`http://${host}`, both), undefined, host);
  }
  for (const host of ['localhosts', '1127.0.0.1.example.org', '0.0.0.0.example.org', '[::ffff:8001:203]', '[1::1]']) {
    assert.ok(addressFor(`http://${host}`, both), host);
  }
  assert.deepEqual(['localhost.', '[::]', '127.0.0.1.a', 'xlocalhost'].map(isLoopback), [false, false, false, false]);
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { AppError, Flow, Node, RAGNode, type RetrievedChunk } from '../../../../src/agents/index.ts';
import { writePdf } from './pdfFile.ts';
import { htmlText } from '../../../../src/agents/rag/htmlText.ts';
import { isPrivateAddress, readWebPage } from '../../../../src/agents/rag/webPage.ts';
import { KEEPS_CONNECTIONS } from '../../timeLimits.ts';

interface Shared {
  query?: unknown;
  rag_chunks?: RetrievedChunk[];
  rag_context?: string;
  [key: string]: unknown;
}

async function folder(t: TestContext, files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'farwharf-rag-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

async function server(t: TestContext, listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const http = createServer(KEEPS_CONNECTIONS, listener);
  await new Promise<void>((resolve) => http.listen(0, host, resolve));
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://${host}:${(http.address() as AddressInfo).port}`;
}

async function retrieve(node: RAGNode<Shared>, query: unknown): Promise<RetrievedChunk[]> {
  const shared: Shared = { query };
  await node.run(shared);
  return shared.rag_chunks ?? [];
}

const FRUIT = {
  'fruit/apple.md': '# Apples\n\nAn apple a day keeps the doctor away.\n',
  'fruit/pear.txt': 'Pears grow on trees.\n\nPears are green.\n',
  'code/retry.ts': 'export function retryDelay(attempt: number): number {\n  return 2 ** attempt;\n}\n',
};

test('the defaults are those of the specification', async (t) => {
  const root = await folder(t, FRUIT);
  const node = new RAGNode<Shared>({ sources: root });
  const shared: Shared = { query: 'apple doctor' };
  assert.equal(await node.run(shared), 'default');
  const [chunk] = shared.rag_chunks ?? [];
  assert.ok(chunk);
  assert.deepEqual(Object.keys(chunk).sort(), ['endLine', 'score', 'source', 'startLine', 'text']);
  assert.equal(chunk.source, join(root, 'fruit/apple.md'));
  assert.equal(chunk.startLine, 1);
  assert.equal(chunk.endLine, 3);
  const cited = shared.rag_chunks?.map(
    (each, at) => `[${at + 1}] ${each.source}:${each.startLine}-${each.endLine}\n${each.text}`,
  );
  assert.equal(shared.rag_context, cited?.join('\n\n'));
  assert.equal('rag_left_out' in shared, false);
  assert.equal(node.maxRetries, 1);
  assert.equal(node.wait, 0);
});

test('what flows themselves leave in a folder is no source: the runtime of a job, recorded runs and tests', async (t) => {
  const root = await folder(t, {
    ...FRUIT,
    '.farwharf/chunks/chunk-A.mjs': '// apple doctor\n',
    'artifacts/farwharf-flow/checkpoints.jsonl': '{"query":"apple doctor"}\n',
    'fruit.run.flowtest.json': '{"query":"apple doctor"}\n',
  });
  const found = await retrieve(new RAGNode<Shared>({ sources: root, topK: 9 }), 'apple doctor');
  assert.deepEqual(
    found.map(({ source }) => source.slice(root.length + 1)),
    ['fruit/apple.md'],
  );
});

test('a large text of a folder is searched, and data that is too large is said and in the result', async (t) => {
  const filler = 'a line of no interest\n'.repeat(60_000);
  const root = await folder(t, {
    'long.md': `${filler}# Tides\n\nThe flood comes at noon.\n`,
    'data.csv': filler,
    'a.png': 'x\0y',
  });
  const warnings: Error[] = [];
  const listener = (warning: Error): void => void warnings.push(warning);
  process.on('warning', listener);
  t.after(() => process.off('warning', listener));
  const node = new RAGNode<Shared>({ sources: root });
  const shared: Shared = { query: 'flood noon' };
  await node.run(shared);
  assert.match(shared.rag_chunks?.[0]?.text ?? '', /The flood comes at noon/);
  const reason = `The source ${join(root, 'data.csv')} has 1.3 MB; the limit is 1.0 MB.`;
  assert.deepEqual(shared['rag_left_out'], [{ source: join(root, 'data.csv'), reason }]);
  await node.run({ query: 'flood' });
  await setImmediate(); // warnings come on their own
  const said = warnings.filter((warning) => 'code' in warning && warning.code === 'FARWHARF_LEFT_OUT');
  assert.deepEqual(
    said.map(({ message }) => message),
    [`Not all files of ${root} can be searched:\n  ${reason}`],
  );
});

test('HTML files are read as pages are, without scripts', async (t) => {
  const page = '<h1>Harbour</h1><script>const secret = "tides";</script><p>Ships &amp; boats</p>';
  const root = await folder(t, { 'a.html': page, 'b.htm': '<h2>Other</h2>' });
  const named = await retrieve(new RAGNode<Shared>({ sources: join(root, 'a.html') }), 'harbour');
  assert.equal(named[0]?.text, '# Harbour\n\nShips & boats');
  const node = new RAGNode<Shared>({ sources: root });
  assert.deepEqual(await retrieve(node, 'secret tides'), []);
  assert.equal((await retrieve(node, 'other'))[0]?.text, '## Other');
});

test('hostile HTML is read in a time that grows with its length', () => {
  for (const part of ['<svg ', '<script>', '<h1>', '<!--', '<a', '<li ', '<![CDATA[']) {
    assert.equal(typeof htmlText(part.repeat(400_000)), 'string', part);
  }
});

test('texts in memory are sources, alone and beside files', async (t) => {
  const root = await folder(t, FRUIT);
  const node = new RAGNode<Shared>({ sources: [{ source: 'ticket 7', text: 'The crane is broken.' }, root] });
  node.addSource({ source: 'ticket 8', text: 'The pears are late.' });
  const [crane] = await retrieve(node, 'crane');
  assert.deepEqual([crane?.source, crane?.text, crane?.startLine], ['ticket 7', 'The crane is broken.', 1]);
  assert.deepEqual(
    (await retrieve(node, 'late')).map(({ source }) => source),
    ['ticket 8'],
  );
  assert.equal((await retrieve(new RAGNode<Shared>({ sources: { source: 'one', text: 'alone' } }), 'alone')).length, 1);
  for (const bad of [{ source: 'x' }, 7, null, '']) {
    assert.throws(() => new RAGNode({ sources: [bad as never] }), /A source of "RAGNode" must be the path/);
  }
});

test('an own embed ranks by its vectors, which are stored under the name of its model', async (t) => {
  const root = await folder(t);
  const asked: string[] = [];
  const embed = async (texts: readonly string[]): Promise<number[][]> => {
    asked.push(...texts);
    return texts.map((text) => (/ship|boat/.test(text) ? [1, 0] : [0, 1]));
  };
  const sources = [
    { source: 'a', text: 'A boat.' },
    { source: 'b', text: 'A tree.' },
  ];
  const options = { sources, embed, embeddingModel: 'mine', persistPath: join(root, 'vectors') };
  assert.equal((await retrieve(new RAGNode<Shared>(options), 'ships'))[0]?.source, 'a');
  assert.equal((await retrieve(new RAGNode<Shared>(options), 'oaks'))[0]?.source, 'b');
  assert.deepEqual(
    asked.filter((text) => text.startsWith('A ')).sort(),
    ['A boat.', 'A tree.'],
    'stored vectors are used',
  );
  const { embeddingModel: _, ...unnamed } = options;
  assert.throws(() => new RAGNode(unnamed), /embeddingModel must name its model/);
  const wrong = new RAGNode<Shared>({ sources, embed: async () => [] });
  await assert.rejects(retrieve(wrong, 'x'), /embed must return one vector for each text: of 1, it returned 0/);
});

test('queryKey, contextKey, chunksKey and nextAction are honoured', async (t) => {
  const root = await folder(t, FRUIT);
  const keys = { queryKey: 'q', contextKey: 'text', chunksKey: 'parts', nextAction: 'answer' };
  const node = new RAGNode<Shared>({ sources: root, ...keys, maxRetries: 2, wait: 0.5 });
  const shared: Shared = { q: 'pears' };
  assert.equal(await node.run(shared), 'answer');
  assert.match(String(shared['text']), /Pears grow/);
  assert.ok(Array.isArray(shared['parts']));
  assert.equal(node.maxRetries, 2);
  assert.equal(node.wait, 0.5);
});

test('topK bounds the chunks, and must be a whole number above 0', async (t) => {
  const words = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${i}.txt`, 'the same word']));
  const root = await folder(t, words);
  assert.equal((await retrieve(new RAGNode({ sources: root }), 'word')).length, 5);
  assert.equal((await retrieve(new RAGNode({ sources: root, topK: 2 }), 'word')).length, 2);
  for (const topK of [0, -1, 1.5]) assert.throws(() => new RAGNode({ topK }), RangeError);
});

test('sources may be one or several files and folders, and addSource adds more and gives the node', async (t) => {
  const root = await folder(t, FRUIT);
  const node = new RAGNode<Shared>({ sources: [join(root, 'fruit/pear.txt')] });
  assert.equal(node.addSource(join(root, 'code')), node);
  await node.ready;
  assert.equal((await retrieve(node, 'pears'))[0]?.source, join(root, 'fruit/pear.txt'));
  assert.equal((await retrieve(node, 'retryDelay'))[0]?.source, join(root, 'code/retry.ts'));
  assert.deepEqual(await retrieve(node, 'apple'), []);
});

test('sources are read once, from construction on', async (t) => {
  const root = await folder(t, FRUIT);
  const node = new RAGNode<Shared>({ sources: root });
  await node.ready;
  await writeFile(join(root, 'fruit/pear.txt'), 'nothing of the kind');
  assert.match((await retrieve(node, 'pears'))[0]?.text ?? '', /Pears grow/);
});

test('an empty query gives no chunks, and a query that is no string is refused', async (t) => {
  const node = new RAGNode<Shared>({ sources: await folder(t, FRUIT), name: 'search' });
  for (const query of ['', '  ', undefined, null]) assert.deepEqual(await retrieve(node, query), []);
  await assert.rejects(retrieve(node, 7), /shared\.query.*"search"/);
});

test('an unknown chunkMode is refused; the four known ones work', async (t) => {
  const root = await folder(t, FRUIT);
  for (const chunkMode of ['smart', 'paragraphs', 'sentences', 'fixed'] as const) {
    assert.ok((await retrieve(new RAGNode({ sources: root, chunkMode }), 'pears')).length > 0, chunkMode);
  }
  assert.throws(() => new RAGNode({ chunkMode: 'clever' as 'smart' }), /"clever".*sentences/);
});

test('ignore rules are respected in folders, and secrets stay out', async (t) => {
  const root = await folder(t, {
    '.gitignore': 'build/\n',
    'build/out.txt': 'zebra',
    '.env': 'ZEBRA_TOKEN=zebra',
    'node_modules/x/index.js': 'zebra',
    'kept.txt': 'zebra',
    'data.bin': Uint8Array.from([122, 0, 1, 2]),
  });
  const sources = (await retrieve(new RAGNode({ sources: root }), 'zebra')).map(({ source }) => source);
  assert.deepEqual(sources, [join(root, 'kept.txt')]);
});

test('text in UTF-16 and Latin-1 is read as what it says', async (t) => {
  const root = await folder(t, {
    'utf16.txt': Buffer.from('\ufeffGröße der Werft', 'utf16le'),
    'latin1.txt': Buffer.from('Größe des Hafens', 'latin1'),
  });
  const texts = (await retrieve(new RAGNode({ sources: root }), 'größe')).map(({ text }) => text);
  assert.deepEqual(texts.sort(), ['Größe der Werft', 'Größe des Hafens']);
});

test('notebooks are read by cells, without outputs', async (t) => {
  const cells = [
    { cell_type: 'markdown', source: ['# Whales\n', 'They swim.'] },
    { cell_type: 'code', source: 'count_whales()', outputs: [{ text: 'secretoutput' }] },
  ];
  const root = await folder(t, { 'sea.ipynb': JSON.stringify({ cells, nbformat: 4 }) });
  const node = new RAGNode<Shared>({ sources: join(root, 'sea.ipynb') });
  assert.match((await retrieve(node, 'count whales'))[0]?.text ?? '', /count_whales\(\)/);
  assert.deepEqual(await retrieve(node, 'secretoutput'), []);
});

test('a PDF is read by its pages, which are part of the citation', async (t) => {
  const pages = [['Chapter one', 'The wharf is closed.'], [], ['Ships (large) come', 'on Monday.']];
  const root = await folder(t, {
    'docs/plan.pdf': writePdf(pages),
    'docs/broken.pdf': '%PDF-1.7',
    'docs/a.txt': 'wharf',
  });
  const [chunk] = await retrieve(new RAGNode({ sources: join(root, 'docs/plan.pdf') }), 'monday ships');
  assert.deepEqual(
    { ...chunk, score: 0 },
    {
      text: 'Ships (large) come\non Monday.',
      source: join(root, 'docs/plan.pdf'),
      page: 3,
      startLine: 1,
      endLine: 2,
      score: 0,
    },
  );
  const found = await retrieve(new RAGNode({ sources: join(root, 'docs') }), 'wharf');
  assert.deepEqual(
    found.map(({ source, page = 0 }) => `${source.slice(root.length + 1)} ${page}`).sort(),
    ['docs/a.txt 0', 'docs/plan.pdf 1'],
    'in a folder too, where a broken one is passed over',
  );
});

test('a source that cannot be read rejects the first run with its name', async (t) => {
  const root = await folder(t, {
    'binary.dat': Uint8Array.from([1, 0, 2]),
    'broken.ipynb': '{"cells"',
    'broken.pdf': '%PDF-1.7\ntext',
    'secret.pdf': writePdf([['hidden']], { isEncrypted: true }),
    'scan.pdf': writePdf([[], []]),
  });
  const cases: [string, RegExp][] = [
    ['missing.txt', /missing\.txt could not be read/],
    ['binary.dat', /binary\.dat is a binary file/],
    ['broken.pdf', /The PDF .*broken\.pdf could not be read/],
    ['secret.pdf', /The PDF .*secret\.pdf is encrypted\. Save a copy of it without a password/],
    ['scan.pdf', /The PDF .*scan\.pdf contains no text.*OCR/],
    ['broken.ipynb', /broken\.ipynb is not a notebook/],
  ];
  const huge = await open(join(root, 'huge.txt'), 'w');
  await huge.truncate(5_000_000_000); // sparse
  await huge.close();
  cases.push(['huge.txt', /huge\.txt has 5\.0 GB; the limit is 20\.0 MB/]);
  if (process.platform !== 'win32') {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    cases.push(['pipe', /pipe is a pipe, not a file/]);
    await symlink('/dev/zero', join(root, 'zero'));
    cases.push(['zero', /zero is a device, not a file/]);
  }
  for (const [name, message] of cases) {
    await assert.rejects(retrieve(new RAGNode({ sources: join(root, name) }), 'x'), { message }, name);
  }
});

test('a file without read permission is refused by name', async (t) => {
  if (process.platform === 'win32' || process.getuid?.() === 0) return t.skip('this user may read every file');
  const root = await folder(t, { 'closed.txt': 'x' });
  await chmod(join(root, 'closed.txt'), 0);
  await assert.rejects(
    retrieve(new RAGNode({ sources: join(root, 'closed.txt') }), 'x'),
    /closed\.txt cannot be read\. Change its permissions/,
  );
});

test('a web page is read as its text, with redirects followed', async (t) => {
  const url = await server(t, (request, response) => {
    if (request.url === '/old') {
      response.writeHead(301, { location: '/new' }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(
      '<html><head><title>T</title></head><body><script>evil()</script><h2>Sea &amp; ships</h2><p>A wharf.</p></body>',
    );
  });
  const [chunk] = await retrieve(new RAGNode({ sources: `${url}/old` }), 'wharf');
  assert.equal(chunk?.text, '## Sea & ships\n\nA wharf.');
  assert.equal(chunk.source, `${url}/old`);
});

test('a web page that fails, is too large, too slow or no text is refused by its address', async (t) => {
  const url = await server(t, (request, response) => {
    const answers: Record<string, () => void> = {
      '/404': () => response.writeHead(404).end(),
      '/png': () => response.writeHead(200, { 'content-type': 'image/png' }).end('x'),
      '/loop': () => response.writeHead(302, { location: '/loop' }).end(),
      '/file': () => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
      '/large': () => response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(2_000)),
      '/slow': () => {},
    };
    answers[request.url ?? '']?.();
  });
  await assert.rejects(readWebPage(`${url}/404`), /\/404 returned HTTP 404/);
  await assert.rejects(readWebPage(`${url}/png`), /\/png is image\/png/);
  await assert.rejects(readWebPage(`${url}/loop`), /\/loop redirects more than 5 times/);
  await assert.rejects(readWebPage(`${url}/file`), /not an http or https/);
  await assert.rejects(readWebPage(`${url}/slow`, { timeLimitMs: 50 }), /\/slow took longer than 0\.05 s/);
  await assert.rejects(readWebPage(`${url}/large`, { maxBytes: 1_000 }), /\/large is larger than 1\.0 KB/);
});

test('the password of an address is in no error, and in no citation', async (t) => {
  const url = await server(t, (request, response) => {
    if (request.url === '/404') response.writeHead(404).end();
    else response.end('Ships load at a wharf.');
  });
  const address = url.replace('http://', 'http://reader:s3cret@');
  const [chunk] = await retrieve(new RAGNode({ sources: address }), 'wharf');
  assert.equal(chunk?.source, url.replace('http://', 'http://[redacted]@'));
  for (const bad of [`${address}/404`, 'http://reader:s3cret@127.0.0.1:1/', 'http://reader:s3cret@127.0.0.1:99999/']) {
    const error: unknown = await retrieve(new RAGNode({ sources: bad }), 'wharf').catch((thrown: unknown) => thrown);
    assert.ok(error instanceof AppError, `${bad} is read`);
    assert.match(error.message, /^(?:The address )?http:\/\/\[redacted\]@127\.0\.0\.1:/);
    assert.doesNotMatch(inspect(error, { depth: 9 }), /s3cret/);
  }
});

test('a provider without an embeddings endpoint is refused before any request, whether there is a key or not', async (t) => {
  const root = await folder(t, { 'a.txt': 'zzz zzz' });
  let requests = 0;
  const proxy = await server(t, (_request, response) => {
    requests += 1;
    response.writeHead(500).end();
  });
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY']) {
    const before = process.env[name];
    process.env[name] = proxy;
    t.after(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
  for (const embeddingProvider of ['anthropic', 'deepseek', 'groq', 'cerebras']) {
    for (const embeddingApiKey of ['k-123456', undefined]) {
      const node = new RAGNode<Shared>({ sources: root, vectorIndex: true, embeddingProvider, embeddingApiKey });
      await assert.rejects(retrieve(node, 'zzz'), (error: AppError) => {
        assert.equal(error.code, 'bad-input');
        assert.match(error.message, new RegExp(`^${embeddingProvider} has no embeddings\\. .*'local'`));
        return true;
      });
    }
  }
  assert.equal(requests, 0);
});

test('a public page may not redirect to a private address, by number or by name', async (t) => {
  let asked = 0;
  const inner = await server(t, (_request, response) => {
    asked += 1;
    response.end('secret');
  });
  const { port } = new URL(inner);
  for (const host of ['127.0.0.1', 'localhost']) {
    // The test's "public" address is another one of the loopback network.
    const listener: RequestListener = (_request, response) => {
      response.writeHead(302, { location: `http://${host}:${port}/` }).end();
    };
    let outer: string;
    try {
      outer = await server(t, listener, '127.0.0.2');
    } catch {
      return t.skip('this machine has no second loopback address');
    }
    const isPrivate = (address: string): boolean => address !== '127.0.0.2';
    await assert.rejects(readWebPage(outer, { isPrivate }), { code: 'refused', message: new RegExp(host) });
  }
  assert.equal(asked, 0);
});

test('private addresses are known in every notation', () => {
  const local = ['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '0.0.0.0', '100.64.0.1'];
  for (const address of [...local, '::1', '[::1]', '::', 'fd00::1', 'fe80::1', '::ffff:10.0.0.1']) {
    assert.ok(isPrivateAddress(address), address);
  }
  for (const address of ['8.8.8.8', '172.32.0.1', '2606:4700::1111', 'example.com'])
    assert.ok(!isPrivateAddress(address), address);
});

/** An embeddings endpoint whose vectors count letters, so that texts with the same letters are near. */
async function embeddings(t: TestContext) {
  const embedded: string[] = [];
  const url = await server(t, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[] };
      embedded.push(...input);
      const data = input.map((text, index) => ({ index, embedding: lettersOf(text) }));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
    });
  });
  return { embedded, embeddingBaseUrl: `${url}/v1` };
}

function lettersOf(text: string): number[] {
  const counts = Array.from({ length: 26 }, () => 0);
  for (const letter of text.toLowerCase()) {
    const at = letter.charCodeAt(0) - 97;
    if (at >= 0 && at < 26) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

test('with vectorIndex the nearest chunks are found, by an embeddings endpoint', async (t) => {
  const root = await folder(t, { 'a.txt': 'zzz zzz', 'b.txt': 'eee eee' });
  const { embeddingBaseUrl } = await embeddings(t);
  const options = { vectorIndex: true, embeddingProvider: 'openai', embeddingApiKey: 'k-123456', embeddingBaseUrl };
  const chunks = await retrieve(new RAGNode({ sources: root, ...options }), 'zeze zzz');
  assert.deepEqual(
    chunks.map(({ source }) => source),
    [join(root, 'a.txt'), join(root, 'b.txt')],
  );
});

test('persistPath keeps vectors: an unchanged text is not embedded again, and another model starts anew', async (t) => {
  const root = await folder(t, { 'docs/a.txt': 'alpha', 'docs/b.txt': 'beta' });
  const { embedded, embeddingBaseUrl } = await embeddings(t);
  const persistPath = join(root, 'vectors');
  const index = async (embeddingModel: string): Promise<string[]> => {
    embedded.length = 0;
    const options = { vectorIndex: true, embeddingProvider: 'openai', embeddingApiKey: 'k-123456', embeddingModel };
    await new RAGNode({ sources: join(root, 'docs'), ...options, embeddingBaseUrl, persistPath }).ready;
    return [...embedded].sort();
  };
  assert.deepEqual(await index('one'), ['alpha', 'beta']);
  assert.deepEqual(await index('one'), []);
  await writeFile(join(root, 'docs/b.txt'), 'gamma');
  assert.deepEqual(await index('one'), ['gamma']);
  assert.deepEqual(await index('two'), ['alpha', 'gamma']);
  for (const name of await readdir(persistPath)) {
    const bytes = await readFile(join(persistPath, name));
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    await writeFile(join(persistPath, name), bytes);
  }
  assert.deepEqual(await index('two'), ['alpha', 'gamma'], 'a damaged file counts as empty');
});

test('a package that is not installed is named with what it is needed for', async (t) => {
  const root = await folder(t, { 'paper.pdf': writePdf([['text']]) });
  // As if they were not installed: in a process of its own, since what was loaded once is never looked for again.
  const program = `
    import { createRequire, registerHooks } from 'node:module';
    const optional = ['unpdf', '@huggingface/transformers'];
    registerHooks({
      resolve(name, context, next) {
        if (optional.includes(name)) throw new Error('not installed');
        return next(name, context);
      },
    });
    const { RAGNode } = await import(${JSON.stringify(import.meta.resolve('../../../../src/agents/index.ts'))});
    for (const options of [{ sources: 'paper.pdf' }, { vectorIndex: true }])
      await new RAGNode(options).run({ query: 'text' }).catch((error) => console.log(error.message));
  `;
  const env = { ...process.env, FARWHARF_HOME: join(root, 'home') };
  const options = { cwd: root, env, encoding: 'utf8' as const };
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], options);
  assert.match(output, /Reading the PDF paper\.pdf needs the package unpdf.*npm install unpdf/);
  assert.match(output, /Local embeddings need .*npm install @huggingface\/transformers/);
});

test('in a flow the chunks reach the next node', async (t) => {
  class Answer extends Node<Shared> {
    override post(shared: Shared): void {
      shared['answer'] = `${shared.rag_chunks?.length} chunks`;
    }
  }
  const [search, answer] = [new RAGNode<Shared>({ sources: await folder(t, FRUIT) }), new Answer()];
  const shared: Shared = { query: 'pears' };
  await new Flow<Shared>({ start: search }).connect(search, answer).connect(answer, null).run(shared);
  assert.equal(shared['answer'], '1 chunks');
});

const NO_SOURCE =
  'A source of "RAGNode" must be the path of a file or a folder, an address, or a text: { source, text }.';

test('options of another type are refused by their names, and so is a source that is no text', () => {
  for (const [options, message] of [
    [{ sources: 5 }, NO_SOURCE],
    [{ sources: ['a', 5] }, NO_SOURCE],
    [{ sources: null }, NO_SOURCE],
    [{ queryKey: 5 }, 'The option queryKey of new RAGNode must be a string, not the number 5.'],
    [{ vectorIndex: 'yes' }, 'The option vectorIndex of new RAGNode must be true or false, not the string "yes".'],
    [{ topK: '5' }, 'The option topK of new RAGNode must be a number, not the string "5".'],
    [{ persistPath: {} }, 'The option persistPath of new RAGNode must be a string, not an object.'],
  ] as const) {
    assert.throws(() => new RAGNode(options as never), { name: 'TypeError', message });
  }
  for (const source of ['', null, 5]) {
    const message = NO_SOURCE;
    assert.throws(() => new RAGNode().addSource(source as never), { name: 'TypeError', message });
  }
});

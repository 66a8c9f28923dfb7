import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TextDocument, Uri } from 'vscode';
import { Emitter } from '../../../../../src/core/processes/lifetime.ts';
import { silentLogger } from '../../../../../src/core/log.ts';
import type { RemoteService } from '../../../../../src/core/rpc/rpcMessages.ts';
import type { FlowWorkerService } from '../../../../../src/extension/threads/flowWorker.ts';
import { FlowReader } from '../../../../../src/flows/project/flowReader.ts';

const CLASSES = `import { Node } from 'farwharf/agents';
export class Done extends Node { post() { return 'done'; } }
export class Other extends Node { post() { return 'other'; } }
`;
// It does not import the library, so it is of interest only through the flow that imports it.
const NODES = "export { Done as Work } from './classes.mjs';\n";
const OTHER_NODES = "export { Other as Work } from './classes.mjs';\n";
const MAIN = `import { Flow } from 'farwharf/agents';
import { Work } from './nodes.mjs';
const work = new Work();
export const flow = new Flow({ start: work }).connect(work, null, 'done');
`;

/** What FlowDocuments takes of VS Code: the open documents, and what happens to them and to files. */
const editor = {
  opened: new Emitter<TextDocument>(),
  changed: new Emitter<{ document: TextDocument }>(),
  closed: new Emitter<TextDocument>(),
  file: new Emitter<Uri>(),
  documents: new Array<TextDocument>(),
};
const workspace = {
  onDidOpenTextDocument: editor.opened.event,
  onDidChangeTextDocument: editor.changed.event,
  onDidCloseTextDocument: editor.closed.event,
  createFileSystemWatcher: () => ({
    onDidChange: editor.file.event,
    onDidCreate: editor.file.event,
    onDidDelete: editor.file.event,
    dispose: () => {},
  }),
  get textDocuments() {
    return editor.documents;
  },
};
Object.assign(globalThis, { editorWorkspace: workspace });
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vscode'
      ? { url: 'data:text/javascript,export const workspace = globalThis.editorWorkspace;', shortCircuit: true }
      : next(specifier, context),
});
const { FlowDocuments } = await import('../../../../../src/extension/flows/documents/flowDocuments.ts');

class Opened {
  readonly uri: Uri;
  readonly languageId = 'javascript';
  version = 1;
  isDirty = false;
  isClosed = false;
  #text: string;

  constructor(file: string, text: string) {
    this.uri = { scheme: 'file', fsPath: file, path: file, toString: () => `file://${file}` } as Uri;
    this.#text = text;
  }

  getText(): string {
    return this.#text;
  }

  type(text: string): void {
    this.#text = text;
    this.version += 1;
    this.isDirty = true;
    editor.changed.fire({ document: this.document });
  }

  get document(): TextDocument {
    return this as unknown as TextDocument;
  }

  show(): this {
    editor.documents.push(this.document);
    editor.opened.fire(this.document);
    return this;
  }

  close(): void {
    this.isClosed = true;
    editor.documents = editor.documents.filter((one) => one !== this.document);
    editor.closed.fire(this.document);
  }
}

async function window(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-documents-'));
  const [main, nodes] = [join(folder, 'main.mjs'), join(folder, 'nodes.mjs')];
  await writeFile(main, MAIN);
  await writeFile(nodes, NODES);
  await writeFile(join(folder, 'classes.mjs'), CLASSES);
  const reader = new FlowReader();
  const gate = { open: Promise.resolve() };
  const remote = new Proxy(reader, {
    get:
      (target, name) =>
      async (...args: unknown[]): Promise<unknown> => {
        const value: unknown = Reflect.apply(Reflect.get(target, name) as () => unknown, target, args);
        if (name === 'read') await gate.open; // its answer is under way for a while
        return value;
      },
  }) as unknown as RemoteService<FlowWorkerService>['reader'];
  editor.documents = [];
  const documents = new FlowDocuments(remote, silentLogger);
  t.after(async () => {
    documents.dispose();
    await rm(folder, { recursive: true });
  });
  const actions = async (opened: Opened): Promise<readonly string[] | undefined> => {
    const { file } = await documents.read(opened.document);
    return file.flows[0]?.nodes[0]?.actions.known.map(({ action }) => action);
  };
  return { main, nodes, documents, reader, gate, actions };
}

test('a flow is read with what is typed in its other files before it is opened', async (t) => {
  const { main, nodes, actions } = await window(t);
  const helper = new Opened(nodes, NODES).show();
  helper.type(OTHER_NODES);
  assert.deepEqual(await actions(new Opened(main, MAIN).show()), ['other']);
});

test('what was typed and thrown away in a file counts no more, also when its flow was closed before', async (t) => {
  const { main, nodes, documents, actions } = await window(t);
  const first = new Opened(main, MAIN).show();
  assert.deepEqual(await actions(first), ['done']);
  const helper = new Opened(nodes, NODES).show();
  const again = new Promise((resolve) => documents.onDidRead(resolve));
  helper.type(OTHER_NODES);
  await again;
  assert.deepEqual(await actions(first), ['other']);
  first.close();
  helper.close();
  assert.deepEqual(await actions(new Opened(main, MAIN).show()), ['done']);
});

test('a document that is closed while it is read leaves no text behind', async (t) => {
  const { main, documents, reader, gate } = await window(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.open = promise;
  const typed = new Opened(main, MAIN.replaceAll('flow =', 'typed =')).show();
  typed.close();
  resolve();
  await documents.read(typed.document);
  assert.deepEqual(
    reader.read(main).flows.map(({ id }) => id),
    ['flow'],
  );
});

test('a document that is opened again is read anew, though its version is the same', async (t) => {
  const { main, documents, gate } = await window(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.open = promise;
  const before = new Opened(main, MAIN).show();
  await new Promise((done) => setTimeout(done, 20));
  before.close();
  const after = new Opened(main, MAIN.replace('flow =', 'again =')).show();
  resolve();
  const { document, file } = await documents.read(after.document);
  assert.equal(document, after.document);
  assert.deepEqual(
    file.flows.map(({ id }) => id),
    ['again'],
  );
});

test('a file that changes while its flow is read is not missed', async (t) => {
  const { main, nodes, documents, gate, actions } = await window(t);
  const opened = new Opened(main, MAIN).show();
  await documents.read(opened.document);
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.open = promise;
  editor.file.fire({ fsPath: nodes } as Uri); // it is read again
  await new Promise((done) => setTimeout(done, 20));
  await writeFile(nodes, OTHER_NODES);
  editor.file.fire({ fsPath: nodes } as Uri);
  resolve();
  assert.deepEqual(await actions(opened), ['other']);
});

test('one keystroke is one reading for all who show the document', async (t) => {
  const { main, documents, reader, actions } = await window(t);
  const opened = new Opened(main, MAIN).show();
  await actions(opened);
  const before = reader.evaluations;
  opened.type(`${MAIN}// more`);
  const readouts = await Promise.all([1, 2, 3].map(() => documents.read(opened.document)));
  reader.diagnose(main);
  reader.complete(main, MAIN.indexOf("'done'") + 1);
  assert.equal(new Set(readouts).size, 1);
  assert.equal(reader.evaluations, before + 1);
});

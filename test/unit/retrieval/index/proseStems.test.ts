import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { detectProseLanguage, PROSE_LANGUAGES } from '../../../../src/retrieval/tokenizer/proseLanguages.ts';
import { IndexedFolder } from '../indexedFolder.ts';

const GERMAN = 'Die Rechnungen werden mit der Lieferung verschickt, wenn der Kunde nicht widerspricht.\n';
const ENGLISH = 'The invoices are sent with the delivery, if the customer does not object to it.\n';

// A sentence with a word, and other forms of the word, none of which Porter's stemmer or a common beginning brings together.
const PAIRS: readonly (readonly [language: string, sentence: string, forms: readonly string[]])[] = [
  ['German', GERMAN, ['Rechnung', 'rechnung', 'RECHNUNGEN', 'Lieferungen', 'Kunden', 'verschickte']],
  [
    'German with umlauts',
    'Die Häuser der Stadt sind nicht größer als die Straßen, und der Kunde sucht einen Schlüssel.\n',
    ['Haus', 'haus', 'Größen', 'Straße', 'Strasse', 'Schlüssels'],
  ],
  [
    'French',
    'Les factures sont envoyées avec la livraison, et les données ne sont pas enregistrées dans les journaux.\n',
    ['facturé', 'envoyer', 'livraisons', 'donnée', 'enregistrer', 'journal'],
  ],
  [
    'Spanish',
    'Las configuraciones del servidor no son válidas cuando el usuario está conectado con una clave.\n',
    ['configuración', 'servidores', 'usuarios', 'conectar', 'válido', 'claves'],
  ],
  [
    'Portuguese',
    'As configurações do servidor não são válidas quando os usuários estão conectados com uma chave.\n',
    ['configuração', 'usuário', 'conectar', 'válido', 'servidores', 'chaves'],
  ],
  [
    'Russian',
    'Настройки сервера не сохраняются, если пользователь не может открыть файлы на диске.\n',
    ['настройками', 'серверы', 'пользователи', 'файлов', 'диск', 'сохраняет'],
  ],
];
for (const [language, sentence, forms] of PAIRS) {
  test(`a query in any form finds the other forms of a word: ${language}`, async () => {
    await using folder = await IndexedFolder.create({ 'notes.md': `# A\n\n${sentence}`, 'other.md': ENGLISH });
    for (const form of forms) {
      assert.deepEqual(await folder.found(form), ['notes.md'], form);
      assert.deepEqual(await folder.found(form.normalize('NFD')), ['notes.md'], `${form} in NFD`);
    }
    await using decomposed = await IndexedFolder.create({ 'notes.txt': sentence.normalize('NFD') });
    for (const form of forms) assert.deepEqual(await decomposed.found(form), ['notes.txt'], `${form} in a file in NFD`);
  });
}

test('text, reST, LaTeX and notebooks are prose, code is not', async () => {
  const notebook = JSON.stringify({ nbformat: 4, cells: [{ cell_type: 'markdown', source: [GERMAN] }] });
  await using folder = await IndexedFolder.create({
    'a.txt': GERMAN,
    'b.rst': `Titel\n=====\n\n${GERMAN}`,
    'c.tex': `\\section{Titel}\n${GERMAN}`,
    'd.ipynb': notebook,
    'e.ts': `// ${GERMAN}`,
    'f.json': JSON.stringify({ text: GERMAN }),
  });
  assert.deepEqual((await folder.found('Rechnung')).toSorted(), ['a.txt', 'b.rst', 'c.tex', 'd.ipynb']);
});

test('the form of the query comes before other forms, and a heading before a sentence', async () => {
  await using folder = await IndexedFolder.create({
    'same.md': GERMAN.replace('Rechnungen', 'Rechnung'),
    'other.md': GERMAN,
    'title.md': `# Alle Rechnungen\n\n${GERMAN.replace('Rechnungen', 'Briefe')}`,
  });
  assert.deepEqual((await folder.found('Rechnung')).slice(0, 3).toSorted(), ['other.md', 'same.md', 'title.md']);
  const [first, second] = await folder.found('Rechnungen');
  assert.deepEqual([first, second], ['title.md', 'other.md']);
});

test('files without such a language are ranked as if there were no stems', async () => {
  const files = { 'a.md': ENGLISH, 'b.md': `${ENGLISH}Rechnung\n`, 'c.ts': 'export const rechnungen = 1;\n' };
  await using folder = await IndexedFolder.create(files);
  assert.deepEqual(await folder.found('Rechnung'), ['b.md']);
  const scores = async (query: string) => (await folder.index.search(query, 9)).map(({ path, score }) => [path, score]);
  const before = await scores('customer invoices delivery');
  await folder.write('d.md', GERMAN);
  await folder.index.update(['d.md']);
  assert.deepEqual((await folder.found('Rechnung')).toSorted(), ['b.md', 'd.md']);
  await rm(join(folder.root, 'd.md'));
  await folder.index.update(['d.md']);
  assert.deepEqual(await folder.found('Rechnung'), ['b.md']);
  assert.deepEqual(await scores('customer invoices delivery'), before);
});

test('a file that changes its language has the stems of the new one, also unsaved', async () => {
  await using folder = await IndexedFolder.create({ 'a.md': GERMAN });
  assert.deepEqual(await folder.found('Rechnung'), ['a.md']);
  folder.index.setOverlay('a.md', ENGLISH);
  assert.deepEqual(await folder.found('Rechnung'), []);
  folder.index.setOverlay('a.md', 'Les factures sont envoyées avec la livraison, et ne sont pas payées.\n');
  assert.deepEqual(await folder.found('facturé'), ['a.md']);
  folder.index.setOverlay('a.md', undefined);
  assert.deepEqual(await folder.found('Rechnung'), ['a.md']);
  await folder.write('a.md', ENGLISH);
  await folder.index.update(['a.md']);
  assert.deepEqual(await folder.found('Rechnung'), []);
});

test('a file whose language is taken for another is found by all of its words as before', async () => {
  const words = ['factuur', 'rekeningen', 'bedrag'];
  const dutch = `der die und ist nicht ${words.join(' ')}\n`;
  assert.equal(detectProseLanguage([dutch])?.mark, 'd');
  await using folder = await IndexedFolder.create({ 'a.md': dutch });
  for (const word of words) assert.deepEqual(await folder.found(word), ['a.md']);
});

test('a word whose other forms occur is not taken for a typing error', async () => {
  await using folder = await IndexedFolder.create({ 'a.md': GERMAN, 'b.md': 'rechnumg\n' });
  assert.equal(folder.index.correct('Rechnung'), undefined);
  assert.deepEqual(await folder.found('Rechnung'), ['a.md']);
});

test('identifiers, numbers and very long words have no stems, and a megabyte is read', async () => {
  const long = 'x'.repeat(500_000);
  await using folder = await IndexedFolder.create({
    'a.md': `${GERMAN}retryDelays ${long} ${'Rechnungen '.repeat(30_000)}`,
  });
  assert.deepEqual(await folder.found('Rechnung'), ['a.md']);
  assert.deepEqual(await folder.found('Rechnung '.repeat(20_000)), ['a.md']);
});

const SENTENCES: Readonly<Record<string, string>> = {
  d: GERMAN,
  f: 'Les factures sont envoyées avec la livraison, et les données ne sont pas enregistrées.',
  s: 'Las configuraciones del servidor no son válidas cuando el usuario está conectado.',
  p: 'As configurações do servidor não são válidas quando os usuários estão conectados.',
  r: 'Настройки не сохраняются, если пользователь не может открыть файлы на диске.',
};
test('the language of a sentence is recognised; English, other languages and nothing are none', () => {
  assert.deepEqual(
    Object.keys(SENTENCES),
    PROSE_LANGUAGES.map(({ mark }) => mark),
  );
  for (const [mark, sentence] of Object.entries(SENTENCES)) assert.equal(detectProseLanguage([sentence])?.mark, mark);
  for (const text of [
    '',
    ENGLISH,
    'De facturen worden met de levering verstuurd, tenzij de klant bezwaar maakt tegen het bedrag.',
    'Fakturorna skickas med leveransen om kunden inte har något emot det, och de betalas senare.',
    'Le fatture vengono inviate con la consegna, se il cliente non si oppone alla spedizione.',
    'Рахунки надсилаються разом із доставкою, якщо клієнт не заперечує проти цього.',
    `Die Rechnung is the German word for the invoice that you get with the delivery of it. ${ENGLISH}`,
  ]) {
    assert.equal(detectProseLanguage([text]), undefined, text);
  }
});

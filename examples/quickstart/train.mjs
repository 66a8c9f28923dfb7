#!/usr/bin/env node
// Trains a small language model on the text files of a folder and writes metrics.json, samples.txt and loss.png.
//
//   node train.mjs [--seconds 20] [--folder .] [--seed 1]
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readCorpus } from './corpus.mjs';
import { Adam, Model, createRandom } from './model.mjs';
import { plotLoss } from './plot.mjs';

const SHAPE = { context: 8, embedding: 24, hidden: 256 };
const BATCH = 64; // a multiple of four, as the matrix products want it
const DROP_OUT = 0.35;
const HIGHEST_RATE = 5e-3;
const WARM_UP = 0.03; // part of the training in which the rate rises
const SMOOTHING = 50; // steps over which the printed loss is averaged
const CHECKS = 40; // times that the held-out loss is looked at, for the plot; every second of them is printed
const PRINTED = 2;
const CHECK_SIZE = 512; // held-out examples of such a look
const SAMPLE_LENGTH = 400;
const SAMPLE_TEMPERATURES = [0.4, 0.7, 1]; // low: careful; 1: as bold as the text

/** The rate rises for a moment, then falls along half a cosine, by the clock: the time is what was asked for. */
function learningRate(/** @type {number} */ done) {
  if (done < WARM_UP) return (HIGHEST_RATE * done) / WARM_UP;
  return HIGHEST_RATE * (0.02 + 0.98 * 0.5 * (1 + Math.cos((Math.PI * (done - WARM_UP)) / (1 - WARM_UP))));
}

/** Mean loss over up to `limit` examples, spread evenly. */
function evaluate(model, examples, limit = Infinity) {
  const wanted = Math.min(limit, examples.size);
  const stride = examples.size / wanted;
  let sum = 0;
  for (let first = 0; first < wanted; first += CHECK_SIZE) {
    const count = Math.min(CHECK_SIZE, wanted - first);
    const { contexts, targets } = examples.batch(count, (row) => Math.floor((first + row) * stride));
    sum += count * model.loss(model.forward(contexts), targets);
  }
  return sum / wanted;
}

/** Lets the model write: each character is drawn from what it finds likely after the ones before. */
function write(model, corpus, opening, length, temperature, random) {
  const { context } = model.shape;
  const written = [...opening.padStart(context, '\n')].map((character) => corpus.codes.get(character) ?? 0);
  while (written.length < context + length) {
    const { probabilities } = model.forward(Uint8Array.from(written.slice(-context)));
    const bent = probabilities.map((probability) => probability ** (1 / temperature));
    let left = random() * bent.reduce((sum, weight) => sum + weight, 0);
    let choice = 0;
    while (choice < bent.length - 1 && (left -= bent[choice]) > 0) choice += 1;
    written.push(choice);
  }
  return written
    .slice(context)
    .map((code) => corpus.characters[code])
    .join('');
}

/** Trains for `seconds`, and calls `report` now and then. Leaves the model with the weights that did best on held-out text. */
function train(model, corpus, { seconds, random, report }) {
  const adam = new Adam(model);
  const dropOut = () => (random() < DROP_OUT ? 0 : 1 / (1 - DROP_OUT));
  const history = [];
  let best = { heldOut: Infinity, weights: model.weights.slice() };
  const started = performance.now();
  let smoothed = Math.log(corpus.characters.length);
  for (let step = 0; ; step++) {
    const elapsed = (performance.now() - started) / 1000;
    if (elapsed >= (history.length / CHECKS) * seconds) {
      const heldOut = evaluate(model, corpus.heldOut, CHECK_SIZE);
      if (heldOut < best.heldOut) best = { heldOut, weights: model.weights.slice() };
      const entry = { seconds: elapsed, step, loss: smoothed, heldOut, charactersPerSecond: (step * BATCH) / elapsed };
      history.push(entry);
      if (history.length % PRINTED === 1) report(entry);
    }
    if (elapsed >= seconds) break;
    const { contexts, targets } = corpus.train.batch(BATCH, () => Math.floor(random() * corpus.train.size));
    const pass = model.forward(contexts, dropOut);
    const loss = model.loss(pass, targets);
    smoothed += (loss - smoothed) / Math.min(step + 1, SMOOTHING);
    model.backward(pass, targets);
    adam.step(learningRate(elapsed / seconds));
  }
  model.weights.set(best.weights);
  return history;
}

const round = (value) => Number(value.toFixed(4));

async function main() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '20' },
      folder: { type: 'string', default: '.' },
      seed: { type: 'string', default: '1' },
    },
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error(`--seconds must be a number above 0, not "${values.seconds}".`);
  const random = createRandom(Number(values.seed));

  const corpus = await readCorpus(values.folder, SHAPE.context);
  const model = new Model({ ...SHAPE, vocabulary: corpus.characters.length }, random);
  const parameters = model.weights.length;
  console.log(
    `Learning from ${corpus.files.length} files: ${corpus.length.toLocaleString('en')} characters, ` +
      `${corpus.characters.length} different ones.`,
  );
  console.log(`The model has ${parameters.toLocaleString('en')} parameters and ${seconds} seconds.\n`);
  console.log('   step    loss   held out    chars/s   left');

  const showAt = [0.25, 0.5, 0.75].map((part) => part * seconds);
  const history = train(model, corpus, {
    seconds,
    random,
    report({ seconds: elapsed, step, loss, heldOut, charactersPerSecond }) {
      const left = Math.max(0, seconds - elapsed);
      console.log(
        `${String(step).padStart(7)}   ${loss.toFixed(3)}   ${heldOut.toFixed(3).padStart(8)}   ` +
          `${Math.round(charactersPerSecond).toLocaleString('en').padStart(8)}   ${left.toFixed(0).padStart(2)} s`,
      );
      if (elapsed < (showAt[0] ?? Infinity)) return;
      showAt.shift();
      console.log(`          "The ${write(model, corpus, '\nThe ', 60, 0.6, random).replaceAll('\n', ' / ')}"`);
    },
  });

  const heldOut = evaluate(model, corpus.heldOut);
  const samples = SAMPLE_TEMPERATURES.map(
    (temperature) =>
      `-- temperature ${temperature} --\n\n${write(model, corpus, '\n\n', SAMPLE_LENGTH, temperature, random).trim()}\n`,
  );
  const last = history.at(-1);
  const metrics = {
    seconds: round(last.seconds),
    steps: last.step,
    parameters,
    characters: corpus.length,
    files: corpus.files,
    blind_guess: round(Math.log(corpus.characters.length)),
    loss: round(last.loss),
    held_out_loss: round(heldOut),
    characters_per_second: Math.round(last.charactersPerSecond),
    history: history.map((entry) => ({
      seconds: round(entry.seconds),
      step: entry.step,
      loss: round(entry.loss),
      held_out_loss: round(entry.heldOut),
    })),
  };
  await writeFile('metrics.json', `${JSON.stringify(metrics, null, 2)}\n`);
  await writeFile('samples.txt', samples.join('\n'));
  await writeFile('loss.png', plotLoss(history));

  console.log(`\n${samples[1]}`);
  console.log(
    `Loss ${metrics.held_out_loss.toFixed(2)} on text it never saw; a blind guess has ${metrics.blind_guess.toFixed(2)}.`,
  );
  console.log('Wrote metrics.json, samples.txt and loss.png.');
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});

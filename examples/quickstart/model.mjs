// A character-level language model after Bengio et al., "A Neural Probabilistic Language Model" (JMLR 3, 2003):
// the last few characters are looked up in a table of vectors, the vectors go through one hidden layer, and a softmax says
// how likely each character is to come next. Forward pass, gradients and the optimiser are written out by hand.

const ADAM = { decay1: 0.9, decay2: 0.99, epsilon: 1e-8 };

/**
 * @typedef {object} Shape
 * @property {number} vocabulary how many different characters there are
 * @property {number} context how many characters the model looks back
 * @property {number} embedding length of the vector of one character
 * @property {number} hidden width of the hidden layer
 */

/** A small source of random numbers in [0, 1) that gives the same ones for the same seed (mulberry32). */
export function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Model {
  /**
   * @param {Shape} shape
   * @param {() => number} random
   */
  constructor(shape, random) {
    const { vocabulary, context, embedding, hidden } = shape;
    this.shape = shape;
    this.inputs = context * embedding;
    // All parameters lie in one array, so that the optimiser and the snapshots need not know the layers.
    this.weights = new Float32Array(
      vocabulary * embedding + this.inputs * hidden + hidden + hidden * vocabulary + vocabulary,
    );
    this.gradients = new Float32Array(this.weights.length);
    this.layers = this.#views(this.weights);
    this.layerGradients = this.#views(this.gradients);
    fill(this.layers.embeddings, 0.5, random);
    fill(this.layers.hiddenWeights, Math.sqrt(6 / this.inputs), random); // He et al. 2015, for rectified units
    fill(this.layers.outputWeights, Math.sqrt(1 / hidden), random);
  }

  /** Names the parts of an array that has one number for each parameter. */
  #views(/** @type {Float32Array} */ array) {
    const { vocabulary, embedding, hidden } = this.shape;
    let start = 0;
    const take = (/** @type {number} */ length) => array.subarray(start, (start += length));
    return {
      embeddings: take(vocabulary * embedding),
      hiddenWeights: take(this.inputs * hidden),
      hiddenBias: take(hidden),
      outputWeights: take(hidden * vocabulary),
      outputBias: take(vocabulary),
    };
  }

  /**
   * The probability of every character as the next one, a row of `vocabulary` numbers for each example.
   *
   * @param {Uint8Array} contexts the last `context` characters of each example, one example after the other
   * @param {() => number} [dropOut] for training alone: says for each number that the layers pass on how much of it
   *   remains, zero for some at random. So no unit can rely on another one, and the text is not learned by heart
   *   (Srivastava et al., "Dropout", JMLR 15, 2014).
   * @returns what the backward pass needs, with `probabilities` among it
   */
  forward(contexts, dropOut) {
    const { vocabulary, context, embedding, hidden } = this.shape;
    const { embeddings, hiddenWeights, hiddenBias, outputWeights, outputBias } = this.layers;
    const rows = contexts.length / context;

    const inputs = new Float32Array(rows * this.inputs);
    for (let i = 0; i < contexts.length; i++) {
      const from = contexts[i] * embedding;
      for (let e = 0; e < embedding; e++) inputs[i * embedding + e] = embeddings[from + e];
    }

    const activations = repeat(hiddenBias, rows);
    addProduct(activations, inputs, hiddenWeights, rows, this.inputs, hidden);
    for (let i = 0; i < activations.length; i++) if (activations[i] < 0) activations[i] = 0;
    const kept = dropOut && activations.map(dropOut);
    if (kept) multiply(activations, kept);

    const probabilities = repeat(outputBias, rows);
    addProduct(probabilities, activations, outputWeights, rows, hidden, vocabulary);
    softmax(probabilities, rows, vocabulary);
    return { contexts, rows, inputs, activations, kept, probabilities };
  }

  /**
   * Mean loss of the examples in nats per character: the negative logarithm of the probability that the model gave to
   * the character that really came next. Guessing blindly costs `ln(vocabulary)`.
   *
   * @param {ReturnType<Model['forward']>} pass
   * @param {Uint8Array} targets the character that came next in each example
   */
  loss({ rows, probabilities }, targets) {
    let sum = 0;
    for (let row = 0; row < rows; row++) {
      sum -= Math.log(Math.max(probabilities[row * this.shape.vocabulary + targets[row]], 1e-30));
    }
    return sum / rows;
  }

  /** Fills `gradients` with the derivative of the mean loss by every parameter. Uses up the pass. */
  backward(/** @type {ReturnType<Model['forward']>} */ pass, /** @type {Uint8Array} */ targets) {
    const { vocabulary, embedding, hidden } = this.shape;
    const { contexts, rows, inputs, activations, kept, probabilities: outputGradient } = pass;
    this.gradients.fill(0);

    // Softmax and the logarithm together have the simplest of all gradients: probability minus truth.
    for (let row = 0; row < rows; row++) outputGradient[row * vocabulary + targets[row]] -= 1;
    for (let i = 0; i < outputGradient.length; i++) outputGradient[i] /= rows;
    addColumnSums(this.layerGradients.outputBias, outputGradient, rows);
    addTransposedProduct(this.layerGradients.outputWeights, activations, outputGradient, rows, hidden, vocabulary);

    const hiddenGradient = productWithTransposed(outputGradient, this.layers.outputWeights, rows, vocabulary, hidden);
    for (let i = 0; i < hiddenGradient.length; i++) if (activations[i] === 0) hiddenGradient[i] = 0;
    if (kept) multiply(hiddenGradient, kept);
    addColumnSums(this.layerGradients.hiddenBias, hiddenGradient, rows);
    addTransposedProduct(this.layerGradients.hiddenWeights, inputs, hiddenGradient, rows, this.inputs, hidden);

    const inputGradient = productWithTransposed(hiddenGradient, this.layers.hiddenWeights, rows, hidden, this.inputs);
    for (let i = 0; i < contexts.length; i++) {
      const to = contexts[i] * embedding;
      for (let e = 0; e < embedding; e++) this.layerGradients.embeddings[to + e] += inputGradient[i * embedding + e];
    }
  }
}

/** Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019). */
export class Adam {
  constructor(/** @type {Model} */ model, weightDecay = 0.01) {
    this.model = model;
    this.weightDecay = weightDecay;
    this.mean = new Float32Array(model.weights.length);
    this.variance = new Float32Array(model.weights.length);
    this.steps = 0;
  }

  step(/** @type {number} */ rate) {
    const { weights, gradients } = this.model;
    const { mean, variance, weightDecay } = this;
    const { decay1, decay2, epsilon } = ADAM;
    this.steps += 1;
    const bias1 = 1 - decay1 ** this.steps;
    const bias2 = 1 - decay2 ** this.steps;
    for (let i = 0; i < weights.length; i++) {
      const gradient = gradients[i];
      mean[i] = decay1 * mean[i] + (1 - decay1) * gradient;
      variance[i] = decay2 * variance[i] + (1 - decay2) * gradient * gradient;
      const change = mean[i] / bias1 / (Math.sqrt(variance[i] / bias2) + epsilon);
      weights[i] -= rate * (change + weightDecay * weights[i]);
    }
  }
}

/** Uniform numbers in [-limit, limit]. */
function fill(array, limit, random) {
  for (let i = 0; i < array.length; i++) array[i] = (2 * random() - 1) * limit;
}

/** `rows` copies of `row`, one below the other. */
function repeat(row, rows) {
  const result = new Float32Array(rows * row.length);
  for (let start = 0; start < result.length; start += row.length) result.set(row, start);
  return result;
}

function multiply(array, factors) {
  for (let i = 0; i < array.length; i++) array[i] *= factors[i];
}

function addColumnSums(sums, matrix, rows) {
  const columns = sums.length;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) sums[column] += matrix[row * columns + column];
  }
}

function softmax(matrix, rows, columns) {
  for (let row = 0; row < rows; row++) {
    const start = row * columns;
    let highest = -Infinity;
    for (let i = start; i < start + columns; i++) if (matrix[i] > highest) highest = matrix[i];
    let sum = 0;
    for (let i = start; i < start + columns; i++) {
      matrix[i] = Math.exp(matrix[i] - highest); // subtracting the highest keeps the exponential finite
      sum += matrix[i];
    }
    for (let i = start; i < start + columns; i++) matrix[i] /= sum;
  }
}

// The three products below are all the work there is. They walk every matrix along its rows, and take four rows of the
// right-hand side at a time: that reads and writes the result a quarter as often, and is about twice as fast.

/** out[rows, columns] += left[rows, inner] · right[inner, columns]; `inner` is a multiple of four. */
function addProduct(out, left, right, rows, inner, columns) {
  for (let row = 0; row < rows; row++) {
    const to = row * columns;
    for (let k = 0; k < inner; k += 4) {
      const from = row * inner + k;
      addFourRows(out, to, right, k * columns, columns, left[from], left[from + 1], left[from + 2], left[from + 3]);
    }
  }
}

/** out[inner, columns] += transpose of left[rows, inner] · right[rows, columns]; `rows` is a multiple of four. */
function addTransposedProduct(out, left, right, rows, inner, columns) {
  for (let row = 0; row < rows; row += 4) {
    for (let k = 0; k < inner; k++) {
      const a = left[row * inner + k];
      const b = left[(row + 1) * inner + k];
      const c = left[(row + 2) * inner + k];
      const d = left[(row + 3) * inner + k];
      addFourRows(out, k * columns, right, row * columns, columns, a, b, c, d);
    }
  }
}

/** Adds four neighbouring rows of `right`, each times its factor, to one row of `out`. */
function addFourRows(out, to, right, from, columns, a, b, c, d) {
  if (a === 0 && b === 0 && c === 0 && d === 0) return; // half of all rectified units are silent
  const second = from + columns;
  const third = second + columns;
  const fourth = third + columns;
  for (let j = 0; j < columns; j++) {
    out[to + j] += a * right[from + j] + b * right[second + j] + c * right[third + j] + d * right[fourth + j];
  }
}

/** left[rows, inner] · transpose of right[columns, inner]; `columns` is a multiple of four. */
function productWithTransposed(left, right, rows, inner, columns) {
  const out = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const from = row * inner;
    for (let column = 0; column < columns; column += 4) {
      const first = column * inner;
      const second = first + inner;
      const third = second + inner;
      const fourth = third + inner;
      let a = 0;
      let b = 0;
      let c = 0;
      let d = 0;
      for (let k = 0; k < inner; k++) {
        const factor = left[from + k];
        a += factor * right[first + k];
        b += factor * right[second + k];
        c += factor * right[third + k];
        d += factor * right[fourth + k];
      }
      out.set([a, b, c, d], row * columns + column);
    }
  }
  return out;
}
